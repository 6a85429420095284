"""The reproduction of a paper as text and Markdown: each table and figure, with published and computed values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from karat.model.results.exhibit import Cell, Exhibit, Explanation, count_from_paper, count_statuses
from karat.model.results.plot import Plot
from karat.model.spec.suite import Reproduction, Suite
from karat.protocols.papers.data_folder import list_missing_files
from karat.render.tables import UNDEFINED, Layout, escape_markdown

_NUMBER: Final = re.compile(r"(?P<sign>[-+−]?)(?P<digits>\d[\d,]*(?:\.\d+)?|\.\d+)(?P<unit> ?%?)")


def format_statuses(cells: Sequence[Cell]) -> str:
    """Return the summary line of `cells`: how many are reproduced, explained, unexplained and impossible.

    Those that follow only from other published values are counted in brackets too.
    """
    n_from_paper = count_from_paper(cells)
    remark = {"reproduced": f" ({n_from_paper:,} from other published values)"} if n_from_paper else {}
    return ", ".join(f"{count:,} {status}{remark.get(status, '')}" for status, count in count_statuses(cells).items())


def format_difference(cell: Cell) -> str:
    """Return computed minus published value, signed and with the printed digits; "" if equal or not two numbers."""
    numbers = [_NUMBER.fullmatch(text.strip()) for text in (cell.value or "", cell.published)]
    if cell.status == "reproduced" or numbers[0] is None or numbers[1] is None:
        return ""
    value, published = (_to_number(number) for number in numbers if number is not None)
    digits = max(len(number["digits"].partition(".")[2]) for number in numbers if number is not None)
    return f"{value - published:+,.{digits}f}".replace("-", "−")


def _to_number(match: re.Match[str]) -> float:
    """Return the number that `_NUMBER` matched."""
    number = float(match["digits"].replace(",", ""))
    return -number if match["sign"] in ("-", "−") else number


def render_paper(suite: Suite, reproduction: Reproduction, layout: Layout, *, show_all: bool = False) -> str:
    """Render every exhibit of a paper and the summary line in a layout (terminal or Markdown).

    By default values that are equal are only counted; with `show_all` they are listed too.
    """
    blocks = [suite.title]
    for exhibit in reproduction.exhibits:
        blocks += _render_exhibit(exhibit, layout, show_all=show_all)
    missing = list_missing_files(reproduction.exhibits)
    if missing:
        rows = [[file, f"{sum(counts.values()):,}", ", ".join(counts)] for file, counts in missing.items()]
        blocks.append(layout.draw([_MISSING_HEAD, *rows], (0, 2)))
    statuses = [format_statuses(reproduction.cells)] if reproduction.cells else []
    return layout.join([*blocks, *statuses])


_MISSING_HEAD: Final = ("file that the folder of data lacks", "values", "impossible in")
_MAX_COMMANDS: Final = 4
"""The largest number of command lines that are all printed by default."""


def _fold_commands(command: str) -> str:
    """Return the command lines of an exhibit, of many only the first ones with the number of the others."""
    lines = command.splitlines()
    if len(lines) <= _MAX_COMMANDS:
        return command
    first = lines[: _MAX_COMMANDS - 1]
    return "\n".join([*first, f"… and {len(lines) - len(first)} more commands, which --all lists"])


def _render_exhibit(exhibit: Exhibit, layout: Layout, *, show_all: bool) -> Iterator[str]:
    """Yield the heading, the command, the values, their reasons and the notes of an exhibit."""
    yield f"{exhibit.name}. {exhibit.title}"
    yield exhibit.command if show_all else _fold_commands(exhibit.command)
    listed = [cell for cell in exhibit.cells if show_all or cell.status != "reproduced"]
    reasons = number_reasons(listed)
    if listed:
        yield _draw_values([_build_row(cell, reasons) for cell in listed], layout)
    texts = {number: format_explanation(explanation) for explanation, number in reasons.items()}
    if texts:
        yield "\n".join(f"[{number}] {text}" for number, text in texts.items())
    if exhibit.own_table:
        yield layout.draw(exhibit.own_table, (0,))
    if exhibit.notes:
        yield "\n".join(exhibit.notes)
    if exhibit.cells:
        yield f"{exhibit.name}: {format_statuses(exhibit.cells)}"


_HEAD: Final = ("row", "column", "published", "Karat", "difference", "outcome")


def _draw_values(rows: Sequence[Sequence[str]], layout: Layout) -> str:
    """Draw the values of an exhibit, without columns that say nothing: that of claims, and differences of texts."""
    columns = [list(column) for column in zip(_HEAD, *rows, strict=True)]
    filled = [column for column in columns if set(column[1:]) not in ({"claim"}, {""})]
    is_text = [index for index, column in enumerate(filled) if column[0] in ("row", "column", "outcome")]
    has_prose = any(
        len(text) > _PROSE for column in filled for text in column[1:] if column[0] in ("published", "Karat")
    )
    lines = list(zip(*filled, strict=True))
    return layout.draw(lines, range(len(filled)) if has_prose else is_text)


_PROSE: Final = 24
"""The longest value that is a number and not a sentence."""


def _build_row(cell: Cell, reasons: Mapping[Explanation, int]) -> list[str]:
    """Return the cells of a line: row, column, both values, their difference, and the outcome with its reason."""
    number = "" if cell.explanation is None or cell.status == "reproduced" else f" [{reasons[cell.explanation]}]"
    value = UNDEFINED if cell.value is None else cell.value
    return [cell.row, cell.column, cell.published, value, format_difference(cell), f"{cell.status}{number}"]


def number_reasons(cells: Iterable[Cell]) -> dict[Explanation, int]:
    """Return the distinct reasons of values that differ or are missing, numbered from 1; evidence by value is not
    distinguished."""
    explanations = (cell.explanation for cell in cells if cell.status != "reproduced")
    distinct = dict.fromkeys(explanation for explanation in explanations if explanation is not None)
    numbers: dict[str, int] = {}
    return {
        explanation: numbers.setdefault(format_explanation(explanation), len(numbers) + 1) for explanation in distinct
    }


def format_explanation(explanation: Explanation) -> str:
    """Return the cause and reason in one sentence, with the missing file."""
    file = explanation.missing_file
    missing = f" (missing: {file})" if file and file not in explanation.text else ""
    return f"{explanation.cause}: {explanation.text}{missing}"


def render_markdown_page(suite_name: str, suite: Suite, reproduction: Reproduction, figures: str) -> str:
    """Render the documentation page of a paper: each exhibit in the paper's form, with its pictures.

    `figures` is the folder of the pictures, relative to the page.
    """
    lines = [f"# {escape_markdown(suite.title)}", ""]
    lines += [
        "This page is generated. To compute it again, run:",
        "",
        f"    karat reproduce {suite_name} --data DIR",
        "",
    ]
    if reproduction.cells:
        lines += [
            f"{format_statuses(reproduction.cells)}. A cell is Karat's value; the published value follows in "
            "brackets if it differs. A dash marks a value that cannot be computed.",
            "",
        ]
    for exhibit in reproduction.exhibits:
        lines += _render_markdown_exhibit(exhibit, figures)
    return "\n".join(lines).rstrip() + "\n"


def _render_markdown_exhibit(exhibit: Exhibit, figures: str) -> Iterator[str]:
    """Yield the lines of an exhibit: heading, command, table in the paper's form, pictures, reasons and notes."""
    from karat.render.tables import draw_markdown

    yield f"## {escape_markdown(exhibit.name)}: {escape_markdown(exhibit.title)}"
    yield ""
    yield from (f"    {line}" for line in exhibit.command.splitlines())
    yield ""
    reasons = number_reasons(exhibit.cells)
    if exhibit.cells:
        is_claims = all(cell.column == exhibit.cells[0].column for cell in exhibit.cells)
        build_table = _build_claim_table if is_claims else build_paper_table
        yield draw_markdown(build_table(exhibit.cells, reasons), range(5) if is_claims else (0,))
        yield ""
    if exhibit.is_measured:
        yield "The times of other systems differ with every run of the command, so this page does not show them."
        yield ""
    else:
        for name, plot in name_plots([exhibit]).items():
            yield f"![{escape_markdown(plot.title)}]({figures}/{name}.svg)"
            yield ""
        if exhibit.own_table:
            yield draw_markdown(exhibit.own_table)
            yield ""
    texts = {number: format_explanation(explanation) for explanation, number in reasons.items()}
    yield from (f"- ({number}) {escape_markdown(text)}." for number, text in texts.items())
    notes = () if exhibit.is_measured else exhibit.notes
    yield from (f"- {escape_markdown(note)}" for note in notes)
    if texts or notes:
        yield ""
    if exhibit.cells:
        yield f"{format_statuses(exhibit.cells)}."
        yield ""


