"""What a gate decides, as `karat gate` prints and writes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from karat.comparison.gate import FlippedMention, GatedDataset
from karat.fitting import counted
from karat.pages.files import Written, line
from karat.pages.tables import Table, layout_of, unmarked
from karat.printable import shown

if TYPE_CHECKING:
    from karat.comparison.gate import Gate

_UNDEFINED = "–"
_WORDS = {"dropped": "dropped", "holds": "holds", "open": "cannot be told"}


class GateFile(Written, frozen=True):
    """What `karat gate --json` writes."""

    layout: Literal["karat-gate/1"]
    passed: bool
    measure: str
    max_drop: float
    confidence: float
    signature: str
    datasets: tuple[GatedDataset, ...]
    flips: tuple[FlippedMention, ...]


def json_of(found: Gate) -> bytes:
    """All of it."""
    own = {name: getattr(found, name) for name in GateFile.__struct_fields__ if name not in ("layout", "signature")}
    return line(GateFile(layout="karat-gate/1", signature=str(found.signature), **own))


def page(found: Gate, layout: str | None = None, most: int = 20, width: int | None = None) -> str:
    """The decision, both versions on every dataset, and the first mentions that flipped; `markdown` for GitHub."""
    drawn, summary = layout_of(layout, width), layout == "markdown"
    said = f"Gate {'passed' if found.passed else 'closed'}: {_says(found)}"
    blocks: list[str] = [_heading(said) if summary else said, drawn.draw(_rows(found), (0, 6))]
    for title, flips in (("Lost", found.lost()), ("Won", found.won())):
        if flips:
            head = f"{title}: {counted(len(flips), 'mention')}"
            more = [f"and {len(flips) - most:,} more"] if len(flips) > most else []
            table = drawn.draw(_listed(flips[:most]), range(5))
            blocks += [_opened(head), table, *more, Table("</details>")] if summary else [head, table, *more]
    if not found.flips and any(each.difference for each in found.datasets):
        blocks.append("Flipped mentions are not known of results. Give gold and answers.")
    return drawn.page([*blocks, drawn.signed(found.signature)])


def _heading(text: str) -> Table:
    """A heading of Markdown."""
    return Table(f"## {unmarked(text)}")


def _opened(title: str) -> Table:
    """The beginning of what GitHub shows when somebody clicks on its title."""
    return Table(f"<details><summary>{title}</summary>")


def _says(found: Gate) -> str:
    allowed = f"{100 * found.max_drop:g} point{'s' * (found.max_drop != 0.01)}"
    level = f"{100 * found.confidence:g} %"
    if not found.passed:
        worse = [each.dataset for each in found.datasets if each.state == "dropped"]
        return f"{found.measure} dropped by more than {allowed} on {', '.join(map(shown, worse))}, at {level}"
    if all(each.state == "holds" for each in found.datasets):
        return f"{found.measure} dropped by no more than {allowed}, at {level}"
    return f"nothing shows that {found.measure} dropped by more than {allowed}, at {level}"


def _rows(found: Gate) -> list[list[str]]:
    rows = [["dataset", "old", "new", "difference", "low", "high", ""]]
    for each in found.datasets:
        scores = [_percent(each.old), _percent(each.new)]
        change = [_signed(each.difference), _signed(each.low), _signed(each.high)]
        said = _WORDS[each.state] + (f": {each.reason}" if each.reason else "")
        rows.append([each.dataset, *scores, *change, said])
    return rows


def _listed(flips: Sequence[FlippedMention]) -> list[list[str]]:
    rows = [["document", "span", "text", "gold", "answered"]]
    for each in flips:
        links = [_named(each.gold, each.gold_name), _named(each.instead, each.instead_name)]
        rows.append([each.document, f"{each.start}–{each.end}", each.text or _UNDEFINED, *links])
    return rows


def _named(entity: str, name: str | None) -> str:
    return f"{name} ({entity})" if name else entity


def _percent(value: float | None) -> str:
    return _UNDEFINED if value is None else f"{100 * value:.1f}"


def _signed(value: float | None) -> str:
    return _UNDEFINED if value is None else f"{100 * value:+.1f}".replace("-", "−")
