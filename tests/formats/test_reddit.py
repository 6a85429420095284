"""Reddit Entity Linking, as its public documentation describes it."""

from __future__ import annotations

import pytest
from hypothesis import given

import karat
from karat import Document, InputError, Label
from karat.formats.plugins import reddit
from tests.formats.broken import nearly, read_or_refused

FILES = {
    "posts.tsv": "ab1\tmovies\tA film by Ada\nab2\tnews\tNothing\n",
    "comments.tsv": "c1\tt3_ab1\tab1\tmovies\tFirst line\nsecond Ada line\n\nc2\tt1_c1\tab1\tmovies\tyes\n",
    "gold_post_annotations.tsv": "ab1\tmovies\tAda\tAda Lovelace\t10\t13\n",
    "silver_post_annotations.tsv": "ab1\tmovies\tfilm\tFilm\t2\t6\n",
    "bronze_post_annotations.tsv": "ab1\tmovies\tby\tBy\t7\t9\nab2\tnews\tNothing\tNothing\t0\t7\n",
    "gold_comment_annotations.tsv": "c1\tmovies\tAda\tAda Lovelace\t18\t21\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_folder(folder):
    corpus = karat.load(folder)
    assert list(corpus) == [
        Document("ab1 movies", "A film by Ada", (Label(10, 13, "Ada Lovelace"),), meta=_meta("post", "movies")),
        Document("ab2 news", "Nothing", meta=_meta("post", "news")),
        Document(
            "c1 t3_ab1 ab1 movies",
            "First line\nsecond Ada line",
            (Label(18, 21, "Ada Lovelace"),),
            meta=_meta("comment", "movies"),
        ),
        Document("c2 t1_c1 ab1 movies", "yes", meta=_meta("comment", "movies")),
    ]
    assert corpus.skipped == {
        "silver annotations (not all three annotators agree)": 1,
        "bronze annotations (not all three annotators agree)": 2,
    }


def _meta(kind, subreddit):
    return {"kind": kind, "subreddit": subreddit}


@pytest.mark.parametrize(("file", "entity"), [("gold_post", "Ada Lovelace"), ("silver_post", "Film")])
def test_one_file_of_annotations(file, entity, folder):
    corpus = karat.load(folder / f"{file}_annotations.tsv")
    assert (len(corpus), [label.entity for label in corpus["ab1 movies"].labels]) == (2, [entity])


def test_rows_that_do_not_fit_are_counted(folder):
    rows = [
        "ab1\tmovies\tAda\tAda Lovelace\t10\t13\tx",
        "ab1\tmovies\tAda\tAda Lovelace\t10\t13",
        "ab1\tmovies\tFilm\tFilm\t2\t6",
        "ab1\tmovies\tAda\tAda\t11\t14",
        "zz\tnews\tA\tA\t0\t1",
    ]
    (folder / "gold_post_annotations.tsv").write_text("\n".join(rows))
    corpus = karat.load(folder / "gold_post_annotations.tsv")
    assert len(corpus.labels) == 2
    assert corpus.skipped == {
        "rows with further columns (not read)": 1,
        "duplicate mentions (dropped)": 1,
        "annotations whose mention differs from the text at their span": 1,
        "annotations with a span outside their text (skipped)": 1,
        "annotations of missing texts (skipped)": 1,
    }


@pytest.mark.parametrize(
    ("file", "text", "place", "found"),
    [
        ("gold_post_annotations.tsv", "ab1\tmovies\tAda\tA\t10\n", "annotations.tsv:1", "5 columns"),
        ("gold_post_annotations.tsv", "ab1\tmovies\tAda\tA\t10\tx\n", "annotations.tsv:1", "'x' for the end"),
        ("posts.tsv", "no columns\n", "posts.tsv:1", "'no columns'"),
    ],
)
def test_errors_say_where(file, text, place, found, folder):
    (folder / file).write_text(text)
    with pytest.raises(InputError) as caught:
        karat.load(folder)
    assert caught.value.where.endswith(place)
    assert caught.value.actual == found


def test_a_file_must_say_what_it_annotates(folder):
    (folder / "mine.tsv").write_text(FILES["gold_post_annotations.tsv"])
    with pytest.raises(InputError, match="whether the annotations belong to posts or comments"):
        karat.load(folder / "mine.tsv")
    (folder / "posts.tsv").unlink()
    with pytest.raises(InputError, match=r"posts\.tsv: found no such file"):
        karat.load(folder / "gold_post_annotations.tsv")


@given(nearly(FILES["gold_comment_annotations.tsv"].encode()), nearly(FILES["comments.tsv"].encode()))
def test_broken_files_are_refused_in_words(rows, texts):
    for beside in (FILES["comments.tsv"].encode(), texts):
        read_or_refused(
            lambda source: reddit.read_corpus(source, True),
            rows,
            "gold_comment_annotations.tsv",
            beside={"comments.tsv": beside},
        )
