"""The interface of a knowledge base: the queries that scoring may send to it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from karat.kb.hierarchy import Hierarchy


class IdStatus(StrEnum):
    """The result of looking up an id in a knowledge base."""

    UNCHANGED = "unchanged"
    """The id is the canonical id of an entity."""
    MAPPED = "mapped"
    """The id is an equivalent id, or another spelling, of an entity."""
    REDIRECTED = "redirected"
    """The id redirects to an entity."""
    DISAMBIGUATION = "disambiguation page"
    """The id names a disambiguation page, not an entity."""
    AMBIGUOUS = "ambiguous"
    """The id is equivalent to several entities, so it stays unchanged."""
    UNKNOWN = "unknown"
    """The knowledge base does not have the id. If the knowledge base is incomplete, the entity may still exist."""


class KB(Protocol):
    """A knowledge base. Every method takes many ids or surfaces at once, because a single query may be slow.

    Canonical id: of all ids that are equivalent (redirects, same-as, other spellings), the one that represents the
    entity. Surface: the text of a mention, compared exactly.
    """

    @property
    def name(self) -> str:
        """Name in reports and signatures."""

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that identify the content, independent of the order of rows."""

    @property
    def hierarchy(self) -> Hierarchy:
        """Classes with their superclasses; class ids stay as written."""

    def canonical_ids(self, ids: Sequence[str]) -> list[str]:
        """Return the canonical id of each id; an unknown id is returned unchanged.

        Redirects are followed to their end first. Then one id represents each class of equivalent ids.
        """

    def id_statuses(self, ids: Sequence[str]) -> list[IdStatus]:
        """Return the status of each id, in order, as the members of `IdStatus` define it."""

    def contains(self, ids: Sequence[str]) -> list[bool] | None:
        """Return whether each id leads to an entity; None (no list) if the knowledge base cannot list its entities."""

    def names(self, ids: Sequence[str]) -> list[str | None]:
        """Return the name of the entity that each id leads to; None if unknown."""

    def aliases(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the aliases of the entity that each id leads to, as written; None if no alias is known."""

    def types(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the types of the entity that each id leads to, as class ids as written; None if unknown.

        An entity that is known to have no type gets the empty set. Quantities have the type `QUANTITY`, dates and times
        the type `DATETIME`.
        """

    def popular_entities(self, surfaces: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the canonical ids of the most frequent entities of each surface; None if the surface is unknown.

        A set has several ids if they are equally frequent. An unknown surface may still have entities.
        """

    def candidate_entities(self, surfaces: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the canonical ids of all entities with each surface as a name, an alias or a popular surface.

        None if no entity is known by the surface.
        """

    def may_be_popular(self, ids: Sequence[str]) -> list[bool]:
        """Return whether each canonical id could occur in a result of `popular_entities`.

        False if no popular entity has an id that is written alike. Such an id cannot be compared with popular entities,
        so its popularity is unknown.
        """

    def are_demonyms(self, surfaces: Sequence[str]) -> list[bool | None]:
        """Return whether each surface is a demonym (such as `German`); None if there is no table of demonyms."""
