"""Tables for the terminal: headline, further scores on request, notes and signature.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from karat.kb.protocol import KB
from karat.matching.read.facet_titles import get_value_titles, to_category
from karat.model.errors import shorten
from karat.model.finegrained_scheme import DIMENSIONS, NODES, get_dimension
from karat.model.measure_name import parse_measure
from karat.model.output.text_layout import format_count, format_notes, format_table, wrap_signature, wrap_text
from karat.model.profile_signatures import shorten_signature
from karat.model.registry import get_plugin, list_plugins
from karat.model.results.failures import FAILED_NOTE, rank_note
from karat.model.results.result import WARNING, GroupScores, Result, Score, format_id_health
from karat.model.results.usage import QUANTITIES
from karat.model.spec.category import ErrorCategory
from karat.model.spec.report import Report, Style
from karat.model.tables.facet_values import NONE

_UNDEFINED = "–"
_ALL = "All"
_PRF = ("micro.p", "micro.r", "micro.f1")
_PLAIN = Style()
_MAX_NAMED_RUNS = 2  # runs that a note names at most
_MAX_FAILURES_LENGTH = 200  # characters of the note about failed documents without --details


def render_table(results: Sequence[Result], style: Style = _PLAIN) -> str:
    """Return the scores of several runs as text tables, side by side for each dataset, with notes and signatures.

    Beyond the headline, only the measures and facets that `style` requests are shown.
    """
    return "\n".join(_render_dataset(group, style) for group in group_by_dataset(results))


def group_by_dataset(results: Iterable[Result]) -> list[list[Result]]:
    """Return the results on each dataset, in the order of their first results."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.corpus, result.signature["data"]), []).append(result)
    return list(groups.values())


def _render_dataset(results: Sequence[Result], style: Style) -> str:
    """Return the tables, notes and signatures of several runs on one dataset."""
    head, width = results[0], style.width
    title = f"{head.corpus}, {format_count(len(head.ids), 'document')}: profile {head.profile}, scores in percent"
    notes = collect_notes(results, _list_displayed_measures(head, style), width=None if style.details else width)
    warnings = [note for note in notes if WARNING in note]
    blocks = [*([wrap_text("\n".join(warnings), width)] if warnings else []), wrap_text(title, width)]
    blocks += [_format_headline(results, index, width) for index in range(len(head.headline))]
    if style.all_measures or not head.headline:
        blocks.append(format_table([["", *map(get_run_title, results)], *_build_score_rows(results)], width=width))
    for facet in head.groups if style.facets is None else [facet for facet in head.groups if facet in style.facets]:
        if _has_separate_parts(head, facet):
            blocks += [_format_parts(results, facet, view, width) for view in head.groups[facet] if "[" not in view]
        elif _has_error_categories(head, facet):
            blocks += _format_errors(results, facet, width)
        else:
            blocks += [_format_groups(result, facet, width) for result in results]
    blocks += [wrap_text(describe_intervals(result), width) for result in results if result.intervals][:1]
    health = format_id_health((result.run, result.id_health) for result in results)
    facts = [*health, *describe_usage(results)]
    blocks += [wrap_text("\n".join(facts), width)] if facts else []
    remarks = [note for note in notes if WARNING not in note]
    blocks += [format_notes(remarks, width, details=style.details)] if remarks else []
    blocks += [
        wrap_signature(line, width)
        for line in dict.fromkeys(str(shorten_signature(result.signature)) for result in results)
    ]
    return "\n\n".join(blocks) + "\n"


def get_run_title(result: Result) -> str:
    """Return the name of a run, with `(oracle)` if its system was selected on this corpus."""
    return f"{result.run} (oracle)" if result.is_selected_on_corpus else result.run


def _list_displayed_measures(head: Result, style: Style) -> list[str]:
    """Return the names of the measures whose scores the table shows: headline, and all table measures on request."""
    headline_measures = [name for headline in head.headlines() for name in headline.list_columns().values()]
    return list(
        dict.fromkeys(
            [*headline_measures, *(head.table_measures if style.all_measures or not headline_measures else ())]
        )
    )


