"""Text, Markdown, LaTeX and JSON of `karat compare`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
import pyarrow as pa

from karat.analysis.comparison.compare import Comparison, Ranks
from karat.analysis.comparison.flips import DetectionStats, Flips
from karat.analysis.comparison.linking_loss import LinkingLosses
from karat.analysis.comparison.mean_usage import MeanUsage
from karat.analysis.comparison.means import Mean, MeanPair
from karat.analysis.comparison.options import ComparisonOptions
from karat.analysis.comparison.overfitting import OverfittingIndex
from karat.analysis.comparison.rank_sensitivity import RankSensitivity
from karat.analysis.comparison.samples import Estimate
from karat.analysis.comparison.significance import DatasetScores, SystemScore
from karat.analysis.comparison.similarity import JointCoverage, PairSimilarity, Similarity
from karat.analysis.comparison.similarity.pooled import PooledSimilarity
from karat.model.measure_name import parse_measure
from karat.model.output.control_chars import escape_json
from karat.model.output.json_files import JsonFile, JsonRecord, build_record, encode_line
from karat.model.output.text_layout import format_count
from karat.model.results.result import WARNING, IdHealth, format_id_health
from karat.model.results.usage import QUANTITIES
from karat.model.tables.arrow import Arrow
from karat.render.scores import emphasise_cells, find_best_indices
from karat.render.tables import UNDEFINED, DrawTable, Layout, describe_convention, format_percent, get_layout

_ORACLE = " oracle"
_MANY = 6  # names in a line


class SimilarityRecord(JsonRecord, frozen=True):
    """The similarity of two systems under one relation on a dataset, and the predictions of only one."""

    dataset: str
    system_a: str
    system_b: str
    relation: str
    macro: float | None
    micro: float | None
    only_a: int
    correct_a: int
    only_b: int
    correct_b: int
    documents: Mapping[str, float]
    """Similarity by document."""
    undefined: str | None


class MissedPairRecord(JsonRecord, frozen=True):
    """The number of gold mentions that both systems miss."""

    system_a: str
    system_b: str
    count: int


class CoverageRecord(JsonRecord, frozen=True):
    """The gold mentions that any or all systems find under one relation on a dataset."""

    dataset: str
    relation: str
    gold: int
    found_by_any: int
    found_by_all: int
    missed_by_all: int
    found_alone: Mapping[str, int]
    missed_together: tuple[MissedPairRecord, ...]
    oracle_recall: float | None


class ComparisonFile(JsonFile, frozen=True, tag="karat-comparison/2"):
    """The output of `karat compare --json`. Scores are shares; an undefined value is null with a reason."""

    measure: str
    profile: str
    systems: tuple[str, ...]
    titles: Mapping[str, str]
    datasets: tuple[DatasetScores, ...]
    excluded: Mapping[str, str]
    means: Mapping[str, Mean]
    pairs: tuple[MeanPair, ...]
    ranks: Ranks | None
    detection: Mapping[str, Mapping[str, DetectionStats]]
    flips: tuple[Flips, ...]
    overfitting: tuple[OverfittingIndex, ...]
    usage: Mapping[str, MeanUsage]
    similarity: tuple[SimilarityRecord, ...]
    sensitivity: RankSensitivity | None
    linking_loss: LinkingLosses | None
    id_health: Mapping[str, IdHealth]
    skipped: Mapping[str, Mapping[str, Mapping[str, int]]]
    notes: tuple[str, ...]
    options: ComparisonOptions
    signature: str
    averaged_datasets: tuple[str, ...]
    pooled_detection: Mapping[str, DetectionStats]
    coverage: tuple[CoverageRecord, ...]
    similarity_pooled: tuple[PooledSimilarity, ...]
    oracle_thresholds: Mapping[str, Mapping[str, Mapping[str, float | None]]]


def to_json(comparison: Comparison) -> bytes:
    """Encode a comparison as one line of JSON."""
    similarities = {} if comparison.similarity is None else comparison.similarity.datasets
    return encode_line(
        build_record(
            ComparisonFile,
            comparison,
            similarity=tuple(
                _build_similarity_record(pair, name)
                for name, similarity in similarities.items()
                for pair in similarity.pairs
            ),
            coverage=tuple(
                _build_coverage_record(group, name)
                for name, similarity in similarities.items()
                for group in similarity.coverage
            ),
            similarity_pooled=() if comparison.similarity is None else comparison.similarity.pooled,
            oracle_thresholds={
                name: similarity.thresholds for name, similarity in similarities.items() if similarity.oracle
            },
        )
    )


def encode_flips(comparison: Comparison) -> Iterator[bytes]:
    """Yield one JSON line per mention that some, but not all, systems get right."""
    encode = msgspec.json.Encoder().encode
    for dataset_mentions in comparison.mentions:
        for flip in dataset_mentions.flip_records():
            yield escape_json(encode(flip)) + b"\n"


def _build_similarity_record(pair: PairSimilarity, dataset: str) -> SimilarityRecord:
    """Return the JSON record of the similarity of two systems on a dataset."""
    scores = {"macro": pair.macro.value, "micro": pair.micro.value, "undefined": pair.micro.reason}
    return build_record(SimilarityRecord, pair, dataset=dataset, **scores)


def _build_coverage_record(group: JointCoverage, dataset: str) -> CoverageRecord:
    """Return the JSON record of the gold mentions that any or all systems find on a dataset."""
    missed_pairs = tuple(
        MissedPairRecord(system_a, system_b, count) for (system_a, system_b), count in group.missed_together.items()
    )
    return build_record(CoverageRecord, group, dataset=dataset, missed_together=missed_pairs)


def render_page(comparison: Comparison, layout: str | None, *, details: bool, width: int | None = None) -> str:
    """Render a comparison as text, Markdown, LaTeX or HTML.

    `layout`: key of `LAYOUTS`; None is the terminal. `details`: whether to add the tests of all pairs on each dataset,
    and full notes. `width`: columns of the terminal; None does not wrap.
    """
    page_layout = get_layout(layout, width)
    draw = page_layout.draw
    warnings = [note for note in comparison.notes if WARNING in note]
    remarks = [note for note in comparison.notes if WARNING not in note]
    blocks = page_layout.format_notes_block(warnings, details=True)
    blocks += [_format_headline(comparison), draw(_build_score_rows(comparison), {0})]
    if comparison.excluded:
        blocks.append(f"not averaged: {'; '.join(f'{name} ({why})' for name, why in comparison.excluded.items())}")
    blocks += _explain_undetectable(comparison)
    blocks.append(_explain_table(comparison))
    blocks.append(draw(_build_pair_rows(comparison), {0}) if _has_pairs(comparison) else _NO_PAIRS)
    blocks += [
        text
        for part in (
            _render_ranks,
            _render_linking_loss,
            _render_common_accuracy,
            _render_flips,
            _render_overfitting,
            _render_usage,
        )
        for text in part(comparison, draw)
    ]
    if comparison.similarity is not None:
        blocks += list(_render_similarities(comparison, draw))
    if comparison.sensitivity is not None:
        blocks += _render_sensitivity(comparison, page_layout, details=details)
    if details:
        blocks += [
            draw(_build_detail_rows(comparison, dataset), {0}) for dataset in comparison.datasets if dataset.pairs
        ]
    blocks += page_layout.format_notes_block(
        [*format_id_health(comparison.id_health.items()), *remarks], details=details
    )
    return page_layout.join([*blocks, page_layout.format_signatures(comparison.signature)])


def display(comparison: Comparison, layout: str) -> str:
    """Render a comparison for a notebook or paper in a layout of `LAYOUTS`, without the pairs on each dataset."""
    return render_page(comparison, layout, details=False)


def to_table(comparison: Comparison) -> Arrow:
    """Return an Arrow table with a row per dataset and system: score, interval, rank, runtime, tokens and cost."""
    rows = [
        {"dataset": dataset.name, "system": system, "measure": comparison.measure}
        | {name: getattr(score, name) for name in ("value", "low", "high", "rank", "differs_from_all", *QUANTITIES)}
        | {"undefined": score.reason, "oracle": score.is_oracle}
        for dataset in comparison.datasets
        for system, score in dataset.scores.items()
    ]
    return pa.Table.from_pylist(rows, schema=_FRAME)


_FRAME = pa.schema(
    [(name, pa.string()) for name in ("dataset", "system", "measure")]
    + [(name, pa.float64()) for name in ("value", "low", "high")]
    + [("rank", pa.int64()), ("differs_from_all", pa.bool_())]
    + [(name, pa.float64()) for name in QUANTITIES]
    + [("undefined", pa.string()), ("oracle", pa.bool_())]
)


def _format_headline(comparison: Comparison) -> str:
    """Return the heading of the page: systems, datasets, measure and confidence level."""
    names = [dataset.name for dataset in comparison.datasets]
    listed = ", ".join(names[:_MANY]) + (f" and {len(names) - _MANY} more" if len(names) > _MANY else "")
    confidence = 100 * (1 - comparison.options.alpha)
    group = parse_measure(comparison.measure).group
    title = None if group is None else comparison.value_titles.get(group[0], {}).get(group[1])
    group_text = f", {group[0]} {title}" if group is not None and title not in (None, group[1]) else ""
    return (
        f"{format_count(len(comparison.systems), 'system')} on {listed}: "
        f"{describe_convention(comparison.signature, comparison.measure)}{group_text}, "
        f"in percent, {confidence:g} % intervals{', rank in brackets' * _has_pairs(comparison)}"
    )


def _build_score_rows(comparison: Comparison) -> list[list[str]]:
    """Return the rows of the score table, datasets × systems in percent, with means and mean ranks below."""
    rows = [["dataset", "documents", "mentions", "detectable", *comparison.systems]]
    for dataset in comparison.datasets:
        scores = [dataset.scores.get(system) for system in comparison.systems]
        best_indices = find_best_indices(
            comparison.measure, [None if score is None else score.value for score in scores]
        )
        cells = emphasise_cells([_format_score(score) for score in scores], best_indices)
        mentions = UNDEFINED if dataset.mentions is None else f"{dataset.mentions:.0f}"
        detectable = UNDEFINED if dataset.detectable is None else f"{100 * dataset.detectable.median:.1f}"
        rows.append([dataset.name, str(dataset.documents), mentions, detectable, *cells])
    n_averaged = len(comparison.averaged_datasets)
    if n_averaged > 1:
        means = [comparison.means[system] for system in comparison.systems]
        lines = (
            ("unweighted", [mean.unweighted for mean in means]),
            ("by mentions", [mean.weighted for mean in means]),
        )
        marks = [
            _ORACLE * any(d.scores[s].is_oracle for d in comparison.datasets if d.is_averaged)
            for s in comparison.systems
        ]
        for name, values in lines:
            cells = [f"{_format_estimate(value)}{mark}" for value, mark in zip(values, marks, strict=True)]
            best_indices = find_best_indices(comparison.measure, [estimate.value for estimate in values])
            rows.append([f"mean of {n_averaged}, {name}", "", "", "", *emphasise_cells(cells, best_indices)])
    if comparison.ranks is not None:
        rows.append(
            ["mean rank", "", "", "", *(f"{comparison.ranks.means[system]:.2f}" for system in comparison.systems)]
        )
    return rows


def _format_score(score: SystemScore | None) -> str:
    """Format a score in percent with half the width of its interval, rank and oracle mark; `–` if undefined."""
    if score is None or score.value is None:
        return UNDEFINED
    rank = "" if score.rank is None else f" ({score.rank}{'*' * score.differs_from_all})"
    return f"{_format_half_width(score.value, score.low, score.high)}{rank}{_ORACLE * score.is_oracle}"


def _format_estimate(estimate: Estimate) -> str:
    """Format a mean in percent with half the width of its interval; `–` if undefined."""
    return UNDEFINED if estimate.value is None else _format_half_width(estimate.value, estimate.low, estimate.high)


def _format_half_width(value: float, low: float | None, high: float | None) -> str:
    """Format a value in percent, with half the width of its interval if there is one."""
    if low is None or high is None:
        return f"{100 * value:.1f}"
    return f"{100 * value:.1f} ±{50 * (high - low):.1f}"


_NO_PAIRS = "No dataset has predictions of two systems, so no difference is tested."


def _has_pairs(comparison: Comparison) -> bool:
    """Return whether any dataset has scores of two systems."""
    return any(len(dataset.scores) > 1 for dataset in comparison.datasets)


def _explain_table(comparison: Comparison) -> str:
    """Return the legend of the score table: intervals and, if systems share a dataset, ranks, tests and power."""
    options = comparison.options
    intervals = f"±: half the width of the interval from {options.resamples} bootstrap samples of documents."
    n_tests = sum(pair.p is not None for dataset in comparison.datasets for pair in dataset.pairs)
    is_oracle = any(score.is_oracle for dataset in comparison.datasets for score in dataset.scores.values())
    tests = (
        "rank: 1 + the number of significantly better systems. *: significantly different from all others.\n"
        f"{format_count(n_tests, 'test')}: {options.description}.\n"
        "detectable: the smallest difference in points that one test detects with a power of "
        f"{100 * options.power:g} %, median over pairs.\n"
    )
    oracle = "\noracle: the system or its threshold was selected on this dataset."
    return tests * _has_pairs(comparison) + intervals + oracle * is_oracle


def _explain_undetectable(comparison: Comparison) -> Iterator[str]:
    """Yield one text with the datasets on which no difference is detectable, and why; nothing if there are none."""
    reasons = {
        dataset.name: "; ".join(dict.fromkeys(pair.reason for pair in dataset.pairs if pair.reason))
        for dataset in comparison.datasets
        if dataset.pairs and dataset.detectable is None
    }
    if reasons:
        yield f"not detectable: {'; '.join(f'{name} ({why})' for name, why in reasons.items())}"


def _format_signed(value: float | None, digits: int = 1) -> str:
    """Format a difference in percentage points with its sign; `–` if undefined."""
    return UNDEFINED if value is None else f"{100 * value:+.{digits}f}".replace("-", "−")


def _format_p(value: float | None) -> str:
    """Format a p-value with four digits; `–` if undefined."""
    return UNDEFINED if value is None else "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _build_pair_rows(comparison: Comparison) -> list[list[str]]:
    """Return the rows of the table of pairs, each with the better system first: mean difference and its test."""
    n_averaged = len(comparison.averaged_datasets)
    head = f"mean of {n_averaged} datasets, unweighted" if n_averaged != 1 else f"on {comparison.averaged_datasets[0]}"
    won_and_lost = ["better", "worse", "open"] if n_averaged != 1 else []  # of one dataset the p-value says it
    rows = [[head, "difference", "low", "high", "p", "corrected", *won_and_lost]]
    for pair in comparison.pairs:
        numbers = [
            *map(_format_signed, (pair.difference, pair.low, pair.high)),
            _format_p(pair.p),
            _format_p(pair.corrected),
            *map(str, (pair.wins, pair.losses, pair.undecided) if won_and_lost else ()),
        ]
        rows.append([f"{pair.system_a} − {pair.system_b}", *numbers])
    return rows


def _build_detail_rows(comparison: Comparison, dataset: DatasetScores) -> list[list[str]]:
    """Return the rows of a table with the tests of all pairs on one dataset."""
    rows = [[dataset.name, "difference", "low", "high", "p", "corrected", "effect", "detectable"]]
    for pair in dataset.pairs:
        effect = UNDEFINED if pair.effect is None else f"{pair.effect:+.2f}".replace("-", "−")
        detectable = UNDEFINED if pair.detectable is None else f"{100 * pair.detectable:.1f}"
        numbers = [
            *map(_format_signed, (pair.difference, pair.low, pair.high)),
            _format_p(pair.p),
            _format_p(pair.corrected),
            effect,
            detectable,
        ]
        rows.append([f"{pair.system_a} − {pair.system_b}", *numbers])
    return rows


def _render_ranks(comparison: Comparison, draw: DrawTable) -> Iterator[str]:
    """Yield a text about ranks over datasets and Friedman's test; nothing without ranks. `draw` is not used."""
    ranks = comparison.ranks
    if ranks is None:
        return
    groups = "; ".join(", ".join(group) for group in ranks.groups) or "none"
    yield (
        f"ranks over {ranks.datasets} datasets (Demšar 2006): Friedman's χ² {ranks.statistic:.1f}, p "
        f"{_format_p(ranks.p)}; "
        f"critical difference {ranks.difference:.2f} (Nemenyi, {100 * (1 - comparison.options.alpha):g} %)\n"
        f"not separable by their ranks: {groups}"
    )


