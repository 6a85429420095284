"""Error categories: which cases belong to each, and how many could have.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import msgspec
import numpy as np

from karat.matching.facts.cases import CaseTable
from karat.matching.facts.word_counts import WordCounts, count_words
from karat.matching.read.pairing import Pairing
from karat.model.registry import get_plugin, list_plugins
from karat.model.results.cases import CaseArrays
from karat.model.spec.category import Condition, ErrorCategory
from karat.model.spec.settings.conventions import Categories
from karat.model.tables.columns import Bools, Floats
from karat.model.truth import UNKNOWN, YES, Truth, all_of

_NO_WORDS = "counting words needs spaCy's tokenizer: pip install 'karat[spacy]'"
_GOLD_MENTIONS = "the mentions are given, so predictions elsewhere are excluded"
NO_CANDIDATES = "the system never has several candidates"
_GROUPS = ("ner-fn", "ner-fp", "disambiguation", "candidates", "hyperlink", "coreference")
_NO_TOTAL = "only errors are counted"


class CategoryMasks(NamedTuple):
    """Masks of the cases of one category."""

    error: Bools
    """Cases that are errors of this category."""
    avoided: Bools | None
    """Cases that avoided such an error, or None if the category has no opportunities."""
    undecided: Bools
    """Cases that cannot be decided."""


@cache
def categories() -> dict[str, ErrorCategory]:
    """Return all error categories (plugins) by name, ordered by group and, within a group, by rank and name."""
    plugins = {name: get_plugin("categories", name, ErrorCategory) for name in list_plugins("categories")}
    groups = [*_GROUPS, *sorted({category.group for category in plugins.values()} - set(_GROUPS))]
    order = sorted(plugins, key=lambda name: (groups.index(plugins[name].group), plugins[name].rank or 0, name))
    return {name: plugins[name] for name in order}


class CategorisedCases(NamedTuple):
    """The cases of a view with their facts and error categories."""

    table: CaseTable
    """Cases with the facts that conditions read."""
    masks: Mapping[str, CategoryMasks]
    """Masks by category."""
    has_gold_mentions: bool = False
    """Whether mentions are given, so that no prediction is elsewhere."""

    @classmethod
    def from_table(cls, table: CaseTable, rule: Categories, *, has_gold_mentions: bool = False) -> CategorisedCases:
        """Classify the cases of a table into error categories, as the setting `categories` (`rule`) prescribes."""
        return cls(table, classify_errors(table.cases, rule, has_gold_mentions=has_gold_mentions), has_gold_mentions)

    @property
    def has_candidates(self) -> bool:
        """Whether any case has several candidates; without them, candidate categories are undefined."""
        return bool(self.table.cases.has_several_candidates.any())


def classify_errors(
    cases: CaseArrays, rule: Categories, *, has_gold_mentions: bool = False
) -> dict[str, CategoryMasks]:
    """Return by error category which cases are errors, which avoided the error, and which cannot be decided.

    `rule` is the setting `categories`: whether a case may belong to several ranked categories. With
    `has_gold_mentions`, categories of detection are empty.
    """
    masks: dict[str, CategoryMasks] = {}
    groups: dict[str, dict[str, ErrorCategory]] = {}
    no_cases = np.zeros(len(cases.document), np.bool_)
    for name, category in categories().items():
        if has_gold_mentions and category.needs_detection:
            masks[name] = CategoryMasks(no_cases, None, no_cases)
        elif category.rank is None:
            error = _evaluate_condition(category.is_error, cases)
            masks[name] = CategoryMasks(error == YES, _avoided_mask(category, cases, error == YES), error == UNKNOWN)
        else:
            groups.setdefault(category.group, {})[name] = category
    for members in groups.values():
        masks |= _classify_ranked(members, cases, rule)
    return {name: masks[name] for name in categories()}


def _avoided_mask(category: ErrorCategory, cases: CaseArrays, error: Bools) -> Bools | None:
    """Return which cases avoided an error of `category`, or None if the category counts only errors.

    `error` marks the cases that are errors.
    """
    if category.is_avoided is None:
        return None
    avoided: Bools = (evaluate_avoided(category, cases) == YES) & ~error
    return avoided


def _classify_ranked(
    members: Mapping[str, ErrorCategory], cases: CaseArrays, rule: Categories
) -> dict[str, CategoryMasks]:
    """Return the masks of the ranked categories of a group: a case belongs to the first whose condition holds.

    `rule` may allow several categories instead; see `_select_first`.
    """
    order = sorted(members, key=lambda name: members[name].rank or 0)
    errors = _select_first({name: evaluate_error(members[name], cases, rule) for name in order}, rule)
    avoided = _select_first(
        {
            name: evaluate_avoided(members[name], cases)
            for name in order
            if members[name].exclusive_among == "both" and members[name].is_avoided is not None
        },
        rule,
    )
    masks = {}
    for name in order:
        error, undecided = errors[name]
        if name in avoided:
            masks[name] = CategoryMasks(error, avoided[name][0], undecided | avoided[name][1])
        else:
            masks[name] = CategoryMasks(error, _avoided_mask(members[name], cases, error), undecided)
    return masks


def evaluate_error(category: ErrorCategory, cases: CaseArrays, rule: Categories) -> Truth:
    """Return for each case whether it is an error of a category: yes, no or unknown.

    The rule `prediction` may add a condition on the prediction.
    """
    condition = _evaluate_condition(category.is_error, cases)
    if rule is Categories.PREDICTION and category.prediction_condition is not None:
        condition = all_of(condition, category.prediction_condition(cases))
    return condition


def evaluate_avoided(category: ErrorCategory, cases: CaseArrays) -> Truth:
    """Return for each case whether it avoided an error of a category that has avoided errors: yes, no or unknown."""
    assert category.is_avoided is not None, "the category counts only errors"
    return _evaluate_condition(category.is_avoided, cases)


def _select_first(conditions: Mapping[str, Truth], rule: Categories) -> dict[str, tuple[Bools, Bools]]:
    """Return two masks of cases by condition, in the order given: where it is the first to hold, and where undecided.

    An undecided condition blocks later ones, except under the rule `prediction`. Under the rule `all`, every condition
    that holds counts, but the last one, which covers the remaining cases, only where no other holds or is undecided.
    """
    masks: dict[str, tuple[Bools, Bools]] = {}
    is_taken: Bools | None = None
    last = list(conditions)[-1] if conditions else None
    for name, condition in conditions.items():
        holds, undecided = condition == YES, condition == UNKNOWN
        if is_taken is None:
            is_taken = np.zeros(len(condition), np.bool_)
        if rule is not Categories.ALL or name == last:
            holds, undecided = holds & ~is_taken, undecided & ~is_taken
        is_taken = is_taken | holds if rule is Categories.PREDICTION else is_taken | holds | undecided
        masks[name] = holds, undecided
    return masks


def _evaluate_condition(condition: Condition, cases: CaseArrays) -> Truth:
    """Return for each case whether a condition, or all of its parts, holds: yes, no or unknown."""
    return all_of(condition(cases))


class CategoryCounts(msgspec.Struct, frozen=True):
    """Counts of one error category."""

    errors: Floats
    """Errors by document."""
    total: Floats | None
    """Errors and avoided errors by document, or None if unknown; then there is no rate."""
    undecided: int
    """Number of cases that cannot be decided."""
    reason: str | None = None
    """Why `total` is unknown."""
    is_defined: bool = True
    """Whether the category makes sense in the view; if not, no errors are counted."""


def count_errors(
    categorised: CategorisedCases, n_documents: int, words: Sequence[WordCounts] | None
) -> dict[str, CategoryCounts]:
    """Count errors and opportunities of every error category by document.

    `words` has the word counts of each document, or is None if words cannot be counted; then categories whose
    opportunities are words have no total. Call `mark_missing_candidates` if the system never has several candidates.
    """
    return {
        name: CategoryCounts(np.zeros(n_documents), None, 0, _GOLD_MENTIONS, is_defined=False)
        if categorised.has_gold_mentions and category.needs_detection
        else _count_category(category, categorised.masks[name], categorised.table.cases, n_documents, words)
        for name, category in categories().items()
    }


def make_undefined_counts(n_documents: int, reason: str) -> dict[str, CategoryCounts]:
    """Return zero counts, marked as undefined for `reason`, for a view in which no error category makes sense."""
    return dict.fromkeys(categories(), CategoryCounts(np.zeros(n_documents), None, 0, reason, is_defined=False))


def count_evaluated_words(pairing: Pairing) -> list[WordCounts] | None:
    """Count the words in each document's evaluation span; return None without spaCy's tokenizer."""
    starts, ends = pairing.evaluation_bounds
    return count_words([text[start:end] for text, start, end in zip(pairing.texts, starts, ends, strict=True)])


def mark_missing_candidates(counts: Mapping[str, CategoryCounts]) -> dict[str, CategoryCounts]:
    """Return the counts with undefined candidate categories, for a system that never has several candidates."""
    return {
        name: CategoryCounts(np.zeros_like(category_counts.errors), None, 0, NO_CANDIDATES, is_defined=False)
        if name in list_candidate_categories() and category_counts.is_defined
        else category_counts
        for name, category_counts in counts.items()
    }


@cache
def list_candidate_categories() -> frozenset[str]:
    """Return the names of the error categories that are undefined for systems that never have several candidates."""
    return frozenset(name for name, category in categories().items() if category.needs_candidates)


def _count_category(
    category: ErrorCategory,
    masks: CategoryMasks,
    cases: CaseArrays,
    n_documents: int,
    words: Sequence[WordCounts] | None,
) -> CategoryCounts:
    """Count errors, opportunities and undecided cases of one error category; see `count_errors`."""

    def count(mask: Bools) -> Floats:
        return np.bincount(cases.document[mask], minlength=n_documents).astype(np.float64)

    errors, undecided = count(masks.error & cases.is_counted), int((masks.undecided & cases.is_counted).sum())
    if category.candidate_words is not None:
        if words is None:
            return CategoryCounts(errors, None, undecided, _NO_WORDS)
        return CategoryCounts(
            errors,
            np.array([getattr(word_counts, category.candidate_words) for word_counts in words], np.float64),
            undecided,
        )
    if masks.avoided is None:
        return CategoryCounts(errors, None, undecided, _NO_TOTAL)
    if category.has_segmented_mentions:
        return CategoryCounts(errors, count(masks.avoided | masks.error), undecided)
    return CategoryCounts(errors, errors + count(masks.avoided & cases.is_counted), undecided)
