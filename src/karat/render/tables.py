"""Tables and surrounding prose for the terminal, Markdown, LaTeX and HTML.

Names of systems, datasets and values are data: markup and control characters in them are escaped.

A block is a table or a paragraph of a page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby, takewhile
from typing import Final, NamedTuple, TypeAlias

from karat.model.output.control_chars import escape_controls, escape_lines
from karat.model.output.text_layout import format_notes, format_table, wrap_signature, wrap_text
from karat.model.profile_signatures import get_headline_title, get_profile_name, shorten_signature
from karat.model.signature import Signature

UNDEFINED: Final = "–"
"""The cell of an undefined or unknown value."""


def format_percent(value: float | None) -> str:
    """Format a share in percent with one digit; None as `UNDEFINED`."""
    return UNDEFINED if value is None else f"{100 * value:.1f}"


class Table(str):
    """A rendered table; its text is not escaped again."""

    __slots__ = ()


class BestCell(str):
    """A cell in bold: the best value of its group."""

    __slots__ = ()


class ShadedCell(str):
    """A cell shaded by its `share` from 0 to 1, if the output has colours."""

    __slots__ = ("share",)
    share: float

    def __new__(cls, cell: str, share: float) -> ShadedCell:
        """Create a cell with its text and share."""
        instance = super().__new__(cls, cell)
        instance.share = share
        return instance


class SubHeading(str):
    """A column heading below a `heading` that it shares with its neighbours."""

    __slots__ = ("heading",)
    heading: str

    def __new__(cls, text: str, heading: str) -> SubHeading:
        """Create a column heading with its text, below the shared `heading`."""
        instance = super().__new__(cls, text)
        instance.heading = heading
        return instance


def _flatten_headings(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return rows in which each column repeats its shared heading, for outputs without column spans."""
    return [[f"{cell.heading} {cell}" if isinstance(cell, SubHeading) else cell for cell in row] for row in rows]


_MAX_SHADE: Final = 45
"""Percent of black behind a share of 1; text stays readable on it."""

DrawTable: TypeAlias = Callable[[Sequence[Sequence[str]], Collection[int]], Table]
"""A function from rows, the heading row first, and left-aligned columns to a table."""


def draw_text(rows: Iterable[Sequence[str]], left: Collection[int] = (0,), width: int | None = None) -> Table:
    """Draw a table as aligned text, within `width` columns if given; columns in `left` are left-aligned."""
    return Table(format_table(_flatten_headings(rows), left, width))


def draw_markdown(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> Table:
    """Draw a table in Markdown, the heading row first; columns in `left` are left-aligned."""
    rule = [":---" if column in left else "---:" for column in range(len(rows[0]))]
    head, *lines = ([_format_markdown_cell(cell) for cell in row] for row in _flatten_headings(rows))
    return Table("\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines)))


def _format_markdown_cell(cell: str) -> str:
    """Return a cell as Markdown; the best score of a column is bold."""
    return f"**{escape_markdown(cell)}**" if isinstance(cell, BestCell) else escape_markdown(cell)


def draw_latex(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> Table:
    """Draw a table in LaTeX with booktabs rules, the heading row first; columns in `left` are left-aligned."""
    columns = "".join("l" if column in left else "r" for column in range(len(rows[0])))
    head, *body = [_format_latex_row(row) for row in rows]
    headings = _format_latex_headings(rows[0])
    parts = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *headings, head, r"\midrule", *body, r"\bottomrule"]
    return Table("\n".join(parts) + "\n\\end{tabular}")


def _format_latex_row(row: Sequence[str]) -> str:
    """Return a table row in LaTeX, with its line end."""
    line = " & ".join(map(_format_latex_cell, row))
    # After the end of a row, or a line, a bracket or an asterisk would be read as an option of it.
    return f"{'{}' * line.startswith(('[', '*'))}{line} \\\\"


def _format_latex_cell(cell: str) -> str:
    """Return a cell in LaTeX: shaded, bold or plain, with its text escaped."""
    if isinstance(cell, ShadedCell):
        return rf"\cellcolor{{black!{_MAX_SHADE * cell.share:.0f}}}{escape_latex(cell)}"
    return rf"\textbf{{{escape_latex(cell)}}}" if isinstance(cell, BestCell) else escape_latex(cell)


def _format_latex_headings(row: Sequence[str]) -> list[str]:
    """Return the row of shared headings and the rules below it; empty if there are none."""
    spans = _find_spans(row)
    if not any(heading for heading, _ in spans):
        return []
    cells, lines, column = [], [], 1
    for heading, width in spans:
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escape_latex(heading)}}}" if heading else " & " * (width - 1))
        lines += [rf"\cmidrule(lr){{{column}-{column + width - 1}}}"] * bool(heading)
        column += width
    return [" & ".join(cells) + r" \\", "".join(lines)]


