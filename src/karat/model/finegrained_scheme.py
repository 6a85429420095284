"""The categories of the fine-grained paper (Rosales-Méndez, Hogan and Poblete 2019): four dimensions of leaves.

A category is written `dimension:name`. Every annotation has one leaf per dimension. An inner category groups leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from karat.model.errors import UnknownNameError

FEL = "http://w3id.org/vcb/fel#"
"""The namespace of the published scheme; the prefixes `el:` and `mnt:` in other files have no declared address."""

Dialect: TypeAlias = Literal["el", "fel", "nifify"]
"""The spelling: the paper's files (`el:Mnt-Full`), the published vocabulary, or NIFify v2 (`mnt:FullMentionPN`)."""


COARSE_TYPES = ("Person", "Organisation", "Place", "Miscellany")
"""The types of entities in the paper's files."""


class Node(NamedTuple):
    """A category with its titles and spellings."""

    name: str
    """The category, as `dimension:name`."""
    title: str
    """The title in the paper's score table (Table 3)."""
    count_title: str
    """The title in the paper's count table (Table 2)."""
    el: tuple[str, ...]
    """The spellings in the paper's files."""
    fel: tuple[str, ...]
    """The spellings in the published vocabulary."""
    nifify: tuple[str, ...]
    """The spellings in NIFify v2; empty if as in `fel`."""


class Dimension(msgspec.Struct, frozen=True):
    """A dimension of the scheme."""

    name: str
    """The name."""
    title: str
    """The title in the paper."""
    leaves: tuple[str, ...]
    """The leaves in the order of the paper."""
    inner: Mapping[str, tuple[str, ...]]
    """The leaves of each inner category."""


def _make_form(name: str, title: str, count_title: str, fel: str, nifify: str) -> Node:
    """Return a leaf of the dimension `form`, the form of the mention's text."""
    return Node(f"form:{name}", title, count_title, (f"Mnt-{name}",), (fel,), (nifify,))


def _make_pos(name: str, title: str, fel: str, *nifify: str) -> Node:
    """Return a leaf of the dimension `pos`, the part of speech.

    `fel` and `nifify`: its names in the dialects FEL and NIFify.
    """
    return Node(f"pos:{name}", title, title, (f"PoS-{name}",), (fel,), nifify)


def _make_overlap(name: str, title: str, count_title: str, fel: str, *nifify: str) -> Node:
    """Return a leaf of the dimension `overlap`, how the mention overlaps others."""
    return Node(f"overlap:{name}", title, count_title, (f"Olp-{name}",), (fel,), nifify)


_LEAVES = (
    _make_form("Full", "Full Mention", "Full Name", "FullProperForm", "FullMentionPN"),
    _make_form("Short", "Short Mention", "Short Name", "ShortProperForm", "ShortMentionPN"),
    _make_form("Extended", "Extended Mention", "Extended Name", "ExtendedProperForm", "ExtendedMentionPN"),
    _make_form("Alias", "Alias", "Alias", "AliasProperForm", "AliasPN"),
    _make_form("NumericTemporal", "Numeric/Temporal", "Numeric/Temporal", "NumericTemporalForm", "NumericTemporalPN"),
    _make_form("CommonForm", "Common Form", "Common Form", "CommonForm", "CommonFormPN"),
    _make_form("ProForm", "Pro-form", "Pro-form", "ProForm", "Pro-formPN"),
    _make_pos("NounSingular", "Singular Noun", "SingularNounPhrasePoS", "SingularNounPoS"),
    _make_pos("NounPlural", "Plural Noun", "PluralNounPhrasePoS", "PluralNounPoS"),
    _make_pos("Adjective", "Adjective", "AdjectivePoS"),
    _make_pos("Verb", "Verb", "VerbPoS"),
    _make_pos("Adverb", "Adverb", "AdverbPoS"),
    _make_overlap("None", "Non-Overlapping", "No Overlap", "NoOverlap", "Non-Overlapping", "NonOverlapping"),
    _make_overlap("Maximal", "Maximal Overlap", "Maximal Overlap", "MaximalOverlap"),
    _make_overlap("Intermediate", "Intermediate Overlap", "Intermediate Overlap", "IntermediateOverlap"),
    _make_overlap("Minimal", "Minimal Overlap", "Minimal Overlap", "MinimalOverlap"),
    *(
        Node(f"reference:{name}", name, name, (f"Ref-{name}",), (f"{name}Reference",), ())
        for name in ("Direct", "Anaphoric", "Metaphoric", "Metonymic", "Related", "Descriptive")
    ),
)
"""The leaves in the order of the paper's tables. An empty `nifify` is spelt as in `fel`."""

