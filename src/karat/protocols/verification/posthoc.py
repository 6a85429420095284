"""Posthoc scores from judgements: verification rates, the verification union, posthoc precision and recall.

Ding, Botzer and Weninger, Posthoc Verification and the Fallibility of the Ground Truth. The definition in the paper and
its program differ. `VARIANTS` has both, and reports name the variant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from karat.model.output.json_files import JsonRecord
from karat.model.results.statistics import ratio
from karat.model.tables.columns import Floats
from karat.protocols.verification.judgements import OUTCOMES, Decision
from karat.stats.samples.additive import AdditiveScore
from karat.stats.samples.bootstrap import Interval
from karat.stats.samples.confidence_intervals import bootstrap_intervals

ResamplingUnit: TypeAlias = Literal["annotation", "document"]
"""Unit that is resampled for intervals."""

_TOLERANCE: Final = 1e-12  # an interval of less width says that the variance is unknown


class TextLink(NamedTuple):
    """A link in a document: document id, start and end offset, and entity."""

    document: str
    start: int
    end: int
    entity: str

    def overlaps(self, other: TextLink) -> bool:
        """Return whether both links share a character."""
        return self.document == other.document and self.start < other.end and other.start < self.end


class JudgedLink(NamedTuple):
    """A link of a source with its outcome."""

    source: str
    """Name of the source."""
    passage_start: int
    """Start of the passage in which the link was shown."""
    link: TextLink
    """Link that was shown."""
    outcome: Decision | None = None
    """Outcome; None while judgements are missing, and for a tie."""
    becomes: str | None = None
    """Entity after the judgement; None if the link is removed, and for an undecided tie on the new entity."""
    is_tied: bool = False
    """Whether all required judges have judged the link without a majority, and the lead has not decided."""
    is_lead_decision: bool = False
    """Whether the link has an outcome because the lead decided; not if judges agreed to modify it, and the lead chose
    the entity."""

    @property
    def is_final(self) -> bool:
        """Whether the link has an outcome and, if modified, a new entity."""
        return self.outcome is not None and (self.outcome is not Decision.MODIFY or self.becomes is not None)


class OutcomeCounts(NamedTuple):
    """Numbers of links by outcome; `undecided` are links that are not judged yet or tied."""

    verify: int
    modify: int
    remove: int
    undecided: int = 0

    @property
    def total(self) -> int:
        """Number of links with an outcome."""
        return self.verify + self.modify + self.remove

    @property
    def rate(self) -> float | None:
        """Verification rate: the share of judged links that were verified; None without any."""
        return self.verify / self.total if self.total else None


def count_outcomes(links: Iterable[JudgedLink]) -> OutcomeCounts:
    """Count links by outcome."""
    outcomes = [link.outcome for link in links]
    return OutcomeCounts(*(outcomes.count(outcome) for outcome in (*OUTCOMES, None)))


class PosthocVariant(NamedTuple):
    """A definition of posthoc scores. The union is the set of all links, from all sources, that judges accepted."""

    description: str
    """Description."""
    includes_modified: bool = False
    """Whether the union includes modified links, with their new entity, besides verified ones."""
    is_disjoint: bool = False
    """Whether the size of the union counts only links that do not overlap, taken from the left."""
    matches_union: bool = False
    """Whether a link is correct if the union has its entity on an overlapping span; else it must be verified itself."""
    needs_complete_passages: bool = False
    """Whether only passages count in which all links of all sources have an outcome, and modified ones an entity."""


VARIANTS: Final[Mapping[str, PosthocVariant]] = {
    "paper": PosthocVariant("as defined in the paper: verified links only"),
    "code": PosthocVariant("as computed by its program: verified and modified links", True, True, True, True),
}
"""Variants by name."""


class PosthocCounts(NamedTuple):
    """Counts behind posthoc precision and recall."""

    correct: int
    """Number of correct links of the source."""
    links: int
    """Number of links of the source."""
    union: int
    """Size of the union."""

    @property
    def precision(self) -> float | None:
        """`correct` / `links`; None without links."""
        return self.correct / self.links if self.links else None

    @property
    def recall(self) -> float | None:
        """`correct` / `union`; None for an empty union.

        The variant `code` can exceed 1, since overlapping links of the union count once.
        """
        return self.correct / self.union if self.union else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; None if both are undefined."""
        return 2 * self.correct / (self.links + self.union) if self.links + self.union else None


