"""Surfaces placed in a text, by the rules that docs/llm.md states.

A surface is looked for as written, then with other white space, quotes and composition of accents, then in another
case; the first way that finds it anywhere counts. Among its occurrences, whole words come before parts of words, and
those outside longer answers before those inside. As many are chosen as there are answers of this surface, and given to
these in the order of the text.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nsmallest
from typing import Final, NamedTuple

from karat.model.span import Span

NOT_FOUND: Final = "not found in the text (left out)"
TOO_OFTEN: Final = "given more often than the text has them (left out)"
AMBIGUOUS: Final = "ambiguous, with several places in the text (one was chosen by rule)"
MOVED: Final = "moved from a wrong span to where their text stands"
LOOSE: Final = "found with other white space, quotes or accents"
CASE: Final = "found in another case"
NO_CONTEXT: Final = "with a context that stands at none of their places (it was passed over)"

_QUOTES = str.maketrans("‘’‚‛`´′“”„‟«»‹›″", "'" * 7 + '"' * 9)


class Surface(NamedTuple):
    """What an answer marks: its words, what stands before and behind them, and near which place, where that is said."""

    text: str
    before: str = ""
    after: str = ""
    near: int | None = None


class _Folded(NamedTuple):
    """A text without some differences; `begins` and `ends` say where each of its characters comes from.

    Of several that come from one character, only the first has a beginning and only the last an end; others have -1.
    """

    text: str
    begins: Sequence[int]
    ends: Sequence[int]


_As = Callable[[str], str]


def _loosely(cluster: str) -> str:
    return " " if cluster.isspace() else unicodedata.normalize("NFC", cluster).translate(_QUOTES)


def _caseless(cluster: str) -> str:
    return _loosely(cluster).casefold()


_LEVELS: Final[tuple[tuple[_As, str | None], ...]] = ((str, None), (_loosely, LOOSE), (_caseless, CASE))
"""The ways to look for a surface, the strictest first, and what is counted where one finds it."""


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Pieces that are folded as one: a character with the marks on it, or a run of white space."""
    start = 0
    for place in range(1, len(text) + 1):
        if place < len(text):
            here = text[place]
            if unicodedata.combining(here) or (here.isspace() and text[place - 1].isspace()):
                continue
        if text:
            yield start, place
        start = place


def _folded(text: str, how: _As) -> _Folded:
    if how is str:
        return _Folded(text, range(len(text)), range(1, len(text) + 1))
    parts: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    for start, end in _clusters(text):
        part = how(text[start:end])
        parts.append(part)
        begins += [start, *[-1] * (len(part) - 1)][: len(part)]
        ends += [*[-1] * (len(part) - 1), end][-len(part) :] if part else []
    return _Folded("".join(parts), begins, ends)


def _plain(text: str) -> str:
    """A text by the last and least strict way, to compare contexts by."""
    return _folded(text, _caseless).text.strip()


def alike(one: str, other: str) -> bool:
    """Whether two surfaces are the same but for white space, quotes, accents and case."""
    return one == other or _plain(one) == _plain(other)


