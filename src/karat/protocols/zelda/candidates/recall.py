"""Limits set by candidate lists: most frequent sense, recall and ambiguity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np

from karat.model.document import UNLINKED, Candidate, EntityId, Prediction, Response
from karat.model.errors import InputError
from karat.model.run import Run
from karat.model.tables.columns import Bools, Longs
from karat.protocols.zelda.candidates.candidate_lists import CandidateLists
from karat.protocols.zelda.split_predictions import GoldMention, group_shares, unweighted_mean
from karat.stats.share import Share

CUTS: Final = (1, 2, 3, 5, 10, 20, 30, 50, 100)
"""Ranks at which recall is computed, besides whole lists."""


@dataclass(frozen=True, slots=True, eq=False)
class ListRecall:
    """Ranks of the correct entities in candidate lists, on one split; arrays have one value per mention."""

    split: str
    """Name of the split."""
    mentions: tuple[GoldMention, ...]
    """Mentions."""
    rank: Longs
    """Rank of the correct entity in the list of each mention, from 1; 0 if it is missing."""
    length: Longs
    """Length of the list of each mention."""
    has_counts: bool = True
    """Whether the order of candidates is by likelihood."""

    @property
    def listed_mask(self) -> Bools:
        """Which mentions have a candidate list."""
        return self.length > 0

    @property
    def _all_mentions_mask(self) -> Bools:
        """Mask that selects all mentions."""
        return np.ones(len(self.mentions), bool)

    @property
    def mfs(self) -> Share | None:
        """Share of mentions whose first candidate is correct (most frequent sense); None without counts."""
        return Share.from_masks(self.rank == 1, self._all_mentions_mask) if self.has_counts else None

    @property
    def mfs_listed(self) -> Share | None:
        """Share of correct first candidates among the mentions with a list; None without counts."""
        return Share.from_masks(self.rank == 1, self.listed_mask) if self.has_counts else None

    @property
    def recall(self) -> Share:
        """Share of mentions whose entity is in their list (CL-recall)."""
        return Share.from_masks(self.rank > 0, self._all_mentions_mask)

    def recall_at(self, k: int) -> Share | None:
        """Return the share of mentions whose entity is among the first `k` candidates; None without counts."""
        return (
            Share.from_masks((self.rank > 0) & (self.rank <= k), self._all_mentions_mask) if self.has_counts else None
        )

    @property
    def ambiguity(self) -> float | None:
        """Mean number of candidates of the mentions with a list; None without lists."""
        return float(self.length[self.listed_mask].mean()) if self.listed_mask.any() else None

    def recall_by_bracket(self) -> dict[str, Share]:
        """Return CL-recall by difficulty bracket, sorted; empty for a split without brackets.

        The ∅ of Table 4 in the paper is the unweighted mean of these values.
        """
        shares = group_shares(self.rank > 0, [mention.bracket for mention in self.mentions])
        return dict(sorted(shares.items()))


@dataclass(frozen=True, slots=True)
class ListComparison:
    """Several candidate lists on all splits, under one lookup rule."""

    lookup: str
    """Lookup rule."""
    lists: Mapping[str, Mapping[str, ListRecall]]
    """Recall by list and split."""

    def mean_recall(self, name: str) -> float | None:
        """Return the unweighted mean over splits of the recall of the candidate lists called `name`.

        Splits without mentions do not count; None if all are.
        """
        return unweighted_mean(split_recall.recall for split_recall in self.lists[name].values())

    def mean_mfs(self, name: str) -> float | None:
        """Return the unweighted mean over splits of the most-frequent-sense share (`mfs`) of the lists `name`.

        Splits without mentions do not count. None if the lists have no counts.
        """
        return unweighted_mean(
            split_recall.mfs for split_recall in self.lists[name].values() if split_recall.mfs is not None
        )


def measure_recall(
    candidate_lists: CandidateLists, splits: Mapping[str, Sequence[GoldMention]], lookup: str = "zelda"
) -> dict[str, ListRecall]:
    """Look up the mentions of all splits in `candidate_lists`, and return the recall by split.

    `splits`: gold mentions by split. `lookup`: how surfaces are looked up, a key of `LOOKUPS`. Raise `InputError` if no
    mention has a list.
    """
    surfaces = [mention.surface for mentions in splits.values() for mention in mentions]
    candidates = candidate_lists.find_candidates(surfaces, lookup)
    if surfaces and not any(candidates.values()):
        raise InputError(
            candidate_lists.name,
            actual=f"no list for any of {len(candidates):,} mentions",
            expected="candidate lists for the mentions of the test sets",
            remedy="Check that these are the right lists",
        )
    return {
        split: _split_recall(split, mentions, candidates, candidate_lists.has_counts)
        for split, mentions in splits.items()
    }


def look_up_candidates(
    candidate_lists: CandidateLists, splits: Mapping[str, Sequence[GoldMention]], lookup: str = "zelda"
) -> dict[str, Run]:
    """Return the candidates of the mentions of each split as predictions, best first.

    The first candidate is the link (most frequent sense). Lists without counts have no links.
    """
    surfaces = [mention.surface for mentions in splits.values() for mention in mentions]
    candidates = candidate_lists.find_candidates(surfaces, lookup)

    def link(listed: Sequence[Candidate]) -> EntityId:
        return listed[0].entity if listed and candidate_lists.has_counts else UNLINKED

    runs = {}
    for split, mentions in splits.items():
        predictions: dict[str, list[Prediction]] = {}
        for mention in mentions:
            listed = tuple(map(Candidate, candidates[mention.surface]))
            predictions.setdefault(mention.document, []).append(
                Prediction(mention.start, mention.end, link(listed), candidates=listed)
            )
        runs[split] = Run.from_responses((Response(id, tuple(items)) for id, items in predictions.items()), name=split)
    return runs


def _split_recall(
    split: str, mentions: Sequence[GoldMention], candidates: Mapping[str, list[str]], has_counts: bool
) -> ListRecall:
    """Return the recall of candidate lists on one split: the rank of each mention's gold entity, and list lengths.

    `candidates`: the list of each surface, best first. `has_counts`: whether the order of the lists is by frequency, so
    that ranks mean something.
    """
    lists = [candidates[mention.surface] for mention in mentions]
    titles = [mention.entity.replace("_", " ") for mention in mentions]
    rank = [names.index(title) + 1 if title in names else 0 for names, title in zip(lists, titles, strict=True)]
    length = np.array(list(map(len, lists)), np.int64)
    return ListRecall(split, tuple(mentions), np.array(rank, np.int64), length, has_counts)


def compare_lists(
    lists: Sequence[CandidateLists], splits: Mapping[str, Sequence[GoldMention]], lookup: str = "zelda"
) -> ListComparison:
    """Measure the recall of several candidate lists on the same splits; lists of the same name are numbered.

    `splits`: gold mentions by split. `lookup`: how surfaces are looked up, a key of `LOOKUPS`.
    """
    recalls: dict[str, Mapping[str, ListRecall]] = {}
    for candidate_lists in lists:
        name = next(name for name in _numbered_names(candidate_lists.name) if name not in recalls)
        recalls[name] = measure_recall(candidate_lists, splits, lookup)
    return ListComparison(lookup, recalls)


def _numbered_names(name: str) -> Iterator[str]:
    """Yield `name`, then without end `name 2`, `name 3` and so on, with a space, to find an unused name."""
    yield name
    yield from (f"{name} {number}" for number in count(2))
