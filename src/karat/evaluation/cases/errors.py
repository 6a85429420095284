"""Which cases of a view are which kind of error, and how many could have been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from karat.facts.cases import CaseTable
from karat.facts.words import Words, counts
from karat.matching.read.pairing import Pairing
from karat.model.cases import Cases
from karat.model.tables.columns import Bools, Floats
from karat.model.truth import UNKNOWN, YES, Truth, both
from karat.registry import get, names
from karat.spec.category import Category, Condition
from karat.spec.choices.conventions import Categories

_NO_WORDS = "counting words needs spaCy's tokenizer: pip install 'karat[spacy]'"
_GIVEN = "the mentions are given: answers elsewhere are left out"
_NO_CANDIDATES = "the system never has several candidates"
_GROUPS = ("ner-fn", "ner-fp", "disambiguation", "candidates", "hyperlink", "coreference")
_NO_TOTAL = "only errors are counted"


class Tagged(NamedTuple):
    """One category: which cases are such errors, which could have been (None where no case could), which are open."""

    error: Bools
    avoided: Bools | None
    undecided: Bools


@cache
def categories() -> dict[str, Category]:
    """All categories by name: group by group, the widest of each first."""
    found = {name: get("categories", name, Category) for name in names("categories")}
    groups = [*_GROUPS, *sorted({category.group for category in found.values()} - set(_GROUPS))]
    order = sorted(found, key=lambda name: (groups.index(found[name].group), found[name].rank or 0, name))
    return {name: found[name] for name in order}


class Categorised(NamedTuple):
    """The cases of a view with what categories look at, and which of them are in which category.

    `given`: the mentions are given, so that no answer stands elsewhere.
    """

    table: CaseTable
    tags: Mapping[str, Tagged]
    given: bool = False

    @classmethod
    def of(cls, table: CaseTable, how: Categories, *, given: bool = False) -> Categorised:
        """Put cases into categories."""
        return cls(table, tagged(table.cases, how, given=given), given)


def tagged(cases: Cases, how: Categories, *, given: bool = False) -> dict[str, Tagged]:
    """The categories of all cases; no case is in one that makes no sense where mentions are given."""
    found: dict[str, Tagged] = {}
    groups: dict[str, dict[str, Category]] = {}
    none = np.zeros(len(cases.document), np.bool_)
    for name, category in categories().items():
        if given and category.elsewhere:
            found[name] = Tagged(none, None, none)
        elif category.rank is None:
            error = _holds(category.error, cases)
            found[name] = Tagged(error == YES, _avoided(category, cases, error == YES), error == UNKNOWN)
        else:
            groups.setdefault(category.group, {})[name] = category
    for members in groups.values():
        found |= _ranked(members, cases, how)
    return {name: found[name] for name in categories()}


def _avoided(category: Category, cases: Cases, error: Bools) -> Bools | None:
    if category.avoided is None:
        return None
    avoided: Bools = (_holds(category.avoided, cases) == YES) & ~error
    return avoided


def _ranked(members: Mapping[str, Category], cases: Cases, how: Categories) -> dict[str, Tagged]:
    """Categories of which the first that holds is taken."""
    order = sorted(members, key=lambda name: members[name].rank or 0)
    errors = _first_of({name: _error(members[name], cases, how) for name in order}, how)
    chosen = {name: members[name].avoided for name in order if members[name].exclusive == "both"}
    avoided = _first_of({name: _holds(test, cases) for name, test in chosen.items() if test is not None}, how)
    found = {}
    for name in order:
        error, open_ = errors[name]
        if name in avoided:
            found[name] = Tagged(error, avoided[name][0], open_ | avoided[name][1])
        else:
            found[name] = Tagged(error, _avoided(members[name], cases, error), open_)
    return found


def _error(category: Category, cases: Cases, how: Categories) -> Truth:
    condition = _holds(category.error, cases)
    if how is Categories.ANSWER and category.tempted is not None:
        condition = both(condition, category.tempted(cases))
    return condition


def _first_of(conditions: Mapping[str, Truth], how: Categories) -> dict[str, tuple[Bools, Bools]]:
    """For each condition where it is the first that holds, and where it is the first that nobody can decide.

    Where several may hold, the last, which is what is left over, still holds only where no other does.
    """
    found: dict[str, tuple[Bools, Bools]] = {}
    taken: Bools | None = None
    last = list(conditions)[-1] if conditions else None
    for name, condition in conditions.items():
        holds, unsure = condition == YES, condition == UNKNOWN
        if taken is None:
            taken = np.zeros(len(condition), np.bool_)
        if how is not Categories.ALL or name == last:
            holds, unsure = holds & ~taken, unsure & ~taken
        taken = taken | holds if how is Categories.ANSWER else taken | holds | unsure
        found[name] = holds, unsure
    return found


def _holds(condition: Condition, cases: Cases) -> Truth:
    return both(condition(cases))


class Tally(msgspec.Struct, frozen=True):
    """What one category counts, by document: errors, and in how many cases there could have been one.

    `total` is None where that cannot be said, for this `reason`; then there is no rate. Where the category makes no
    sense at all it is not `defined`, and no errors are counted.
    """

    errors: Floats
    total: Floats | None
    undecided: int
    reason: str | None = None
    defined: bool = True


def tallies(found: Categorised, documents: int, words: Sequence[Words] | None) -> dict[str, Tally]:
    """The counts of all categories; `words` are those of each document. See `without_candidates`."""
    return {
        name: Tally(np.zeros(documents), None, 0, _GIVEN, defined=False)
        if found.given and category.elsewhere
        else _tally(category, found.tags[name], found.table.cases, documents, words)
        for name, category in categories().items()
    }


def senseless(documents: int, reason: str) -> dict[str, Tally]:
    """The counts of a view in which no category makes sense."""
    return dict.fromkeys(categories(), Tally(np.zeros(documents), None, 0, reason, defined=False))


def evaluated_words(pairing: Pairing) -> list[Words] | None:
    """The words of the evaluation span of each document, where they can be counted."""
    starts, ends = pairing.evaluated
    return counts([text[start:end] for text, start, end in zip(pairing.texts, starts, ends, strict=True)])


def without_candidates(counted: Mapping[str, Tally]) -> dict[str, Tally]:
    """The counts if it turns out that the system never has several candidates."""
    return {
        name: replace(tally, total=None, reason=_NO_CANDIDATES)
        if categories()[name].needs_candidates and tally.defined
        else tally
        for name, tally in counted.items()
    }


def _tally(category: Category, tag: Tagged, cases: Cases, documents: int, words: Sequence[Words] | None) -> Tally:
    def count(mask: Bools) -> Floats:
        return np.bincount(cases.document[mask], minlength=documents).astype(np.float64)

    errors, undecided = count(tag.error & cases.counts), int((tag.undecided & cases.counts).sum())
    if category.words is not None:
        if words is None:
            return Tally(errors, None, undecided, _NO_WORDS)
        return Tally(errors, np.array([getattr(each, category.words) for each in words], np.float64), undecided)
    if tag.avoided is None:
        return Tally(errors, None, undecided, _NO_TOTAL)
    if category.whole:
        return Tally(errors, count(tag.avoided | tag.error), undecided)
    return Tally(errors, errors + count(tag.avoided & cases.counts), undecided)
