"""What stages lose, as `karat systems stages` prints and writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from karat.comparison.stages import StageLoss, StageReport
from karat.fitting import columns, wrapped
from karat.pages.files import Written, indented


class WrittenStage(Written, frozen=True):
    """A stage: right among those that reach it, and the F1 if all were right, or why there is none."""

    stage: str
    right: int
    among: int
    f1: float | None
    reason: str


class WrittenStages(Written, frozen=True):
    """The stages of one system; `recall` is that of candidates by how many are looked at."""

    system: str
    corpus: str
    measure: str
    f1: float | None
    stages: tuple[WrittenStage, ...]
    recall: Mapping[str, float]


class StagesFile(Written, frozen=True):
    """What `karat systems stages --json` writes."""

    layout: Literal["karat-stages/1"]
    systems: tuple[WrittenStages, ...]


def stages_json(found: Sequence[StageReport]) -> bytes:
    """All of them."""
    return indented(
        StagesFile(
            "karat-stages/1",
            tuple(
                WrittenStages(
                    each.system,
                    each.corpus,
                    each.measure,
                    each.f1,
                    tuple(WrittenStage(s.stage, s.right, s.among, s.f1, s.reason) for s in each.stages),
                    {str(k): share for k, share in each.recall.items()},
                )
                for each in found
            ),
        )
    )


def stages_page(found: Sequence[StageReport], *, width: int | None = None) -> str:
    """A table for each system."""
    return "\n".join(_page(each, width) for each in found)


def _page(found: StageReport, width: int | None) -> str:
    rows = [["stage", "right", "of", "share", "if perfect"]]
    rows += [
        [each.stage, f"{each.right:,}", f"{each.among:,}", _percent(each.share), _gain(each, found.f1)]
        for each in found.stages
    ]
    recall = ", ".join(f"{_percent(share)} among {k}" for k, share in found.recall.items())
    said = wrapped(f"candidates in order: {recall}", width) + "\n" if recall else ""
    head = f"{found.system} on {found.corpus}: {found.measure} {_percent(found.f1)}"
    return f"{head}\n\n{columns(rows, (0,), width)}\n{said}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _gain(stage: StageLoss, before: float | None) -> str:
    if stage.f1 is None or before is None:
        return stage.reason or "–"
    return f"{100 * stage.f1:.1f} ({100 * (stage.f1 - before):+.1f})"
