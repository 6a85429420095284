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
from karat.matching.judge import counting
from karat.matching.judge.judge import Located
from tests import strategies

RELATIONS = ("strong", "weak", "mention", "mention-weak")
KERNELS = [counting.matched, counting.compiled()]


@pytest.mark.parametrize("kernel", KERNELS, ids=["plain", "compiled"])
@given(pair=strategies.pairs(plain=True), spoilt=strategies.pairs(families=True))
def test_counts_are_what_verdicts_add_up_to(kernel, pair, spoilt):
    if kernel is None:
        pytest.skip("needs Numba, the extra fast")
    for corpus, run in (pair, spoilt):
        evaluation = Evaluation.of(Request.of(measures=[f"{name}:micro.f1" for name in RELATIONS]), corpus, run)
        pairing, size = evaluation.sides.pairing(), len(corpus)
        gold, answers = pairing.gold(0, size), pairing.answers(0, size)
        for name in RELATIONS:
            plan = evaluation.plans.views[name]
            found = counting.counted_by(kernel, *plan.select.of(gold, answers), plan.relation, 0, size)
            expected = plan.verdicts(gold, answers, Located()).per_document(0, size)
            assert found is not None or corpus is spoilt[0]
            assert found is None or np.array_equal(found.per_document(0, size), expected), name


@given(pair=strategies.pairs(), like=st.sampled_from(["karat", "gerbil", "neleval"]))
def test_scores_are_the_same_if_no_verdicts_are_kept(pair, like):
    corpus, run = pair
    expected = karat.evaluate(corpus, run, like=like)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block, "_KEPT", -1)
        patch.setattr(counting, "compiled", lambda: counting.matched)
        found = karat.evaluate(corpus, run, like=like)
    assert found.scores == expected.scores


def test_a_crowd_is_left_to_those_who_judge():
    """Every span overlaps every other, and none is linked alike."""
    size = 3_000
    sides = [
        (np.array([0, size]), np.arange(size, dtype=np.int32), np.full(size, 9_999, np.int32), first + codes)
        for first in (0, size)
        for codes in [np.arange(size, dtype=np.int32)]
    ]
    assert counting.matched(sides[0], sides[1], False, True).tolist() == [-1]
    assert counting.matched(sides[0], sides[1], False, False).tolist() == [size]
