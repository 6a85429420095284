"""Where nobody asks who is matched with whom, it is only counted: the same weights as those of all verdicts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.evaluation import block
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.matching.judge.judge import PairCache
from karat.matching.judge.match_counts import CountingRule, count_largest_matchings, count_matches, count_span_matches
from tests import strategies

RELATIONS = ("strong", "weak", "mention", "mention-weak")
RULES = [CountingRule(exact, links) for exact in (True, False) for links in (True, False)]


@given(pair=strategies.pairs(plain=True), spoilt=strategies.pairs(families=True))
def test_counts_are_what_verdicts_add_up_to(pair, spoilt):
    for corpus, run in (pair, spoilt):
        evaluation = Evaluation.from_data(
            Request.from_options(measures=[f"{name}:micro.f1" for name in RELATIONS]), corpus, run
        )
        pairing, size = evaluation.inputs.pairing(), len(corpus)
        gold, predictions = pairing.gold_block(0, size), pairing.prediction_block(0, size)
        for name in RELATIONS:
            plan = evaluation.plans.views[name]
            found = count_matches(*plan.selection.apply(gold, predictions), plan.relation, 0, size)
            expected = plan.judge(gold, predictions, PairCache()).document_sums(0, size)
            assert found is not None or corpus is spoilt[0]
            assert found is None or np.array_equal(found.document_sums(0, size), expected), name
            both = pairing.span_arrays
            assert both is not None or corpus is spoilt[0]
            if both is not None and plan.can_count_spans(both):
                (at_once,) = count_span_matches(both, [plan.relation], 0, size)
                assert np.array_equal(at_once.document_sums(0, size), expected), name


@given(
    pair=strategies.pairs() | strategies.pairs(plain=True),
    profile=st.sampled_from(["karat", "gerbil", "neleval"]),
    settings=st.sampled_from([{}, {"threshold": ">0.5"}, {"nil": "dropped"}, {"unlinked": "absent"}]),
    size=st.integers(1, 4),
    turned=st.booleans(),
)
def test_scores_are_the_same_if_no_verdicts_are_kept(pair, profile, settings, size, turned):
    corpus, run = pair
    if turned:
        run = karat.Run.from_responses([*run][::-1])
    if "threshold" in settings and run.predictions.field("score") is None:
        settings = {}
    also = ["strong[nil]:micro.f1", "strong:accuracy", "mention-weak:macro.f1"] if profile == "karat" else []
    expected = karat.evaluate(corpus, run, profile=profile, settings=settings, extra_measures=also)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block, "_MAX_STORED_ITEMS", -1)
        found = karat.evaluate(corpus, run, profile=profile, settings=settings, extra_measures=also, block_size=size)
    assert found.scores == expected.scores


def spans(*, most=80):
    """Spans with an id each: few places and few ids, so that many meet, are equal or lie in each other."""
    one = st.tuples(st.integers(0, 30), st.integers(1, 12), st.integers(-1, 3))
    return st.lists(one, max_size=most).map(lambda found: [(start, start + size, id) for start, size, id in found])


@given(documents=st.lists(st.tuples(spans(), spans()), max_size=4))
def test_what_is_counted_is_the_size_of_a_largest_matching(documents):
    """Whatever the order of the spans."""
    sides = [laid_out([document[side] for document in documents]) for side in (0, 1)]
    expected = [
        [largest(gold, predictions, exact=exact, links=links) for gold, predictions in documents]
        for exact, links in RULES
    ]
    assert counting_of(*sides) == expected


def test_hard_documents_are_counted():
    """Nested spans, spans that all overlap, the same span over and over, nothing at all; linked alike or not."""
    size = 2_000
    nested = [(i, 2 * size - i, i) for i in range(size)]
    stairs = [(i, i + size, 0) for i in range(size)]
    same = [(0, 1, i) for i in range(size)]
    chain = [(2 * i, 2 * i + 3, 0) for i in range(size)]
    golds = laid_out([nested, stairs, same, [], nested, [], chain])
    predictions = laid_out([nested[::-1], stairs[::2], [(0, 1, 7)] * size, stairs, [], [], chain[::-2]])
    strong, mention, weak, place = counting_of(golds, predictions)
    assert strong == [size, size // 2, 1, 0, 0, 0, size // 2]
    assert mention == [size, size // 2, size, 0, 0, 0, size // 2]
    assert weak == [size, size // 2, 1, 0, 0, 0, size // 2]
    assert place == [size, size // 2, size, 0, 0, 0, size // 2]
    others = laid_out([[(start, end, size + id) for start, end, id in nested]])
    assert counting_of(laid_out([nested]), others) == [[0], [size], [0], [size]]


def laid_out(documents):
    items = np.array([item for spans in documents for item in spans], np.int32).reshape(-1, 3)
    begins = np.append(0, np.cumsum([len(spans) for spans in documents])).astype(np.int64)
    columns = (begins, *(np.ascontiguousarray(column) for column in items.T))
    for column in columns:
        column.flags.writeable = False
    return columns


def counting_of(gold, predictions):
    return [sizes.tolist() for sizes in count_largest_matchings(gold, predictions, RULES, 0, len(gold[0]) - 1)]


def largest(gold, predictions, *, exact, links):
    """By alternating paths, which is slow and hard to get wrong."""

    def meet(one, other):
        place = one[:2] == other[:2] if exact else one[0] < other[1] and other[0] < one[1]
        return place and (not links or one[2] == other[2])

    partner = {}

    def finds(label, seen):
        for prediction, other in enumerate(predictions):
            if prediction not in seen and meet(gold[label], other):
                seen.add(prediction)
                if prediction not in partner or finds(partner[prediction], seen):
                    partner[prediction] = label
                    return True
        return False

    return sum(finds(label, set()) for label in range(len(gold)))
