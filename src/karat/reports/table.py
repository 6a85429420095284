"""Tables for the terminal: what comes first, then the rest as far as it is asked for, notes, and the signature."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from karat.fitting import chained, columns, counted, noted, wrapped
from karat.model.name import parse_measure
from karat.model.result import Group, Result, Scored, health_lines
from karat.model.scheme import DIMENSIONS, NODES, dimension_of, title_of
from karat.model.tables.facet import NONE
from karat.registry import get, names
from karat.signing import short
from karat.spec.category import Category
from karat.spec.report import Report, Style

_UNDEFINED = "–"
_ALL = "All"
_PRF = ("micro.p", "micro.r", "micro.f1")
_PLAIN = Style()
_MANY = 2  # runs that a note names
_SCORES = ("precision", "recall", "F1")


def table(results: Sequence[Result], style: Style = _PLAIN) -> str:
    """Results side by side; of measures that have no place in the headline, those that `style` or the user asks for."""
    head, width = results[0], style.width
    said = f"{head.corpus}, {counted(len(head.ids), 'document')}: profile {head.profile}, scores in percent"
    blocks = [wrapped(said, width)]
    blocks += [_headline(results, place, width) for place in range(len(head.headline))]
    if style.every or not head.headline:
        blocks.append(_columns(["", *map(_run, results)], _score_rows(results), width))
    for label in head.by if style.by is None else [label for label in head.by if label in style.by]:
        if _is_parts(head, label):
            blocks += [_parts(results, label, view, width) for view in head.by[label] if "[" not in view]
        elif _is_errors(head, label):
            blocks += _errors(results, label, width)
        else:
            blocks += [_grouped(result, label, width) for result in results]
    blocks += [wrapped(interval_words(result), width) for result in results if result.intervals][:1]
    health = health_lines((result.run, result.id_health) for result in results)
    blocks += [wrapped("\n".join(health), width)] if health else []
    notes = notes_of(results, _printed(head, style), width=None if style.details else width)
    blocks += [noted(notes, width, details=style.details)] if notes else []
    blocks += [chained(line, width) for line in dict.fromkeys(str(short(result.signature)) for result in results)]
    return "\n\n".join(blocks) + "\n"


def _run(result: Result) -> str:
    return f"{result.run} (oracle)" if result.chosen else result.run


def _printed(head: Result, style: Style) -> list[str]:
    """The measures of which there is a score on the page."""
    first = [name for own in head.headlines() for name in own.names()]
    return list(dict.fromkeys([*first, *(head.shown if style.every or not first else ())]))


def _headline(results: Sequence[Result], place: int, width: int | None) -> str:
    """One view of what comes first: a row for each run, with the counts behind its scores."""
    rows = []
    for result in results:
        own = result.headlines()[place]
        scores = [_cell(result, name) for name in own.names()]
        rows.append([_run(result), *scores, *(f"{count:,.10g}" for count in (own.gold, own.answers, own.right))])
    first = results[0].headlines()[place]
    oracle = " (oracle)" if any(_is_oracle(result, first.measure) for result in results) else ""
    name = wrapped(f"{first.words}: {first.measure}{oracle}", width)
    head = ["", *_SCORES, "gold", "answers", "right"]
    return f"{name}\n{columns([head, *rows], width=width, apart=(4,))}"


def _score_rows(results: Sequence[Result]) -> Iterable[list[str]]:
    last = None
    for name in results[0].shown:
        relation = parse_measure(name).view.relation
        if last not in (None, relation):
            yield []
        last = relation
        oracle = " (oracle)" if any(_is_oracle(result, name) for result in results) else ""
        yield [name + oracle, *(_cell(result, name) for result in results)]


def _is_oracle(result: Result, name: str) -> bool:
    """Whether the threshold behind a score was chosen on the very data that is scored."""
    view = parse_measure(name).view
    return str(replace(view, filters=())) in result.thresholds


def _cell(result: Result, name: str) -> str:
    score = _percent(result.score(name))
    return _with_interval(result, score, result.intervals.get(name))


def _with_interval(result: Result, score: str, between: tuple[float, float] | None) -> str:
    if between is None:
        return score
    low, high = (100 * end for end in between)
    return f"{score} ± {(high - low) / 2:.1f}" if result.plus_minus else f"{score} [{low:.1f}, {high:.1f}]"


def interval_words(result: Result) -> str:
    """How the intervals were made."""
    level = f"{100 * (result.interval_level or 0.95):g} %"
    shown = f"After ±: half the width of {level} intervals" if result.plus_minus else f"In brackets: {level} intervals"
    if result.interval_method == "wilson":
        return f"{shown} of shares (Wilson), which take all cases as independent."
    unit = result.interval_over or "documents"
    method = "BCa" if result.interval_method == "bca" else "percentile"
    again = (
        f"; of measures that do not add up, from {result.recomputed} groups of documents left out (jackknife)"
        if result.recomputed
        else ""
    )
    return f"{shown} from {result.resamples} samples of as many {unit} ({method}, wider where {unit} are few){again}."


def _grouped(result: Result, label: str, width: int | None) -> str:
    """One label of one run: per view a row for each value, with the counts behind it; of parts if nothing else is."""
    parts = []
    whole = {view: groups for view, groups in result.by[label].items() if "[" not in view}
    for view, groups in (whole or result.by[label]).items():
        if groups:
            rows = [_group_row(result, value, group) for value, group in groups.items()]
            head = [f"{result.run}, {view}, by {label}", "P", "R", "F1", "tp", "fp", "fn"]
            parts.append(_columns(head, rows, width))
    notes = {group.note for groups in result.by[label].values() for group in groups.values() if group.note}
    return "\n\n".join([*parts, *(wrapped(note, width) for note in sorted(notes))])


def _is_parts(result: Result, label: str) -> bool:
    """Whether every value of a label is a gold standard of its own."""
    for view, groups in result.by[label].items():
        own = parse_measure(f"{view}:micro.f1").view
        return any(str(replace(own, filters=(*own.filters, f"{label}={value}"))) in result.views for value in groups)
    return False


def _parts(results: Sequence[Result], label: str, view: str, width: int | None) -> str:
    """The parts of one view, down, and all runs, across, with the number of mentions in each part."""
    values = _ordered(label, [*results[0].by[label][view]])
    rows = [[_title(label, value), _size(results[0], label, view, value)] if value else [] for value in values]
    runs = [_lined([["P", "R", "F1"], *(_prf(run, label, view, value) for value in values)]) for run in results]
    under, *lines = zip(*runs, strict=True)
    size = "mentions" if results[0].signature["membership"] == "whole" else "weight"
    head = [f"{view}, by {label}", size, *(result.run for result in results)]
    body = [[*row, *line] if row else [] for row, line in zip(rows, lines, strict=True)]
    return _columns(head, [["", "", *under], *body], width)


def _lined(rows: Sequence[Sequence[str]], between: str = "  ") -> list[str]:
    """Cells side by side, each column to the right; an empty row stays empty."""
    widths = [max(map(len, column)) for column in zip(*(row for row in rows if row), strict=True)]
    return [between.join(map(str.rjust, row, widths)) for row in rows]


def _ordered(label: str, values: Sequence[str]) -> list[str]:
    """Values in the scheme's order, with an empty one between dimensions; the whole comes last, as `All`."""
    known = {_category(label, value): value for value in values}
    found: list[str] = []
    for dimension in DIMENSIONS.values():
        inner = {leaves[0]: node for node, leaves in dimension.inner.items()}
        order = [name for leaf in dimension.leaves for name in (inner.get(leaf), leaf) if name is not None]
        own = [known[name] for name in order if name in known]
        found += [*([""] if found and own else []), *own]
    return [*found, *(value for value in values if value not in found), "", _ALL]


