"""Verification results, as text and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from karat.model.output.json_files import JsonFile, JsonRecord, build_record, encode_line
from karat.model.output.text_layout import format_count, wrap_text
from karat.protocols.verification.judgements import PEOPLE
from karat.protocols.verification.outcomes import JudgeAgreement, JudgeQuality
from karat.protocols.verification.posthoc import MissingShare, PairMeasures
from karat.protocols.verification.ties import TieCounts
from karat.render.tables import UNDEFINED, draw_text

if TYPE_CHECKING:
    from karat.protocols.verification.measures import SourceMeasures, SourceScores, Verification
    from karat.stats.samples.bootstrap import Interval


class PosthocRecord(JsonRecord, frozen=True):
    """Numbers of correct, predicted and expected links shown, with precision, recall and F1; null if undefined.

    An interval is null if fewer than two documents count, or if all samples give the same value.
    """

    correct: int
    predicted: int
    expected: int
    precision: float | None
    recall: float | None
    f1: float | None
    precision_interval: tuple[float, float] | None = None
    recall_interval: tuple[float, float] | None = None


class SourceRecord(JsonRecord, frozen=True):
    """One source: its links and tasks, their outcomes, and its scores before and after verification.

    `links_shown`: links shown to judges. `open`: links that still need judgements. `tied`: links that all required
    judges have judged without a majority, while the lead has not decided. `lead_decisions`: those that the lead
    decided. `original`: scores against the original gold. `posthoc`: scores after verification. `overlaps`: kinds
    of overlap with the links of each other source. `excluded_links`: links not shown, by reason.
    """

    source: str
    links: int
    tasks: int
    links_shown: int
    verified: int
    modified: int
    removed: int
    open: int
    verification_rate: float | None
    original: Mapping[str, PosthocRecord]
    posthoc: Mapping[str, PosthocRecord]
    overlaps: Mapping[str, Mapping[str, int]]
    excluded_links: Mapping[str, int]
    tied: int = 0
    lead_decisions: int = 0


class VerificationFile(JsonFile, frozen=True, tag="karat-verification/2"):
    """The output of `karat verify report --json`, one object per campaign.

    `links_shown`: links of all sources. `open`: those of them that still need judgements. `recall_undefined`: why
    posthoc recall is null for all sources; null if it is not. `scores_undefined`: why all scores before and after
    verification are null; null if they are not. `ties`: distinct links on which people are tied, also on the new
    entity or over several sources; null for an automatic judge. `seconds`: quartiles of the time per judgement that
    counts; `timed`: judgements with a known time; `too_short`: those in a time too short to be true. `pairs`:
    union, rates and recall of every two sources; empty if `scores_undefined`.
    """

    campaign: str
    dataset: str
    documents: int
    judged_by: str
    interval_unit: str
    confidence: float
    resamples: int
    sources: tuple[SourceRecord, ...]
    missing_from_gold: Mapping[str, MissingShare]
    agreement: JudgeAgreement
    machines: tuple[JudgeAgreement, ...]
    judges: tuple[JudgeQuality, ...]
    seconds: tuple[float | None, float | None, float | None]
    excluded: Mapping[str, int]
    additions: int = 0
    links_shown: int = 0
    open: int = 0
    recall_undefined: str | None = None
    scores_undefined: str | None = None
    pairs: tuple[PairMeasures, ...] = ()
    ties: TieCounts | None = None
    timed: int = 0
    too_short: int = 0


def to_json(verifications: Iterable[Verification]) -> bytes:
    """Encode each verification campaign as one JSON line."""
    return b"".join(encode_line(build_file(verification)) for verification in verifications)


def build_file(verification: Verification) -> VerificationFile:
    """Return the JSON record of a verification campaign."""
    return build_record(
        VerificationFile,
        verification,
        campaign=verification.name,
        interval_unit=verification.unit,
        sources=tuple(
            _build_source_record(source, verification.excluded_links.get(source.source, {}))
            for source in verification.sources
        ),
        seconds=(verification.times.low, verification.times.median, verification.times.high),
        timed=verification.times.n_timed,
        too_short=verification.times.n_fast,
        additions=verification.n_additions,
        open=verification.n_open,
        recall_undefined=verification.recall_reason,
        scores_undefined=verification.scores_reason,
    )


def _build_source_record(source: SourceMeasures, excluded_links: Mapping[str, int]) -> SourceRecord:
    """Return the JSON record of a source; `excluded_links`: number of links not shown to judges, by reason."""
    verified, modified, removed, _ = source.outcomes
    return build_record(
        SourceRecord,
        source,
        verified=verified,
        modified=modified,
        removed=removed,
        open=source.n_open,
        verification_rate=source.outcomes.rate,
        original={name: _build_posthoc_record(scores) for name, scores in source.original.items()},
        posthoc={name: _build_posthoc_record(scores) for name, scores in source.posthoc.items()},
        overlaps={
            other: {kind.value: count for kind, count in counts.items()} for other, counts in source.overlaps.items()
        },
        excluded_links=excluded_links,
        tied=source.n_tied,
        lead_decisions=source.n_lead_decisions,
    )


def _build_posthoc_record(scores: SourceScores) -> PosthocRecord:
    """Return the JSON record of counts with precision, recall and F1, and the intervals of precision and recall."""
    return PosthocRecord(*scores.counts, scores.precision, scores.recall, scores.f1, *scores.intervals)


def render_page(verifications: Sequence[Verification], *, details: bool = False, width: int | None = None) -> str:
    """Render the results of each verification campaign as text, and totals by source if there are several.

    `details`: whether to add overlaps between sources, and the quality and agreement of judges. `width`: columns to
    wrap at; None does not wrap.
    """
    pages = [_render_campaign(verification, details, width) for verification in verifications]
    if len(verifications) > 1:
        pages.append(_render_totals(verifications, width))
    return "\n\n".join(pages) + "\n"


def _render_campaign(verification: Verification, details: bool, width: int | None) -> str:
    """Render the outcomes, scores and notes of a campaign; with `details`, overlaps and judges too.

    `width`: columns to wrap at; None does not wrap.
    """
    documents = format_count(verification.documents, "document")
    head = (
        f"{verification.name}: {verification.dataset}, {documents}, judged by {verification.judged_by}, "
        f"{_format_progress(verification)}"
    )
    blocks = [
        head,
        draw_text(_build_outcome_rows(verification.sources), width=width),
        *([draw_text(_build_score_rows(verification), width=width)] if verification.scores_reason is None else []),
        _explain_scores(verification),
    ]
    if verification.pairs:
        blocks += [draw_text(_build_source_pair_rows(verification), width=width), _PAIR_LEGEND]
    if details:
        if verification.scores_reason is None:
            blocks.append(draw_text(_build_overlap_rows(verification), width=width))
        blocks.append(draw_text(_build_judge_rows(verification), (0, 1), width=width))
        if verification.agreement.pairs:
            blocks.append(draw_text(_build_pair_rows(verification), (0, 1), width=width))
    blocks.append("\n".join(_format_notes(verification)))
    return wrap_text("\n\n".join(blocks), width)


def _format_progress(verification: Verification) -> str:
    """Return how many of the links that were shown are judged."""
    total = verification.links_shown
    n_judged = total - verification.n_open
    if n_judged == total > 1:
        return f"all {format_count(total, 'link')} judged"
    return f"{n_judged:,} of {format_count(total, 'link')} judged ({_format_percent(n_judged / total)} %)"


def _build_outcome_rows(sources: Sequence[SourceMeasures]) -> list[list[str]]:
    """Return a table of the links of each source: tasks, links shown, outcomes and verification rate."""
    has_ties = any(source.n_tied for source in sources)
    head = [
        "source",
        "links",
        "tasks",
        "shown",
        "verified",
        "modified",
        "removed",
        *["tied"] * has_ties,
        "open",
        "rate",
    ]
    return [
        head,
        *(
            [
                source.source,
                *map(str, (source.links, source.tasks, source.links_shown, *source.outcomes[:3])),
                *[str(source.n_tied)] * has_ties,
                str(source.n_open),
                _format_percent(source.outcomes.rate),
            ]
            for source in sources
        ),
    ]


def _build_score_rows(verification: Verification) -> list[list[str]]:
    """Return a table of precision and recall before and after verification, as in Figure 3 of the paper."""
    head = ["in percent", "before: P", "R", "paper: P", "R", "code: P", "R"]
    return [
        head,
        *(
            [
                source.source,
                *(
                    _format_percent(value, bounds)
                    for scores in (source.original["weak"], *source.posthoc.values())
                    for value, bounds in zip((scores.precision, scores.recall), scores.intervals, strict=True)
                ),
            ]
            for source in verification.sources
        ),
    ]


def _explain_scores(verification: Verification) -> str:
    """Return the legend of the table of scores, or why there is none."""
    if verification.scores_reason is not None:
        return (
            f"No precision, recall and pairs of sources: {verification.scores_reason}, so the judgements cover no "
            "whole source. The rate is that of the links shown. For scores on all links, use karat verify overlay and "
            "karat score --overlay."
        )
    sentences = [
        "before: against the original gold standard (same entity, overlapping span).",
        "paper: verified links only, as the paper defines it.",
        "code: modified links too, and any link that a judge accepted, in passages where every link has an outcome "
        f"({_count_passages(verification)}{_explain_ties(verification)}), as the paper's code computes it.",
    ]
    if verification.recall_reason is not None:
        sentences.append(f"No recall after verification: {verification.recall_reason}.")
    else:
        unions = {name: scores.counts.union for name, scores in verification.sources[0].posthoc.items()}
        accepted = verification.missing_from_gold["code"].union
        sizes = ", ".join(f"{format_count(size, 'link')} by {name}" for name, size in unions.items())
        overlapping = f" ({accepted:,} accepted, but overlapping ones count once)" * (accepted != unions["code"])
        sentences.append(f"Recall divides by the union: {sizes}{overlapping}.")
    if verification.resamples:
        samples = f"{verification.resamples} samples of {verification.unit}s"
        sentences.append(f"In brackets: {100 * verification.confidence:g} % intervals from {samples}.")
        all_scores = [
            scores for source in verification.sources for scores in (source.original["weak"], *source.posthoc.values())
        ]
        if any(
            value is not None and bounds is None
            for scores in all_scores
            for value, bounds in zip((scores.precision, scores.recall), scores.intervals, strict=True)
        ):
            sentences.append(
                f"Without brackets: fewer than two {verification.unit}s count, all samples give the same value, or the "
                "value is above 100."
            )
    return " ".join(sentences)


def _explain_ties(verification: Verification) -> str:
    """Return that passages with undecided ties do not count; empty without such ties."""
    has_ties = any(link.is_tied or (link.outcome and not link.is_final) for link in verification.judged_links)
    return "; not those with ties" * has_ties


def _count_passages(verification: Verification) -> str:
    """Return how many passages have a final outcome for each link; an undecided tie is none."""
    passages = {(link.link.document, link.passage_start) for link in verification.judged_links}
    incomplete = {(link.link.document, link.passage_start) for link in verification.judged_links if not link.is_final}
    return f"{len(passages) - len(incomplete):,} of {len(passages):,}"


def _build_source_pair_rows(verification: Verification) -> list[list[str]]:
    """Return a table of every two sources: union, verification rates, and recall in their union by the paper."""
    head = ["pair", "union", "rate", "recall A", "recall B", "shared", "rate", "agree", "rate: only A", "only B"]
    return [
        head,
        *(
            [
                f"{pair.source_a} + {pair.source_b}",
                str(pair.posthoc["paper"].union),
                _format_percent(pair.rate),
                _format_percent(pair.posthoc["paper"].recall_a),
                _format_percent(pair.posthoc["paper"].recall_b),
                str(pair.shared),
                *map(_format_percent, (pair.shared_rate, pair.agreement, pair.rate_only_a, pair.rate_only_b)),
            ]
            for pair in verification.pairs
        ),
    ]


_PAIR_LEGEND = (
    "Pairs of sources A + B, in percent. union: distinct links that judges verified. shared: links with the same span "
    "and entity in both. agree: shared links with the same outcome for both sources."
)


def _build_overlap_rows(verification: Verification) -> list[list[str]]:
    """Return a table of the links of each source by kind of overlap with each other source."""
    kinds = list(next(iter(verification.sources[0].overlaps.values()), {}))
    head = ["links of → compared with", *(kind.value for kind in kinds)]
    rows = [
        [f"{source.source} → {other}", *map(str, counts.values())]
        for source in verification.sources
        for other, counts in source.overlaps.items()
    ]
    return [head, *rows]


def _build_judge_rows(verification: Verification) -> list[list[str]]:
    """Return a table of the judges: number of judgements, results on control tasks, and median seconds."""
    head = ["judge", "type", "judgements", "correct controls", "of", "test", "seconds"]
    rows = [
        [
            quality.judge,
            f"machine {quality.machine}" if quality.machine else "person",
            *map(str, (quality.judgements, quality.correct_controls, quality.controls)),
            _format_control_result(quality),
            UNDEFINED if quality.median_seconds is None else f"{quality.median_seconds:.1f}",
        ]
        for quality in verification.judges
    ]
    return [head, *rows]


def _format_control_result(quality: JudgeQuality) -> str:
    """Return the result of a judge's controls; of an automatic judge with the number of failed batches."""
    if quality.machine is None or not quality.failed_batches:
        return quality.control_result
    return f"{quality.control_result} ({quality.failed_batches} of {format_count(quality.batches, 'batch', 'batches')})"