def select_links(links: Sequence[JudgedLink], variant: PosthocVariant) -> list[JudgedLink]:
    """Return the judged links that count in a variant.

    If the variant needs complete passages, links in passages with any link that is not final are dropped.
    """
    return [links[index] for index in select_indices(links, variant)]


def select_indices(links: Sequence[JudgedLink], variant: PosthocVariant) -> list[int]:
    """Return the indices of the links that `select_links` returns."""
    judged = [index for index, link in enumerate(links) if link.outcome is not None]
    if not variant.needs_complete_passages:
        return judged
    incomplete = {(link.link.document, link.passage_start) for link in links if not link.is_final}
    return [index for index in judged if (links[index].link.document, links[index].passage_start) not in incomplete]


def accepted_link(link: JudgedLink, variant: PosthocVariant) -> TextLink | None:
    """Return the link that a judged link adds to the union of accepted links; None if judges did not accept it.

    A modified link has its new entity.
    """
    if link.outcome is Decision.VERIFY:
        return link.link
    if link.outcome is Decision.MODIFY and variant.includes_modified and link.becomes is not None:
        return link.link._replace(entity=link.becomes)
    return None


def verification_union(links: Sequence[JudgedLink], variant: PosthocVariant) -> frozenset[TextLink]:
    """Return the union: all distinct links, from all sources, that judges accepted under a variant."""
    accepted = (accepted_link(link, variant) for link in select_links(links, variant))
    return frozenset(link for link in accepted if link is not None)


def union_size(union: Iterable[TextLink], variant: PosthocVariant) -> int:
    """Count the distinct links of a union; without overlapping ones if the variant is disjoint."""
    return len(remove_overlaps(union)) if variant.is_disjoint else len(set(union))


def remove_overlaps(union: Iterable[TextLink]) -> list[TextLink]:
    """Return the distinct links in text order without those that overlap an earlier one.

    Of links that start together the longest stays.
    """
    selected: list[TextLink] = []
    for link in sorted(set(union), key=lambda link: (link.document, link.start, -link.end, link.entity)):
        if not selected or selected[-1].document != link.document or link.start >= selected[-1].end:
            selected.append(link)
    return selected


def posthoc_counts(links: Sequence[JudgedLink], source: str, variant: PosthocVariant) -> PosthocCounts:
    """Count correct links, links and the size of the union, for posthoc precision and recall of one source."""
    union = verification_union(links, variant)
    source_links = [link for link in select_links(links, variant) if link.source == source]
    return PosthocCounts(
        sum(_correct_mask(source_links, union, variant)), len(source_links), union_size(union, variant)
    )


def _correct_mask(links: Sequence[JudgedLink], union: frozenset[TextLink], variant: PosthocVariant) -> list[bool]:
    """Return for each link whether it is correct under a variant.

    Either the link was verified itself, or the union has its entity on an overlapping span.
    """
    if not variant.matches_union:
        return [link.outcome is Decision.VERIFY for link in links]
    return match_links([link.link for link in links], union, weak=True)


def match_links(links: Sequence[TextLink], candidates: Iterable[TextLink], *, weak: bool) -> list[bool]:
    """Return for each link whether `candidates` has it: same document, entity and span (`weak`: overlapping span)."""
    if not weak:
        candidate_set = set(candidates)
        return [link in candidate_set for link in links]
    by_entity = defaultdict(list)
    for link in candidates:
        by_entity[link.document, link.entity].append(link)
    return [
        any(link.overlaps(candidate) for candidate in by_entity.get((link.document, link.entity), ())) for link in links
    ]


