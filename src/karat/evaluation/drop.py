"""Answers dropped by rule before scoring, to see what a system reaches without them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UsageError
from karat.kb.protocol import KB
from karat.model.corpus import WITHOUT_TEXT, Corpus
from karat.model.run import Run
from karat.model.surface import lowercased
from karat.model.tables import check
from karat.model.tables.columns import Bools, Longs, Mentions

RULES = {
    "lowercase": "answers whose text has no capital as its first letter",
    "non-named": "answers whose entity has a name without capital as its first letter, by the knowledge base",
    "type:X": "answers of type X or of a class below it: by their own types, or else by those of their entity in the "
    "knowledge base, or else in the gold standard",
    "score<T": "answers with a score below T",
}
"""Which answers each rule drops. Answers that it cannot decide about stay, and are counted."""

# Python lists come as words with spaces between them; a type may have spaces inside.
_BETWEEN = re.compile(r"(?:(?<! ) +)?, *|(?<! ) +(?=lowercase\b|non-named\b|type:|score *<)")
_SCORE = re.compile(r"score *< *(?P<number>[^ ]+)")


def rules_of(text: str) -> tuple[str, ...]:
    """The rules that a value of the choice `drop` names, each once."""
    if text == "none":
        return ()
    return tuple(dict.fromkeys(_written(rule) for rule in _BETWEEN.split(text.strip(" "))))


def needs_text(rules: Sequence[str]) -> bool:
    """Whether a rule looks at texts."""
    return "lowercase" in rules


def needs_types(rules: Sequence[str]) -> bool:
    """Whether a rule looks at the types that any gold label gives to an entity."""
    return any(rule.startswith("type:") for rule in rules)


def dropped(
    corpus: Corpus, run: Run, rules: Sequence[str], kb: KB | None, types: Mapping[str, Set[str]] | None = None
) -> tuple[Run, dict[str, int]]:
    """The run without the answers that a rule drops; and, in words, how many each rule drops and cannot decide.

    An answer that several rules drop is counted for the first of them. Replies stay, if without answers, and so do
    answers to documents that the corpus does not have. Tags and statements are no answers. `types` are those of
    entities in the whole gold standard, where the corpus is not all of it.
    """
    if types is None:
        types = gold_types(corpus.labels, kb) if needs_types(rules) else {}
    todo = _Todo(corpus, run.answers, _places(corpus, run), kb, types)
    here = (todo.place >= 0)[run.answers.document]
    gone = np.zeros(len(run.answers), np.bool_)
    counts: dict[str, int] = {}
    open_cases: dict[str, Bools] = {}
    for rule in dict.fromkeys(map(_written, rules)):
        found = _decide(rule, todo)
        new = found.drop & here & ~gone
        counts[f"answers dropped by {rule}"] = int(np.sum(new))
        gone |= new
        open_cases[f"answers that {rule} cannot decide ({found.why}; they stay)"] = found.unknown & here
    left = {what: int(np.sum(unknown & ~gone)) for what, unknown in open_cases.items()}
    return _without(run, gone), counts | {what: count for what, count in left.items() if count}


def _written(rule: str) -> str:
    """The rule as the signature writes it."""
    rule = rule.strip(" ")
    if rule in ("lowercase", "non-named"):
        return rule
    if rule.startswith("type:") and (name := rule.removeprefix("type:").strip(" ")) and "," not in name:
        return f"type:{name}"
    if match := _SCORE.fullmatch(rule):
        try:
            if not math.isnan(float(match["number"])):
                return f"score<{match['number']}"
        except ValueError:
            pass
    _refuse(rule)


def _refuse(rule: str) -> NoReturn:
    known = "; ".join(f"{name}: {says}" for name, says in RULES.items())
    raise UsageError(f"{rule!r} is no rule by which answers are dropped. Rules are {known}.")


class _Todo(NamedTuple):
    """What rules look at; `place` is the row in the corpus of each reply, -1 where there is none.

    `types` are those that gold labels give to entities.
    """

    corpus: Corpus
    answers: Mentions
    place: Longs
    kb: KB | None
    types: Mapping[str, Set[str]]


class _Decided(NamedTuple):
    """Which answers a rule drops, which it cannot decide about, and what is missing there."""

    drop: Bools
    unknown: Bools
    why: str


def _places(corpus: Corpus, run: Run) -> Longs:
    """Where the documents of the replies are. Spans outside their text are refused here, lest they be dropped."""
    place = np.asarray(pc.index_in(run.ids, corpus.ids).fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
    limits = np.append(corpus.lengths, np.iinfo(np.int64).max)[place]  # the last is for unknown documents
    check.refuse(check.inside(run.answers, limits, "answer"), run.where)
    return place


def _decide(rule: str, todo: _Todo) -> _Decided:
    if rule == "lowercase":
        return _by_text(todo)
    if rule == "non-named":
        return _by_name(todo)
    if rule.startswith("type:"):
        return _by_type(todo, rule.removeprefix("type:"))
    return _by_score(todo, float(rule.removeprefix("score<")))


def _by_text(todo: _Todo) -> _Decided:
    if not todo.corpus.has_text:
        raise UsageError(
            f"the rule lowercase looks at texts, and {todo.corpus.name} was loaded without. Load it with text=True."
        )
    if todo.corpus.skipped.get(WITHOUT_TEXT):
        raise UsageError(f"the rule lowercase looks at texts, and {todo.corpus.name} has none. Leave it out.")
    drop = np.fromiter(map(lowercased, _texts(todo)), np.bool_, len(todo.answers))
    return _Decided(drop, np.zeros(len(drop), np.bool_), "no text known")


def _texts(todo: _Todo) -> Iterator[str]:
    """The text of each answer, empty where the document is not in the corpus."""
    texts = todo.corpus.table.column("text").take(pa.array(todo.place, mask=todo.place < 0))
    bounds = zip(todo.answers.start.tolist(), todo.answers.end.tolist(), strict=True)
    for text, count in zip(texts.to_pylist(), np.diff(todo.answers.offsets).tolist(), strict=True):
        for _ in range(count):
            start, end = next(bounds)
            yield (text or "")[start:end]


def _by_score(todo: _Todo, least: float) -> _Decided:
    score = todo.answers.score()
    return _Decided(score < least, np.isnan(score), "no score")


def _by_name(todo: _Todo) -> _Decided:
    if todo.kb is None:
        raise UsageError("the rule non-named looks up names in a knowledge base. Give one with --kb.")
    names = todo.kb.names

    def nameless(ids: Sequence[str]) -> list[bool | None]:
        return [None if name is None else lowercased(name) for name in names(ids)]

    state = _by_entity(todo.answers, nameless)
    return _Decided(state == 1, state < 0, "no name known")


def _by_type(todo: _Todo, wanted: str) -> _Decided:
    kb, given = todo.kb, todo.types
    within = frozenset({wanted}) if kb is None else kb.hierarchy.below(wanted)

    def fits(ids: Sequence[str]) -> list[bool | None]:
        known = [None] * len(ids) if kb is None else kb.types(ids)
        both = zip(known, _canonical(ids, kb), strict=True)
        found = [given.get(id) if types is None else types for types, id in both]
        return [None if types is None else not within.isdisjoint(types) for types in found]

    state = _by_entity(todo.answers, fits)
    own = todo.answers.field("types")
    for row, types in enumerate(() if own is None else own.to_pylist()):
        if types:
            state[row] = not within.isdisjoint(types)
    return _Decided(state == 1, state < 0, "no type known")


def _canonical(ids: Sequence[str], kb: KB | None) -> Sequence[str]:
    return ids if kb is None else kb.canonical(ids)


def gold_types(labels: Mentions, kb: KB | None) -> dict[str, set[str]]:
    """The types that labels give to entities, all labels of an entity together."""
    types, further = labels.field("types"), labels.field("same_as")
    if types is None:
        return {}
    ids = labels.linked_to(np.arange(len(labels))).to_pylist()
    others = [()] * len(labels) if further is None else further.to_pylist()
    rows = zip(ids, others, types.to_pylist(), strict=True)
    said = [(id, own) for first, more, own in rows if own for id in (first, *(more or ())) if id is not None]
    found: dict[str, set[str]] = {}
    for id, (_, own) in zip(_canonical([id for id, _ in said], kb), said, strict=True):
        found.setdefault(id, set()).update(own)
    return found


def _by_entity(answers: Mentions, decide: Callable[[Sequence[str]], list[bool | None]]) -> Longs:
    """1 or 0 for each answer, -1 where nothing is known of its entity by any id; NIL is no entity."""
    known = [-1 if one is None else int(one) for one in decide(answers.names.to_pylist())]
    state = np.array([*known, -1], np.int64)[np.maximum(answers.entity, -1)]
    further = answers.field("same_as")
    if further is None:
        return state
    rows = np.flatnonzero(state < 0)
    lists = further.take(pa.array(rows)).to_pylist()
    ids = list(dict.fromkeys(id for each in lists for id in each or ()))
    more = dict(zip(ids, decide(ids), strict=True))
    for row, each in zip(rows.tolist(), lists, strict=True):
        state[row] = next((int(more[id] or 0) for id in each or () if more[id] is not None), -1)
    return state


def _without(run: Run, gone: Bools) -> Run:
    if not gone.any():
        return run
    kept = run.answers.where(~gone)
    lists = pa.ListArray.from_arrays(pa.array(kept.offsets.astype(np.int32)), kept.values)
    table = run.table.set_column(run.table.column_names.index("answers"), "answers", lists)
    return replace(Run.checked(table, name=run.name, about=run.about, where=run.where), skipped=run.skipped)
