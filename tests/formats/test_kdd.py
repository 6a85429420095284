"""The KDD queries."""

from __future__ import annotations

import pytest

import karat
from karat import UNLINKED, InputError, Label
from karat.data.steps import apply_steps

MARK = ".\tO\tO\t#"
ADDRESS = "http://en.wikipedia.org/wiki/New_Ulm"
LINES = [
    MARK,
    f"new\tnew_ulm\tO\tB-LOC\tNew_Ulm\t{ADDRESS}",
    "ulm\tO\tO\tI-LOC",
    "beer\tO\tO\tO\tNONE\tNONE",
    MARK,
    MARK,
    "bob\tbob_x\tO\tB-PER\tNONE\tNONE",
    "x\tO\tO\tI-PER",
    "ada\tada\tO\tB-PER\tAda\tNONE",
    "c240\tO\tO\tB-O",
    "elm\telm\tO\tB-LOC\tElm\thttp://e\tNONE\tNONE",
    MARK,
]


@pytest.fixture
def path(tmp_path):
    def write(lines=LINES):
        (tmp_path / "toy.txt").write_bytes("\r\n".join([*lines, ""]).encode())
        return tmp_path / "toy.txt"

    return write


def test_words_become_queries(path):
    corpus = karat.load(path())
    first, second = corpus
    assert [document.text for document in corpus] == ["new ulm beer", "bob x ada c240 elm"]
    assert first.labels == (Label(0, 7, "New_Ulm", same_as=(ADDRESS,), types=("LOC",)),)
    assert second.labels == (
        Label(0, 5, None, types=("PER",)),
        Label(6, 9, "Ada", types=("PER",)),
        Label(10, 14, UNLINKED, types=("O",)),
        Label(15, 18, None, types=("LOC",)),
    )
    assert second.meta == {"entities at 15-18": "Elm\thttp://e\tNONE\tNONE"}
    assert corpus.skipped == {
        "entities on words outside mentions": 1,
        "lines with a second title (stored in `meta`)": 1,
    }


def test_no_word_of_a_query_is_lost(path):
    """An I- row without a B- row before it, or after a B- row without a mention in column 2, is a word of the text."""
    rows = [MARK, "ulm\tO\tO\tI-LOC", "new\tO\tO\tB-LOC", "elm\tO\tO\tI-LOC", "bob\tbob_x\tO\tB-PER", "x\tO\tO\tI-PER"]
    corpus = karat.load(path(rows))
    (document,) = corpus
    assert document.text == "ulm new elm bob x"
    assert [(label.start, label.end) for label in document.labels] == [(4, 7), (12, 17)]
    assert corpus.skipped == {"I- rows after no mention of several words (read as words outside mentions)": 2}


def test_a_short_line_is_named(path):
    with pytest.raises(InputError, match=r"toy\.txt:13: found 2 columns"):
        karat.load(path([*LINES, "a\tb"]))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "documents", "length", "raw", "linked"),
    [
        ("kdd_amt_d_1", 777, 24.6, 437, 333),
        ("kdd_amt_t_1", 819, 24.9, 453, 341),
        ("kdd_edit", 69, 25.0, 123, 117),
        ("small_test", 62, 24.8, 37, 26),
    ],
)
def test_counts(shared, name, documents, length, raw, linked):
    corpus = karat.load(shared / "bat/kdd" / f"{name}.txt")
    made, _ = apply_steps(corpus, ["drop-nil", "drop-unlinked"])
    assert (len(corpus), len(corpus.labels), len(made.labels)) == (documents, raw, linked)
    assert round(sum(len(document.text) for document in corpus) / documents, 1) == length
