"""What a file in `karat.relations` holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from karat.errors import UnknownNameError, UsageError
from karat.model.items import Items, Pairs
from karat.model.tables.columns import Bools, Floats


class Nearness(StrEnum):
    """What a wrong entity is to the right one; the first that holds counts."""

    PARENT = "parent"
    """A class that the right entity is of, or is below."""
    CHILD = "child"
    """The other way round."""
    METONYM = "metonym"
    """Called the same, and one of the two is a place and the other is none."""
    SAME_NAME = "same-name"
    """Called the same, letter by letter."""
    SIBLING = "sibling"
    """Directly of, or below, the same class."""
    FAR = "none of these"
    UNDECIDED = "undecided"
    """The knowledge base knows neither names nor classes of one of them."""


NEAR: Final = (Nearness.PARENT, Nearness.CHILD, Nearness.METONYM, Nearness.SAME_NAME, Nearness.SIBLING)
"""What can earn a part of a point."""


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
    least so related to the right one are right too; its name may say another number (`related>=0.7`). `near` is the
    partial credit for links that are near the right one; a name alone gives it (`weak+parent=0.5+child=0.25`).
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
    near: Mapping[str, float] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        for name, points in (self.near or {}).items():
            if name not in NEAR:
                raise UnknownNameError("near miss", name, NEAR)
            if not 0 <= points <= 1:
                raise UsageError(f"the credit {name}={points:g} is none. Give a number from 0 to 1, such as 0.5.")

    @property
    def links(self) -> bool:
        """Whether entities are compared at all."""
        return (self.degree is not None and not self.typed) or self.level == "document"
