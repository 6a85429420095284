"""JSON bodies between the server of a campaign and the page of its lead. Nobody else gets them.

Decisions and times are under pseudonyms, as consent forms say. Worker ids are only in the list of access, which has
no pseudonym unless the person was anonymised.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec

from karat.web.campaigns.payloads import EntityPayload

FigureFormat: TypeAlias = Literal["count", "share", "number", "seconds", "hours", "time", "text"]
"""How the page writes a figure."""


class LeadFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A number of the overview, which opens the cases that `query` selects."""

    title: str
    value: float | str | None
    """The value; null if it is undefined."""
    total: int | None = None
    """The total that a count is a part of."""
    format: FigureFormat = "count"
    query: Mapping[str, str] | None = None
    """Parameters of the request for its cases; null if it has none."""
    total_query: Mapping[str, str] | None = None
    """Parameters of the request for the cases of the total; null if it has none."""
    reason: str = ""
    """Why the value is undefined."""
    is_alarm: bool = False
    """Whether the lead should look at it."""


class FigureGroup(msgspec.Struct, frozen=True):
    """Figures with a common title, and a sentence about them."""

    title: str
    figures: tuple[LeadFigure, ...]
    note: str = ""


class PersonRow(msgspec.Struct, frozen=True):
    """The work of one person, under the pseudonym; all people have figures of the same titles."""

    person: str
    figures: tuple[LeadFigure, ...]
    is_revoked: bool


class AccessRow(msgspec.Struct, frozen=True):
    """A person with access, and figures of the same titles for all."""

    worker: str | None
    person: str | None
    """Pseudonym of an anonymised person, who has no worker id."""
    figures: tuple[LeadFigure, ...]
    is_revoked: bool


class Overview(msgspec.Struct, frozen=True):
    """The state of a campaign at one moment."""

    people: str
    """The role of the people, such as `judges`."""
    time: str
    groups: tuple[FigureGroup, ...]
    persons: tuple[PersonRow, ...]
    access: tuple[AccessRow, ...]


class LabelLine(msgspec.Struct, frozen=True):
    """A mention with the entity that a person gave it; null is NIL, or no entity at all."""

    surface: str
    entity: EntityPayload | None
    details: str = ""


class RecordLine(msgspec.Struct, frozen=True):
    """The decision of one person in a case."""

    person: str
    time: str
    decision: str
    labels: tuple[LabelLine, ...] = ()
    seconds: float | None = None
    notes: tuple[str, ...] = ()


class LeadCase(msgspec.Struct, frozen=True):
    """A mention or document with decisions on it; `start` and `end` are code points of `text`, equal for no mention."""

    document: str
    text: str
    start: int
    end: int
    entity: EntityPayload | None
    notes: tuple[str, ...]
    records: tuple[RecordLine, ...]


class LeadCaseList(msgspec.Struct, frozen=True):
    """Some of the cases behind a number, newest first."""

    title: str
    total: int
    n_records: int
    cases: tuple[LeadCase, ...]


class RevokeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The worker id or the pseudonym of the person whose access is revoked, from the lead."""

    worker: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)] | None = None
    person: Annotated[str, msgspec.Meta(min_length=1, max_length=64)] | None = None
