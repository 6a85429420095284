"""AIDA-YAGO2: annotations with the text of CoNLL-2003, and the merged file."""

from __future__ import annotations

import hashlib
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Corpus, Document, InputError, Label
from karat.data.convert import count_losses
from karat.formats.plugins import aida, zelda_conll
from karat.formats.plugins.aida import conll2003
from karat.storage.files import Source
from tests.formats.broken import nearly, read_or_refused

TEXT = """-DOCSTART- -X- O O

Ada NNP I-NP I-PER
King NNP I-NP I-PER
met VBD I-VP O
Bob NNP I-NP I-PER
Ross NNP I-NP B-PER
. . O O

Wien NNP I-NP I-LOC

-DOCSTART- -X- O O

Rain NN I-NP O
fell VBD I-VP O
"""
ANNOTATIONS = (
    "-DOCSTART- (1 Ada)\n"
    "0\tAda_Lovelace\thttp://en.wikipedia.org/wiki/Ada_Lovelace\t974\t/m/0gy\n"
    "3\t--NME--\n4\tBob_Ross\thttp://en.wikipedia.org/wiki/Bob_Ross\t12\n6\tVienna\thttp://x\t55866\t\n\n"
    "-DOCSTART- (2 Rain)\n\n"
)
MERGED = (
    "-DOCSTART- (1 Ada)\n"
    "Ada\tB\tAda King\tAda_Lovelace\thttp://en.wikipedia.org/wiki/Ada_Lovelace\t974\t/m/0gy\n"
    "King\tI\tAda King\tAda_Lovelace\thttp://en.wikipedia.org/wiki/Ada_Lovelace\t974\t/m/0gy\n"
    "met\nBob\tB\tBob\t--NME--\nRoss\tB\tRoss\tBob_Ross\thttp://en.wikipedia.org/wiki/Bob_Ross\t12\n.\n\n"
    "Wien\tB\tWien\tVienna\thttp://x\t55866\n\n-DOCSTART- (2 Rain)\nRain\nfell\n"
)
LABELS = (
    Label(0, 8, "Ada_Lovelace", same_as=("http://en.wikipedia.org/wiki/Ada_Lovelace", "974", "/m/0gy"), types=("PER",)),
    Label(13, 16, None, types=("PER",)),
    Label(17, 21, "Bob_Ross", same_as=("http://en.wikipedia.org/wiki/Bob_Ross", "12"), types=("PER",)),
    Label(24, 28, "Vienna", same_as=("http://x", "55866"), types=("LOC",)),
)


def _hash(text):
    tokens = [line.split()[0] for line in text.splitlines() if line and not line.startswith("-DOC")]
    return hashlib.sha256("\n".join(tokens).encode()).hexdigest()


@pytest.fixture
def small(monkeypatch):
    """A CoNLL-2003 of two documents, and a test set that is not there."""
    splits = (
        conll2003.AidaSplit("train", 1, 2, ("eng.train",), 9, tokens_digest=_hash(TEXT)),
        conll2003.AidaSplit("testb", 3, 3, ("eng.testb",), 1),
    )
    monkeypatch.setattr(conll2003, "SPLITS", splits)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "AIDA-YAGO2-annotations.tsv").write_text(ANNOTATIONS)
    (tmp_path / "eng.train").write_text(TEXT)
    return tmp_path


def test_annotations_get_their_text(small, folder):
    corpus = karat.load(folder / "AIDA-YAGO2-annotations.tsv")
    first, second = corpus
    assert first == Document("1 Ada", "Ada King met Bob Ross .\nWien", LABELS, meta={"split": "train"})
    assert second == Document("2 Rain", "Rain fell", meta={"split": "train"})
    assert corpus.metadata == {"tokens of train": _hash(TEXT)}
    assert not corpus.skipped
    assert list(karat.load(folder)) == list(corpus)


