"""Systems mention by mention: what one gets and another does not, and how well they link what all of them detect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.comparison.grid import Grid
from karat.errors import UsageError
from karat.evaluation.evaluation import Evaluation
from karat.facts.facts import Facts
from karat.facts.sentence import sentence_around
from karat.matching.read.facets import gold_facet
from karat.model.corpus import WITHOUT_TEXT, Corpus
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, Bools, Longs
from karat.registry import get, names
from karat.spec.choices.task import TASKS
from karat.spec.grouping import Grouping
from karat.stats.tests.mcnemar import mcnemar_of_counts

ERROR: Final = "error"
"""What the label of error categories is called where scores are grouped by it."""

OUTCOME: Final = "outcome"
"""How the other system failed: what flips are always counted by."""

_SHOWN: Final = (
    "outcome",
    "answer",
    "answer_start",
    "answer_end",
    "answer_nil",
    "answer_entity",
    "mention_type",
    "errors",
)
"""The columns of verdicts that say how a system failed."""


@dataclass(frozen=True, slots=True)
class Detected:
    """How a system links, on the mentions that it detects itself and on those that all systems detect.

    Of `mentions` it detects `detected`, and links `right` of them right; of the `common` ones `common_right`.
    """

    mentions: int
    detected: int
    right: int
    common: int
    common_right: int

    @property
    def coverage(self) -> float | None:
        """The share of mentions that are detected."""
        return self.detected / self.mentions if self.mentions else None

    @property
    def accuracy(self) -> float | None:
        """Of the mentions that it detects, the share that is linked right."""
        return self.right / self.detected if self.detected else None

    @property
    def common_accuracy(self) -> float | None:
        """Of the mentions that all detect, the share that is linked right."""
        return self.common_right / self.common if self.common else None

    def plus(self, other: Detected) -> Detected:
        """Both together."""
        sums = (one + two for one, two in zip(astuple(self), astuple(other), strict=True))
        return Detected(*sums)


@dataclass(frozen=True, slots=True)
class Flips:
    """Mentions that the first system gets and the second does not, and the other way round.

    `both` and `neither` are the other mentions. `p` is McNemar's, over mentions, which are not independent of each
    other. `by` has for each label, one of which is how the other failed, both numbers by value.
    """

    one: str
    two: str
    only_one: int
    only_two: int
    both: int
    neither: int
    p: float | None
    by: Mapping[str, Mapping[str, tuple[int, int]]]


class _Seen(NamedTuple):
    """What became of mentions under one system, by row of their labels: -1 where there is no such case.

    `facts` know what entities are called.
    """

    case: Longs
    counts: Bools
    right: Bools
    detected: Bools | None
    cases: Arrow
    facts: Facts


@dataclass(frozen=True, eq=False)
class MentionsBySystem:
    """All systems on the mentions of one dataset, which are told by the row of one of their labels."""

    dataset: str
    view: str
    corpus: Corpus
    labels: tuple[str, ...]
    seen: Mapping[str, _Seen]

    @cached_property
    def counted(self) -> Longs:
        """The mentions that count for every system."""
        return np.flatnonzero(np.logical_and.reduce([each.counts for each in self.seen.values()]))

    @property
    def differing(self) -> int:
        """How many mentions count for some systems only."""
        return int(np.logical_or.reduce([each.counts for each in self.seen.values()]).sum()) - len(self.counted)

    def detected(self) -> dict[str, Detected] | None:
        """How each system links; None where a view knows no detection."""
        rows = self.counted
        found = {system: each.detected[rows] for system, each in self.seen.items() if each.detected is not None}
        if len(found) < len(self.seen):
            return None
        common = np.logical_and.reduce(list(found.values()))
        counts = {}
        for system, own in found.items():
            right = self.seen[system].right[rows]
            sums = map(int, (own.sum(), (own & right).sum(), common.sum(), (common & right).sum()))
            counts[system] = Detected(len(rows), *sums)
        return counts

    def flips(self, one: str, two: str) -> Flips:
        """What one of two systems gets and the other does not."""
        first, second = (self.seen[name].right[self.counted] for name in (one, two))
        only = [self.counted[first & ~second], self.counted[second & ~first]]
        tallies = [self._tallied(rows, loser) for rows, loser in zip(only, (two, one), strict=True)]
        by = {
            label: {
                value: (tallies[0][label].get(value, 0), tallies[1][label].get(value, 0))
                for value in sorted({*tallies[0][label], *tallies[1][label]})
            }
            for label in (OUTCOME, *self.labels)
        }
        both = int((first & second).sum())
        sizes = len(only[0]), len(only[1])
        return Flips(one, two, *sizes, both, len(first) - both - sum(sizes), mcnemar_of_counts(*sizes).p, by)

    def _tallied(self, rows: Longs, loser: str) -> dict[str, dict[str, int]]:
        """How many mentions have each value of each label."""
        found = {}
        for label in (OUTCOME, *self.labels):
            values = pc.value_counts(self._values(rows, loser, label)).to_pylist() if len(rows) else []
            found[label] = {each["values"]: each["counts"] for each in values if each["values"] is not None}
        return found

    def _values(self, rows: Longs, loser: str, label: str) -> Arrow:
        """The values of a label on some mentions, one after the other; a mention may have several."""
        named = OUTCOME if label == OUTCOME else _column(label)
        if named is not None:
            own = self.seen[loser]
            column = own.cases.column(named).take(pa.array(own.case[rows]))
            flat = column.combine_chunks()
            return flat.flatten() if pa.types.is_list(flat.type) else flat
        known = gold_facet(self.corpus, label)
        return pa.array(known.names).take(pa.array(known.lists.take(rows).values))

    def lines(self) -> Iterator[dict[str, Any]]:
        """Every mention that some systems get and others do not, with who gets it and how the others fail."""
        right = np.stack([each.right[self.counted] for each in self.seen.values()])
        rows = self._ordered(self.counted[right.any(axis=0) & ~right.all(axis=0)])
        failed = {system: self._failed(system, rows) for system in self.seen}
        for place, (row, line) in enumerate(zip(rows.tolist(), self._said(rows), strict=True)):
            line["right"] = [system for system, each in self.seen.items() if each.right[row]]
            line["wrong"] = [failed[system][place] for system, each in self.seen.items() if not each.right[row]]
            yield line

    def _ordered(self, rows: Longs) -> Longs:
        labels, ids = self.corpus.labels, self.corpus.ids.to_pylist()
        document = [ids[place] for place in labels.document[rows].tolist()]
        keys = zip(document, labels.start[rows].tolist(), labels.end[rows].tolist(), rows.tolist(), strict=True)
        return np.array([key[-1] for key in sorted(keys)], np.int64)

    def _said(self, rows: Longs) -> Iterator[dict[str, Any]]:
        """What is to be said about some mentions, whoever gets them."""
        labels, ids = self.corpus.labels, self.corpus.ids.to_pylist()
        texts = None if self.corpus.skipped.get(WITHOUT_TEXT) or not self.corpus.has_text else self.corpus.texts
        names = next(iter(self.seen.values())).facts.gold.names
        known = {label: gold_facet(self.corpus, label) for label in self.labels if _column(label) is None}
        kinds = self._cases(next(iter(self.seen)), rows) if "mention-type" in self.labels else []
        places = zip(
            labels.document[rows].tolist(), labels.start[rows].tolist(), labels.end[rows].tolist(), strict=True
        )
        entities = labels.linked_to(rows).to_pylist()
        for place, (row, (document, start, end)) in enumerate(zip(rows.tolist(), places, strict=True)):
            line: dict[str, Any] = {"dataset": self.dataset, "view": self.view, "document": ids[document]}
            line |= {"start": start, "end": end}
            if texts is not None:
                found = sentence_around(texts[document], start, end)
                line |= {"text": texts[document][start:end], "sentence": found.text, "sentence_start": found.offset}
            line |= {"nil": True} if labels.entity[row] == NIL else {"entity": entities[place]}
            line |= {"name": names[row]} if names[row] else {}
            for label, own in known.items():
                codes = own.lists.values[own.lists.offsets[row] : own.lists.offsets[row + 1]]
                line[label] = [own.names[code] for code in codes.tolist()]
            yield line | ({"mention-type": kinds[place]["mention_type"]} if kinds else {})

    def _cases(self, system: str, rows: Longs) -> list[dict[str, Any]]:
        """What became of some mentions."""
        own = self.seen[system]
        shown = [name for name in _SHOWN if name in own.cases.column_names]
        cases: list[dict[str, Any]] = own.cases.select(shown).take(pa.array(own.case[rows])).to_pylist()
        return cases

    def _failed(self, system: str, rows: Longs) -> list[dict[str, Any]]:
        """How a system failed on some mentions: what it answered instead, if anything."""
        lines, names = [], self.seen[system].facts.called(by_labels=True)
        for case in self._cases(system, rows):
            found = {"system": system, "outcome": case["outcome"]}
            if case["answer_start"] is not None:
                found |= {"start": case["answer_start"], "end": case["answer_end"]}
                found |= {"nil": True} if case["answer_nil"] else {"entity": case["answer_entity"]}
                found |= {"name": names[case["answer"]]} if names[case["answer"]] else {}
            lines.append(found | ({"errors": case["errors"]} if ERROR in self.labels else {}))
        return lines


def mentions(grid: Grid, dataset: str) -> MentionsBySystem | None:
    """All systems on the mentions of a dataset; None where nobody has them: of results, and of tasks without any."""
    row, corpus, name = grid.cells[dataset], grid.corpus(dataset), grid.name
    judged = {system: cell.evaluation for system, cell in row.items() if cell.evaluation is not None}
    if corpus is None or len(judged) < len(row) or len(row) < 2:
        return None
    task = name.view.task or grid.request.conventions.task_name
    if name.group is not None or TASKS[task].source != "mentions":
        return None
    if str(name.view) not in next(iter(row.values())).result.views:
        return None
    label = next(iter(judged.values())).sides.pairing().units.unit
    seen = {system: _seen(evaluation, str(name.view), label) for system, evaluation in judged.items()}
    return MentionsBySystem(dataset, str(name.view), corpus, grid.labels, seen)


def _column(label: str) -> str | None:
    """The column of verdicts that has the values of a label of cases; None where mentions carry it."""
    return get("labels", label, Grouping).column if label in names("labels") else None


def check_labels(by: Sequence[str]) -> None:
    """Refuse labels that say nothing about a single mention."""
    if "doc" in by:
        raise UsageError("flips are counted by what mentions are, and doc is none of it. Give mention-type or types.")


def _seen(evaluation: Evaluation, view: str, label: Longs) -> _Seen:
    """What became of every mention."""
    cases = evaluation.table(view)
    gold, found, missed = (_numbers(cases, name) for name in ("gold", "matched_gold", "unmatched_gold"))
    counting = (gold >= 0) & (found + missed > 0)
    case = np.full(len(label), -1, np.int64)
    counts, right = np.zeros((2, len(label)), np.bool_)
    mention = label[gold[counting].astype(np.int64)]
    case[mention] = np.flatnonzero(counting)
    counts[mention] = True
    right[label[gold[counting & (found > 0)].astype(np.int64)]] = True
    facts = evaluation.sides.facts_of(evaluation.plans.views[view].source)
    return _Seen(case, counts, right, _detected(evaluation, view, label, counts, right), cases, facts)


def _detected(evaluation: Evaluation, view: str, label: Longs, counts: Bools, right: Bools) -> Bools | None:
    """Which mentions are detected, as accuracy counts it; None where a view looks at no links or no places.

    What is linked right is detected. Where several mentions stand on one span, detection by itself may take others than
    linking: of these there are then as many in each document as accuracy counts, if so many mentions are there. (Under
    BAT's conventions it may count one by all of its answers, or fewer than are linked right.)
    """
    cases, statistics = evaluation.detected(view), evaluation.views[view].found
    if cases is None or statistics is None:
        return None
    flagged = np.zeros(len(label), np.bool_)
    flagged[label[cases.gold[(cases.gold >= 0) & (cases.weights()[:, 2] > 0)]]] = True
    labels, number = evaluation.sides.corpus.labels, statistics.matched_gold
    found = flagged | right
    several = np.bincount(labels.document[found], minlength=len(number)) != number
    for document in np.flatnonzero(several).tolist():
        rows = np.arange(*labels.offsets[document : document + 2])
        spans = {(labels.start[row], labels.end[row]) for row in rows[found[rows]].tolist()}
        others = sorted(
            rows[counts[rows] & ~right[rows]].tolist(),
            key=lambda row: (
                not flagged[row],
                (labels.start[row], labels.end[row]) not in spans,
                labels.start[row],
                labels.end[row],
                row,
            ),
        )
        found[rows] = right[rows]
        found[others[: max(0, round(number[document]) - int(right[rows].sum()))]] = True
    return found


def _numbers(table: Arrow, name: str) -> Any:  # noqa: ANN401  # whole or not, as the column is
    column = table.column(name)
    filled = pc.fill_null(column, pa.scalar(-1, column.type)) if column.null_count else column
    return filled.to_numpy()


def pooled_flips(found: Sequence[MentionsBySystem], systems: Sequence[str], labels: Sequence[str]) -> tuple[Flips, ...]:
    """The flips of all pairs over several datasets together."""
    pooled = []
    for one, two in combinations(systems, 2):
        parts = [each.flips(one, two) for each in found if one in each.seen and two in each.seen]
        if not parts:
            continue
        only_one, only_two = sum(part.only_one for part in parts), sum(part.only_two for part in parts)
        pooled.append(
            Flips(
                one,
                two,
                only_one,
                only_two,
                both=sum(part.both for part in parts),
                neither=sum(part.neither for part in parts),
                p=mcnemar_of_counts(only_one, only_two).p,
                by={label: _summed([part.by[label] for part in parts]) for label in (OUTCOME, *labels)},
            )
        )
    return tuple(pooled)


def _summed(parts: Sequence[Mapping[str, tuple[int, int]]]) -> dict[str, tuple[int, int]]:
    values = sorted({value for part in parts for value in part})
    sums = {value: [part.get(value, (0, 0)) for part in parts] for value in values}
    return {value: (sum(one for one, _ in both), sum(two for _, two in both)) for value, both in sums.items()}
