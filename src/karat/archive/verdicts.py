"""The cases of a system on a dataset as pages need them: what everything is called, and what it is split by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa

from karat.archive.credits import relatedness
from karat.evaluation.cases.labels import documents_in, values_in
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.any_spelling import AnySpelling
from karat.kb.opened import starter
from karat.kb.pack.pack import Pack
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.tables.arrow import Arrow
from karat.model.tables.facet import Facet
from karat.spec.choices.conventions import Groups
from karat.spec.choices.task import Source

ERROR = "error"
"""The label of error categories."""

BY = "by:"
"""What the columns begin with that have the values of labels."""

_SPLITTING: Final = {"types": "types", "mention_type": None, "category": "categories", "difficulty": "difficulty"}
"""The labels that scores are split by unasked, and the field of the gold standard that each needs."""

_KINDS: Final = {
    **dict.fromkeys(("tp", "matched answer", "matched gold"), "right"),
    "wrong link": "wrong link",
    "fn": "missed",
    "fp": "spurious",
}
"""What outcomes are called on pages; all others are not counted, and a spurious answer may be a wrong span."""

MOST_CANDIDATES = 20
"""How many candidates of an answer are kept."""

_Lists = pa.list_(pa.string())


def splitting(request: Request, corpus: Corpus) -> list[str]:
    """The labels that scores are split by unasked: none where each value would be matched anew."""
    if request.conventions.groups is Groups.FILTERED:
        return []
    return [name for name, field in _SPLITTING.items() if field is None or corpus.labels.field(field) is not None]


def cases_of(made: Evaluation, view: str) -> Arrow:
    """The cases of a view, with names of entities, the values of labels and the candidates that answers had.

    `gold` is the alternative that was looked at, `mention` the label that stands for all of them.
    """
    table = made.table(view).drop_columns(["view"])
    source = made.plans.views[view].source
    pairing = made.sides.pairing(source)
    facts, run = made.sides.facts_of(source), pairing.run
    table = _added(table, "mention", "gold", pairing.units.unit.tolist(), pa.int64())
    table = _added(table, "gold_name", "gold", list(facts.gold.names))
    every = np.arange(len(pairing.corpus.labels))
    table = _added(table, "mention_entity", "mention", pairing.corpus.labels.linked_to(every).to_pylist())
    table = _added(table, "mention_name", "mention", list(facts.gold.names))
    table = _added(table, "answer_name", "answer", facts.called(by_labels=True))
    table = _told(table, made.request.kb)
    table = table.append_column("kind", pa.array(_kinds(table)))
    table = table.append_column("related", relatedness(table, made.request.kb))
    for name in made.labels:
        if name != ERROR:
            table = table.append_column(BY + name, pa.array(_values(table, made, name, source), _Lists))
    candidates = run.answers.field("candidates")
    if candidates is None:
        return table
    listed = [[one["entity"] for one in (each or ())[:MOST_CANDIDATES]] for each in candidates.to_pylist()]
    return _added(table, "candidates", "answer", listed, _Lists)


def _kinds(table: Arrow) -> list[str]:
    """How each case ended, as pages tell it."""
    names = ("document", "outcome", "gold_start", "gold_end", "answer_start", "answer_end")
    rows = list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
    standing: dict[str, list[tuple[int, int]]] = {}  # where mentions that count stand
    for document, outcome, low, high, _, _ in rows:
        if low is not None and outcome not in ("ignored", "part"):
            standing.setdefault(document, []).append((low, high))

    def kind(document: str, outcome: str, start: int, end: int) -> str:
        if outcome == "fp" and any(low < end and start < high for low, high in standing.get(document, ())):
            return "wrong span"
        return _KINDS.get(outcome, "not counted")

    return [kind(document, outcome, start, end) for document, outcome, _, _, start, end in rows]


def _added(table: Arrow, name: str, row: str, values: Sequence[object], kind: Arrow | None = None) -> Arrow:
    """A column of what labels or answers have, by their rows."""
    if name in table.column_names:
        return table
    column = pa.array(values, kind or pa.string())
    return table.append_column(name, column.take(table.column(row).combine_chunks()))


def _values(table: Arrow, made: Evaluation, name: str, source: Source | None) -> Iterator[list[str]]:
    """The values that a label has in each case: those of the mention, or of the answer where there is none."""
    if made.labels[name].scores == "documents" or made.labels[name].documents is not None:
        documents = made.sides.corpus.ids.to_pylist()
        every = documents if made.labels[name].scores == "documents" else documents_in(made.sides, name).to_pylist()
        known = dict(zip(documents, every, strict=True))
        yield from ([value] if (value := known.get(id)) else [] for id in table.column("document").to_pylist())
        return
    found = values_in(made.sides, name, source)
    gold, answers = _listed(found.gold), _listed(found.answers)
    for mention, answer in zip(table.column("gold").to_pylist(), table.column("answer").to_pylist(), strict=True):
        yield gold[mention] if mention is not None else answers[answer]


def _listed(facet: Facet) -> list[list[str]]:
    codes, ends = facet.lists.values.tolist(), facet.lists.offsets.tolist()
    return [[facet.names[code] for code in codes[low:high]] for low, high in pairwise(ends)]


def _told(table: Arrow, kb: KB | None) -> Arrow:
    """The table with names where there was none, and with what each entity is in a few words."""
    linked = {side: table.column(f"{side}_entity").to_pylist() for side in ("gold", "mention", "answer")}
    names, descriptions = _known(sorted({id for ids in linked.values() for id in ids if id is not None}), kb)
    for side, ids in linked.items():
        place = table.column_names.index(f"{side}_name")
        called = zip(table.column(place).to_pylist(), ids, strict=True)
        table = table.set_column(
            place, f"{side}_name", pa.array([name or names.get(id) for name, id in called], pa.string())
        )
        if side != "mention":
            table = table.append_column(f"{side}_description", pa.array(map(descriptions.get, ids), pa.string()))
    return table


def type_names(corpus: Corpus, kb: KB | None) -> dict[str, str]:
    """The names of types that are entities of a knowledge base."""
    column = corpus.labels.field("types")
    if column is None:
        return {}
    return _known(sorted({each for each in column.flatten().to_pylist() if each is not None}), kb)[0]


def _known(ids: Sequence[str], kb: KB | None) -> tuple[dict[str, str], dict[str, str]]:
    """Names and descriptions of ids, from the knowledge base that was given or else from the one that is built in."""
    names: dict[str, str] = {}
    descriptions: dict[str, str] = {}

    def note(known: dict[str, str], found: Iterable[str | None]) -> None:
        for id, value in zip(ids, found, strict=True):
            if value:
                known.setdefault(id, value)

    if kb is not None:
        note(names, kb.names(ids))
    own, asked = (kb.base, kb.own_ids(ids)) if isinstance(kb, AnySpelling) else (kb, list(ids))
    if isinstance(own, Pack):
        note(descriptions, own.descriptions(asked))
    note(names, starter().names(ids))
    note(descriptions, starter().descriptions(ids))
    return names, descriptions