def test_the_merged_file_says_the_same_but_for_the_types(small, tmp_path):
    path = tmp_path / "merged.tsv"
    path.write_text(MERGED)
    first, second = karat.load(path)
    bare = tuple(Label(label.start, label.end, label.entity, same_as=label.same_as) for label in LABELS)
    assert first == Document("1 Ada", "Ada King met Bob Ross .\nWien", bare, meta={"split": "train"})
    assert second.text == "Rain fell"


def test_versions_of_the_merged_file_with_name_tags_have_types(tmp_path):
    path = tmp_path / "merged.tsv"
    path.write_text("-DOCSTART- (1 A)\nA\tB\tA\t--NME--\tI-ORG\nB\tB\tB\tB_\thttp://x\t5\t\tI-LOC\n")
    (document,) = karat.load(path)
    assert document.labels == (
        Label(0, 1, None, types=("ORG",)),
        Label(2, 3, "B_", same_as=("http://x", "5"), types=("LOC",)),
    )


def test_splits_are_told_by_the_number(tmp_path):
    path = tmp_path / "merged.tsv"
    names = ["1 A", "946 A", "947testa A", "1162testa A", "1163testb A", "1393testb A", "1394 A", "A"]
    path.write_text("".join(f"-DOCSTART- ({name})\nA\n" for name in names))
    found = [document.meta.get("split") for document in karat.load(path)]
    assert found == ["train", "train", "testa", "testa", "testb", "testb", None, None]


def test_a_split_without_text_is_left_out_and_counted(small, folder):
    (folder / "AIDA-YAGO2-annotations.tsv").write_text(ANNOTATIONS + "-DOCSTART- (3testb X)\n0\tX\n")
    corpus = karat.load(folder)
    assert len(corpus) == 2
    assert corpus.skipped == {"documents of testb (skipped, since eng.testb is not next to the annotations)": 1}


def test_without_any_text_there_is_a_clear_error(folder):
    (folder / "eng.train").unlink()
    with pytest.raises(InputError, match=r"annotations without their text.* Obtain CoNLL-2003") as caught:
        karat.load(folder)
    assert caught.value.where.endswith("AIDA-YAGO2-annotations.tsv")


@pytest.mark.parametrize(
    ("old", "new", "found", "expected"),
    [
        ("Rain NN", "Snow NN", "as hash of the tokens", f"{_hash(TEXT)[:12]} as hash of the tokens, as eng.train"),
        ("fell VBD I-VP O\n", "", "8 tokens", "9 tokens, as eng.train of CoNLL-2003 has"),
        ("-DOCSTART- -X- O O\n\nRain", "Rain", "1 documents", "2 documents, as eng.train"),
    ],
)
def test_another_text_is_refused(small, folder, old, new, found, expected):
    (folder / "eng.train").write_text(TEXT.replace(old, new))
    with pytest.raises(InputError, match=expected) as caught:
        karat.load(folder)
    assert caught.value.where.endswith("eng.train")
    assert found in caught.value.actual


def test_lengths_prove_a_text_too(small, folder, monkeypatch):
    known = conll2003.SPLITS[0]._replace(tokens_digest=None, lengths_digest="0" * 64)
    monkeypatch.setattr(conll2003, "SPLITS", (known,))
    with pytest.raises(InputError, match="000000000000 as hash of the lengths of the tokens"):
        karat.load(folder)


@pytest.mark.parametrize(
    ("old", "new", "place", "found"),
    [
        ("(2 Rain)", "(2 Snow)", "eng.train:12", "a document that begins with 'Rain'"),
        ("6\tVienna", "7\tVienna", "annotations.tsv:1", "a mention at token 7 in document '1 Ada' of 7 tokens"),
        ("6\tVienna", "x\tVienna", "annotations.tsv:5", "'x' for the token"),
        ("3\t--NME--", "3", "annotations.tsv:3", "1 columns"),
    ],
)
def test_annotations_that_do_not_fit_are_refused(small, folder, old, new, place, found):
    (folder / "AIDA-YAGO2-annotations.tsv").write_text(ANNOTATIONS.replace(old, new))
    with pytest.raises(InputError) as caught:
        karat.load(folder)
    assert caught.value.where.endswith(place)
    assert caught.value.actual == found


