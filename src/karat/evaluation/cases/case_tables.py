"""Tables of verdicts for people and programs.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any, Final

import numpy as np
import pyarrow as pa

from karat.evaluation.block import Block
from karat.evaluation.cases.errors import list_candidate_categories
from karat.evaluation.cases.facet_values import get_mention_types
from karat.matching.facts.facts import MENTION_TYPES
from karat.matching.facts.sentence import sentence_around
from karat.matching.read.invented_mentions import find_invented_text, is_invented
from karat.matching.read.pairing import Pairing
from karat.model.corpus import NO_TEXT_NOTE
from karat.model.results.verdict import Outcome, Verdicts, Weights
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, Longs, Mentions

_OUTCOMES = pa.array([outcome.title for outcome in Outcome])


def build_verdict_table(cases: Iterable[tuple[Pairing, str, Verdicts, dict[str, Arrow]]]) -> Arrow:
    """Build a table with one row per case: its outcome, spans, ids, weights and extra columns.

    Each entry of `cases` has the data, the view's name, its verdicts and extra columns in the order of the verdicts.
    Views follow each other; the rows of a view are ordered by document and span. The column `factor` tells whether a
    case counts itself, and `own` is its outcome before another segmentation replaced it.
    """
    parts = [_build_view_table(*case) for case in cases]
    return (
        pa.concat_tables(parts, promote_options="default") if parts else pa.table({"view": pa.array([], pa.string())})
    )


_CATEGORY_COLUMNS: Final = ("errors", "avoided", "undecided")
"""Columns with lists of error categories."""

SENTENCE: Final = "sentence"
"""Column that requests sentences and entity names, for readers who see cases without the documents."""


def build_case_columns(block: Block, view: str, columns: Set[str]) -> dict[str, Arrow]:
    """Build the extra columns named by `columns` for the verdicts of a view, one entry per verdict.

    `mention_type` adds itself, `errors` adds `errors`, `avoided` and `undecided` (lists of error categories), and
    `SENTENCE` adds entity names and sentences.
    """
    columns_added: dict[str, Arrow] = {}
    verdicts = block.verdicts(view)
    if SENTENCE in columns:
        columns_added |= _build_text_columns(block, view, verdicts)
    if "mention_type" in columns:
        facts = block.inputs.get_facts(block.plans.views[view].source)
        columns_added["mention_type"] = pa.array(MENTION_TYPES).take(pa.array(get_mention_types(facts, verdicts)))
    if "errors" in columns and view in block.plans.stages:
        categorised = block.categorise_cases(view)
        lists: dict[str, list[list[str]]] = {name: [[] for _ in range(len(verdicts))] for name in _CATEGORY_COLUMNS}
        for name, masks in categorised.masks.items():
            for column, mask in zip(lists.values(), (masks.error, masks.avoided, masks.undecided), strict=True):
                for index in (
                    ()
                    if mask is None
                    else categorised.table.verdict_index[mask & categorised.table.cases.is_counted].tolist()
                ):
                    if index < len(verdicts):  # later rows are mentions outside the view
                        column[index].append(name)
        columns_added |= {name: pa.array(column, pa.list_(pa.string())) for name, column in lists.items()}
    return columns_added


def drop_candidate_categories(table: Arrow, views: Set[str]) -> Arrow:
    """Return a table of cases without the candidate categories in `views`, whose system gives no candidates."""
    for index, column in enumerate(table.column_names):
        if column in _CATEGORY_COLUMNS and views:
            rows = zip(table.column("view").to_pylist(), table.column(column).to_pylist(), strict=True)
            lists = [
                [name for name in names if name not in list_candidate_categories()]
                if view in views and names
                else names
                for view, names in rows
            ]
            table = table.set_column(index, column, pa.array(lists, pa.list_(pa.string())))
    return table


def _build_text_columns(block: Block, view: str, cases: Verdicts) -> dict[str, Arrow]:
    """Build columns with the gold and predicted entity names of each case, its sentence and the sentence's offset.

    A corpus without texts has no sentences.
    """
    source = block.plans.views[view].source
    pairing, facts = block.inputs.pairing(source), block.inputs.get_facts(source)
    names = {"gold_name": (facts.gold.names, cases.gold)}
    names["prediction_name"] = facts.prediction_names(use_labels=block.inputs.context is None), cases.prediction
    columns = {
        name: pa.array([*entity_names, None], pa.string()).take(pa.array(np.where(rows < 0, len(entity_names), rows)))
        for name, (entity_names, rows) in names.items()
    }
    if not pairing.corpus.has_text or pairing.corpus.skipped.get(NO_TEXT_NOTE):
        return columns
    texts, (start, end) = pairing.corpus.texts, _case_spans(pairing, cases)
    spans = zip(cases.document.tolist(), start.tolist(), end.tolist(), strict=True)
    sentences = [sentence_around(texts[document] or "", low, high) for document, low, high in spans]
    return columns | {
        SENTENCE: pa.array([sentence.text for sentence in sentences], pa.string()),
        "sentence_start": pa.array([sentence.offset for sentence in sentences], pa.int64()),
    }


def _case_spans(pairing: Pairing, cases: Verdicts) -> tuple[Arrow, Arrow]:
    """Return start and end of the gold mention of each case, or of the prediction if the case has no mention."""
    labels, predictions = pairing.corpus.labels, pairing.run.predictions
    has_gold = cases.gold >= 0
    start = np.where(has_gold, _take(labels.start, cases.gold), _take(predictions.start, cases.prediction))
    return start, np.where(has_gold, _take(labels.end, cases.gold), _take(predictions.end, cases.prediction))


def _build_view_table(pairing: Pairing, view: str, cases: Verdicts, extra_columns: dict[str, Arrow]) -> Arrow:
    """Build the table of one view's cases, ordered by document and span; see `build_verdict_table`."""
    labels, predictions = pairing.corpus.labels, pairing.run.predictions
    has_gold, has_prediction = cases.gold >= 0, cases.prediction >= 0
    start, end = _case_spans(pairing, cases)
    order = np.lexsort((cases.prediction, cases.gold, end, start, cases.document))
    weights = cases.weights()
    columns: dict[str, Any] = {
        "view": pa.array([view] * len(cases), pa.string()),
        "document": pairing.corpus.ids.take(pa.array(cases.document)),
        "outcome": _OUTCOMES.take(pa.array(cases.outcome)),
        "gold": _to_nullable(cases.gold, has_gold),
        "prediction": _to_nullable(cases.prediction, has_prediction),
        "gold_start": _to_nullable(_take(labels.start, cases.gold), has_gold),
        "gold_end": _to_nullable(_take(labels.end, cases.gold), has_gold),
        "gold_entity": _entity_ids(labels, cases.gold, has_gold),
        "gold_nil": _to_nullable(_take(labels.entity, cases.gold) == NIL, has_gold),
        "prediction_start": _to_nullable(_take(predictions.start, cases.prediction), has_prediction),
        "prediction_end": _to_nullable(_take(predictions.end, cases.prediction), has_prediction),
        "prediction_entity": _entity_ids(predictions, cases.prediction, has_prediction),
        "prediction_nil": _to_nullable(_take(predictions.entity, cases.prediction) == NIL, has_prediction),
        "score": pa.array(_take(predictions.score(), cases.prediction), pa.float64(), from_pandas=True),
        **{name: pa.array(weights[:, i]) for i, name in enumerate(Weights._fields)},
        "factor": pa.array(np.ones(len(cases), np.bool_) if cases.tree is None else cases.tree.is_counted),
        "own": _OUTCOMES.take(pa.array(cases.outcome if cases.tree is None else cases.tree.own_outcome)),
    }
    if pairing.corpus.has_text:
        columns["text"] = _surface_texts(pairing, cases, start, end)
    return pa.table(columns | extra_columns).take(pa.array(order))


