"""All that a campaign says: outcomes, posthoc scores beside those before, agreement, quality and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from karat.verification.campaign import Campaign
from karat.verification.decisions import Judgement
from karat.verification.outcomes import (
    JudgeAgreement,
    JudgeQuality,
    JudgingTimes,
    MachineAgreement,
    agreement,
    beside_people,
    judged_links,
    qualities,
    selected,
    times,
)
from karat.verification.posthoc import (
    READINGS,
    DrawnUnit,
    Intervals,
    JudgedLink,
    MissingShare,
    OutcomeCounts,
    OverlapKind,
    PosthocCounts,
    before,
    missing_from_gold,
    outcome_counts,
    overlap_kinds,
    posthoc,
    posthoc_intervals,
)


@dataclass(frozen=True)
class SourceMeasures:
    """One source: how many links it has, in how many tasks, how many are shown, what became of them, and scores.

    `before` are scores against the gold standard as it was, `strong` and `weak`; `posthoc` and `intervals` are by
    reading, and `kinds` say how its links stand to those of each other source.
    """

    source: str
    links: int
    tasks: int
    shown: int
    outcomes: OutcomeCounts
    before: Mapping[str, PosthocCounts]
    posthoc: Mapping[str, PosthocCounts]
    intervals: Mapping[str, Intervals]
    kinds: Mapping[str, Mapping[OverlapKind, int]]


@dataclass(frozen=True)
class Verification:
    """All measures of one campaign; `judged_by` is `people` or the name of a machine, `left_out` what did not count.

    `added` is how many links judges added, which the overlay takes up.
    """

    name: str
    dataset: str
    documents: int
    judged_by: str
    unit: DrawnUnit
    level: float
    resamples: int
    sources: tuple[SourceMeasures, ...]
    missing: Mapping[str, MissingShare]
    agreement: JudgeAgreement
    machines: tuple[MachineAgreement, ...]
    judges: tuple[JudgeQuality, ...]
    times: JudgingTimes
    left_out: Mapping[str, int]
    added: int
    not_shown: Mapping[str, Mapping[str, int]]


def verification(
    campaign: Campaign,
    records: Sequence[Judgement],
    *,
    machine: str | None = None,
    unit: DrawnUnit = "document",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Verification:
    """Measure a campaign by what people said, or by what one machine said."""
    chosen = selected(campaign.of_kind("verify"), records, machine)
    links = judged_links(campaign, chosen.said)
    machines = list(dict.fromkeys(one.machine for one in records if one.machine is not None))
    people = links if machine is None else judged_links(campaign, selected(campaign, records).said)
    terms = campaign.terms

    def measured(source: str) -> SourceMeasures:
        own = [link for link in links if link.source == source]
        counts = terms.counts.get(source, {})
        drawn = {"unit": unit, "level": level, "resamples": resamples, "seed": seed}
        return SourceMeasures(
            source,
            counts.get("links", 0),
            counts.get("tasks", 0),
            len(own),
            outcome_counts(own),
            {how: before(links, source, terms.gold, weak=how == "weak") for how in ("strong", "weak")},
            {name: posthoc(links, source, reading) for name, reading in READINGS.items()},
            {
                name: posthoc_intervals(links, source, reading, **drawn) if resamples else Intervals(None, None)  # type: ignore[arg-type]
                for name, reading in READINGS.items()
            },
            {other: _kinds(links, source, other) for other in terms.sources if other != source},
        )

    return Verification(
        name=terms.name,
        dataset=terms.dataset,
        documents=terms.documents,
        judged_by=machine or "people",
        unit=unit,
        level=level,
        resamples=resamples,
        sources=tuple(map(measured, terms.sources)),
        missing={name: missing_from_gold(links, terms.gold, reading) for name, reading in READINGS.items()},
        agreement=agreement(campaign, chosen.said),
        machines=tuple(
            beside_people(name, people, judged_links(campaign, selected(campaign, records, name).said))
            for name in machines
        ),
        judges=tuple(qualities(campaign, records)),
        times=times(chosen.said),
        left_out=chosen.left_out,
        added=len(chosen.added),
        not_shown={
            source: {what: count for what, count in counts.items() if what not in ("links", "shown", "tasks")}
            for source, counts in terms.counts.items()
        },
    )


def _kinds(links: Sequence[JudgedLink], one: str, other: str) -> Mapping[OverlapKind, int]:
    return overlap_kinds(
        [link.shown for link in links if link.source == one], [link.shown for link in links if link.source == other]
    )