def _render_linking_loss(comparison: Comparison, draw: DrawTable) -> Iterator[str]:
    """Yield a table of the F1 lost from detection to linking, smallest loss first; nothing if not computed."""
    losses = comparison.linking_loss
    if losses is None or not losses.mean:
        return
    datasets = next(iter(losses.datasets)) if len(losses.datasets) == 1 else f"mean of {len(losses.datasets)} datasets"
    order = sorted(
        losses.mean, key=lambda system: (losses.mean[system].loss.value is None, losses.mean[system].loss.value)
    )
    rows = [
        [
            system,
            *map(format_percent, (losses.mean[system].mentions, losses.mean[system].links)),
            _format_interval(losses.mean[system].loss, format_percent),
        ]
        for system in order
    ]
    yield draw([[f"{datasets}, in percent", losses.mentions, losses.links, "drop"], *rows], {0})


def _render_common_accuracy(comparison: Comparison, draw: DrawTable) -> Iterator[str]:
    """Yield a table of coverage and accuracy, also on mentions that all systems detect, and its legend.

    Nothing is yielded if detection was not compared.
    """
    if not comparison.detection:
        return
    pooled = comparison.pooled_detection
    first_stats = next(iter(pooled.values()))
    head = ["links, in percent", "coverage", "accuracy", "accuracy on common mentions"]
    rows = [
        [system, *(format_percent(value) for value in (stats.coverage, stats.accuracy, stats.common_accuracy))]
        for system, stats in ((system, pooled[system]) for system in comparison.systems if system in pooled)
    ]
    yield draw([head, *rows], {0})
    yield (
        f"coverage: of {format_count(first_stats.mentions, 'mention')}, the share that a system detects. "
        "accuracy: the share of "
        f"these that it links correctly. common: the {first_stats.common} that all systems detect. All datasets "
        "together."
    )


