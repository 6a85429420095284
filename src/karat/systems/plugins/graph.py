"""Joint disambiguation in a graph of mentions and candidates, as in AIDA (Hoffart et al., EMNLP 2011).

A stage is a step of a system: detection, candidates or ranking.

A block is a group of mentions of one text that are linked jointly, as the densest subgraph of mentions and candidates.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal, NamedTuple

import numpy as np
import pyarrow.compute as pc
from msgspec.structs import replace

from karat.model.document import Candidate, Document, Prediction, Response
from karat.model.spec.system import Refine, System, option
from karat.model.tables.columns import Bools, Floats, Longs
from karat.systems.linking.lexicon import SNAPSHOT_TRAINING, Lexicon, snapshot_metadata
from karat.systems.linking.name_linker import NameLinkerOptions, detect_names, make_start, propose_candidates
from karat.systems.linking.relatedness import Neighbours, find_neighbours, split_blocks
from karat.systems.linking.stages import LINK_FIRST_CANDIDATE, make_document_stage

_WORD: Final = re.compile(r"\w\w+")
_MAX_NEIGHBOURS: Final = 200
"""The maximal number of neighbours whose names are used."""


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


@dataclass(frozen=True, eq=False)
class Keywords:
    """The words of each entity: those of its name, its description and the names of its neighbours.

    `neighbours`: neighbours of the entities in the link graph.
    `texts`: name and description of each entity, in lower case, by entity code.
    `names`: name of each entity and neighbour, in lower case, by code.
    `idf`: inverse document frequency of each word, with the texts as documents.
    `max_idf`: inverse document frequency of unknown words.
    """

    neighbours: Neighbours = field(repr=False)
    texts: Sequence[str] = field(repr=False)
    names: Sequence[str] = field(repr=False)
    idf: dict[str, float] = field(repr=False)
    max_idf: float
    _cache: dict[int, tuple[frozenset[str], float]] = field(default_factory=dict, repr=False)

    def similarity(self, words: frozenset[str], ignored: frozenset[str], codes: Longs) -> Floats:
        """Return the similarity of a text, given by its `words`, to each entity of `codes`.

        The similarity is the sum of the IDF of shared words that are not `ignored`, over the Euclidean norm of the IDF
        of all words of the entity.
        """
        return np.array([self._similarity(words, ignored, code) for code in codes.tolist()])

    def _similarity(self, words: frozenset[str], ignored: frozenset[str], code: int) -> float:
        """Return the similarity of `words` to one entity."""
        entity_words, norm = self._words_and_norm(code)
        shared = (entity_words & words) - ignored  # fastest in this order: a text has more words than an entity
        return math.fsum(self.idf.get(word, self.max_idf) for word in shared) / norm if shared else 0.0

    def _words_and_norm(self, code: int) -> tuple[frozenset[str], float]:
        """Return the words of an entity, with up to 200 neighbours, and the norm of their IDF; the result is cached."""
        entry = self._cache.get(code)
        if entry is None:
            low, high = int(self.neighbours.starts[code]), int(self.neighbours.starts[code + 1])
            neighbour_codes = self.neighbours.neighbours[low : min(high, low + _MAX_NEIGHBOURS)].tolist()
            text = " ".join([self.texts[code], *(self.names[neighbour] for neighbour in neighbour_codes)])
            words = frozenset(_WORD.findall(text))
            norm = float(np.sqrt(math.fsum(self.idf.get(word, self.max_idf) ** 2 for word in words))) or 1.0
            entry = self._cache[code] = (words, norm)
        return entry


def split_words(text: str) -> frozenset[str]:
    """Return the distinct words of a text in lower case; words of one character are dropped."""
    return frozenset(_WORD.findall(text.lower()))


@cache
def build_keywords(lexicon: Lexicon) -> Keywords:
    """Build the keywords of a lexicon's entities: words of names, descriptions and names of neighbours. Cached.

    The texts come from the lexicon's snapshots; for each entity, the first snapshot with a name gives the name, and the
    first snapshot with a description gives the description.
    """
    neighbours = find_neighbours(lexicon)
    names, descriptions = [""] * len(neighbours.ids), [""] * len(lexicon.ids)
    for snapshot in reversed(lexicon.snapshots):  # the first snapshot has precedence
        table = snapshot.get_table("entities")
        if table is not None:
            for column, ids, target in (("name", neighbours.ids, names), ("description", lexicon.ids, descriptions)):
                for i, text in enumerate(pc.utf8_lower(table.look_up(ids, column)).to_pylist()):
                    target[i] = text or target[i]
    texts = [f"{name} {description}" for name, description in zip(names, descriptions, strict=False)]
    word_counts = Counter(word for text in texts for word in set(_WORD.findall(text)))
    n_texts = max(len(texts), 2)
    idf = {word: float(np.log(n_texts / count)) for word, count in word_counts.items()}
    return Keywords(neighbours, texts, names, idf, float(np.log(n_texts)))


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
    citation="Hoffart et al. 2011: Robust Disambiguation of Named Entities in Text. EMNLP.",
    training=SNAPSHOT_TRAINING,
)
