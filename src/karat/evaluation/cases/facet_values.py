"""Facet values of gold labels, predictions and documents, and the views they define."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from karat.evaluation.cases.grouped_sums import Values
from karat.evaluation.task_inputs import TaskInputs
from karat.matching.align.overlap import find_same_spans, same_entity
from karat.matching.facts.facts import Facts
from karat.matching.read.facets import document_facet_values
from karat.matching.read.pairing import Pairing
from karat.model.measure_name import ViewName
from karat.model.output.text_layout import format_count
from karat.model.results.verdict import Verdicts
from karat.model.spec.settings.conventions import Groups, Quantities, UnknownNames
from karat.model.spec.settings.task import TASKS, TaskSource
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Ints
from karat.model.tables.facet_values import NONE


def get_facet_values(inputs: TaskInputs, name: str, source: TaskSource | None = None) -> Values:
    """Return the values of a facet for all gold labels and predictions of one kind, by default that of the task."""
    facet = inputs.get_facet(name)
    if facet.from_facts is not None:
        facts = inputs.facts if source is None else inputs.get_facts(source)
        return Values(name, facet.from_facts(facts, facts.gold), facet.from_facts(facts, facts.predictions))
    facets = inputs.pairing(source).facets
    return Values(name, facets.gold_values(name), facets.prediction_values(name))


def get_document_values(inputs: TaskInputs, name: str) -> Arrow:
    """Return the value of a document facet for each document, null if the document has none."""
    column = document_facet_values(inputs.corpus, name)
    assert column is not None, "only for facets of documents"
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def needs_rematching(inputs: TaskInputs, name: str) -> bool:
    """Return whether each value of a facet is matched separately, as a filtered view (setting `groups=filtered`)."""
    if inputs.request.conventions.groups is not Groups.FILTERED:
        return False
    facet = inputs.get_facet(name)
    if facet.from_facts is None or facet.field is None:
        return facet.from_mentions is not None
    return inputs.pairing("mentions").facets.dimension_labels.field(facet.field) is not None


def make_value_views(inputs: TaskInputs, name: str, base: ViewName) -> dict[str, ViewName]:
    """Return, by value of the facet `name`, the view `base` filtered by this value; unknown values have none."""
    facets = inputs.pairing(TASKS[base.task or inputs.request.conventions.task_name].source).facets
    values = sorted(set(facets.value_names(name)) - {NONE})
    return {value: replace(base, filters=(*base.filters, f"{name}={value}")) for value in values}


def list_value_views(inputs: TaskInputs) -> list[ViewName]:
    """Return the filtered views of all values of the requested facets that `needs_rematching`; often empty."""
    labels = [name for name in inputs.request.facets if needs_rematching(inputs, name)]
    return [
        view
        for name in labels
        for base in inputs.request.views
        for view in make_value_views(inputs, name, base).values()
    ]


def get_mention_types(facts: Facts, cases: Verdicts) -> Ints:
    """Return the index in `MENTION_TYPES` of the type of each case's gold mention, or else of its prediction."""
    gold = np.append(facts.gold.mention_type, 0)[cases.gold]
    return np.where(cases.gold >= 0, gold, np.append(facts.predictions.mention_type, 0)[cases.prediction])


def count_undecided(inputs: TaskInputs) -> tuple[int, int]:
    """Count items that lack facts: items whose entity has no known name, and undecidable predictions on values.

    Values are quantities and datetimes. Each count is 0 if no facet or setting depends on the fact.
    """
    n_nameless, request = 0, inputs.request
    facets = [inputs.get_facet(name) for name in request.facets]
    if any(label.allowed_values and label.from_facts is not None for label in facets):
        n_nameless = int(inputs.facts.gold.has_unknown_name.sum() + inputs.facts.predictions.has_unknown_name.sum())
    needs_kinds = request.conventions.quantities is Quantities.KIND and request.kb is None
    return n_nameless, _count_undecided_values(inputs.pairing()) if needs_kinds else 0


def count_sources(inputs: TaskInputs) -> dict[str, int]:
    """Count the gold labels by requested facet and source of its value, for facets with several sources."""
    counts: dict[str, int] = {}
    for name in inputs.request.facets:
        facet = inputs.get_facet(name)
        if facet.count_sources is not None and not needs_rematching(inputs, name):
            sources = facet.count_sources(inputs.facts.gold)
            counts |= {f"{source} ({name})": count for source, count in sources.items() if count}
    return counts


def _count_undecided_values(pairing: Pairing) -> int:
    """Count linked predictions on the span of a gold quantity or datetime that might be correct if kinds were known."""
    if not (pairing.gold_kind > 0).any():
        return 0
    gold, predictions = (
        pairing.gold_block(0, len(pairing.corpus)).items,
        pairing.prediction_block(0, len(pairing.corpus)).items,
    )
    values = gold.take(pairing.gold_kind[gold.row] > 0)
    pairs = find_same_spans(values, predictions)
    pairs = pairs.select(predictions.entity[pairs.prediction] >= 0)
    return len(np.unique(pairs.prediction[~same_entity(values, predictions, pairs)]))


def format_undecided_notes(unknown_names: UnknownNames, n_nameless: int, n_undecided_values: int) -> Iterator[str]:
    """Yield a note for each of the two counts of `count_undecided` that is not 0."""
    if n_nameless:
        group = "named entities" if unknown_names is UnknownNames.NAMED else "entity-undecided"
        yield f"{n_nameless} labels and predictions have entities without a known name: they count as {group}"
    if n_undecided_values:
        subject = f"{format_count(n_undecided_values, 'prediction')} {'is' if n_undecided_values == 1 else 'are'}"
        yield f"{subject} on quantities or datetimes, but the kind of the predicted entities is unknown: pass --kb"
