"""Meij's tweets."""

from __future__ import annotations

import pytest

import karat
from karat import InputError, Tag
from karat.data.steps import apply_steps

TWEETS = "11\tAda\t200\tMon\tSee Ulm http://x.y/z now\tand\n12\tBob\t200\tTue\tRabbits!\n"
ANNOTATIONS = "11\t7\tUlm\n11\t7\tUlm\n11\t9\tCity\n12\t-2\t-\n"


@pytest.fixture
def folder(tmp_path):
    def write(tweets=TWEETS, annotations=ANNOTATIONS):
        (tmp_path / "original_tweets.list").write_text(tweets)
        (tmp_path / "wsdm2012_annotations.txt").write_text(annotations)
        return tmp_path

    return write


def test_tweets_have_tags(folder):
    corpus = karat.load(folder())
    first, second = corpus
    assert (first.text, first.tags) == ("See Ulm http://x.y/z now\tand", (Tag("Ulm"), Tag("City")))
    assert first.meta == {"user": "Ada", "status": "200", "date": "Mon", "page id of Ulm": "7", "page id of City": "9"}
    assert (second.tags, second.meta["no entity"]) == ((), "-2")
    assert corpus.skipped == {"rows for tweets without an entity": 1, "duplicate tags (dropped)": 1}


def test_a_system_that_predicts_titles_is_scored(folder):
    """Page ids as entities, as before, gave 0.0 to every system: no system predicts the numbers of pages."""
    run = karat.Run.from_responses([karat.Response("11", tags=(Tag("Ulm"),)), karat.Response("12")])
    result = karat.evaluate(karat.load(folder()), run, settings={"task": "c2kb"})
    assert (result["entity:micro.p"], result["entity:micro.r"]) == (1, 0.5)


def test_a_page_without_title_keeps_its_number(folder):
    corpus = karat.load(folder(annotations="11\t7\t\n"))
    assert corpus["11"].tags == (Tag("7"),)
    assert corpus.skipped == {"pages without title (linked to their page id)": 1}


def test_cleaning_blanks_addresses_and_more(folder):
    made, changes = apply_steps(karat.load(folder()), ["clean-tweets"])
    assert [document.text for document in made] == ["See Ulm   now\tand", "Rab "]
    assert str(changes["clean-tweets"]) == "36 → 21 characters"


@pytest.mark.parametrize(
    ("change", "description"),
    [
        ({"tweets": TWEETS + "13\tshort\n"}, r"original_tweets\.list:3: found 2 columns"),
        ({"tweets": TWEETS + TWEETS}, r"original_tweets\.list:3: found document '11' a second time"),
        ({"annotations": ANNOTATIONS + "12\t3\n"}, r"wsdm2012_annotations\.txt:5: found 2 columns"),
        ({"annotations": ANNOTATIONS + "14\t3\tUlm\n"}, r"wsdm2012_annotations\.txt: found tweet '14'"),
    ],
)
def test_defects_are_named_with_their_place(folder, change, description):
    with pytest.raises(InputError, match=description):
        karat.load(folder(**change))


@pytest.mark.shared
def test_counts(shared):
    """939 rows, of which 127 say that there is no entity: 812 tags of 502 tweets, 80.19 characters once cleaned."""
    corpus = karat.load(shared / "bat/meij")
    made, changes = apply_steps(corpus, ["clean-tweets"])
    size = changes["clean-tweets"].after
    assert (size.documents, size.tags) == (502, 812)
    assert round(changes["clean-tweets"].before.characters / 502, 2) == 88.40
    assert round(size.characters / 502, 2) == 80.19
    assert corpus.skipped == {"rows for tweets without an entity": 127}
    assert sum(bool(document.tags) for document in made) == 375
