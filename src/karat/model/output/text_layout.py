"""Tables and prose that fit a width, usually that of a terminal.

A table that is too wide wraps its heads and names first. If that is not enough, its columns are divided into blocks,
each with the first column. Prose wraps between words; addresses and paths may exceed the line. Only notes are
shortened.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from karat.model.output.control_chars import escape_controls

GAP = "  "
_MIN_TEXT_WIDTH = 16  # characters of a text column
_MIN_HEAD_WIDTH = 12  # characters of a head that are not wrapped
_SEPARATORS = (re.compile(r"[/:,;=+\]](?![/:])"), re.compile(r"[_.-]"))
"""Characters behind which a long word may be divided."""
_MAX_NOTES = 8  # printed without --details


def format_table(
    rows: Iterable[Sequence[str]],
    left: Collection[int] = (0,),
    width: int | None = None,
    block_starts: Collection[int] = (),
) -> str:
    """Return a table as text with aligned columns; `rows` are lists of cells of equal length, the head first.

    Columns whose index is in `left` are left-aligned, all others right-aligned. An empty row is an empty line. A table
    wider than `width` characters is wrapped and then divided into blocks of columns; see the module. Blocks start at
    the columns in `block_starts` if all of them fit, else where the width requires. None means no limit.
    """
    cells = [list(map(escape_controls, row)) for row in rows]
    full_rows = [row for row in cells if row]
    natural_widths = [max(map(len, column)) for column in zip(*full_rows, strict=True)]
    if width is None or _total_width(natural_widths) <= width:
        return _draw_block(cells, range(len(natural_widths)), natural_widths, left)
    min_widths = [_min_width(index, column, left, width) for index, column in enumerate(zip(*full_rows, strict=True))]
    blocks = []
    for block in _divide_columns(min_widths, width, block_starts):
        spare = width - _total_width([min_widths[index] for index in block])
        widths = []
        for index in block:
            extra = min(natural_widths[index] - min_widths[index], spare)
            spare -= extra
            widths.append(min_widths[index] + extra)
        blocks.append(_draw_block(cells, block, widths, left))
    return "\n\n".join(blocks)


def _total_width(widths: Sequence[int]) -> int:
    """Return the number of characters of a line with columns of these widths and the gaps between them."""
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _min_width(index: int, column: Sequence[str], left: Collection[int], width: int) -> int:
    """Return the number of characters to which the column `index` can shrink: text wraps, numbers do not.

    `column` are its cells, the head first; `width` is that of the whole table.
    """
    longest = max(map(len, column))
    if index == 0:
        return min(longest, width // 4)
    if index in left:
        return min(longest, _MIN_TEXT_WIDTH)
    head, *body = column
    word = max(map(len, head.split()), default=0)
    return min(max([min(word, _MIN_HEAD_WIDTH), *map(len, body)]), width - width // 4 - len(GAP))


def _divide_columns(min_widths: Sequence[int], width: int, block_starts: Collection[int]) -> list[list[int]]:
    """Return the column indices of each block: as few blocks as possible, of about equal width.

    Every block starts with column 0. Several blocks start at `block_starts` if all of them fit into `width`.
    """
    if _total_width(min_widths) <= width:
        return [list(range(len(min_widths)))]
    if block_starts:
        starts = [1, *(index for index in range(2, len(min_widths)) if index in block_starts), len(min_widths)]
        blocks = [[0, *range(start, end)] for start, end in pairwise(starts)]
        if all(_total_width([min_widths[index] for index in block]) <= width for block in blocks):
            return blocks
    blocks = _fill_blocks(min_widths, width)
    while len(narrower := _fill_blocks(min_widths, width - 1)) == len(blocks) and width > 1:
        blocks, width = narrower, width - 1
    return blocks


def _fill_blocks(min_widths: Sequence[int], width: int) -> list[list[int]]:
    """Return the column indices of each block, filled from left to right up to `width`; each starts with column 0."""
    blocks = [[0]]
    for column in range(1, len(min_widths)):
        if len(blocks[-1]) > 1 and _total_width([min_widths[index] for index in [*blocks[-1], column]]) > width:
            blocks.append([0])
        blocks[-1].append(column)
    return blocks


def _draw_block(
    cells: Sequence[Sequence[str]], block: Sequence[int], widths: Sequence[int], left: Collection[int]
) -> str:
    """Return the columns `block` of a table as aligned text, each with its width in `widths`."""
    lines = []
    for number, row in enumerate(cells):
        if not row:
            lines.append("")
            continue
        parts = [_wrap_cell(row[index], width, hang=index == 0) for index, width in zip(block, widths, strict=True)]
        height = max(map(len, parts))
        for level in range(height):
            line = []
            for index, part, width in zip(block, parts, widths, strict=True):
                row_in_part = level - (height - len(part)) * (number == 0)  # heads are aligned to the bottom
                cell = part[row_in_part] if 0 <= row_in_part < len(part) else ""
                line.append(cell.ljust(width) if index in left else cell.rjust(width))
            lines.append(GAP.join(line).rstrip())
    return "\n".join(lines)


def _wrap_cell(cell: str, width: int, *, hang: bool = False) -> list[str]:
    """Return the lines of a cell, wrapped at `width` characters; `hang` indents all but the first.

    A word that is too long, such as an address, is divided behind a separator if possible.
    """
    if len(cell) <= width:
        return [cell]
    indent = GAP * hang
    lines = textwrap.wrap(cell, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
    divided = []
    for line in lines:
        rest = line
        while len(rest) > width:
            end = _find_division(rest, width)
            divided.append(rest[:end])
            rest = indent + rest[end:]
        divided.append(rest)
    return divided


def _find_division(line: str, width: int) -> int:
    """Return where to divide a line without spaces: behind the last separator in its first `width` characters.

    Marks of addresses and options come before points and hyphens. Without any, or only in the first third, divide at
    `width`.
    """
    for separator in _SEPARATORS:
        ends = [match.end() for match in separator.finditer(line, 0, width) if match.end() > width // 3]
        if ends:
            return ends[-1]
    return width


def wrap_text(text: str, width: int | None, *, hang: str = GAP) -> str:
    """Return prose with lines longer than `width` wrapped between words; None wraps nothing.

    Continuation lines are indented like their line, and by `hang`. Long words, such as addresses, are not broken.
    """
    if width is None:
        return text
    return "\n".join(part for line in text.split("\n") for part in _wrap_line(line, width, hang))


def _wrap_line(line: str, width: int, hang: str) -> list[str]:
    """Return the lines into which one line of prose is wrapped; continuation lines are indented by `hang`.

    `width`: columns to wrap at.
    """
    if len(line) <= width:
        return [line]
    inner = " " * (len(line) - len(line.lstrip())) + hang
    return textwrap.wrap(line, width, subsequent_indent=inner, break_on_hyphens=False, break_long_words=False)


def format_notes(notes: Sequence[str], width: int | None, *, details: bool) -> str:
    """Return notes, one per line, wrapped at `width`; without `details`, only the first eight and the number of others.

    Without a `width`, all are shown.
    """
    more = 0 if details or width is None else max(len(notes) - _MAX_NOTES, 0)
    remark = [f"… and {format_count(more, 'more note')}: --details shows all"] if more else []
    return wrap_text("\n".join([*notes[: len(notes) - more], *remark]), width)


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 test`, `1,000 tests`; `plural` is for irregular plurals."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def wrap_signature(text: str, width: int | None) -> str:
    """Return a signature in lines of at most `width` characters, divided after `|` where possible; None: no limit.

    `parse_signature` removes the line ends again.
    """
    if width is None or len(text) <= width:
        return text
    lines = [""]
    for part in text.replace("|", "|\n").split("\n"):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        line = lines[-1] + part
        *full_lines, rest = [line[start : start + width] for start in range(0, len(line), width)]
        lines[-1:] = [*full_lines, rest]
    return "\n".join(lines)
