"""Location of surfaces in a text, by the rules of docs/how-to/from-llm.md.

A surface is searched for exactly, then with different white space, quotes and composition of accents, then in
different case, but not inside a word. A level counts if no level before it has an occurrence left. Whole words come
before parts of words, and occurrences outside longer predictions before those inside. As many occurrences are chosen
as there are predictions of the surface, and assigned in the order of the text.
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

NOT_FOUND: Final = "not found in the text (invented)"
TOO_FREQUENT: Final = "given more often than they occur in the text (invented)"
AMBIGUOUS: Final = "ambiguous, with several occurrences in the text (one chosen by rule)"
REALIGNED: Final = "moved from a wrong span to an occurrence of their text"
DIFFERENT_CHARACTERS: Final = "found with different white space, quotes or accents"
DIFFERENT_CASE: Final = "found in different case"
INSIDE_WORD: Final = "found inside a word"
CONTEXT_MISMATCH: Final = "with a context that fits no occurrence (context ignored)"

_QUOTES = str.maketrans("‘’‚‛`´′“”„‟«»‹›″", "'" * 7 + '"' * 9)


class Surface(NamedTuple):
    """The text of a mention, with hints for its location."""

    text: str
    """Text of the mention."""
    left_context: str = ""
    """Text before the mention, if known."""
    right_context: str = ""
    """Text behind the mention, if known."""
    offset_hint: int | None = None
    """Offset near which the mention is expected, if known."""


class _NormalisedText(NamedTuple):
    """A normalised text, with start and end of each of its characters in the original text.

    If several characters come from one cluster, only the first has a start and only the last an end; the others
    have -1.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


_Normaliser = Callable[[str], str]


def _normalise_cluster(cluster: str) -> str:
    """Normalise a cluster: white space becomes a space, quotes become ASCII quotes, and the rest is in NFC."""
    return " " if cluster.isspace() else unicodedata.normalize("NFC", cluster).translate(_QUOTES)


def _fold_cluster(cluster: str) -> str:
    """Normalise a cluster and fold its case."""
    return _normalise_cluster(cluster).casefold()


_SEARCH_LEVELS: Final[tuple[tuple[_Normaliser, str | None], ...]] = (
    (str, None),
    (_normalise_cluster, DIFFERENT_CHARACTERS),
    (_fold_cluster, DIFFERENT_CASE),
)
"""Normalisers in the order of strictness, with the count to increase if they find a surface."""


def _has_case(letter: str) -> bool:
    """Return whether a letter has a capital and a small form."""
    return letter.lower() != letter.upper()


