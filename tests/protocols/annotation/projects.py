"""Small annotation projects, written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from karat import Label
from karat.protocols.annotation.changes import AnnotatedLabel, Change, LabelEdit, RegionDecision
from karat.protocols.annotation.project import AnnotationTask, Guidelines, Project, ProjectOptions, Suggestion
from karat.protocols.annotation.regions import find_regions

TEXT = "Chatham, New Jersey hired the Soviet dancer Ann on 5 May. She left."


def annotate(*labels: Label, note: str = "") -> tuple[AnnotatedLabel, ...]:
    return tuple(AnnotatedLabel(label, note) for label in labels)


def make_task(number: int = 0, text: str = TEXT, document: str | None = None, **fields: object) -> AnnotationTask:
    span = {"start": 0, "end": len(text), **fields}
    return AnnotationTask(number, document or f"d{number}", text, **span)  # type: ignore[arg-type]


def make_project(tasks: Iterable[AnnotationTask], **options: object) -> Project:
    tasks = tuple(tasks)
    settings = {"name": "small", "documents": len(tasks), **options}
    return Project(ProjectOptions(**settings), tasks, (Guidelines("fair", "Mark all."),), "secret")  # type: ignore[arg-type]


class Recorder:
    """Records as the store writes them, with a clock that ticks once a minute."""

    def __init__(self) -> None:
        self.records: list[Change | RegionDecision] = []
        self.round = 1

    def _next(self) -> tuple[str, str]:
        number = len(self.records)
        return f"x{number}", f"2026-01-01T{number // 60:02}:{number % 60:02}:00Z"

    def change(self, annotator: str, task: int, kind: str, **fields: object) -> None:
        id, time = self._next()
        content = {"round": self.round, **fields}
        self.records.append(
            Change(id=id, annotator=annotator, task=task, kind=kind, server_time=time, **content)  # type: ignore[arg-type]
        )

    def edit(
        self, annotator: str, task: int, edits: Mapping[str, AnnotatedLabel | None], seconds: float | None = 6.0
    ) -> None:
        changes = tuple(LabelEdit(id, after) for id, after in edits.items())
        self.change(annotator, task, "edit", edits=changes, seconds=seconds)

    def finish(self, annotator: str, task: int, *labels: Label) -> None:
        """Mark labels and finish the document."""
        if labels:
            self.edit(annotator, task, {f"{annotator}{n}": AnnotatedLabel(label) for n, label in enumerate(labels)})
        self.change(annotator, task, "finish")

    def decide(self, task: int, versions: Mapping[str, tuple[AnnotatedLabel, ...]], **fields: object) -> None:
        """Decide the first region of these versions in which annotators disagree."""
        region = next(region for region in find_regions(versions) if not region.is_agreed)
        id, time = self._next()
        choice = fields.pop("choice")
        labels = fields.pop("labels", None)
        chosen = region.versions.get(str(choice), ()) if labels is None else labels
        self.records.append(
            RegionDecision(
                id=id,
                annotator="judge",
                task=task,
                start=region.start,
                end=region.end,
                digest=region.digest,
                choice=str(choice),
                labels=chosen,  # type: ignore[arg-type]
                round=self.round,
                server_time=time,
                **fields,  # type: ignore[arg-type]
            )
        )


def suggest(*labels: Label, sources: tuple[str, ...] = ("a",)) -> tuple[Suggestion, ...]:
    return tuple(Suggestion(f"s{number}", label, sources) for number, label in enumerate(labels))
