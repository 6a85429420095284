"""Properties of a whole corpus and run that blocks need, read from a few columns.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, get_args

import msgspec
import numpy as np
import pyarrow.compute as pc

from karat.evaluation.drop_rules import collect_gold_types, needs_types
from karat.evaluation.measures import component_views
from karat.evaluation.request import Request
from karat.evaluation.task_inputs import TaskInputs
from karat.kb.ids.id_context import IdEvidence, build_context
from karat.kb.ids.normal_forms import IdContext
from karat.kb.protocol import KB
from karat.matching.read.facet_titles import unknown_value_error
from karat.matching.read.facets import find_document_facet
from karat.matching.read.read_options import ID_COLUMNS, CorpusContext, collect_table_evidence
from karat.matching.select.selection import FILTERS
from karat.matching.weighting.recall_weights import membership_weights
from karat.model.corpus import Corpus
from karat.model.document import Document, Kind, Label
from karat.model.errors import UnknownNameError, UsageError
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.engine import PartitionedData
from karat.model.spec.facet import Facet as LabelSpec
from karat.model.spec.settings.conventions import Groups, Ids
from karat.model.spec.settings.task import TASKS
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Mentions, flatten_mentions

_ROWS_PER_TABLE = 20_000
_SCALAR_FIELDS = ("kind", "difficulty", "nil_cluster")


class UnsupportedViews(NamedTuple):
    """Views and facets that an engine cannot count, with the reasons."""

    views: Mapping[str, str] = {}
    """Reason by view."""
    facets: Mapping[str, str] = {}
    """Reason by facet."""


def find_unsupported_views(request: Request) -> UnsupportedViews:
    """Return the requested views and facets that an engine, which never holds the whole corpus, cannot count.

    They filter by values that only the whole corpus determines, see `_needs_whole_corpus`.
    """
    views = {
        str(view): f"an engine cannot filter by {facet}"
        for view in request.component_views
        for facet in (condition.partition("=")[0] for condition in view.filters if condition not in FILTERS)
        if _needs_whole_corpus(facet)
    }
    groups_are_filtered = request.conventions.groups is Groups.FILTERED
    facets = [facet for facet in request.facets if groups_are_filtered and _needs_whole_corpus(facet)]
    return UnsupportedViews(views, {facet: f"an engine cannot filter by {facet}" for facet in facets})


def _needs_whole_corpus(facet: str) -> bool:
    """Return whether only the whole corpus determines the values of a facet: `entity`, or combinations as `a+b`."""
    return facet == "entity" or "+" in facet


def drop_unsupported(request: Request, excluded: UnsupportedViews) -> Request:
    """Return the request without the views and facets in `excluded`.

    Raise `UsageError` if no measure remains or a measure names an excluded facet.
    """
    task = request.conventions.task_name
    for name in request.all_measures:
        if name.group is not None and name.group[0] in excluded.facets:
            raise UsageError(f"{name}: {excluded.facets[name.group[0]]}. Load corpus and run into memory.")
    supported = [
        str(name)
        for name in request.all_measures
        if not any(str(part) in excluded.views for part in component_views(name.view, task) or (name.view,))
    ]
    if not supported:
        raise UsageError(f"{next(iter(excluded.views.values()))}. Group by it, or load corpus and run into memory.")
    if not excluded.views and not excluded.facets:
        return request
    by = [facet for facet in request.facets if facet not in excluded.facets]
    return request.replace(by=by, measures=supported, extra_measures=()) if excluded.views else request.replace(by=by)


def collect_context(inputs: TaskInputs, gold: PartitionedData, predictions: PartitionedData) -> CorpusContext:
    """Read all partitions and collect the properties of the whole data that each block needs.

    A block is a number of documents that are evaluated together. The properties are: whether there are tags; the facet
    values of gold labels and predictions, if measures or groups need them; the types of entities, if predictions are
    dropped by type; and how ids are meant, if ids are normalised. `inputs`: the request, without documents. Raise
    `UsageError` for facets of mentions in tasks without mentions, and if labels lack categories that the request
    weights.
    """
    request = inputs.request
    sources = {TASKS[view.task or request.conventions.task_name].source for view in request.component_views}
    filter_facets = {
        name.partition("=")[0] for view in request.component_views for name in view.filters if name not in FILTERS
    }
    filter_facets = {facet for facet in filter_facets if find_document_facet(facet) is None}
    groups_are_filtered = request.conventions.groups is Groups.FILTERED
    if groups_are_filtered:
        filter_facets |= {facet for facet in request.facets if _context_need(facet) != "never"}
    needed_facets = sorted(
        {facet for facet in filter_facets if _context_need(facet) != "never"}
        | {facet for facet in request.facets if _context_need(facet) == "always"}
    )
    if needed_facets and sources != {"mentions"}:
        raise UsageError(
            f"{needed_facets[0]} is a facet of mentions, and an engine supports it only in tasks on mentions."
        )
    gold_tags, prediction_tags = ("entities" in sources and _has_tags(parts) for parts in (gold, predictions))
    types = _collect_types(gold, request.kb) if needs_types(request.drop_rules) else {}
    id_context = _collect_id_context(gold, predictions) if request.conventions.ids is Ids.NORMALISED else None
    if not needed_facets and request.membership is None:
        return CorpusContext(gold_tags, prediction_tags, entity_types=types, id_context=id_context)
    label_values = _LabelValues()
    for items in _iterate_mentions(gold, "labels"):
        label_values.add(items)
    facet_corpus = label_values.corpus()
    if request.membership is not None:
        membership_weights(
            facet_corpus.labels, request.membership
        )  # raises if the labels lack the categories that it weights
    return CorpusContext(
        gold_tags,
        prediction_tags,
        facet_corpus,
        *_prediction_values(predictions),
        entity_types=types,
        id_context=id_context,
    )


def _collect_id_context(gold: PartitionedData, predictions: PartitionedData) -> IdContext:
    """Return how the ids of the whole data are meant, for example whether `Q90` is a Wikidata item.

    The ids of all partitions of both sides decide together.
    """
    sides = []
    for data in (gold, predictions):
        columns = [name for name in ID_COLUMNS if name in data.schema.names]
        evidence = IdEvidence()
        for partition in data.partitions if columns else ():
            for table in partition.tables(_ROWS_PER_TABLE, columns):
                evidence = evidence.merge(collect_table_evidence(table))
        sides.append(evidence)
    return build_context(sides)


def _collect_types(gold: PartitionedData, kb: KB | None) -> dict[str, set[str]]:
    """Return the types that gold labels of all partitions give to each entity, by canonical id."""
    types_by_entity: dict[str, set[str]] = {}
    for items in _iterate_mentions(gold, "labels"):
        for entity, types in collect_gold_types(items, kb).items():
            types_by_entity.setdefault(entity, set()).update(types)
    return types_by_entity


def _context_need(name: str) -> str:
    """Return when a block must know all values of a facet: `never`, `parts` (for filters by it) or `always`.

    Facets of documents never need them, category dimensions always do.
    """
    plugin = name.replace("_", "-")
    if find_document_facet(name) is not None:
        return "never"
    return get_plugin("facets", plugin, LabelSpec).needs_context if plugin in list_plugins("facets") else "always"


def check_values(inputs: TaskInputs, context: CorpusContext, gold: PartitionedData) -> None:
    """Raise for requested facets that do not exist and for filters by values that occur nowhere in the data."""
    for name in inputs.request.facets:
        inputs.get_facet(name)
    for name, value in {text.partition("=")[::2] for view in inputs.request.views for text in view.filters}:
        facet = find_document_facet(name)
        if facet is not None and value not in facet.allowed_values:
            _check_document_value(gold, name, value, facet)
    if context.facet_corpus is None:
        return
    facets = inputs.pairing("mentions").facets
    for view in inputs.request.views:
        for condition in view.filters:
            facet_name, _, value = condition.partition("=")
            if condition not in FILTERS and find_document_facet(facet_name) is None:
                values = facets.value_names(facet_name)
                if value not in values and not {value, f"{facet_name}:{value}"} & context.predicted_values:
                    raise unknown_value_error(facet_name, value, values)


def _check_document_value(gold: PartitionedData, name: str, value: str, facet: LabelSpec) -> None:
    """Raise `UnknownNameError` if no document has this value of a document facet; the documents are read in turn."""
    assert facet.from_documents is not None
    values: set[str] = set()
    for partition in gold.partitions:
        for table in partition.tables(_ROWS_PER_TABLE, ["id", "meta"] if "meta" in gold.schema.names else ["id"]):
            values.update(pc.unique(facet.from_documents(table, gold.metadata).drop_null()).to_pylist())
            if value in values:
                return
    raise UnknownNameError("document" if name == "doc" else f"value of {name}", value, sorted(values))


def _has_tags(data: PartitionedData) -> bool:
    """Return whether any document or response has tags; reads until the first."""
    if "tags" not in data.schema.names:
        return False
    tables = (table for partition in data.partitions for table in partition.tables(_ROWS_PER_TABLE, ["tags"]))
    return any(len(chunk.flatten()) for table in tables for chunk in table.column("tags").chunks)


def _iterate_mentions(data: PartitionedData, column: str) -> Iterator[Mentions]:
    """Yield the mentions in a column (`labels` or `predictions`), table by table; nothing if the column is absent."""
    if column in data.schema.names:
        for partition in data.partitions:
            for table in partition.tables(_ROWS_PER_TABLE, [column]):
                yield flatten_mentions(table.column(column))


def _prediction_values(data: PartitionedData) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the fields types, categories and nil_cluster that predictions have, and their values.

    The values are the types and categories that occur, without clusters.
    """
    fields: set[str] = set()
    values: set[str] = set()
    for items in _iterate_mentions(data, "predictions"):
        for name in ("types", "categories", "nil_cluster"):
            column = items.field(name)
            if column is not None:
                fields.add(name)
                values.update(pc.unique(column.flatten()).to_pylist() if name != "nil_cluster" else ())
    return frozenset(fields), frozenset(values)


