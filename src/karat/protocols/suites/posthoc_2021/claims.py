"""The claims of the posthoc paper, checked against the logged counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.protocols.papers.claims import build_lost_claim, mark_from_paper
from karat.protocols.suites.posthoc_2021.figures import (
    DATASETS,
    counts_after,
    counts_before,
    list_bounds,
    outcome_counts,
)
from karat.protocols.suites.posthoc_2021.intervals import is_plausible_end, is_plausible_interval
from karat.protocols.suites.posthoc_2021.published_tables import (
    COMMAND,
    LOGGED_TABLE_1,
    N_RESAMPLES,
    SHARED_VOTES,
    SOURCES,
    TABLE_1,
    TABLE_1_COLUMNS,
    TOTAL_ANNOTATIONS,
    UNION_KINDS,
    parse_after,
    parse_groups,
)
from karat.systems.claims.posthoc_2021 import parse_rows

_SYSTEMS: Final = SOURCES[1:]
_MAJORITY, _EVERY_DATASET = "on most datasets", "on all datasets"
_MAX_LAG: Final = 5
"""The largest difference, in points, by which a lower verification rate still counts as similar."""
_MIN_VERY_GOOD: Final = 0.9
"""The precision from which on Karat calls it very good."""
_MIN_DISAGREEMENT: Final = 0.1
"""The share of links with different judgements from which on Karat calls disagreement substantial."""


def build_contributions() -> Exhibit:
    """Return the three findings that the introduction lists."""
    shares = [kinds[-1] / sum(kinds) for (kinds,) in parse_groups(UNION_KINDS, 5).values()]
    low, high = min(shares), max(shares)
    votes = [group for (group,) in parse_groups(SHARED_VOTES, 4).values()]
    n_different = sum(sum(group[1:3]) for group in votes)
    n_shared = sum(map(sum, votes))
    return Exhibit(
        name="Main Contributions",
        title="Findings in the introduction",
        command=COMMAND,
        cells=mark_from_paper(
            (
                _check_similar(),
                _check_rates("verification rate of the EL models above that of the ground truth", _SYSTEMS),
                Cell(
                    "shared links on which judges disagree",
                    "claim",
                    "substantial",
                    f"{100 * n_different / n_shared:.1f} %",
                    is_equal=n_different / n_shared >= _MIN_DISAGREEMENT,
                ),
                Cell(
                    "verified links that are missing from the ground truth",
                    "claim",
                    "10%-70%",
                    f"{100 * low:.1f} % to {100 * high:.1f} %",
                    is_equal=(round(low, 1), round(high, 1)) == (0.1, 0.7),
                ),
            )
        ),
        notes=(
            f"A verification rate is similar if it is at most {_MAX_LAG} points lower.",
            "Missing are accepted links, verified or modified, that overlap no link of the ground truth. The range is "
            "equal to the printed one if both ends are rounded to tens.",
            f"Judges of {n_shared:,} links that all three sources have disagree if some verified the link and some did "
            f"not. Substantial is a share of at least {100 * _MIN_DISAGREEMENT:.0f} %.",
        ),
    )


def build_collection() -> Exhibit:
    """Return the claims about the data collection."""
    total, n_shown = _sum_columns(LOGGED_TABLE_1, "Annotations"), _sum_columns(LOGGED_TABLE_1, "Verified")
    verified = sum(counts.verify for counts in outcome_counts().values())
    raw = Explanation("data missing", "the records of workers are lost", missing_file="download_db2disk.tar.gz")
    return Exhibit(
        name="Data collection",
        title="Claims about the collection of judgements",
        command=COMMAND,
        cells=mark_from_paper(
            (
                Cell("annotations in all", "claim", f"{TOTAL_ANNOTATIONS:,}", f"{total:,}"),
                Cell(
                    "verified annotations in Table 1, in all",
                    "claim",
                    f"{_sum_columns(TABLE_1, 'Verified'):,}",
                    f"{verified:,}",
                    Explanation(
                        "slip in the paper",
                        "the column counts the annotations that were shown to workers, as the log of tasks does",
                        value_if_changed=f"{n_shown:,}",
                    ),
                ),
                Cell("payment for each HIT", "claim", "3 USD", None, raw),
                Cell("payment in all", "claim", "6,520 USD", None, raw),
                Cell("payment of an hour", "claim", "about 9 USD", None, raw),
                Cell("tasks of each annotator", "claim", "20", None, raw),
                Cell("control annotations of each annotator", "claim", "3", None, raw),
            )
        ),
    )


def _sum_columns(table: str, title: str) -> int:
    """Return the sum of the columns of Table 1, printed or logged, whose titles begin with `title`."""
    return sum(
        int(cell.removesuffix("*"))
        for _, cells in parse_rows(table)
        for column, cell in zip(TABLE_1_COLUMNS, cells, strict=True)
        if column.startswith(title)
    )


def build_union() -> Exhibit:
    """Return the claim that sources repeat each other's links, so that some links are judged several times."""
    shared = {dataset: sum(votes) for dataset, (votes,) in parse_groups(SHARED_VOTES, 4).items()}
    accepted = {dataset: sum(kinds) for dataset, (kinds,) in parse_groups(UNION_KINDS, 5).items()}
    shares = [shared[dataset] / accepted[dataset] for dataset in DATASETS]
    return Exhibit(
        name="Verification Union",
        title="Claims about links that sources share",
        command=COMMAND,
        cells=mark_from_paper(
            [
                Cell(
                    "annotations that match exactly across models are judged repeatedly",
                    "claim",
                    "on all datasets",
                    f"{sum(shared.values()):,} links",
                    is_equal=all(shared.values()),
                )
            ]
        ),
        notes=(
            f"All three sources have {100 * min(shares):.0f} to {100 * max(shares):.0f} % as many links in common as "
            "the union of accepted links has, by dataset.",
        ),
    )


