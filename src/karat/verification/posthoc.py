"""Scores from judgements after the fact: rates, the verification union, posthoc precision and recall.

Ding, Botzer and Weninger, Posthoc Verification and the Fallibility of the Ground Truth. What the paper defines and what
its program computes differ; both are here by name (`READINGS`), and reports say which was used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from karat.model.tables.columns import Floats
from karat.stats.samples.bootstrap import Interval, interval, resampled_totals
from karat.verification.decisions import OUTCOMES, Decision

DrawnUnit: TypeAlias = Literal["annotation", "document"]


class LinkAt(NamedTuple):
    """A link in a text."""

    document: str
    start: int
    end: int
    entity: str

    def overlaps(self, other: LinkAt) -> bool:
        """Whether both share a character."""
        return self.document == other.document and self.start < other.end and other.start < self.end


class JudgedLink(NamedTuple):
    """A link that a source gave, and what became of it; no `outcome` is none yet, or a tie.

    `passage` is where the passage begins in which it was shown, `becomes` the entity after the judgement.
    """

    source: str
    passage: int
    shown: LinkAt
    outcome: Decision | None = None
    becomes: str | None = None


class OutcomeCounts(NamedTuple):
    """How many links of a source were verified, modified and removed, and how many have no outcome."""

    verify: int
    modify: int
    remove: int
    open: int = 0

    @property
    def judged(self) -> int:
        """How many have an outcome."""
        return self.verify + self.modify + self.remove

    @property
    def rate(self) -> float | None:
        """The verification rate: the share of the judged links that were verified; None without any."""
        return self.verify / self.judged if self.judged else None


def outcome_counts(links: Iterable[JudgedLink]) -> OutcomeCounts:
    """The outcomes of some links."""
    found = [link.outcome for link in links]
    return OutcomeCounts(*(found.count(each) for each in (*OUTCOMES, None)))


class PosthocReading(NamedTuple):
    """What is counted as right after the fact.

    `edited`: the union has links as they were modified, too, and not only those that were verified. `greedy`: its size
    is the number of links that overlap no other one, taken from the left. `pooled`: a link is right if the union has
    its entity on an overlapping span, whatever its own judge said; else if it was verified itself. `finished`: only
    passages in which all links of all sources have an outcome.
    """

    says: str
    edited: bool = False
    greedy: bool = False
    pooled: bool = False
    finished: bool = False


READINGS: Final[Mapping[str, PosthocReading]] = {
    "paper": PosthocReading("as the paper defines it: verified links only"),
    "code": PosthocReading("as its program computes it: verified and modified links", True, True, True, True),
}


class PosthocCounts(NamedTuple):
    """How many links of a source are right, how many it gave, and how many there are in the union."""

    right: int
    given: int
    union: int

    @property
    def precision(self) -> float | None:
        """Right out of given; None where nothing was given."""
        return self.right / self.given if self.given else None

    @property
    def recall(self) -> float | None:
        """Right out of the union; None where it is empty. As coded it can be above 1, for what overlaps counts once."""
        return self.right / self.union if self.union else None

    @property
    def f1(self) -> float | None:
        """Twice the right out of given and union together."""
        return 2 * self.right / (self.given + self.union) if self.given + self.union else None


def read_as(links: Sequence[JudgedLink], reading: PosthocReading) -> list[JudgedLink]:
    """The links that a reading looks at."""
    judged = [link for link in links if link.outcome is not None]
    if not reading.finished:
        return judged
    open_ = {(link.shown.document, link.passage) for link in links if link.outcome is None}
    return [link for link in judged if (link.shown.document, link.passage) not in open_]


def accepted(link: JudgedLink, reading: PosthocReading) -> LinkAt | None:
    """What a link adds to the union, if anything."""
    if link.outcome is Decision.VERIFY:
        return link.shown
    if link.outcome is Decision.MODIFY and reading.edited and link.becomes is not None:
        return link.shown._replace(entity=link.becomes)
    return None


def verification_union(links: Sequence[JudgedLink], reading: PosthocReading) -> frozenset[LinkAt]:
    """All links, from whatever source, that judges accepted; the same link is in it once."""
    found = (accepted(link, reading) for link in read_as(links, reading))
    return frozenset(link for link in found if link is not None)


def union_size(union: Iterable[LinkAt], reading: PosthocReading) -> int:
    """How many links a union counts for."""
    return len(apart(union)) if reading.greedy else len(set(union))


def apart(union: Iterable[LinkAt]) -> list[LinkAt]:
    """Links none of which overlaps another: from the left, of those that begin together the longest."""
    kept: list[LinkAt] = []
    for link in sorted(set(union), key=lambda one: (one.document, one.start, -one.end, one.entity)):
        if not kept or kept[-1].document != link.document or link.start >= kept[-1].end:
            kept.append(link)
    return kept


def posthoc(links: Sequence[JudgedLink], source: str, reading: PosthocReading) -> PosthocCounts:
    """Posthoc precision and recall of one source among all."""
    union = verification_union(links, reading)
    own = [link for link in read_as(links, reading) if link.source == source]
    return PosthocCounts(sum(_right(own, union, reading)), len(own), union_size(union, reading))


def _right(own: Sequence[JudgedLink], union: frozenset[LinkAt], reading: PosthocReading) -> list[bool]:
    if not reading.pooled:
        return [link.outcome is Decision.VERIFY for link in own]
    return met([link.shown for link in own], union, weak=True)


def met(links: Sequence[LinkAt], among: Iterable[LinkAt], *, weak: bool) -> list[bool]:
    """Whether each link is among others: the same entity on the same span, or if `weak` on one that overlaps."""
    if not weak:
        known = set(among)
        return [link in known for link in links]
    by_entity = defaultdict(list)
    for link in among:
        by_entity[link.document, link.entity].append(link)
    return [any(link.overlaps(one) for one in by_entity.get((link.document, link.entity), ())) for link in links]


def before(links: Sequence[JudgedLink], source: str, gold: str, *, weak: bool = True) -> PosthocCounts:
    """What a source scores against the gold standard as it was, on the links that were shown.

    The program behind the paper matches weakly, though the paper speaks of exact matching; both can be had.
    """
    own = [link.shown for link in links if link.source == source]
    golden = [link.shown for link in links if link.source == gold]
    return PosthocCounts(sum(met(own, golden, weak=weak)), len(own), len(golden))


class Intervals(NamedTuple):
    """What a score may be in similar data; None where it cannot be said."""

    precision: Interval | None
    recall: Interval | None


def posthoc_intervals(
    links: Sequence[JudgedLink],
    source: str,
    reading: PosthocReading,
    *,
    unit: DrawnUnit = "document",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Intervals:
    """Percentile intervals of posthoc precision and recall, from samples of documents or of single annotations.

    The program behind the paper draws annotations, for precision and recall apart, and gives 90 % where the paper says
    95 %. Annotations of one document are not independent of each other, so that documents say more.
    """
    if unit == "annotation":
        found = posthoc(links, source, reading)
        sizes = found.given, found.union
        return Intervals(*(_share(found.right, size, level, resamples, seed) for size in sizes))
    sums = resampled_totals(_by_document(links, source, reading), resamples, seed)
    return Intervals(*(_ratio(sums[:, 0], sums[:, column], level) for column in (1, 2)))


def _share(part: int, whole: int, level: float, resamples: int, seed: int) -> Interval | None:
    if not whole > 0 or part > whole:  # more than all is no share of anything
        return None
    ones = np.concatenate([np.ones(part), np.zeros(whole - part)])[:, None]
    return interval(resampled_totals(ones, resamples, seed)[:, 0] / whole, level)


def _ratio(part: Floats, whole: Floats, level: float) -> Interval | None:
    some = whole > 0
    return interval(part[some] / whole[some], level) if some.any() else None


def _by_document(links: Sequence[JudgedLink], source: str, reading: PosthocReading) -> Floats:
    """One row per document: right, given and union."""
    used = read_as(links, reading)
    union = verification_union(links, reading)
    place = {document: row for row, document in enumerate(dict.fromkeys(link.shown.document for link in used))}
    sums = np.zeros((len(place), 3))
    own = [link for link in used if link.source == source]
    for link, right in zip(own, _right(own, union, reading), strict=True):
        sums[place[link.shown.document], :2] += right, 1
    for one in apart(union) if reading.greedy else union:
        sums[place[one.document], 2] += 1
    return sums


class OverlapKind(StrEnum):
    """How a link stands to the links of another source; the first that holds."""

    SAME = "same span, same entity"
    SPAN = "same span, other entity"
    ENTITY = "overlapping span, same entity"
    OVERLAP = "overlapping span, other entity"
    ALONE = "no overlap"


def overlap_kinds(links: Iterable[LinkAt], others: Iterable[LinkAt]) -> dict[OverlapKind, int]:
    """How many of some links stand how to those of another source."""
    there = defaultdict(list)
    for one in others:
        there[one.document].append(one)
    found = [_kind(link, [one for one in there.get(link.document, ()) if link.overlaps(one)]) for link in links]
    return {kind: found.count(kind) for kind in OverlapKind}


def _kind(link: LinkAt, near: Sequence[LinkAt]) -> OverlapKind:
    spans = [one for one in near if (one.start, one.end) == (link.start, link.end)]
    if spans:
        return OverlapKind.SAME if any(one.entity == link.entity for one in spans) else OverlapKind.SPAN
    if any(one.entity == link.entity for one in near):
        return OverlapKind.ENTITY
    return OverlapKind.OVERLAP if near else OverlapKind.ALONE


class MissingShare(NamedTuple):
    """How many accepted links overlap nothing in the gold standard, out of how many."""

    missing: int
    union: int

    @property
    def share(self) -> float | None:
        """The share; None without any accepted link."""
        return self.missing / self.union if self.union else None


def missing_from_gold(links: Sequence[JudgedLink], gold: str, reading: PosthocReading) -> MissingShare:
    """The accepted links that the gold standard has nothing for."""
    union = verification_union(links, reading)
    golden = [link.shown for link in links if link.source == gold]
    return MissingShare(overlap_kinds(union, golden)[OverlapKind.ALONE], len(union))