class _LabelValues:
    """Distinct values of gold labels: the types of each entity, and all other values."""

    def __init__(self) -> None:
        self.types: dict[str | None, set[str]] = {}
        self.categories: set[str] = set()
        self.scalar_values: dict[str, set[str]] = {name: set() for name in _SCALAR_FIELDS}

    def add(self, items: Mentions) -> None:
        """Record the values that occur in some labels."""
        types, categories = items.field("types"), items.field("categories")
        if categories is not None:
            self.categories.update(pc.unique(categories.flatten()).to_pylist())
        for name, values in self.scalar_values.items():
            column = items.field(name)
            values.update(() if column is None else pc.unique(column.drop_null()).to_pylist())
        if types is not None:
            for entity, kind in _entity_types(items, types):
                self.types.setdefault(entity, set()).add(kind)

    def corpus(self) -> Corpus:
        """Return a made-up corpus of one document whose labels have all the recorded values, for looking up facets."""
        labels_list = [Label(0, 1, entity, types=tuple(sorted(types))) for entity, types in self.types.items()]
        labels_list += [Label(0, 1, None, categories=(category,)) for category in self.categories]
        labels_list += [Label(0, 1, None, kind=kind) for kind in get_args(Kind) if kind in self.scalar_values["kind"]]
        labels_list += [Label(0, 1, None, difficulty=difficulty) for difficulty in self.scalar_values["difficulty"]]
        labels_list += [Label(0, 1, None, nil_cluster=cluster) for cluster in self.scalar_values["nil_cluster"]]
        labels = tuple(msgspec.structs.replace(label, start=n, end=n + 1) for n, label in enumerate(labels_list))
        return Corpus.from_documents([Document("known", "x" * max(1, len(labels)), labels)], name="known")


def _entity_types(items: Mentions, types: Arrow) -> Iterator[tuple[str | None, str]]:
    """Yield each pair of entity and type once; the entity is None for NIL and unlinked mentions."""
    owner = np.repeat(np.arange(len(items)), types.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
    encoded = types.flatten().dictionary_encode()
    pairs = np.column_stack([np.maximum(items.entity[owner], -1), encoded.indices.to_numpy()])
    names, kinds = [*items.names.to_pylist(), None], encoded.dictionary.to_pylist()
    for entity, kind in np.unique(pairs, axis=0).tolist():
        yield names[entity], kinds[kind]
