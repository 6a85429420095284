"""Checks of labels that annotators and adjudicators send."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from karat.model.document import Label
from karat.model.errors import KaratError
from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit
from karat.protocols.annotation.project import AnnotationTask

MAX_EDITS: Final = 5000
"""Labels that one change may have at most."""
MAX_LABELS: Final = 20_000
"""Labels that an annotator may have in one document, including deleted ones."""
_MAX_ID: Final = 2000  # characters of an entity id
_MAX_TEXT: Final = 500  # characters of any other text of a label
_MAX_ITEMS: Final = 50  # types, categories or other ids of a label


class ChangeError(KaratError):
    """A change or decision that is not valid."""


def check_edits(task: AnnotationTask, edits: Iterable[LabelEdit]) -> None:
    """Raise `ChangeError` if a change has no edits or too many, edits a label twice, or makes an invalid label."""
    items = list(edits)
    if not 0 < len(items) <= MAX_EDITS:
        raise ChangeError(f"the change has {len(items)} labels. Send 1 to {MAX_EDITS:,}.")
    if len({edit.id for edit in items}) < len(items):
        raise ChangeError("the change has a label twice. Send each label once.")
    for edit in items:
        if isinstance(edit.after, AnnotatedLabel):
            check_label(task, edit.after.label)


def check_label(task: AnnotationTask, label: Label) -> None:
    """Raise `ChangeError` if a label is empty, outside the evaluation span, or too long."""
    if not task.start <= label.start < label.end <= task.end:
        raise ChangeError(
            f"the label {label.start}–{label.end} is empty or outside the evaluation span {task.start}–{task.end}. "
            "Mark text inside the evaluation span."
        )
    ids = [*label.same_as, *([label.entity] if isinstance(label.entity, str) else [])]
    texts = [label.name, label.difficulty, label.mention_id, label.parent, label.nil_cluster]
    groups = (label.same_as, label.types, label.categories)
    names = [text for text in (*texts, *label.types, *label.categories) if text is not None]
    if not (
        all(len(id.strip()) > 0 and len(id) <= _MAX_ID for id in ids)
        and all(0 < len(name) <= _MAX_TEXT for name in names)
        and all(len(group) <= _MAX_ITEMS for group in groups)
    ):
        raise ChangeError(
            f"the label {label.start}–{label.end} has an empty or very long text, or more than {_MAX_ITEMS} types, "
            "categories or ids. Shorten it."
        )
