"""What candidate lists allow: the most frequent sense, the recall of the lists, and how ambiguous they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np

from karat.errors import InputError
from karat.model.tables.columns import Bools, Longs
from karat.zelda.candidates.lists import CandidateLists
from karat.zelda.given import GivenMention, Share, plain_mean, shares_by

CUTS: Final = (1, 2, 3, 5, 10, 20, 30, 50, 100)
"""Where recall is looked at, besides whole lists."""


@dataclass(frozen=True, slots=True, eq=False)
class ListRecall:
    """What lists allow on one split: for each mention the place of its entity, from 1 or 0, and the list's length.

    `counted`: whether the order says which candidate is likelier.
    """

    split: str
    mentions: tuple[GivenMention, ...]
    rank: Longs
    length: Longs
    counted: bool = True

    @property
    def listed(self) -> Bools:
        """Which mentions have a list."""
        return self.length > 0

    @property
    def _every(self) -> Bools:
        return np.ones(len(self.mentions), bool)

    @property
    def mfs(self) -> Share | None:
        """Mentions whose likeliest candidate is right: the most frequent sense. None where there are no counts."""
        return Share.within(self.rank == 1, self._every) if self.counted else None

    @property
    def mfs_listed(self) -> Share | None:
        """The same among mentions that have a list."""
        return Share.within(self.rank == 1, self.listed) if self.counted else None

    @property
    def recall(self) -> Share:
        """Mentions whose entity is in their list (CL-recall)."""
        return Share.within(self.rank > 0, self._every)

    def recall_at(self, k: int) -> Share | None:
        """Mentions whose entity is among the first k; None where nobody knows which come first."""
        return Share.within((self.rank > 0) & (self.rank <= k), self._every) if self.counted else None

    @property
    def ambiguity(self) -> float | None:
        """The mean length of the lists, over mentions that have one."""
        return float(self.length[self.listed].mean()) if self.listed.any() else None

    def by_bracket(self) -> dict[str, Share]:
        """CL-recall by bracket of difficulty; the ∅ of table 4 is their plain mean."""
        shares = shares_by(self.rank > 0, [mention.bracket for mention in self.mentions])
        return dict(sorted(shares.items()))


@dataclass(frozen=True, slots=True)
class ListComparison:
    """Lists by name, each on all splits, under one rule of lookup."""

    lookup: str
    lists: Mapping[str, Mapping[str, ListRecall]]

    def mean_recall(self, name: str) -> float | None:
        """The plain mean of CL-recall over splits."""
        return plain_mean(one.recall for one in self.lists[name].values())

    def mean_mfs(self, name: str) -> float | None:
        """The plain mean of the most frequent sense over splits."""
        return plain_mean(one.mfs for one in self.lists[name].values() if one.mfs is not None)


def list_recall(
    lists: CandidateLists, splits: Mapping[str, Sequence[GivenMention]], lookup: str = "zelda"
) -> dict[str, ListRecall]:
    """What lists allow on some splits, which are looked up at once."""
    every = [mention.surface for mentions in splits.values() for mention in mentions]
    found = lists.candidates(every, lookup)
    if every and not any(found.values()):
        raise InputError(
            lists.name,
            found=f"no list for any of {len(found):,} mentions",
            expected="candidate lists for the mentions of the test sets",
            remedy="Check that these are the right lists",
        )
    return {split: _of_split(split, mentions, found, lists.counted) for split, mentions in splits.items()}


def _of_split(
    split: str, mentions: Sequence[GivenMention], found: Mapping[str, list[str]], counted: bool
) -> ListRecall:
    own = [found[mention.surface] for mention in mentions]
    titles = [mention.entity.replace("_", " ") for mention in mentions]
    rank = [names.index(title) + 1 if title in names else 0 for names, title in zip(own, titles, strict=True)]
    length = np.array(list(map(len, own)), np.int64)
    return ListRecall(split, tuple(mentions), np.array(rank, np.int64), length, counted)


def compare_lists(
    lists: Sequence[CandidateLists], splits: Mapping[str, Sequence[GivenMention]], lookup: str = "zelda"
) -> ListComparison:
    """Several lists beside each other; of the same name they are told apart by a number."""
    found: dict[str, Mapping[str, ListRecall]] = {}
    for one in lists:
        name = next(name for name in _numbered(one.name) if name not in found)
        found[name] = list_recall(one, splits, lookup)
    return ListComparison(lookup, found)


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name} {number}" for number in count(2))