def _render_flips(comparison: Comparison, draw: DrawTable) -> Iterator[str]:
    """Yield tables of the mentions that only one of two systems gets right, by outcome and by each facet."""
    if not comparison.flips:
        return
    yield draw(_build_flip_rows(comparison.flips), {0})
    for label in [label for label in comparison.flips[0].by if label != "outcome"]:
        values = sorted({value for flips in comparison.flips for value in flips.by[label]})
        titles = comparison.value_titles.get(label, {})
        rows = [[f"flips by {label}", "mentions", *(titles.get(value, value) for value in values)]]
        for flips in comparison.flips:
            only_a, only_b = (
                f"{flips.system_a} only, not {flips.system_b}",
                f"{flips.system_b} only, not {flips.system_a}",
            )
            rows += [[only_a, str(flips.only_a), *_format_counts(flips, label, values, 0)]] * bool(flips.only_a)
            rows += [[only_b, str(flips.only_b), *_format_counts(flips, label, values, 1)]] * bool(flips.only_b)
        yield draw(rows, {0})


def _build_flip_rows(all_flips: Sequence[Flips]) -> list[list[str]]:
    """Return the number of flips of each pair of systems, by the outcome of the other system."""
    values = sorted({value for flips in all_flips for value in flips.by["outcome"]})
    headings = [f"other: {value}" for value in values]
    rows = [
        ["flips: mentions correct for one", "only the first", *headings, "only the second", *headings, "McNemar's p"]
    ]
    for flips in all_flips:
        first, second = (_format_counts(flips, "outcome", values, side) for side in (0, 1))
        numbers = [str(flips.only_a), *first, str(flips.only_b), *second, _format_p(flips.p)]
        rows.append([f"{flips.system_a} / {flips.system_b}", *numbers])
    return rows


