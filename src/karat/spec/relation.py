"""What a file in `karat.relations` holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from karat.model.columns import Floats
from karat.model.items import Items, Pairs


@dataclass(frozen=True, slots=True)
class Relation:
    """When an answer matches a gold label.

    `located` finds the pairs that stand at the same place; `degree` says how right the link of each such pair
    is, from 0 (wrong link) to 1, and is None where any link will do. A relation that compares links leaves out
    answers without one. `detection` names the relation that asks only for the place. At the level of documents
    each entity counts once per document.
    """

    title: str
    says: str
    located: Callable[[Items, Items], Pairs]
    degree: Callable[[Items, Items, Pairs], Floats] | None = None
    graded: bool = False
    detection: str | None = None
    level: Literal["mention", "document"] = "mention"

    @property
    def links(self) -> bool:
        """Whether entities are compared at all."""
        return self.degree is not None or self.level == "document"
