"""Changes that annotators make to labels, and decisions of adjudicators. Records are added and never changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from karat.model.document import Label

RecordId: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9-]{1,64}$")]
LabelId: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9-]{1,40}$")]


class AnnotatedLabel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A label with an annotator's note."""

    label: Label
    """The label."""
    note: Annotated[str, msgspec.Meta(max_length=2000)] = ""
    """A note of the annotator."""


LabelState: TypeAlias = AnnotatedLabel | UnsetType | None
"""A label; None if it was deleted, or a suggestion was rejected; UNSET if nothing was decided yet."""


class LabelEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The state of one label before and after a change."""

    id: LabelId
    """Id of the label; that of a suggestion if the label is made of one."""
    after: LabelState = UNSET
    """State after the change."""
    before: LabelState = UNSET
    """State before the change, which the server adds."""


class Change(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
    tag_field="record",
    tag="change",
):
    """An annotator's change of the labels of one document, or of its state."""

    id: RecordId
    """Unique id."""
    annotator: str
    """Random pseudonym of the annotator."""
    task: int
    """Number of the document."""
    kind: Literal["edit", "undo", "redo", "finish", "reopen", "skip", "round"]
    """`edit`, `undo` and `redo` change labels. `round` replaces all labels by the adjudicated ones in a new round."""
    edits: tuple[LabelEdit, ...] = ()
    """Labels that change."""
    undone_id: RecordId | None = None
    """Id of the change that an undo or redo is about."""
    reason: str = ""
    """Reason for skipping the document."""
    round: int = 1
    """Number of the round."""
    guidelines: int = 0
    """Index of the version of the guidelines."""
    server_time: str
    """Time on the server, in ISO 8601."""
    client_time: str | None = None
    """Time on the annotator's device, in ISO 8601."""
    seconds: float | None = None
    """Time since the previous change in this document, without pauses, as the page measured it."""


class RegionDecision(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
    tag_field="record",
    tag="decision",
):
    """An adjudicator's decision on a region in which annotators disagree."""

    id: RecordId
    """Unique id."""
    annotator: str
    """Random pseudonym of the adjudicator."""
    task: int
    """Number of the document."""
    start: int
    """Start of the region in the document."""
    end: int
    """End of the region in the document."""
    digest: str
    """Digest of the versions that the adjudicator saw. The decision counts while the annotators do not change them."""
    choice: str
    """Pseudonym of the annotator whose version is adopted, `none`, `edited`, or `open` to withdraw a decision."""
    labels: tuple[AnnotatedLabel, ...] = ()
    """Labels of the region after the decision."""
    reason: Annotated[str, msgspec.Meta(max_length=2000)] = ""
    """Reason, which annotators see."""
    round: int = 1
    """Number of the round."""
    server_time: str
    """Time on the server, in ISO 8601."""


Record: TypeAlias = Change | RegionDecision


def apply_changes(
    changes: Iterable[Change], labels: Mapping[str, AnnotatedLabel | None] | None = None
) -> dict[str, AnnotatedLabel | None]:
    """Return the labels of one annotator in one document by id after changes, oldest first.

    None marks a deleted label or rejected suggestion. `labels` is the state before the changes.
    """
    state = dict(labels or {})
    for change in changes:
        for edit in change.edits:
            if isinstance(edit.after, UnsetType):
                state.pop(edit.id, None)
            else:
                state[edit.id] = edit.after
    return state


class DocumentState(msgspec.Struct, frozen=True):
    """The labels of one annotator in one document, and the changes that undo and redo are about."""

    labels: Mapping[str, AnnotatedLabel | None] = {}
    """Labels by id; None marks a deleted label or rejected suggestion."""
    revision: int = 0
    """Number of changes of labels so far."""
    done: tuple[Change, ...] = ()
    """Changes that undo takes back, the next one last."""
    undone: tuple[Change, ...] = ()
    """Changes that redo repeats, the next one last. A new edit empties them."""
    round_change: Change | None = None
    """Change with which the latest round began; None in the first one."""

    @property
    def current_labels(self) -> dict[str, AnnotatedLabel]:
        """Labels by id, without deleted ones and rejected suggestions."""
        return {id: label for id, label in self.labels.items() if label is not None}

    def extend(self, changes: Iterable[Change]) -> DocumentState:
        """Return the state after changes, oldest first; raise `ValueError` for an undo or redo of no change."""
        new = list(changes)
        done, undone, round_change = list(self.done), list(self.undone), self.round_change
        for change in new:
            match change.kind:
                case "edit":
                    done.append(change)
                    undone.clear()
                case "undo":
                    undone.append(_pop(done, change))
                case "redo":
                    done.append(_pop(undone, change))
                case "round":
                    done.clear()
                    undone.clear()
                    round_change = change
        n_changes = sum(change.kind in _LABEL_CHANGES for change in new)
        labels = apply_changes(new, self.labels)
        return DocumentState(labels, self.revision + n_changes, tuple(done), tuple(undone), round_change)


_LABEL_CHANGES: Final = frozenset({"edit", "undo", "redo", "round"})


def _pop(changes: list[Change], record: Change) -> Change:
    """Remove and return the last of the changes; raise `ValueError` unless the undo or redo `record` is about it."""
    if not changes or changes[-1].id != record.undone_id:
        raise ValueError(f"{record.kind} of a change that is not the last one")
    return changes.pop()


def reverse_edits(change: Change) -> tuple[LabelEdit, ...]:
    """Return the edits that take back a change."""
    return tuple(LabelEdit(edit.id, edit.before, edit.after) for edit in reversed(change.edits))