def _format_counts(flips: Flips, facet: str, values: list[str], side: int) -> list[str]:
    """Return the number of flips by value of a facet; `side` 0: only the first system is right, 1: only the second."""
    return [str(flips.by[facet].get(value, (0, 0))[side]) for value in values]


def _render_overfitting(comparison: Comparison, draw: DrawTable) -> Iterator[str]:
    """Yield one text with a line per overfitting index; nothing if there is none. `draw` is not used."""
    if comparison.overfitting:
        yield "\n".join(_format_overfitting(overfitting) for overfitting in comparison.overfitting)


def _format_overfitting(overfitting: OverfittingIndex) -> str:
    """Return a sentence with the scores behind an overfitting index, and the index relative to other systems."""
    text = (
        f"overfitting of {overfitting.system}: {format_percent(overfitting.developed_score.value)} on "
        f"{', '.join(overfitting.developed_on)}, "
        f"{format_percent(overfitting.other_score.value)} on average over "
        f"{format_count(len(overfitting.other_datasets), 'other')}: "
        f"index {_format_interval(overfitting.index)}"
    )
    if overfitting.relative_index.value is None:
        return f"{text}; relative to other systems: {overfitting.reason}"
    return (
        f"{text}; relative to {', '.join(overfitting.reference_systems)} {_format_interval(overfitting.relative_index)}"
    )