def _build_pair_rows(verification: Verification) -> list[list[str]]:
    """Return a table of the agreement of each two judges."""
    head = ["judge", "and", "links", "observed", "Cohen's kappa"]
    return [
        head,
        *(
            [pair.judge_a, pair.judge_b, str(pair.items), _format_percent(pair.observed), _format_number(pair.kappa)]
            for pair in verification.agreement.pairs
        ),
    ]


def _format_notes(verification: Verification) -> list[str]:
    """Return notes on missing links, agreement, judges, times and excluded judgements and links, one line each."""
    agreement = verification.agreement
    notes = [
        f"missing from the gold: {item.missing} of {item.union} distinct links accepted by {name}"
        f"{' so far' * bool(verification.n_open)} ({_format_percent(item.share)} %)"
        for name, item in verification.missing_from_gold.items()
    ]
    notes.append(
        f"agreement on {format_count(agreement.items, 'link')} that two or more judged "
        f"({format_count(agreement.judgements or 0, 'judgement')}, the last of each judge on a link): all agree on "
        f"{_format_percent(agreement.observed)} %, "
        f"Fleiss' kappa {_format_number(agreement.kappa)}, Krippendorff's alpha {_format_number(agreement.alpha)}"
        if agreement.items
        else "agreement: no link has two judgements"
    )
    notes += [
        f"machine {item.machine} and people on {format_count(item.items, 'link')}: the same "
        f"{_format_percent(item.observed)} %, "
        f"Cohen's kappa {_format_number(item.kappa)}"
        if item.items
        else f"machine {item.machine} and people: no link has judgements of both that count"
        for item in verification.machines
    ]
    if verification.ties is not None and verification.ties.links:
        advice = " (decide them: karat verify ties)" * bool(verification.ties.undecided)
        notes.append(f"ties of judges: {verification.ties}{advice}")
    people = Counter(item.control_result for item in verification.judges if item.machine is None)
    notes.append(f"judges: {', '.join(f'{count} {passing}' for passing, count in people.items()) or 'none'}")
    notes += _describe_untested(verification)
    if verification.times.n_timed:
        times = verification.times
        low, middle, high = (f"{second:.1f}" for second in (times.low, times.median, times.high))
        notes.append(f"seconds per judgement that counts: median {middle}, quartiles {low} and {high}")
        if times.n_fast:
            notes.append(
                f"too short to be true: {times.n_fast:,} of the {times.n_timed:,} known times of judgements that count"
            )
    if verification.n_additions:
        notes.append(
            f"judges added {format_count(verification.n_additions, 'link')}. "
            "karat verify overlay adds those that overlap no label"
        )
    notes += [f"judgements excluded: {count} {reason}" for reason, count in verification.excluded.items()]
    notes += [
        f"{source}: {count} not shown: {reason}"
        for source, item in verification.excluded_links.items()
        for reason, count in item.items()
    ]
    return notes


