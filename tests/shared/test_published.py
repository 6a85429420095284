"""Systems that do not run here are scored by what they once answered, in the formats that `karat systems` names."""

from __future__ import annotations

import pytest

from karat.data.load import load
from karat.evaluation.evaluation import evaluate
from karat.model.registry import get_plugin
from karat.model.spec.system import System
from karat.systems.running.run import run_system
from karat.systems.running.system import RunnableSystem
from karat.systems.running.system_runner import RunOptions

pytestmark = pytest.mark.shared

NIF, LINKED = "NIF", "ELEVANT's linked articles"
FINE = "finegrained/gold/categorizedKORE50.ttl"
FAIR = "elevant/benchmarks/kore50.benchmark.jsonl.gz"


@pytest.mark.parametrize(
    ("system", "hand_in", "predictions", "gold"),
    [
        ("aida", NIF, "finegrained/systems/AIDA_KORE50.ttl", FINE),
        ("freme", NIF, "finegrained/systems/FREMENER_KORE50.ttl", FINE),
        ("aida", LINKED, "elevant/results/ambiverse/ambiverse.kore50.linked_articles.jsonl.gz", FAIR),
    ],
)
def test_what_is_asked_for_is_read(shared, system, hand_in, predictions, gold):
    assert hand_in in get_plugin("systems", system, System).untested_reason
    corpus = load(shared / gold)
    ran = run_system(RunnableSystem.from_text(f"predictions:{shared / predictions}"), corpus, RunOptions())
    assert ran.n_documents == len(corpus)
    score = evaluate(corpus, ran.run)["strong[in-kb]:micro.f1"]
    assert score is not None
    assert score > 0.1
