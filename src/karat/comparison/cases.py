"""Single cases, with all systems on the same mention: what a person looks at, and a page or a program shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, overload

import numpy as np

from karat.comparison.grid import Grid
from karat.errors import UnknownNameError, UsageError
from karat.evaluation.cases.errors import categories
from karat.evaluation.evaluation import Evaluation
from karat.facts.facts import Facts
from karat.facts.sentence import Sentence, sentence_around
from karat.matching.read.pairing import Pairing
from karat.model.corpus import WITHOUT_TEXT, Corpus
from karat.model.signature import Signature
from karat.model.tables.columns import NIL, Bools, Floats, Ints, Longs, Mentions
from karat.model.tables.facet import NONE, Facet
from karat.model.verdict import Outcome, Verdicts
from karat.spec.choices.task import TASKS

_RIGHT: Final = (Outcome.TP, Outcome.MATCHED_ANSWER, Outcome.MATCHED_GOLD)
_WRONG: Final = (Outcome.FP, Outcome.FN, Outcome.WRONG_LINK)

OUTCOMES: Final[Mapping[str, tuple[Outcome, ...]]] = {
    **{outcome.label.replace(" ", "-"): (outcome,) for outcome in Outcome},
    "right": _RIGHT,
    "wrong": _WRONG,
}
"""What cases can be asked for by how they ended, in the words of a command line."""


@dataclass(frozen=True, slots=True)
class NamedLink:
    """A place in a text and what it is linked to: an `entity`, with its `name` where that is known, NIL, or nothing."""

    start: int
    end: int
    entity: str | None
    nil: bool = False
    name: str | None = None


@dataclass(frozen=True, slots=True)
class SystemCase:
    """What one system made of a case; `answer` is None where it has none, and `near` are then those that overlap it.

    `errors` are the categories of its error, `undecided` those that nobody can decide for want of facts.
    """

    system: str
    outcome: str
    answer: NamedLink | None = None
    score: float | None = None
    errors: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    near: tuple[NamedLink, ...] = ()


@dataclass(frozen=True, slots=True)
class MentionCase:
    """A mention with what every system answered there, or a place where only systems see one.

    `gold` has the alternatives of the mention, none where the gold standard has no mention. A system may be among
    `systems` several times, and is not there where it has nothing to say. Without a text there is no `sentence`.
    """

    document: str
    start: int
    end: int
    sentence: Sentence | None
    gold: tuple[NamedLink, ...]
    types: tuple[str, ...]
    optional: bool
    systems: tuple[SystemCase, ...]


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """Which cases are looked at: all those for which every field that is not empty holds.

    The case of one of the `systems` (of any, if none is named) has one of the `outcomes` and is in one of the `errors`;
    its mention, or else its answer, has one of the `types`; the mention or the answer is linked to one of the
    `entities`, by id or name; it is in one of the `documents`; of the two systems in `flips` one is right and the other
    is not.
    """

    outcomes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    flips: tuple[str, str] | None = None

    def checked(self, systems: Sequence[str]) -> CaseFilter:
        """The same, if systems, outcomes and categories are known by these names."""
        named = ((*self.systems, *(self.flips or ())), systems, "system")
        for given, known, kind in (named, (self.outcomes, OUTCOMES, "outcome"), (self.errors, categories(), "error")):
            for name in given:
                if name not in known:
                    raise UnknownNameError(kind, name, known)
        if self.flips is not None and self.flips[0] == self.flips[1]:
            raise UsageError(f"{self.flips[0]} does not flip against itself. Name two systems.")
        return self


@dataclass(frozen=True, eq=False)
class _Judged:
    """What a system made of a view: one row for each case of its own."""

    system: str
    evaluation: Evaluation
    view: str

    @cached_property
    def cases(self) -> Verdicts:
        """One row for each of its own cases."""
        return self.evaluation.verdicts(self.view)

    @cached_property
    def answer(self) -> Longs:
        """The answer of each row, or -1; made once, as everything is that a single case asks for."""
        return self.cases.answer

    @cached_property
    def score(self) -> Floats:
        """The score of each answer."""
        return self.pairing.run.answers.score()

    @cached_property
    def pairing(self) -> Pairing:
        """Both sides."""
        return self.evaluation.sides.pairing(self.evaluation.plans.views[self.view].source)

    @cached_property
    def facts(self) -> Facts:
        """What is known about them."""
        return self.evaluation.sides.facts_of(self.evaluation.plans.views[self.view].source)

    @cached_property
    def names(self) -> list[str | None]:
        """What the entities of its answers are called."""
        return self.facts.called(by_labels=True)

    @cached_property
    def unit(self) -> Longs:
        """The label that stands for the mention of each row, or -1."""
        return np.append(self.pairing.units.unit, -1)[self.cases.gold]

    @cached_property
    def span(self) -> tuple[Longs, Longs]:
        """Where each row stands: on its mention, or else where its answer does."""
        labels, answers = self.pairing.corpus.labels, self.pairing.run.answers
        ends = []
        for gold, answer in ((labels.start, answers.start), (labels.end, answers.end)):
            ends.append(np.where(self.unit >= 0, np.append(gold, 0)[self.unit], np.append(answer, 0)[self.answer]))
        return ends[0], ends[1]

    @cached_property
    def tags(self) -> dict[str, tuple[Bools, Bools]]:
        """For each category which rows are such errors, and which are open; nothing in a view without categories."""
        if self.view not in self.evaluation.plans.stages:
            return {}
        found = self.evaluation.categorised(self.view)
        # behind are mentions that the view does not show; others are scored by their parts
        shown = (found.table.place < len(self.cases)) & found.table.cases.counts
        place, tags = found.table.place[shown], {}
        for name, tag in found.tags.items():
            error, undecided = np.zeros((2, len(self.cases)), np.bool_)
            error[place[tag.error[shown]]] = True
            undecided[place[tag.undecided[shown]]] = True
            tags[name] = error, undecided
        return tags

    def made(self, row: int) -> SystemCase:
        """What it made of one of its cases."""
        answers, answer = self.pairing.run.answers, int(self.answer[row])
        errors = tuple(name for name, (error, _) in self.tags.items() if error[row])
        undecided = tuple(name for name, (_, unknown) in self.tags.items() if unknown[row])
        score = np.nan if answer < 0 else float(self.score[answer])
        return SystemCase(
            self.system,
            Outcome(int(self.cases.outcome[row])).label,
            None if answer < 0 else _link(answers, answer, self.names[answer]),
            None if np.isnan(score) else score,
            errors,
            undecided,
            () if answer >= 0 else self._near(row),
        )

    @cached_property
    def _by_place(self) -> tuple[Longs, Longs, Longs]:
        """The answers of all rows by document and start, where they start, and how far any of them reached so far."""
        answers, document = self.pairing.run.answers, np.zeros(len(self.pairing.run.answers), np.int64)
        document[self.answer[self.answer >= 0]] = self.cases.document[self.answer >= 0]
        own = np.unique(self.answer[self.answer >= 0])
        start, end = (_place(document[own], ends[own]) for ends in (answers.start, answers.end))
        order = np.argsort(start, kind="stable")
        return own[order], start[order], np.maximum.accumulate(end[order])

    def _near(self, row: int) -> tuple[NamedLink, ...]:
        """The answers that overlap a mention without one."""
        answers, (own, starts, reached) = self.pairing.run.answers, self._by_place
        start, end = (int(ends[row]) for ends in self.span)
        low = np.searchsorted(reached, _place(self.cases.document[row], start), "right")
        high = np.searchsorted(starts, _place(self.cases.document[row], end), "left")
        near = own[low:high][answers.end[own[low:high]] > start]
        return tuple(_link(answers, answer, self.names[answer]) for answer in near.tolist())

    def types(self, unit: int, row: int) -> tuple[str, ...]:
        """The types of a mention, or else of the answer of a row."""
        facets = self.pairing.facets
        if unit >= 0:
            return _values(facets.of_gold("types"), unit)
        return _values(facets.of_answers("types"), int(self.answer[row]))

    def typed(self, types: Collection[str]) -> Bools:
        """Which rows have one of some types."""
        facets, units = self.pairing.facets, self.pairing.units.unit
        gold = np.zeros(len(units) + 1, np.bool_)
        every, answers = np.arange(len(units)), np.flatnonzero(self.unit < 0)
        found = np.zeros(len(self.cases), np.bool_)
        for value in types:
            gold[units[facets.of_gold("types").mask(every, value)]] = True
            found[answers] |= facets.of_answers("types").mask(self.answer[answers], value)
        return found | gold[self.unit]

    def linked(self, entities: Collection[str]) -> Bools:
        """Which rows have a mention or an answer that is linked to one of some entities, by id or name."""
        units = self.pairing.units.unit
        gold = np.zeros(len(units) + 1, np.bool_)
        gold[units[_among(self.pairing.corpus.labels, self.facts.gold.names, entities)]] = True
        answers = np.append(_among(self.pairing.run.answers, self.names, entities), False)
        found: Bools = gold[self.unit] | answers[self.answer]
        return found

    @property
    def counted(self) -> tuple[Bools, Bools]:
        """Which rows are mentions that count, and which of these are right."""
        weights = self.cases.weights()
        mentions = (self.unit >= 0) & (weights[:, 2] + weights[:, 3] > 0)
        return mentions, mentions & (weights[:, 2] > 0)


def _place(document: Ints | Longs, offset: Ints | int) -> Longs:
    """A document and an offset in it as one number, in the same order."""
    return (np.asarray(document, np.int64) << 32) + offset


def _link(side: Mentions, row: int, name: str | None) -> NamedLink:
    code = int(side.entity[row])
    entity = None if code < 0 else str(side.names[code].as_py())
    return NamedLink(int(side.start[row]), int(side.end[row]), entity, code == NIL, None if code < 0 else name)


def _values(known: Facet, row: int) -> tuple[str, ...]:
    codes = known.lists.values[known.lists.offsets[row] : known.lists.offsets[row + 1]]
    return tuple(known.names[code] for code in codes.tolist() if known.names[code] != NONE)


def _among(side: Mentions, names: Sequence[str | None], entities: Collection[str]) -> Bools:
    """Which labels or answers are linked to one of some entities; NIL is one."""
    ids = [id in entities for id in side.names.to_pylist()]
    by_id = np.array([*ids, "NIL" in entities, False])[_from_the_end(side.entity, len(ids))]
    return by_id | np.fromiter((name in entities for name in names), np.bool_, len(names))


def _from_the_end(codes: Ints, known: int) -> Longs:
    """Codes as places in a list of all ids, NIL and no link."""
    return np.where(codes >= 0, codes, np.where(codes == NIL, known, known + 1)).astype(np.int64)


def _by_place(pairing: Pairing) -> dict[tuple[int, int, int], int]:
    """The mention that stands at a place of a document, by the label that stands for it: the first of several."""
    labels, units = pairing.corpus.labels, pairing.units
    rows = np.flatnonzero(units.unit == np.arange(len(labels)))[::-1]
    places = np.column_stack([labels.document[rows], labels.start[rows], labels.end[rows]]).tolist()
    return {(document, start, end): row for (document, start, end), row in zip(places, rows.tolist(), strict=True)}


@dataclass(frozen=True, eq=False)
class _Beside:
    """The cases of all systems beside each other: `case` says for each row of each system which of all it belongs to.

    They are in the order of documents and places; `document` has that of each, and `unit` the label that stands for its
    mention, or -1.
    """

    corpus: Corpus
    judged: tuple[_Judged, ...]
    case: tuple[Longs, ...]
    document: Longs
    unit: Longs
    ids: list[str]

    @classmethod
    def of(cls, corpus: Corpus, judged: tuple[_Judged, ...]) -> _Beside:
        """Rows are of one case if they are about one mention or stand where it does, or else if they share a place."""
        known: dict[str, int] = {}
        keys = []
        mention = _by_place(judged[0].pairing)
        for own in judged:  # documents that only answers have stand behind the others, and may not be the same
            place = np.array([known.setdefault(id, len(known)) for id in own.pairing.corpus.ids.to_pylist()], np.int64)
            spans, unit = np.column_stack([place[own.cases.document], *own.span]), own.unit.copy()
            alone = np.flatnonzero(unit < 0)
            unit[alone] = [mention.get((document, start, end), -1) for document, start, end in spans[alone].tolist()]
            keys.append(np.column_stack([spans, unit]))
        every, inverse = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
        sizes = np.cumsum([len(each) for each in keys])[:-1]
        return cls(corpus, judged, tuple(np.split(inverse.ravel(), sizes)), every[:, 0], every[:, 3], list(known))

    @cached_property
    def _rows(self) -> tuple[tuple[Longs, Longs], ...]:
        """For each system its rows in the order of cases, and where those of each case begin."""
        every = np.arange(len(self.document) + 1)
        orders = [np.argsort(case, kind="stable") for case in self.case]
        return tuple(
            (order, np.searchsorted(case[order], every)) for case, order in zip(self.case, orders, strict=True)
        )

    @cached_property
    def _texts(self) -> list[str] | None:
        bare = self.corpus.skipped.get(WITHOUT_TEXT) or not self.corpus.has_text
        return None if bare else self.corpus.texts

    @cached_property
    def _members(self) -> dict[int, list[int]]:
        """The labels of each mention, by the one that stands for it, which comes first."""
        found: dict[int, list[int]] = {}
        for label, unit in enumerate(self.judged[0].pairing.units.unit.tolist()):
            found.setdefault(unit, [unit]).extend([label] * (label != unit))
        return found

    def made(self, case: int) -> MentionCase:
        """One case."""
        rows = [
            (own, row)
            for own, (order, bounds) in zip(self.judged, self._rows, strict=True)
            for row in order[bounds[case] : bounds[case + 1]].tolist()
        ]
        own, row = rows[0]
        unit, document = int(self.unit[case]), int(self.document[case])
        start, end = (int(ends[row]) for ends in own.span)
        texts, names = self._texts, own.facts.gold.names
        return MentionCase(
            self.ids[document],
            start,
            end,
            sentence_around(texts[document], start, end) if texts is not None and document < len(texts) else None,
            tuple(_link(self.corpus.labels, label, names[label]) for label in self._members.get(unit, ())),
            own.types(unit, row),
            unit >= 0 and bool(own.pairing.units.optional[unit]),
            tuple(each.made(one) for each, one in rows),
        )

    def kept(self, asked: CaseFilter) -> Bools:
        """Which cases a filter leaves."""
        found = np.zeros(len(self.document), np.bool_)
        outcomes = [outcome for word in asked.outcomes for outcome in OUTCOMES[word]]
        for own, case in zip(self.judged, self.case, strict=True):
            if asked.systems and own.system not in asked.systems:
                continue
            rows = np.ones(len(case), np.bool_)
            if outcomes:
                rows &= np.isin(own.cases.outcome, outcomes)
            if asked.errors:
                rows &= np.logical_or.reduce([own.tags[name][0] for name in asked.errors])
            found[case[rows]] = True
        for asks, rows_of in ((asked.types, _Judged.typed), (asked.entities, _Judged.linked)):
            if asks:
                found &= self._any(rows_of(own, asks) for own in self.judged)
        if asked.documents:
            found &= np.isin(self.document, [self.ids.index(name) for name in asked.documents])
        if asked.flips is not None:
            one, two = (self._right(name) for name in asked.flips)
            found &= one[0] & two[0] & (one[1] != two[1])
        return found

    def _any(self, masks: Iterable[Bools]) -> Bools:
        found = np.zeros(len(self.document), np.bool_)
        for case, mask in zip(self.case, masks, strict=True):
            found[case[mask]] = True
        return found

    def _right(self, system: str) -> tuple[Bools, Bools]:
        """Which cases are mentions that count for a system, and which it gets."""
        at = [own.system for own in self.judged].index(system)
        counts, right = np.zeros((2, len(self.document)), np.bool_)
        for mask, rows in zip((counts, right), self.judged[at].counted, strict=True):
            mask[self.case[at][rows]] = True
        return counts, right

    def check(self, asked: CaseFilter) -> None:
        """Refuse what no case could have: an error says so, and an empty list would not."""
        types = {
            name
            for own in self.judged
            for known in (own.pairing.facets.of_gold("types"), own.pairing.facets.of_answers("types"))
            for name in known.names
        }
        for kind, given, known in (("type", asked.types, types), ("document", asked.documents, self.ids)):
            for name in given:
                if name not in known:
                    raise UnknownNameError(kind, name, set(known) - {NONE})
        if asked.errors and not self.judged[0].tags:
            raise UsageError("error categories are those of views with links and texts. Show such a view.")
        for name in asked.entities:
            if not any(own.linked([name]).any() for own in self.judged):
                raise UsageError(
                    f"no mention and no answer is linked to {name}. Give an id, a name as written, or NIL."
                )


@dataclass(frozen=True, eq=False)
class CaseList(Sequence[MentionCase]):
    """The cases of a view that a filter leaves, by document and place; each is made when it is asked for.

    `outcomes` counts the cases of each system by how they ended, before anything is filtered; `every` is how many there
    are of all systems together.
    """

    dataset: str
    view: str
    profile: str
    signature: Signature
    systems: tuple[str, ...]
    outcomes: Mapping[str, Mapping[str, int]]
    kept: CaseFilter
    every: int
    _beside: _Beside
    _places: Longs

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> MentionCase: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[MentionCase, ...]: ...
    def __getitem__(self, place: int | slice) -> MentionCase | tuple[MentionCase, ...]:
        if isinstance(place, slice):
            return tuple(map(self._beside.made, self._places[place].tolist()))
        return self._beside.made(int(self._places[place]))

    def __repr__(self) -> str:
        return f"<CaseList {', '.join(self.systems)} on {self.dataset}, {self.view}: {len(self)} of {self.every} cases>"


def cases_of(grid: Grid, systems: Sequence[str], kept: CaseFilter | None = None) -> CaseList:
    """The cases of some systems, in this order, on the one dataset of a grid, in the view of its measure."""
    if len(grid.datasets) != 1:
        raise UsageError(f"cases are those of one dataset, and there are {', '.join(grid.datasets)}. Give one.")
    (dataset,) = grid.datasets
    corpus, name = grid.corpus(dataset), grid.name
    row = {system: grid.cells[dataset][system] for system in systems}
    if corpus is None or any(cell.evaluation is None for cell in row.values()):
        raise UsageError("results keep sums, and no cases. Give the gold standard and the answers.")
    task, view = name.view.task or grid.request.conventions.task_name, str(name.view)
    if TASKS[task].source != "mentions" or view not in next(iter(row.values())).result.views:
        raise UsageError(f"{view} has no single mentions. Show a view such as strong or mention.")
    asked = (kept or CaseFilter()).checked(tuple(row))
    judged = tuple(
        _Judged(system, cell.evaluation, view) for system, cell in row.items() if cell.evaluation is not None
    )
    beside = _Beside.of(corpus, judged)
    beside.check(asked)
    return CaseList(
        dataset,
        view,
        grid.request.profile,
        grid.signature,
        tuple(row),
        {own.system: _outcomes(own.cases) for own in judged},
        asked,
        len(beside.document),
        beside,
        np.flatnonzero(beside.kept(asked)),
    )


def _outcomes(cases: Verdicts) -> dict[str, int]:
    counts = np.bincount(cases.outcome, minlength=len(Outcome)).tolist()
    return {outcome.label: counts[outcome] for outcome in Outcome if counts[outcome]}
