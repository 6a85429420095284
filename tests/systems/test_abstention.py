"""The option `nil`: links with a low score, and mentions without candidates, become NIL."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.model.document import UNLINKED, Candidate, Prediction, Response
from karat.model.errors import UsageError
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.system import System
from karat.systems.api import link
from karat.systems.linking.abstention import abstain, can_abstain, load_system
from karat.systems.linking.system import get_system
from karat.systems.running.experiment import create_experiment, run_experiment
from karat.systems.running.nil_tuning import tune_experiment, tune_nil
from karat.systems.running.system import RunnableSystem

_LOCAL = ("popular", "prior", "mfs", "tagme", "graph", "pipeline:tagme+prior+graph")
_QUICK = {"substitute": "popularity"}

_scores = st.none() | st.floats(0, 1, allow_nan=False)
_predictions = st.lists(
    st.builds(
        Prediction,
        start=st.integers(0, 9),
        end=st.integers(10, 20),
        entity=st.sampled_from([UNLINKED, None, "Q1", "Q2"]),
        score=_scores,
        candidates=st.just((Candidate("Q1", 0.5),)),
    ),
    max_size=6,
)


def _nils(response):
    return {index for index, prediction in enumerate(response.predictions) if prediction.entity is None}


@given(_predictions)
def test_threshold_0_changes_nothing(predictions):
    response = Response("a", tuple(predictions))
    assert abstain(response, 0.0) == response


@given(_predictions, st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_keeps_every_nil(predictions, one, other):
    low, high = sorted((one, other))
    response = Response("a", tuple(predictions))
    assert _nils(abstain(response, low)) <= _nils(abstain(response, high))
    assert abstain(abstain(response, low), high) == abstain(response, high)


def test_low_links_and_unlinked_mentions_become_nil_and_keep_their_candidates():
    candidates = (Candidate("Q1", 0.2), Candidate("Q2", 0.1))
    response = Response(
        "a",
        (
            Prediction(0, 1, "Q1", score=0.2, candidates=candidates, types=("City",), same_as=("X",)),
            Prediction(2, 3, "Q3", score=0.3),
            Prediction(4, 5),
            Prediction(6, 7, "Q4"),
            Prediction(8, 9, None, score=0.1),
        ),
    )
    assert abstain(response, 0.3).predictions == (
        Prediction(0, 1, None, candidates=candidates, types=("City",)),
        Prediction(2, 3, "Q3", score=0.3),  # not below the threshold
        Prediction(4, 5, None),
        Prediction(6, 7, "Q4"),  # no score to compare
        Prediction(8, 9, None, score=0.1),
    )


@pytest.mark.parametrize("name", list_plugins("systems"))
def test_every_system_inside_karat_that_ranks_can_abstain(name):
    plugin = get_plugin("systems", name, System)
    system = load_system(name)
    is_linker = "rank" in plugin.stages and not plugin.needs_gold and plugin.external_access is None
    assert can_abstain(system) == is_linker
    assert [field.name for field in fields(system.options)] == [
        *(field.name for field in fields(plugin.options)),
        *(["nil"] if is_linker else []),
    ]


@pytest.mark.parametrize("name", _LOCAL)
@pytest.mark.parametrize("gold_mentions", [False, True])
def test_systems_abstain_last(name, gold_mentions):
    if name == "mfs" and not gold_mentions:
        return
    demo = karat.load("demo")
    options = {**_QUICK, "nil": "0.4"}
    without = link(get_system(name, _QUICK), demo, gold_mentions=gold_mentions)
    with_nil = link(get_system(name, options), demo, gold_mentions=gold_mentions)
    assert list(with_nil) == [abstain(response, 0.4) for response in without]
    assert with_nil.metadata["options"].endswith("nil=0.4")


def test_the_ranker_of_a_pipeline_abstains():
    demo = karat.load("demo")
    run = link(get_system("pipeline:graph+graph+graph[nil=0.9]"), demo)
    assert list(run) == list(link(get_system("graph[nil=0.9]"), demo))


def test_the_threshold_is_part_of_manifest_and_cache_key():
    plain, strict = RunnableSystem.from_text("graph"), RunnableSystem.from_text("graph[nil=0.4]")
    assert strict.metadata()["options"] == "nil=0.4"
    assert plain.cache_key(gold_mentions=True) != strict.cache_key(gold_mentions=True)
    assert plain.cache_key(gold_mentions=True) == RunnableSystem.from_text("graph[nil=0]").cache_key(gold_mentions=True)


@pytest.mark.parametrize("value", ["-0.1", "nan"])
def test_a_threshold_is_a_score_of_at_least_0(value):
    with pytest.raises(UsageError, match=r"nil: .* is not a valid value"):
        get_system(f"graph[nil={value}]").start(gold_mentions=False)


_DEV = [
    {
        "id": "a",
        "text": "Paris met Rome and Oslo.",
        "labels": [
            {"start": 0, "end": 5, "entity": None},
            {"start": 10, "end": 14, "entity": "Q220"},
            {"start": 19, "end": 23, "entity": None},
        ],
    }
]


def test_the_tuned_threshold_separates_nil_from_links():
    # Scores 0.2 and 0.4 are wrong links on NIL, 0.8 is correct: thresholds in (0.4, 0.8] make all three correct.
    run = karat.Run.from_responses(
        [
            Response(
                "a",
                (
                    Prediction(0, 5, "Q90", score=0.2),
                    Prediction(10, 14, "Q220", score=0.8),
                    Prediction(19, 23, "Q585", score=0.4),
                ),
            )
        ],
        name="mine",
    )
    experiment = create_experiment(["graph"], {}, datasets=("demo",))
    tuned = tune_nil(karat.load(_DEV), run, experiment.request)
    assert 0.4 < tuned.threshold <= 0.8
    assert tuned.score_before == pytest.approx(1 / 3)
    assert tuned.score == 1.0
    assert tuned.measure == "strong:micro.f1"


def test_a_run_without_scores_cannot_be_tuned():
    run = karat.Run.from_responses([Response("a", (Prediction(0, 5, "Q90"),))])
    with pytest.raises(UsageError, match="no links with scores"):
        tune_nil(karat.load(_DEV), run, create_experiment(["graph"], {}, datasets=("demo",)).request)


def test_a_tuned_threshold_is_in_the_name_of_the_system_and_in_its_manifest(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path))
    experiment = create_experiment(["graph", "dbpedia-spotlight"], {}, datasets=("demo",), tune_nil="demo", task="d2kb")
    tuned_experiment, tuned = tune_experiment(experiment)
    assert [result.system for result in tuned] == ["graph"]
    graph, other = tuned_experiment.systems
    assert graph.text == f"graph[nil={tuned[0].threshold:g}]"
    assert graph.metadata()["selected_on"] == "demo"
    assert other == experiment.systems[1]
    assert tuned[0].score >= tuned[0].score_before
    results = list(run_experiment(create_experiment([graph.text], {}, datasets=("demo",), task="d2kb")))
    assert results[0].result[tuned[0].measure] == tuned[0].score


def test_tuning_rejects_systems_that_cannot_abstain_or_have_a_threshold():
    with pytest.raises(UsageError, match="none of these systems can abstain"):
        tune_experiment(create_experiment(["dbpedia-spotlight"], {}, datasets=("demo",), tune_nil="demo"))
    with pytest.raises(UsageError, match="has a NIL threshold already"):
        tune_experiment(create_experiment(["graph[nil=0.2]"], {}, datasets=("demo",), tune_nil="demo"))
