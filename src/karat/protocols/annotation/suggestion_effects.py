"""Effects of suggestions on annotators: what they mark with and without them, and how far they agree.

With `--prefill half`, each annotator sees suggestions in a random half of the documents. So a difference between the
two halves is due to the suggestions, up to chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from karat.analysis.explanation.agreement import AgreementScore, ScoreOptions, score_sums
from karat.kb.protocol import KB
from karat.model.document import Document
from karat.model.output.json_files import JsonRecord
from karat.model.results.statistics import ratio
from karat.model.tables.columns import Floats
from karat.protocols.annotation.project import Project
from karat.protocols.annotation.regions import describe_label
from karat.protocols.annotation.version_pairs import VersionPair, compute_f1, count_link_matches
from karat.stats.samples.additive import AdditiveScore


class SuggestionEffect(JsonRecord, frozen=True):
    """A quantity with and without suggestions."""

    with_suggestions: AgreementScore
    """Value in documents in which annotators saw suggestions."""
    without_suggestions: AgreementScore
    """Value in documents in which they saw none."""
    difference: AgreementScore
    """Difference of the two values."""


class _EffectRows(NamedTuple):
    """Rows of sums for each document, without and with suggestions, and the function from sums to a value."""

    without: Floats
    suggested: Floats
    from_totals: Callable[[Floats], Floats]
    items: tuple[int, int]


def measure_suggestions(
    project: Project,
    documents: Mapping[int, Mapping[str, Document]],
    gold: Mapping[str, Document],
    kb: KB | None,
    options: ScoreOptions,
) -> tuple[dict[str, SuggestionEffect], str | None]:
    """Return the effects of suggestions by quantity, and the reason if there are none."""
    is_prefilled = {
        (number, name): project.is_prefilled(name, number) for number in documents for name in documents[number]
    }
    if len(set(is_prefilled.values())) < 2:
        return {}, (
            "no document is finished"
            if not is_prefilled
            else f"annotators saw suggestions in {'all' if all(is_prefilled.values()) else 'no'} finished documents"
        )
    suggested = {task.number: {describe_label(item.label)[:3] for item in task.suggestions} for task in project.tasks}
    arms = {
        prefilled: {
            number: [
                document for name, document in documents[number].items() if is_prefilled[number, name] == prefilled
            ]
            for number in documents
        }
        for prefilled in (False, True)
    }
    rows = {quantity: _build_rows(count, arms, suggested, gold) for quantity, count in _QUANTITIES.items()}
    rows["agreement of annotators on links (F1)"] = _build_f1_rows(arms, kb)
    return {quantity: _measure_effect(effect_rows, options) for quantity, effect_rows in rows.items()}, None


def _count_adopted(labels: set[object], suggested: set[object], gold: set[object] | None) -> tuple[int, int]:
    """Return how many labels equal a suggestion, and the number of labels."""
    return len(labels & suggested), len(labels)


def _count_suggested(labels: set[object], suggested: set[object], gold: set[object] | None) -> tuple[int, int]:
    """Return how many gold labels that were suggested the annotator found, and their number."""
    expected = (gold or set()) & suggested
    return len(labels & expected), len(expected)


def _count_others(labels: set[object], suggested: set[object], gold: set[object] | None) -> tuple[int, int]:
    """Return how many gold labels that were not suggested the annotator found, and their number."""
    expected = (gold or set()) - suggested
    return len(labels & expected), len(expected)


def _count_wrong(labels: set[object], suggested: set[object], gold: set[object] | None) -> tuple[int, int]:
    """Return how many suggestions that are not in the gold standard the annotator has, and their number."""
    wrong = set() if gold is None else suggested - gold
    return len(labels & wrong), len(wrong)


_QUANTITIES: Final = {
    "labels equal to a suggestion": _count_adopted,
    "suggested gold labels found": _count_suggested,
    "other gold labels found": _count_others,
    "wrong suggestions adopted": _count_wrong,
}
"""Shares that suggestions may change, each with the function that counts part and whole in a version."""


def _build_rows(
    count: Callable[[set[object], set[object], set[object] | None], tuple[int, int]],
    arms: Mapping[bool, Mapping[int, Sequence[Document]]],
    suggested: Mapping[int, set[tuple[object, ...]]],
    gold: Mapping[str, Document],
) -> _EffectRows:
    """Return the counts of a share in all documents, without and with suggestions."""
    sums: dict[bool, Floats] = {}
    for prefilled, by_task in arms.items():
        rows = np.zeros((len(by_task), 2))
        for index, (number, versions) in enumerate(by_task.items()):
            for document in versions:
                gold_document = gold.get(document.id)
                gold_labels = None if gold_document is None else _describe_labels(gold_document)
                rows[index] += count(_describe_labels(document), set(suggested[number]), gold_labels)
        sums[prefilled] = rows
    items = round(float(sums[False][:, 1].sum())), round(float(sums[True][:, 1].sum()))
    return _EffectRows(sums[False], sums[True], lambda totals: ratio(totals[:, 0], totals[:, 1]), items)


def _describe_labels(document: Document) -> set[object]:
    """Return span and entity of all labels of a document."""
    return {describe_label(label)[:3] for label in document.labels}


def _build_f1_rows(arms: Mapping[bool, Mapping[int, Sequence[Document]]], kb: KB | None) -> _EffectRows:
    """Return the matches of pairs of annotators who both saw no suggestions, or both saw them."""
    sums = {}
    for prefilled, by_task in arms.items():
        rows = np.zeros((len(by_task), 4))
        pairs = [
            (index, VersionPair(first.id, first, second))
            for index, versions in enumerate(by_task.values())
            for first, second in combinations(versions, 2)
        ]
        if pairs:
            matches = count_link_matches([pair for _, pair in pairs], kb)
            np.add.at(rows, np.array([index for index, _ in pairs]), matches)
        sums[prefilled] = rows
    items = round(float(sums[False][:, 1:].sum())), round(float(sums[True][:, 1:].sum()))
    return _EffectRows(sums[False], sums[True], compute_f1, items)


def _measure_effect(rows: _EffectRows, options: ScoreOptions) -> SuggestionEffect:
    """Return a quantity without and with suggestions, and the difference, each with an interval over documents."""
    width = rows.without.shape[1]
    both = np.hstack([rows.without, rows.suggested])

    def subtract(totals: Floats) -> Floats:
        return rows.from_totals(totals[:, width:]) - rows.from_totals(totals[:, :width])

    reason = "there are no such items"
    without_items, suggested_items = rows.items
    return SuggestionEffect(
        with_suggestions=score_sums(AdditiveScore(rows.suggested, rows.from_totals), suggested_items, reason, options),
        without_suggestions=score_sums(AdditiveScore(rows.without, rows.from_totals), without_items, reason, options),
        difference=score_sums(
            AdditiveScore(both, subtract),
            without_items + suggested_items,
            "one of the two values is undefined",
            options,
        ),
    )
