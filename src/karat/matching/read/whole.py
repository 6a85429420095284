"""What must be known of the whole, where only a block of a corpus is at hand."""

from __future__ import annotations

from collections.abc import Mapping, Set

import msgspec

from karat.model.corpus import Corpus


class Whole(msgspec.Struct, frozen=True, eq=False):
    """Facts about a whole corpus and run that decide what a block of them counts.

    `known` has a label for every entity that is given types, with all of them, and labels with every other value;
    `answered` are the fields in which answers have values anywhere, and `named` the types and categories they name.
    None where nobody asks. `types` are those that gold labels give to each entity, where answers are dropped by type.
    Whatever else is a matter of the whole, such as whether answers have scores at all, is not asked of a block.
    """

    gold_tags: bool = False
    answer_tags: bool = False
    known: Corpus | None = None
    answered: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    types: Mapping[str, Set[str]] = msgspec.field(default_factory=dict)
