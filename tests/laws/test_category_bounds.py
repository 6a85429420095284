"""Bounds of error categories: what missing facts leave open, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.data.load import load_gold_and_runs
from karat.evaluation.cases.category_bounds import CategoryBounds, bound_categories
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.in_memory_kb import InMemoryKB

ENTITIES = {"Rome": "Italy", "Thebes": "Waset", "Memphis": "Men-nefer", "Curie": "Marie Curie", "Oslo": "Oslo city"}
TEXT = " and ".join(ENTITIES) + "."
TYPES = {
    "Italy": "ORG",
    "Waset": "LOC",
    "Men-nefer": "LOC",
    "Marie Curie": "PER",
    "Oslo city": "LOC",
    "Elsewhere": "LOC",
}
POPULAR = {
    "Rome": "Elsewhere",
    "Thebes": "Elsewhere",
    "Memphis": "Men-nefer",
    "Curie": "Elsewhere",
    "Oslo": "Oslo city",
}
FILES = {"disambiguation-demonym": "demonym", "disambiguation-metonymy": "metonymy", "disambiguation-rare": "rare"}


def evaluated(wrong, popular, categories="mention"):
    """TEXT with wrong links of the mentions in `wrong` and correct ones of all others."""
    labels, predictions = [], []
    for text, entity in ENTITIES.items():
        start = TEXT.index(text)
        labels.append(Label(start, start + len(text), entity, name=entity))
        predictions.append(Prediction(start, start + len(text), "Elsewhere" if text in wrong else entity))
    types, most_popular = ({id: [value] for id, value in table.items()} for table in (TYPES, popular))
    kb = InMemoryKB.from_tables(types=types, popular=most_popular, demonyms=["Danish"])
    request = Request.from_options(kb=kb, by=["error"], settings={"categories": categories})
    corpus = Corpus.from_documents([Document("d", TEXT, tuple(labels))])
    return Evaluation.from_data(request, corpus, Run.from_responses([Response("d", tuple(predictions))]))


def bounds(evaluation, view="strong"):
    cases = evaluation.categorise_cases(view).table.cases
    return bound_categories(cases, evaluation.request.conventions.categories)


def test_with_all_facts_both_bounds_are_the_counts():
    found = bounds(evaluated({"Rome", "Thebes", "Curie"}, POPULAR))
    assert found["disambiguation-metonymy"] == CategoryBounds(1, 1, 0, 0)  # Rome
    assert found["disambiguation-partial-name"] == CategoryBounds(1, 1, 1, 1)  # Curie; Oslo is correct
    assert found["disambiguation-rare"] == CategoryBounds(1, 1, 0, 0)  # Thebes
    assert found["disambiguation-other"] == CategoryBounds(0, 0, 1, 1)  # Memphis


def test_what_a_missing_fact_leaves_open_is_between_the_bounds():
    found = bounds(evaluated({"Rome"}, {"Memphis": "Men-nefer"}))
    metonym, rare = found["disambiguation-metonymy"], found["disambiguation-rare"]
    assert metonym == CategoryBounds(0, 1, 0, 0)  # Rome may be popular for a place; the others are no organisations
    assert metonym.rates == (1.0, 1.0)  # if there is a case at all
    assert rare == CategoryBounds(0, 1, 0, 1)  # Rome and Thebes; Curie and Oslo are partial names before
    assert rare.rates == (0.0, 1.0)
    assert (rare.min_total, rare.max_total) == (0, 2)
    assert found["disambiguation-partial-name"] == CategoryBounds(0, 0, 2, 2)


def test_where_categories_overlap_earlier_ones_do_not_matter():
    found = bounds(evaluated({"Curie"}, POPULAR, "all"))
    assert found["disambiguation-partial-name"] == CategoryBounds(1, 1, 1, 1)
    assert found["disambiguation-rare"] == CategoryBounds(1, 1, 2, 2)  # Curie; Rome and Thebes
    assert found["disambiguation-other"] == CategoryBounds(0, 0, 1, 1)


def test_a_scorecard_has_the_range_of_an_average_rate_and_prints_it():
    evaluation = evaluated({"Rome", "Curie"}, {"Memphis": "Men-nefer"})
    inputs = evaluation.inputs
    found = karat.scorecard(inputs.corpus, {"mine": inputs.original_run}, kb=evaluation.request.kb)
    averages = found.scorecards[0].averages
    partial, f1 = averages["disambiguation-partial-name"], averages["f1"]
    assert (partial.value, partial.min_value, partial.max_value) == (0.5, None, None)  # Curie; Oslo is correct
    assert (f1.min_value, f1.max_value) == (None, None)
    other = averages["disambiguation-other"]  # Memphis surely; Thebes and Rome may be rare, and Rome a metonym
    assert (other.value, other.min_value, other.max_value) == (0.0, 0.0, 0.5)
    lines = [line.split() for line in found.to_markdown().splitlines()]
    assert ["|", "smallest", "and", "largest", "rate", "|", "mine", "|"] in lines
    assert ["|", "Other", "wrong", "links", "|", "0.0–50.0", "|"] in lines


@given(
    wrong=st.sets(st.sampled_from(sorted(ENTITIES))),
    facts=st.sets(st.sampled_from(sorted(POPULAR))),
    categories=st.sampled_from(["mention", "prediction", "all"]),
)
def test_the_counts_with_all_facts_are_within_the_bounds_with_some(wrong, facts, categories):
    known = {text: POPULAR[text] for text in facts}
    some, complete = (bounds(evaluated(wrong, popular, categories)) for popular in (known, POPULAR))
    for name, bound in some.items():
        true = complete[name]
        assert (true.min_errors, true.min_avoided) == (true.max_errors, true.max_avoided)
        assert bound.min_errors <= true.min_errors <= bound.max_errors
        assert bound.min_avoided <= true.min_avoided <= bound.max_avoided
        if true.rates is not None:
            assert true.rates[0] == true.rates[1]
            assert bound.rates[0] <= true.rates[0] <= bound.rates[1]
        elif bound.rates is not None:
            assert bound.min_total == 0


@pytest.mark.shared
@pytest.mark.parametrize("name", ["kore50", "msnbc-updated", "wiki-fair-no-coref"])
@pytest.mark.parametrize("stem", ["refined/refined__aida_", "baseline/baseline", "oracle/oracle"])
def test_the_figures_that_elevant_computed_with_all_facts_are_within_the_bounds(name, stem, shared):
    path = str(shared / "elevant" / "results" / f"{stem}.{name}.linked_articles.jsonl.gz")
    corpus, [run] = load_gold_and_runs(path, [path], gold_format="elevant-linked", predictions_format="elevant-linked")
    request = Request.from_options(profile="elevant", kb=shared / "elevant" / "kb", by=["error"])
    evaluation = Evaluation.from_data(request, corpus, run)
    theirs = json.loads(Path(path.replace("linked_articles.jsonl.gz", "eval_results.json")).read_bytes())
    for view, mode in (("strong[in-kb]", "IGNORED"), ("strong", "REQUIRED")):
        found = bounds(evaluation, view)
        for category, key in FILES.items():
            true = theirs[mode]["error_categories"]["wrong_disambiguation"][key]
            assert found[category].min_errors <= true["errors"] <= found[category].max_errors
            assert found[category].min_total <= true["total"] <= found[category].max_total
