"""JSON bodies between the server and the judges' browsers.

Nothing that judges get reveals which system a link is from, or which tasks are controls.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from karat.web.campaigns.payloads import EntityPayload


class SkipRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reason for skipping a task."""

    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]


class UndoRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The id of the judge's record to undo."""

    id: Annotated[str, msgspec.Meta(max_length=64)]


class CampaignPayload(msgspec.Struct, frozen=True):
    """The campaign as every visitor sees it."""

    name: str
    kind: str
    consent: str
    guidelines: str
    search: bool
    additions: bool


class DecisionPayload(msgspec.Struct, frozen=True):
    """The judge's current decision on a link, with the id to undo it."""

    id: str
    decision: str
    replacement: EntityPayload | None
    selected: tuple[str, ...]


class LinkPayload(msgspec.Struct, frozen=True):
    """A link to be judged, or a mention with the links that a survey proposes.

    Offsets count code points of the task's text.
    """

    start: int
    end: int
    surface: str
    entity: EntityPayload | None
    options: tuple[EntityPayload, ...]
    decision: DecisionPayload | None


class AddedLinkPayload(msgspec.Struct, frozen=True):
    """A link that the judge added."""

    id: str
    start: int
    end: int
    surface: str
    entity: EntityPayload


class TaskPayload(msgspec.Struct, frozen=True):
    """A passage with its links."""

    task: str
    text: str
    links: tuple[LinkPayload, ...]
    added_links: tuple[AddedLinkPayload, ...]


class ProgressPayload(msgspec.Struct, frozen=True):
    """The judge's progress, and the completion code for the crowd platform."""

    completed: int
    batch: int | None
    code: str | None


class NextTaskPayload(msgspec.Struct, frozen=True):
    """The judge's current task; None if no task is left."""

    task: TaskPayload | None
    progress: ProgressPayload


class RecordPayload(msgspec.Struct, frozen=True):
    """A stored record; it is on disk before this is sent."""

    id: str
    decision: str
    is_late: bool
    """Whether the task had been given to another judge in the meantime."""
    progress: ProgressPayload
