"""What a gate decides, as `karat gate` prints and writes it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from karat.comparison.gate import FlippedMention, GatedDataset
from karat.fitting import chained, wrapped
from karat.pages.files import Written, line
from karat.pages.tables import aligned, markdown
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
    own = {name: getattr(found, name) for name in GateFile.__struct_fields__ if name != "layout"}
    return line(GateFile(layout="karat-gate/1", **own))


def page(found: Gate, layout: str | None = None, most: int = 20, width: int | None = None) -> str:
    """The decision, both versions on every dataset, and the first mentions that flipped; `markdown` for GitHub."""
    draw = markdown if layout == "markdown" else partial(aligned, width=width)
    head = "## " if layout == "markdown" else ""
    verdict = "passed" if found.passed else "closed"
    said = f"{head}Gate {verdict}: {_says(found)}"
    blocks = [said if head else wrapped(said, width), draw(list(_rows(found)), (0, 6))]
    for title, flips in (("Lost", found.lost()), ("Won", found.won())):
        if flips:
            blocks.append(f"{head and '### '}{title}: {len(flips)} mention{'s' * (len(flips) != 1)}")
            blocks.append(draw(list(_listed(flips[:most])), (0, 1, 2, 3, 4)))
            if len(flips) > most:
                blocks.append(f"and {len(flips) - most} more")
    if not found.flips and any(each.difference for each in found.datasets):
        blocks.append("Flipped mentions are not known of results. Give gold and answers.")
    blocks.append(f"`{found.signature}`" if layout == "markdown" else chained(found.signature, width))
    return "\n\n".join(map(str, blocks)) + "\n"


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
        span = f"{each.start}–{each.end}"
        rows.append([each.document, span, each.text or _UNDEFINED, each.gold, each.instead])
    return rows


def _percent(value: float | None) -> str:
    return _UNDEFINED if value is None else f"{100 * value:.1f}"


def _signed(value: float | None) -> str:
    return _UNDEFINED if value is None else f"{100 * value:+.1f}".replace("-", "−")