def _format_headline(results: Sequence[Result], index: int, width: int | None) -> str:
    """Return the table of the headline number `index`: a row for each run, with scores and counts.

    The number of gold mentions that were found is shown if it differs from that of correct predictions. `width`:
    columns to wrap at; None does not wrap.
    """
    headlines = [result.headlines()[index] for result in results]
    n_counts = 3 + any(headline.matched_gold != headline.correct for headline in headlines)
    rows = []
    for result, headline in zip(results, headlines, strict=True):
        scores = [format_cell(result, name) for name in headline.list_columns().values()]
        counts = (headline.gold, headline.predictions, headline.correct, headline.matched_gold)[:n_counts]
        rows.append([get_run_title(result), *scores, *(f"{round(count, 2):,.10g}" for count in counts)])
    first = headlines[0]
    name = wrap_text(f"{first.title}: {first.measure}{get_oracle_mark(results, first.measure)}", width)
    columns = first.list_columns()
    head = ["", *columns, *("gold", "predictions", "correct", "found")[:n_counts]]
    return f"{name}\n{format_table([head, *rows], width=width, block_starts=(len(columns) + 1,))}"


def _build_score_rows(results: Sequence[Result]) -> Iterable[list[str]]:
    """Yield a row for each table measure, with the score of each run, and an empty row between relations."""
    last_relation = None
    for name in results[0].table_measures:
        relation = parse_measure(name).view.relation
        if last_relation not in (None, relation):
            yield []
        last_relation = relation
        yield [name + get_oracle_mark(results, name), *(format_cell(result, name) for result in results)]


def get_oracle_mark(results: Sequence[Result], measure: str) -> str:
    """Return ` (oracle)` if the threshold of a measure was selected on the scored data for any run, else nothing."""
    return " (oracle)" if any(result.has_oracle_threshold(measure) for result in results) else ""


def format_cell(result: Result, name: str) -> str:
    """Return the score of a measure in percent, with its interval if there is one."""
    return format_score(result, result.score(name), result.intervals.get(name))


def format_score(result: Result, score: Score, interval: tuple[float, float] | None) -> str:
    """Return a score in percent with its interval, as both bounds or after ± as half its width; `–` if undefined."""
    if score.value is None:
        return _UNDEFINED
    value = f"{100 * score.value:.1f}"
    if interval is None:
        return value
    low, high = (100 * bound for bound in interval)
    return f"{value} ± {(high - low) / 2:.1f}" if result.plus_minus else f"{value} [{low:.1f}, {high:.1f}]"


def describe_usage(results: Sequence[Result]) -> list[str]:
    """Return a line for each run that states runtime, tokens or cost, with the numbers of documents that state them."""
    lines = []
    for result in results:
        parts = [
            f"{_format_total(name, usage.total)}{_format_coverage(usage.documents, len(result.ids))}"
            for name in QUANTITIES
            if (usage := result.usage.get(name)) is not None
        ]
        if parts:
            lines.append(f"{result.run} used {', '.join(parts)}")
    return lines


def _format_total(quantity: str, total: float) -> str:
    """Format the sum of a quantity over documents."""
    if quantity == "seconds":
        return f"{total:,.4g} s"
    return f"{total:,.0f} tokens" if quantity == "tokens" else f"cost {total:,.4g}"


def _format_coverage(n_stated: int, n_documents: int) -> str:
    """Return how many documents a sum covers, unless it covers all."""
    return "" if n_stated == n_documents else f" ({n_stated:,} of {format_count(n_documents, 'document')})"


def describe_intervals(result: Result) -> str:
    """Return a sentence about how the intervals were computed."""
    confidence = f"{100 * (result.confidence or 0.95):g} %"
    prefix = (
        f"After ±: half the width of {confidence} intervals"
        if result.plus_minus
        else f"In brackets: {confidence} intervals"
    )
    if result.interval_method == "wilson":
        return f"{prefix} of proportions (Wilson), which treat all cases as independent."
    unit = result.ci_unit or "documents"
    method = "BCa" if result.interval_method == "bca" else "percentile"
    jackknife = (
        f"; for measures that do not add up, from {result.jackknife_groups} jackknife groups of documents"
        if result.jackknife_groups
        else ""
    )
    return (
        f"{prefix} from {result.resamples} bootstrap samples of {unit} ({method}, wider if {unit} are few){jackknife}."
    )