def _category(label: str, value: str) -> str:
    return value if label == "category" else f"{label}:{value}"


def _title(label: str, value: str) -> str:
    """What the fine-grained paper calls a category; leaves stand below their inner node."""
    category = _category(label, value)
    if category not in NODES:
        return value
    below = any(category in leaves for leaves in dimension_of(category).inner.values())
    return "  " * below + title_of(category)


def _scores_of(result: Result, label: str, view: str, value: str) -> list[tuple[Scored, tuple[float, float] | None]]:
    if value == _ALL:
        return [(result.score(f"{view}:{m}"), result.intervals.get(f"{view}:{m}")) for m in _PRF]
    group = result.by[label][view][value]
    return [(group[m], group.intervals.get(m)) for m in _PRF]


def _prf(result: Result, label: str, view: str, value: str) -> list[str]:
    scores = _scores_of(result, label, view, value) if value else []
    return [_with_interval(result, _percent(score), between) for score, between in scores]


def _size(result: Result, label: str, view: str, value: str) -> str:
    counts = result.counts(view) if value == _ALL else result.by[label][view][value].counts
    assert counts is not None, "parts of the data have counts"
    size = counts.matched_gold + counts.unmatched_gold
    return f"{size:.1f}" if size % 1 else f"{size:.0f}"


def _is_errors(result: Result, label: str) -> bool:
    return any(group.counts is None for groups in result.by[label].values() for group in groups.values())