def test_a_mention_at_a_token_that_is_no_name_is_counted(small, folder):
    (folder / "AIDA-YAGO2-annotations.tsv").write_text(ANNOTATIONS.replace("(2 Rain)\n", "(2 Rain)\n1\tFall\n"))
    corpus = karat.load(folder)
    assert corpus["2 Rain"].labels == (Label(5, 9, "Fall"),)
    assert corpus.skipped == {"mentions that are not names in CoNLL-2003 (read as one token)": 1}


@pytest.mark.parametrize(
    ("row", "found"), [("A\tX\tA\tE", "'X' in column 2"), ("A\tB\tA", "3 columns"), ("A\tB", "2 columns")]
)
def test_bad_rows_of_the_merged_file_are_refused(row, found, tmp_path):
    path = tmp_path / "merged.tsv"
    path.write_text(f"-DOCSTART- (1 A)\nB\n{row}\n")
    with pytest.raises(InputError, match=rf"merged\.tsv:3: found {found}"):
        karat.load(path)


def test_a_token_that_continues_nothing_is_counted(tmp_path):
    path = tmp_path / "merged.tsv"
    path.write_text("-DOCSTART- (1 A)\nA\tB\tA\tE\nb\nC\tI\tC\tE\n")
    corpus = karat.load(path)
    assert len(corpus.labels) == 1
    assert corpus.skipped == {"tokens tagged I that continue no mention (skipped)": 1}


def test_it_is_told_from_other_files_of_tokens():
    assert aida.FORMAT.recognises(ANNOTATIONS.encode())
    assert aida.FORMAT.recognises(MERGED.encode())
    assert not aida.FORMAT.recognises(TEXT.encode())
    assert not aida.FORMAT.recognises(b"-DOCSTART-\n\n# id\nx\tO\tO\n")


@given(nearly(MERGED.encode()))
def test_broken_merged_files_are_refused_in_words(data):
    read_or_refused(lambda source: aida.read_corpus(source, True), data)


@given(nearly(ANNOTATIONS.encode()), nearly(TEXT.encode()))
def test_broken_annotations_are_refused_in_words(data, text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conll2003, "SPLITS", (conll2003.AidaSplit("train", 1, 2, ("eng.train",), 9),))
        for beside in (TEXT.encode(), text):
            read_or_refused(
                lambda source: aida.read_corpus(source, True), data, "annotations.tsv", beside={"eng.train": beside}
            )


def _as_published(document):
    """A document as CoNLL-2003 and AIDA would have it."""
    starts = {label.start: label for label in document.labels}
    text, annotations, place, end = ["-DOCSTART- -X- O O\n\n"], [f"-DOCSTART- ({document.id})\n"], 0, 0
    count = 0
    for sentence in document.text.split("\n"):
        for token in sentence.split(" "):
            label = starts.get(place)
            if label:
                annotations.append(f"{count}\t{label.entity}\t\t{label.same_as[0]}\n")
                end = label.end
            text.append(f"{token} X X {'I-X' if place < end else 'O'}\n")
            place += len(token) + 1
            count += 1
        text.append("\n")
    return "".join(text), "".join(annotations)