def _format_groups(result: Result, facet: str, width: int | None) -> str:
    """Return the scores of one run by facet, a table for each view: a row for each value, with its counts.

    Filtered views are shown only if there are no others. `width`: columns to wrap at; None does not wrap.
    """
    parts = []
    whole_views = {view: groups for view, groups in result.groups[facet].items() if "[" not in view}
    for view, groups in (whole_views or result.groups[facet]).items():
        if groups:
            titles = get_value_titles(facet, groups, find_kb([result]))
            rows = [_build_group_row(result, value, titles[value], group) for value, group in groups.items()]
            head = [f"{result.run}, {view}, by {facet}", "P", "R", "F1", "tp", "fp", "fn"]
            parts.append(format_table([head, *rows], width=width))
    notes = {group.note for groups in result.groups[facet].values() for group in groups.values() if group.note}
    return "\n\n".join([*parts, *(wrap_text(note, width) for note in sorted(notes))])


def _has_separate_parts(result: Result, facet: str) -> bool:
    """Return whether each value of `facet` was matched separately, as a filtered view (setting `groups=filtered`)."""
    for view, groups in result.groups[facet].items():
        view_name = parse_measure(f"{view}:micro.f1").view
        return any(
            str(replace(view_name, filters=(*view_name.filters, f"{facet}={value}"))) in result.views
            for value in groups
        )
    return False


def _format_parts(results: Sequence[Result], facet: str, view: str, width: int | None) -> str:
    """Return a table of precision, recall and F1 by value of `facet`, for values that were matched separately.

    Values are rows and runs are columns. `view`: name of the view, such as `strong`, whose groups are shown. The second
    column is the number of mentions of each value, or their weight. `width`: columns to wrap at; None does not wrap.
    """
    values = _order_values(facet, [*results[0].groups[facet][view]])
    titles = get_value_titles(facet, values, find_kb(results))
    rows = [
        [_indent(facet, value) + titles[value], _format_size(results[0], facet, view, value)] if value else []
        for value in values
    ]
    runs = [
        _align_columns([["P", "R", "F1"], *(_build_score_cells(run, facet, view, value) for value in values)])
        for run in results
    ]
    subheads, *lines = zip(*runs, strict=True)
    size = "mentions" if results[0].signature["membership"] == "whole" else "weight"
    head = [f"{view}, by {facet}", size, *(result.run for result in results)]
    body = [[*row, *line] if row else [] for row, line in zip(rows, lines, strict=True)]
    return format_table([head, ["", "", *subheads], *body], width=width)


def _align_columns(rows: Sequence[Sequence[str]], separator: str = "  ") -> list[str]:
    """Return each row as one string, with right-aligned columns; empty rows become empty strings."""
    widths = [max(map(len, column)) for column in zip(*(row for row in rows if row), strict=True)]
    return [separator.join(map(str.rjust, row, widths)) for row in rows]


def _order_values(facet: str, values: Sequence[str]) -> list[str]:
    """Return the values of a facet in the order of the fine-grained scheme, then others, then `All`.

    An empty string separates dimensions and precedes `All`.
    """
    value_by_category = {to_category(facet, value): value for value in values}
    ordered: list[str] = []
    for dimension in DIMENSIONS.values():
        inner = {leaves[0]: node for node, leaves in dimension.inner.items()}
        order = [name for leaf in dimension.leaves for name in (inner.get(leaf), leaf) if name is not None]
        dimension_values = [value_by_category[name] for name in order if name in value_by_category]
        ordered += [*([""] if ordered and dimension_values else []), *dimension_values]
    return [*ordered, *(value for value in values if value not in ordered), "", _ALL]


def find_kb(results: Iterable[Result]) -> KB | None:
    """Return the knowledge base with which results were scored; None if there is none or they come from files."""
    return next((result.evaluation.request.kb for result in results if result.evaluation is not None), None)


def _indent(facet: str, value: str) -> str:
    """Return the indentation of a facet's value: leaves of the fine-grained scheme are below their inner category."""
    category = to_category(facet, value)
    is_nested = category in NODES and any(category in leaves for leaves in get_dimension(category).inner.values())
    return "  " * is_nested


