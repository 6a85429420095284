"""Tables and the prose around them, for the terminal, in Markdown, in LaTeX and in HTML.

Whatever stands in them is data: names of systems, datasets and values hold no commands, marks or control characters of
the page they are printed on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

from karat.fitting import chained, columns, noted, wrapped
from karat.model.signature import Signature
from karat.printable import shown, shown_lines
from karat.signing import headline_words, profile_in, short


class Table(str):
    """A table that is drawn: no prose, whose signs would have to be escaped."""

    __slots__ = ()


class Best(str):
    """A cell that is set in bold where there are such letters: the best of those beside it."""

    __slots__ = ()


class Shaded(str):
    """A cell that is the darker the higher its `share` is, from 0 to 1, where there are colours."""

    __slots__ = ("share",)
    share: float

    def __new__(cls, cell: str, share: float) -> Shaded:
        """A cell with its share."""
        made = super().__new__(cls, cell)
        made.share = share
        return made


class Under(str):
    """The head of a column that shares a head with its neighbours."""

    __slots__ = ("over",)
    over: str

    def __new__(cls, head: str, over: str) -> Under:
        """A head below another one."""
        made = super().__new__(cls, head)
        made.over = over
        return made


def _in_one_row(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """The same where no head can stand over several columns: it is said in each of them."""
    return [[f"{cell.over} {cell}" if isinstance(cell, Under) else cell for cell in row] for row in rows]


_DARKEST: Final = 45
"""Percent of black behind a share of 1, on which letters can still be read."""

Drawn: TypeAlias = Callable[[Sequence[Sequence[str]], Collection[int]], Table]
"""From rows, the first of which is the head, and the columns that are set to the left, to a table."""


def aligned(rows: Iterable[Sequence[str]], left: Collection[int] = (0,), width: int | None = None) -> Table:
    """Rows of equal length with their columns side by side, see `karat.fitting`."""
    return Table(columns(_in_one_row(rows), left, width))


def markdown(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> Table:
    """The same in Markdown."""
    marks = [":---" if place in left else "---:" for place in range(len(rows[0]))]
    head, *lines = ([_marked(cell) for cell in row] for row in _in_one_row(rows))
    return Table("\n".join(f"| {' | '.join(line)} |" for line in (head, marks, *lines)))


def _marked(cell: str) -> str:
    return f"**{unmarked(cell)}**" if isinstance(cell, Best) else unmarked(cell)


def latex(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> Table:
    """The same in LaTeX, with the lines of booktabs."""
    columns = "".join("l" if place in left else "r" for place in range(len(rows[0])))
    head, *body = [_latex_row(row) for row in rows]
    over = _latex_heads(rows[0])
    parts = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *over, head, r"\midrule", *body, r"\bottomrule"]
    return Table("\n".join(parts) + "\n\\end{tabular}")


def _latex_row(row: Sequence[str]) -> str:
    line = " & ".join(map(_latex_cell, row))
    # After the end of a row, or a line, a bracket or an asterisk would be read as an option of it.
    return f"{'{}' * line.startswith(('[', '*'))}{line} \\\\"


def _latex_cell(cell: str) -> str:
    if isinstance(cell, Shaded):
        return rf"\cellcolor{{black!{_DARKEST * cell.share:.0f}}}{_typeset(cell)}"
    return rf"\textbf{{{_typeset(cell)}}}" if isinstance(cell, Best) else _typeset(cell)


def _latex_heads(row: Sequence[str]) -> list[str]:
    """What stands over several columns, and the lines below it; nothing where no column has such a head."""
    spans = _spans(row)
    if not any(over for over, _ in spans):
        return []
    cells, lines, place = [], [], 1
    for over, width in spans:
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{_typeset(over)}}}" if over else " & " * (width - 1))
        lines += [rf"\cmidrule(lr){{{place}-{place + width - 1}}}"] * bool(over)
        place += width
    return [" & ".join(cells) + r" \\", "".join(lines)]


def _spans(row: Sequence[str]) -> list[tuple[str, int]]:
    """The heads over the columns of a row with the number of columns of each; the empty head is none."""
    heads = groupby(cell.over if isinstance(cell, Under) else "" for cell in row)
    return [(over, len(list(columns))) for over, columns in heads]


def html(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> Table:
    """The same in HTML, which notebooks show."""
    spans = _spans(rows[0])
    over = "".join(f'<th colspan="{width}" style="text-align:center">{_escaped(text)}</th>' for text, width in spans)
    head, *body = rows
    lines = [f"<tr>{over}</tr>"] * any(text for text, _ in spans)
    lines.append(f"<tr>{''.join(_html_cell(cell, 'th', place in left) for place, cell in enumerate(head))}</tr>")
    cells = ("".join(_html_cell(cell, "td", place in left) for place, cell in enumerate(row)) for row in body)
    filled = "\n".join(f"<tr>{row}</tr>" for row in cells)
    return Table("\n".join(["<table>", "<thead>", *lines, "</thead>", "<tbody>", filled, "</tbody>", "</table>"]))


def _html_cell(cell: str, tag: str, left: bool) -> str:
    text = f"<b>{_escaped(cell)}</b>" if isinstance(cell, Best) else _escaped(cell)
    heat = f";background:rgb(0 0 0/{_DARKEST * cell.share:.0f}%)" if isinstance(cell, Shaded) else ""
    return f'<{tag} style="text-align:{"left" if left else "right"};padding:1px 8px{heat}">{text}</{tag}>'


_LATEX: Final = {
    "−": "$-$",
    "±": r"$\pm$",
    "–": "--",
    "…": r"\dots{}",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
    "α": r"$\alpha$",
    "χ": r"$\chi$",
    "²": "$^2$",
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


def unmarked(text: str) -> str:
    """Text in which nothing is a mark of Markdown."""
    return "".join(_MARKDOWN.get(sign, sign) for sign in shown(text))


def _escaped(text: str) -> str:
    from html import escape  # which brings the names of all characters along

    return escape(shown(text))


def _unmarked_prose(text: str) -> str:
    """Prose, in which no line begins as lists and headings do."""
    return _MARKED.sub(r"\1\\\2", "\n".join(map(unmarked, text.split("\n"))))


def _text_page(blocks: Sequence[str]) -> str:
    return _below_each_other(blocks, shown_lines)


def _markdown_page(blocks: Sequence[str]) -> str:
    return _below_each_other(blocks, _unmarked_prose)


def _below_each_other(blocks: Iterable[str], prose: Callable[[str], str]) -> str:
    return "\n\n".join(block if isinstance(block, Table) else prose(block) for block in blocks) + "\n"


def _latex_page(blocks: Sequence[str]) -> str:
    """Tables and nothing between them: what is said about them is for who writes the caption, as comments."""
    head, tables, said = _parted(blocks)
    shaded = any(r"\cellcolor" in table for table in tables)
    needs = r"\usepackage{booktabs}" + r" and \usepackage[table]{xcolor}" * shaded
    lines = [line for block in (*head, f"Tables for {needs}.") for line in block.split("\n")]
    notes = [line for block in said for line in block.split("\n")]
    parts = [_commented(lines), *tables, *([_commented(notes)] if notes else [])]
    return "\n\n".join(parts) + "\n"


def _commented(lines: Iterable[str]) -> str:
    return "\n".join(f"% {shown(line)}".rstrip() for line in lines)


_FRAME: Final = '<div class="karat tex2jax_ignore mathjax_ignore">'
"""Around a page in a notebook, which would else take what stands between two dollars in names for formulas."""


def _html_page(blocks: Sequence[str]) -> str:
    """The head, the tables, and below them, to be opened, what is said about them."""
    head, tables, said = _parted(blocks)
    lines = [f"<p><strong>{_escaped(block)}</strong></p>" for block in head]
    notes = "\n".join(f"<p>{'<br>'.join(map(_escaped, block.split(chr(10))))}</p>" for block in said)
    opened = [f"<details><summary>notes</summary>\n{notes}\n</details>"] * bool(said)
    return "\n".join([_FRAME, *lines, *tables, *opened, "</div>"]) + "\n"


def _parted(blocks: Sequence[str]) -> tuple[list[str], list[Table], list[str]]:
    """The head, the tables, and all other prose."""
    head = [block for block in blocks[:1] if not isinstance(block, Table)]
    tables = [block for block in blocks if isinstance(block, Table)]
    return head, tables, [block for block in blocks[len(head) :] if not isinstance(block, Table)]


class Layout(NamedTuple):
    """How tables are drawn, and how they and the prose around them become a page."""

    draw: Drawn
    page: Callable[[Sequence[str]], str]
    terminal: bool = False
    width: int | None = None

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
    None: Layout(aligned, _text_page, terminal=True),
    "markdown": Layout(markdown, _markdown_page),
    "latex": Layout(latex, _latex_page),
    "html": Layout(html, _html_page),
}
"""How pages are printed."""


def layout_of(name: str | None, width: int | None) -> Layout:
    """A layout by name; that of the terminal within a width."""
    if name is not None or width is None:
        return LAYOUTS[name]
    return Layout(
        lambda rows, left: aligned(rows, left, width),
        lambda blocks: _below_each_other(blocks, lambda text: wrapped(shown_lines(text), width)),
        terminal=True,
        width=width,
    )


def convention(signature: Signature, view: str) -> str:
    """What every heading says: the profile, and the view or measure, in the words of the headline where it has some."""
    words = headline_words(signature, view)
    return f"profile {profile_in(signature)}, {view}{f' ({words})' if words else ''}"
