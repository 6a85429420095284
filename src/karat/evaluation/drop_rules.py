"""Rules that drop predictions before scoring, to measure a system without them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.kb.protocol import KB
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.errors import UsageError
from karat.model.output.command_options import format_option
from karat.model.run import Run
from karat.model.surface import is_lowercase
from karat.model.tables import checks
from karat.model.tables.columns import Bools, Longs, Mentions

RULES = {
    "lowercase": "predictions whose text starts with a lowercase letter",
    "non-named": "predictions whose entity has a name in the knowledge base that starts with a lowercase letter",
    "type:X": "predictions of type X or of a subclass: by their own types, else by those of their entity in the "
    "knowledge base, else in the gold standard",
    "score<T": "predictions with a score below T",
}
"""Description of the predictions that each rule drops. Undecidable predictions are kept and counted."""

# Python lists are joined by spaces; a type may contain spaces.
_SEPARATOR = re.compile(r"(?:(?<! ) +)?, *|(?<! ) +(?=lowercase\b|non-named\b|type:|score *<)")
_SCORE = re.compile(r"score *< *(?P<number>[^ ]+)")


def parse_drop_rules(text: str) -> tuple[str, ...]:
    """Parse a value of the setting `drop` into distinct rules in their normal form; raise if one is unknown."""
    if text == "none":
        return ()
    return tuple(dict.fromkeys(_normalise_rule(rule) for rule in _SEPARATOR.split(text.strip(" "))))


def needs_text(rules: Sequence[str]) -> bool:
    """Return whether any of the drop rules reads the texts of documents."""
    return "lowercase" in rules


def needs_types(rules: Sequence[str]) -> bool:
    """Return whether any of the drop rules needs the types that gold labels give to entities."""
    return any(rule.startswith("type:") for rule in rules)


def drop_predictions(
    corpus: Corpus, run: Run, rules: Sequence[str], kb: KB | None, types: Mapping[str, Set[str]] | None = None
) -> tuple[Run, dict[str, int]]:
    """Return the run without the predictions that `rules` drop, and counts of dropped and undecidable ones.

    A prediction that several rules drop is counted for the first of them. Responses without predictions remain, and so
    do predictions for documents that the corpus does not have. Tags and triples are never dropped. `types` are the gold
    types of entities in the whole corpus, if `corpus` is only part of it. Raise for spans outside their text, and if a
    rule needs texts or a knowledge base that are missing.
    """
    if types is None:
        types = collect_gold_types(corpus.labels, kb) if needs_types(rules) else {}
    data = _RuleInput(corpus, run.predictions, _locate_documents(corpus, run), kb, types)
    is_in_corpus = (data.document_index >= 0)[run.predictions.document]
    dropped = np.zeros(len(run.predictions), np.bool_)
    counts: dict[str, int] = {}
    undecided: dict[str, Bools] = {}
    for rule in dict.fromkeys(map(_normalise_rule, rules)):
        decision = _decide(rule, data)
        newly_dropped = decision.drop & is_in_corpus & ~dropped
        counts[f"predictions dropped by {rule}"] = int(np.sum(newly_dropped))
        dropped |= newly_dropped
        undecided[f"predictions that {rule} cannot decide ({decision.missing}; kept)"] = decision.unknown & is_in_corpus
    remaining = {description: int(np.sum(unknown & ~dropped)) for description, unknown in undecided.items()}
    return _remove_predictions(run, dropped), counts | {
        description: count for description, count in remaining.items() if count
    }


def _normalise_rule(text: str) -> str:
    """Return the rule as the signature writes it; raise if there is no such rule."""
    text = text.strip(" ")
    if text in ("lowercase", "non-named"):
        return text
    if text.startswith("type:") and (name := text.removeprefix("type:").strip(" ")) and "," not in name:
        return f"type:{name}"
    if match := _SCORE.fullmatch(text):
        try:
            if not math.isnan(float(match["number"])):
                return f"score<{match['number']}"
        except ValueError:
            pass
    rules = "; ".join(f"{name}: {description}" for name, description in RULES.items())
    raise UsageError(f"{text!r} is not a rule for dropping predictions. Rules are {rules}.")


class _RuleInput(NamedTuple):
    """Data that rules read: corpus, predictions, row of each response in the corpus (-1 if none), KB and gold types."""

    corpus: Corpus
    predictions: Mentions
    document_index: Longs
    kb: KB | None
    types: Mapping[str, Set[str]]


class _Decision(NamedTuple):
    """Which predictions a rule drops, which predictions it cannot decide, and which facts are missing to decide."""

    drop: Bools
    unknown: Bools
    missing: str


def _locate_documents(corpus: Corpus, run: Run) -> Longs:
    """Return the corpus row of each response, or -1 if the corpus does not have its document.

    Raise `InputError` for spans outside their text, so that none is dropped silently.
    """
    document_index = np.asarray(pc.index_in(run.ids, corpus.ids).fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
    limits = np.append(corpus.lengths, np.iinfo(np.int64).max)[
        document_index
    ]  # the last entry is for unknown documents
    checks.raise_first(checks.check_span_ends(run.predictions, limits, "prediction"), run.locate_row)
    return document_index


def _decide(rule: str, data: _RuleInput) -> _Decision:
    """Return which predictions one rule drops and which it cannot decide."""
    if rule == "lowercase":
        return _decide_by_text(data)
    if rule == "non-named":
        return _decide_by_name(data)
    if rule.startswith("type:"):
        return _decide_by_type(data, rule.removeprefix("type:"))
    score = data.predictions.score()  # predictions without score are undecided
    return _Decision(score < float(rule.removeprefix("score<")), np.isnan(score), "no score")


def _decide_by_text(data: _RuleInput) -> _Decision:
    """Decide the rule `lowercase` by the text of each prediction; raise if the corpus has no texts."""
    if not data.corpus.has_text:
        raise UsageError(
            f"the rule lowercase needs texts, but {data.corpus.name} was loaded without them. Load it with text=True."
        )
    if data.corpus.skipped.get(NO_TEXT_NOTE):
        raise UsageError(f"the rule lowercase needs texts, but {data.corpus.name} has none. Remove the rule.")
    drop = np.fromiter(map(is_lowercase, _iterate_prediction_texts(data)), np.bool_, len(data.predictions))
    return _Decision(drop, np.zeros(len(drop), np.bool_), "no text known")


def _iterate_prediction_texts(data: _RuleInput) -> Iterator[str]:
    """Yield the text of each prediction, empty if its document is not in the corpus."""
    texts = data.corpus.table.column("text").take(pa.array(data.document_index, mask=data.document_index < 0))
    bounds = zip(data.predictions.start.tolist(), data.predictions.end.tolist(), strict=True)
    for text, count in zip(texts.to_pylist(), np.diff(data.predictions.offsets).tolist(), strict=True):
        for _ in range(count):
            start, end = next(bounds)
            yield (text or "")[start:end]


def _decide_by_name(data: _RuleInput) -> _Decision:
    """Decide the rule `non-named` by the entity's name in the knowledge base; raise if there is none."""
    if data.kb is None:
        raise UsageError(f"the rule non-named needs names from a knowledge base. Pass one with {format_option('kb')}.")
    names = data.kb.names

    def has_lowercase_name(ids: Sequence[str]) -> list[bool | None]:
        return [None if name is None else is_lowercase(name) for name in names(ids)]

    state = _decide_by_entity(data.predictions, has_lowercase_name)
    return _Decision(state == 1, state < 0, "no name known")


