"""Scores of plain lists equal those of `evaluate`, and those of a definition in three lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run

SPANS = st.tuples(st.integers(0, 8), st.integers(1, 3)).map(lambda pair: (pair[0], sum(pair)))
MENTIONS = st.lists(
    st.tuples(st.sampled_from("abc"), SPANS, st.sampled_from(["Q1", "Q2", None])).map(
        lambda each: (each[0], *each[1], each[2])
    ),
    unique_by=lambda mention: mention[:3],
    max_size=12,
)
FUNCTIONS = {
    "linking_precision": "strong:micro.p",
    "linking_recall": "strong:micro.r",
    "linking_f1": "strong:micro.f1",
    "linking_accuracy": "strong:accuracy",
    "detection_precision": "mention:micro.p",
    "detection_recall": "mention:micro.r",
    "detection_f1": "mention:micro.f1",
}


def as_objects(gold, predicted):
    """The same mentions as a corpus with texts and a run."""
    documents = sorted({each[0] for each in [*gold, *predicted]})
    corpus = Corpus.from_documents(
        Document(name, "x" * 12, tuple(Label(*each[1:]) for each in gold if each[0] == name)) for name in documents
    )
    responses = [
        Response(name, tuple(Prediction(*each[1:]) for each in predicted if each[0] == name)) for name in documents
    ]
    return corpus, Run.from_responses(responses)


@given(MENTIONS, MENTIONS, st.sampled_from(sorted(FUNCTIONS)), st.sampled_from(["karat", "bat", "neleval", "gerbil"]))
def test_lists_score_like_corpora(gold, predicted, name, profile):
    score = getattr(karat, name)(gold, predicted, profile=profile)
    if not gold and not predicted:
        assert score is None
        return
    measure = FUNCTIONS[name]
    assert score == karat.evaluate(*as_objects(gold, predicted), profile=profile, measures=measure)[measure]


@given(MENTIONS, MENTIONS, st.sampled_from(["dropped", "explicit"]))
def test_settings_and_macro_averages_are_those_of_evaluate(gold, predicted, nil):
    if gold or predicted:
        settings = {"nil": nil, **({"prefixes": "none"} if nil == "explicit" else {})}
        expected = karat.evaluate(*as_objects(gold, predicted), settings=settings)
        for average in ("micro", "macro"):
            score = karat.linking_f1(gold, predicted, average=average, settings=settings)
            assert score == expected[f"strong:{average}.f1"]


@given(MENTIONS, MENTIONS)
def test_micro_scores_are_shares_of_common_tuples(gold, predicted):
    both = len({*gold} & {*predicted})
    assert karat.linking_precision(gold, predicted) == (both / len(predicted) if predicted else None)
    assert karat.linking_recall(gold, predicted) == (both / len(gold) if gold else None)
    total = len(gold) + len(predicted)
    assert karat.linking_f1(gold, predicted) == (pytest.approx(2 * both / total) if total else None)
    spans = len({each[:3] for each in gold} & {each[:3] for each in predicted})
    assert karat.detection_f1(gold, predicted) == (pytest.approx(2 * spans / total) if total else None)
    assert karat.linking_accuracy(gold, predicted) == (both / spans if spans else None)


@given(MENTIONS, MENTIONS)
def test_dictionaries_and_data_frames_score_like_tuples(gold, predicted):
    pandas = pytest.importorskip("pandas")
    names = ["doc", "start", "end", "entity"]
    expected = karat.linking_f1(gold, predicted)
    tables = [[dict(zip(names, each, strict=True)) for each in mentions] for mentions in (gold, predicted)]
    assert karat.linking_f1(*tables) == expected
    frames = [pandas.DataFrame(mentions, columns=names) for mentions in (gold, predicted)]
    assert karat.linking_f1(*(frame.assign(entity=frame["entity"].fillna("NIL")) for frame in frames)) == expected


def test_repeated_gold_mentions_count_once():
    assert karat.linking_f1([("d", 0, 3, "Q1")] * 2, [("d", 0, 3, "Q1")]) == 1


def test_mentions_without_entity_are_unlinked_and_detected():
    gold = [("d", 0, 3, "Q1"), ("d", 4, 7, "Q2")]
    assert karat.detection_f1(gold, [("d", 0, 3), ("d", 4, 7)]) == 1
    assert karat.linking_f1(gold, [("d", 0, 3), ("d", 4, 7)]) == 0


def test_scores_of_predictions_are_read():
    gold, predicted = [("d", 0, 3, "Q1")], [("d", 0, 3, "Q1", 0.9), ("d", 4, 7, "Q2", 0.2)]
    assert karat.linking_precision(gold, predicted) == 0.5
    assert karat.linking_precision(gold, predicted, settings={"threshold": 0.5}) == 1


@pytest.mark.parametrize("wrong", ["demo", {"d": []}, 3, [3], [("d", 0)]])
def test_other_objects_are_refused(wrong):
    with pytest.raises(karat.UsageError, match="Pass a list of"):
        karat.linking_f1(wrong, [("d", 0, 3, "Q1")])
    with pytest.raises(karat.UsageError, match="Pass a list of"):
        karat.linking_f1([("d", 0, 3, "Q1")], wrong)


def test_offsets_that_are_texts_are_named():
    for lists in (([("d", "0", "3", "Q1")], [("d", 0, 3, "Q1")]), ([("d", 0, 3, "Q1")], [("d", "0", "3", "Q1")])):
        with pytest.raises(karat.InputError, match=r"found start .0.; expected an integer from 0\. Pass an int"):
            karat.linking_f1(*lists)


def test_profiles_that_read_texts_are_refused():
    with pytest.raises(karat.UsageError, match="has no texts"):
        karat.linking_f1([("d", 0, 3, "Q1")], [("d", 0, 3, "Q1")], profile="elevant")


def test_an_unknown_average_is_refused():
    with pytest.raises(karat.UnknownNameError, match="Did you mean 'macro'"):
        karat.linking_f1([("d", 0, 3, "Q1")], [("d", 0, 3, "Q1")], average="marco")


def test_an_unlinked_mention_is_no_link_however_it_is_written():
    gold = [("d", 0, 3, "Q1"), ("d", 4, 7, "Q2")]
    for unlinked in (("d", 4, 7, karat.UNLINKED), ("d", 4, 7, ""), ("d", 4, 7)):
        assert karat.linking_precision(gold, [("d", 0, 3, "Q1"), unlinked]) == 1
