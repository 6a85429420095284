"""How many documents tell two systems apart."""

from __future__ import annotations

import pytest

from karat import Corpus, Document, Label, Prediction, Response, Run, UsageError
from karat.analysis.comparison.entries import resolve_entries
from karat.protocols.annotation.plan import plan_documents


def test_the_demo():
    plan = plan_documents(resolve_entries("demo", "demo"), difference=0.05)
    assert (plan.documents_at_hand, plan.measure, len(plan.pairs)) == (50, "strong:micro.f1", 3)
    assert plan.documents == max(pair.documents or 0 for pair in plan.pairs)
    pair = plan.pairs[0]
    assert pair.standard_error is not None
    # (1.96 + 0.84) standard errors on n documents shrink to 0.05 on n * (2.8 * error / 0.05) ** 2
    assert pair.documents == pytest.approx(50 * (2.8016 * pair.standard_error / 0.05) ** 2, abs=1)
    half = plan_documents(resolve_entries("demo", "demo"), difference=0.025)
    assert half.documents == pytest.approx(4 * (plan.documents or 0), abs=4)
    strong = plan_documents(resolve_entries("demo", "demo"), difference=0.05, power=0.9)
    assert (strong.documents or 0) > (plan.documents or 0)


def test_systems_that_do_not_differ_have_a_reason():
    corpus = Corpus.from_documents([Document(str(n), "Ann.", (Label(0, 3, "Q1"),)) for n in range(3)])
    runs = [
        Run.from_responses([Response(str(n), (Prediction(0, 3, "Q1"),)) for n in range(3)], name=name) for name in "ab"
    ]
    plan = plan_documents(resolve_entries(corpus, runs), difference=0.1)
    (pair,) = plan.pairs
    assert (plan.documents, pair.documents, pair.observed) == (None, None, 0)
    assert pair.undefined == "the systems do not differ on enough documents to estimate the standard error"


@pytest.mark.parametrize("difference", [0, -0.1, 1, 5, float("nan")])
def test_invalid_differences(difference):
    with pytest.raises(UsageError, match="between 0 and 1"):
        plan_documents(resolve_entries("demo", "demo"), difference=difference)


def test_one_system_is_not_enough():
    with pytest.raises(UsageError, match="two systems"):
        plan_documents(resolve_entries("demo", "demo/prior"), difference=0.1)
