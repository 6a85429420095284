"""All measures of a campaign: outcomes, original and posthoc scores, agreement, quality and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from karat.protocols.verification.campaign import Campaign, CampaignOptions
from karat.protocols.verification.judgements import PEOPLE, Judgement
from karat.protocols.verification.judging_times import JudgingTimes, collect_times, summarise_times
from karat.protocols.verification.outcomes import (
    JudgeAgreement,
    JudgeQuality,
    agreement_with_people,
    collect_judged_links,
    judge_agreement,
    judge_qualities,
    last_decisions,
    select_judgements,
)
from karat.protocols.verification.posthoc import (
    VARIANTS,
    IntervalSettings,
    JudgedLink,
    MissingShare,
    OutcomeCounts,
    OverlapKind,
    PairMeasures,
    PosthocCounts,
    PosthocIntervals,
    ResamplingUnit,
    TextLink,
    count_outcomes,
    count_overlap_kinds,
    measure_pair,
    missing_share,
    original_counts,
    original_intervals,
    posthoc_counts,
    posthoc_intervals,
)
from karat.protocols.verification.ties import TieCounts, count_ties, find_ties


class SourceScores(NamedTuple):
    """Precision, recall and F1 of one source, with the counts behind them."""

    counts: PosthocCounts
    """Numbers of correct, predicted and expected links."""
    precision: float | None
    """Precision; None if undefined, and in a campaign that shows only some links."""
    recall: float | None
    """Recall; None as for precision, and after verification while links are open."""
    f1: float | None
    """F1; None if precision or recall is None."""
    intervals: PosthocIntervals
    """Intervals of precision and recall."""

    @classmethod
    def from_counts(
        cls,
        counts: PosthocCounts,
        intervals: PosthocIntervals,
        *,
        has_precision: bool = True,
        has_recall: bool = True,
    ) -> SourceScores:
        """Compute the scores from counts.

        `has_precision`: whether the counts cover all links of the source. `has_recall`: whether the number of expected
        links is final too.
        """
        if not has_precision:
            return cls(counts, None, None, None, PosthocIntervals(None, None))
        if has_recall:
            return cls(counts, counts.precision, counts.recall, counts.f1, intervals)
        return cls(counts, counts.precision, None, None, intervals._replace(recall=None))


@dataclass(frozen=True)
class SourceMeasures:
    """Measures of one source."""

    source: str
    """Name of the source."""
    links: int
    """Number of links."""
    tasks: int
    """Number of tasks."""
    links_shown: int
    """Number of links that were shown."""
    outcomes: OutcomeCounts
    """Outcomes of the links."""
    n_tied: int
    """Number of links that all required judges have judged without a majority, and that the lead has not decided."""
    n_lead_decisions: int
    """Number of links without a majority that the lead has decided; they have an outcome."""
    original: Mapping[str, SourceScores]
    """Scores against the original gold standard, for `strong` and `weak` matching."""
    posthoc: Mapping[str, SourceScores]
    """Posthoc scores by variant."""
    overlaps: Mapping[str, Mapping[OverlapKind, int]]
    """By other source, the number of links by their relation to its links."""

    @property
    def n_open(self) -> int:
        """Number of links that still need judgements."""
        return self.outcomes.undecided - self.n_tied


@dataclass(frozen=True)
class Verification:
    """All measures of one campaign."""

    name: str
    """Name of the campaign."""
    dataset: str
    """Name of the dataset."""
    documents: int
    """Number of documents."""
    judged_by: str
    """`people`, or the name of an automatic judge."""
    unit: ResamplingUnit
    """Unit that is resampled for intervals."""
    confidence: float
    """Confidence level of intervals."""
    resamples: int
    """Number of bootstrap samples."""
    sources: tuple[SourceMeasures, ...]
    """Measures of each source."""
    pairs: tuple[PairMeasures, ...]
    """Union, rates and recall of every two sources; empty if the priority shows only some links."""
    missing_from_gold: Mapping[str, MissingShare]
    """Share of accepted links without gold link, by variant."""
    agreement: JudgeAgreement
    """Agreement of the judges."""
    machines: tuple[JudgeAgreement, ...]
    """Agreement of each automatic judge with people."""
    judges: tuple[JudgeQuality, ...]
    """Quality of each judge."""
    times: JudgingTimes
    """Seconds per judgement that counts."""
    excluded: Mapping[str, int]
    """Number of excluded judgements by reason."""
    n_additions: int
    """Number of links that judges added."""
    excluded_links: Mapping[str, Mapping[str, int]]
    """By source, the number of links that were not shown, by reason."""
    judged_links: tuple[JudgedLink, ...] = ()
    """All links that were shown outside controls, with their outcomes."""
    surfaces: tuple[str, ...] = ()
    """Text of each of these links."""
    agreed_links: Mapping[TextLink, bool] = field(default_factory=dict)
    """Links that two or more judges judged, from any source, and whether all of them agree."""
    digest: str = ""
    """Digest of the gold standard."""
    ties: TieCounts | None = None
    """Ties of people, each link once, as `find_ties` lists them; None for an automatic judge."""
    scores_reason: str | None = None
    """Reason why precision and recall are undefined for all sources, before and after; None if they are not."""

    @property
    def links_shown(self) -> int:
        """Number of links of all sources that were shown."""
        return sum(source.links_shown for source in self.sources)

    @property
    def n_open(self) -> int:
        """Number of links of all sources that still need judgements."""
        return sum(source.n_open for source in self.sources)

    @property
    def recall_reason(self) -> str | None:
        """Reason why posthoc recall is undefined for all sources; None if it is not."""
        if self.scores_reason is not None:
            return self.scores_reason
        if not self.n_open:
            return None
        return f"{self.n_open:,} of {self.links_shown:,} links are open, so the union of accepted links is not complete"


def measure_campaign(
    campaign: Campaign,
    records: Sequence[Judgement],
    *,
    machine: str | None = None,
    unit: ResamplingUnit = "document",
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Verification:
    """Compute all measures of a campaign from the judgements of people or, with `machine`, of one automatic judge.

    `records` has the judgements of all judges. With `resamples` 0 there are no intervals. Raise `UsageError` for a
    survey.

    Posthoc recall is undefined while any link of any source is open, because its denominator, the union of accepted
    links, needs the judgements on all sources. If the priority shows only some links, all that compares whole sources
    is undefined: scores before and after verification, overlaps, pairs of sources, and the share that the gold standard
    lacks.
    """
    options = campaign.options
    records_by_judges = {
        name: select_judgements(campaign.require_kind("verify"), records, name)
        for name in dict.fromkeys([None, machine, *(record.machine for record in records)])
    }
    links_by_judges = {
        name: collect_judged_links(campaign, selected, judges=None if name is None else 1)
        for name, selected in records_by_judges.items()
    }
    selected, links = records_by_judges[machine], links_by_judges[machine]
    settings = IntervalSettings(unit, confidence, resamples, seed)
    scores_reason = _explain_selection(options)
    has_all = scores_reason is None
    is_complete = all(link.outcome is not None or link.is_tied for link in links)

    def measure_source(source: str) -> SourceMeasures:
        """Compute the measures of one source."""
        source_links = [link for link in links if link.source == source]
        counts = options.counts.get(source, {})
        return SourceMeasures(
            source,
            counts.get("links", 0),
            counts.get("tasks", 0),
            len(source_links),
            count_outcomes(source_links),
            sum(link.is_tied for link in source_links),
            sum(link.is_lead_decision for link in source_links),
            {
                matching: SourceScores.from_counts(
                    original_counts(links, source, options.gold, weak=matching == "weak"),
                    original_intervals(links, source, options.gold, settings, weak=matching == "weak"),
                    has_precision=has_all,
                )
                for matching in ("strong", "weak")
            },
            {
                name: SourceScores.from_counts(
                    posthoc_counts(links, source, variant),
                    posthoc_intervals(links, source, variant, **settings._asdict()),
                    has_precision=has_all,
                    has_recall=is_complete,
                )
                for name, variant in VARIANTS.items()
            },
            {other: _count_overlaps(links, source, other) for other in options.sources if has_all and other != source},
        )

    return Verification(
        name=options.name,
        dataset=options.dataset,
        documents=options.documents,
        judged_by=machine or PEOPLE,
        unit=unit,
        confidence=confidence,
        resamples=resamples,
        sources=tuple(map(measure_source, options.sources)),
        pairs=tuple(
            measure_pair(links, first, second) for first, second in combinations(options.sources, 2) if has_all
        ),
        missing_from_gold={
            name: missing_share(links, options.gold, variant) for name, variant in VARIANTS.items() if has_all
        },
        agreement=judge_agreement(campaign, selected.judgements),
        machines=tuple(
            agreement_with_people(name, links_by_judges[None], machine_links)
            for name, machine_links in links_by_judges.items()
            if name is not None
        ),
        judges=tuple(judge_qualities(campaign, records)),
        times=summarise_times(selected.judgements, collect_times(campaign, records)),
        excluded=selected.excluded,
        n_additions=len(selected.additions),
        excluded_links={
            source: {reason: count for reason, count in counts.items() if reason not in ("links", "shown", "tasks")}
            for source, counts in options.counts.items()
        },
        judged_links=tuple(links),
        surfaces=tuple(task.surface(link) for task in campaign.tasks if not task.is_control for link in task.links),
        agreed_links={
            link: len({*decisions.values()}) == 1
            for link, decisions in last_decisions(campaign, selected.judgements).items()
            if len(decisions) > 1
        },
        digest=options.digest,
        ties=count_ties(find_ties(campaign, records)) if machine is None else None,
        scores_reason=scores_reason,
    )


def _explain_selection(options: CampaignOptions) -> str | None:
    """Return why the links of a campaign say nothing about whole sources; None if it shows all links."""
    if not options.n_unselected:
        return None
    n_links = sum(counts.get("links", 0) for counts in options.counts.values())
    return f"the priority {options.priority} does not show {options.n_unselected:,} of {n_links:,} links"


def _count_overlaps(links: Sequence[JudgedLink], source: str, other: str) -> Mapping[OverlapKind, int]:
    """Count the links of `source` by their relation to the links of `other`, such as same span and other entity."""
    return count_overlap_kinds(
        [link.link for link in links if link.source == source], [link.link for link in links if link.source == other]
    )
