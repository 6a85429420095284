"""Individual cases: output of `karat show`, and cases as displayed in notebooks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
import pyarrow as pa

from karat.analysis.comparison.cases import CaseFilter, CaseList, MentionCase, NamedLink, SystemCase
from karat.evaluation.cases.errors import categories
from karat.matching.facts.sentence import Sentence
from karat.matching.read.invented_mentions import is_invented
from karat.model.output.control_chars import escape_controls, escape_json
from karat.model.output.json_files import JsonFile, build_record, encode_line
from karat.model.results.result import WARNING, format_id_health
from karat.model.results.verdict import Outcome
from karat.model.tables.arrow import Arrow
from karat.render.tables import LAYOUTS, UNDEFINED, draw_text

WIDTH: Final = 80
"""Default width of the output."""

_MAX_CASES: Final = 10  # cases in the display of notebooks
_INDENT: Final = "    "
_GOLD: Final = "gold"
_MENTION: Final = 240  # characters of a mention that are shown
_NAME: Final = 20  # columns for the name of a system, and at most for an id beside a name
_SPACES: Final = re.compile(r"\s+")


_FRAME: Final = pa.schema(
    [
        ("document", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("surface", pa.string()),
        ("sentence", pa.string()),
        ("types", pa.list_(pa.string())),
        ("optional", pa.bool_()),
        ("gold", pa.list_(pa.string())),
        ("gold_names", pa.list_(pa.string())),
        ("system", pa.string()),
        ("outcome", pa.string()),
        ("prediction", pa.string()),
        ("prediction_name", pa.string()),
        ("prediction_start", pa.int64()),
        ("prediction_end", pa.int64()),
        ("score", pa.float64()),
        ("errors", pa.list_(pa.string())),
    ]
)
"""Columns of the data frame of cases."""


class CasesFile(JsonFile, frozen=True, tag="karat-cases/2"):
    """The output of `karat show --json`: the cases that match the filter."""

    dataset: str
    view: str
    profile: str
    signature: str
    systems: tuple[str, ...]
    outcomes: Mapping[str, Mapping[str, int]]
    """Cases of each system by outcome, before filtering."""
    filter: CaseFilter
    total: int
    """Number of cases before filtering."""
    cases: tuple[MentionCase, ...]


def to_json(case_list: CaseList) -> bytes:
    """Encode the matching cases, the filter and the outcomes as one line of JSON."""
    return encode_line(
        build_record(CasesFile, case_list, filter=case_list.case_filter, total=case_list.n_cases, cases=case_list[:])
    )


def encode_cases(case_list: CaseList) -> Iterator[bytes]:
    """Yield one JSON line per matching case."""
    encode = msgspec.json.Encoder().encode
    for case in case_list:
        yield escape_json(encode(case)) + b"\n"


def to_table(case_list: CaseList) -> Arrow:
    """Return an Arrow table with a row per case and system.

    The gold standard and a prediction are the id, `NIL` or `unlinked`; a prediction is null if there is none. An
    invented mention has the text that the system wrote, and no offsets.
    """
    rows = [_to_row(case, item) for case in case_list for item in case.systems]
    return pa.Table.from_pylist(rows, _FRAME)


def _to_row(case: MentionCase, item: SystemCase) -> dict[str, object]:
    """Return the row of a data frame for the case of one system."""
    sentence, prediction = case.sentence, item.prediction
    row = {name: getattr(case, name) for name in ("document", "start", "end", "types", "optional")}
    row |= {name: getattr(item, name) for name in ("system", "outcome", "score", "errors")}
    row |= {"gold": [_format_entity(link) for link in case.gold], "gold_names": [link.name for link in case.gold]}
    if sentence is not None:
        row |= {"surface": sentence.text[sentence.start : sentence.end], "sentence": sentence.text}
    if prediction is not None:
        row |= {"prediction": _format_entity(prediction), "prediction_name": prediction.name}
        row |= {"prediction_start": prediction.start, "prediction_end": prediction.end}
    if is_invented(case.start):
        offsets = ("start", "end", "prediction_start", "prediction_end")
        row |= {"surface": item.invented, **dict.fromkeys(offsets)}
    return row


def display(case_list: CaseList, layout: str) -> str:
    """Render the outcomes by system and the first cases as tables; `layout` is a key of `LAYOUTS`."""
    page_layout = LAYOUTS[layout]
    rows = [["document", "case", _GOLD, *case_list.systems]]
    for case in case_list[:_MAX_CASES]:
        gold = " or ".join(_format_link(link, case, 0) for link in case.gold) or "no mention"
        cells = [_describe_mention(case), gold, *(_format_outcomes(case, name) for name in case_list.systems)]
        rows.append([case.document, *map(_collapse_spaces, cells)])
    blocks = [
        *(f"{name}: {WARNING}{h.mismatch}; {h.remedy}" for name, h in case_list.id_health.items() if h.mismatch),
        *_format_headline(case_list).split("\n"),
        page_layout.draw(_list_outcomes(case_list), {0}),
        *([page_layout.draw(rows, set(range(len(rows[0]))))] if len(rows) > 1 else []),
    ]
    n_hidden = len(case_list) - _MAX_CASES
    blocks += [f"and {n_hidden:,} more case{'s' * (n_hidden != 1)}"] * (n_hidden > 0)
    return page_layout.join(blocks)


def _describe_mention(case: MentionCase) -> str:
    """Return the sentence with the mention in brackets; without a sentence, the offsets or the invented text."""
    if case.sentence is not None:
        return _mark_mention(case.sentence)
    invented = [item.invented for item in case.systems if item.invented is not None]
    return f"{invented[0]} (invented)" if invented else f"{case.start}–{case.end}"


def _format_outcomes(case: MentionCase, system: str) -> str:
    """Return the outcomes of a system in a case, each with its prediction."""
    outcomes = []
    for item in case.systems:
        if item.system == system:
            link = "" if item.prediction is None else _format_link(item.prediction, case, 0)
            outcomes.append(f"{item.outcome} {link}".strip())
    return "; ".join(outcomes) or UNDEFINED


def render_page(case_list: CaseList, limit: int, width: int = WIDTH) -> str:
    """Render the outcomes by system, and the first `limit` matching cases in their sentences, in `width` columns."""
    id_health = case_list.id_health
    blocks = [
        _wrap_text(f"{name}: {WARNING}{health.mismatch}; {health.remedy}", width)
        for name, health in id_health.items()
        if health.mismatch
    ]
    blocks += [_wrap_text(_format_headline(case_list), width), draw_text(_list_outcomes(case_list))]
    blocks += [
        "\n".join(_render_case(number, case, case_list, width)) for number, case in enumerate(case_list[:limit], 1)
    ]
    n_hidden = len(case_list) - limit
    if n_hidden > 0:
        hint = f"--limit {len(case_list)} shows all, --json and --jsonl write all"
        blocks.append(_wrap_text(f"… and {n_hidden:,} more case{'s' * (n_hidden != 1)}: {hint}", width))
    bridges = {name: health for name, health in id_health.items() if health.bridge}
    blocks += [_wrap_text(line, width) for line in format_id_health(bridges.items())]
    return "\n\n".join(blocks) + "\n"


def _format_headline(case_list: CaseList) -> str:
    """Return the systems, dataset and view, and below them the number of matching cases and the filter."""
    case_filter = case_list.case_filter
    titles = tuple(categories()[name].title for name in case_filter.errors)
    flips = () if case_filter.flips is None else (" and ".join(case_filter.flips),)
    filters = {
        "outcome": case_filter.outcomes,
        "error": titles,
        "of": case_filter.systems,
        "type": case_filter.types,
        "linked to": case_filter.entities,
        "in": case_filter.documents,
        "flips between": flips,
    }
    conditions = [f"{title} {' or '.join(values)}" for title, values in filters.items() if values]
    start = f"{', '.join(case_list.systems)} on {case_list.dataset}: {case_list.view}, profile {case_list.profile}"
    return f"{start}\n{'; '.join([f'{len(case_list):,} of {case_list.n_cases:,} cases', *conditions])}"


def _list_outcomes(case_list: CaseList) -> list[list[str]]:
    """Return a table of the number of cases by system and outcome, before filtering."""
    titles = [
        outcome.title for outcome in Outcome if any(outcome.title in counts for counts in case_list.outcomes.values())
    ]
    rows = [
        [_clip_text(name, _NAME), *(str(counts.get(outcome, 0)) for outcome in titles)]
        for name, counts in case_list.outcomes.items()
    ]
    return [["all cases", *titles], *rows]


def _render_case(number: int, case: MentionCase, case_list: CaseList, width: int) -> Iterator[str]:
    """Yield the lines of a case: its position, its sentence, and the links of gold and systems.

    `number`: number of the case on the page. `width`: columns to wrap at.
    """
    types = f"type {', '.join(case.types)}" * bool(case.types)
    span = "not in the text (invented)" if is_invented(case.start) else f"{case.start}–{case.end}"
    details = [f"document {case.document}", span, types, "optional" * case.optional]
    yield from _indent_lines(
        f"{number}.".ljust(len(_INDENT)), ", ".join(_collapse_spaces(part) for part in details if part), width
    )
    if case.sentence is not None:
        yield from _indent_lines(_INDENT, _mark_mention(case.sentence), width)
    name_width = max(_display_width(_clip_text(name, _NAME)) for name in (_GOLD, *case_list.systems))
    by_system = {
        name: [system_cases for system_cases in case.systems if system_cases.system == name]
        for name in case_list.systems
    }
    outcome_width = max(len(system_cases.outcome) for system_cases in case.systems)
    ids = [len(link.entity) for link in _list_links(case) if link.entity is not None and link.name]
    aligned_ids = min(max(ids, default=0), _NAME)
    widths = name_width, aligned_ids, width
    for index, link in enumerate(_format_link(item, case, aligned_ids) for item in case.gold):
        yield from _format_row("or" if index else _GOLD, " " * outcome_width, link, widths)
    if not case.gold:
        yield from _format_row(_GOLD, " " * outcome_width, "no mention", widths)
    for name, system_cases in by_system.items():
        for item in system_cases:
            prediction = "" if item.prediction is None else _format_link(item.prediction, case, aligned_ids)
            prediction += "" if item.invented is None else f"  (wrote {_collapse_spaces(item.invented)!r})"
            prediction += f"  type {_collapse_spaces(', '.join(item.types))}" * bool(item.types)
            yield from _format_row(name, item.outcome.ljust(outcome_width), prediction, widths)
            lines_below = [f"near: {_format_link(near, case, 0)}" for near in item.overlapping]
            lines_below.append(_describe_errors(item, has_kb=case_list.signature["kb"] != "none"))
            for text in filter(None, lines_below):
                yield from _indent_lines(" " * (len(_INDENT) + name_width + 2 + outcome_width + 2), text, width)
        if not system_cases:
            yield from _format_row(name, UNDEFINED, "", widths)


def _list_links(case: MentionCase) -> list[NamedLink]:
    """Return the gold links and all predicted links of a case."""
    return [*case.gold, *(system_case.prediction for system_case in case.systems if system_case.prediction is not None)]


def _format_row(name: str, outcome: str, link: str, widths: tuple[int, int, int]) -> Iterator[str]:
    """Yield the lines of one row: `gold` or a system, its outcome and a link, which is wrapped.

    `widths`: columns of the longest name, of an id, and of the page.
    """
    clipped = _clip_text(name, _NAME)
    prefix = f"{_INDENT}{clipped}{' ' * (widths[0] - _display_width(clipped))}  {outcome}  "
    yield from _indent_lines(prefix, link, widths[2])


def _format_link(link: NamedLink, case: MentionCase, id_width: int) -> str:
    """Return the id, name and span of a link; the span only if it differs from the case's.

    `id_width`: columns that the id is padded to if a name follows.
    """
    entity = escape_controls(_format_entity(link))
    parts = [
        entity.ljust(id_width) if link.name else entity,
        escape_controls(link.name or ""),
        _describe_span(link, case),
    ]
    return "  ".join(filter(None, parts))


def _format_entity(link: NamedLink) -> str:
    """Return the id of a link, or `NIL` or `unlinked`."""
    return "NIL" if link.nil else "unlinked" if link.entity is None else link.entity


def _describe_span(link: NamedLink, case: MentionCase) -> str:
    """Return the text or offsets of a link's span in brackets; empty if the case has the same span."""
    if (link.start, link.end) == (case.start, case.end):
        return ""
    sentence = case.sentence
    first = 0 if sentence is None else link.start - sentence.offset
    if sentence is None or first < 0 or link.end - sentence.offset > len(sentence.text):
        return f"(on {link.start}–{link.end})"
    return f"(on {_collapse_spaces(sentence.text[first : link.end - sentence.offset])})"


