"""Steps by hand, and against what BAT computes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import karat
from karat import UNLINKED, Corpus, Document, Label, Tag
from karat.data.steps import apply_steps
from karat.matching.select.selection import mask_longest
from karat.model.errors import UnknownNameError, UsageError
from karat.model.items import Items
from tests import strategies

TEXT = "Ada Lovelace met Babbage in London."


def _after(step: str, *labels: Label) -> list[Label]:
    made, _ = apply_steps(Corpus.from_documents([Document("d", TEXT, labels)]), [step])
    return list(next(iter(made)).labels)


@pytest.mark.parametrize(
    ("step", "labels", "kept"),
    [
        ("drop-nil", (Label(0, 3, None), Label(4, 6, "Q1"), Label(7, 9)), [1, 2]),
        ("drop-unlinked", (Label(0, 3, None), Label(4, 6, "Q1"), Label(7, 9, UNLINKED)), [0, 1]),
        ("drop-nil", (Label(0, 6, None, mention_id="r"), Label(0, 3, "Q1", mention_id="p", parent="r")), []),
        ("drop-nil", (Label(0, 3, None, mention_id="u"), Label(0, 3, "Q1", mention_id="u")), [1]),
        ("drop-coreference", (Label(0, 3, "Q1", kind="coreference"), Label(4, 6, "Q1", kind="datetime")), [1]),
        ("drop-optional", (Label(0, 3, "Q1", optional=True), Label(4, 6, "Q1")), [1]),
        (
            "drop-optional",
            (
                Label(0, 3, "Q1", optional=True, mention_id="u"),
                Label(0, 3, "Q2", mention_id="u"),
                Label(5, 6, optional=True),
            ),
            [0, 1],
        ),
        ("first", (Label(0, 3, "Q2", mention_id="u"), Label(0, 3, "Q1", mention_id="u"), Label(0, 3, "Q1")), [0, 2]),
        (
            "distinct",
            (Label(0, 3, "Q1", mention_id="a"), Label(0, 3, "Q1", mention_id="b"), Label(0, 3, "Q2", mention_id="c")),
            [0, 2],
        ),
        (
            "distinct",
            (Label(0, 3, "Q1", mention_id="a"), Label(0, 3, "Q1", mention_id="b"), Label(0, 3, "Q2", mention_id="b")),
            [0, 1, 2],
        ),
        ("distinct", (Label(0, 3, None, mention_id="a"), Label(0, 3, None), Label(0, 3)), [0, 2]),
        (
            "distinct",
            (Label(0, 3, "Q1"), Label(0, 3, "Q1", mention_id="r"), Label(0, 2, "Q2", mention_id="p", parent="r")),
            [0, 1, 2],
        ),
        ("longest", (Label(0, 6, "Q1"), Label(5, 9, "Q2"), Label(8, 11, "Q3")), [0, 2]),
        ("longest", (Label(0, 3, "Q1"), Label(0, 3, "Q2"), Label(3, 5, "Q3")), [0, 2]),
        ("longest", (Label(2, 4, "Q1", mention_id="u"), Label(2, 9, "Q2", mention_id="u"), Label(0, 5, "Q3")), [0, 1]),
        (
            "longest",
            (Label(0, 9, "Q1", mention_id="r"), Label(0, 3, "Q2", mention_id="p", parent="r"), Label(7, 12, "Q3")),
            [0, 1],
        ),
    ],
)
def test_by_hand(step, labels, kept):
    other = Label(20, 22, "Q7")  # never touched
    assert _after(step, *labels, other) == [*(labels[place] for place in kept), other]


@given(strategies.pairs(plain=True))
def test_the_longest_are_those_that_the_bat_profile_keeps(pair):
    corpus, _ = pair
    made, _ = apply_steps(corpus, ["longest"])
    labels = corpus.labels
    items = Items(
        np.arange(len(labels)), labels.document, labels.start, labels.end, labels.entity, pa.array([]), None, None, None
    )
    stay = mask_longest(items)
    expected = [label for label, kept in zip(_labels(corpus), stay, strict=True) if kept]
    assert _labels(made) == expected


def _labels(corpus):
    return [(document.id, label) for document in corpus for label in document.labels]


def test_documents_and_tags_are_counted_as_well():
    corpus = Corpus.from_documents(
        [Document("a", "see bit.ly/x now", tags=(Tag("Q1"),)), Document("b", "x"), Document("c", "y", (Label(0, 1),))],
        name="toy",
        steps="by hand",
    )
    made, changes = apply_steps(corpus, ["drop-unlinked", "drop-empty", "clean-tweets"])
    assert [document.text for document in made] == ["see   now"]
    assert {name: str(change) for name, change in changes.items()} == {
        "drop-unlinked": "1 → 0 labels",
        "drop-empty": "3 → 1 documents, 18 → 16 characters",
        "clean-tweets": "16 → 9 characters",
    }
    assert (made.name, made.metadata["steps"]) == ("toy", "by hand, drop-unlinked, drop-empty, clean-tweets")
    assert made.skipped == {"labels excluded by drop-unlinked": 1, "documents excluded by drop-empty": 2}
    assert made.digest != corpus.digest


def test_texts_with_labels_are_not_cleaned():
    document = Document("d", "a rabbit here", (Label(9, 13, "Q1"),))
    made, _ = apply_steps(Corpus.from_documents([document]), ["clean-tweets"])
    assert list(made) == [document]


def test_requests_that_make_no_sense(tmp_path):
    corpus = Corpus.from_documents([Document("d", TEXT, (Label(0, 3, None),))])
    with pytest.raises(UnknownNameError, match=r"unknown step 'drop-nill'\. Did you mean 'drop-nil'"):
        apply_steps(corpus, ["drop-nill"])
    with pytest.raises(UsageError, match="named twice"):
        apply_steps(corpus, ["drop-nil", "drop-nil"])
    karat.save(corpus, tmp_path / "x.parquet")
    with pytest.raises(UsageError, match="without its texts"):
        apply_steps(karat.load(tmp_path / "x.parquet", text=False), ["drop-nil"])
    assert apply_steps(corpus, [])[0].digest == corpus.digest


def test_punctuation_is_joined_to_the_token_before_it_and_spans_move():
    text = "S & P fell .\n( AP ) Ada , of London"
    labels = (Label(0, 5, "Q1"), Label(15, 17, "Q2"), Label(20, 23, "Q3"), Label(29, 35, "Q4"))
    corpus = Corpus.from_documents([Document("d", text, labels, evaluation_span=(13, 35))])
    made, changes = apply_steps(corpus, ["join-punctuation"])
    document = next(iter(made))
    assert document.text == "S& P fell.( AP) Ada, of London\n"
    assert [document.text[label.start : label.end] for label in document.labels] == ["S& P", "AP", "Ada", "London"]
    assert document.evaluation_span == (10, 30)
    assert str(changes["join-punctuation"]) == "35 → 31 characters"


def test_a_label_of_white_space_before_punctuation_is_removed_and_counted():
    corpus = Corpus.from_documents([Document("d", "Ada .", (Label(0, 3, "Q1"), Label(3, 4, "Q2")))])
    made, _ = apply_steps(corpus, ["join-punctuation"])
    assert [label.entity for label in next(iter(made)).labels] == ["Q1"]
    assert made.skipped == {"labels excluded by join-punctuation": 1}


def test_white_space_before_punctuation_stays_if_it_is_all_that_is_evaluated():
    corpus = Corpus.from_documents([Document("d", "Ada . Bob .", evaluation_span=(3, 4))])
    made, _ = apply_steps(corpus, ["join-punctuation"])
    document = next(iter(made))
    assert document.text == "Ada . Bob.\n"
    assert document.evaluation_span == (3, 4)


def test_labels_that_differ_by_removed_white_space_become_one_and_the_other_is_counted():
    corpus = Corpus.from_documents([Document("d", "Ada .", (Label(0, 3, "Q1"), Label(0, 4, "Q1"), Label(0, 4, "Q2")))])
    made, _ = apply_steps(corpus, ["join-punctuation"])
    labels = next(iter(made)).labels
    assert [(label.start, label.end, label.entity) for label in labels] == [(0, 3, "Q1"), (0, 3, "Q2")]
    assert made.skipped == {"labels excluded by join-punctuation": 1}
