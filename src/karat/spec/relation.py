"""What a file in `karat.relations` holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from karat.model.items import Items, Pairs
from karat.model.tables.columns import Bools, Floats


@dataclass(frozen=True, slots=True)
class Relation:
    """When an answer matches a gold label.

    `located` finds the pairs that may stand at the same place (it is called once for all relations that share it),
    `place` says which of them do, and is None where all do. `degree` says how right the link of each such pair is,
    from 0 or False (a wrong link) to 1 or True, and is None where any link will do; degrees between the two need
    `graded`. A relation that compares links leaves out answers without one, and one that compares types those
    without. `detection` names the relation that asks only for the place. A `loose` relation asks for less than an exact
    span. At the level of documents each entity counts once per document. `credit` says, for pairs that were matched,
    what they add to precision and to recall; then scores are means over items. Where scores are grouped by a label, the
    false positive of a wrong link goes to the value of the answer, or to that of the mention if `by_gold`. `right`
    finds the pairs with a degree above 0 at once; it is asked where too many stand at one place to look at each. A
    relation is `ordered` if it looks at the order of mentions in the files. With `least`, links to entities that are at
    least so related to the right one are right too; its name may say another number (`related>=0.7`).
    """

    title: str
    says: str
    located: Callable[[Items, Items], Pairs]
    place: Callable[[Items, Items, Pairs], Bools] | None = None
    degree: Callable[[Items, Items, Pairs], Floats | Bools] | None = None
    graded: bool = False
    detection: str | None = None
    level: Literal["mention", "document"] = "mention"
    loose: bool = False
    typed: bool = False
    credit: Callable[[Items, Items, Pairs], Floats] | None = None
    by_gold: bool = False
    right: Callable[[Items, Items], Pairs] | None = None
    ordered: bool = False
    least: float | None = None

    @property
    def links(self) -> bool:
        """Whether entities are compared at all."""
        return (self.degree is not None and not self.typed) or self.level == "document"
