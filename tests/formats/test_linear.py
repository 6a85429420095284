"""Long input takes longer in proportion: no reader, and no look at a text, goes quadratic on what repeats.

The bound is one of growth, in processor time, and it is asked only where the time is more than noise: twice the input
may take three times as long.
"""

from __future__ import annotations

import io
import time
from contextlib import suppress

import pytest

from karat import Corpus, Document, Label
from karat.data.categoriser.categorise import categorise
from karat.data.describe import describe
from karat.evaluation.drop_rules import parse_drop_rules
from karat.model.errors import KaratError
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.format import Format
from karat.storage.files import Source

SIZE = 15_000
NOISE = 0.4  # seconds
REPEATED = [
    *(b" ", b"\n", b"\t", b"\r\n", b" \n", b".", b"a", b"0", b'"', b"\\", b"(", b"[", b"{", b"|", b",", b"<"),
    *(
        b"<?a?>",
        b"<!---->",
        b"<a>",
        b'\\"',
        b'{"a":',
        b"[0,",
        b"-DOCSTART- (1 a)\n",
        b"a\tO\n",
        b"# a\n",
        b"a|t|b\n",
        b'"""',
    ),
]
CORPUS = Corpus.from_documents(
    [Document("d", "Ulm is in Ulm.", (Label(0, 3, "http://www.wikidata.org/entity/Q3012"),))]
)


def seconds(work) -> float:
    begin = time.process_time()
    with suppress(KaratError):
        work()
    return time.process_time() - begin


def check_growth(work_of) -> None:
    """Twice as much takes less than three times as long; the best of three tries counts."""
    twice = seconds(work_of(2 * SIZE))
    if twice < NOISE:
        return
    tries = [(seconds(work_of(SIZE)), seconds(work_of(2 * SIZE))) for _ in range(3)]
    assert min(long for _, long in tries) < 3 * max(short for short, _ in tries) + NOISE


def beginnings(known: Format) -> list[bytes]:
    """Nothing, and how a file of the format begins."""
    written = io.BytesIO()
    if known.write_corpus is not None:
        with suppress(KaratError):
            known.write_corpus(CORPUS, written)
    data = written.getvalue()
    return [b"", data[: len(data) // 2]] if data else [b""]


@pytest.mark.parametrize("name", list_plugins("formats"))
def test_readers_are_linear(name, tmp_path):
    known = get_plugin("formats", name, Format)
    path = tmp_path / f"x{known.suffix}"

    def reading(data: bytes):
        def read():
            path.write_bytes(data)
            known.recognises(Source(str(path)).first_bytes)
            for reader in (known.read_run, known.read_corpus and (lambda source: known.read_corpus(source, True))):
                if reader:
                    with suppress(KaratError):
                        list(reader(Source(str(path))))

        return read

    for begin in beginnings(known):
        for piece in REPEATED:
            check_growth(lambda size, a=begin, b=piece: reading(a + b * (size // len(b)) + b"!"))


TEXTS = [".", " ", "-", "a'", "0", "0.", "A", "(", "()", "\n", "ab ", "n", "A. ", '."', "al-", "’s ", "http://"]


@pytest.mark.parametrize("piece", TEXTS)
@pytest.mark.parametrize("look", ["describe", "categorise"])
def test_looks_at_texts_are_linear(piece, look):
    def looking(size: int):
        text = "Ulm " + piece * (size // len(piece)) + "!!"
        name = "http://en.wikipedia.org/wiki/U" + piece * (size // len(piece)) + "b"
        labels = (Label(0, 3, name), Label(0, len(text), name), Label(len(text) // 2, len(text), "Q1"))
        corpus = Corpus.from_documents([Document("d", text, labels)])
        return lambda: describe(corpus) if look == "describe" else categorise(corpus)

    check_growth(looking)


def test_nested_labels_are_counted_without_a_look_at_all_pairs():
    def looking(size: int):
        count = size // 5
        labels = tuple(Label(i, 2 * count + 2 - i, f"Q{i}") for i in range(count))
        corpus = Corpus.from_documents([Document("d", "x" * (2 * count + 2), labels)])
        return lambda: describe(corpus)

    check_growth(looking)


def test_rules_to_drop_are_read_in_time():
    check_growth(lambda size: lambda: parse_drop_rules(" " * size + "x"))
