"""What every error category must hold to: its example is its test, and it is an island."""

from __future__ import annotations

import ast
import re
from importlib.metadata import EntryPoint
from importlib.util import find_spec

import pytest
from hypothesis import given

import karat
from karat import Corpus, Run
from karat.evaluation.cases import errors as categories
from karat.kb.in_memory_kb import InMemoryKB
from karat.model import registry
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.category import ErrorCategory, Example, Mark, parse_marks
from tests import strategies
from tests.conftest import ROOT, with_settings

NAMES = list_plugins("categories")
RANKED = {name: found for name in NAMES if (found := get_plugin("categories", name, ErrorCategory)).rank is not None}
SPACY = find_spec("spacy") is not None
VIEW = "strong[in-kb]"


def scored(example, **options):
    corpus, run = Corpus.from_documents([example.document]), Run.from_responses([example.response])
    kb = InMemoryKB.from_tables(**example.facts)
    options = {"profile": example.profile, "kb": kb, "measures": [f"{VIEW}:micro.f1"], "by": ["error"]} | options
    return karat.evaluate(corpus, run, **with_settings(options)).groups["error"]


@pytest.mark.both
@pytest.mark.parametrize("name", NAMES)
def test_the_example_counts_what_it_says(name):
    category = get_plugin("categories", name, ErrorCategory)
    example = category.example
    assert example is not None
    assert parse_marks(example.gold)[0] == parse_marks(example.predictions)[0]
    found = scored(example)[VIEW][name]
    no_words = category.candidate_words is not None and not SPACY
    assert (found.errors, found.total) == (example.errors, None if no_words else example.total)
    assert found.undecided == 0
    assert example.errors > 0  # what is never an error shows nothing
    rate = found.measures["micro.error-rate"]
    assert rate == (None if found.total is None else example.errors / example.total)
    assert (rate is None) == bool(found.undefined)


@pytest.mark.parametrize("view", ["strong", "strong[in-kb]"])
def test_the_example_of_links_on_nil_holds_in_every_view(view):
    example = get_plugin("categories", "ner-fp-groundtruth-unknown", ErrorCategory).example
    found = scored(example, measures=[f"{view}:micro.f1"])[view]["ner-fp-groundtruth-unknown"]
    assert (found.errors, found.total) == (example.errors, example.total)


@pytest.mark.extras
def test_words_are_counted_where_the_extra_is():
    for name in NAMES:
        category = get_plugin("categories", name, ErrorCategory)
        if category.candidate_words is not None:
            assert scored(category.example)[VIEW][name].total == category.example.total


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name):
    category = get_plugin("categories", name, ErrorCategory)
    assert category.title
    assert category.description.endswith(".")
    assert category.candidate_words is None or category.is_avoided is None
    assert bool(category.total_description) == (category.candidate_words is not None or category.is_avoided is not None)
    assert category.prediction_condition is None or category.rank is not None
    page = (ROOT / "docs" / "reference" / "error-categories.md").read_text(encoding="utf-8")
    for text in (
        f"`{name}`",
        category.description,
        category.total_description,
        category.example.gold,
        category.example.predictions,
    ):
        assert text.replace("|", "\\|") in page


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_read_alone(name):
    """A category looks at cases and says yes or no; it needs nothing but their definition."""
    path = ROOT / "src" / "karat" / "plugins" / "categories" / f"{name.replace('-', '_')}.py"
    imports = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert {node.module for node in imports} <= {
        "karat.model.results.cases",
        "karat.model.tables.columns",
        "karat.model.truth",
        "karat.model.spec.category",
    }


def test_ranks_are_used_once():
    ranks = [(category.group, category.rank) for category in RANKED.values()]
    assert len(set(ranks)) == len(ranks)


@pytest.mark.both
@pytest.mark.parametrize("profile", ["karat", "elevant", "elevant-paper"])
@given(pair=strategies.pairs(families=True, max_documents=3))
def test_errors_are_among_what_could_have_been_and_groups_are_exclusive(profile, pair):
    views = [f"strong{part}:micro.f1" for part in ("[in-kb]", "")]
    found = karat.evaluate(
        *pair, profile=profile, measures=views, by=["error"], kb=InMemoryKB.from_tables(popular={"a": ["Q1"]})
    )
    for groups in found.groups["error"].values():
        assert set(groups) == set(NAMES)
        for name, group in groups.items():  # several spurious predictions may stand on one word
            words = get_plugin("categories", name, ErrorCategory).candidate_words is not None
            assert words or group.total is None or 0 <= group.errors <= group.total
    for case in found.verdicts.to_pylist():
        assert not set(case["errors"]) & set(case["avoided"])
        if profile != "elevant-paper":  # where categories may overlap
            ranked = [RANKED[name].group for name in case["errors"] if name in RANKED]
            assert len(set(ranked)) == len(ranked)
            assert sum(name in RANKED and RANKED[name].exclusive_among == "both" for name in case["avoided"]) <= 1


def test_marks():
    assert parse_marks("No marks [here].") == ("No marks [here].", ())
    text, marks = parse_marks("[Rome → NIL] and [Bonn → Bonn, not Berlin, Bonn (Ohio)]")
    assert text == "Rome and Bonn"
    assert marks == (Mark(0, 4, None, ()), Mark(9, 13, "Bonn", ("Berlin", "Bonn (Ohio)")))


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """The category of the documentation, as somebody else would install it."""
    page = (ROOT / "docs" / "reference" / "error-categories.md").read_text(encoding="utf-8")
    (tmp_path / "long_misses.py").write_text(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    entry = EntryPoint("long-misses", "long_misses", "karat.categories")
    monkeypatch.setattr(registry, "_entry_points_by_group", lambda: {entry.group: {entry.name: entry}})
    caches = (registry._group_entry_points, categories.categories)
    for cache in caches:
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


def test_a_category_of_ones_own(installed):
    assert set(list_plugins("categories")) == {*NAMES, "long-misses"}
    example = Example(
        gold="[Lake Como → Lake Como] and [Lake Garda → Lake Garda] are near [Milan → Milan].",
        predictions="Lake Como and [Lake Garda → Lake Garda] are near Milan.",
        errors=1,
        total=2,
    )
    found = scored(example)[VIEW]["long-misses"]
    assert (found.errors, found.total, found.measures["micro.error-rate"]) == (1, 2, 0.5)


@pytest.mark.parametrize("name", NAMES)
def test_every_category_is_explained_by_name_and_by_title(name):
    category = get_plugin("categories", name, ErrorCategory)
    said = karat.explain(name)
    assert said == karat.explain(category.title) == karat.explain(category.title.upper())
    for words in (
        category.description,
        category.total_description,
        category.example.gold,
        *category.required_facts,
        f"--error {name}",
    ):
        assert words in said
    assert f"{name}: {category.title}." in karat.explain("error")


def test_what_is_undecided_without_facts_says_which_it_needs():
    """Categories of a corpus with names and types, but without a knowledge base."""
    found = karat.evaluate(karat.load("demo"), karat.load_run("demo/noisy"), by=["error"])
    open_ = {name for groups in found.groups["error"].values() for name, group in groups.items() if group.undecided}
    assert open_
    assert all(get_plugin("categories", name, ErrorCategory).required_facts for name in open_)
