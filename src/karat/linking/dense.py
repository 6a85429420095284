"""AIDA (Hoffart and others 2011): mentions and candidates as one graph, of which the densest part is looked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from karat.linking.context import Keywords, words_of
from karat.linking.lexicon import Lexicon
from karat.linking.related import blocks
from karat.model.document import Answer, Candidate, Document, Reply
from karat.model.tables.columns import Bools, Floats, Longs


class GraphWeights(NamedTuple):
    """How much the share, the words around and the other entities of a text say."""

    prior: float
    context: float
    coherence: float


def disambiguated(document: Document, reply: Reply, known: Lexicon, words: Keywords, weights: GraphWeights) -> Reply:
    """A reply whose mentions have candidates, each linked to the one that fits best with the text and the others."""
    asked = [answer for answer in reply.answers if answer.candidates]
    spare = [answer for answer in reply.answers if not answer.candidates]
    around = words_of(document.text)
    found = [
        a for piece in blocks(len(asked)) for a in _linked(asked[piece], document.text, around, known, words, weights)
    ]
    return replace(reply, answers=tuple(sorted([*found, *spare], key=lambda answer: answer.start)))


def _linked(
    asked: Sequence[Answer], text: str, around: frozenset[str], known: Lexicon, words: Keywords, weights: GraphWeights
) -> list[Answer]:
    owner = np.repeat(np.arange(len(asked)), [len(answer.candidates) for answer in asked])
    every = [candidate for answer in asked for candidate in answer.candidates]
    codes = np.array([known.codes.get(candidate.entity, -1) for candidate in every], np.int64)
    prior = np.array([candidate.score or 0.0 for candidate in every])
    local = weights.prior * prior
    if weights.context:
        local = local + weights.context * _context(asked, text, around, owner, codes, words)
    strength = local
    if weights.coherence and len(asked) > 1:
        likely = local / np.maximum(np.bincount(owner, local)[owner], 1e-9)
        edges = _related(codes, words) * (owner[:, None] != owner) * likely * (weights.coherence / (len(asked) - 1))
        strength = _settled(local, edges, owner, densest(local, edges, owner, len(asked)), len(asked))
    return [_answer(answer, strength[owner == place]) for place, answer in enumerate(asked)]


def _related(codes: Longs, words: Keywords) -> Floats:
    """How related candidates are; one that the pack does not have is related to nothing."""
    found = words.near.related(np.maximum(codes, 0))
    there = codes >= 0
    return found * there * there[:, None]


def _context(
    asked: Sequence[Answer], text: str, around: frozenset[str], owner: Longs, codes: Longs, words: Keywords
) -> Floats:
    """How well candidates fit the words of the text but for those of their own mention, up to 1."""
    found = np.zeros(len(codes))
    for place, answer in enumerate(asked):
        own = owner == place
        mention = words_of(text[answer.start : answer.end])
        fits = words.similarity(around, mention, np.maximum(codes[own], 0)) * (codes[own] >= 0)
        found[own] = fits / max(float(fits.max()), 1.0)
    return found


def densest(local: Floats, joint: Floats, owner: Longs, many: int) -> Bools:
    """The candidates that stay when the weakest are taken away one by one, each mention keeping one.

    The strength of a candidate is its own weight and that of its edges to candidates that are still there. Of all
    states on the way the one is kept in which the weakest candidate is strongest.
    """
    alive = np.ones(len(local), np.bool_)
    left = np.bincount(owner, minlength=many)
    degree = local + joint.sum(axis=1)
    removed: list[int] = []
    best, kept = -np.inf, 0
    while True:
        weakest = degree[alive].min()
        if weakest >= best:
            best, kept = weakest, len(removed)
        free = alive & (left[owner] > 1)
        if not free.any():
            break
        gone = int(np.flatnonzero(free)[np.argmin(degree[free])])
        alive[gone] = False
        left[owner[gone]] -= 1
        degree = degree - joint[:, gone]
        removed.append(gone)
    alive[removed[kept:]] = True
    return alive


def _settled(local: Floats, joint: Floats, owner: Longs, alive: Bools, many: int) -> Floats:
    """How strong each candidate is beside what the other mentions chose, who choose again until none changes its mind.

    Candidates that are not alive are never chosen, and stand behind those that are.
    """
    degree = np.where(alive, local + joint @ alive, -np.inf)
    chosen = _best(degree, owner, many)
    strength = degree
    for _ in range(10):
        strength = local + joint[:, chosen].sum(axis=1)
        again = _best(np.where(alive, strength, -np.inf), owner, many)
        if (again == chosen).all():
            break
        chosen = again
    return np.where(alive, strength, strength * 1e-3)


def _best(strength: Floats, owner: Longs, many: int) -> Longs:
    order = np.lexsort((np.arange(len(owner)), -strength, owner))
    return np.asarray(order[np.searchsorted(owner[order], np.arange(many))])


def _answer(answer: Answer, strength: Floats) -> Answer:
    """A mention with its candidates in order; scores are shares of the strength of all."""
    total = float(strength.sum()) or 1.0
    order = np.argsort(-strength, kind="stable").tolist()
    ranked = tuple(Candidate(answer.candidates[at].entity, round(float(strength[at]) / total, 6)) for at in order)
    return Answer(answer.start, answer.end, ranked[0].entity, score=ranked[0].score, candidates=ranked)