def _describe_untested(verification: Verification) -> list[str]:
    """Return a note on the judgements that count though no control tested the judge; none without such judgements."""
    machine = None if verification.judged_by == PEOPLE else verification.judged_by
    n_by_result: Counter[str] = Counter()
    for item in verification.judges:
        if item.machine == machine and item.control_result != "failed":
            n_by_result[item.control_result] += item.judgements
    n_untested = n_by_result["not tested"]
    if not n_untested:
        return []
    return [f"judgements of judges whom no control tested: {n_untested:,} of {n_by_result.total():,}; they count"]


def _render_totals(verifications: Sequence[Verification], width: int | None) -> str:
    """Render the outcomes by source, summed over campaigns.

    `width`: columns to wrap at; None does not wrap.
    """
    rows: dict[str, Counter[str]] = {}
    for verification in verifications:
        for source in verification.sources:
            totals = rows.setdefault(source.source, Counter())
            totals.update({"judged": source.outcomes.total, **source.outcomes._asdict()})
    head = ["all campaigns", "judged", "verified", "modified", "removed", "rate"]
    body = [
        [
            source,
            *(str(totals[outcome]) for outcome in ("judged", "verify", "modify", "remove")),
            _format_percent(totals["verify"] / totals["judged"] if totals["judged"] else None),
        ]
        for source, totals in rows.items()
    ]
    return draw_text([head, *body], width=width)


def _format_percent(value: float | None, bounds: Interval | None = None) -> str:
    """Format a share in percent with its interval, if any; `–` for None."""
    if value is None:
        return "–"
    return f"{100 * value:.1f}" + ("" if bounds is None else f" [{100 * bounds.low:.1f}, {100 * bounds.high:.1f}]")


def _format_number(value: float | None) -> str:
    """Format a number with three digits; `–` for None."""
    return UNDEFINED if value is None else f"{value:.3f}"