def _build_claim_table(cells: Sequence[Cell], reasons: Mapping[Explanation, int]) -> list[list[str]]:
    """Return a row for each value, for exhibits with one column: the claim, published, computed and the outcome."""
    rows = []
    for cell in cells:
        number = "" if cell.explanation is None or cell.status == "reproduced" else f" ({reasons[cell.explanation]})"
        value = UNDEFINED if cell.value is None else cell.value
        rows.append([cell.row, cell.published, value, f"{cell.status}{number}"])
    return [["", "published", "Karat", "outcome"], *rows]


def build_paper_table(cells: Sequence[Cell], reasons: Mapping[Explanation, int]) -> list[list[str]]:
    """Return the values as the paper arranges them, rows by columns, the heading row first.

    A value that differs has the published one in brackets and the number of its reason behind it.
    """
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    text_by_key: dict[tuple[str, str], str] = {}
    for cell in cells:
        text = _format_cell(cell, reasons)
        key = (cell.row, cell.column)
        text_by_key[key] = f"{text_by_key[key]}; {text}" if key in text_by_key else text
    return [["", *columns], *([row, *(text_by_key.get((row, column), "") for column in columns)] for row in rows)]


def _format_cell(cell: Cell, reasons: Mapping[Explanation, int]) -> str:
    """Return the computed value; if it differs, with the published value and the number of the reason."""
    if cell.status == "reproduced":
        return cell.published if cell.value == cell.published else f"{cell.value} [{cell.published}]"
    number = "" if cell.explanation is None else f" ({reasons[cell.explanation]})"
    return f"{UNDEFINED if cell.value is None else cell.value} [{cell.published}]{number}"


def name_plots(exhibits: Iterable[Exhibit]) -> dict[str, Plot]:
    """Return the plots of exhibits by file name without suffix, such as `figure-3-2` for the second of Figure 3."""
    return {
        f"{exhibit.name.lower().replace(' ', '-')}{f'-{index}' if len(exhibit.plots) > 1 else ''}": plot
        for exhibit in exhibits
        for index, plot in enumerate(exhibit.plots, 1)
    }