def _find_spans(row: Sequence[str]) -> list[tuple[str, int]]:
    """Return the shared headings of a row with their number of columns; "" is no heading."""
    heads = groupby(cell.heading if isinstance(cell, SubHeading) else "" for cell in row)
    return [(heading, len(list(columns))) for heading, columns in heads]


def draw_html(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> Table:
    """Draw a table in HTML, for notebooks, the heading row first; columns in `left` are left-aligned."""
    spans = _find_spans(rows[0])
    headings = "".join(
        f'<th colspan="{width}" style="text-align:center">{_escape_html(text)}</th>' for text, width in spans
    )
    head, *body = rows
    lines = [f"<tr>{headings}</tr>"] * any(text for text, _ in spans)
    lines.append(
        f"<tr>{''.join(_format_html_cell(cell, 'th', column in left) for column, cell in enumerate(head))}</tr>"
    )
    cells = ("".join(_format_html_cell(cell, "td", column in left) for column, cell in enumerate(row)) for row in body)
    body_rows = "\n".join(f"<tr>{row}</tr>" for row in cells)
    return Table("\n".join(["<table>", "<thead>", *lines, "</thead>", "<tbody>", body_rows, "</tbody>", "</table>"]))


def _format_html_cell(cell: str, tag: str, is_left: bool) -> str:
    """Return a cell in HTML: shaded, bold or plain, with its text escaped; `tag`: `th` or `td`."""
    text = f"<b>{_escape_html(cell)}</b>" if isinstance(cell, BestCell) else _escape_html(cell)
    heat = f";background:rgb(0 0 0/{_MAX_SHADE * cell.share:.0f}%)" if isinstance(cell, ShadedCell) else ""
    return f'<{tag} style="text-align:{"left" if is_left else "right"};padding:1px 8px{heat}">{text}</{tag}>'


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
_LIST_MARKER: Final = re.compile(r"^( *\d*)([-+=.)])", re.MULTILINE)


def escape_latex(text: str) -> str:
    """Return the text with LaTeX's special characters escaped."""
    return "".join(_LATEX.get(sign, sign) for sign in escape_controls(text))


def escape_markdown(text: str) -> str:
    """Escape all Markdown markup and control characters in a text."""
    return "".join(_MARKDOWN.get(sign, sign) for sign in escape_controls(text))


def _escape_html(text: str) -> str:
    """Return the text with HTML's special characters and control characters escaped."""
    from html import escape  # which brings the names of all characters along

    return escape(escape_controls(text))


def _escape_markdown_prose(text: str) -> str:
    """Escape Markdown markup in prose, also at the start of lines, so that none starts a list or heading."""
    return _LIST_MARKER.sub(r"\1\\\2", "\n".join(map(escape_markdown, text.split("\n"))))


def _join_blocks(blocks: Iterable[str], format_prose: Callable[[str], str]) -> str:
    """Join blocks with blank lines; tables stay, and `format_prose` escapes all other blocks."""
    return "\n\n".join(block if isinstance(block, Table) else format_prose(block) for block in blocks) + "\n"


def _join_latex(blocks: Sequence[str]) -> str:
    """Join the tables; headline and prose become comments for the author of the caption."""
    head, tables, prose = _split_blocks(blocks)
    has_shading = any(r"\cellcolor" in table for table in tables)
    packages = r"\usepackage{booktabs}" + r" and \usepackage[table]{xcolor}" * has_shading
    lines = [line for block in (*head, f"Tables for {packages}.") for line in block.split("\n")]
    notes = [line for block in prose for line in block.split("\n")]
    parts = [_comment_out(lines), *tables, *([_comment_out(notes)] if notes else [])]
    return "\n\n".join(parts) + "\n"


def _comment_out(lines: Iterable[str]) -> str:
    """Return lines as LaTeX comments."""
    return "\n".join(f"% {escape_controls(line)}".rstrip() for line in lines)


_FRAME: Final = '<div class="karat tex2jax_ignore mathjax_ignore">'
"""The element around a page in a notebook, which stops MathJax from reading dollar signs as formulas."""


def _join_html(blocks: Sequence[str]) -> str:
    """Join headline, tables and, in a collapsible block, the prose to an HTML element."""
    head, tables, prose = _split_blocks(blocks)
    lines = [f"<p><strong>{_escape_html(block)}</strong></p>" for block in head]
    notes = "\n".join(f"<p>{'<br>'.join(map(_escape_html, block.split(chr(10))))}</p>" for block in prose)
    details = [f"<details><summary>notes</summary>\n{notes}\n</details>"] * bool(prose)
    return "\n".join([_FRAME, *lines, *tables, *details, "</div>"]) + "\n"


def _split_blocks(blocks: Sequence[str]) -> tuple[list[str], list[Table], list[str]]:
    """Split blocks into the headline (all before the first table, the first block without tables), tables and prose."""
    has_tables = any(isinstance(block, Table) for block in blocks)
    head = list(takewhile(lambda block: not isinstance(block, Table), blocks if has_tables else blocks[:1]))
    tables = [block for block in blocks if isinstance(block, Table)]
    return head, tables, [block for block in blocks[len(head) :] if not isinstance(block, Table)]


class Layout(NamedTuple):
    """An output format: how tables are drawn, and how tables and prose are joined to a page."""

    draw: DrawTable
    join: Callable[[Sequence[str]], str]
    is_terminal: bool = False
    width: int | None = None

    def format_notes_block(self, notes: Sequence[str], *, details: bool) -> list[str]:
        """Return notes as one block; empty without notes. On a terminal each takes one line unless `details`."""
        if not notes:
            return []
        return [
            Table(format_notes(list(map(escape_controls, notes)), self.width, details=details))
            if self.is_terminal
            else "\n".join(notes)
        ]

    def format_signatures(self, *signatures: Signature) -> str:
        """Return the distinct signatures in their short form, one per line."""
        lines = dict.fromkeys(str(shorten_signature(signature)) for signature in signatures)
        return (
            Table("\n".join(wrap_signature(line, self.width) for line in lines))
            if self.is_terminal
            else "\n".join(lines)
        )


LAYOUTS: Final[Mapping[str | None, Layout]] = {
    None: Layout(draw_text, partial(_join_blocks, format_prose=escape_lines), is_terminal=True),
    "markdown": Layout(draw_markdown, partial(_join_blocks, format_prose=_escape_markdown_prose)),
    "latex": Layout(draw_latex, _join_latex),
    "html": Layout(draw_html, _join_html),
}
"""Layouts by name; None is the terminal."""


def get_layout(name: str | None, width: int | None) -> Layout:
    """Return the layout of that name (None: terminal); the terminal layout wraps at `width` unless it is None."""
    if name is not None or width is None:
        return LAYOUTS[name]
    return Layout(
        lambda rows, left: draw_text(rows, left, width),
        lambda blocks: _join_blocks(blocks, lambda text: wrap_text(escape_lines(text), width)),
        is_terminal=True,
        width=width,
    )


def describe_convention(signature: Signature, view: str) -> str:
    """Return profile and `view` (a view or measure) for a heading, with the headline's title if it has one."""
    headline_title = get_headline_title(signature, view)
    return f"profile {get_profile_name(signature)}, {view}{f' ({headline_title})' if headline_title else ''}"
