"""A table for the terminal: measures down, runs across, then what was left out, then the signature."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from karat.matching.facets import NONE
from karat.model.name import parse_measure
from karat.model.result import Group, Result, Scored
from karat.spec.report import Report

_UNDEFINED = "–"


def _render(results: Sequence[Result]) -> str:
    head = results[0]
    blocks = [
        f"{head.corpus}: {len(head.ids)} document{'s' * (len(head.ids) != 1)}, scores in percent",
        _columns(["", *(result.run for result in results)], _score_rows(results)),
    ]
    for label in head.by:
        blocks += [_grouped(result, label) for result in results]
    if head.intervals:
        blocks.append(f"In brackets: what 95 % of {head.resamples} samples of as many documents give.")
    blocks += _notes(results)
    blocks += list(dict.fromkeys(str(result.signature) for result in results))
    return "\n\n".join(blocks) + "\n"


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
    return _with_interval(score, result.intervals.get(name))


def _with_interval(score: str, between: tuple[float, float] | None) -> str:
    return score if between is None else f"{score} [{100 * between[0]:.1f}, {100 * between[1]:.1f}]"


def _grouped(result: Result, label: str) -> str:
    """One label of one run: per unfiltered view a row for each value, with the counts behind it."""
    if label == "category":
        return "\n\n".join(_errors(result, view, groups) for view, groups in result.by[label].items())
    parts = []
    for view, groups in result.by[label].items():
        if "[" not in view:
            rows = [_group_row(value, group) for value, group in groups.items()]
            parts.append(_columns([f"{result.run}, {view}, by {label}", "P", "R", "F1", "tp", "fp", "fn"], rows))
    notes = {group.note for groups in result.by[label].values() for group in groups.values() if group.note}
    return "\n\n".join(parts + sorted(notes))


def _errors(result: Result, view: str, groups: Mapping[str, Group]) -> str:
    """The error categories of one view: how many of how many, and how many could not be decided."""
    rows = [
        [
            name,
            _with_interval(_percent(group["micro.error-rate"]), group.intervals.get("micro.error-rate")),
            str(group.errors),
            _UNDEFINED if group.total is None else str(group.total),
            str(group.undecided or ""),
        ]
        for name, group in groups.items()
    ]
    lines = [_columns([f"{result.run}, {view}, errors", "rate", "errors", "of", "undecided"], rows)]
    reasons: dict[str, list[str]] = {}
    for name, group in groups.items():
        if (reason := group["micro.error-rate"].reason) is not None and group.total is None:
            reasons.setdefault(reason, []).append(name)
    return "\n".join([*lines, *(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())])


def _group_row(value: str, group: Group) -> list[str]:
    scores = [
        _with_interval(_percent(group[f"micro.{m}"]), group.intervals.get(f"micro.{m}")) for m in ("p", "r", "f1")
    ]
    counts = group.counts
    assert counts is not None, "every group but an error category has counts"
    fp = _UNDEFINED if group.note and value != NONE else f"{counts.unmatched_answers:g}"
    return [value, *scores, f"{counts.matched_gold:g}", fp, f"{counts.unmatched_gold:g}"]


def _notes(results: Sequence[Result]) -> list[str]:
    lines = []
    for result in results:
        if result.skipped:
            lines.append(f"{result.run}: {', '.join(f'{what} {n}' for what, n in result.skipped.items())}")
        lines += [f"{result.run}: {note}" for note in result.notes]
        undefined: dict[str, list[str]] = {}
        for name in result.shown:
            if (reason := result.score(name).reason) is not None:
                undefined.setdefault(reason, []).append(name)
        lines += [f"{result.run}: {', '.join(names)} undefined: {reason}" for reason, names in undefined.items()]
    return ["\n".join(lines)] if lines else []


def _percent(score: Scored) -> str:
    return _UNDEFINED if score.value is None else f"{100 * score.value:.1f}"


def _columns(head: list[str], rows: Iterable[list[str]]) -> str:
    """Aligned columns: the first to the left, the others to the right."""
    body = list(rows)
    widths = [max(len(row[i]) for row in [head, *body] if row) for i in range(len(head))]
    lines = []
    for row in [head, *body]:
        cells = [
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


REPORT = Report(title="Terminal table", suffix=".txt", render=_render)
