"""JSON bodies that all campaigns exchange with browsers."""

from __future__ import annotations

from typing import Annotated

import msgspec


class SessionRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An invitation, exchanged once for a session, and the participant's consent."""

    invitation: Annotated[str, msgspec.Meta(max_length=2000)]
    consent: bool


class EntityPayload(msgspec.Struct, frozen=True):
    """An entity with its name, description, types and web page."""

    id: str
    name: str | None
    description: str | None
    types: tuple[str, ...]
    link: str | None


class SearchPayload(msgspec.Struct, frozen=True):
    """Entities that match a query: an id or address first, then exact names, then names that start or end alike."""

    entities: tuple[EntityPayload, ...]