def _get_group_scores(
    result: Result, facet: str, view: str, value: str
) -> list[tuple[Score, tuple[float, float] | None]]:
    """Return micro precision, recall and F1 of a value, or of the whole view for `All`, with intervals or None."""
    if value == _ALL:
        return [(result.score(f"{view}:{m}"), result.intervals.get(f"{view}:{m}")) for m in _PRF]
    group = result.groups[facet][view][value]
    return [(group[m], group.intervals.get(m)) for m in _PRF]


def _build_score_cells(result: Result, facet: str, view: str, value: str) -> list[str]:
    """Return the cells of precision, recall and F1 of a value; none for an empty value."""
    scores = _get_group_scores(result, facet, view, value) if value else []
    return [format_score(result, score, bounds) for score, bounds in scores]


def _format_size(result: Result, facet: str, view: str, value: str) -> str:
    """Return the number of gold mentions with a value, or their weight; of the whole view for `All`."""
    counts = result.counts(view) if value == _ALL else result.groups[facet][view][value].counts
    assert counts is not None, "parts of the data have counts"
    size = counts.matched_gold + counts.unmatched_gold
    return f"{size:.1f}" if size % 1 else f"{size:.0f}"


def _has_error_categories(result: Result, facet: str) -> bool:
    """Return whether the values of a facet are error categories."""
    return any(group.counts is None for groups in result.groups[facet].values() for group in groups.values())


def _format_errors(results: Sequence[Result], facet: str, width: int | None) -> list[str]:
    """Return blocks of text on the error categories of the first view: one row per category and one column per run.

    Undecided cases, the facts that would decide them, and the reasons for missing rates follow. `width`: columns to
    wrap at; None does not wrap.
    """
    view, *others = results[0].groups[facet]
    groups = [result.groups[facet][view] for result in results]
    defined = [
        (r, categories)
        for r, categories in zip(results, groups, strict=True)
        if any(g.errors is not None for g in categories.values())
    ]
    blocks = [
        wrap_text(
            f"{r.run}, {view}: no error categories, {next(iter(categories.values()))['micro.error-rate'].reason}", width
        )
        for r, categories in zip(results, groups, strict=True)
        if all(group.errors is None for group in categories.values())
    ]
    if not defined:
        return blocks
    titles = ["", *map(_get_category_title, groups[0])]
    runs = [
        _align_columns([["rate", "n", "of"], *(_build_error_cells(r, g) for g in categories.values())], " ")
        for r, categories in defined
    ]
    head = [f"{view}, errors", *(result.run for result, _ in defined)]
    blocks.append(format_table([head, *zip(titles, *runs, strict=True)], width=width))
    blocks += _format_undecided(defined, width)
    lines = list_missing_rates([(result.run, categories) for result, categories in defined])
    lines.append("n: errors. of: opportunities for an error. karat explain 'Wrong links' explains a category.")
    if others:
        lines.append(f"For {', '.join(others)}, request a measure of it with -m; --json contains all.")
    return [*blocks, wrap_text("\n".join(lines), width)]


def list_missing_rates(runs: Sequence[tuple[str, Mapping[str, GroupScores]]], *, use_titles: bool = True) -> list[str]:
    """Return a sentence per reason why error categories have no rate, or are undefined for a run.

    `runs` has the name of each run and its error categories. Runs are named if a reason does not hold for all of them.
    Categories have their title, or without `use_titles` their name.
    """
    reasons: dict[tuple[bool, str], dict[str, list[str]]] = {}
    for run, categories in runs:
        for name, group in categories.items():
            if (reason := group["micro.error-rate"].reason) is not None and group.total is None:
                titles = reasons.setdefault((group.errors is None, reason), {})
                titles.setdefault(_get_category_title(name) if use_titles else name, []).append(run)
    lines = []
    for (is_undefined, reason), titles in reasons.items():
        names = list(dict.fromkeys(run for members in titles.values() for run in members))
        of_runs = f" of {', '.join(names)}" if len(names) < len(runs) else ""
        subject = f"{', '.join(titles)}{of_runs}"
        lines.append(f"Undefined: {subject} ({reason})." if is_undefined else f"No rate of {subject}: {reason}.")
    return lines