def _errors(results: Sequence[Result], label: str, width: int | None) -> list[str]:
    """Error categories down and runs across, in the first view; below, what is undecided and what would decide it."""
    view, *others = results[0].by[label]
    groups = [result.by[label][view] for result in results]
    defined = [
        (r, own) for r, own in zip(results, groups, strict=True) if any(g.errors is not None for g in own.values())
    ]
    blocks = [
        wrapped(f"{r.run}, {view}: no error categories, {next(iter(own.values()))['micro.error-rate'].reason}", width)
        for r, own in zip(results, groups, strict=True)
        if all(group.errors is None for group in own.values())
    ]
    if not defined:
        return blocks
    titles = ["", *map(_category_title, groups[0])]
    runs = [_lined([["rate", "n", "of"], *(_error_cells(r, g) for g in own.values())], " ") for r, own in defined]
    head = [f"{view}, errors", *(result.run for result, _ in defined)]
    blocks.append(_columns(head, [list(row) for row in zip(titles, *runs, strict=True)], width))
    blocks += _undecided(defined, width)
    reasons: dict[str, dict[str, None]] = {}
    for _, own in defined:
        for name, group in own.items():
            if (reason := group["micro.error-rate"].reason) is not None and group.total is None:
                reasons.setdefault(reason, {})[_category_title(name)] = None
    said = [f"No rate of {', '.join(own)}: {reason}." for reason, own in reasons.items()]
    said.append("n: errors. of: where there could have been one. karat explain 'Wrong links' explains a category.")
    if others:
        said.append(f"The same of {', '.join(others)}: name a measure of it with -m; --json has all.")
    return [*blocks, wrapped("\n".join(said), width)]


def _category_title(name: str) -> str:
    """What cards call a category; one that is not installed here keeps its name."""
    return get("categories", name, Category).title if name in names("categories") else name


def _error_cells(result: Result, group: Group) -> list[str]:
    rate = _with_interval(result, _percent(group["micro.error-rate"]), group.intervals.get("micro.error-rate"))
    return [rate, *(_UNDEFINED if count is None else str(count) for count in (group.errors, group.total))]


def _undecided(runs: Sequence[tuple[Result, Mapping[str, Group]]], width: int | None) -> list[str]:
    """Which categories are open, in how many cases of each run, and which facts would decide them."""
    found = [name for name in runs[0][1] if any(own[name].undecided for _, own in runs)]
    if not found:
        return []
    asked = "decided by" if runs[0][0].signature["kb"] != "none" else "decided by --kb with"
    head = ["undecided for want of facts", asked, *(result.run for result, _ in runs)]
    rows = [[_category_title(name), _needs(name), *(str(own[name].undecided) for _, own in runs)] for name in found]
    return [columns([head, *rows], (0, 1), width)]


def _needs(name: str) -> str:
    return ", ".join(get("categories", name, Category).needs) if name in names("categories") else ""


def _group_row(result: Result, value: str, group: Group) -> list[str]:
    scores = [_with_interval(result, _percent(group[m]), group.intervals.get(m)) for m in _PRF]
    counts = group.counts
    assert counts is not None, "every group but an error category has counts"
    fp = _UNDEFINED if group.note and value != NONE else f"{counts.unmatched_answers:g}"
    return [value, *scores, f"{counts.matched_gold:g}", fp, f"{counts.unmatched_gold:g}"]


def notes_of(results: Sequence[Result], printed: Sequence[str], *, width: int | None) -> list[str]:
    """What was left out, what hints at mistakes, and why scores are undefined: a line for each, with whom it is about.

    Within a `width` many runs are a number of them.
    """
    about: dict[str, list[str]] = {}
    for result in results:
        for what, count in result.skipped.items():
            about.setdefault(f"{what}: {count:,}", []).append(result.run)
        for note in result.notes:
            about.setdefault(note, []).append(result.run)
        undefined: dict[str, list[str]] = {}
        for name in printed:
            if (reason := result.score(name).reason) is not None:
                undefined.setdefault(reason, []).append(name)
        for reason, own in undefined.items():
            about.setdefault(f"{', '.join(own)} undefined: {reason}", []).append(result.run)
    return [f"{_about(runs, len(results), width)}: {note}" for note, runs in about.items()]


def _about(runs: Sequence[str], every: int, width: int | None) -> str:
    if width is None or len(runs) <= _MANY:
        return ", ".join(runs)
    return f"all {every}" if len(runs) == every else f"{len(runs)} of {every}"


def _percent(score: Scored) -> str:
    return _UNDEFINED if score.value is None else f"{100 * score.value:.1f}"


def _columns(head: list[str], rows: Iterable[list[str]], width: int | None) -> str:
    return columns([head, *rows], width=width)


REPORT = Report(title="Terminal table", suffix=".txt", render=table)