@pytest.mark.shared
def test_the_tokens_of_testb_are_proven(shared, tmp_path):
    """The tokens of AIDA-B as ZELDA publishes them pass for eng.testb, and give ZELDA's mentions."""
    gold = zelda_conll.read_corpus(Source(str(shared / "zelda" / "conll" / "test_aida-b.conll")), True)
    texts, annotations = zip(*map(_as_published, gold), strict=True)
    (tmp_path / "eng.testb").write_text("".join(texts))
    (tmp_path / "AIDA-YAGO2-annotations.tsv").write_text("".join(annotations))
    corpus = karat.load(tmp_path)
    assert (len(corpus), len(corpus.labels), corpus.skipped) == (231, 4485, {})
    for one, other in zip(gold, corpus, strict=True):
        assert (one.id, one.text) == (other.id, other.text)
        assert [(x.start, x.end, x.entity) for x in one.labels] == [(x.start, x.end, x.entity) for x in other.labels]
    (tmp_path / "eng.testb").write_text("".join(texts).replace("SOCCER", "SOCCES", 1))
    with pytest.raises(InputError, match="expected 2423453bbb01 as hash of the tokens"):
        karat.load(tmp_path)


WORDS = st.sampled_from(["Ada", "met", "New", "York", ".", "x-y"])
ENTITIES = st.sampled_from(["Ada_Lovelace", "New_York", None, UNLINKED])


@st.composite
def tokenised_documents(draw):
    """Documents whose texts are tokens joined by spaces and sentences joined by line ends."""
    documents = []
    for number in range(draw(st.integers(1, 3))):
        sentences = draw(st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=3))
        text = "\n".join(" ".join(sentence) for sentence in sentences)
        labels, offset = [], 0
        for sentence in sentences:
            for word in sentence:
                if draw(st.booleans()):
                    entity = draw(ENTITIES)
                    ids = ("http://en.wikipedia.org/wiki/X", "12")
                    same_as = ids if isinstance(entity, str) and draw(st.booleans()) else ()
                    types = ("PER",) if draw(st.booleans()) else ()
                    labels.append(Label(offset, offset + len(word), entity, same_as=same_as, types=types))
                offset += len(word) + 1
        documents.append(Document(f"x{number} a", text, tuple(labels)))
    return documents


@given(tokenised_documents())
def test_whatever_is_written_comes_back(documents):
    corpus = Corpus.from_documents(documents)
    assert count_losses(corpus, aida.FORMAT) == {}
    with TemporaryDirectory() as place:
        karat.save(corpus, f"{place}/x.aida.tsv")
        assert list(karat.load(f"{place}/x.aida.tsv")) == documents


def test_the_merged_file_is_written_in_its_layout(tmp_path):
    labels = (
        Label(0, 8, "New_York", same_as=("http://en.wikipedia.org/wiki/New_York", "645042"), types=("LOC",)),
        Label(13, 16, None),
    )
    corpus = Corpus.from_documents([Document("1163testb X", "New York met Ada.", labels, meta={"split": "testb"})])
    karat.save(corpus, tmp_path / "x.aida.tsv")
    link = "New York\tNew_York\thttp://en.wikipedia.org/wiki/New_York\t645042\tI-LOC"
    assert (tmp_path / "x.aida.tsv").read_text(encoding="utf-8") == (
        f"-DOCSTART- (1163testb X)\nNew\tB\t{link}\nYork\tI\t{link}\nmet\nAda\tB\tAda\t--NME--\n.\n"
    )
    assert count_losses(corpus, aida.FORMAT) == {
        "text of documents (read back with a space between tokens, so that spans change)": 1
    }
    (again,) = karat.load(tmp_path / "x.aida.tsv")
    assert (again.text, again.labels, again.meta) == ("New York met Ada .", labels, {"split": "testb"})


def test_of_overlapping_mentions_the_longest_is_written(tmp_path):
    labels = (Label(0, 3, "Q1"), Label(0, 8, "Q2"))
    corpus = Corpus.from_documents([Document("x", "New York", labels)])
    karat.save(corpus, tmp_path / "x.aida.tsv")
    assert count_losses(corpus, aida.FORMAT) == {"labels that overlap longer ones": 1}
    assert next(iter(karat.load(tmp_path / "x.aida.tsv"))).labels == labels[1:]
