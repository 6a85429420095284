"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

Drawn: TypeAlias = Callable[[Sequence[Sequence[str]], Collection[int]], str]
"""From rows, the first of which is the head, and the columns that are set to the left, to a table."""


def aligned(rows: Iterable[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """Rows of equal length with their columns side by side: those in `left` to the left, the others to the right."""
    lines = list(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def markdown(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """The same in Markdown."""
    marks = [":---" if place in left else "---:" for place in range(len(rows[0]))]
    lines = [rows[0], marks, *rows[1:]]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def latex(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """The same in LaTeX."""
    columns = "".join("l" if place in left else "r" for place in range(len(rows[0])))
    lines = [" & ".join(map(_safe, row)) + r" \\" for row in rows]
    parts = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline", *lines[1:], r"\hline"]
    return "\n".join(parts) + "\n\\end{tabular}"


_LATEX = {"−": "$-$", "±": r"$\pm$", "–": "--", **{sign: f"\\{sign}" for sign in "&%$#_{}"}}


def _safe(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


LAYOUTS: Final[Mapping[str | None, Drawn]] = {None: aligned, "markdown": markdown, "latex": latex}
"""How tables are printed."""
