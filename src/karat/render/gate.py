"""The result of a quality gate, as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence

from karat.analysis.comparison.gate import NEW, OLD, DatasetChange, FlippedMention, GateResult
from karat.model.output.control_chars import escape_controls
from karat.model.output.json_files import JsonFile, build_record, encode_line
from karat.model.output.text_layout import format_count
from karat.model.results.result import WARNING
from karat.render.tables import UNDEFINED, Table, escape_markdown, format_percent, get_layout

_STATES = {
    "dropped": "dropped",
    "passed": "holds",
    "inconclusive": "inconclusive",
    "untested": "cannot be tested",
    "undefined": "undefined",
}
_RISE = "rose"


class GateFile(JsonFile, frozen=True, tag="karat-gate/3"):
    """The output of `karat gate --json`."""

    passed: bool
    measure: str
    max_drop: float
    confidence: float
    lower_is_better: bool
    signature: str
    datasets: tuple[DatasetChange, ...]
    flips: tuple[FlippedMention, ...]
    notes: tuple[str, ...]
    max_failed: int | None
    allow_untested: bool


def to_json(gate: GateResult) -> bytes:
    """Encode the result of a gate as one line of JSON."""
    return encode_line(build_record(GateFile, gate, passed=gate.is_passed))


def render_page(gate: GateResult, layout: str | None = None, max_flips: int = 20, width: int | None = None) -> str:
    """Render the decision, both versions on every dataset and the first flipped mentions.

    `layout`: key of `LAYOUTS`; `markdown` is for GitHub summaries, None for the terminal. `max_flips`: number of lost,
    and of gained, mentions that are listed. `width`: columns of the terminal; None does not wrap.
    """
    page_layout, is_summary = get_layout(layout, width), layout == "markdown"
    decision = f"Gate {'passed' if gate.is_passed else 'closed'}: {_format_summary(gate)}"
    warnings = [note for note in gate.notes if WARNING in note]
    blocks: list[str] = [
        *page_layout.format_notes_block(warnings, details=True),
        Table(f"## {escape_markdown(decision)}") if is_summary else decision,
        page_layout.draw(_build_dataset_rows(gate), (0, 6)),
    ]
    for title, wrong, flips in (("Lost", NEW, gate.get_lost_mentions()), ("Won", OLD, gate.get_gained_mentions())):
        if flips:
            head = f"{title}: {format_count(len(flips), 'mention')}"
            if not max_flips:
                blocks.append(head)
                continue
            more = [f"and {len(flips) - max_flips:,} more"] if len(flips) > max_flips else []
            table = page_layout.draw(_build_flip_rows(flips[:max_flips], wrong), range(5))
            if is_summary:
                blocks += [Table(f"<details><summary>{head}</summary>"), table, *more, Table("</details>")]
            else:
                blocks += [head, table, *more]
    other_notes = [note for note in gate.notes if WARNING not in note]
    blocks += page_layout.format_notes_block(other_notes, details=True)
    return page_layout.join([*blocks, page_layout.format_signatures(gate.signature)])


def _format_summary(gate: GateResult) -> str:
    """Return the reason for the decision as text."""
    allowed = f"{100 * gate.max_drop:g} point{'s' * (gate.max_drop != 0.01)}"
    confidence = f"{100 * gate.confidence:g} %"
    change_word = _RISE if gate.lower_is_better else "dropped"
    if failed := gate.get_failed_datasets():
        counts = [_format_failures(change) for change in failed]
        return f"the new version {', and '.join(counts)}; allowed is {gate.max_failed:,}"
    undefined = [change.dataset for change in gate.datasets if change.state == "undefined"]
    if undefined:
        return f"{gate.measure} of the new version is undefined on {', '.join(map(escape_controls, undefined))}"
    worse = [change.dataset for change in gate.datasets if change.state == "dropped"]
    if worse:
        return (
            f"{gate.measure} {change_word} by more than {allowed} on {', '.join(map(escape_controls, worse))}, "
            f"at {confidence}"
        )
    if untested := gate.get_untested_datasets():
        names = ", ".join(escape_controls(change.dataset) for change in untested)
        return f"{gate.measure} cannot be tested on {names}; --allow-untested passes it"
    if all(change.state == "passed" for change in gate.datasets):
        return f"{gate.measure} {change_word} by no more than {allowed}, at {confidence}"
    return f"nothing shows that {gate.measure} {change_word} by more than {allowed}, at {confidence}"


def _format_failures(change: DatasetChange) -> str:
    """Return how many documents of a dataset failed and how many have no predictions, as a predicate."""
    failed, missing = (format_count(n, "document") for n in (change.failed, change.missing))
    parts = [
        *([f"failed on {failed}"] if change.failed else []),
        *([f"has no predictions for {missing}"] if change.missing else []),
    ]
    return f"{' and '.join(parts)} of {escape_controls(change.dataset)}"


def _build_dataset_rows(gate: GateResult) -> list[list[str]]:
    """Return the rows of a table with old and new score, difference and state of each dataset."""
    rows = [["dataset", "old", "new", "difference", "low", "high", ""]]
    for dataset_change in gate.datasets:
        scores = [format_percent(dataset_change.old), format_percent(dataset_change.new)]
        change = [
            _format_difference(dataset_change.difference),
            _format_difference(dataset_change.low),
            _format_difference(dataset_change.high),
        ]
        is_rise = gate.lower_is_better and dataset_change.state == "dropped"
        state = (_RISE if is_rise else _STATES[dataset_change.state]) + (
            f": {dataset_change.reason}" if dataset_change.reason else ""
        )
        rows.append([dataset_change.dataset, *scores, *change, state])
    return rows


def _build_flip_rows(flips: Sequence[FlippedMention], wrong_version: str) -> list[list[str]]:
    """Return the rows of a table of flipped mentions, with the gold entity and the link of the version that is wrong.

    The other version has the gold entity.
    """
    rows = [["document", "span", "text", "gold", f"predicted by {wrong_version}"]]
    for flip in flips:
        links = [_format_entity(flip.gold, flip.gold_name), _format_entity(flip.wrong_link, flip.wrong_name)]
        rows.append([flip.document, f"{flip.start}–{flip.end}", flip.text or UNDEFINED, *links])
    return rows


def _format_entity(entity: str, name: str | None) -> str:
    """Return `NAME (ID)`, or the id alone if the name is unknown."""
    return f"{name} ({entity})" if name else entity


def _format_difference(value: float | None) -> str:
    """Format a difference of shares in percentage points, with a sign; None as the sign for undefined."""
    return UNDEFINED if value is None else f"{100 * value:+.1f}".replace("-", "−")
