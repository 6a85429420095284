"""What judges found, as `karat verify report` prints and writes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from karat.fitting import counted, wrapped
from karat.pages.files import Written, line
from karat.pages.tables import aligned

if TYPE_CHECKING:
    from karat.stats.samples.bootstrap import Interval
    from karat.verification.measures import SourceMeasures, Verification
    from karat.verification.posthoc import PosthocCounts


class PosthocScore(Written, frozen=True):
    """Right, given and expected links, with precision and recall; None where nothing can be divided."""

    right: int
    given: int
    expected: int
    precision: float | None
    recall: float | None
    f1: float | None
    precision_interval: tuple[float, float] | None = None
    recall_interval: tuple[float, float] | None = None


class SourceOutcomes(Written, frozen=True):
    """One source: its links, tasks, those shown, what became of them, and its scores before and after.

    `overlaps` says how its links stand to those of each other source.
    """

    source: str
    links: int
    tasks: int
    shown: int
    verified: int
    modified: int
    removed: int
    open: int
    verification_rate: float | None
    before: Mapping[str, PosthocScore]
    posthoc: Mapping[str, PosthocScore]
    overlaps: Mapping[str, Mapping[str, int]]
    not_shown: Mapping[str, int]


class MissingLinks(Written, frozen=True):
    """Accepted links that the gold standard has nothing for, out of all accepted ones."""

    missing: int
    union: int
    share: float | None


class AgreementOfTwo(Written, frozen=True):
    """How far two judges agree on links that both judged: the share of the same outcome, and Cohen's kappa."""

    one: str
    two: str
    items: int
    same: float
    kappa: float | None


class AgreementOfJudges(Written, frozen=True):
    """How far judges agree on links that two or more judged; `machine` names the one that is beside people.

    `pairs` are any two who judged the same link.
    """

    items: int
    same: float | None
    kappa: float | None
    alpha: float | None
    machine: str | None = None
    pairs: tuple[AgreementOfTwo, ...] = ()


class QualityOfJudge(Written, frozen=True):
    """How one judge did."""

    judge: str
    machine: str | None
    judgements: int
    controls: int
    controls_right: int
    passing: str
    median_seconds: float | None


class VerificationFile(Written, frozen=True):
    """What `karat verify report --json` writes, one object for each campaign."""

    layout: Literal["karat-verification/1"]
    campaign: str
    dataset: str
    documents: int
    judged_by: str
    interval_unit: str
    interval_level: float
    resamples: int
    sources: tuple[SourceOutcomes, ...]
    missing_from_gold: Mapping[str, MissingLinks]
    agreement: AgreementOfJudges
    machines: tuple[AgreementOfJudges, ...]
    judges: tuple[QualityOfJudge, ...]
    seconds: tuple[float | None, float | None, float | None]
    left_out: Mapping[str, int]
    added: int = 0


def json_of(found: Iterable[Verification]) -> bytes:
    """All of it, a line for each campaign."""
    return b"".join(line(file_of(one)) for one in found)


def file_of(one: Verification) -> VerificationFile:
    """All that a campaign says, as it is written."""
    return VerificationFile(
        layout="karat-verification/1",
        campaign=one.name,
        dataset=one.dataset,
        documents=one.documents,
        judged_by=one.judged_by,
        interval_unit=one.unit,
        interval_level=one.level,
        resamples=one.resamples,
        sources=tuple(_source(source, one.not_shown.get(source.source, {})) for source in one.sources),
        missing_from_gold={name: MissingLinks(*own, own.share) for name, own in one.missing.items()},
        agreement=AgreementOfJudges(
            *one.agreement[:4], pairs=tuple(AgreementOfTwo(*own) for own in one.agreement.pairs)
        ),
        machines=tuple(AgreementOfJudges(own.items, own.same, own.kappa, None, own.machine) for own in one.machines),
        judges=tuple(QualityOfJudge(*own) for own in one.judges),
        seconds=one.times[1:],
        left_out=one.left_out,
        added=one.added,
    )


def _source(one: SourceMeasures, not_shown: Mapping[str, int]) -> SourceOutcomes:
    verified, modified, removed, still_open = one.outcomes
    return SourceOutcomes(
        source=one.source,
        links=one.links,
        tasks=one.tasks,
        shown=one.shown,
        verified=verified,
        modified=modified,
        removed=removed,
        open=still_open,
        verification_rate=one.outcomes.rate,
        before={name: _score(own) for name, own in one.before.items()},
        posthoc={name: _score(own, *one.intervals[name]) for name, own in one.posthoc.items()},
        overlaps={other: {kind.value: count for kind, count in own.items()} for other, own in one.kinds.items()},
        not_shown=not_shown,
    )


def _score(counts: PosthocCounts, precision: Interval | None = None, recall: Interval | None = None) -> PosthocScore:
    return PosthocScore(*counts, counts.precision, counts.recall, counts.f1, precision, recall)


def page(found: Sequence[Verification], *, details: bool = False, width: int | None = None) -> str:
    """All of it, as people read it: a page for each campaign, and totals where there are several."""
    pages = [_page(one, details, width) for one in found]
    if len(found) > 1:
        pages.append(_totals(found, width))
    return "\n\n".join(pages) + "\n"


