"""ERD 2014."""

from __future__ import annotations

import pytest

import karat
from karat import InputError, Label
from karat.data.steps import apply_steps

QUERIES = "\r\nq1\tulm ulm station\r\nq2\tnothing here\r\n"
ROWS = "q1\t0\tUlm\tulm\t1\r\nq1\t1\tUlm_(song)\tulm\t1\r\nq1\t1\tElm\telm\t1\r\nq1\t2\tUlm\tulm\t1\r\n"


@pytest.fixture
def folder(tmp_path):
    def write(queries=QUERIES, rows=ROWS):
        (tmp_path / "toy.query.txt").write_bytes(queries.encode())
        (tmp_path / "toy.annotation.txt").write_bytes(rows.encode())
        return tmp_path

    return write


@pytest.mark.parametrize("given", ["", "toy.annotation.txt"])
def test_mentions_stand_where_their_words_first_occur(folder, given):
    corpus = karat.load(folder() / given)
    first, second = corpus
    assert (first.id, first.text, second.labels) == ("q1", "ulm ulm station", ())
    assert first.labels == (
        Label(0, 3, "Ulm", categories=("interpretation:0",)),
        Label(0, 3, "Ulm_(song)", categories=("interpretation:1",)),
        Label(0, 3, "Ulm", categories=("interpretation:2",), mention_id="repeated 1"),
    )
    assert corpus.skipped == {"mentions not found in their query": 1, "duplicate labels (kept as separate mentions)": 1}


@pytest.mark.parametrize(
    ("change", "description"),
    [
        ({"queries": QUERIES + "q3\n"}, r"toy\.query\.txt:4: found 1 columns"),
        ({"queries": QUERIES + "q1\tagain\n"}, r"toy\.query\.txt:4: found the duplicate query 'q1'"),
        ({"rows": ROWS + "q9\t0\tUlm\tulm\t1\n"}, r"toy\.annotation\.txt:5: found query 'q9'"),
        ({"rows": ROWS + "q2\t0\tUlm\tulm\tmuch\n"}, r"toy\.annotation\.txt:5: found 'much' for the score"),
    ],
)
def test_defects_are_named_with_their_line(folder, change, description):
    with pytest.raises(InputError, match=description):
        karat.load(folder(**change))


def test_annotations_need_their_queries(folder):
    here = folder()
    (here / "toy.query.txt").unlink()
    with pytest.raises(InputError, match="found no file of queries next to the annotations"):
        karat.load(here / "toy.annotation.txt")


@pytest.mark.shared
def test_counts(shared):
    """91 queries of 20.8 characters, 56 rows over 44 of them; BAT, where the first of overlapping ones wins, has 51."""
    corpus = karat.load(shared / "bat/erd2014")
    assert (len(corpus), len(corpus.labels), corpus.skipped) == (91, 56, {})
    assert sum(bool(document.labels) for document in corpus) == 44
    assert round(sum(len(document.text) for document in corpus) / 91, 1) == 20.8
    assert len(apply_steps(corpus, ["longest"])[0].labels) == 51
