"""The scores of a system on the bed: accuracy by split, their plain mean, and by whatever makes mentions difficult."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from karat.zelda.candidates.lists import CandidateLists
from karat.zelda.candidates.recall import ListRecall, list_recall
from karat.zelda.given import Attempt, GivenMention, Share, plain_mean, shares_by
from karat.zelda.readings import TwoReadings
from karat.zelda.seen import BANDS, NEW_WORDS, SEEN, UNSEEN, SeenLinks, band

LENGTHS: Final = {"no list": 0, "1": 1, "2-5": 5, "6-20": 20, "21 and more": None}
"""How many candidates a mention has: the most of each band."""

FIRST, LISTED, UNLISTED = "prior is right", "in the list, not first", "not in the list"

ORDER: Final[Mapping[str, Sequence[str]]] = {
    "training": (SEEN, NEW_WORDS, UNSEEN),
    "frequency": tuple(BANDS),
    "ambiguity": tuple(LENGTHS),
    "prior": (FIRST, LISTED, UNLISTED),
}
"""What mentions are divided by, with the values in order: what training text has of them and how often it links their
entity, how long their candidate list is, and whether its first candidate is right."""


@dataclass(frozen=True, slots=True)
class BedScores:
    """What a system scores: its attempts at each split, and the mentions of all splits divided by what is known.

    `groups` are accuracies over the mentions of all splits, by split in `groups_of`. `readings` has the splits whose
    CoNLL is there too: accuracy in that reading is over the mentions that it has, as the JSONL writes them.
    """

    system: str
    attempts: Mapping[str, Attempt]
    groups: Mapping[str, Mapping[str, Share]] = field(default_factory=dict)
    groups_of: Mapping[str, Mapping[str, Mapping[str, Share]]] = field(default_factory=dict)
    readings: Mapping[str, TwoReadings] = field(default_factory=dict)

    @property
    def mean(self) -> float | None:
        """The plain mean of the accuracies over all mentions of each split: the score of ZELDA."""
        return plain_mean(tried.accuracy() for tried in self.attempts.values())

    @property
    def mean_covered(self) -> float | None:
        """The same over the mentions that the system has an answer for."""
        return plain_mean(tried.accuracy(tried.covered) for tried in self.attempts.values())

    def brackets(self) -> dict[str, dict[str, Share]]:
        """Accuracy by bracket of difficulty, of splits whose documents have one."""
        found = {split: tried.by(lambda mention: mention.bracket) for split, tried in self.attempts.items()}
        return {split: dict(sorted(shares.items())) for split, shares in found.items() if shares}

    def in_conll(self, split: str) -> Share:
        """Accuracy over the mentions that the CoNLL of a split has; one that only the CoNLL has is wrong."""
        tried, reading = self.attempts[split], self.readings[split]
        there = np.array([mention in reading.both for mention in tried.mentions], bool)
        hits, of = tried.accuracy(there)
        return Share(hits, of + len(reading.conll_only))


def bed_scores(
    system: str,
    attempts: Mapping[str, Attempt],
    *,
    training: SeenLinks | None = None,
    lists: CandidateLists | None = None,
    lookup: str = "zelda",
    readings: Mapping[str, TwoReadings] | None = None,
) -> BedScores:
    """The scores of a system, divided by training text and candidate lists where they are given."""
    values: dict[str, dict[str, list[str]]] = {}
    if training is not None:
        values["training"] = _each(attempts, training.seen)
        values["frequency"] = _each(attempts, training.frequency)
    if lists is not None:
        allowed = list_recall(lists, {split: tried.mentions for split, tried in attempts.items()}, lookup)
        values["ambiguity"] = {split: [band(n, LENGTHS) for n in own.length.tolist()] for split, own in allowed.items()}
        if lists.counted:
            values["prior"] = {split: _prior(own) for split, own in allowed.items()}
    of_split = {
        name: {split: _ordered(name, shares_by(attempts[split].right, own)) for split, own in by_split.items()}
        for name, by_split in values.items()
    }
    pooled = {name: _ordered(name, _summed(by_split.values())) for name, by_split in of_split.items()}
    return BedScores(system, attempts, pooled, of_split, readings or {})


def _each(attempts: Mapping[str, Attempt], value: Callable[[GivenMention], str]) -> dict[str, list[str]]:
    return {split: list(map(value, tried.mentions)) for split, tried in attempts.items()}


def _prior(allowed: ListRecall) -> list[str]:
    return [FIRST if rank == 1 else LISTED if rank else UNLISTED for rank in allowed.rank.tolist()]


def _ordered(name: str, shares: Mapping[str, Share]) -> dict[str, Share]:
    return {value: shares[value] for value in ORDER[name] if value in shares}


def _summed(every: Iterable[Mapping[str, Share]]) -> dict[str, Share]:
    found: dict[str, Share] = {}
    for shares in every:
        for value, share in shares.items():
            hits, of = found.get(value, Share(0, 0))
            found[value] = Share(hits + share.hits, of + share.of)
    return found
