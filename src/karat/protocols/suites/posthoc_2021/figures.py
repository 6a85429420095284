"""Figure 3, precision and recall before and after verification, and Figure 4, outcomes, from the logged counts.

Of precision and recall, each is computed from the number of correct links that the other implies. So a logged value
that does not fit the counts would differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.model.results.plot import Plot
from karat.protocols.suites.posthoc_2021.intervals import fits_level
from karat.protocols.suites.posthoc_2021.published_tables import (
    COMMAND,
    JUDGED_FILES,
    LOGGED_TABLE_1,
    N_RESAMPLES,
    OUTCOMES,
    SOURCES,
    TABLE_1_COLUMNS,
    TOTAL_OUTCOMES,
    AfterRow,
    parse_after,
    parse_groups,
)
from karat.protocols.verification.plots import ScorePoint, plot_outcomes, plot_scores
from karat.protocols.verification.posthoc import IntervalSettings, OutcomeCounts, PosthocCounts, share_interval
from karat.stats.samples.bootstrap import Interval
from karat.systems.claims.posthoc_2021 import BEFORE, parse_rows

DATASETS: Final = tuple(dataset for dataset, _ in parse_rows(OUTCOMES))
"""The datasets in the order of the table."""

_SYSTEMS: Final = SOURCES[1:]
_REPORT: Final = "karat verify report CAMPAIGN.sqlite --ci-unit annotation --confidence"
_OWN_CAMPAIGN: Final = "karat verify report gives the same for a campaign of your own, CAMPAIGN.sqlite."


def count_shown(dataset: str, source: str) -> int:
    """Return the number of annotations of a source that were shown, from the log."""
    cells = dict(parse_rows(LOGGED_TABLE_1))[dataset]
    return int(cells[TABLE_1_COLUMNS.index(f"Verified Annotations {source}")])


def logged_before() -> dict[tuple[str, str], tuple[float, float]]:
    """Return the logged precision and recall before verification, by dataset and system."""
    rows = {}
    for dataset, cells in parse_rows(BEFORE):
        scores = list(map(float, cells))
        for i, system in enumerate(_SYSTEMS):
            rows[dataset, system] = (scores[2 * i], scores[2 * i + 1])
    return rows


def counts_before(dataset: str, system: str) -> PosthocCounts:
    """Return the counts before verification: matches with the ground truth, links, and links of the ground truth."""
    precision, _ = logged_before()[dataset, system]
    links = count_shown(dataset, system)
    return PosthocCounts(round(precision * links), links, count_shown(dataset, "GT"))


def counts_after(dataset: str, source: str) -> PosthocCounts:
    """Return the counts after verification: links that match the union, links, and the size of the union.

    The log has no size of the union; it follows from precision, recall and links of another source.
    """
    rows = parse_after()
    row, other = rows[dataset, source], rows[dataset, "REL" if source == "GT" else "GT"]
    union = round(other.precision * other.links / other.recall)
    return PosthocCounts(round(row.precision * row.links), row.links, union)


def outcome_counts() -> dict[tuple[str, str], OutcomeCounts]:
    """Return the logged outcomes by dataset and source."""
    return {
        (dataset, source): OutcomeCounts(*triple)
        for dataset, triples in parse_groups(OUTCOMES, 3).items()
        for source, triple in zip(SOURCES, triples, strict=True)
    }


def build_figure_3() -> Exhibit:
    """Return Figure 3: precision and recall before (left) and after verification (right), with intervals."""
    return Exhibit(
        name="Figure 3",
        title="Precision and recall before and after verification",
        command=f"{COMMAND} --figures figures\n{_REPORT} 0.95\n{_REPORT} 0.9",
        cells=(*_check_before(), *_check_after(), *_check_intervals()),
        plots=_draw_scores(),
        notes=(
            "The figure is a drawing; the published values are those that the paper's program logged.",
            "Precision is computed from the number of correct links that recall implies, and recall from that of "
            "precision.",
            "The logged values after verification are of an earlier stage of the collection. By the program, a link "
            "is correct if any judge accepted its entity on an overlapping span. By the text, precision is the "
            "verification rate of Figure 4.",
            "Before verification the program matches overlapping spans, though the text says exact matching.",
            _OWN_CAMPAIGN,
            f"The plots have 95 % intervals from {N_RESAMPLES:,} samples of annotations.",
        ),
    )


def _check_before() -> Iterator[Cell]:
    """Yield precision and recall of both systems before verification."""
    for (dataset, system), (precision, recall) in logged_before().items():
        counts = counts_before(dataset, system)
        implied = counts._replace(correct=round(recall * counts.union))
        yield _make_cell(f"{dataset}, {system}", "precision before", precision, implied.precision)
        yield _make_cell(f"{dataset}, {system}", "recall before", recall, counts.recall)


def _check_after() -> Iterator[Cell]:
    """Yield precision and recall of all sources after verification."""
    for (dataset, source), row in parse_after().items():
        counts = counts_after(dataset, source)
        implied = counts._replace(correct=round(row.recall * counts.union))
        yield _make_cell(f"{dataset}, {source}", "precision after", row.precision, implied.precision)
        yield _make_cell(f"{dataset}, {source}", "recall after", row.recall, counts.recall)


def _make_cell(row: str, column: str, published: float, value: float | None) -> Cell:
    """Return the cell of a logged score, with six digits."""
    text = "undefined" if value is None else f"{value:.6f}"
    return Cell(row, column, f"{published:.6f}", text, is_from_paper=True)


def _check_intervals() -> Iterator[Cell]:
    """Yield the intervals after verification at 95 %, which the paper says, and at 90 %, which the program computes."""
    for (dataset, source), row in parse_after().items():
        counts = counts_after(dataset, source)
        for measure, bounds, whole in list_bounds(row, counts):
            published = _format_interval(Interval(*bounds))
            ours = {level: _format_interval(_resample(counts.correct, whole, level)) for level in (0.95, 0.9)}
            yield Cell(
                f"{dataset}, {source}",
                f"95 % interval of {measure} after",
                published,
                ours[0.95],
                Explanation(
                    "slip in the paper",
                    "the interval is one of 90 %, from the 5th to the 95th percentile: its ends are among those that "
                    f"{N_RESAMPLES:,} random samples give at this level, and less probable at 95 %",
                    value_if_changed=ours[0.9],
                    is_equal_if_changed=fits_level(bounds, counts.correct, whole, 0.9, 0.95),
                ),
                is_equal=fits_level(bounds, counts.correct, whole, 0.95, 0.9),
                is_from_paper=True,
            )


def list_bounds(row: AfterRow, counts: PosthocCounts) -> list[tuple[str, tuple[float, float], int]]:
    """Return measure, logged ends of the interval and denominator for precision and recall of a source."""
    return [
        ("precision", row.precision_bounds, counts.links),
        ("recall", row.recall_bounds, counts.union),
    ]


def _resample(part: int, whole: int, confidence: float) -> Interval | None:
    """Return the bootstrap interval of a share over annotations, as `karat verify report` computes it."""
    return share_interval(part, whole, IntervalSettings("annotation", confidence, N_RESAMPLES))


def _format_interval(interval: Interval | None) -> str:
    """Return an interval with three digits; `none` for a missing one."""
    return "none" if interval is None else f"{interval.low:.3f}–{interval.high:.3f}"


def _draw_scores() -> tuple[Plot, ...]:
    """Return the four panels of Figure 3, with 95 % intervals."""
    before = {(dataset, system): counts_before(dataset, system) for dataset, system in logged_before()}
    order = (*SOURCES[1:], SOURCES[0])  # the same marks before and after: the ground truth has scores only after
    after_keys = sorted(parse_after(), key=lambda key: order.index(key[1]))
    after = {(dataset, source): counts_after(dataset, source) for dataset, source in after_keys}
    plots = []
    for measure in ("precision", "recall"):
        for when, counts in (("before", before), ("after", after)):
            points = [
                ScorePoint(
                    dataset,
                    source,
                    getattr(item, measure),
                    _resample(item.correct, item.links if measure == "precision" else item.union, 0.95),
                )
                for (dataset, source), item in counts.items()
            ]
            plots.append(plot_scores(f"{measure.capitalize()} {when} verification", measure, points))
    return tuple(plots)


def build_figure_4() -> Exhibit:
    """Return Figure 4: the 24 triples of outcomes, compared with the annotations in the files of judgements."""
    columns = ("verify", "edit", "remove")
    files = parse_groups(JUDGED_FILES, 2)
    cells = []
    for (dataset, source), counts in outcome_counts().items():
        linked, unlinked = files[dataset][SOURCES.index(source)]
        values = (linked - counts.modify, linked - counts.verify, unlinked)
        cells += [
            Cell(f"{dataset}, {source}", column, str(published), str(value), is_from_paper=True)
            for column, published, value in zip(columns, counts, values, strict=False)
        ]
    totals = [sum(item[i] for item in outcome_counts().values()) for i in range(3)]
    cells += [
        Cell("all", column, str(published), str(total), is_from_paper=True)
        for column, published, total in zip(columns, TOTAL_OUTCOMES, totals, strict=True)
    ]
    return Exhibit(
        name="Figure 4",
        title="Outcomes of the judgements",
        command=f"{COMMAND} --figures figures\nkarat verify report CAMPAIGN.sqlite",
        cells=tuple(cells),
        plots=plot_outcomes(outcome_counts()),
        notes=(
            "The figure is a drawing; the published values are the outcomes that the paper's program logged.",
            "The values follow from the files of judgements: verified and modified links have an entity there, removed "
            "links have none.",
            _OWN_CAMPAIGN,
        ),
    )