def _take(values: Arrow, rows: Longs) -> Arrow:
    """Return `values[rows]`; for row -1, NaN if they are floats, else an arbitrary value that the caller masks."""
    if not len(values):
        return np.full(len(rows), np.nan) if values.dtype == np.float64 else np.zeros(len(rows), values.dtype)
    taken = values[rows]
    return np.where(rows >= 0, taken, np.nan) if values.dtype == np.float64 else taken


def _to_nullable(values: Arrow, mask: Arrow) -> Arrow:
    """Return the values as an Arrow array that is null where `mask` is false."""
    return pa.array(values, mask=~mask)


def _entity_ids(mentions: Mentions, rows: Longs, has_mention: Arrow) -> Arrow:
    """Return the entity ids of some mentions as written; null for NIL, unlinked mentions and rows without mention."""
    codes = _take(mentions.entity, rows)
    return mentions.names.take(pa.array(codes, mask=~has_mention | (codes < 0)))


def _surface_texts(pairing: Pairing, cases: Verdicts, start: Arrow, end: Arrow) -> Arrow:
    """Return the text of the span of each case; of an invented mention, the text that the system gave."""
    texts = pairing.corpus.table.column("text")
    distinct, inverse = np.unique(cases.document, return_inverse=True)
    texts_here = texts.take(pa.array(distinct)).to_pylist()
    spans = zip(inverse.tolist(), start.tolist(), end.tolist(), cases.prediction.tolist(), strict=True)
    surfaces = [
        find_invented_text(pairing.run, row) if is_invented(s) else texts_here[d][s:e] for d, s, e, row in spans
    ]
    return pa.array(surfaces, pa.string())