def _describe_errors(system_case: SystemCase, *, has_kb: bool) -> str:
    """Return the titles of the narrowest error categories of a case, and of the categories that are undecided.

    `has_kb`: whether there is a knowledge base; otherwise its lack is the reason for undecided categories.
    """
    error_categories = categories()
    narrow = [
        name for name in system_case.errors if not any(other.startswith(f"{name}-") for other in system_case.errors)
    ]
    parts = [", ".join(error_categories[name].title for name in narrow)] if narrow else []
    undecided = [error_categories[name].title for name in system_case.undecided] if system_case.errors else []
    reason = "for lack of facts" if has_kb else "without --kb"
    return "; ".join([*parts, *([f"undecided {reason}: {', '.join(undecided)}"] if undecided else [])])


def _mark_mention(sentence: Sentence) -> str:
    """Return a sentence on one line with its mention in brackets; `…` marks omitted text."""
    text, (before, behind) = sentence.text, sentence.cut
    mention = text[sentence.start : sentence.end]
    if len(mention) > _MENTION:
        mention = f"{mention[: _MENTION // 2]} … {mention[-_MENTION // 2 :]}"
    parts = ["… " * before, text[: sentence.start], "[", mention, "]", text[sentence.end :], " …" * behind]
    return _collapse_spaces("".join(parts))


