"""What scoring may ask a knowledge base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from karat.kb.hierarchy import Hierarchy


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

    def has(self, ids: Sequence[str]) -> list[bool] | None:
        """Whether each id stands for an entity of the knowledge base; None if it has no table of entities."""
