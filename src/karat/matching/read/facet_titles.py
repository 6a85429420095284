"""Titles of the values of facets, for tables."""

from __future__ import annotations

from collections.abc import Collection

from karat.kb.protocol import KB
from karat.kb.type_names import find_type_names
from karat.model.errors import UnknownNameError
from karat.model.finegrained_scheme import NODES, get_title
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.category import ErrorCategory
from karat.model.spec.facet import Facet


def get_value_titles(facet: str, values: Collection[str], kb: KB | None) -> dict[str, str]:
    """Return the titles of a facet's values: of error categories and the fine-grained paper, names, or the values.

    Names are those of `kb`, or else of the built-in knowledge base.
    """
    if facet == "error":
        category_names = list_plugins("categories")
        return {
            name: get_plugin("categories", name, ErrorCategory).title if name in category_names else name
            for name in values
        }
    has_ids = facet in list_plugins("facets") and get_plugin("facets", facet, Facet).has_ids
    names = find_type_names(values, kb) if has_ids else {}
    titles = {value: f"{names[value]} ({value})" if names.get(value, value) != value else value for value in values}
    categories = {value: to_category(facet, value) for value in values}
    return titles | {value: get_title(category) for value, category in categories.items() if category in NODES}


def unknown_value_error(facet: str, value: str, values: Collection[str], kind: str | None = None) -> UnknownNameError:
    """Return the error for an unknown value of a facet; it lists the known values as tables show them.

    `kind` is the noun for such values, by default `value of FACET`.
    """
    return UnknownNameError(kind or f"value of {facet}", value, values, titles=get_value_titles(facet, values, None))


def to_category(facet: str, value: str) -> str:
    """Return the category, as `dimension:name`, that a value of a facet means."""
    return value if facet == "category" else f"{facet}:{value}"
