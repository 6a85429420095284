"""Laws of matching: what must hold whatever the data."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.model.registry import get_plugin
from karat.model.spec.measure import Measure
from tests import reference, strategies
from tests.conftest import with_settings

RELATIONS = ("strong", "weak", "mention", "mention-weak", "entity")
MEASURES = [f"{relation}:micro.f1" for relation in RELATIONS]


def evaluate(corpus, run, **options):
    return karat.evaluate(corpus, run, measures=MEASURES, **with_settings(options))


def groups(result):
    return {
        (label, view, value): (group.counts, group.measures)
        for label, views in result.groups.items()
        for view, values in views.items()
        for value, group in values.items()
    }


def weights(result):
    return {view: statistics.weights.sum(axis=0).tolist() for view, statistics in result.views.items()}


@given(strategies.pairs(families=True), st.randoms())
def test_order_never_matters(pair, rng):
    corpus, run = pair
    documents = [_shuffled(document, "labels", rng) for document in corpus]
    responses = [_shuffled(response, "predictions", rng) for response in run]
    rng.shuffle(documents)
    rng.shuffle(responses)
    one = evaluate(corpus, run, by=["nil", "entity", "doc"])
    two = evaluate(Corpus.from_documents(documents), Run.from_responses(responses), by=["nil", "entity", "doc"])
    assert groups(one) == groups(two)
    assert one.measures == two.measures
    assert one.signature == two.signature
    assert one.run_digest == two.run_digest
    assert _cases(one) == _cases(two)


def _shuffled(item, field, rng):
    values = list(getattr(item, field))
    rng.shuffle(values)
    return type(item)(**{name: getattr(item, name) for name in item.__struct_fields__} | {field: tuple(values)})


def _cases(result):
    """The verdicts as a bag, without the row numbers that the order of the file gives."""
    rows = result.verdicts.drop_columns(["gold", "prediction"]).to_pylist()
    # Of the alternatives of a mention that was missed, the first stands for it.
    for row in rows:
        if row["outcome"] in ("fn", "ignored") and row["prediction_start"] is None:
            row["gold_start"] = row["gold_end"] = row["gold_entity"] = row["text"] = None
    return sorted(map(repr, rows))


@given(strategies.pairs(families=True))
def test_gold_against_itself_is_perfect(pair):
    corpus, _ = pair
    filtered = ["strong[in-kb]:micro.f1", "weak[nil]:micro.f1", "strong[nil=false]:micro.f1"]
    result = karat.evaluate(corpus, Run.from_gold(corpus), measures=MEASURES + filtered)
    for name, value in result.measures.items():
        measure = get_plugin("measures", name.rpartition(":")[2].rpartition(".")[2], Measure)
        assert value in (0.0 if measure.is_lower_better else 1.0, None)
    assert all(w[1] == 0 and w[3] == 0 for w in weights(result).values())


@given(strategies.families())
def test_gold_with_segmentations_against_itself_is_perfect(pair):
    corpus, _ = pair
    result = evaluate(corpus, Run.from_gold(corpus))
    assert all(w[1] == 0 and w[3] == 0 for w in weights(result).values())


@given(strategies.pairs(plain=True))
def test_swapping_sides_swaps_precision_and_recall(pair):
    corpus, run = pair
    by_id = {response.id: response for response in run}
    if any(len({(a.start, a.end, a.entity) for a in r.predictions}) < len(r.predictions) for r in by_id.values()):
        return  # as gold labels they would be the same label twice
    swapped = Corpus.from_documents(
        Document(d.id, d.text, tuple(Label(a.start, a.end, a.entity) for a in by_id[d.id].predictions)) for d in corpus
    )
    one, two = evaluate(corpus, run), evaluate(swapped, Run.from_gold(corpus))
    for relation in RELATIONS:
        assert one[f"{relation}:micro.p"] == two[f"{relation}:micro.r"]
        assert one[f"{relation}:macro.r"] == two[f"{relation}:macro.p"]


@given(strategies.pairs(families=True))
def test_a_wrong_prediction_never_raises_precision(pair):
    corpus, run = pair
    responses = list(run)
    first = responses[0]
    responses[0] = Response(first.id, (*first.predictions, Prediction(1, 2, "no such entity")))
    before, after = evaluate(corpus, run), evaluate(corpus, Run.from_responses(responses))
    for relation in ("strong", "weak", "entity"):
        name = f"{relation}:micro.p"
        assert before[name] is None or after[name] <= before[name]
        assert weights(before)[relation][2:] == weights(after)[relation][2:]


@given(strategies.pairs(families=True), st.randoms())
def test_any_partition_sums_to_the_whole(pair, rng):
    corpus, run = pair
    documents, responses = list(corpus), list(run)
    sides = {document.id: rng.random() < 0.5 for document in documents}
    whole = weights(evaluate(corpus, run))
    total = {view: np.zeros(4) for view in whole}
    for side in (True, False):
        part = [document for document in documents if sides[document.id] is side]
        answered = [response for response in responses if sides[response.id] is side]
        if part:
            answered = answered or [Response(part[0].id)]
            for view, sums in weights(evaluate(Corpus.from_documents(part), Run.from_responses(answered))).items():
                total[view] += sums
    assert {view: sums.tolist() for view, sums in total.items()} == whole


@given(strategies.pairs(families=True), st.integers(1, 3))
def test_blocks_of_any_size_give_the_same_verdicts(pair, size):
    corpus, run = pair
    one, many = evaluate(corpus, run), evaluate(corpus, run, block_size=size)
    assert one.measures == many.measures
    key = [("view", "ascending"), ("document", "ascending"), ("gold", "ascending"), ("prediction", "ascending")]
    assert one.verdicts.sort_by(key) == many.verdicts.sort_by(key)


@given(strategies.pairs(families=True))
def test_views_do_not_disturb_each_other(pair):
    corpus, run = pair
    filters = ("", "[nil]", "[in-kb]", "[gold-in-kb]", "[doc=d0]", "[nil=false]")
    names = [f"{relation}{filter}:micro.f1" for filter in filters for relation in RELATIONS]
    together = karat.evaluate(corpus, run, measures=names)
    for name in names:
        alone = karat.evaluate(corpus, run, measures=[name])
        view = name.partition(":")[0]
        assert together.views[view].weights.tolist() == alone.views[view].weights.tolist()


@given(strategies.pairs())
def test_looser_relations_and_better_assignments_find_no_less(pair):
    corpus, run = pair
    best, greedy = weights(evaluate(corpus, run)), weights(evaluate(corpus, run, settings={"assignment": "greedy"}))
    assert best["weak"][2] >= best["strong"][2]
    assert best["mention-weak"][2] >= best["mention"][2]
    for relation in RELATIONS:
        assert best[relation][2] >= greedy[relation][2]


@given(strategies.pairs())
def test_set_membership_finds_no_less_than_one_to_one(pair):
    corpus, run = pair
    best, loose = weights(evaluate(corpus, run)), weights(evaluate(corpus, run, settings={"assignment": "membership"}))
    for relation in ("strong", "weak", "mention", "mention-weak"):
        assert loose[relation][2] >= best[relation][2]
        assert loose[relation][0] >= best[relation][0]


@pytest.mark.parametrize("relation", ["strong", "weak", "mention", "mention-weak"])
@given(pair=strategies.pairs(max_documents=2))
def test_counts_equal_those_of_trying_every_assignment(relation, pair):
    corpus, run = pair
    bare = [_unlinked_gold_apart(document) for document in corpus]
    corpus = Corpus.from_documents(bare)
    matched_prediction, unmatched_prediction, matched_gold, unmatched_gold = weights(evaluate(corpus, run))[relation]
    assert matched_prediction == matched_gold
    assert (matched_gold, unmatched_prediction, unmatched_gold) == reference.counts(corpus, run, relation)


def _unlinked_gold_apart(document):
    """The document without gold spans that name no entity: links on them are ignored, which has its own test."""
    kept = tuple(label for label in document.labels if label.entity is not karat.UNLINKED)
    return Document(document.id, document.text, kept, evaluation_span=document.evaluation_span)


@given(strategies.pairs(plain=True), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_a_threshold_leaves_what_stands_above_it_unchanged(pair, threshold):
    """With optimal assignment an prediction's fate never depends on predictions with a lower score."""
    corpus, run = pair
    if all(prediction.score is None for response in run for prediction in response.predictions):
        return  # then a threshold is an error, which has its own test
    whole, cut = evaluate(corpus, run), evaluate(corpus, run, settings={"threshold": str(threshold)})
    for view in ("strong", "weak", "mention", "mention-weak"):
        assert _right_predictions(whole, view, threshold) == _right_predictions(cut, view, threshold)