def build_results() -> Exhibit:
    """Return the claims about scores before and after verification."""
    return Exhibit(
        name="Posthoc Verification Results",
        title="Claims about scores before and after verification",
        command=COMMAND,
        cells=mark_from_paper(
            (
                _check_level(),
                build_lost_claim(
                    "scores of E2E and REL before verification, compared with those in their papers",
                    "nearly identical",
                    "the paper does not quote the reported scores",
                    "the papers of Kolitsas et al. (2018) and van Hulst et al. (2020)",
                ),
                _check_increase("precision"),
                _check_high_precision(),
                _check_increase("recall"),
                _check_rates("verification rate of E2E above that of the ground truth", ("E2E",)),
                _check_rates("verification rate of REL above that of the ground truth", ("REL",)),
                *(_check_recall(systems) for systems in (("E2E",), ("REL",))),
            )
        ),
        notes=(
            "Scores after verification are those of the program, at the stage of the collection that it logged.",
            f"Very good is a precision of at least {_MIN_VERY_GOOD}.",
            "The text states the lead of the models over the ground truth for both models together; REL has it in no "
            "reading of verification rate that was tried: final counts, modified links counted as verified "
            f"({_count_leads(_accepted_rates(), ['REL'])[0]} of {len(DATASETS)}), and the counts of Figure 3.",
        ),
    )


def build_error_analysis() -> Exhibit:
    """Return the claims about outcomes."""
    counts = outcome_counts()
    n_linking = sum(item.modify > item.remove for item in counts.values())
    n_ahead, n_ahead_before = (_count_leads(rates, ["E2E"])[0] for rates in (_final_rates(), _figure_3_rates()))
    return Exhibit(
        name="Error Analysis of the Ground Truth",
        title="Claims about outcomes",
        command=COMMAND,
        cells=mark_from_paper(
            (
                Cell(
                    "E2E consistently outperforms the ground truth (Figure 4)",
                    "claim",
                    _EVERY_DATASET,
                    f"on {n_ahead} of {len(DATASETS)}",
                    _explain_stage(_describe(n_ahead_before, len(DATASETS))),
                    is_equal=n_ahead == len(DATASETS),
                ),
                Cell(
                    "most errors are modified links, not removed ones",
                    "claim",
                    "the majority",
                    f"in {n_linking} of {len(counts)} triples",
                    is_equal=n_linking > len(counts) / 2,
                ),
            )
        ),
    )


def _final_rates() -> dict[tuple[str, str], float]:
    """Return the verification rates of Figure 4 by dataset and source."""
    return {key: counts.rate or 0.0 for key, counts in outcome_counts().items()}


def _accepted_rates() -> dict[tuple[str, str], float]:
    """Return the shares of verified or modified links by dataset and source."""
    counts = outcome_counts()
    return {
        key: (item.verify + item.modify) / (item.verify + item.modify + item.remove) for key, item in counts.items()
    }


def _figure_3_rates() -> dict[tuple[str, str], float]:
    """Return the precision after verification of Figure 3 by dataset and source."""
    return {key: row.precision for key, row in parse_after().items()}


def _count_leads(rates: Mapping[tuple[str, str], float], systems: Iterable[str]) -> tuple[int, int]:
    """Return in how many comparisons of `systems` with the ground truth their rate is higher, and of how many."""
    leads = [rates[dataset, system] > rates[dataset, "GT"] for system in systems for dataset in DATASETS]
    return sum(leads), len(leads)


def _check_rates(row: str, systems: tuple[str, ...]) -> Cell:
    """Return whether `systems` have a higher verification rate than the ground truth on most datasets."""
    part, whole = _count_leads(_final_rates(), systems)
    holds = _describe(part, whole) in (_MAJORITY, _EVERY_DATASET)
    explanation = _explain_stage(_describe(*_count_leads(_figure_3_rates(), systems)))
    return Cell(row, "claim", _MAJORITY, f"on {part} of {whole}", None if holds else explanation, holds)


