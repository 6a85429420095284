"""ZELDA CoNLL: tokens and tags, broken tags, white space that comes back, and the published figures."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Corpus, Document, InputError, Label, UsageError
from karat.formats.plugins import zelda, zelda_conll
from karat.storage.files import Source
from tests import strategies
from tests.formats.broken import nearly, read_or_refused

GOLD = """-DOCSTART-

# one\t0.3-0.4
Ada\tB-974\tB-Ada_Lovelace
King\tI-974\tI-Ada_Lovelace
met\tO\tO

#\tO\tO
Bob\tB-12\tB-Bob_Ross

-DOCSTART-

# two
x\tB-1\tB-X
y\tB-1\tB-X
"""
LOST_INSIDE = "tags I- that continue no mention (skipped)"
LOST_OUTSIDE = "links on tokens tagged O (skipped)"
TAKEN = "documents with a duplicate id (a number was added)"
SPLITS = {  # documents, mentions, entities, what is counted
    "aida-b": (231, 4485, 1537, {}),
    "tweeki": (500, 848, 635, {LOST_INSIDE: 2, LOST_OUTSIDE: 6, TAKEN: 1}),
    "reddit-posts": (377, 703, 523, {}),
    "reddit-comments": (360, 637, 482, {}),
    "wned-wiki": (345, 6765, 5306, {}),
    "shadowlinks-top": (904, 904, 899, {}),
    "shadowlinks-shadow": (904, 904, 902, {}),
    "shadowlinks-tail": (901, 899, 899, {}),
}


def _read(path, text):
    path.write_text(text, encoding="utf-8")
    return karat.load(path)


def _written(corpus):
    file = io.BytesIO()
    zelda_conll.write_corpus(corpus, file)
    return file.getvalue().decode()


def test_documents(tmp_path):
    one, two = _read(tmp_path / "x.conll", GOLD)
    labels = (Label(0, 8, "Ada_Lovelace", same_as=("974",)), Label(15, 18, "Bob_Ross", same_as=("12",)))
    assert one == Document("one", "Ada King met\n# Bob", labels, meta={"bracket": "0.3-0.4"})
    assert two == Document("two", "x y", (Label(0, 1, "X", same_as=("1",)), Label(2, 3, "X", same_as=("1",))))


def test_a_file_comes_back_byte_for_byte(tmp_path):
    assert _written(_read(tmp_path / "x.conll", GOLD)) == GOLD + "\n"


def test_broken_tags_are_left_out_and_counted(tmp_path):
    rows = ["a\tB-1\tB-X", "b\tI-2\tI-Y", "c\tO-3\tO-Z", "d\tI-1\tI-X", "", "e\tB-1\tB-X", "", "f\tI-1\tI-X"]
    corpus = _read(tmp_path / "x.conll", "-DOCSTART-\n\n# d\n" + "\n".join(rows) + "\n")
    (document,) = corpus
    assert [(label.start, label.end) for label in document.labels] == [(0, 1), (8, 9)]
    assert corpus.skipped == {LOST_INSIDE: 3, LOST_OUTSIDE: 1}


def test_documents_without_id_are_numbered(tmp_path):
    (tmp_path / "x").write_text("-DOCSTART-\n\nx\tO\tO\n\n-DOCSTART-\n\ny\tO\tO\n", encoding="utf-8")
    corpus = karat.load(tmp_path / "x", format="zelda-conll")
    assert [document.id for document in corpus] == ["1", "2"]
    assert corpus.skipped == {"documents without an id (numbered)": 2}


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("x\tO", "2 columns"),
        ("x\tB-1\tO", "the tags 'B-1' and 'O'"),
        ("x\tX-1\tX-A", "the tags 'X-1' and 'X-A'"),
    ],
)
def test_errors_say_where(row, found, tmp_path):
    with pytest.raises(InputError, match=rf"x\.conll:5: found {found}"):
        _read(tmp_path / "x.conll", f"-DOCSTART-\n\n# d\nb\tO\tO\n{row}\n")


def test_a_document_must_begin(tmp_path):
    path = tmp_path / "y.conll"
    path.write_text("x\tO\tO\n")
    with pytest.raises(InputError, match=r"y\.conll:1: found 'x\\tO\\tO' before the first document"):
        karat.load(path, format="zelda-conll")


def test_white_space_of_any_kind_is_written_beside_the_token():
    text = _written(Corpus.from_documents([Document("d", "Ada  met Bob.\n C\n\nD ", (Label(4, 5, "A"),))]))
    assert text.splitlines()[3:] == [
        "Ada\tO\tO",
        "_\tB-\tB-A\tBlank=\\s|SpaceAfter=No",
        "met\tO\tO",
        "Bob.\tO\tO\tSpacesAfter=\\n\\s",
        "C\tO\tO\tSpacesAfter=\\n\\n",
        "D\tO\tO\tSpacesAfter=\\s",
        "",
    ]
    text = _written(Corpus.from_documents([Document("d", "Ada met Bob.\nIn Y", (Label(8, 11, "B"),))]))
    assert "Bob\tB-\tB-B\tSpaceAfter=No\n.\tO\tO\n\nIn\tO\tO\nY\tO\tO\n" in text
    text = _written(Corpus.from_documents([Document("d", "ab", (Label(0, 1, None), Label(1, 2)))]))
    assert "a\tB-NIL\tB-\tSpaceAfter=No\nb\tB-\tB-\n" in text


@st.composite
def _documents(draw):
    """Documents without overlapping mentions."""
    found = []
    for number in range(draw(st.integers(1, 3))):
        text = draw(strategies.TEXT | st.text(alphabet="a|\\_ \n\t\r\u3000\x85", max_size=9))
        cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
        spans = [(start, end) for start, end in pairwise(cuts) if draw(st.booleans())]
        entities = st.sampled_from(["Q1", "New York", "NIL", "_", None, UNLINKED])
        labels = []
        for start, end in spans:
            entity = draw(entities)
            also = draw(st.sampled_from([(), ("12",), ("12", "Q5"), ("a|b\\\t\n",), ("NIL",), ("",)]))
            labels.append(Label(start, end, entity, same_as=also))
        names = st.sampled_from(["bracket", "a b", "\t", "meta", ""])
        meta = draw(st.dictionaries(names, strategies.WORDS | st.sampled_from(["1", "x\ty"]), max_size=2))
        found.append(Document(f"d {number}" + draw(st.sampled_from(["", "#", " "])), text, tuple(labels), meta=meta))
    return found


@given(_documents())
def test_what_is_written_is_read(documents):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.zelda.conll"
        karat.save(Corpus.from_documents(documents), path)
        assert zelda_conll.FORMAT.recognises(path.read_bytes())
        again = karat.load(path, format="zelda-conll")
    assert list(again) == documents
    assert not again.skipped


@pytest.mark.parametrize(
    ("document", "description"),
    [
        (
            Document("d", "abc", (Label(0, 2, "A"), Label(1, 3, "B"))),
            r"overlapping mentions: \[0, 2\) and \[1, 3\) in document 'd'",
        ),
        (Document("d", "abc", (Label(0, 2, "A\tB"),)), "cannot store 'A\\\\tB'"),
        (Document("d\n", "abc"), "cannot store 'd\\\\n'"),
    ],
)
def test_what_it_cannot_hold_is_refused(document, description, tmp_path):
    with pytest.raises(UsageError, match=description):
        karat.save(Corpus.from_documents([document]), tmp_path / "x.zelda.conll")
    assert not list(tmp_path.iterdir())


@given(nearly(GOLD.encode()))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: zelda_conll.read_corpus(source, True), data)


@pytest.mark.shared
@pytest.mark.parametrize("split", SPLITS)
def test_the_published_splits_have_their_published_counts(split, shared):
    path = shared / "zelda" / "conll" / f"test_{split}.conll"
    corpus = karat.load(path)
    entities = {label.entity for document in corpus for label in document.labels}
    assert (len(corpus), len(corpus.labels), len(entities), corpus.skipped) == SPLITS[split]
    if split != "tweeki":  # whose broken tags do not come back
        assert _written(corpus).encode() == path.read_bytes()


@pytest.mark.shared
def test_differences_to_the_jsonl_are_those_of_the_specification(shared):
    def both(split):
        gold = zelda.FORMAT.read_corpus(Source(str(shared / "zelda" / "jsonl" / f"test_{split}.jsonl.gz")), True)
        return gold, karat.load(shared / "zelda" / "conll" / f"test_{split}.conll")

    assert sum(count for _, count, _, _ in SPLITS.values()) + 11116 == 27261  # with WNED-CWEB, which is not there
    gold, tokens = both("aida-b")  # the same text, so the same spans
    for one, other in zip(gold, tokens, strict=True):
        assert one.text.split() == other.text.split()
        assert {(x.start, x.end, x.same_as) for x in one.labels} == {(x.start, x.end, x.same_as) for x in other.labels}
    gold, tokens = both("tweeki")  # 12 mentions of the JSONL have no tag B-
    lost = [
        len(set(_spans(one)) - set(_spans(other))) - len(set(_spans(other)) - set(_spans(one)))
        for one, other in zip(gold, tokens, strict=True)
    ]
    assert sum(lost) == 12
    gold, tokens = both("wned-wiki")  # 26 documents without annotation are only in the CoNLL
    empty = {document.id for document in tokens if not document.labels}
    assert {document.id for document in tokens} - {document.id for document in gold} == empty
    assert {document.meta["bracket"] for document in tokens if not document.labels} == {"No bracket provided"}
    assert len(empty) == 26


def _spans(document):
    return [(label.start, label.end) for label in document.labels]