def _right_predictions(result, view, threshold):
    rows = [row for row in result.verdicts.to_pylist() if row["view"] == view]
    kept = [row for row in rows if row["score"] is None or row["score"] >= threshold]
    return {row["prediction"] for row in kept if row["matched_prediction"]}


@given(strategies.families())
def test_a_root_counts_once(pair):
    corpus, run = pair
    required = any(label.mention_id == "r" and not label.optional for document in corpus for label in document.labels)
    for w in weights(karat.evaluate(corpus, run, measures=["strong:micro.f1", "weak:micro.f1"])).values():
        assert w[2] + w[3] == (1 if required else 0)


def test_many_competing_predictions_are_solved_quickly():
    """Hundreds of nested spans of one entity are one component; it must not explode."""
    rng = random.Random(1)
    spans = {(s, s + rng.randint(1, 30)) for s in range(300)}
    text = "x" * 400
    corpus = Corpus.from_documents([Document("d", text, tuple(Label(s, e, "Q1") for s, e in sorted(spans)))])
    run = Run.from_responses(
        [Response("d", tuple(Prediction(s + 1, e + 2, "Q1", score=rng.random()) for s, e in sorted(spans)))]
    )
    result = karat.evaluate(corpus, run, measures=["weak:micro.f1"])
    assert result["weak:micro.f1"] > 0.9


@given(strategies.pairs(families=True))
def test_accuracy_is_a_share(pair):
    corpus, run = pair
    names = ["strong:accuracy", "weak:accuracy", "strong[in-kb]:accuracy"]
    result = karat.evaluate(corpus, run, measures=names)
    assert all(result[name] is None or 0 <= result[name] <= 1 for name in names)


@given(strategies.pairs(families=True))
def test_groups_sum_to_the_whole(pair):
    """Every case has one value of `nil`, `entity` and `doc`, so that their counts add up."""
    corpus, run = pair
    result = evaluate(corpus, run, by=["nil", "entity", "doc"])
    for views in result.groups.values():
        for view, values in views.items():
            if view != "entity":
                total = np.sum([(0, 0, 0, 0), *(astuple(group.counts) for group in values.values())], axis=0)
                assert total.tolist() == weights(result)[view]