def _explain_stage(value: str) -> Explanation:
    """Return the earlier stage of the collection as the reason of a difference; by it the claim holds on `value`."""
    return Explanation(
        "definition differs",
        "the values are the final counts behind Figure 4; by the precision after verification of Figure 3, which the "
        f"program logged at an earlier stage of the collection, the systems are ahead {value}",
        value_if_changed=value,
    )


def _check_similar() -> Cell:
    """Return by how much the verification rates of the systems differ from that of the ground truth."""
    (value, is_similar), (earlier_value, is_similar_earlier) = map(_compare_rates, (_final_rates(), _figure_3_rates()))
    return Cell(
        "verification rate of the EL models, compared with the ground truth (abstract)",
        "claim",
        "similar or higher",
        value,
        replace(_explain_stage(earlier_value), is_equal_if_changed=is_similar_earlier),
        is_equal=is_similar,
    )


def _compare_rates(rates: Mapping[tuple[str, str], float]) -> tuple[str, bool]:
    """Return the range of differences of each system from the ground truth, and whether all are similar or higher."""
    gaps = {
        system: [100 * (rates[dataset, system] - rates[dataset, "GT"]) for dataset in DATASETS] for system in _SYSTEMS
    }
    texts = [f"{system} {min(values):+.1f} to {max(values):+.1f}" for system, values in gaps.items()]
    return f"by {', '.join(texts)} points", min(map(min, gaps.values())) >= -_MAX_LAG


def _describe(part: int, whole: int) -> str:
    """Return on how many of `whole` datasets or comparisons something holds."""
    return _EVERY_DATASET if part == whole else _MAJORITY if part > whole / 2 else f"on {part} of {whole}"


def _check_increase(measure: str) -> Cell:
    """Return whether the scores of both systems are generally higher after verification than before."""
    rows = {
        (dataset, system): (
            getattr(counts_before(dataset, system), measure),
            getattr(counts_after(dataset, system), measure),
        )
        for system in _SYSTEMS
        for dataset in DATASETS
    }
    exceptions = [f"{system} on {dataset}" for (dataset, system), (before, after) in rows.items() if after <= before]
    n_higher = len(rows) - len(exceptions)
    return Cell(
        f"{measure} of E2E and REL before verification, compared with after",
        "claim",
        "lower",
        f"lower on {n_higher} of {len(rows)}{', not for ' * bool(exceptions)}{', '.join(exceptions)}",
        is_equal=n_higher > len(exceptions),
    )


def _check_high_precision() -> Cell:
    """Return whether the precision of both systems after verification is very good on all datasets."""
    values = [counts_after(dataset, system).precision or 0.0 for system in _SYSTEMS for dataset in DATASETS]
    return Cell(
        "precision of E2E and REL after verification",
        "claim",
        "very good across all datasets",
        f"{min(values):.2f} to {max(values):.2f}",
        is_equal=min(values) >= _MIN_VERY_GOOD,
    )


def _check_recall(systems: tuple[str, ...]) -> Cell:
    """Return whether a system finds more verified links than the ground truth has, by recall after verification."""
    leads = [
        (counts_after(dataset, system).recall or 0.0) > (counts_after(dataset, "GT").recall or 0.0)
        for system in systems
        for dataset in DATASETS
    ]
    return Cell(
        f"recall of {', '.join(systems)} after verification above that of the ground truth",
        "claim",
        _MAJORITY,
        f"on {sum(leads)} of {len(leads)}",
        is_equal=_describe(sum(leads), len(leads)) in (_MAJORITY, _EVERY_DATASET),
    )


def _check_level() -> Cell:
    """Return the confidence level that the logged ends of all intervals fit."""
    bounds = [
        (ends, counts.correct, whole)
        for (dataset, source), row in parse_after().items()
        for counts in [counts_after(dataset, source)]
        for _, ends, whole in list_bounds(row, counts)
    ]
    levels = [
        level
        for level in (0.8, 0.9, 0.95, 0.99)
        if all(is_plausible_interval(ends, part, whole, level) for ends, part, whole in bounds)
    ]
    ranks = [
        rank
        for rank in (0.9, 0.95, 0.975, 0.99)
        if all(is_plausible_end(high, part, whole, round(N_RESAMPLES * rank)) for (_, high), part, whole in bounds)
    ]
    return Cell(
        "confidence level of the error bars",
        "claim",
        "95 %",
        " or ".join(f"{100 * level:g} %" for level in levels) or "none",
        Explanation(
            "slip in the paper",
            "the upper ends are the 95th percentile of the samples, and the lower ends the 5th, so that the bars hold "
            "90 % of the samples",
            value_if_changed=" or ".join(f"{100 * rank:g} %" for rank in ranks),
        ),
    )
