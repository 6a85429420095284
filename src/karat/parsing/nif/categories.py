"""Names with a prefix, and addresses, read as categories of the fine-grained scheme (`karat.model.scheme`)."""

from __future__ import annotations

from karat.model.scheme import DIMENSIONS, NODES, category_of
from karat.parsing.turtle.turtle import local

SCHEME: dict[str, dict[str, tuple[str, ...]]] = {
    name: {
        leaf.partition(":")[2]: (*NODES[leaf].el, *NODES[leaf].fel, *NODES[leaf].nifify) for leaf in dimension.leaves
    }
    for name, dimension in DIMENSIONS.items()
}
"""By dimension and tag, all its spellings."""


def category(name: str) -> str | None:
    """The category that an address or a name with a prefix stands for, as `dimension:tag`."""
    return category_of(local(name))
