"""Tables and the prose around them, for the terminal, in Markdown and in LaTeX.

Whatever stands in them is data: names of systems, datasets and values hold no commands, marks or control characters of
the page they are printed on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from karat.fitting import chained, columns, noted, wrapped
from karat.model.signature import Signature
from karat.printable import shown, shown_lines
from karat.signing import headline_words, profile_in, short


class Table(str):
    """A table that is drawn: no prose, whose signs would have to be escaped."""

    __slots__ = ()


Drawn: TypeAlias = Callable[[Sequence[Sequence[str]], Collection[int]], Table]
"""From rows, the first of which is the head, and the columns that are set to the left, to a table."""


def aligned(rows: Iterable[Sequence[str]], left: Collection[int] = (0,), width: int | None = None) -> Table:
    """Rows of equal length with their columns side by side, see `karat.fitting`."""
    return Table(columns(rows, left, width))


def markdown(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> Table:
    """The same in Markdown."""
    marks = [":---" if place in left else "---:" for place in range(len(rows[0]))]
    head, *lines = ([_unmarked(cell) for cell in row] for row in rows)
    return Table("\n".join(f"| {' | '.join(line)} |" for line in (head, marks, *lines)))


def latex(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> Table:
    """The same in LaTeX."""
    columns = "".join("l" if place in left else "r" for place in range(len(rows[0])))
    lines = [" & ".join(map(_typeset, row)) + r" \\" for row in rows]
    # After the end of a row a bracket or an asterisk would be read as an option of it.
    lines = [f"{{}}{line}" if line.startswith(("[", "*")) else line for line in lines]
    parts = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline", *lines[1:], r"\hline"]
    return Table("\n".join(parts) + "\n\\end{tabular}")


_LATEX: Final = {
    "−": "$-$",
    "±": r"$\pm$",
    "–": "--",
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"${sign}$" for sign in "<>|"},
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_MARKDOWN: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", **{sign: f"\\{sign}" for sign in "\\`*_[]|~$#!"}}
_MARKED: Final = re.compile(r"^( *\d*)([-+=.)])", re.MULTILINE)


def _typeset(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in shown(text))


def _unmarked(text: str) -> str:
    return "".join(_MARKDOWN.get(sign, sign) for sign in shown(text))


def _typeset_prose(text: str) -> str:
    return "\n".join(map(_typeset, text.split("\n")))


def _unmarked_prose(text: str) -> str:
    """Prose, in which no line begins as lists and headings do."""
    return _MARKED.sub(r"\1\\\2", "\n".join(map(_unmarked, text.split("\n"))))


class Layout(NamedTuple):
    """How tables are drawn, and how the prose around them is written."""

    draw: Drawn
    prose: Callable[[str], str]
    terminal: bool = False
    width: int | None = None

    def page(self, blocks: Iterable[str]) -> str:
        """Tables and prose below each other."""
        return "\n\n".join(block if isinstance(block, Table) else self.prose(block) for block in blocks) + "\n"

    def notes(self, notes: Sequence[str], *, details: bool) -> list[str]:
        """What a reader should know: on a terminal a line each, unless details are asked for."""
        if not notes:
            return []
        return [
            Table(noted(list(map(shown, notes)), self.width, details=details)) if self.terminal else "\n".join(notes)
        ]

    def signed(self, *signatures: Signature) -> str:
        """Signatures in their short form, from which the full one follows."""
        lines = dict.fromkeys(str(short(signature)) for signature in signatures)
        return Table("\n".join(chained(line, self.width) for line in lines)) if self.terminal else "\n".join(lines)


LAYOUTS: Final[Mapping[str | None, Layout]] = {
    None: Layout(aligned, shown_lines, terminal=True),
    "markdown": Layout(markdown, _unmarked_prose),
    "latex": Layout(latex, _typeset_prose),
}
"""How pages are printed."""


def layout_of(name: str | None, width: int | None) -> Layout:
    """A layout by name; that of the terminal within a width."""
    if name is not None or width is None:
        return LAYOUTS[name]
    return Layout(
        lambda rows, left: aligned(rows, left, width),
        lambda text: wrapped(shown_lines(text), width),
        terminal=True,
        width=width,
    )


def convention(signature: Signature, view: str) -> str:
    """What every heading says: the profile, and the view or measure, in the words of the headline where it has some."""
    words = headline_words(signature, view)
    return f"profile {profile_in(signature)}, {view}{f' ({words})' if words else ''}"