@dataclass
class _Page:
    """A text on which surfaces are placed."""

    text: str
    taken: set[Span] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    _reach: dict[int, int] = field(default_factory=dict)

    @cached_property
    def folds(self) -> dict[str, _Folded]:
        return {}

    def occurrences(self, surface: str) -> tuple[int, list[Span]]:
        """How strictly the surface had to be looked for, and where it stands."""
        for level, (how, _) in enumerate(_LEVELS):
            if how.__name__ not in self.folds:
                self.folds[how.__name__] = _folded(self.text, how)
            wanted = _folded(surface.strip(), how).text
            found = list(_found(self.folds[how.__name__], wanted))
            if found:
                return level, found
        return len(_LEVELS), []

    def rank(self, span: Span) -> tuple[bool, bool]:
        """Whether it cuts a word, and whether it lies in a longer answer: what comes later."""
        cuts = any(0 < edge < len(self.text) and self.text[edge - 1 : edge + 1].isalnum() for edge in span)
        return cuts, self._reach.get(span.start, 0) >= span.end

    def take(self, span: Span) -> Span:
        """Say that an answer stands there."""
        if span not in self.taken:
            self.taken.add(span)
            for place in range(span.start, span.end):
                self._reach[place] = max(self._reach.get(place, 0), span.end)
        return span

    def fits(self, span: Span, before: str, after: str) -> bool:
        """Whether a context, without what is passed over, stands around a span."""
        room = 2 * (len(before) + len(after)) + 40  # white space may be longer here
        return (not before or _plain(self.text[max(0, span.start - room) : span.start]).endswith(before)) and (
            not after or _plain(self.text[span.end : span.end + room]).startswith(after)
        )


def _found(folded: _Folded, wanted: str) -> Iterator[Span]:
    place = folded.text.find(wanted) if wanted else -1
    while place >= 0:
        start, end = folded.begins[place], folded.ends[place + len(wanted) - 1]
        if start >= 0 and end >= 0:
            yield Span(start, end)
        place = folded.text.find(wanted, place + 1)


def placed(
    text: str, surfaces: Sequence[Surface], counts: Counter[str], standing: Iterable[Span] = ()
) -> list[Span | None]:
    """Where each surface stands in the text, None where it does not; what became of them is counted.

    `standing` are the spans of other answers, whose places are taken.
    """
    page = _Page(text, counts=counts)
    for span in standing:
        page.take(span)
    found: list[Span | None] = [None] * len(surfaces)
    same: dict[str, list[int]] = defaultdict(list)
    for place, surface in enumerate(surfaces):
        same[surface.text].append(place)
    groups = [(*page.occurrences(words), words, places) for words, places in same.items()]
    groups.sort(key=lambda group: (-len(group[2]), group[0]))  # longer ones first, for others may lie inside them
    for level, spans, _, places in groups:
        if not spans:
            counts[NOT_FOUND] += len(places)
            continue
        for place, span in _shared_out(page, spans, [(place, surfaces[place]) for place in places]):
            found[place] = page.take(span)
            counts[MOVED] += surfaces[place].near is not None
            if (said := _LEVELS[level][1]) is not None:
                counts[said] += 1
    return found


def _shared_out(page: _Page, spans: Sequence[Span], asked: Sequence[tuple[int, Surface]]) -> Iterator[tuple[int, Span]]:
    """Occurrences of one surface for the answers that give it: by their context, near a place, or in their order."""
    free = dict.fromkeys(span for span in spans if span not in page.taken)
    ranks = {span: page.rank(span) for span in free}
    around: dict[tuple[str, str], list[Span]] = {}
    rest: list[int] = []
    for place, wanted in asked:
        near, fitting = wanted.near, list(free) if wanted.near is not None else []
        context = _plain(wanted.before), _plain(wanted.after)
        if any(context) and free:
            if context not in around:
                around[context] = [span for span in free if page.fits(span, *context)]
            fitting = [span for span in around[context] if span in free] or fitting
            page.counts[NO_CONTEXT] += not around[context]
        if not fitting:
            rest.append(place)
            continue
        first, *others = nsmallest(
            2, fitting, key=lambda span: (ranks[span], 0 if near is None else abs(span.start - near), span)
        )
        page.counts[AMBIGUOUS] += any(ranks[span] == ranks[first] for span in others)
        del free[first]
        yield place, first
    order = sorted(free, key=lambda span: (ranks[span], span))
    chosen, others = order[: len(rest)], order[len(rest) :]
    page.counts[TOO_OFTEN] += len(rest) - len(chosen)
    if others:
        page.counts[AMBIGUOUS] += sum(ranks[span] == ranks[others[0]] for span in chosen)
    yield from zip(rest, sorted(chosen), strict=False)
