"""Whether a new version of a system is worse than the old one by more than may be: what stops a release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

import msgspec

from karat.comparison.compare import compare
from karat.comparison.entries import Entry
from karat.comparison.terms import Terms
from karat.comparison.tests import DatasetScores
from karat.errors import UsageError
from karat.evaluation.request import Request
from karat.model.signature import Signature

NEW: Final = "new"
OLD: Final = "old"

_WORDS: Final = {"fn": "missed"}

State: TypeAlias = Literal["dropped", "holds", "open"]
"""The drop is surely larger than allowed; surely not; or the data cannot tell."""


@dataclass(frozen=True, slots=True)
class GatedDataset:
    """Both versions on a dataset: the difference is new less old, with its interval, and what follows from it.

    `reason` says why nothing follows.
    """

    dataset: str
    old: float | None
    new: float | None
    difference: float | None
    low: float | None
    high: float | None
    state: State
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class FlippedMention:
    """A mention that one version gets and the other does not; `got` is the one that does."""

    dataset: str
    document: str
    start: int
    end: int
    text: str | None
    gold: str
    got: str
    instead: str
    gold_name: str | None = None
    instead_name: str | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """What a gate decides: it is passed unless some dataset surely dropped by more than `max_drop`."""

    measure: str
    max_drop: float
    confidence: float
    datasets: tuple[GatedDataset, ...]
    flips: tuple[FlippedMention, ...]
    signature: Signature

    @property
    def passed(self) -> bool:
        """Whether no dataset surely dropped by more than allowed."""
        return all(each.state != "dropped" for each in self.datasets)

    def lost(self) -> tuple[FlippedMention, ...]:
        """What the old version got and the new one does not."""
        return tuple(flip for flip in self.flips if flip.got == OLD)

    def won(self) -> tuple[FlippedMention, ...]:
        """The other way round."""
        return tuple(flip for flip in self.flips if flip.got == NEW)


def gate(
    new: Iterable[Entry],
    old: Iterable[Entry],
    request: Request | None = None,
    *,
    max_drop: float = 0.0,
    confidence: float = 0.95,
    measure: str | None = None,
    resamples: int = 1000,
) -> Gate:
    """Compare two versions; only an interval that lies wholly beyond the allowed drop closes the gate."""
    if not 0 <= max_drop <= 1:
        raise UsageError(f"max_drop is {max_drop}. Give a share from 0 to 1: 0.01 is one point of percent.")
    if not 0.5 <= confidence < 1:
        raise UsageError(f"confidence is {confidence}. Give a share from 0.5 up to 1, such as 0.95.")
    sides = [*_called(new, NEW), *_called(old, OLD)]
    answered = [{entry.dataset for entry in sides if entry.system == side} for side in (NEW, OLD)]
    if not answered[0] & answered[1]:
        raise UsageError("the new and the old version answer no dataset in common. Score both on the same gold.")
    terms = Terms(1 - confidence, resamples=resamples, permutations=1000)
    found = compare(sides, request, terms, measure=measure)
    flips = [flip for seen in found.mentions for flip in map(_flip, seen.lines())]
    return Gate(
        found.measure,
        max_drop,
        confidence,
        tuple(_gated(scores, max_drop) for scores in found.datasets if len(scores.scores) == 2),
        tuple(flips),
        found.signature,
    )


def _called(entries: Iterable[Entry], side: str) -> Iterator[Entry]:
    for entry in entries:
        run = None if entry.run is None else replace(entry.run, name=side)
        result = None if entry.result is None else replace(entry.result, run=side)
        yield msgspec.structs.replace(entry, system=side, run=run, result=result)


def _gated(scores: DatasetScores, max_drop: float) -> GatedDataset:
    (pair,) = scores.pairs
    sign = 1 if pair.one == NEW else -1
    ends = sorted(sign * end for end in (pair.low, pair.high) if end is not None)
    low, high = ends if len(ends) == 2 else (None, None)
    difference = None if pair.difference is None else sign * pair.difference
    state: State = "open"
    if low is not None and high is not None:
        state = "dropped" if high < -max_drop else "holds" if low >= -max_drop else "open"
    values = scores.scores[OLD].value, scores.scores[NEW].value
    reason = pair.reason or (None if low is not None else "there are too few documents for an interval")
    return GatedDataset(scores.name, *values, difference, low, high, state, reason)


def _flip(line: dict[str, Any]) -> FlippedMention:
    (wrong,) = line["wrong"]
    return FlippedMention(
        line["dataset"],
        line["document"],
        line["start"],
        line["end"],
        line.get("text"),
        _link(line),
        line["right"][0],
        _link(wrong) if "start" in wrong else _WORDS.get(wrong["outcome"], wrong["outcome"]),
        line.get("name"),
        wrong.get("name"),
    )


def _link(said: dict[str, Any]) -> str:
    return "NIL" if said.get("nil") else str(said.get("entity") or "no link")