def _format_interval(estimate: Estimate, format_value: Callable[[float | None], str] = _format_signed) -> str:
    """Format a difference in points, by default with its sign, and with its interval if there is one."""
    if estimate.low is None or estimate.high is None:
        return format_value(estimate.value)
    return f"{format_value(estimate.value)} [{format_value(estimate.low)}, {format_value(estimate.high)}]"


def _render_usage(comparison: Comparison, draw: DrawTable) -> Iterator[str]:
    """Yield tables of what systems used per document, a table for quantities over the same documents, with notes."""
    tables: dict[tuple[tuple[str, ...], int, int], dict[str, MeanUsage]] = {}
    for name, usage in comparison.usage.items():
        key = (usage.datasets, usage.documents, usage.missing_documents)
        tables.setdefault(key, {})[name] = usage
    for (datasets, n_documents, n_missing), columns in tables.items():
        titles = " and ".join(QUANTITIES[name].title for name in columns)
        if n_documents:
            over = datasets[0] if len(datasets) == 1 else f"{len(datasets)} datasets"
            rows = [
                [system, *(_format_mean(name, usage.means.get(system)) for name, usage in columns.items())]
                for system in comparison.systems
                if any(system in usage.means for usage in columns.values())
            ]
            yield draw([[f"mean over {over}", *(QUANTITIES[name].unit for name in columns)], *rows], {0})
        if n_missing:
            yield f"{titles} of the {n_documents:,} of {n_documents + n_missing:,} documents that all systems state"
        for name, usage in columns.items():
            if usage.clock_difference:
                yield usage.clock_difference
            if usage.excluded:
                reasons = "; ".join(f"{system} ({why})" for system, why in usage.excluded.items())
                yield f"without {QUANTITIES[name].title}: {reasons}"


