"""IITB."""

from __future__ import annotations

import pytest

import karat
from karat import InputError, Label
from karat.data.steps import apply_steps


def _annotation(document: str, user: str, title: str, offset: object, length: int) -> str:
    wiki = f"<wikiName>{title}</wikiName>" if title else "<wikiName/>"
    place = f"<offset>{offset}</offset><length>{length}</length>"
    return f"<annotation><docName>{document}</docName><userId>{user}</userId>{wiki}{place}</annotation>\n"


ROWS = [("b", "ada", "Ulm", 2, 3), ("a", "ada", "", 0, 3), ("b", "bob", "Ulm", 2, 3), ("b", "bob", "", 6, 3)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "crawledDocs").mkdir()
    for name, text in (("a", "Bob"), ("b", "😀Ulm Bob"), ("c", "Nobody looked at this.")):
        (tmp_path / "crawledDocs" / name).write_text(text, encoding="utf-8")

    def write(rows=ROWS):
        content = "".join(_annotation(*row) for row in rows)
        (tmp_path / "CSAW_Annotations.xml").write_text(
            f"<iitb.CSAW.entityAnnotations>\n{content}</iitb.CSAW.entityAnnotations>"
        )
        return tmp_path

    return write


@pytest.mark.parametrize("given", ["", "CSAW_Annotations.xml"])
def test_every_annotation_of_every_annotator_is_kept(folder, given):
    corpus = karat.load(folder() / given)
    first, second = corpus
    assert (first.id, second.id, corpus.skipped) == ("b", "a", {"texts without annotations": 1})
    assert first.labels == (
        Label(1, 4, "Ulm", mention_id="ada:1"),
        Label(1, 4, "Ulm", mention_id="bob:2"),
        Label(5, 8, None, mention_id="bob:3"),
    )


def test_steps_lead_to_the_usual_counts(folder):
    made, changes = apply_steps(karat.load(folder()), ["drop-nil", "distinct", "drop-empty"])
    assert [label.mention_id for document in made for label in document.labels] == ["ada:1"]
    assert {name: str(change) for name, change in changes.items()} == {
        "drop-nil": "4 → 2 labels",
        "distinct": "2 → 1 labels",
        "drop-empty": "2 → 1 documents, 11 → 8 characters",
    }
    assert made.metadata["steps"] == "drop-nil, distinct, drop-empty"
    assert made.skipped == {
        "texts without annotations": 1,
        "labels excluded by drop-nil": 2,
        "labels excluded by distinct": 1,
        "documents excluded by drop-empty": 1,
    }


@pytest.mark.parametrize(
    ("row", "description"),
    [
        (("b", "ada", "Ulm", "two", 3), r"CSAW_Annotations\.xml, document 'b': found 'two' for the offset"),
        (("b", "ada", "Ulm", 7, 30), r"document 'b': found label \[6, 37\) in a text of 8 code points"),
        (("b", "ada", "Ulm", 7, 0), r"document 'b': found label \[6, 6\)"),
        (("z", "ada", "Ulm", 0, 3), r"document 'z': found no text 'z' in"),
    ],
)
def test_defects_are_named_with_their_document(folder, row, description):
    with pytest.raises(InputError, match=description):
        karat.load(folder([*ROWS, row]))


@pytest.mark.shared
def test_counts(shared):
    """19,751 annotations, 12,099 with a page, 11,254 distinct ones; on 18,308 spans with NA and 11,194 without.

    The 11,245 of the BAT paper need the Wikipedia of 2012: BAT drops what has no page on the day it reads the data.
    """
    corpus = karat.load(shared / "bat/iitb")
    made, changes = apply_steps(corpus, ["drop-nil", "distinct", "drop-empty"])
    labels = [change.after.labels for change in changes.values()]
    assert (len(corpus.labels), *labels) == (19_751, 12_099, 11_254, 11_254)
    assert (len(corpus), len(made)) == (104, 103)
    assert _spans(corpus) == 18_308
    assert _spans(made) == 11_194
    assert corpus.skipped == {"texts without annotations": 546}
    texts = [document.text for document in made]
    assert round(sum(len(text) + (not text.endswith("\n")) for text in texts) / 103, 1) == 3879.4


def _spans(corpus):
    return len({(document.id, label.span) for document in corpus for label in document.labels})
