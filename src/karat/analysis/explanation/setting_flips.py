"""Cases that count differently after a setting has switched to another profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from karat.evaluation.evaluation import Evaluation
from karat.model.measure_name import parse_measure
from karat.model.output.json_files import JsonRecord
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs, Mentions

_ItemKey: TypeAlias = tuple[str, int, int, int, int]
"""Side (`gold` or `prediction`), document, start and end of an item, and its number among those on its span."""

_WORDS: Final = ("excluded", "matched", "missed", "correct", "wrong", "not counted")
_EXCLUDED, _NOT_COUNTED = _WORDS.index("excluded"), _WORDS.index("not counted")
_SIDES: Final = {"gold": ("matched", "missed"), "prediction": ("correct", "wrong")}
"""Sides of a case, with the words for a matched and an unmatched item."""


class Flip(JsonRecord, frozen=True):
    """A case that counts differently after a setting has switched to the other profile.

    `gold` and `prediction` are the links of the case, or None. `…_before` and `…_after` tell how each side counted;
    they are empty for a side that counts as before.
    """

    document: str
    start: int
    end: int
    text: str
    gold: str | None
    prediction: str | None
    score: float | None
    gold_before: str
    gold_after: str
    prediction_before: str
    prediction_after: str
    is_lasting: bool = True
    """Whether a side that counts differently counts the same after all settings have switched."""


class ItemNumbers:
    """The numbers of gold labels and predictions, which are the same in all evaluations of a run.

    Rows are no numbers, because settings add and drop predictions.
    """

    def __init__(self) -> None:
        self.keys: list[_ItemKey] = []
        self._by_key: dict[_ItemKey, int] = {}
        self._by_mentions: dict[tuple[str, int], tuple[Mentions, Longs]] = {}

    def get_numbers(self, side: str, mentions: Mentions) -> Longs:
        """Return the number of each label or prediction."""
        if (side, id(mentions)) not in self._by_mentions:
            numbers = np.fromiter((self._number(key) for key in _iterate_keys(side, mentions)), np.int64)
            self._by_mentions[side, id(mentions)] = mentions, numbers
        return self._by_mentions[side, id(mentions)][1]

    def _number(self, key: _ItemKey) -> int:
        """Return the number of an item; a new item gets the next one."""
        if key not in self._by_key:
            self._by_key[key] = len(self.keys)
            self.keys.append(key)
        return self._by_key[key]


def _iterate_keys(side: str, mentions: Mentions) -> Iterator[_ItemKey]:
    """Yield the key of each item."""
    counts: Counter[tuple[int, int, int]] = Counter()
    for span in zip(mentions.document.tolist(), mentions.start.tolist(), mentions.end.tolist(), strict=True):
        yield (side, *span, counts[span])
        counts[span] += 1


class Outcomes(NamedTuple):
    """How every gold label and prediction counts in an evaluation."""

    table: Arrow
    """Table of verdicts, one row per case."""
    items: Mapping[str, Longs]
    """Number of the gold label and of the prediction of each case, by side; -1 if it has none."""
    word: Longs
    """How each item counts, by its number: an index of `_WORDS`."""
    case: Longs
    """Row of the case by which each item counts, by its number."""

    def has_both_sides(self, item: int) -> bool:
        """Return whether the case of an item has a gold label and a prediction."""
        return all(numbers[self.case[item]] >= 0 for numbers in self.items.values())


def collect_outcomes(evaluation: Evaluation, measure: str, numbers: ItemNumbers) -> Outcomes | None:
    """Return how every gold label and prediction counts in the view of `measure`; None if it has no verdicts.

    An item counts by its first case that counts it.
    """
    view = str(parse_measure(measure).view)
    plan = evaluation.plans.views.get(view)
    if plan is None or plan.is_indivisible:
        return None
    table, pairing = evaluation.table(view), evaluation.inputs.pairing(plan.source)
    mentions = {"gold": pairing.corpus.labels, "prediction": pairing.run.predictions}
    number_by_row = {side: np.append(numbers.get_numbers(side, mentions[side]), -1) for side in _SIDES}
    items = {side: number_by_row[side][table.column(side).fill_null(-1).to_numpy()] for side in _SIDES}
    word = np.full(len(numbers.keys), _EXCLUDED)
    case = np.full(len(numbers.keys), -1)
    for side, words in _SIDES.items():
        matched, unmatched = (table.column(f"{name}_{side}").to_numpy() != 0 for name in ("matched", "unmatched"))
        words_by_case = np.select(
            [matched, unmatched], [_WORDS.index(description) for description in words], _NOT_COUNTED
        )
        is_counted, has_item = matched | unmatched, items[side] >= 0
        for rows in (np.flatnonzero(has_item & ~is_counted), np.flatnonzero(has_item & is_counted)[::-1]):
            case[items[side][rows]] = rows  # of several cases of an item the last one stays
            word[items[side][rows]] = words_by_case[rows]
    return Outcomes(table, items, word, case)


def find_flips(
    before: Outcomes | None, after: Outcomes | None, final: Outcomes | None, numbers: ItemNumbers
) -> Iterator[Flip]:
    """Yield the cases that count differently; a gold label and the prediction matched to it are one case.

    An item in only one of both outcomes is `excluded` in the other. `final` has the outcomes under the other profile.
    """
    words = [_extend_words(outcomes, len(numbers.keys)) for outcomes in (before, after, final)]
    is_lasting = (words[0] != words[1]) & (words[1] == words[2])
    changed = sorted(np.flatnonzero(words[0] != words[1]).tolist(), key=numbers.keys.__getitem__)
    changes = {item: (_WORDS[words[0][item]], _WORDS[words[1][item]]) for item in changed}
    reported: set[int] = set()
    cases: list[tuple[Outcomes, int]] = []
    items_by_case: list[dict[str, int]] = []
    for item in changed:
        if item not in reported:
            # The case that has both sides is shown; if both have, the new one.
            counting = [o for o, word in ((after, words[1]), (before, words[0])) if o and word[item] != _EXCLUDED]
            outcomes = max(counting, key=lambda o: o.has_both_sides(item))
            row = int(outcomes.case[item])
            cases.append((outcomes, row))
            items_by_case.append({side: int(n[row]) for side, n in outcomes.items.items() if n[row] >= 0})
            reported.update(items_by_case[-1].values())
    for items, row_values in zip(items_by_case, _take_rows(cases), strict=True):
        gold, prediction = (changes.get(items.get(side, -1), ("", "")) for side in _SIDES)
        lasts = any(is_lasting[item] for item in items.values())
        yield _make_flip(row_values, gold, prediction, is_lasting=lasts)


def _extend_words(outcomes: Outcomes | None, n_items: int) -> Longs:
    """Return the word of each of `n_items`; items that are not among the outcomes are excluded."""
    words = np.full(n_items, _EXCLUDED)
    if outcomes is not None:
        words[: len(outcomes.word)] = outcomes.word
    return words


def _take_rows(cases: Sequence[tuple[Outcomes, int]]) -> list[dict[str, Any]]:
    """Return the row of each case in its table of verdicts."""
    rows: dict[int, dict[str, Any]] = {}
    for outcomes in {id(outcomes): outcomes for outcomes, _ in cases}.values():
        indices = [index for index, (other, _) in enumerate(cases) if other is outcomes]
        taken = outcomes.table.take(pa.array([cases[index][1] for index in indices])).to_pylist()
        rows |= dict(zip(indices, taken, strict=True))
    return [rows[index] for index in range(len(cases))]


def _make_flip(row: Mapping[str, Any], gold: tuple[str, str], prediction: tuple[str, str], *, is_lasting: bool) -> Flip:
    """Build the flip of a verdict row; `gold` and `prediction` are how each counted before and after."""
    side = "gold" if row["gold"] is not None else "prediction"

    def link(side: str) -> str | None:
        if row[side] is None:
            return None
        return "NIL" if row[f"{side}_nil"] else row[f"{side}_entity"] or "no link"

    start, end = row[f"{side}_start"], row[f"{side}_end"]
    words = (*gold, *prediction)
    return Flip(
        row["document"],
        start,
        end,
        row.get("text") or "",
        link("gold"),
        link("prediction"),
        row["score"],
        *words,
        is_lasting,
    )