def _split_clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each cluster of a text: a character with its combining marks, or a run of white space."""
    start = 0
    for offset in range(1, len(text) + 1):
        if offset < len(text):
            character = text[offset]
            if unicodedata.combining(character) or (character.isspace() and text[offset - 1].isspace()):
                continue
        if text:
            yield start, offset
        start = offset


def _normalise_text(text: str, normaliser: _Normaliser) -> _NormalisedText:
    """Normalise a text cluster by cluster, and record where its characters come from."""
    if normaliser is str:
        return _NormalisedText(text, range(len(text)), range(1, len(text) + 1))
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _split_clusters(text):
        part = normaliser(text[start:end])
        parts.append(part)
        starts += [start, *[-1] * (len(part) - 1)][: len(part)]
        ends += [*[-1] * (len(part) - 1), end][-len(part) :] if part else []
    return _NormalisedText("".join(parts), starts, ends)


def _to_plain(text: str) -> str:
    """Normalise white space, quotes, composition of accents and case, and strip the ends, to compare contexts."""
    return _normalise_text(text, _fold_cluster).text.strip()


def is_same_surface(first: str, second: str) -> bool:
    """Return whether two surfaces are equal except for white space, quotes, composition of accents and case."""
    return first == second or _to_plain(first) == _to_plain(second)


@dataclass
class _SearchText:
    """A text in which surfaces are located, with the spans already used and the counts of outcomes."""

    text: str
    used_spans: set[Span] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    misfits: set[int] = field(default_factory=set)
    """Indices of the predictions whose context fits no occurrence."""
    _furthest_end: dict[int, int] = field(default_factory=dict)

    @cached_property
    def versions(self) -> dict[str, _NormalisedText]:
        """The normalised versions of the text so far, by name of the normaliser; `find_occurrences` adds them."""
        return {}

    def find_occurrences(self, surface: str, first_level: int = 0) -> tuple[int, list[Span]]:
        """Return the index of the strictest level in `_SEARCH_LEVELS` that finds the surface, and all spans it finds.

        `first_level` is the strictest level to try. If no level finds the surface, return the number of levels and an
        empty list.
        """
        for level, (normaliser, _) in enumerate(_SEARCH_LEVELS):
            if level < first_level:
                continue
            if normaliser.__name__ not in self.versions:
                self.versions[normaliser.__name__] = _normalise_text(self.text, normaliser)
            query = _normalise_text(surface.strip(), normaliser).text
            occurrences = list(_find_spans(self.versions[normaliser.__name__], query))
            if normaliser is _fold_cluster:  # `AI` does not occur in `said`
                occurrences = [span for span in occurrences if not self.is_inside_word(span)]
            if occurrences:
                return level, occurrences
        return len(_SEARCH_LEVELS), []

    def is_inside_word(self, span: Span) -> bool:
        """Return whether a span begins or ends between two letters that have case, which most scripts lack."""
        return any(0 < edge < len(self.text) and all(map(_has_case, self.text[edge - 1 : edge + 1])) for edge in span)

    def rank_span(self, span: Span) -> tuple[bool, bool]:
        """Return whether a span splits a word, and whether a used span contains it; lower ranks are preferred."""
        splits_word = any(0 < edge < len(self.text) and self.text[edge - 1 : edge + 1].isalnum() for edge in span)
        return splits_word, self._furthest_end.get(span.start, 0) >= span.end

    def add_span(self, span: Span) -> Span:
        """Mark a span as used by a prediction, so that the span is not assigned again, and return the span."""
        if span not in self.used_spans:
            self.used_spans.add(span)
            for offset in range(span.start, span.end):
                self._furthest_end[offset] = max(self._furthest_end.get(offset, 0), span.end)
        return span

    def has_context(self, span: Span, left_context: str, right_context: str) -> bool:
        """Return whether the text around a span has these contexts, which must be plain (see `_to_plain`) or empty."""
        window = 2 * (len(left_context) + len(right_context)) + 40  # white space may be longer in the text
        return (
            not left_context or _to_plain(self.text[max(0, span.start - window) : span.start]).endswith(left_context)
        ) and (not right_context or _to_plain(self.text[span.end : span.end + window]).startswith(right_context))


def _find_spans(normalised: _NormalisedText, query: str) -> Iterator[Span]:
    """Yield the spans in the original text at which `query` occurs, also overlapping ones; none cuts a cluster."""
    offset = normalised.text.find(query) if query else -1
    while offset >= 0:
        start, end = normalised.starts[offset], normalised.ends[offset + len(query) - 1]
        if start >= 0 and end >= 0:
            yield Span(start, end)
        offset = normalised.text.find(query, offset + 1)


def locate_surfaces(
    text: str, surfaces: Sequence[Surface], counts: Counter[str], other_spans: Iterable[Span] = ()
) -> list[Span | None]:
    """Return the span of each surface in the text, or None if the text does not contain the surface.

    Surfaces that are not found, realigned or found in some other way are counted in `counts`. Surfaces that are given
    several times get different spans. `other_spans` are spans of other predictions, which are
    not used again.
    """
    search_text = _SearchText(text, counts=counts)
    for span in other_spans:
        search_text.add_span(span)
    located: list[Span | None] = [None] * len(surfaces)
    indices_by_text: dict[str, list[int]] = defaultdict(list)
    for index, surface in enumerate(surfaces):
        indices_by_text[surface.text].append(index)
    groups = [(*search_text.find_occurrences(words), words, indices) for words, indices in indices_by_text.items()]
    counts[NOT_FOUND] += sum(len(indices) for _, spans, _, indices in groups if not spans)
    groups = [group for group in groups if group[1]]
    while groups:
        groups.sort(key=lambda group: (-len(group[2]), group[0]))  # longer surfaces first: they may contain others
        further_groups = []
        for level, spans, words, indices in groups:
            for index, span in _assign_occurrences(search_text, spans, [(index, surfaces[index]) for index in indices]):
                located[index] = search_text.add_span(span)
                counts[REALIGNED] += surfaces[index].offset_hint is not None
                counts[INSIDE_WORD] += search_text.is_inside_word(span)
                if (count_name := _SEARCH_LEVELS[level][1]) is not None:
                    counts[count_name] += 1
            remaining = [index for index in indices if located[index] is None]
            level, spans = search_text.find_occurrences(words, level + 1) if remaining else (level, [])
            if spans:
                further_groups.append((level, spans, words, remaining))
            else:
                counts[TOO_FREQUENT] += len(remaining)
        groups = further_groups
    counts[CONTEXT_MISMATCH] += len(search_text.misfits)
    return located


def _assign_occurrences(
    search_text: _SearchText, spans: Sequence[Span], queries: Sequence[tuple[int, Surface]]
) -> Iterator[tuple[int, Span]]:
    """Yield index and span for the predictions of one surface: by context, by offset hint, or in text order.

    `spans` are the occurrences of the surface, `queries` its predictions with their indices. Predictions for which no
    occurrence is left get nothing.
    """
    free = dict.fromkeys(span for span in spans if span not in search_text.used_spans)
    ranks = {span: search_text.rank_span(span) for span in free}
    spans_by_context: dict[tuple[str, str], list[Span]] = {}
    remaining: list[int] = []
    for index, surface in queries:
        hint, candidates = surface.offset_hint, list(free) if surface.offset_hint is not None else []
        context = _to_plain(surface.left_context), _to_plain(surface.right_context)
        if any(context) and free:
            if context not in spans_by_context:
                spans_by_context[context] = [span for span in free if search_text.has_context(span, *context)]
            candidates = [span for span in spans_by_context[context] if span in free] or candidates
            if spans_by_context[context]:
                search_text.misfits.discard(index)
            else:
                search_text.misfits.add(index)
        if not candidates:
            remaining.append(index)
            continue
        best, *remaining_spans = nsmallest(
            2, candidates, key=lambda span: (ranks[span], 0 if hint is None else abs(span.start - hint), span)
        )
        search_text.counts[AMBIGUOUS] += any(ranks[span] == ranks[best] for span in remaining_spans)
        del free[best]
        yield index, best
    order = sorted(free, key=lambda span: (ranks[span], span))
    chosen, remaining_spans = order[: len(remaining)], order[len(remaining) :]
    if remaining_spans:
        search_text.counts[AMBIGUOUS] += sum(ranks[span] == ranks[remaining_spans[0]] for span in chosen)
    yield from zip(remaining, sorted(chosen), strict=False)