def _page(one: Verification, details: bool, width: int | None) -> str:
    head = f"{one.name}: {one.dataset}, {counted(one.documents, 'document')}, judged by {one.judged_by}"
    blocks = [head, aligned(_outcomes(one.sources), width=width), aligned(_scores(one), width=width), _legend(one)]
    if details:
        blocks.append(aligned(_kinds(one), (0, 1), width=width))
        blocks.append(aligned(_judges(one), (0, 1), width=width))
        if one.agreement.pairs:
            blocks.append(aligned(_pairs(one), (0, 1), width=width))
    blocks.append("\n".join(_notes(one)))
    return wrapped("\n\n".join(blocks), width)


def _outcomes(sources: Iterable[SourceMeasures]) -> list[list[str]]:
    head = ["source", "links", "tasks", "shown", "verified", "modified", "removed", "open", "rate"]
    return [
        head,
        *(
            [one.source, *map(str, (one.links, one.tasks, one.shown, *one.outcomes)), _percent(one.outcomes.rate)]
            for one in sources
        ),
    ]


def _scores(one: Verification) -> list[list[str]]:
    """Precision and recall before and after the fact, as in the paper's Figure 3."""
    head = ["in percent", "before: P", "R", "paper: P", "R", "code: P", "R"]
    return [
        head,
        *(
            [
                source.source,
                _percent(source.before["weak"].precision),
                _percent(source.before["weak"].recall),
                *(
                    _percent(value, bounds)
                    for name, own in source.posthoc.items()
                    for value, bounds in zip((own.precision, own.recall), source.intervals[name], strict=True)
                ),
            ]
            for source in one.sources
        ),
    ]


def _legend(one: Verification) -> str:
    unions = ", ".join(f"{own.union} links by {name}" for name, own in one.missing.items())
    drawn = f" In brackets: {100 * one.level:g} % intervals from {one.resamples} samples of {one.unit}s."
    return (
        "before: against the gold standard as it was (same entity, overlapping span). paper: verified links only, as "
        "the paper defines it. code: modified links too, and whatever any judge "
        "accepted, in passages that are judged wholly, as its program computes it. "
        f"The union has {unions}.{drawn * bool(one.resamples)}"
    )


def _kinds(one: Verification) -> list[list[str]]:
    kinds = list(next(iter(one.sources[0].kinds.values()), {}))
    head = ["links of", "beside", *(kind.value for kind in kinds)]
    rows = [
        [source.source, other, *map(str, own.values())] for source in one.sources for other, own in source.kinds.items()
    ]
    return [head, *rows]


def _judges(one: Verification) -> list[list[str]]:
    head = ["judge", "is", "judgements", "controls right", "of", "test", "seconds"]
    rows = [
        [
            own.judge,
            f"the machine {own.machine}" if own.machine else "a person",
            *map(str, (own.judgements, own.right, own.controls)),
            own.passing,
            "–" if own.seconds is None else f"{own.seconds:.1f}",
        ]
        for own in one.judges
    ]
    return [head, *rows]


def _pairs(one: Verification) -> list[list[str]]:
    head = ["judge", "and", "links", "the same", "Cohen's kappa"]
    return [
        head,
        *([own.one, own.two, str(own.items), _percent(own.same), _number(own.kappa)] for own in one.agreement.pairs),
    ]


def _notes(one: Verification) -> list[str]:
    agreed = one.agreement
    notes = [
        f"missing from the gold: {own.missing} of {own.union} links accepted by {name} ({_percent(own.share)} %)"
        for name, own in one.missing.items()
    ]
    notes.append(
        f"agreement on {counted(agreed.items, 'link')} that two or more judged: the same {_percent(agreed.same)} %, "
        f"Fleiss' kappa {_number(agreed.kappa)}, Krippendorff's alpha {_number(agreed.alpha)}"
        if agreed.items
        else "agreement: no link was judged by two people"
    )
    notes += [
        f"machine {own.machine} beside people on {counted(own.items, 'link')}: the same {_percent(own.same)} %, "
        f"Cohen's kappa {_number(own.kappa)}"
        for own in one.machines
    ]
    people = Counter(own.passing for own in one.judges if own.machine is None)
    notes.append(f"judges: {', '.join(f'{count} {passing}' for passing, count in people.items()) or 'none'}")
    if one.times.timed:
        low, middle, high = (f"{second:.1f}" for second in one.times[1:])
        notes.append(f"seconds per judgement: median {middle}, quartiles {low} and {high}")
    if one.added:
        notes.append(f"judges added {counted(one.added, 'link')}: karat verify overlay takes up what overlaps nothing")
    notes += [f"judgements not counted: {count} {why}" for why, count in one.left_out.items()]
    notes += [
        f"{source}: {count} not shown: {why}" for source, own in one.not_shown.items() for why, count in own.items()
    ]
    return notes


def _totals(found: Sequence[Verification], width: int | None) -> str:
    """Outcomes by source over all campaigns, summed by their names."""
    rows: dict[str, Counter[str]] = {}
    for one in found:
        for source in one.sources:
            own = rows.setdefault(source.source, Counter())
            own.update({"judged": source.outcomes.judged, **source.outcomes._asdict()})
    head = ["all campaigns", "judged", "verified", "modified", "removed", "rate"]
    body = [
        [
            source,
            *(str(own[what]) for what in ("judged", "verify", "modify", "remove")),
            _percent(own["verify"] / own["judged"] if own["judged"] else None),
        ]
        for source, own in rows.items()
    ]
    return aligned([head, *body], width=width)


def _percent(value: float | None, bounds: Interval | None = None) -> str:
    if value is None:
        return "–"
    return f"{100 * value:.1f}" + ("" if bounds is None else f" [{100 * bounds.low:.1f}, {100 * bounds.high:.1f}]")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
