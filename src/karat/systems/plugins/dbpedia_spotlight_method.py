"""Context words weighted by TF·ICF, the method of DBpedia Spotlight (Mendes et al., I-SEMANTICS 2011).

A candidate is a vector of the words of its entity, and a mention a vector of the words around it. A word weighs its
frequency times its inverse candidate frequency, log(n / n_w): of the n candidates of the surface, n_w have the word. A
word that all candidates have cannot tell them apart and weighs nothing. The candidate with the highest cosine wins.

Differences from the publication: the words of an entity are those of its name, its description and the names of its
neighbours, since the snapshot has no paragraphs with links to it. A surface with one candidate has the similarity 1.
Candidates of equal similarity are ordered by prior. Detection takes names that are often links, without overlaps,
instead of all names but those with the part of speech of common words.

A stage is a step of a system: detection, candidates or ranking.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from karat.model.document import Document, Prediction, Response
from karat.model.spec.system import Link, Refine, System, option
from karat.model.tables.columns import Floats
from karat.systems.linking.lexicon import (
    KB_DESCRIPTION,
    SNAPSHOT_TRAINING,
    Lexicon,
    build_lexicon,
    snapshot_metadata,
)
from karat.systems.linking.methods.blocks import choose_candidate
from karat.systems.linking.methods.context_words import Keywords, TextWords, WordVector, build_keywords
from karat.systems.linking.methods.spotting import MIN_LINK_PROBABILITY_DESCRIPTION, make_spot_stage
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages, make_candidate_stage, make_document_stage


@dataclass(frozen=True, slots=True)
class SpotlightMethodOptions:
    """The options of `dbpedia-spotlight-method`."""

    kb: str = option("starter", KB_DESCRIPTION)
    min_link_probability: float = option(0.05, MIN_LINK_PROBABILITY_DESCRIPTION)
    confidence: float = option(0.0, "Minimum similarity of a detected mention's entity.")
    window: int = option(100, "Number of words before and after a mention that are its context.")
    candidates: int = option(20, "Maximum number of candidates per mention.")

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon, with candidates weighted by counts and popularity."""
        return build_lexicon(self.kb, "both")


def compare_candidates(context: Mapping[str, int], candidates: Sequence[Mapping[str, int]]) -> Floats:
    """Return the similarity of each candidate to the context, from 0 to 1; both are given by their word counts.

    It is the cosine of the vectors of TF·ICF; 1 for a single candidate.
    """
    if len(candidates) == 1:
        return np.ones(1)
    n_with_word = Counter(word for words in candidates for word in words)
    icf = {word: math.log(len(candidates) / count) for word, count in n_with_word.items()}
    context_vector = _weigh(context, icf)
    return np.array([_weigh(words, icf).cosine(context_vector) for words in candidates])


def _weigh(counts: Mapping[str, int], icf: Mapping[str, float]) -> WordVector:
    """Return the vector of TF·ICF of counted words; words that no candidate has weigh nothing."""
    weights = {word: count * icf[word] for word, count in counts.items() if word in icf}
    return WordVector(weights, math.sqrt(math.fsum(weight * weight for weight in weights.values())))


def _candidates(options: SpotlightMethodOptions) -> Refine:
    """Return the stage that proposes the most likely entities of each surface."""
    return make_candidate_stage(options.lexicon, options.candidates)


def _rank(options: SpotlightMethodOptions, confidence: float) -> Refine:
    """Return the stage that links mentions by similarity and drops links whose similarity is below `confidence`."""
    lexicon, keywords = options.lexicon, build_keywords(options.lexicon)

    def rank(document: Document, response: Response) -> Response:
        words = TextWords.from_text(document.text)
        linked = (
            _link(mention, words, lexicon, keywords, options.window) if mention.candidates else mention
            for mention in response.predictions
        )
        return replace(
            response, predictions=tuple(item for item in linked if item.score is None or item.score >= confidence)
        )

    return make_document_stage(rank)


def _link(mention: Prediction, words: TextWords, lexicon: Lexicon, keywords: Keywords, window: int) -> Prediction:
    """Return a mention linked to the candidate that is most similar to the words around it."""
    codes = [lexicon.codes.get(candidate.entity, -1) for candidate in mention.candidates]
    context = words.count_around(mention.start, mention.end, window)
    counts = [keywords.count_words(code) if code >= 0 else {} for code in codes]
    return choose_candidate(mention, compare_candidates(context, counts))


def _detect(options: SpotlightMethodOptions) -> Refine:
    """Return the stage that detects words that are often links."""
    return make_spot_stage(options.lexicon, options.min_link_probability)


def _start(options: SpotlightMethodOptions, gold_mentions: bool) -> Link:
    """Return the function that detects and links mentions; given mentions are all linked, regardless of similarity."""
    if gold_mentions:
        return chain_stages(USE_GIVEN_MENTIONS, _candidates(options), _rank(options, 0.0))
    return chain_stages(_detect(options), _candidates(options), _rank(options, options.confidence))


SYSTEM = System(
    title="Method of DBpedia Spotlight",
    description="Links names to the candidate whose words are most similar to the words around, weighted by TF·ICF. "
    "The method of DBpedia Spotlight, with the words of a snapshot.",
    start=_start,
    options=SpotlightMethodOptions,
    gold_mentions="optional",
    stages={
        "detect": _detect,
        "candidates": _candidates,
        "rank": lambda options: _rank(options, options.confidence),
    },
    fingerprint=lambda options: snapshot_metadata(options.kb),
    requirements=("links",),
    method_of="dbpedia-spotlight",
    citation="Mendes et al. 2011: DBpedia Spotlight: Shedding Light on the Web of Documents. I-SEMANTICS.",
    training=SNAPSHOT_TRAINING,
)
