"""Verdicts as a table that people and programs can read."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any, Final

import numpy as np
import pyarrow as pa

from karat.evaluation.block import Block
from karat.evaluation.cases.labels import mention_type
from karat.facts.facts import MENTION_TYPES
from karat.facts.sentence import sentence_around
from karat.matching.read.pairing import Pairing
from karat.model.corpus import WITHOUT_TEXT
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, Longs, Mentions
from karat.model.verdict import Outcome, Verdicts, Weights

_OUTCOMES = pa.array([outcome.label for outcome in Outcome])


def verdict_table(cases: Iterable[tuple[Pairing, str, Verdicts, dict[str, Arrow]]]) -> Arrow:
    """One row per case and view, in the order of documents and then of spans; with columns for labels of cases.

    `factor` says whether a case counts as itself, and `own` how it ended before another spoke for it.
    """
    parts = [_table(*case) for case in cases]
    return (
        pa.concat_tables(parts, promote_options="default") if parts else pa.table({"view": pa.array([], pa.string())})
    )


SENTENCE: Final = "sentence"
"""The column that asks for sentences and names, for whoever reads cases by themselves."""


def case_columns(block: Block, view: str, columns: Set[str]) -> dict[str, Arrow]:
    """The columns that the labels of cases, and `SENTENCE`, add to the verdicts of a view."""
    more: dict[str, Arrow] = {}
    own = block.verdicts(view)
    if SENTENCE in columns:
        more |= _in_words(block, view, own)
    if "mention_type" in columns:
        facts = block.sides.facts_of(block.plans.views[view].source)
        more["mention_type"] = pa.array(MENTION_TYPES).take(pa.array(mention_type(facts, own)))
    if "errors" in columns and view in block.plans.stages:
        found = block.categorised(view)
        lists: dict[str, list[list[str]]] = {
            name: [[] for _ in range(len(own))] for name in ("errors", "avoided", "undecided")
        }
        for name, tag in found.tags.items():
            for column, mask in zip(lists.values(), (tag.error, tag.avoided, tag.undecided), strict=True):
                for place in () if mask is None else found.table.place[mask & found.table.cases.counts].tolist():
                    if place < len(own):  # behind are mentions that the view does not show
                        column[place].append(name)
        more |= {name: pa.array(column, pa.list_(pa.string())) for name, column in lists.items()}
    return more


def _in_words(block: Block, view: str, cases: Verdicts) -> dict[str, Arrow]:
    """What entities are called, the sentence of each case, and where in the text that begins."""
    source = block.plans.views[view].source
    pairing, facts = block.sides.pairing(source), block.sides.facts_of(source)
    names = {"gold_name": (facts.gold.names, cases.gold)}
    names["answer_name"] = facts.called(by_labels=block.sides.whole is None), cases.answer
    found = {
        name: pa.array([*known, None], pa.string()).take(pa.array(np.where(rows < 0, len(known), rows)))
        for name, (known, rows) in names.items()
    }
    if not pairing.corpus.has_text or pairing.corpus.skipped.get(WITHOUT_TEXT):
        return found
    texts, (start, end) = pairing.corpus.texts, _spans(pairing, cases)
    places = zip(cases.document.tolist(), start.tolist(), end.tolist(), strict=True)
    cut = [sentence_around(texts[document] or "", low, high) for document, low, high in places]
    return found | {
        SENTENCE: pa.array([each.text for each in cut], pa.string()),
        "sentence_start": pa.array([each.offset for each in cut], pa.int64()),
    }


def _spans(pairing: Pairing, cases: Verdicts) -> tuple[Arrow, Arrow]:
    """Where each case stands: on its mention, or else where its answer does."""
    labels, answers = pairing.corpus.labels, pairing.run.answers
    has_gold = cases.gold >= 0
    start = np.where(has_gold, _at(labels.start, cases.gold), _at(answers.start, cases.answer))
    return start, np.where(has_gold, _at(labels.end, cases.gold), _at(answers.end, cases.answer))


def _table(pairing: Pairing, view: str, cases: Verdicts, more: dict[str, Arrow]) -> Arrow:
    labels, answers = pairing.corpus.labels, pairing.run.answers
    has_gold, has_answer = cases.gold >= 0, cases.answer >= 0
    start, end = _spans(pairing, cases)
    order = np.lexsort((cases.answer, cases.gold, end, start, cases.document))
    weights = cases.weights()
    columns: dict[str, Any] = {
        "view": pa.array([view] * len(cases), pa.string()),
        "document": pairing.corpus.ids.take(pa.array(cases.document)),
        "outcome": _OUTCOMES.take(pa.array(cases.outcome)),
        "gold": _masked(cases.gold, has_gold),
        "answer": _masked(cases.answer, has_answer),
        "gold_start": _masked(_at(labels.start, cases.gold), has_gold),
        "gold_end": _masked(_at(labels.end, cases.gold), has_gold),
        "gold_entity": _entities(labels, cases.gold, has_gold),
        "gold_nil": _masked(_at(labels.entity, cases.gold) == NIL, has_gold),
        "answer_start": _masked(_at(answers.start, cases.answer), has_answer),
        "answer_end": _masked(_at(answers.end, cases.answer), has_answer),
        "answer_entity": _entities(answers, cases.answer, has_answer),
        "answer_nil": _masked(_at(answers.entity, cases.answer) == NIL, has_answer),
        "score": pa.array(_at(answers.score(), cases.answer), pa.float64(), from_pandas=True),
        **{name: pa.array(weights[:, i]) for i, name in enumerate(Weights._fields)},
        "factor": pa.array(np.ones(len(cases), np.bool_) if cases.tree is None else cases.tree.factor),
        "own": _OUTCOMES.take(pa.array(cases.outcome if cases.tree is None else cases.tree.own)),
    }
    if pairing.corpus.has_text:
        columns["text"] = _surfaces(pairing, cases.document, start, end)
    return pa.table(columns | more).take(pa.array(order))


def _at(values: Arrow, rows: Longs) -> Arrow:
    """The values of some rows; what stands for row -1 is arbitrary and masked afterwards."""
    if not len(values):
        return np.full(len(rows), np.nan) if values.dtype == np.float64 else np.zeros(len(rows), values.dtype)
    found = values[rows]
    return np.where(rows >= 0, found, np.nan) if values.dtype == np.float64 else found


def _masked(values: Arrow, given: Arrow) -> Arrow:
    return pa.array(values, mask=~given)


def _entities(mentions: Mentions, rows: Longs, given: Arrow) -> Arrow:
    """Ids as written, or null where there is no mention, no link, or NIL."""
    codes = _at(mentions.entity, rows)
    return mentions.names.take(pa.array(codes, mask=~given | (codes < 0)))


def _surfaces(pairing: Pairing, document: Arrow, start: Arrow, end: Arrow) -> Arrow:
    texts = pairing.corpus.table.column("text")
    distinct, inverse = np.unique(document, return_inverse=True)
    known = texts.take(pa.array(distinct)).to_pylist()
    places = zip(inverse.tolist(), start.tolist(), end.tolist(), strict=True)
    return pa.array([known[d][s:e] for d, s, e in places], pa.string())
