"""Joint disambiguation in a graph of mentions and candidates, as in AIDA (Hoffart et al., EMNLP 2011).

A stage is a step of a system: detection, candidates or ranking.

A block is a group of mentions of one text that are linked jointly, as the densest subgraph of mentions and candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from karat.model.document import Document, Prediction, Response
from karat.model.spec.system import Refine, System, option
from karat.model.tables.columns import Bools, Floats, Longs
from karat.systems.linking.lexicon import SNAPSHOT_TRAINING, Lexicon, snapshot_metadata
from karat.systems.linking.methods.blocks import CandidateArrays, choose_candidate, link_blocks
from karat.systems.linking.methods.context_words import Keywords, build_keywords, split_words
from karat.systems.linking.name_linker import NameLinkerOptions, detect_names, make_start, propose_candidates
from karat.systems.linking.stages import LINK_FIRST_CANDIDATE, make_document_stage


@dataclass(frozen=True, slots=True)
class GraphOptions(NameLinkerOptions):
    """The options of `graph`."""

    variant: Literal["joint", "local", "prior"] = option(
        "joint", "Evidence: all (joint), without coherence (local), or prior only."
    )
    prior: float = option(0.5, "Weight of the prior.")
    context: float = option(0.5, "Weight of the context.")
    coherence: float = option(0.5, "Weight of the coherence with other entities.")


def _rank(options: GraphOptions) -> Refine:
    """Return the stage that ranks candidates by the evidence that the option `variant` names."""
    if options.variant == "prior":
        return LINK_FIRST_CANDIDATE
    lexicon, keywords = options.lexicon, build_keywords(options.lexicon)
    weights = GraphWeights(options.prior, options.context, options.coherence if options.variant == "joint" else 0.0)
    return make_document_stage(lambda document, response: disambiguate(document, response, lexicon, keywords, weights))


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
    text_words = split_words(document.text)
    return link_blocks(
        response, lambda mentions: _link_block(mentions, document.text, text_words, lexicon, keywords, weights)
    )


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
    arrays = CandidateArrays.from_mentions(mentions, lexicon)
    owner, codes = arrays.owner, arrays.codes
    local = weights.prior * arrays.prior
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
        strength = _settle_strengths(local, edges, arrays, find_densest(local, edges, owner, len(mentions)))
    shares = strength / np.where(total := np.bincount(owner, strength), total, 1.0)[owner]
    return [
        choose_candidate(prediction, values) for prediction, values in zip(mentions, arrays.split(shares), strict=True)
    ]


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


def _settle_strengths(local: Floats, edges: Floats, arrays: CandidateArrays, alive: Bools) -> Floats:
    """Return the strength of each candidate: its own weight plus its edges to the candidates that mentions choose.

    Each mention chooses its strongest candidate; this is repeated until stable, at most 10 times. Candidates outside
    the mask `alive` are never chosen, and their strength is divided by 1000. The other parameters are those of
    `find_densest`.
    """
    degree = np.where(alive, local + edges @ alive, -np.inf)
    choice = arrays.find_best(degree)
    strength = degree
    for _ in range(10):
        strength = local + edges[:, choice].sum(axis=1)
        new_choice = arrays.find_best(np.where(alive, strength, -np.inf))
        if (new_choice == choice).all():
            break
        choice = new_choice
    return np.where(alive, strength, strength * 1e-3)


SYSTEM = System(
    title="Graph",
    description="Detects names and links all mentions of a text jointly, by prior, context and relatedness of the "
    "entities.",
    start=make_start(_rank),
    options=GraphOptions,
    gold_mentions="optional",
    stages={"detect": detect_names, "candidates": propose_candidates, "rank": _rank},
    fingerprint=lambda options: snapshot_metadata(options.kb),
    requirements=("links",),
    method_of="aida",
    citation="Hoffart et al. 2011: Robust Disambiguation of Named Entities in Text. EMNLP.",
    training=SNAPSHOT_TRAINING,
)
