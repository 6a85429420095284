"""The categories of the fine-grained paper (Rosales-Méndez, Hogan and Poblete 2019): four dimensions with their leaves.

A category is written `dimension:name`. Every annotation has one leaf in each dimension; an inner node stands for
several leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from karat.errors import UnknownNameError

FEL = "http://w3id.org/vcb/fel#"
"""Where the authors published the scheme; the prefixes `el:` and `mnt:` of other files have no declared address."""

Dialect: TypeAlias = Literal["el", "fel", "nifify"]
"""Who spells it: the paper's files (`el:Mnt-Full`), the published vocabulary, or NIFify v2 (`mnt:FullMentionPN`)."""


class Node(NamedTuple):
    """A category: its titles in the paper's tables of scores (3) and of counts (2), and how each dialect spells it."""

    name: str
    title: str
    counted_as: str
    el: tuple[str, ...]
    fel: tuple[str, ...]
    nifify: tuple[str, ...]


class Dimension(msgspec.Struct, frozen=True):
    """One way to divide annotations; `inner` has the leaves below each inner node."""

    name: str
    title: str
    leaves: tuple[str, ...]
    inner: Mapping[str, tuple[str, ...]]


def _form(name: str, title: str, counted_as: str, fel: str, nifify: str) -> Node:
    return Node(f"form:{name}", title, counted_as, (f"Mnt-{name}",), (fel,), (nifify,))


def _pos(name: str, title: str, fel: str, *nifify: str) -> Node:
    return Node(f"pos:{name}", title, title, (f"PoS-{name}",), (fel,), nifify)


def _overlap(name: str, title: str, counted_as: str, fel: str, *nifify: str) -> Node:
    return Node(f"overlap:{name}", title, counted_as, (f"Olp-{name}",), (fel,), nifify)


def _reference(name: str) -> Node:
    return Node(f"reference:{name}", name, name, (f"Ref-{name}",), (f"{name}Reference",), ())


_LEAVES = (
    _form("Full", "Full Mention", "Full Name", "FullProperForm", "FullMentionPN"),
    _form("Short", "Short Mention", "Short Name", "ShortProperForm", "ShortMentionPN"),
    _form("Extended", "Extended Mention", "Extended Name", "ExtendedProperForm", "ExtendedMentionPN"),
    _form("Alias", "Alias", "Alias", "AliasProperForm", "AliasPN"),
    _form("NumericTemporal", "Numeric/Temporal", "Numeric/Temporal", "NumericTemporalForm", "NumericTemporalPN"),
    _form("CommonForm", "Common Form", "Common Form", "CommonForm", "CommonFormPN"),
    _form("ProForm", "Pro-form", "Pro-form", "ProForm", "Pro-formPN"),
    _pos("NounSingular", "Singular Noun", "SingularNounPhrasePoS", "SingularNounPoS"),
    _pos("NounPlural", "Plural Noun", "PluralNounPhrasePoS", "PluralNounPoS"),
    _pos("Adjective", "Adjective", "AdjectivePoS"),
    _pos("Verb", "Verb", "VerbPoS"),
    _pos("Adverb", "Adverb", "AdverbPoS"),
    _overlap("None", "Non-Overlapping", "No Overlap", "NoOverlap", "Non-Overlapping", "NonOverlapping"),
    _overlap("Maximal", "Maximal Overlap", "Maximal Overlap", "MaximalOverlap"),
    _overlap("Intermediate", "Intermediate Overlap", "Intermediate Overlap", "IntermediateOverlap"),
    _overlap("Minimal", "Minimal Overlap", "Minimal Overlap", "MinimalOverlap"),
    *map(_reference, ("Direct", "Anaphoric", "Metaphoric", "Metonymic", "Related", "Descriptive")),
)
"""The leaves in the order of the paper's tables. An empty `nifify` is spelt as in `fel`."""

_INNER = {
    Node("form:ProperForm", "Proper Noun", "Proper Noun", (), ("ProperForm",), ()): 4,
    Node("pos:NounPhrase", "Noun Phrase", "Noun Phrase", (), ("NounPhrasePoS",), ()): 2,
}
"""Each with the number of leaves below it, which are the first of its dimension. No table has a row for them."""

_TITLES = {"form": "Base Form", "pos": "Part of Speech", "overlap": "Overlap", "reference": "Reference"}


def _dimension(name: str, title: str) -> Dimension:
    leaves = tuple(node.name for node in _LEAVES if node.name.startswith(f"{name}:"))
    inner = {node.name: leaves[:count] for node, count in _INNER.items() if node.name.startswith(f"{name}:")}
    return Dimension(name, title, leaves, MappingProxyType(inner))


DIMENSIONS: Mapping[str, Dimension] = MappingProxyType(
    {name: _dimension(name, title) for name, title in _TITLES.items()}
)
"""By name, in the paper's order."""

NODES: Mapping[str, Node] = MappingProxyType({node.name: node for node in (*_LEAVES, *_INNER)})
"""Every category of the scheme, leaves first."""

LEAVES: tuple[str, ...] = tuple(node.name for node in _LEAVES)
"""All leaves of all dimensions, in the order of the paper's tables."""

ABOVE: Mapping[str, str] = MappingProxyType(
    {leaf: node for each in DIMENSIONS.values() for node, leaves in each.inner.items() for leaf in leaves}
)
"""The inner node above each leaf that has one."""

_SPELT = {spelling: node.name for node in NODES.values() for spelling in (*node.el, *node.fel, *node.nifify)}


def dimension_of(category: str) -> Dimension:
    """The dimension that a category of the scheme belongs to."""
    return DIMENSIONS[_node(category).name.partition(":")[0]]


def is_leaf(category: str) -> bool:
    """Whether this is a category of the scheme with none below it."""
    return category in NODES and category not in dimension_of(category).inner


def leaves_of(category: str) -> tuple[str, ...]:
    """The leaves that a category of the scheme, or a whole dimension (`form`), stands for; a leaf is its own."""
    if category in DIMENSIONS:
        return DIMENSIONS[category].leaves
    return dimension_of(category).inner.get(category, (category,))


def title_of(category: str, *, counted: bool = False) -> str:
    """How the paper's table of scores calls a category or a dimension, or its table of counts (`counted`)."""
    if category in DIMENSIONS:
        return DIMENSIONS[category].title
    return _node(category).counted_as if counted else _node(category).title


def spelt(category: str, dialect: Dialect = "fel") -> str:
    """The name of a category in one of the dialects, without prefix; inner nodes are in the published one only."""
    node = _node(category)
    spellings: tuple[str, ...] = getattr(node, dialect) or node.fel
    return spellings[0]


def address_of(category: str) -> str:
    """The address of a category in the published vocabulary."""
    return FEL + spelt(category)


def category_of(local: str) -> str | None:
    """The category that a name without prefix stands for, in any of the dialects."""
    return _SPELT.get(local)


def _node(category: str) -> Node:
    if category not in NODES:
        raise UnknownNameError("category", category, list(NODES))
    return NODES[category]
