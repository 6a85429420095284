"""Categories of the fine-grained scheme, from prefixed names and IRIs."""

from __future__ import annotations

from karat.formats.parsing.turtle.turtle import get_local_name
from karat.model.finegrained_scheme import DIMENSIONS, NODES, find_category

SCHEME: dict[str, dict[str, tuple[str, ...]]] = {
    name: {
        leaf.partition(":")[2]: (*NODES[leaf].el, *NODES[leaf].fel, *NODES[leaf].nifify) for leaf in dimension.leaves
    }
    for name, dimension in DIMENSIONS.items()
}
"""Spellings of each tag, by dimension and tag."""


def parse_category(name: str) -> str | None:
    """Return the category of the fine-grained scheme that an IRI or prefixed name denotes, as `dimension:tag`.

    Only the local name counts; the namespace is ignored. Return None if it is no spelling of a category.
    """
    return find_category(get_local_name(name))
