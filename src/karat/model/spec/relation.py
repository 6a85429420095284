"""The specification of a match relation: the constant `RELATION` of a file in `karat.plugins.relations`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from karat.model.errors import UnknownNameError, UsageError
from karat.model.items import Items, Pairs
from karat.model.tables.columns import Bools, Floats


class Nearness(StrEnum):
    """The relation of a wrong entity to the correct one; the first that applies counts."""

    PARENT = "parent"
    """A class of the correct entity, or a superclass of it."""
    CHILD = "child"
    """An instance or a subclass of the correct entity."""
    METONYM = "metonym"
    """Same name, where exactly one of the two is a location."""
    SAME_NAME = "same-name"
    """Exactly the same name."""
    SIBLING = "sibling"
    """A direct instance or subclass of the same class."""
    FAR = "none of these"
    """No near miss."""
    UNDECIDED = "undecided"
    """The knowledge base has no names or classes for one of the two."""


PARTIAL_CREDIT_KINDS: Final = (Nearness.PARENT, Nearness.CHILD, Nearness.METONYM, Nearness.SAME_NAME, Nearness.SIBLING)
"""The near misses that may earn partial credit."""


@dataclass(frozen=True, slots=True)
class MatchRelation:
    """A definition of when a prediction matches a gold label."""

    # Description
    title: str
    """The name in lists and explanations."""
    description: str
    """One sentence on when a prediction matches."""

    # Matching
    find_pairs: Callable[[Items, Items], Pairs]
    """Find the pairs of gold item and prediction that may match; relations that share it call it once."""
    spans_match: Callable[[Items, Items, Pairs], Bools] | None = None
    """Return for each pair whether its spans match; None if all pairs of `find_pairs` do."""
    degree: Callable[[Items, Items, Pairs], Floats | Bools] | None = None
    """Return how correct the link of each pair is, from 0 (wrong) to 1; None if the link does not matter.

    Predictions without link, or without type where `is_typed`, are not compared.
    """
    is_graded: bool = False
    """Whether `degree` returns values between 0 and 1."""
    detection: str | None = None
    """The name of the relation that compares only the spans."""
    level: Literal["mention", "document"] = "mention"
    """What is matched: mentions, or the distinct entities of a document."""
    is_lenient: bool = False
    """Whether spans may differ."""
    is_typed: bool = False
    """Whether types are compared instead of links."""

    # Scoring
    credit: Callable[[Items, Items, Pairs], Floats] | None = None
    """Return what each matched pair adds to precision and to recall; scores are then means over items."""
    uses_gold_group: bool = False
    """Whether the false positive of a wrong link counts in the gold mention's group, not the prediction's."""
    find_correct_pairs: Callable[[Items, Items], Pairs] | None = None
    """Find the pairs with a positive degree directly, for spans with too many pairs to test each."""
    is_order_dependent: bool = False
    """Whether the result depends on the order of mentions in the files."""

    # Near misses
    min_relatedness: float | None = None
    """The relatedness from which a link to another entity is correct; a name may set it (`related>=0.7`)."""
    partial_credit: Mapping[str, float] | None = field(default=None, hash=False)
    """The credit by `Nearness`; only a name sets it (`weak+parent=0.5+child=0.25`)."""

    def __post_init__(self) -> None:
        for name, points in (self.partial_credit or {}).items():
            if name not in PARTIAL_CREDIT_KINDS:
                raise UnknownNameError("near miss", name, PARTIAL_CREDIT_KINDS)
            if not 0 <= points <= 1:
                raise UsageError(
                    f"{name}={points:g}: the credit is out of range. Give a number from 0 to 1, such as 0.5."
                )

    @property
    def compares_links(self) -> bool:
        """Whether the relation compares entities, either as links of mentions or as entities of documents."""
        return (self.degree is not None and not self.is_typed) or self.level == "document"