def original_counts(links: Sequence[JudgedLink], source: str, gold: str, *, weak: bool = True) -> PosthocCounts:
    """Count matches of a source with the original gold standard on the links that were shown; ignore judgements.

    `union` of the result is the number of gold links. The program behind the paper matches overlapping spans (`weak`),
    though the paper says exact matching.
    """
    source_links = [link.link for link in links if link.source == source]
    gold_links = [link.link for link in links if link.source == gold]
    return PosthocCounts(sum(match_links(source_links, gold_links, weak=weak)), len(source_links), len(gold_links))


class PosthocIntervals(NamedTuple):
    """Confidence intervals of precision and recall.

    None if the score is undefined, if it depends on fewer than two documents, or if all samples give the same value.
    """

    precision: Interval | None
    recall: Interval | None


class IntervalSettings(NamedTuple):
    """How intervals are computed."""

    unit: ResamplingUnit = "document"
    """Unit that is resampled. The program behind the paper resamples annotations. Annotations of one document are not
    independent, so documents are the better unit."""
    confidence: float = 0.95
    """Confidence level. The program behind the paper uses 0.9, though the paper says 95 %."""
    resamples: int = 1000
    """Number of bootstrap samples; 0 for no intervals."""
    seed: int = 0
    """Random seed."""


