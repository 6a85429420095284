"""Losses by stage of a system, as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence

from karat.model.output.json_files import JsonFile, encode_indented
from karat.model.output.text_layout import format_table, wrap_text
from karat.render.tables import format_percent
from karat.systems.stage_losses import StageLoss, StageReport


class StagesFile(JsonFile, frozen=True, tag="karat-stages/2"):
    """The output of `karat systems stages --json`."""

    systems: tuple[StageReport, ...]


def to_json(reports: Sequence[StageReport]) -> bytes:
    """Encode stage reports as indented JSON."""
    return encode_indented(StagesFile(tuple(reports)))


def render_page(reports: Sequence[StageReport], *, width: int | None = None) -> str:
    """Render a table of stages per system: correct mentions, and F1 if the stage were perfect.

    `width`: columns to wrap at; None does not wrap.
    """
    return "\n".join(_render_system(report, width) for report in reports)


def _render_system(report: StageReport, width: int | None) -> str:
    """Render the stages of one system, and the recall of its candidates.

    `width`: columns to wrap at; None does not wrap.
    """
    rows = [["stage", "correct", "of", "share", "if perfect"]]
    rows += [
        [
            loss.stage,
            f"{loss.correct:,}",
            f"{loss.total:,}",
            format_percent(loss.share),
            _format_gain(loss, report.f1),
        ]
        for loss in report.stages
    ]
    recall = ", ".join(f"{format_percent(share)} among {k}" for k, share in report.recall.items())
    recall_line = wrap_text(f"candidates in order: {recall}", width) + "\n" if recall else ""
    head = f"{report.system} on {report.corpus}: {report.measure} {format_percent(report.f1)}"
    return f"{head}\n\n{format_table(rows, (0,), width)}\n{recall_line}"


def _format_gain(stage: StageLoss, system_f1: float | None) -> str:
    """Return F1 if the stage were perfect, with the gain over the system's F1; the reason or `–` if undefined."""
    if stage.f1 is None or system_f1 is None:
        return stage.reason or "–"
    return f"{100 * stage.f1:.1f} ({100 * (stage.f1 - system_f1):+.1f})"
