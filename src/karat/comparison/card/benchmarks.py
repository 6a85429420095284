"""What a card is made from: what a dataset has, whoever answers, and what every document adds under each system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from karat.comparison.entries import texts_of
from karat.comparison.grid import Cell
from karat.data.describe import Description, describe
from karat.errors import UsageError
from karat.evaluation.cases.errors import Tally, tallies, without_candidates
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.measures import detection_of
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.name import ViewName, parse_measure
from karat.model.tables.columns import Floats, Longs
from karat.signing import profile_named
from karat.spec.choices.threshold import Threshold

TRAITS = {"disambiguation-demonym": "demonym", "disambiguation-metonymy": "metonym"}
"""Categories that not every benchmark has enough of, and what mentions in them are."""


@dataclass(frozen=True, slots=True)
class KindShare:
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

    mentions: Floats
    shares: Mapping[str, KindShare]
    texts: frozenset[object]


@dataclass(frozen=True, slots=True)
class Adds:
    """A run on a benchmark: the four weights of links and of detection, and the error categories, by document."""

    links: Floats
    detection: Floats
    categories: Mapping[str, Tally]


def benchmark(corpus: Corpus, kb: KB | None, order: Longs) -> Benchmark:
    """What is to be known about a corpus, whoever answers."""
    units, labels = corpus.units, corpus.labels
    required = units.mentions & ~units.optional
    mentions = np.bincount(labels.document[required], minlength=len(corpus)).astype(np.float64)
    found = describe(corpus, kb)
    return Benchmark(
        mentions=mentions[order],
        shares={category: _share(found, trait) for category, trait in TRAITS.items()},
        texts=texts_of(corpus),
    )


def _share(found: Description, trait: str) -> KindShare:
    required, nil = found.numbers["required"], found.columns["nil"].number
    assert isinstance(required, int)
    share = found.columns[trait]
    return KindShare(share.number, required - (nil or 0), share.undecided, found.undefined.get(trait))


def adds(cell: Cell, view: str) -> Adds:
    """What every document adds to the figures of a system."""
    if cell.evaluation is None:
        raise UsageError("a card opens cases, and results have none. Give gold and answers.")
    found, order = cell.evaluation, cell.order
    if not isinstance(found.request.conventions.threshold, Threshold):
        raise UsageError("a card compares systems at fixed thresholds. Give a number, or none.")
    tagged = found.categorised(view)
    counted = tallies(tagged, len(order), None)
    if not tagged.table.cases.several_candidates.any():
        counted = without_candidates(counted)
    return Adds(
        links=found.views[view].statistics.weights[order],
        detection=_detection(found, stage_of(view))[order],
        categories={name: _ordered(tally, order) for name, tally in counted.items()},
    )


def stage_of(view: str) -> str:
    """The view that looks at places only, for one that looks at links at places."""
    return str(_stage(parse_measure(f"{view}:micro.f1").view))


def _stage(view: ViewName) -> ViewName:
    stage = detection_of(view)
    if stage is None:
        raise UsageError(f"a card is about links at places, and {view} is not. Ask for strong[in-kb] or strong.")
    return stage


def _detection(found: Evaluation, stage: str) -> Floats:
    """What is detected; without coreference, where the profile leaves that out."""
    shown = [parse_measure(name) for name in profile_named(found.request.profile).measures]
    if not any(str(name.view) == stage and name.group == ("mention-type", "entity") for name in shown):
        return found.views[stage].statistics.weights
    cases = found.block.entities_only(found.verdicts(stage))
    return cases.per_document(0, len(found.sides.corpus))


def _ordered(tally: Tally, order: Longs) -> Tally:
    return replace(tally, errors=tally.errors[order], total=None if tally.total is None else tally.total[order])