def _get_category_title(name: str) -> str:
    """Return the title of an error category, or its name if it is not installed."""
    return get_plugin("categories", name, ErrorCategory).title if name in list_plugins("categories") else name


def _build_error_cells(result: Result, group: GroupScores) -> list[str]:
    """Return the cells of one error category: error rate, number of errors, and number of opportunities."""
    rate = format_score(result, group["micro.error-rate"], group.intervals.get("micro.error-rate"))
    return [rate, *(_UNDEFINED if count is None else str(count) for count in (group.errors, group.total))]


def _format_undecided(runs: Sequence[tuple[Result, Mapping[str, GroupScores]]], width: int | None) -> list[str]:
    """Return a table of categories with undecided cases: their number per run and the required facts.

    The list has one table, or none if all cases are decided. `runs` are results with their error categories. `width`:
    columns to wrap at; None does not wrap.
    """
    names = [name for name in runs[0][1] if any(categories[name].undecided for _, categories in runs)]
    if not names:
        return []
    requirement = "required facts" if runs[0][0].signature["kb"] != "none" else "required facts (--kb)"
    head = ["undecided, facts missing", requirement, *(result.run for result, _ in runs)]
    rows = [
        [
            _get_category_title(name),
            _list_required_facts(name),
            *(str(categories[name].undecided) for _, categories in runs),
        ]
        for name in names
    ]
    return [format_table([head, *rows], (0, 1), width)]


def _list_required_facts(name: str) -> str:
    """Return the facts that an error category needs, separated by commas; empty if it is not installed."""
    return (
        ", ".join(get_plugin("categories", name, ErrorCategory).required_facts)
        if name in list_plugins("categories")
        else ""
    )


def _build_group_row(result: Result, value: str, title: str, group: GroupScores) -> list[str]:
    """Return the row of one value of a facet: title, scores with intervals, and the counts of tp, fp and fn."""
    scores = [format_score(result, group[m], group.intervals.get(m)) for m in _PRF]
    counts = group.counts
    assert counts is not None, "every group but an error category has counts"
    fp = _UNDEFINED if group.note and value != NONE else f"{counts.unmatched_predictions:g}"
    return [title, *scores, f"{counts.matched_gold:g}", fp, f"{counts.unmatched_gold:g}"]


def collect_notes(results: Sequence[Result], measures: Sequence[str], *, width: int | None) -> list[str]:
    """Return one line per note on skipped items, likely mistakes and undefined `measures`, with the runs concerned.

    They are sorted by `rank_note`. With a `width`, more than two runs are replaced by their number.
    """
    runs_by_note: dict[str, list[str]] = {}
    for result in results:
        for description, count in result.skipped.items():
            runs_by_note.setdefault(f"{description}: {count:,}", []).append(result.run)
        for note in result.notes:
            runs_by_note.setdefault(note if width is None else _shorten_failures(note), []).append(result.run)
        undefined: dict[str, list[str]] = {}
        for name in measures:
            if (reason := result.score(name).reason) is not None:
                undefined.setdefault(reason, []).append(name)
        for reason, names in undefined.items():
            runs_by_note.setdefault(f"{', '.join(names)} undefined: {reason}", []).append(result.run)
    notes = sorted(runs_by_note.items(), key=lambda item: rank_note(item[0]))
    return [f"{_name_runs(runs, len(results), width)}: {note}" for note, runs in notes]


def _shorten_failures(note: str) -> str:
    """Return a note, shortened if it names many failed documents."""
    if not note.startswith(FAILED_NOTE) or len(note) <= _MAX_FAILURES_LENGTH:
        return note
    return f"{shorten(note, _MAX_FAILURES_LENGTH)} --details shows all"


def _name_runs(runs: Sequence[str], n_runs: int, width: int | None) -> str:
    """Return the names of runs, or how many of `n_runs` they are if more than two and the width is limited."""
    if width is None or len(runs) <= _MAX_NAMED_RUNS:
        return ", ".join(runs)
    return f"all {n_runs}" if len(runs) == n_runs else f"{len(runs)} of {n_runs}"


REPORT = Report(title="Terminal table", suffix=".txt", render=render_table)