def _format_mean(quantity: str, mean: float | None) -> str:
    """Format what a system used per document in the unit of the quantity, with three significant digits."""
    return UNDEFINED if mean is None else f"{float(f'{QUANTITIES[quantity].factor * mean:.3g}'):,.10g}"


def _render_similarities(comparison: Comparison, draw: DrawTable) -> Iterator[str]:
    """Yield tables of the similarity of systems: with details on one dataset, or pooled over several."""
    similarity = comparison.similarity
    assert similarity is not None
    if len(similarity.datasets) == 1:
        yield from _render_similarity(next(iter(similarity.datasets.values())), draw)
        return
    systems = list(comparison.means)
    for relation in similarity.relations:
        pairs = {(pair.system_a, pair.system_b): pair for pair in similarity.pooled if pair.relation == relation}
        yield _draw_matrix(
            f"{relation}: similarity in percent, macro/micro, {len(comparison.averaged_datasets)} datasets together",
            systems,
            lambda system_a, system_b, pairs=pairs: (
                f"{format_percent(pairs[system_a, system_b].macro)}/{format_percent(pairs[system_a, system_b].micro)}"
            ),  # type: ignore[misc]
            draw,
        )
    oracles = [
        f"{name}: {note}"
        for name, dataset_similarity in similarity.datasets.items()
        for note in dataset_similarity.oracle
    ]
    if oracles:
        yield "above their best thresholds (oracle)\n" + "\n".join(oracles)


def _draw_matrix(head: str, systems: list[str], format_cell: Callable[[str, str], str], draw: DrawTable) -> str:
    """Draw the upper triangle of a matrix of systems; `format_cell` returns the cell of two systems."""
    rows = [
        [
            row_system,
            *(
                format_cell(row_system, column_system) if row < column else ""
                for column, column_system in enumerate(systems)
                if column
            ),
        ]
        for row, row_system in enumerate(systems[:-1])
    ]
    return draw([[head, *systems[1:]], *rows], {0})


