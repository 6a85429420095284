"""Facet values of labels and predictions, for filters and groups: types, NIL, categories, document metadata.

A block is a part of the documents with the responses to them.
"""

from __future__ import annotations

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.corpus import Corpus, lookup_meta
from karat.model.errors import UnknownNameError, UsageError
from karat.model.items import CodeLists
from karat.model.output.command_options import format_option
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.facet import Facet
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs, Mentions
from karat.model.tables.facet_values import NONE, FacetValues, add_inner_categories, combine_values, string_values

META = "meta."
"""Prefix of facets that are keys of the document metadata."""


class Facets(msgspec.Struct, frozen=True, eq=False):
    """Facet values of all labels and predictions, computed on first use."""

    labels: Mentions
    """Gold labels of the corpus or block."""
    predictions: Mentions
    """Predictions of the run or block."""
    context_labels: Mentions | None = None
    """Labels with all facet values of the whole corpus, if `labels` are those of a block."""
    predicted_fields: frozenset[str] = frozenset()
    """Fields in which any prediction of the whole run has a value."""
    _gold_cache: dict[str, FacetValues] = msgspec.field(default_factory=dict)
    _prediction_cache: dict[str, FacetValues] = msgspec.field(default_factory=dict)

    def gold_values(self, name: str) -> FacetValues:
        """Return the values of the facet `name` for all labels of the corpus or block; cached."""
        if name not in self._gold_cache:
            self._gold_cache[name] = facet_values(self.labels, name, self.dimension_labels)
        return self._gold_cache[name]

    def prediction_values(self, name: str) -> FacetValues:
        """Return the values of the facet `name` for all predictions of the run or block; cached."""
        if name not in self._prediction_cache:
            values = prediction_facet_values(self.predictions, name, self.dimension_labels)
            fields = {facet.field or "categories" for facet in _split_facets(name, self.dimension_labels)}
            self._prediction_cache[name] = values._replace(
                has_values=values.has_values or fields <= self.predicted_fields
            )
        return self._prediction_cache[name]

    def value_names(self, name: str) -> list[str]:
        """Return the distinct values of the facet `name` in the whole gold standard, also for a block."""
        return (
            self.gold_values(name).names
            if self.context_labels is None
            else facet_values(self.context_labels, name, self.context_labels).names
        )

    @property
    def dimension_labels(self) -> Mentions:
        """Labels that define the category dimensions: those of the whole corpus."""
        return self.labels if self.context_labels is None else self.context_labels


def facet_names(labels: Mentions) -> list[str]:
    """Return the names of facets by which `labels` can be grouped: plugins, category dimensions, and `meta.KEY`."""
    return list(dict.fromkeys([*list_plugins("facets"), *dimension_names(labels), f"{META}KEY"]))  # both may have `nil`


def get_facet(name: str, labels: Mentions) -> Facet:
    """Return a facet by name: a plugin, a category dimension of `labels`, `meta.KEY`, or several joined by `+`.

    The dimension of the category `form:Alias` is `form`. `meta.KEY` is a key of the document metadata. Raise
    `UnknownNameError` if there is no such facet.
    """
    facet = _find_single_facet(name, labels)
    if facet is not None:
        return facet
    parts = _split_facets(name, labels)
    if len(parts) > 1 and all(part.field is not None for part in parts):
        fields = [(part.field or "", part_name) for part, part_name in zip(parts, name.split("+"), strict=True)]
        return Facet(
            name, f"Combinations of {name}.", from_mentions=lambda m: _combine_fields(m, fields), needs_context="always"
        )
    raise UnknownNameError("facet", name, facet_names(labels))


def _find_single_facet(name: str, labels: Mentions) -> Facet | None:
    """Return the facet `name` of a plugin, the metadata or a category dimension of `labels`, or None."""
    if (facet := _find_builtin_facet(name)) is not None:
        return facet
    return _dimension_facet(name) if name in dimension_names(labels) else None


def _find_builtin_facet(name: str) -> Facet | None:
    """Return the facet `name` of a plugin or the document metadata, or None if there is none."""
    if (plugin := name.replace("_", "-")) in list_plugins("facets"):
        return get_plugin("facets", plugin, Facet)
    return _metadata_facet(name) if name.startswith(META) and len(name) > len(META) else None


def find_document_facet(name: str) -> Facet | None:
    """Return the document facet `name`, or None if `name` is a facet of mentions."""
    facet = _find_builtin_facet(name)
    return facet if facet is not None and facet.from_documents is not None else None


def _split_facets(name: str, labels: Mentions) -> list[Facet]:
    """Return the facets that `name` joins by `+`; an empty list if one of them is unknown."""
    facets = [_find_single_facet(part, labels) for part in name.split("+")]
    return [] if None in facets else [part for part in facets if part is not None]


def dimension_names(labels: Mentions) -> list[str]:
    """Return the dimensions of the categories of `labels`, sorted."""
    categories = labels.field("categories")
    if categories is None:
        return []
    values = pc.unique(categories.flatten()).to_pylist()
    return sorted({value.partition(":")[0] for value in values if ":" in value})


