"""What scoring may ask a knowledge base."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from karat.kb.hierarchy import Hierarchy


class Standing(StrEnum):
    """What becomes of an id when its entity is looked for."""

    UNCHANGED = "unchanged"
    """An entity, written as the knowledge base writes it."""
    MAPPED = "mapped"
    """Another id, or another spelling, of an entity."""
    REDIRECTED = "redirected"
    """An id that was moved to an entity."""
    DISAMBIGUATION = "disambiguation page"
    """No entity, but a list of several."""
    AMBIGUOUS = "ambiguous"
    """An id that leads to several entities, and is left as it is."""
    UNKNOWN = "unknown"
    """An id that the knowledge base does not have; of one with some entities only, that says nothing about it."""


class KB(Protocol):
    """A knowledge base. It answers for many ids at a time, because asking may be slow."""

    @property
    def name(self) -> str:
        """How reports and signatures call it."""

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that change with the content, not with the order of rows."""

    @property
    def hierarchy(self) -> Hierarchy:
        """Its classes; their ids are as written."""

    def canonical(self, ids: Sequence[str]) -> list[str]:
        """For each id the one that stands for the same entity; an unknown id stands for itself.

        Redirects are followed to their end; then one id is chosen among those that are the same.
        """

    def standings(self, ids: Sequence[str]) -> list[Standing]:
        """What becomes of each id on the way to its canonical one."""

    def has(self, ids: Sequence[str]) -> list[bool] | None:
        """Whether each id stands for an entity of the knowledge base; None if it has no table of entities."""

    def names(self, ids: Sequence[str]) -> list[str | None]:
        """The name of each entity; None where it is not known."""

    def aliases(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """What else each entity is called, letter by letter; None where no alias is known."""

    def types(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """The types of each entity, ids of classes as written; None where they are not known.

        An entity that is known to have none has the empty set. Quantities have the type `QUANTITY`, dates and times
        the type `DATETIME`.
        """

    def popular(self, surfaces: Sequence[str]) -> list[frozenset[str] | None]:
        """The entities that each surface, letter by letter, most often stands for, as canonical ids.

        Several are equally frequent. None where the surface is not known, which does not say that it has no entity.
        """

    def comparable(self, ids: Sequence[str]) -> list[bool]:
        """Whether each id, if canonical, is written as those are that surfaces stand for (`popular`).

        Of an id of another scheme nobody can say whether it is one of them.
        """

    def demonyms(self, surfaces: Sequence[str]) -> list[bool | None]:
        """Whether each surface, letter by letter, is a demonym; None if there is no table of demonyms."""