_INNER = {
    Node("form:ProperForm", "Proper Noun", "Proper Noun", (), ("ProperForm",), ()): 4,
    Node("pos:NounPhrase", "Noun Phrase", "Noun Phrase", (), ("NounPhrasePoS",), ()): 2,
}
"""Each with the number of leaves below it, which are the first of its dimension. No table has a row for them."""

_TITLES = {"form": "Base Form", "pos": "Part of Speech", "overlap": "Overlap", "reference": "Reference"}


def _make_dimension(name: str, title: str) -> Dimension:
    """Return a dimension with its leaves and inner categories."""
    leaves = tuple(node.name for node in _LEAVES if node.name.startswith(f"{name}:"))
    inner = {node.name: leaves[:count] for node, count in _INNER.items() if node.name.startswith(f"{name}:")}
    return Dimension(name, title, leaves, MappingProxyType(inner))


DIMENSIONS: Mapping[str, Dimension] = MappingProxyType(
    {name: _make_dimension(name, title) for name, title in _TITLES.items()}
)
"""The dimensions by name, in the paper's order."""

NODES: Mapping[str, Node] = MappingProxyType({node.name: node for node in (*_LEAVES, *_INNER)})
"""All categories by name, leaves first."""

LEAVES: tuple[str, ...] = tuple(node.name for node in _LEAVES)
"""All leaves of all dimensions, in the order of the paper's tables."""

PARENTS: Mapping[str, str] = MappingProxyType(
    {leaf: node for dimension in DIMENSIONS.values() for node, leaves in dimension.inner.items() for leaf in leaves}
)
"""The inner category of each leaf that has one."""

_CATEGORIES_BY_SPELLING = {
    spelling: node.name for node in NODES.values() for spelling in (*node.el, *node.fel, *node.nifify)
}


def get_dimension(category: str) -> Dimension:
    """Return the dimension of a category such as `form:Alias`; raise `UnknownNameError` for an unknown category."""
    return DIMENSIONS[_get_node(category).name.partition(":")[0]]


def is_leaf(category: str) -> bool:
    """Return whether `category` is a leaf of the scheme; false for inner and for unknown categories."""
    return category in NODES and category not in get_dimension(category).inner


def get_leaves(category: str) -> tuple[str, ...]:
    """Return the leaves below an inner category or a dimension (`form`), or a leaf itself, as `dimension:name`.

    Raise `UnknownNameError` for other categories.
    """
    if category in DIMENSIONS:
        return DIMENSIONS[category].leaves
    return get_dimension(category).inner.get(category, (category,))


def get_title(category: str, *, counted: bool = False) -> str:
    """Return the title of a category in the paper's score table, or in its count table if `counted`.

    A dimension has one title for both. Raise `UnknownNameError` for other names.
    """
    if category in DIMENSIONS:
        return DIMENSIONS[category].title
    return _get_node(category).count_title if counted else _get_node(category).title


def spell_category(category: str, dialect: Dialect = "fel") -> str:
    """Return the first spelling of a category in a dialect, without the prefix of the namespace.

    A category without a spelling in the dialect, such as every inner one, is spelt as in `fel`.
    """
    node = _get_node(category)
    spellings: tuple[str, ...] = getattr(node, dialect) or node.fel
    return spellings[0]


def find_category(local: str) -> str | None:
    """Return the category, as `dimension:name`, that `local` spells in any dialect; None if there is none.

    `local` has no prefix or namespace.
    """
    return _CATEGORIES_BY_SPELLING.get(local)


def _get_node(category: str) -> Node:
    """Return the node of a category; raise `UnknownNameError` if there is none."""
    if category not in NODES:
        raise UnknownNameError("category", category, list(NODES))
    return NODES[category]