def _metadata_facet(name: str) -> Facet:
    """Return the facet `meta.KEY` of a key of the document metadata."""
    key = name.removeprefix(META)
    return Facet(
        name, f"Value of `{key}` in the document metadata.", from_documents=lambda table, _: lookup_meta(table, (key,))
    )


def _dimension_facet(name: str) -> Facet:
    """Return the facet of a category dimension."""
    prefix = f"{name}:"
    return Facet(
        name,
        f"Categories of the dimension {name}.",
        from_mentions=lambda m: add_inner_categories(string_values(m.field("categories"), len(m), prefix), prefix),
        field="categories",
        needs_context="always",
    )


def _combine_fields(mentions: Mentions, fields: list[tuple[str, str]]) -> FacetValues:
    """Return the combined values of several facets of each mention; `fields` has field and facet name of each."""
    columns = [(mentions.field(field), "" if field == name.replace("-", "_") else f"{name}:") for field, name in fields]
    return combine_values([string_values(column, len(mentions), prefix) for column, prefix in columns])


def facet_values(mentions: Mentions, name: str, labels: Mentions) -> FacetValues:
    """Return the values of the facet `name` for `mentions`; `labels` define the category dimensions.

    Raise `UnknownNameError` if it is no facet of mentions.
    """
    facet = get_facet(name, labels)
    carried = facet.from_mentions
    if facet.from_outcomes is not None:
        raise UsageError(f"{name} depends on several systems. Use it with karat compare --by {name}.")
    if carried is None and facet.from_facts is not None and not facet.needs_facts:
        raise UsageError(f"{name} depends on the system. Use it with karat score --by {name}.")
    if carried is None:
        raise UsageError(
            f"{name} is computed after matching and selects no mentions before it. Use it with "
            f"{format_option('by', name)}, or after the measure: strong:micro.f1@{name}=VALUE."
        )
    return carried(mentions)


def corpus_facet_values(corpus: Corpus, name: str) -> FacetValues:
    """Return the values of the facet `name` for all labels of a corpus; document facets are passed on to labels."""
    column = document_facet_values(corpus, name)
    if column is None:
        return facet_values(corpus.labels, name, corpus.labels)
    return string_values(column.take(pa.array(corpus.labels.document)), len(corpus.labels))


def document_facet_values(corpus: Corpus, name: str) -> Arrow | None:
    """Return the facet value of each document, null if it has none; None if `name` is no document facet."""
    facet = find_document_facet(name)
    return (
        None if facet is None or facet.from_documents is None else facet.from_documents(corpus.table, corpus.metadata)
    )


def prediction_facet_values(predictions: Mentions, name: str, labels: Mentions) -> FacetValues:
    """Return the values of the facet `name` for all predictions; `labels` define the category dimensions.

    Few systems predict types: for a facet with `has_gold_fallback`, a prediction without values takes all values that
    `labels` give to its entity.
    """
    facet, values = get_facet(name, labels), facet_values(predictions, name, labels)
    if not facet.has_gold_fallback or facet.field is None or labels.field(facet.field) is None:
        return values
    gold_values = facet_values(labels, name, labels)
    names = list(dict.fromkeys([*values.names, *gold_values.names]))
    code = {value: index for index, value in enumerate(names)}
    value_codes = np.array([code[value] for value in values.names], np.int32)[values.lists.values]
    by_entity = _entity_values(
        labels, gold_values, np.array([code[value] for value in gold_values.names], np.int64), code[NONE]
    )
    all_lists = CodeLists(
        np.concatenate([values.lists.offsets, values.lists.offsets[-1] + by_entity.offsets[1:]]),
        np.concatenate([value_codes, by_entity.values]),
    )
    gold_code = np.append(
        pc.index_in(predictions.names, labels.names).fill_null(-1).to_numpy(zero_copy_only=False), [-1, -1]
    )
    entity = gold_code[predictions.entity]
    has_gold_values = np.append(np.diff(by_entity.offsets) > 0, False)[entity]
    has_no_value = value_codes[values.lists.offsets[:-1]] == code[NONE]
    rows = np.where(
        has_no_value & has_gold_values & (entity >= 0), len(predictions) + entity, np.arange(len(predictions))
    )
    return FacetValues(all_lists.take(rows), names)


def _entity_values(labels: Mentions, values: FacetValues, codes: Longs, none: int) -> CodeLists:
    """Return for each entity code of `labels` the codes of all facet values that any label gives it.

    `codes` maps the codes in `values` to the result's; `none` is the result's code of no value, which is dropped.
    """
    entity = np.repeat(labels.entity, np.diff(values.lists.offsets)).astype(np.int64)
    value = codes[values.lists.values]
    mask = (entity >= 0) & (value != none)
    pairs = np.unique((entity[mask] << 32) | value[mask])
    counts = np.bincount(pairs >> 32, minlength=len(labels.names))
    return CodeLists(np.concatenate([[0], np.cumsum(counts)]), (pairs & 0xFFFFFFFF).astype(np.int32))