def _render_similarity(similarity: Similarity, draw: DrawTable) -> Iterator[str]:
    """Yield, for each relation on one dataset, the similarity matrix, predictions of one system only, and coverage."""
    if similarity.oracle:
        yield "similarity above their best thresholds (oracle)"
    for group in similarity.coverage:
        relation = group.relation
        pairs = {(pair.system_a, pair.system_b): pair for pair in similarity.pairs if pair.relation == relation}
        yield _draw_matrix(
            f"{relation}: similarity in percent, macro/micro",
            list(similarity.runs),
            lambda a, b, pairs=pairs: "/".join(
                format_percent(score.value) for score in (pairs[a, b].macro, pairs[a, b].micro)
            ),  # type: ignore[misc]
            draw,
        )
        only = [[f"{p.system_a}, not {p.system_b}", *_format_share(p.only_a, p.correct_a)] for p in pairs.values()]
        only += [[f"{p.system_b}, not {p.system_a}", *_format_share(p.only_b, p.correct_b)] for p in pairs.values()]
        yield draw([[f"{relation}: found by one only", "predictions", "correct", "%"], *only], {0})
        yield _describe_coverage(group)
    yield from similarity.oracle


def _describe_coverage(group: JointCoverage) -> str:
    """Return how many gold mentions any, all, no or a single system finds, and which pairs miss together."""
    recall = group.oracle_recall
    return "\n".join(
        [
            f"{group.relation}: of {format_count(group.gold, 'gold mention')} {group.found_by_any} are found by "
            "at least one system"
            + (f" ({100 * recall:.1f} %, recall of an oracle over all systems)" if recall is not None else "")
            + f", {group.found_by_all} by all, {group.missed_by_all} by none",
            f"  found by one alone: {', '.join(f'{name} {count}' for name, count in group.found_alone.items())}",
            "  missed together: "
            + ", ".join(
                f"{system_a} and {system_b} {count}" for (system_a, system_b), count in group.missed_together.items()
            ),
        ]
    )


def _format_share(count: int, correct: int) -> list[str]:
    """Return three cells: a count, the number of correct ones, and their share in percent."""
    return [str(count), str(correct), f"{100 * correct / count:.0f}" if count else UNDEFINED]


def _describe_setup(profile: str, relation: str, membership: str, threshold: str) -> str:
    """Return profile and relation as text; membership weights and threshold only if they are not the defaults."""
    return ", ".join([profile, relation, *[membership] * (membership != "whole"), *[threshold] * (threshold != "none")])


def _render_sensitivity(comparison: Comparison, layout: Layout, *, details: bool) -> Iterator[str]:
    """Yield the leader under each setup, the leads by system, and notes on failures, in full if `details`."""
    sensitivity = comparison.sensitivity
    assert sensitivity is not None
    rows = [["conventions", "leader", "mean", "second", "lead"]]
    for lead in sensitivity.leaders:
        margin = f"{_format_interval(lead.margin)}{'' if lead.is_separable else ' ≈'}"
        leaders = " = ".join(lead.leaders)
        conventions = _describe_setup(lead.profile, lead.relation, lead.membership, lead.threshold)
        rows.append([conventions, leaders, _format_estimate(lead.score), lead.runner_up, margin])
    for row in sensitivity.inapplicable:
        where = "" if row.datasets == sensitivity.datasets else f" to {', '.join(row.datasets)}"
        conventions = _describe_setup(row.profile, "any", row.membership, row.threshold)
        rows.append([conventions, f"does not apply{where}", UNDEFINED, UNDEFINED, UNDEFINED])
    yield layout.draw(rows, {0, 1, 3})
    wins = ", ".join(f"{name} {count}" for name, count in sensitivity.wins.items())
    yield (
        f"leads under {format_count(len(sensitivity.leaders), 'convention')}: {wins}. "
        f"{format_count(sensitivity.evaluations, 'evaluation')}; "
        f"unweighted means over {', '.join(sensitivity.datasets)}. ≈: not separable (the interval contains 0)."
    )
    reasons: dict[str, list[str]] = {}
    for setup, why in sensitivity.failures.items():
        reasons.setdefault(why, []).append(setup)
    failures = [f"not possible: {'; '.join(names)} ({why})" for why, names in reasons.items()]
    hints = [f"{note} ({format_count(count, 'evaluation')})" for note, count in sensitivity.notes.items()]
    yield from layout.format_notes_block([*failures, *hints], details=details)