def posthoc_intervals(
    links: Sequence[JudgedLink],
    source: str,
    variant: PosthocVariant,
    *,
    unit: ResamplingUnit = "document",
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> PosthocIntervals:
    """Return percentile intervals of posthoc precision and recall; see `IntervalSettings` for the parameters.

    As in `karat score --ci`, intervals are wider for few documents.
    """
    rows = _count_by_document(links, source, variant)
    return _compute_intervals(rows, IntervalSettings(unit, confidence, resamples, seed))


def original_intervals(
    links: Sequence[JudgedLink], source: str, gold: str, settings: IntervalSettings, *, weak: bool = True
) -> PosthocIntervals:
    """Return percentile intervals of precision and recall against the original gold standard; see `original_counts`."""
    source_links = [link.link for link in links if link.source == source]
    gold_links = [link.link for link in links if link.source == gold]
    is_correct = match_links(source_links, gold_links, weak=weak)
    return _compute_intervals(_sum_by_document(source_links, is_correct, gold_links), settings)


def _compute_intervals(rows: Floats, settings: IntervalSettings) -> PosthocIntervals:
    """Return the intervals of precision and recall from correct links, links and expected links, a row per document."""
    if not settings.resamples:
        return PosthocIntervals(None, None)
    if settings.unit == "document":
        precision = AdditiveScore(rows, _divide_columns, lambda rows: rows[:, [0, 1]])
        recall = AdditiveScore(rows, _divide_columns, lambda rows: rows[:, [0, 2]])
        return PosthocIntervals(_bootstrap(precision, settings), _bootstrap(recall, settings))
    correct, *sizes = rows.sum(axis=0).astype(np.int64).tolist()
    return PosthocIntervals(*(share_interval(correct, size, settings) for size in sizes))


def share_interval(part: int, whole: int, settings: IntervalSettings) -> Interval | None:
    """Return the bootstrap interval of `part` / `whole`, resampling `whole` cases; None if undefined or above 1."""
    if not whole > 0 or part > whole:  # a ratio above 1 is no share
        return None
    return _bootstrap(
        AdditiveScore(np.column_stack([np.arange(whole) < part, np.ones(whole)]), _divide_columns), settings
    )


def _bootstrap(score: AdditiveScore, settings: IntervalSettings) -> Interval | None:
    """Return the interval of a score; None if it depends on fewer than two rows, or if all samples are equal."""
    (interval,) = bootstrap_intervals(
        [score], resamples=settings.resamples, seed=settings.seed, confidence=settings.confidence
    )
    return None if interval is None or interval.high - interval.low < _TOLERANCE else interval


def _divide_columns(totals: Floats) -> Floats:
    """Return the first column divided by the second; NaN where the second is zero."""
    return ratio(totals[:, 0], totals[:, 1])


def _count_by_document(links: Sequence[JudgedLink], source: str, variant: PosthocVariant) -> Floats:
    """Return one row per document with counted links: correct links and links of the source, and links of the union."""
    selected = select_links(links, variant)
    union = verification_union(links, variant)
    source_links = [link for link in selected if link.source == source]
    return _sum_by_document(
        [link.link for link in source_links],
        _correct_mask(source_links, union, variant),
        remove_overlaps(union) if variant.is_disjoint else union,
        dict.fromkeys(link.link.document for link in selected),
    )


def _sum_by_document(
    links: Sequence[TextLink],
    is_correct: Sequence[bool],
    expected: Collection[TextLink],
    documents: Iterable[str] | None = None,
) -> Floats:
    """Return one row per document: the numbers of correct links, of links and of expected links.

    `documents` are the documents that count; by default those with any link.
    """
    if documents is None:
        documents = dict.fromkeys(link.document for link in (*links, *expected))
    row_by_document = {document: row for row, document in enumerate(documents)}
    sums = np.zeros((len(row_by_document), 3))
    for link, correct in zip(links, is_correct, strict=True):
        sums[row_by_document[link.document], :2] += correct, 1
    for link in expected:
        sums[row_by_document[link.document], 2] += 1
    return sums


class OverlapKind(StrEnum):
    """Relation of a link to the links of another source; the first that applies."""

    SAME = "same span, same entity"
    SPAN = "same span, other entity"
    ENTITY = "overlapping span, same entity"
    OVERLAP = "overlapping span, other entity"
    ALONE = "no overlap"


def count_overlap_kinds(links: Iterable[TextLink], others: Iterable[TextLink]) -> dict[OverlapKind, int]:
    """Count `links` by their relation to the links of another source (`others`); every kind has a count."""
    others_by_document = defaultdict(list)
    for other in others:
        others_by_document[other.document].append(other)
    kinds = [
        _overlap_kind(link, [other for other in others_by_document.get(link.document, ()) if link.overlaps(other)])
        for link in links
    ]
    return {kind: kinds.count(kind) for kind in OverlapKind}


def _overlap_kind(link: TextLink, overlapping: Sequence[TextLink]) -> OverlapKind:
    """Return the relation of a link to the links of another source that overlap it."""
    same_span = [other for other in overlapping if (other.start, other.end) == (link.start, link.end)]
    if same_span:
        return OverlapKind.SAME if any(other.entity == link.entity for other in same_span) else OverlapKind.SPAN
    if any(other.entity == link.entity for other in overlapping):
        return OverlapKind.ENTITY
    return OverlapKind.OVERLAP if overlapping else OverlapKind.ALONE


class MissingShare(JsonRecord, frozen=True):
    """Share of accepted links without any overlapping gold link."""

    missing: int
    """Number of accepted links that overlap no gold link."""
    union: int
    """Number of distinct accepted links."""
    share: float | None
    """Share of accepted links that overlap no gold link; None without accepted links."""


def missing_share(links: Sequence[JudgedLink], gold: str, variant: PosthocVariant) -> MissingShare:
    """Count the accepted links (the union of a variant) that overlap no gold link that was shown."""
    union = verification_union(links, variant)
    gold_links = [link.link for link in links if link.source == gold]
    n_missing = count_overlap_kinds(union, gold_links)[OverlapKind.ALONE]
    return MissingShare(n_missing, len(union), n_missing / len(union) if union else None)


class LinkRoles(JsonRecord, frozen=True):
    """The links behind scores after verification under one variant, as indices of judged links."""

    counted: list[int]
    """Links that count: judged, and in a complete passage if the variant needs it."""
    correct: list[int]
    """Counted links that are correct."""
    union: list[int]
    """One link for each element of the union of accepted links."""
    missing: list[int]
    """One link for each accepted link that overlaps no gold link."""


def find_roles(links: Sequence[JudgedLink], gold: str, variant: PosthocVariant) -> LinkRoles:
    """Return which of the judged links are behind the scores of all sources under a variant."""
    counted, union = select_indices(links, variant), verification_union(links, variant)
    is_correct = _correct_mask([links[index] for index in counted], union, variant)
    gold_links: dict[str, list[TextLink]] = defaultdict(list)
    for link in links:
        if link.source == gold:
            gold_links[link.link.document].append(link.link)
    missing = {accepted for accepted in union if not any(map(accepted.overlaps, gold_links[accepted.document]))}
    return LinkRoles(
        counted,
        [index for index, correct in zip(counted, is_correct, strict=True) if correct],
        find_union(links, variant),
        _find_accepted(links, counted, variant, missing),
    )


def find_union(links: Sequence[JudgedLink], variant: PosthocVariant) -> list[int]:
    """Return the indices of links that make the union of accepted links, one for each of its elements."""
    union = verification_union(links, variant)
    elements = set(remove_overlaps(union) if variant.is_disjoint else union)
    return _find_accepted(links, select_indices(links, variant), variant, elements)


def _find_accepted(
    links: Sequence[JudgedLink], counted: Iterable[int], variant: PosthocVariant, wanted: set[TextLink]
) -> list[int]:
    """Return the index of the first counted link for each of the accepted links that are `wanted`."""
    first: dict[TextLink, int] = {}
    for index in counted:
        accepted = accepted_link(links[index], variant)
        if accepted is not None and accepted in wanted:
            first.setdefault(accepted, index)
    return sorted(first.values())


class PairScores(JsonRecord, frozen=True):
    """The union of accepted links of two sources, and the recall of each source in it."""

    union: int
    """Size of the union."""
    recall_a: float | None
    """Recall of the first source; None for an empty union, while links of either source are open, and in a campaign
    that shows only some links."""
    recall_b: float | None
    """Recall of the second source; None as for the first."""


class PairMeasures(JsonRecord, frozen=True):
    """How the links of two sources compare: union, verification rates and recall."""

    source_a: str
    """First source."""
    source_b: str
    """Second source."""
    posthoc: Mapping[str, PairScores]
    """Union and recall by variant."""
    rate: float | None
    """Share of the judged links of both sources that were verified; None without any."""
    shared: int
    """Number of links that both sources have: same span and entity."""
    shared_rate: float | None
    """Share of verified links among the shared ones, judged for either source."""
    agreement: float | None
    """Share of the shared links with the same outcome for both sources; None without outcomes."""
    rate_only_a: float | None
    """Share of verified links among those that only the first source has."""
    rate_only_b: float | None
    """Share of verified links among those that only the second source has."""


def measure_pair(links: Sequence[JudgedLink], source_a: str, source_b: str) -> PairMeasures:
    """Compare two sources, of which `links` must have all links; further sources do not count."""
    pair = [link for link in links if link.source in (source_a, source_b)]
    links_a, links_b = ({link.link: link for link in pair if link.source == name} for name in (source_a, source_b))
    shared = [(links_a[link], links_b[link]) for link in links_a.keys() & links_b.keys()]
    decided = [(first, second) for first, second in shared if first.outcome is not None and second.outcome is not None]
    is_complete = all(link.outcome is not None or link.is_tied for link in pair)
    posthoc = {}
    for name, variant in VARIANTS.items():
        counts_a, counts_b = (posthoc_counts(pair, source, variant) for source in (source_a, source_b))
        recalls = (counts_a.recall, counts_b.recall) if is_complete else (None, None)
        posthoc[name] = PairScores(counts_a.union, *recalls)
    return PairMeasures(
        source_a=source_a,
        source_b=source_b,
        posthoc=posthoc,
        rate=count_outcomes(pair).rate,
        shared=len(shared),
        shared_rate=count_outcomes(link for both in shared for link in both).rate,
        agreement=sum(_have_same_outcome(*both) for both in decided) / len(decided) if decided else None,
        rate_only_a=count_outcomes(link for text, link in links_a.items() if text not in links_b).rate,
        rate_only_b=count_outcomes(link for text, link in links_b.items() if text not in links_a).rate,
    )


def _have_same_outcome(first: JudgedLink, second: JudgedLink) -> bool:
    """Return whether two judged links have the same outcome, and if modified, the same new entity."""
    return (first.outcome, first.becomes) == (second.outcome, second.becomes)
