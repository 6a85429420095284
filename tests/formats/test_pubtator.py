"""PubTator: sections, mentions, relations; units of offsets; what a file of lines cannot hold."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Answer, Corpus, Document, InputError, Label, Reply, Statement
from karat.errors import UsageError
from karat.formats.pubtator import FORMAT
from tests.formats.broken import nearly, read_or_refused

GOLD = """\
7|t|Café chalk lowers pain.
7|a|Chalk was given daily.
7\t5\t10\tchalk\tDrug\tD01
7\t18\t22\tpain\tT1,T2\t-1
7\t24\t29\tChalk\tDrug\tD01|D02\tcolumn
7\t34\t39\tgiven\tVerb
7\tCID\tD01\tD09

8|t|No abstract here.
8|a|
"""


def written(tmp_path, text: str | bytes, name: str = "gold.pubtator"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_documents_mentions_and_relations(tmp_path):
    corpus = karat.load(written(tmp_path, GOLD))
    seven, eight = corpus
    assert (seven.id, seven.text) == ("7", "Café chalk lowers pain.\nChalk was given daily.")
    assert seven.labels == (
        Label(5, 10, "D01", types=("Drug",)),
        Label(18, 22, None, types=("T1", "T2")),
        Label(24, 29, "D01|D02", types=("Drug",)),
        Label(34, 39, UNLINKED, types=("Verb",)),
    )
    assert seven.relations == (Statement("D01", "CID", "D09"),)
    assert (eight.text, eight.labels) == ("No abstract here.", ())
    assert corpus.skipped == {"columns behind the id of a mention": 1}


def test_offsets_in_bytes_and_utf16_are_told_by_the_surfaces(tmp_path):
    in_bytes = "7|t|Café chalk 😀 pain\n7|a|\n7\t6\t11\tchalk\tDrug\tD01\n7\t17\t21\tpain\tSign\tD02\n"
    in_utf16 = in_bytes.replace("6\t11", "5\t10").replace("17\t21", "14\t18")
    for text, unit in ((in_bytes, "bytes"), (in_utf16, "UTF-16 units")):
        corpus = karat.load(written(tmp_path, text))
        assert [(label.start, label.end) for label in next(iter(corpus)).labels] == [(5, 10), (13, 17)]
        assert corpus.skipped == {f"texts whose offsets count {unit}": 1}


def test_repeated_and_odd_mentions_are_counted(tmp_path):
    rows = ["7|t|chalk", "7|a|", *["7\t0\t5\tchalk\tDrug\tD1"] * 2, "7\t0\t5\tchalk\tRock\tD1", "7\t0\t2\tcho\tX\t-"]
    corpus = karat.load(written(tmp_path, "\n".join(rows)))
    assert next(iter(corpus)).labels == (Label(0, 5, "D1", types=("Drug", "Rock")), Label(0, 2, UNLINKED, types=("X",)))
    assert corpus.skipped == {
        "annotations given twice (one was kept)": 1,
        "annotations of the same span and id with another type (merged)": 1,
        "mentions whose surface differs from the text at their offsets": 1,
    }


def test_answers_with_and_without_their_text(tmp_path):
    full = karat.load_run(written(tmp_path, GOLD, "full.pubtator"))
    bare = written(tmp_path, "".join(row + "\n" for row in GOLD.split("\n") if "\t" in row), "bare.pubtator")
    run = karat.load_run(bare, format="pubtator")
    first = (Answer(5, 10, "D01", types=("Drug",)), Answer(18, 22, None, types=("T1", "T2")))
    assert next(iter(full)).answers[:2] == next(iter(run)).answers[:2] == first
    assert [reply.id for reply in run] == ["7"]
    far = written(tmp_path, "7\t0\t99999999999\tchalk\tDrug\n", "far.pubtator")
    with pytest.raises(InputError, match=":1: found a mention from 0 to 99999999999 in an unknown text"):
        karat.load_run(far, format="pubtator")
    with pytest.raises(InputError) as caught:
        karat.load(bare, format="pubtator")
    assert str(caught.value).startswith(f"{bare}:1: found annotations of document '7' without a text; expected a line")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("7 0 5 chalk Drug D1", ":3: found '7 0 5 chalk Drug D1'; expected ID|t|TITLE"),
        ("7\t0\t5\tchalk", ":3: found '7\\t0\\t5\\tchalk'; expected ID|t|TITLE"),
        ("7\t0\tx\tchalk\tDrug\tD1", ":3: found 'x' for the offset; expected a whole number."),
        ("7\t0\t9\tchalk\tDrug\tD1", ":3: found a mention from 0 to 9 in a text of 5 code points; expected"),
        ("7\t3\t3\t\tDrug\tD1", ":3: found a mention from 3 to 3 in a text of 5 code points; expected"),
    ],
)
def test_errors_say_where(tmp_path, row, message):
    path = written(tmp_path, f"7|t|chalk\n7|a|\n{row}\n")
    with pytest.raises(InputError) as caught:
        karat.load(path)
    assert str(caught.value).startswith(f"{path}{message}")


def test_a_document_twice_is_refused(tmp_path):
    path = written(tmp_path, "7|t|a\n7|a|b\n\n8|t|a\n\n7|t|c\n")
    with pytest.raises(InputError, match=r":6: found document '7' a second time"):
        karat.load(path)


TEXTS = st.text(alphabet="ab \té😀|\n", min_size=3, max_size=12)


@st.composite
def documents(draw):
    made = []
    for number in range(draw(st.integers(1, 3))):
        text = draw(TEXTS)
        ends = draw(st.sets(st.tuples(st.integers(0, 2), st.integers(3, len(text))), max_size=3))
        labels = tuple(
            Label(
                start,
                end,
                draw(st.sampled_from(["Q1", "a|b", None, UNLINKED])),
                types=tuple(draw(st.lists(st.sampled_from(["A", "B é"]), unique=True))),
            )
            for start, end in sorted(ends)
        )
        stated = tuple(draw(st.lists(st.just(Statement("Q1", "r", "Q2")), max_size=1)))
        made.append(Document(f"d {number}", text, labels, relations=stated))
    return made


@given(documents())
def test_what_is_written_is_read_again(made):
    file = io.BytesIO()
    FORMAT.write_corpus(Corpus.of(made), file)
    assert FORMAT.recognises(file.getvalue())
    assert list(FORMAT.read_corpus(Held(file.getvalue()), True)) == made


class Held:
    """Bytes in memory, as a format is given them."""

    given = label = stem = "memory"

    def __init__(self, data: bytes) -> None:
        self.opening = data

    def stream(self):
        return io.BytesIO(self.opening)


@pytest.mark.parametrize(
    "document",
    [
        Document("a|b", "text"),
        Document("a\tb", "text"),
        Document("d", "line\r\nline"),
        Document("d", "text", (Label(0, 1, "Q\t1"),)),
        Document("d", "text", (Label(0, 1, "-1"),)),
        Document("d", "text", (Label(0, 1, "-"),)),
        Document("d", "text", (Label(0, 1, "Q1", types=("a,b",)),)),
        Document("d", "text", relations=(Statement("Q1", "r", "Q2", score=0.5),)),
        Document("d", "text", relations=(Statement("Q1", "7", "Q2"),)),
    ],
)
def test_what_cannot_be_held_is_refused(document):
    with pytest.raises(UsageError, match="that PubTator cannot hold"):
        FORMAT.write_corpus(Corpus.of([document]), io.BytesIO())


def test_answers_are_read_by_the_format_itself():
    run = FORMAT.read_run(Held(GOLD.encode()))
    assert list(run)[1] == Reply("8")
    assert len(run.answers) == 4


@given(nearly(GOLD.encode()))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: FORMAT.read_corpus(source, True), data)


@pytest.mark.parametrize("head", [b"a|t|x", b"a|t|x\na|a|y\n", b"\n1|t|x\n1\t0\t1\tx\tT\n"])
def test_recognised(head):
    assert FORMAT.recognises(head)


@pytest.mark.parametrize("head", [b"", b"a|b|c", b"a|t|x\nb|a|y\n", b'{"a": "|t|"}', b"a\tb|t|x"])
def test_not_recognised(head):
    assert not FORMAT.recognises(head)
