"""TagMe (Ferragina and Scaiella 2010): spots, votes of all candidates for each other, and pruning by ρ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from karat.linking.lexicon import Lexicon
from karat.linking.related import Neighbours, blocks
from karat.model.document import Answer, Candidate, Document, Reply
from karat.model.tables.columns import Floats, Longs

_WORD: Final = re.compile(r"\w+(?:[.'’&-]\w+)*")
_LONGEST: Final = 6
_UNCOUNTED: Final = (0.5, 0.02)
"""What stands in for the link probability of words that nobody counted, with a capital and without."""


class Spot(NamedTuple):
    """Words that may be a mention, and how likely they are a link."""

    start: int
    end: int
    row: int
    likely: float


def spots(text: str, known: Lexicon, least: float) -> Iterator[Spot]:
    """The words of a text that the lexicon knows and that are links often enough; of nested ones the likelier stay."""
    words = [(word.start(), word.end()) for word in _WORD.finditer(text)]
    first_words, loose, rows = known.first_words, known.loose, known.rows
    lower = text.casefold() if text.isascii() else None
    kept: list[Spot] = []
    for place, (start, end) in enumerate(words):
        word = lower[start:end] if lower is not None else text[start:end].casefold()
        longest = first_words.get(word)
        if longest is None:
            continue
        for stop in range(min(place + min(longest, _LONGEST), len(words)), place, -1):
            end = words[stop - 1][1]
            surface = text[start:end]
            row = rows.get(surface)
            if row is None:
                row = loose.get(lower[start:end] if lower is not None else surface.casefold())
            if row is None or len(surface) < 2 or surface.isdigit():
                continue
            likely = float(known.link_probability[row])
            if likely != likely:
                likely = _UNCOUNTED[not any(map(str.isupper, surface))]
            if likely >= least:
                kept.append(Spot(start, end, row, likely))
    yield from _apart(kept)


def _apart(found: list[Spot]) -> list[Spot]:
    """Spots of which none overlaps another: the longer goes first unless the shorter is the likelier link."""
    kept: list[Spot] = []
    for spot in found:  # by their start, the longest first
        while kept and spot.start < kept[-1].end and spot.likely > kept[-1].likely:
            kept.pop()
        if not kept or spot.start >= kept[-1].end:
            kept.append(spot)
    return kept


class Voted(NamedTuple):
    """The candidate that each mention is linked to (a place among its own), and how coherent it is with the others."""

    chosen: Longs
    votes: Floats
    coherence: Floats


def voted(codes: Longs, owner: Longs, share: Floats, many: int, near: Neighbours, epsilon: float) -> Voted:
    """The votes of `many` mentions: candidates are given mention by mention, `owner` says whose each is.

    A mention votes for a candidate of another by the mean relatedness of its own candidates, weighed by their shares.
    Of the candidates that get nearly as many votes as the best one, the one with the largest share is chosen.
    """
    related = near.related(codes)
    senses = np.bincount(owner, minlength=many)
    ballots = np.zeros((len(codes), many))
    ballots[np.arange(len(codes)), owner] = share / senses[owner]
    votes = related @ ballots
    votes[np.arange(len(codes)), owner] = 0.0
    total = votes.sum(axis=1)
    best = np.zeros(many)
    np.maximum.at(best, owner, total)
    close = total >= best[owner] * (1 - epsilon)
    order = np.lexsort((np.arange(len(codes)), -share, ~close, owner))
    chosen = order[np.searchsorted(owner[order], np.arange(many))]
    linked = related[np.ix_(chosen, chosen)]
    coherence = (linked.sum(axis=1) - linked.diagonal()) / max(many - 1, 1)
    return Voted(chosen, total, coherence)


def annotated(
    document: Document, reply: Reply, known: Lexicon, near: Neighbours, *, epsilon: float, rho: float
) -> Reply:
    """A reply whose mentions have candidates, each linked and scored by ρ, and dropped below the least."""
    spare = tuple(answer for answer in reply.answers if not answer.candidates)
    asked = [answer for answer in reply.answers if answer.candidates]
    answers = [
        answer for piece in blocks(len(asked)) for answer in _linked(document, asked[piece], known, near, epsilon)
    ]
    kept = [answer for answer in answers if answer.score is None or answer.score >= rho]
    return replace(reply, answers=tuple(sorted([*kept, *spare], key=lambda answer: answer.start)))


def _linked(
    document: Document, asked: list[Answer], known: Lexicon, near: Neighbours, epsilon: float
) -> Iterator[Answer]:
    if not asked:
        return
    pairs = [(place, candidate) for place, answer in enumerate(asked) for candidate in answer.candidates]
    owner = np.array([place for place, _ in pairs])
    codes = np.array([known.codes[candidate.entity] for _, candidate in pairs])
    share = np.array([candidate.score or 0.0 for _, candidate in pairs])
    found = voted(codes, owner, share, len(asked), near, epsilon)
    for place, answer in enumerate(asked):
        row = known.row(document.text[answer.start : answer.end])
        likely = float(known.link_probability[row]) if row >= 0 else np.nan
        if likely != likely:
            likely = _UNCOUNTED[not any(map(str.isupper, document.text[answer.start : answer.end]))]
        chosen = pairs[found.chosen[place]][1]
        votes = found.votes[owner == place]
        ranked = [
            Candidate(candidate.entity, round(float(vote), 6))
            for vote, candidate in sorted(zip(votes.tolist(), answer.candidates, strict=True), key=lambda x: -x[0])
        ]
        others = [candidate for candidate in ranked if candidate.entity != chosen.entity]
        first = next(candidate for candidate in ranked if candidate.entity == chosen.entity)
        score = round((likely + float(found.coherence[place])) / 2, 6)
        yield Answer(answer.start, answer.end, chosen.entity, score=score, candidates=(first, *others))