def _collapse_spaces(text: str) -> str:
    """Return the text with single spaces for white space and with control characters escaped."""
    return escape_controls(_SPACES.sub(" ", text)).strip()


def _indent_lines(prefix: str, text: str, width: int) -> Iterator[str]:
    """Yield the lines of `text` after `prefix`, wrapped at `width` columns and indented to the end of the prefix."""
    indent = _display_width(prefix)
    lines = _break_lines(text, max(width - indent, 16))
    yield f"{prefix}{lines[0]}".rstrip()
    yield from (" " * indent + line for line in lines[1:])


def _wrap_text(text: str, width: int) -> str:
    """Return the text with control characters escaped and each line wrapped at `width` columns."""
    return "\n".join(line for part in text.split("\n") for line in _break_lines(escape_controls(part), width))


def _break_lines(text: str, width: int) -> list[str]:
    """Return the lines of a text, of at most `width` columns, broken at spaces or inside long words."""
    lines, free = [""], width
    for word in re.findall(r" *[^ ]+", text):
        size = _display_width(word)
        if size > free and lines[-1]:
            lines.append("")
            free, word = width, word.lstrip()
            size = _display_width(word)
        while size > free:
            part = _clip_text(word, free, "")
            lines[-1] += part
            lines.append("")
            word, free = word[len(part) :], width
            size = _display_width(word)
        lines[-1] += word
        free -= size
    return lines if lines[-1] or len(lines) == 1 else lines[:-1]


def _clip_text(text: str, width: int, mark: str = "…") -> str:
    """Return the text cut to `width` columns, with `mark` at the end if it was cut; at least one character stays."""
    text = escape_controls(text)
    if len(text) <= width and _display_width(text) <= width:
        return text
    room, end = width - len(mark), 0
    for end, sign in enumerate(text):  # noqa: B007  # where it ends is what is asked for
        room -= _display_width(sign)
        if room < 0:
            break
    return text[: max(end, 1)] + mark


def _display_width(text: str) -> int:
    """Return how many terminal columns a text takes; wide East Asian characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.category(sign) in ("Mn", "Me", "Cf") for sign in text)
