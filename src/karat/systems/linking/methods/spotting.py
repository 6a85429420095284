"""Sequences of words that are names in a lexicon: the mentions and n-grams from which published methods start."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from karat.model.document import Document, Prediction, Response
from karat.model.spec.system import Refine
from karat.systems.linking.lexicon import Lexicon
from karat.systems.linking.stages import make_document_stage

WORD: Final = re.compile(r"\w+(?:[.'’&-]\w+)*")
"""A word, with a full stop, apostrophe, ampersand or hyphen inside."""

MIN_LINK_PROBABILITY_DESCRIPTION: Final = "Minimum link probability of a mention."

_MAX_WORDS: Final = 6
_DEFAULT_LINK_PROBABILITY: Final = (0.5, 0.02)
"""The link probability of words without counts, with a capital and without."""


class Spot(NamedTuple):
    """A sequence of words that may be a mention.

    `start`, `end`: span in code points.
    `row`: row of the surface form in the lexicon.
    `link_probability`: share of the occurrences of the words that are links.
    """

    start: int
    end: int
    row: int
    link_probability: float


def find_ngrams(text: str, lexicon: Lexicon, min_link_probability: float) -> Iterator[Spot]:
    """Yield all sequences of up to 6 words that are in the lexicon and often links, by start, the longest first.

    The link probability must reach `min_link_probability`; without counts it is 0.5 with a capital, else 0.02.
    """
    words = [(word.start(), word.end()) for word in WORD.finditer(text)]
    first_words, loose, rows = lexicon.max_words_by_first_word, lexicon.loose_rows, lexicon.rows
    lower = text.casefold() if text.isascii() else None
    for index, (start, end) in enumerate(words):
        word = lower[start:end] if lower is not None else text[start:end].casefold()
        longest = first_words.get(word)
        if longest is None:
            continue
        for stop in range(min(index + min(longest, _MAX_WORDS), len(words)), index, -1):
            end = words[stop - 1][1]
            surface = text[start:end]
            row = rows.get(surface)
            if row is None:
                row = loose.get(lower[start:end] if lower is not None else surface.casefold())
            if row is None or len(surface) < 2 or surface.isdigit():
                continue
            probability = get_link_probability(surface, row, lexicon)
            if probability >= min_link_probability:
                yield Spot(start, end, row, probability)


def find_spots(text: str, lexicon: Lexicon, min_link_probability: float) -> Iterator[Spot]:
    """Yield the sequences of words that `find_ngrams` finds, in order and without overlaps."""
    yield from _remove_overlaps(find_ngrams(text, lexicon, min_link_probability))


def get_link_probability(surface: str, row: int, lexicon: Lexicon) -> float:
    """Return the link probability of a surface form; `row` is its row in the lexicon, -1 if it has none."""
    probability = float(lexicon.link_probability[row]) if row >= 0 else float("nan")
    if probability != probability:
        return _DEFAULT_LINK_PROBABILITY[not any(map(str.isupper, surface))]
    return probability


def get_link_probabilities(text: str, mentions: Sequence[Prediction], lexicon: Lexicon) -> list[float]:
    """Return the link probability of the surface of each mention of a text."""
    surfaces = [text[mention.start : mention.end] for mention in mentions]
    return [get_link_probability(surface, lexicon.find_row(surface), lexicon) for surface in surfaces]


def make_spot_stage(lexicon: Lexicon, min_link_probability: float) -> Refine:
    """Return the stage that detects words that are often links, without overlaps."""

    def detect(document: Document, response: Response) -> Response:
        spots = find_spots(document.text, lexicon, min_link_probability)
        return replace(response, predictions=tuple(Prediction(spot.start, spot.end) for spot in spots))

    return make_document_stage(detect)


def _remove_overlaps(spots: Iterator[Spot]) -> list[Spot]:
    """Return spots without overlaps: the earlier or longer one wins unless the other has a higher link probability.

    `spots` must be sorted by start, the longest first.
    """
    result: list[Spot] = []
    for spot in spots:
        while result and spot.start < result[-1].end and spot.link_probability > result[-1].link_probability:
            result.pop()
        if not result or spot.start >= result[-1].end:
            result.append(spot)
    return result
