"""TWEEKI CoNLL: types, links, and tags that do not fit."""

from __future__ import annotations

import pytest
from hypothesis import given

import karat
from karat import UNLINKED, Document, InputError, Label
from karat.formats.plugins import tweeki
from tests.formats.broken import nearly, read_or_refused

GOLD = """# tweet_id 1
# ...
1\tAda\tB-PER\tAda Lovelace|Q7259
2\tKing\tI-PER\tAda Lovelace|Q7259
3\tmet\tO\t-
4\tBob\tB-PER\t-
5\tRoss\tI-PER\t-

# tweet_id 2
# lang en
1\tWien\tU-LOC\tVienna|Q1741 \t
"""
OUTSIDE = "links on tokens tagged O (read as mentions)"
BROKEN = "tags I- that continue no mention (read as the beginning of one)"
BLANKS = "entity ids with surrounding spaces (removed)"


def _load(path, text):
    path.write_text(text, encoding="utf-8")
    return karat.load(path)


def test_tweets(tmp_path):
    corpus = _load(tmp_path / "x", GOLD)
    first, second = corpus
    labels = (Label(0, 8, "Q7259", name="Ada Lovelace", types=("PER",)), Label(13, 21, UNLINKED, types=("PER",)))
    assert first == Document("1", "Ada King met Bob Ross", labels)
    assert second == Document(
        "2", "Wien", (Label(0, 4, "Q1741", name="Vienna", types=("LOC",)),), meta={"comment": "lang en"}
    )
    assert corpus.skipped == {BLANKS: 1}


def test_tags_that_do_not_fit_are_counted(tmp_path):
    rows = ["Atlanta\tB-LOC\tAtlanta|Q23556", "GA\tI-LOC\tGeorgia|Q1428", "x\tO\t-", "y\tI-LOC\tY|Q2", "CEO\tO\tCEO|Q1"]
    text = "# tweet_id 1\n" + "".join(f"{n}\t{row}\n" for n, row in enumerate(rows, 1)) + "\n# tweet_id 1\n1\tx\tO\t-\n"
    corpus = _load(tmp_path / "x", text)
    assert [document.id for document in corpus] == ["1", "1 (2)"]
    found = [(label.start, label.end, label.entity) for label in next(iter(corpus)).labels]
    assert found == [(0, 7, "Q23556"), (8, 10, "Q1428"), (13, 14, "Q2"), (15, 18, "Q1")]
    assert corpus.skipped == {OUTSIDE: 1, BROKEN: 2, "documents with a duplicate id (a number was added)": 1}


@pytest.mark.parametrize(
    ("line", "place", "found"),
    [("2\tx\tO", 4, "3 columns"), ("2\tx\tX\t-", 4, "the tag 'X'"), ("\n1\tx\tO\t-", 5, "a tweet without id")],
)
def test_errors_say_where(line, place, found, tmp_path):
    with pytest.raises(InputError, match=rf"x:{place}: found {found}"):
        _load(tmp_path / "x", f"# tweet_id 1\n# ...\n1\ta\tO\t-\n{line}\n")


@given(nearly(GOLD.encode()))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: tweeki.read_corpus(source, True), data)


@pytest.mark.shared
def test_the_published_file_says_what_the_jsonl_says(shared):
    corpus = karat.load(shared / "formats" / "tweeki" / "Tweeki_gold.conll.gz")
    others = karat.load(shared / "formats" / "tweeki" / "Tweeki_gold.jsonl.gz", format="tweeki-jsonl")
    assert (len(corpus), len(corpus.labels), len(others), len(others.labels)) == (500, 970, 500, 864)
    for one, other in zip(corpus, others, strict=True):
        linked = {(x.start, x.end, x.entity, x.name) for x in one.labels if x.entity is not UNLINKED}
        assert one.text == other.text
        assert linked == {(x.start, x.end, x.entity, x.name) for x in other.labels}
    taken = "documents with a duplicate id (a number was added)"
    assert corpus.skipped == {OUTSIDE: 6, BROKEN: 6, BLANKS: 3, taken: 1}
    assert others.skipped == {BLANKS: 3}
