"""Which setting makes another system the better one: Shapley shares of the change of a difference of two systems.

Shapley values are linear: the share of a setting in the change of the difference of two scores is its share in the
change of the first score minus its share in that of the second.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from karat.analysis.comparison.entries import Entry
from karat.analysis.explanation.gap import SETTING_GROUPS, GapExplanation, attribute_gap
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.model.errors import KaratError

SEED: Final = 0
"""The random seed of the sample of changes that are explained."""

_TOLERANCE: Final = 1e-9
"""How far the shares of a change may be from the change of the scores that were compared."""

SystemPair: TypeAlias = tuple[str, str]
"""Two systems, in the order of their names."""


class OrderFlip(NamedTuple):
    """A pair of systems whose order is reversed between two profiles."""

    pair: SystemPair
    """The systems."""
    profiles: tuple[str, str]
    """The profiles."""
    differences: tuple[float, float]
    """The score of the first system minus that of the second under each profile."""


@dataclass(frozen=True, slots=True)
class FlipExplanation:
    """The change of a difference between two systems, divided among the settings in which two profiles differ."""

    flip: OrderFlip
    """The systems, the profiles and the differences."""
    shares: Mapping[str, float]
    """By setting, or settings that switch together, its share of the change; the shares add up to the change."""
    sufficient: tuple[str, ...]
    """The settings that reverse the order when they alone switch to the second profile."""

    @property
    def main_setting(self) -> str:
        """The setting with the largest share in the direction of the change."""
        change = self.flip.differences[1] - self.flip.differences[0]
        return max(sorted(self.shares), key=lambda name: self.shares[name] / change)


def has_both_signs(values: Iterable[float]) -> bool:
    """Return whether some of `values` are positive and some negative."""
    values = list(values)
    return min(values, default=0) < 0 < max(values, default=0)


def list_flips(pair: SystemPair, differences: Mapping[str, float]) -> list[OrderFlip]:
    """Return the pairs of profiles that reverse the order of two systems, given its difference under each profile."""
    return [
        OrderFlip(pair, profiles, (differences[profiles[0]], differences[profiles[1]]))
        for profiles in combinations(sorted(differences), 2)
        if differences[profiles[0]] * differences[profiles[1]] < 0
    ]


def sample_flips(dataset: str, differences: Mapping[SystemPair, Mapping[str, float]]) -> list[OrderFlip]:
    """Return for every pair of systems whose order changes one pair of profiles that reverses it, drawn at random.

    `differences` are by pair of systems and profile. The draw depends on `SEED` and the name of the dataset only.
    """
    rng = np.random.default_rng([SEED, zlib.crc32(dataset.encode())])
    flips = [list_flips(pair, by_profile) for pair, by_profile in sorted(differences.items())]
    return [options[int(rng.integers(len(options)))] for options in flips if options]


def explain_flips(
    flips: Sequence[OrderFlip], entries: Mapping[str, Entry], requests: Mapping[str, Request]
) -> tuple[list[FlipExplanation], dict[SystemPair, str]]:
    """Divide the change of each flip among settings; return the explanations, and why the others could not be made.

    `entries` are by system, and `requests`, each with one measure, by profile.
    """
    gaps: dict[tuple[str, tuple[str, str]], GapExplanation] = {}
    explanations, reasons = [], {}
    for flip in flips:
        try:
            for system in flip.pair:
                if (system, flip.profiles) not in gaps:
                    gaps[system, flip.profiles] = _attribute(entries[system], *(requests[p] for p in flip.profiles))
            explanations.append(_combine(flip, *(gaps[system, flip.profiles] for system in flip.pair)))
        except KaratError as problem:
            reasons[flip.pair] = str(problem)
    return explanations, reasons


def _attribute(entry: Entry, reference: Request, target: Request) -> GapExplanation:
    """Divide the gap between the scores of an entry under two requests among their settings."""
    assert entry.corpus is not None, "entries are loaded with their gold standard"
    assert entry.run is not None, "entries are loaded with their predictions"
    evaluation = Evaluation.from_data(target, entry.corpus, entry.run, judged=entry.judged)
    return attribute_gap(evaluation, reference, target)


def _combine(flip: OrderFlip, first: GapExplanation, second: GapExplanation) -> FlipExplanation:
    """Subtract the shares of the second system from those of the first; raise `KaratError` if they do not add up.

    They do not if a score depends on which systems are compared together, as with bridged ids.
    """
    shares: dict[str, float] = {}
    changes_if_first: dict[str, float] = {}
    for sign, gap in ((1, first), (-1, second)):
        for cause in gap.causes:
            name = _name_group(cause.settings)
            shares[name] = shares.get(name, 0.0) + sign * cause.share
            changes_if_first[name] = changes_if_first.get(name, 0.0) + sign * cause.change_if_first
    before, after = flip.differences
    if abs(sum(shares.values()) - (after - before)) > _TOLERANCE:
        raise KaratError("the scores depend on which systems are compared together")
    sufficient = tuple(name for name, change in sorted(changes_if_first.items()) if (before + change) * before < 0)
    return FlipExplanation(flip, shares, sufficient)


def _name_group(settings: Sequence[str]) -> str:
    """Return the name of settings that switch together: all settings of their group, or the only one."""
    return ", ".join(next((group for group in SETTING_GROUPS if settings[0] in group), settings))
