"""Joint disambiguation as in AIDA (Hoffart et al. 2011): the densest subgraph of mentions and candidates.

A block is a group of mentions of one text that are linked jointly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from karat.model.document import Candidate, Document, Prediction, Response
from karat.model.tables.columns import Bools, Floats, Longs
from karat.systems.linking.context import Keywords, split_words
from karat.systems.linking.lexicon import Lexicon
from karat.systems.linking.relatedness import split_blocks


class GraphWeights(NamedTuple):
    """The weights of prior, context similarity and coherence (relatedness to other candidates) in linking."""

    prior: float
    context: float
    coherence: float


def disambiguate(
    document: Document, response: Response, lexicon: Lexicon, keywords: Keywords, weights: GraphWeights
) -> Response:
    """Return the response with each mention linked to the candidate that best fits the text and the other mentions.

    Mentions without candidates stay unchanged. Mentions of long texts are linked in blocks of up to 24.
    """
    mentions = [prediction for prediction in response.predictions if prediction.candidates]
    others = [prediction for prediction in response.predictions if not prediction.candidates]
    text_words = split_words(document.text)
    linked = [
        mention
        for block in split_blocks(len(mentions))
        for mention in _link_block(mentions[block], document.text, text_words, lexicon, keywords, weights)
    ]
    return replace(response, predictions=tuple(sorted([*linked, *others], key=lambda prediction: prediction.start)))


def _link_block(
    mentions: Sequence[Prediction],
    text: str,
    text_words: frozenset[str],
    lexicon: Lexicon,
    keywords: Keywords,
    weights: GraphWeights,
) -> list[Prediction]:
    """Return the mentions of one block, linked jointly; all of them must have candidates.

    `text_words`: distinct words of the whole `text`.
    """
    owner = np.repeat(np.arange(len(mentions)), [len(prediction.candidates) for prediction in mentions])
    candidates = [candidate for prediction in mentions for candidate in prediction.candidates]
    codes = np.array([lexicon.codes.get(candidate.entity, -1) for candidate in candidates], np.int64)
    prior = np.array([candidate.score or 0.0 for candidate in candidates])
    local = weights.prior * prior
    if weights.context:
        local = local + weights.context * _context_similarity(mentions, text, text_words, owner, codes, keywords)
    strength = local
    if weights.coherence and len(mentions) > 1:
        weights_ = local / np.maximum(np.bincount(owner, local)[owner], 1e-9)
        edges = (
            _pairwise_relatedness(codes, keywords)
            * (owner[:, None] != owner)
            * weights_
            * (weights.coherence / (len(mentions) - 1))
        )
        strength = _settle_strengths(
            local, edges, owner, find_densest(local, edges, owner, len(mentions)), len(mentions)
        )
    return [_rank_candidates(prediction, strength[owner == index]) for index, prediction in enumerate(mentions)]


def _pairwise_relatedness(codes: Longs, keywords: Keywords) -> Floats:
    """Return the matrix of pairwise relatedness of candidates; 0 for code -1, entities that the lexicon lacks."""
    relatedness = keywords.neighbours.relatedness(np.maximum(codes, 0))
    is_known = codes >= 0
    return relatedness * is_known * is_known[:, None]


def _context_similarity(
    mentions: Sequence[Prediction],
    text: str,
    text_words: frozenset[str],
    owner: Longs,
    codes: Longs,
    keywords: Keywords,
) -> Floats:
    """Return the similarity of each candidate to the text, without the words of its mention; at most 1.

    `owner`, `codes`: index of the mention and entity code of each candidate; code -1, an unknown entity, gives 0.
    """
    result = np.zeros(len(codes))
    for index, prediction in enumerate(mentions):
        mask = owner == index
        mention = split_words(text[prediction.start : prediction.end])
        similarity = keywords.similarity(text_words, mention, np.maximum(codes[mask], 0)) * (codes[mask] >= 0)
        result[mask] = similarity / max(float(similarity.max()), 1.0)
    return result


def find_densest(local: Floats, edges: Floats, owner: Longs, n_mentions: int) -> Bools:
    """Return a mask of the candidates in the densest subgraph; each mention has at least one.

    `local`, `owner`: weight and index of the mention of each candidate.
    `edges`: matrix of the weights between candidates.
    The weakest candidates are removed one by one. The strength of a candidate is its own weight plus the weights of
    its edges to remaining candidates. Of all states, the state whose weakest candidate is strongest is returned.
    """
    alive = np.ones(len(local), np.bool_)
    n_candidates = np.bincount(owner, minlength=n_mentions)
    degree = local + edges.sum(axis=1)
    removed: list[int] = []
    best, n_removed = -np.inf, 0
    while True:
        weakest = degree[alive].min()
        if weakest >= best:
            best, n_removed = weakest, len(removed)
        removable = alive & (n_candidates[owner] > 1)
        if not removable.any():
            break
        candidate = int(np.flatnonzero(removable)[np.argmin(degree[removable])])
        alive[candidate] = False
        n_candidates[owner[candidate]] -= 1
        degree = degree - edges[:, candidate]
        removed.append(candidate)
    alive[removed[n_removed:]] = True
    return alive


def _settle_strengths(local: Floats, edges: Floats, owner: Longs, alive: Bools, n_mentions: int) -> Floats:
    """Return the strength of each candidate: its own weight plus its edges to the candidates that mentions choose.

    Each mention chooses its strongest candidate; this is repeated until stable, at most 10 times. Candidates outside
    the mask `alive` are never chosen, and their strength is divided by 1000. The other parameters are those of
    `find_densest`.
    """
    degree = np.where(alive, local + edges @ alive, -np.inf)
    choice = _best_candidates(degree, owner, n_mentions)
    strength = degree
    for _ in range(10):
        strength = local + edges[:, choice].sum(axis=1)
        new_choice = _best_candidates(np.where(alive, strength, -np.inf), owner, n_mentions)
        if (new_choice == choice).all():
            break
        choice = new_choice
    return np.where(alive, strength, strength * 1e-3)


def _best_candidates(strength: Floats, owner: Longs, n_mentions: int) -> Longs:
    """Return the index of the strongest candidate of each mention; the first of equal ones."""
    order = np.lexsort((np.arange(len(owner)), -strength, owner))
    return np.asarray(order[np.searchsorted(owner[order], np.arange(n_mentions))])


def _rank_candidates(prediction: Prediction, strength: Floats) -> Prediction:
    """Return a mention linked to its strongest candidate, with ranked candidates; scores are shares of the strength."""
    total = float(strength.sum()) or 1.0
    order = np.argsort(-strength, kind="stable").tolist()
    ranked = tuple(
        Candidate(prediction.candidates[index].entity, round(float(strength[index]) / total, 6)) for index in order
    )
    return Prediction(prediction.start, prediction.end, ranked[0].entity, score=ranked[0].score, candidates=ranked)
