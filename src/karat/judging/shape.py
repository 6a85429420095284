"""What judges' browsers send and get. Nothing here says whose links these are, or which tasks are controls."""

from __future__ import annotations

from typing import Annotated

import msgspec


class Entering(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An invitation, exchanged once for a session, and whether the judge agrees to what the campaign asks."""

    invitation: Annotated[str, msgspec.Meta(max_length=2000)]
    consent: bool


class Skipping(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why a task is given back."""

    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]


class Undoing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which of one's own records is taken back."""

    id: Annotated[str, msgspec.Meta(max_length=64)]


class CampaignShown(msgspec.Struct, frozen=True):
    """What is said to everyone who comes: before the first task, and beside each."""

    name: str
    kind: str
    consent: str
    guidelines: str
    search: bool
    additions: bool


class EntityShown(msgspec.Struct, frozen=True):
    """An entity by its id, with what is known of it."""

    id: str
    name: str | None
    description: str | None
    types: tuple[str, ...]
    link: str | None


class DecisionShown(msgspec.Struct, frozen=True):
    """What the judge decided on a link so far, and the id by which it can be undone."""

    id: str
    decision: str
    becomes: EntityShown | None
    chosen: tuple[str, ...]


class LinkShown(msgspec.Struct, frozen=True):
    """A link to be judged, or a mention with the links that a survey proposes.

    Offsets count code points of the text beside it.
    """

    start: int
    end: int
    surface: str
    entity: EntityShown | None
    options: tuple[EntityShown, ...]
    decided: DecisionShown | None


class AdditionShown(msgspec.Struct, frozen=True):
    """A link that the judge added."""

    id: str
    start: int
    end: int
    surface: str
    entity: EntityShown


class TaskShown(msgspec.Struct, frozen=True):
    """A passage with its links."""

    task: str
    text: str
    links: tuple[LinkShown, ...]
    added: tuple[AdditionShown, ...]


class ProgressShown(msgspec.Struct, frozen=True):
    """How far the judge has come; the code is for the platform that the judge comes from."""

    done: int
    batch: int | None
    code: str | None


class NextShown(msgspec.Struct, frozen=True):
    """The task that the judge holds now; None where there is nothing left."""

    task: TaskShown | None
    progress: ProgressShown


class RecordShown(msgspec.Struct, frozen=True):
    """A record that is kept: it is on the disk when this is sent. `late`: the task was given to others meanwhile."""

    id: str
    decision: str
    late: bool
    progress: ProgressShown


class FoundShown(msgspec.Struct, frozen=True):
    """Entities whose names begin so, most popular first."""

    entities: tuple[EntityShown, ...]
