"""The cases of a system on a dataset for web pages, with names, facet values and candidates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa

from karat.evaluation.cases.facet_values import get_document_values, get_facet_values
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.catalogue import open_starter
from karat.kb.ids.normalising_kb import NormalisingKB
from karat.kb.protocol import KB
from karat.kb.snapshot.snapshot import Snapshot
from karat.kb.type_names import find_type_names
from karat.model.corpus import Corpus
from karat.model.spec.settings.conventions import Groups
from karat.model.spec.settings.task import TaskSource
from karat.model.tables.arrow import Arrow
from karat.model.tables.facet_values import FacetValues
from karat.web.archive.case_table import FACET_PREFIX
from karat.web.archive.credits import compute_relatedness

ERROR = "error"
"""The facet of error categories."""

_DEFAULT_FACETS: Final = {
    "types": "types",
    "mention_type": None,
    "rarity": None,
    "length": None,
    "category": "categories",
    "difficulty": None,
}
"""Facets scored by default, with the gold field that each needs."""

_KINDS: Final = {
    **dict.fromkeys(("tp", "matched prediction", "matched gold"), "correct"),
    "wrong link": "wrong link",
    "fn": "missed",
    "fp": "spurious",
}
"""Outcomes as web pages call them; all others are not counted, and a spurious prediction may be a wrong span."""

MAX_CANDIDATES = 20
"""Maximum number of candidates stored per prediction."""

_Lists = pa.list_(pa.string())


def list_default_facets(request: Request, corpus: Corpus) -> list[str]:
    """Return the facets to score by default whose gold field, if they need one, exists in the corpus.

    There are none if the request filters groups before matching, so that each group would need a new matching.
    """
    if request.conventions.groups is Groups.FILTERED:
        return []
    return [name for name, field in _DEFAULT_FACETS.items() if field is None or corpus.labels.field(field) is not None]


def collect_cases(evaluation: Evaluation, view: str) -> Arrow:
    """Return the cases of a view as a table, one row per case, with entity names, facet values and candidates.

    `gold` is the row of the alternative that was compared, `mention` the row that represents all alternatives.
    """
    table = evaluation.table(view).drop_columns(["view"])
    source = evaluation.plans.views[view].source
    pairing = evaluation.inputs.pairing(source)
    facts, run = evaluation.inputs.get_facts(source), pairing.run
    table = _append_by_row(table, "mention", "gold", pairing.mention_index.mention.tolist(), pa.int64())
    table = _append_by_row(table, "gold_name", "gold", list(facts.gold.names))
    rows = np.arange(len(pairing.corpus.labels))
    table = _append_by_row(table, "mention_entity", "mention", pairing.corpus.labels.entity_ids(rows).to_pylist())
    table = _append_by_row(table, "mention_name", "mention", list(facts.gold.names))
    table = _append_by_row(table, "prediction_name", "prediction", facts.prediction_names(use_labels=True))
    table = _append_names(table, evaluation.request.kb)
    table = table.append_column("kind", pa.array(_classify_cases(table)))
    table = table.append_column("related", compute_relatedness(table, evaluation.request.kb))
    for name in evaluation.facets:
        if name != ERROR:
            table = table.append_column(
                FACET_PREFIX + name, pa.array(_get_facet_values(table, evaluation, name, source), _Lists)
            )
    candidates = run.predictions.field("candidates")
    if candidates is None:
        return table
    candidate_ids = [
        [candidate["entity"] for candidate in (candidate_list or ())[:MAX_CANDIDATES]]
        for candidate_list in candidates.to_pylist()
    ]
    return _append_by_row(table, "candidates", "prediction", candidate_ids, _Lists)


def _classify_cases(table: Arrow) -> list[str]:
    """Return the outcome of each case as web pages call it (see `CASE_KINDS`)."""
    names = ("document", "outcome", "gold_start", "gold_end", "prediction_start", "prediction_end")
    rows = list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
    gold_spans: dict[str, list[tuple[int, int]]] = {}  # where mentions that count stand
    for document, outcome, low, high, _, _ in rows:
        if low is not None and outcome not in ("ignored", "part"):
            gold_spans.setdefault(document, []).append((low, high))

    def classify(document: str, outcome: str, start: int, end: int) -> str:
        if outcome == "fp" and any(low < end and start < high for low, high in gold_spans.get(document, ())):
            return "wrong span"
        return _KINDS.get(outcome, "not counted")

    return [classify(document, outcome, start, end) for document, outcome, _, _, start, end in rows]


def _append_by_row(table: Arrow, name: str, row: str, values: Sequence[object], kind: Arrow | None = None) -> Arrow:
    """Append the column `name`, unless the table has it, with a value of each case's label or prediction.

    `row` is the column with the index into `values`; a case without label or prediction gets null. `kind` is the Arrow
    type, by default text.
    """
    if name in table.column_names:
        return table
    column = pa.array(values, kind or pa.string())
    return table.append_column(name, column.take(table.column(row).combine_chunks()))


def _get_facet_values(
    table: Arrow, evaluation: Evaluation, name: str, source: TaskSource | None
) -> Iterator[list[str]]:
    """Yield the values of the facet `name` for each case: of its document or mention, or else of its prediction."""
    if evaluation.facets[name].scores == "documents" or evaluation.facets[name].from_documents is not None:
        documents = evaluation.inputs.corpus.ids.to_pylist()
        values = (
            documents
            if evaluation.facets[name].scores == "documents"
            else get_document_values(evaluation.inputs, name).to_pylist()
        )
        value_by_document = dict(zip(documents, values, strict=True))
        yield from (
            [value] if (value := value_by_document.get(id)) else [] for id in table.column("document").to_pylist()
        )
        return
    facet_values = get_facet_values(evaluation.inputs, name, source)
    gold, predictions = _to_lists(facet_values.gold), _to_lists(facet_values.predictions)
    for mention, prediction in zip(
        table.column("gold").to_pylist(), table.column("prediction").to_pylist(), strict=True
    ):
        yield gold[mention] if mention is not None else predictions[prediction]


def _to_lists(facet: FacetValues) -> list[list[str]]:
    """Return the facet values of each label or prediction as text."""
    codes, ends = facet.lists.values.tolist(), facet.lists.offsets.tolist()
    return [[facet.names[code] for code in codes[low:high]] for low, high in pairwise(ends)]


def _append_names(table: Arrow, kb: KB | None) -> Arrow:
    """Return the table with missing entity names filled in, and a short description of each entity in new columns."""
    linked = {side: table.column(f"{side}_entity").to_pylist() for side in ("gold", "mention", "prediction")}
    names, descriptions = _find_names(sorted({id for ids in linked.values() for id in ids if id is not None}), kb)
    for side, ids in linked.items():
        index = table.column_names.index(f"{side}_name")
        named_ids = zip(table.column(index).to_pylist(), ids, strict=True)
        table = table.set_column(
            index, f"{side}_name", pa.array([name or names.get(id) for name, id in named_ids], pa.string())
        )
        if side != "mention":
            table = table.append_column(f"{side}_description", pa.array(map(descriptions.get, ids), pa.string()))
    return table


def get_type_names(corpus: Corpus, kb: KB | None) -> dict[str, str]:
    """Return the names of the corpus's entity types by type id; types that no knowledge base names are omitted."""
    column = corpus.labels.field("types")
    if column is None:
        return {}
    names = find_type_names({type_id for type_id in column.flatten().to_pylist() if type_id is not None}, kb)
    return dict(sorted(names.items()))  # so that equal entries of an archive are equal files


def _find_names(ids: Sequence[str], kb: KB | None) -> tuple[dict[str, str], dict[str, str]]:
    """Return the known names and the known descriptions by id, from `kb` or else from the starter snapshot."""
    names: dict[str, str] = {}
    descriptions: dict[str, str] = {}

    def add_missing(table: dict[str, str], values: Iterable[str | None]) -> None:
        for id, value in zip(ids, values, strict=True):
            if value:
                table.setdefault(id, value)

    if kb is not None:
        add_missing(names, kb.names(ids))
    base, base_ids = (kb.base, kb.find_base_ids(ids)) if isinstance(kb, NormalisingKB) else (kb, list(ids))
    if isinstance(base, Snapshot):
        add_missing(descriptions, base.descriptions(base_ids))
    add_missing(names, open_starter().names(ids))
    add_missing(descriptions, open_starter().descriptions(ids))
    return names, descriptions
