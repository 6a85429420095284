"""Losses by stage of a system, as text and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from karat.model.output.text_layout import format_table, wrap_text
from karat.render.files import JsonRecord, encode_indented
from karat.systems.stage_losses import StageLoss, StageReport


class StageRecord(JsonRecord, frozen=True):
    """A stage: correct mentions out of the mentions that reach it, and F1 if the stage were perfect.

    `reason` says why `f1` is null.
    """

    stage: str
    correct: int
    total: int
    f1: float | None
    reason: str


class SystemStages(JsonRecord, frozen=True):
    """The stages of one system; `recall` is candidate recall by the number of candidates."""

    system: str
    corpus: str
    measure: str
    f1: float | None
    stages: tuple[StageRecord, ...]
    recall: Mapping[str, float]


class StagesFile(JsonRecord, frozen=True):
    """The output of `karat systems stages --json`."""

    layout: Literal["karat-stages/2"]
    systems: tuple[SystemStages, ...]


def to_json(reports: Sequence[StageReport]) -> bytes:
    """Encode stage reports as indented JSON."""
    return encode_indented(
        StagesFile(
            "karat-stages/2",
            tuple(
                SystemStages(
                    report.system,
                    report.corpus,
                    report.measure,
                    report.f1,
                    tuple(StageRecord(s.stage, s.n_correct, s.n_total, s.f1, s.reason) for s in report.stages),
                    {str(k): share for k, share in report.recall.items()},
                )
                for report in reports
            ),
        )
    )


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
            f"{loss.n_correct:,}",
            f"{loss.n_total:,}",
            _format_percent(loss.share),
            _format_gain(loss, report.f1),
        ]
        for loss in report.stages
    ]
    recall = ", ".join(f"{_format_percent(share)} among {k}" for k, share in report.recall.items())
    recall_line = wrap_text(f"candidates in order: {recall}", width) + "\n" if recall else ""
    head = f"{report.system} on {report.corpus}: {report.measure} {_format_percent(report.f1)}"
    return f"{head}\n\n{format_table(rows, (0,), width)}\n{recall_line}"


def _format_percent(value: float | None) -> str:
    """Format a share in percent with one digit; None as the sign for undefined."""
    return "–" if value is None else f"{100 * value:.1f}"


def _format_gain(stage: StageLoss, system_f1: float | None) -> str:
    """Return F1 if the stage were perfect, with the gain over the system's F1; the reason or `–` if undefined."""
    if stage.f1 is None or system_f1 is None:
        return stage.reason or "–"
    return f"{100 * stage.f1:.1f} ({100 * (stage.f1 - system_f1):+.1f})"
