"""GERDAQ."""

from __future__ import annotations

import pytest

import karat
from karat import UNLINKED, InputError, Label
from karat.data.steps import apply_steps

XML = """<?xml version='1.0' encoding='UTF-8'?>
<dataset><instance>old <annotation rank_0_id="7" rank_0_score="0.9" rank_0_title="Ulm" rank_1_id="8"
 rank_1_score="0.4" rank_1_title="Ulm (song)" rank_2_id="8" bad_0_id="5" bad_0_score="0.1"
 bad_0_title="Elm">😀ulm</annotation> by <annotation rank_0_title="Train">train</annotation><x>!</x></instance>
<instance>so <annotation>what</annotation></instance>
</dataset>
"""


@pytest.fixture
def path(tmp_path):
    def write(text=XML):
        (tmp_path / "toy.xml").write_text(text, encoding="utf-8")
        return tmp_path / "toy.xml"

    return write


def test_ranked_entities_are_alternatives(path):
    corpus = karat.load(path())
    first, second = corpus
    assert (first.id, first.text) == ("1", "old 😀ulm by train!")
    assert first.labels == (
        Label(4, 8, "7", name="Ulm", mention_id="1"),
        Label(4, 8, "8", name="Ulm (song)", mention_id="1"),
        Label(12, 17, "Train", name="Train"),
    )
    assert first.meta == {"score of 4-8 7": "0.9", "score of 4-8 8": "0.4", "refused for 4-8 5": "0.1 Elm"}
    assert second.labels == (Label(3, 7, UNLINKED),)
    assert corpus.skipped == {
        "duplicate entities of a mention (dropped)": 1,
        "elements unknown to the format": 1,
    }


def test_the_first_step_takes_the_best(path):
    made, _ = apply_steps(karat.load(path()), ["first"])
    assert [label.entity for label in next(iter(made)).labels] == ["7", "Train"]


def test_an_empty_mention_is_named_with_its_instance(path):
    with pytest.raises(InputError, match=r"toy\.xml, instance 2: found label \[3, 3\)"):
        karat.load(path(XML.replace(">what<", "><")))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("split", "documents", "length", "mentions", "entities"),
    [
        ("trainingA", 249, 25.1, 441, 474),
        ("trainingB", 248, 24.7, 433, 458),
        ("devel", 249, 22.7, 420, 453),
        ("test", 246, 23.5, 409, 430),
    ],
)
def test_counts(shared, split, documents, length, mentions, entities):
    corpus = karat.load(shared / "bat/gerdaq_1.0" / f"gerdaq_{split}.xml")
    assert (len(corpus), len(corpus.labels), corpus.skipped) == (documents, entities, {})
    assert len(set(corpus.mention_index.mention)) == mentions
    assert len(apply_steps(corpus, ["first"])[0].labels) == mentions
    assert round(sum(len(document.text) for document in corpus) / documents, 1) == length
