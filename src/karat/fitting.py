"""Tables and prose that fit a width, as a rule that of a terminal; no width is as wide as it takes.

A table that is too wide wraps the words of its heads and names first; if that is not enough, its columns go into
several blocks below each other, each with the first column. Prose wraps between words, of which an address or a path
may be longer than the line. Nothing is cut but notes, which say so.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from karat.printable import shown

GAP = "  "
_WORDS = 16  # characters that a column of words keeps
_HEAD = 12  # characters of a head that are not broken
_NOTES = 8  # that are printed unless all are asked for


def columns(
    rows: Iterable[Sequence[str]],
    left: Collection[int] = (0,),
    width: int | None = None,
    apart: Collection[int] = (),
) -> str:
    """Rows of equal length, the first of which is the head: columns in `left` to the left, others to the right.

    An empty row is an empty line. Blocks begin with the columns in `apart`, where that is enough.
    """
    cells = [list(map(shown, row)) for row in rows]
    full = [row for row in cells if row]
    natural = [max(map(len, column)) for column in zip(*full, strict=True)]
    if width is None or _together(natural) <= width:
        return _drawn(cells, range(len(natural)), natural, left)
    least = [_least(place, column, left, width) for place, column in enumerate(zip(*full, strict=True))]
    drawn = []
    for block in _blocks(least, width, apart):
        spare = width - _together([least[place] for place in block])
        widths = []
        for place in block:
            more = min(natural[place] - least[place], spare)
            spare -= more
            widths.append(least[place] + more)
        drawn.append(_drawn(cells, block, widths, left))
    return "\n\n".join(drawn)


def _together(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _least(place: int, column: Sequence[str], left: Collection[int], width: int) -> int:
    """How narrow a column may become: words wrap, numbers do not."""
    longest = max(map(len, column))
    if place == 0:
        return min(longest, width // 4)
    if place in left:
        return min(longest, _WORDS)
    head, *body = column
    word = max(map(len, head.split()), default=0)
    return min(max([min(word, _HEAD), *map(len, body)]), width - width // 4 - len(GAP))


def _blocks(least: Sequence[int], width: int, apart: Collection[int]) -> list[list[int]]:
    """The columns that stand side by side: in as few blocks as it takes, and these about equally wide."""
    if apart:
        starts = [1, *(place for place in range(2, len(least)) if place in apart), len(least)]
        found = [[0, *range(start, end)] for start, end in pairwise(starts)]
        if all(_together([least[place] for place in block]) <= width for block in found):
            return found
    found = _filled(least, width)
    while len(narrower := _filled(least, width - 1)) == len(found) and width > 1:
        found, width = narrower, width - 1
    return found


def _filled(least: Sequence[int], width: int) -> list[list[int]]:
    found = [[0]]
    for place in range(1, len(least)):
        if len(found[-1]) > 1 and _together([least[one] for one in [*found[-1], place]]) > width:
            found.append([0])
        found[-1].append(place)
    return found


def _drawn(cells: Sequence[Sequence[str]], block: Sequence[int], widths: Sequence[int], left: Collection[int]) -> str:
    lines = []
    for number, row in enumerate(cells):
        if not row:
            lines.append("")
            continue
        parts = [_broken(row[place], width, hang=place == 0) for place, width in zip(block, widths, strict=True)]
        height = max(map(len, parts))
        for level in range(height):
            line = []
            for place, part, width in zip(block, parts, widths, strict=True):
                at = level - (height - len(part)) * (number == 0)  # heads stand on their columns
                cell = part[at] if 0 <= at < len(part) else ""
                line.append(cell.ljust(width) if place in left else cell.rjust(width))
            lines.append(GAP.join(line).rstrip())
    return "\n".join(lines)


def _broken(cell: str, width: int, *, hang: bool = False) -> list[str]:
    if len(cell) <= width:
        return [cell]
    return textwrap.wrap(cell, width, subsequent_indent=GAP * hang, break_on_hyphens=False)


def wrapped(text: str, width: int | None, *, hang: str = GAP) -> str:
    """Prose of which each line that is too long goes on in the next, a little to the right."""
    if width is None:
        return text
    return "\n".join(part for line in text.split("\n") for part in _wrapped(line, width, hang))


def _wrapped(line: str, width: int, hang: str) -> list[str]:
    if len(line) <= width:
        return [line]
    inner = " " * (len(line) - len(line.lstrip())) + hang
    return textwrap.wrap(line, width, subsequent_indent=inner, break_on_hyphens=False, break_long_words=False)


def noted(notes: Sequence[str], width: int | None, *, details: bool) -> str:
    """Notes, one line each: what is cut or left out is said, and there with `details`."""
    if details or width is None:
        return wrapped("\n".join(notes), width)
    lines = [note if len(note) <= width else f"{note[: width - 1].rpartition(' ')[0]} …" for note in notes[:_NOTES]]
    more = len(notes) - _NOTES
    if more > 0:
        lines.append(f"… and {counted(more, 'more note')}: --details shows all")
    elif lines != list(notes):
        lines.append("…: --details shows the rest")
    return "\n".join(lines)


def counted(number: int, word: str, several: str | None = None) -> str:
    """`1 test`, `2 tests`, `1,000 tests`; `several` where these are called otherwise."""
    return f"{number:,} {word if number == 1 else several or f'{word}s'}"


def chained(text: str, width: int | None) -> str:
    """A line of parts between `|`, such as a signature, over several lines; who reads it takes line ends away."""
    if width is None or len(text) <= width:
        return text
    lines = [""]
    for part in text.replace("|", "|\n").split("\n"):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        whole = lines[-1] + part
        *full, rest = [whole[at : at + width] for at in range(0, len(whole), width)]
        lines[-1:] = [*full, rest]
    return "\n".join(lines)
