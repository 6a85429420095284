"""Every case of an evaluation as ELEVANT lays it out: each mention, and each answer that stands on none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import KaratError, UsageError
from karat.facts.cases import CaseTable
from karat.facts.facts import MENTION_TYPES, Facts
from karat.matching.read.pairing import KINDS
from karat.model.document import Document
from karat.model.result import Result
from karat.model.tables.columns import Bools, Ints, Longs, Mentions
from karat.model.verdict import Outcome, Verdicts
from karat.parsing.elevant.articles import NIL as NIL_ID
from karat.parsing.elevant.articles import NO_MAPPING, UNMAPPED
from karat.parsing.elevant.labels import gold_labels
from karat.reports.elevant.layout import MODES
from karat.reports.elevant.names import NAMES

EVAL_TYPES: tuple[tuple[str, ...], ...] = tuple(
    {
        Outcome.TP: ("TP",),
        Outcome.FP: ("FP",),
        Outcome.FN: ("FN",),
        Outcome.WRONG_LINK: ("FN", "FP"),
    }.get(outcome, ())
    for outcome in Outcome
)
"""What ELEVANT calls each outcome."""

MENTION_TYPE_NAMES = tuple(name.upper().replace("-", "_").replace("COREFERENCE", "COREF") for name in MENTION_TYPES)
"""What ELEVANT calls each mention type."""

_UNKNOWN, _NO_TYPE = "Unknown", "OTHER"
_MENTION, _PART, _LONE = range(3)


class Kind(Protocol):
    """One error category: which cases are such errors, which avoid it, and of which nobody can tell."""

    @property
    def error(self) -> Bools:
        """Such errors."""

    @property
    def avoided(self) -> Bools | None:
        """What could have been one; None where no case could."""

    @property
    def undecided(self) -> Bools:
        """Open for want of facts."""


class KindsOfErrors(Protocol):
    """The cases of a view with the error categories of each."""

    @property
    def table(self) -> CaseTable:
        """The cases."""

    @property
    def tags(self) -> Mapping[str, Kind]:
        """Which of them are in each category."""


class Judged(Protocol):
    """What is asked of the evaluation that a result was made by; it refuses views that it does not have."""

    @property
    def facts(self) -> Facts:
        """What is known of labels and answers."""

    def verdicts(self, view: str) -> Verdicts:
        """How the cases of a view ended."""

    def categorised(self, view: str) -> KindsOfErrors:
        """What kinds of errors they are."""


@dataclass(frozen=True)
class ElevantCases:
    """The cases in ELEVANT's order, one entry in each column; iterating gives those of each document as its file does.

    `gold` and `answer` are rows of labels and answers, -1 where there is none. `linking` and `detection` hold an
    outcome by mode, `labels` the names of error categories, and `undecided` says where a fact for them is missing.
    `below` gives for each mention that is scored by its parts the places of those that count, `parts` how they ended.
    """

    facts: Facts
    document: Ints
    gold: Longs
    answer: Longs
    start: Ints
    end: Ints
    factor: Bools
    optional: Bools
    mention_type: Ints
    linking: Mapping[str, Ints]
    detection: Mapping[str, Ints]
    labels: Mapping[str, list[tuple[str, ...]]]
    undecided: Bools
    below: Mapping[int, Longs]

    def __len__(self) -> int:
        return len(self.document)

    def __iter__(self) -> Iterator[list[dict[str, Any]]]:
        corpus = self.facts.pairing.corpus
        bounds = np.searchsorted(self.document, np.arange(len(corpus) + 1)).tolist()
        for place, document in enumerate(corpus):
            said = self._said(document, int(corpus.labels.offsets[place]))
            yield [self._case(case, document.text, said) for case in range(bounds[place], bounds[place + 1])]

    def lacks_facts(self, case: int) -> bool:
        """Whether its error labels depend on a fact that nobody knows, or on what its text is popular for."""
        kb = self.facts.kb
        text = self.facts.pairing.texts[self.document[case]][self.start[case] : self.end[case]]
        return bool(self.undecided[case]) or kb is None or kb.popular([text]) == [None]

    def predicted(self) -> list[str | None]:
        """The id of each case's answer as written, empty where it has no link; None where there is no answer."""
        return [None if row < 0 else self._answers.id(row) for row in self.answer.tolist()]

    def _said(self, document: Document, first: int) -> dict[int, dict[str, Any]]:
        """What the file says of each label, by its row."""
        names = self.facts.gold.names
        return {
            row: msgspec.to_builtins(
                msgspec.structs.replace(label, name=names[row] or _UNKNOWN, type=label.type or _NO_TYPE)
            )
            for row, label in enumerate(gold_labels(document.labels), first)
        }

    def _case(self, case: int, text: str, said: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
        gold, answer = int(self.gold[case]), int(self.answer[case])
        start, end = int(self.start[case]), int(self.end[case])
        parts = self.below.get(case)
        return {
            "span": [start, end],
            "text": text[start:end],
            "candidates": self._answers.candidates(answer),
            "predicted_by": self.facts.pairing.run.about.get("linked_by") if answer >= 0 else None,
            "error_labels": {mode: labels[case] for mode, labels in self.labels.items()},
            "factor": int(self.factor[case]),
            "linking_eval_types": {mode: EVAL_TYPES[ended[case]] for mode, ended in self.linking.items()},
            "ner_eval_types": {mode: EVAL_TYPES[ended[case]] for mode, ended in self.detection.items()},
            "optional": bool(self.optional[case]),
            **({} if gold < 0 else {"true_entity": said[gold]}),
            **({} if answer < 0 else {"predicted_entity": self._answers.entity(answer)}),
            "mention_type": MENTION_TYPE_NAMES[self.mention_type[case]],
            **(
                {}
                if parts is None
                else {
                    "child_linking_eval_types": {mode: _union(ended[parts]) for mode, ended in self.linking.items()},
                    "child_ner_eval_types": {mode: _union(ended[parts]) for mode, ended in self.detection.items()},
                }
            ),
        }

    @cached_property
    def _answers(self) -> _Answers:
        return _Answers(self.facts)


class _Answers:
    """What is written of each answer."""

    def __init__(self, facts: Facts) -> None:
        written = facts.pairing.run.answers
        self._ids: list[str] = [*written.names.to_pylist(), "", NIL_ID]  # NO_LINK and NIL come last
        self._code = written.entity
        self._unmapped = facts.answers.said(UNMAPPED)
        self._read = facts.answers.entity
        self._names = facts.answers.names
        self._types = [*map(type_string, facts.types), _NO_TYPE, _NO_TYPE]
        self._facts = facts

    def id(self, row: int) -> str:
        """The id of its entity as written."""
        id: str = self._ids[self._code[row]]
        return NO_MAPPING if id == NIL_ID and self._unmapped[row] else id

    def entity(self, row: int) -> dict[str, str]:
        """Its entity."""
        return {
            "entity_id": self.id(row),
            "name": self._names[row] or _UNKNOWN,
            "type": self._types[self._read[row]],
        }

    def candidates(self, row: int) -> list[dict[str, str]]:
        """Its candidates; none where there is no answer."""
        if row < 0:
            return []
        offsets = self._facts.answers.candidates[0]
        return self._candidates[offsets[row] : offsets[row + 1]]

    @cached_property
    def _candidates(self) -> list[dict[str, str]]:
        ids, kb = self._facts.answers.candidates[1], self._facts.kb
        names = [None] * len(ids) if kb is None else kb.names(ids)
        return [{"entity_id": id, "name": name or _UNKNOWN} for id, name in zip(ids, names, strict=True)]


def type_string(types: frozenset[str] | None) -> str:
    """Types as ELEVANT writes them: a quantity or a date is nothing else."""
    for kind in KINDS.values():
        if types and kind in types:
            return kind
    return "|".join(sorted(types or ())) or _NO_TYPE


def _union(ended: Ints) -> list[str]:
    return sorted({name for outcome in ended.tolist() for name in EVAL_TYPES[outcome]})


def cases(result: Result) -> ElevantCases:
    """The cases of the views that both modes are made of."""
    judged: Judged | None = result.evaluation
    if judged is None:
        raise KaratError("a result read from a file has no cases. Score again.")
    needed = {name for part in MODES.values() for name in _views(part)}
    if needed - result.views.keys() or "error" not in result.by:
        raise UsageError(f"ELEVANT's cases need {', '.join(sorted(needed))}, by error. Score with --layout elevant.")
    verdicts = {name: judged.verdicts(name) for name in sorted(needed)}
    link = verdicts["strong"]
    gold, answer, tree = link.gold, link.answer, link.tree
    if tree is None or result.signature["assignment"] != "lookup":  # others have trees too, of another make
        raise UsageError("ELEVANT's cases are mentions that look up their answers. Score with --like elevant.")
    facts = judged.facts
    labels, answers = facts.pairing.corpus.labels, facts.pairing.run.answers
    start, end = _by_case(labels.start, answers.start, gold, answer), _by_case(labels.end, answers.end, gold, answer)
    side = np.where(gold < 0, _LONE, np.where(tree.part, _PART, _MENTION))
    order = np.lexsort((np.append(_numbers(labels), 0)[gold], side, end, start, link.document))
    ended = {name: _ended(verdicts[name])[order] for part in MODES.values() for name in _views(part)}
    named, undecided = _error_labels(judged, order)
    return ElevantCases(
        facts=facts,
        document=link.document[order],
        gold=gold[order],
        answer=answer[order],
        start=start[order],
        end=end[order],
        factor=tree.factor[order],
        optional=np.append(facts.pairing.corpus.units.optional, False)[gold][order],
        mention_type=_by_case(facts.gold.mention_type, facts.answers.mention_type, gold, answer)[order],
        linking={mode: ended[_views(part)[0]] for mode, part in MODES.items()},
        detection={mode: ended[_views(part)[1]] for mode, part in MODES.items()},
        labels=named,
        undecided=undecided,
        below=_below(facts, gold[order], ~tree.factor[order] & (side[order] == _MENTION), tree.factor[order]),
    )


def _views(part: str) -> tuple[str, str]:
    return f"strong{part}", f"mention{part}"


def _by_case(of_labels: Ints, of_answers: Ints, gold: Longs, answer: Longs) -> Ints:
    return np.where(gold >= 0, np.append(of_labels, np.int32(0))[gold], np.append(of_answers, np.int32(0))[answer])


def _ended(cases: Verdicts) -> Ints:
    """How each case ended by itself, or for its parts where these speak for it."""
    assert cases.tree is not None
    return np.where(cases.tree.part, cases.tree.own, cases.outcome)


def _numbers(labels: Mentions) -> Longs:
    """What orders labels on one span: their ids in ELEVANT's file, which are their units, or else their places."""
    place = np.arange(len(labels)) - labels.offsets[labels.document]
    unit = labels.field("unit")
    if unit is None:
        return place
    number = pc.match_substring_regex(unit, "^[0-9]{1,9}$")
    given = pc.if_else(number, unit, pa.scalar(None, pa.string())).cast(pa.int64()).fill_null(-1).to_numpy()
    return np.where(given >= 0, given, place)


def _below(facts: Facts, gold: Longs, split: Bools, factor: Bools) -> dict[int, Longs]:
    place = dict(zip(gold.tolist(), range(len(gold)), strict=True)) if split.any() else {}
    found = {}
    for root in np.flatnonzero(split).tolist():
        parts = [place[row] for row in sorted(facts.pairing.trees.below(int(gold[root]))) if row in place]
        found[root] = np.array([part for part in parts if factor[part]], np.int64)
    return found


def _error_labels(judged: Judged, order: Longs) -> tuple[dict[str, list[tuple[str, ...]]], Bools]:
    """The names of the categories of each case, by mode and sorted; and which cases are undecided in some category."""
    size = len(order)
    rank = np.empty(size, np.int64)
    rank[order] = np.arange(size)
    unsure = np.zeros(size, np.bool_)
    found: dict[str, list[tuple[str, ...]]] = {}
    for mode, part in MODES.items():
        known = judged.categorised(_views(part)[0])
        place = rank[known.table.place]
        masks: dict[str, Bools] = {}
        for name, tag in known.tags.items():
            if name in NAMES:
                theirs = NAMES[name]
                for label, mask in ((theirs.error, tag.error), (theirs.avoided, tag.avoided)):
                    if label and mask is not None:
                        masks[label] = mask
            unsure[place[tag.undecided]] = True
        lists: list[tuple[str, ...]] = [()] * size
        for case, labels in zip(place.tolist(), _together(masks), strict=True):
            lists[case] = labels
        found[mode] = lists
    return found, unsure


def _together(masks: Mapping[str, Bools]) -> list[tuple[str, ...]]:
    """For each case the names of those that hold, sorted; the few sets that occur are made once."""
    names = sorted(masks)
    held = np.array([masks[name] for name in names])
    bits = np.ascontiguousarray(np.packbits(held, axis=0).T)
    keys: list[bytes] = bits.view(f"V{bits.shape[1]}").reshape(-1).tolist()
    sets = {
        key: tuple(name for name, holds in zip(names, held[:, case], strict=True) if holds)
        for key, case in dict(zip(keys, range(len(keys)), strict=True)).items()
    }
    return [sets[key] for key in keys]
