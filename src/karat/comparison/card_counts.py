"""What a card is made from: the statistics of one run on one corpus, document by document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from karat.comparison.entries import texts_of
from karat.data.describe import Description, describe
from karat.errors import UsageError
from karat.evaluation.errors import Tally, rules, tagged, tallies
from karat.evaluation.evaluate import count_views
from karat.evaluation.labels import case_table
from karat.evaluation.profiles import profile_named
from karat.evaluation.request import Setting, setting
from karat.facts.facts import NOMINAL, PRONOMINAL
from karat.kb.protocol import KB
from karat.matching.read.pairing import BLOCK
from karat.model.corpus import Corpus
from karat.model.name import parse_measure
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.tables.columns import Bools, Floats, Longs
from karat.model.verdict import Verdicts, joined
from karat.registry import get
from karat.spec.relation import Relation
from karat.spec.threshold import Threshold, threshold_of

TRAITS = {"disambiguation-demonym": "demonym", "disambiguation-metonymy": "metonym"}
"""Categories that not every benchmark has enough of, and what mentions in them are."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How to score: the profile and its choices, the view with links, and the knowledge base."""

    like: str = "elevant"
    view: str = "strong[in-kb]"
    choices: Mapping[str, str] | None = None
    kb: KB | None = None
    allow_unknown: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """How many linked mentions of a benchmark are of a kind; None where nobody can tell, for this reason."""

    number: int | None
    linked: int
    undecided: int
    reason: str | None = None

    @property
    def value(self) -> float | None:
        """The share of the mentions with a link; those that nobody can decide are not of the kind."""
        return self.number / self.linked if self.number is not None and self.linked else None


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A corpus as cards see it; rows in the order of the documents' ids.

    `mentions` are those that are required, by document, linked or not. `texts` tell documents that occur elsewhere.
    """

    name: str
    digest: str
    mentions: Floats
    shares: Mapping[str, Share]
    texts: frozenset[object]


@dataclass(frozen=True, slots=True)
class Counts:
    """A run on a benchmark: the four weights of links and of detection, and the error categories, by document."""

    system: str
    signature: Signature
    links: Floats
    detection: Floats
    categories: Mapping[str, Tally]


def benchmark(corpus: Corpus, kb: KB | None) -> Benchmark:
    """What is to be known about a corpus, whoever answers."""
    units, labels = corpus.units, corpus.labels
    required = units.mentions & ~units.optional
    mentions = np.bincount(labels.document[required], minlength=len(corpus)).astype(np.float64)
    found = describe(corpus, kb)
    return Benchmark(
        name=corpus.name,
        digest=corpus.digest,
        mentions=mentions[_order(corpus)],
        shares={category: _share(found, trait) for category, trait in TRAITS.items()},
        texts=texts_of(corpus),
    )


def _share(found: Description, trait: str) -> Share:
    required, nil = found.numbers["required"], found.columns["nil"].number
    assert isinstance(required, int)
    share = found.columns[trait]
    return Share(share.number, required - (nil or 0), share.undecided, found.undefined.get(trait))


def _order(corpus: Corpus) -> Longs:
    """The documents by their ids: files of several systems need not have the same order."""
    ids = corpus.ids.to_pylist()
    return np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)


def counts(corpus: Corpus, run: Run, asked: Asked) -> Counts:
    """Score a run, and keep what every document adds."""
    view, stage = _views(asked.view)
    todo = setting(
        corpus,
        run,
        like=asked.like,
        choices=asked.choices or {},
        measures=[f"{view}:micro.f1", f"{stage}:micro.f1"],
        kb=asked.kb,
        allow_unknown=asked.allow_unknown,
    )
    rule = threshold_of(todo.table)
    if not isinstance(rule, Threshold):
        raise UsageError("a card compares systems at fixed thresholds. Give a number, or none.")
    bases = {f"{name.view.task or ''}/{name.view.relation}" for name in todo.wanted}
    plans = todo.planner(dict.fromkeys(bases, rule)).plans(todo.wanted, staged=True)
    names = {str(name.view) for name in todo.wanted}
    views, kept = count_views(todo, plans, BLOCK, keep=names, found={})
    cases = {name: joined(parts) for name, parts in kept.items()}
    found = case_table(todo, plans, view, cases)
    order = _order(corpus)
    detection = views[stage].statistics.weights
    if _of_entities_only(asked.like, stage):
        detection = cases[stage].where(_entities(todo, cases[stage])).per_document(0, len(corpus))
    counted = tallies(found, tagged(found.cases, rules(todo.table)), len(corpus), None)
    return Counts(
        system=run.name,
        signature=todo.signature,
        links=views[view].statistics.weights[order],
        detection=detection[order],
        categories={name: _ordered(tally, order) for name, tally in counted.items()},
    )


def _views(asked: str) -> tuple[str, str]:
    """The view with links, and the one that looks at places only."""
    view = parse_measure(f"{asked}:micro.f1").view
    relation = get("relations", view.relation, Relation)
    if not relation.links or relation.detection is None:
        raise UsageError(f"a card is about links at places, and {asked} is not. Ask for strong[in-kb] or strong.")
    return str(view), str(replace(view, relation=relation.detection))


def _of_entities_only(like: str, stage: str) -> bool:
    """Whether a profile leaves coreference out of detection."""
    shown = [parse_measure(name) for name in profile_named(like).measures]
    return any(str(name.view) == stage and name.group == ("mention-type", "entity") for name in shown)


def _entities(todo: Setting, cases: Verdicts) -> Bools:
    """The cases that are no coreference."""
    gold, answers = (np.append(side.mention_type, 0) for side in (todo.facts.gold, todo.facts.answers))
    kind = np.where(cases.gold >= 0, gold[cases.gold], answers[cases.answer])
    named: Bools = (kind != NOMINAL) & (kind != PRONOMINAL)
    return named


def _ordered(tally: Tally, order: Longs) -> Tally:
    return replace(tally, errors=tally.errors[order], total=None if tally.total is None else tally.total[order])