def _decide_by_type(data: _RuleInput, type_name: str) -> _Decision:
    """Decide the rule `type:X` by the types of each prediction, else of its entity in the KB or the gold standard."""
    kb, gold_types = data.kb, data.types
    within = frozenset({type_name}) if kb is None else kb.hierarchy.find_descendants(type_name)

    def fits(ids: Sequence[str]) -> list[bool | None]:
        kb_types = [None] * len(ids) if kb is None else kb.types(ids)
        both = zip(kb_types, _canonical_ids(ids, kb), strict=True)
        entity_types = [gold_types.get(id) if types is None else types for types, id in both]
        return [None if types is None else not within.isdisjoint(types) for types in entity_types]

    state = _decide_by_entity(data.predictions, fits)
    predicted_types = data.predictions.field("types")
    for row, types in enumerate(() if predicted_types is None else predicted_types.to_pylist()):
        if types:
            state[row] = not within.isdisjoint(types)
    return _Decision(state == 1, state < 0, "no type known")


def _canonical_ids(ids: Sequence[str], kb: KB | None) -> Sequence[str]:
    """Return the canonical ids, or `ids` without a knowledge base."""
    return ids if kb is None else kb.canonical_ids(ids)


def collect_gold_types(labels: Mentions, kb: KB | None) -> dict[str, set[str]]:
    """Return the types that labels give to each of their ids, by canonical id; empty if labels have no types."""
    types, further = labels.field("types"), labels.field("same_as")
    if types is None:
        return {}
    ids = labels.entity_ids(np.arange(len(labels))).to_pylist()
    others = [()] * len(labels) if further is None else further.to_pylist()
    rows = zip(ids, others, types.to_pylist(), strict=True)
    typed_ids = [
        (id, label_types)
        for first, more, label_types in rows
        if label_types
        for id in (first, *(more or ()))
        if id is not None
    ]
    types_by_entity: dict[str, set[str]] = {}
    for id, (_, label_types) in zip(_canonical_ids([id for id, _ in typed_ids], kb), typed_ids, strict=True):
        types_by_entity.setdefault(id, set()).update(label_types)
    return types_by_entity


def _decide_by_entity(predictions: Mentions, decide: Callable[[Sequence[str]], list[bool | None]]) -> Longs:
    """Apply `decide` to the entity of each prediction, or else to its same-as ids; return 1 or 0, or -1 if undecided.

    `decide` returns None for ids that it does not know. NIL and unlinked predictions are decided by same-as ids only.
    """
    decisions = [-1 if decision is None else int(decision) for decision in decide(predictions.names.to_pylist())]
    state = np.array([*decisions, -1], np.int64)[np.maximum(predictions.entity, -1)]
    further = predictions.field("same_as")
    if further is None:
        return state
    rows = np.flatnonzero(state < 0)
    lists = further.take(pa.array(rows)).to_pylist()
    ids = list(dict.fromkeys(id for alternatives in lists for id in alternatives or ()))
    further_decisions = dict(zip(ids, decide(ids), strict=True))
    for row, alternatives in zip(rows.tolist(), lists, strict=True):
        state[row] = next(
            (int(further_decisions[id] or 0) for id in alternatives or () if further_decisions[id] is not None), -1
        )
    return state


def _remove_predictions(run: Run, dropped: Bools) -> Run:
    """Return the run without the dropped predictions."""
    if not dropped.any():
        return run
    remaining = run.predictions.select(~dropped)
    lists = pa.ListArray.from_arrays(pa.array(remaining.offsets.astype(np.int32)), remaining.values)
    table = run.table.set_column(run.table.column_names.index("predictions"), "predictions", lists)
    return replace(
        Run.from_table(table, name=run.name, metadata=run.metadata, locate_row=run.locate_row), skipped=run.skipped
    )
