"""Commonness, relatedness and context quality in learned trees, the method of Wikipedia Miner (Milne and Witten 2008).

Disambiguation: the context are the mentions with a single sense. A context entity weighs the mean of its link
probability and its mean relatedness to the other context entities. A candidate has three features: its commonness, its
mean relatedness to the context by these weights, and the quality of the context, the sum of the weights. Decision trees
turn them into a confidence, and the candidate with the highest confidence wins.

Link detection: the mentions of one entity are a topic. Its features are link probability and confidence (mean and
maximum), relatedness to the other topics, generality, and frequency, first and last occurrence and spread in the text.
Other trees turn them into the probability that the topic is a link, the score of its mentions.

Differences from the publication: five small trees instead of bagged C4.5 trees, trained on a few hundred documents by
`tools/train_methods.py` instead of on Wikipedia. Relatedness uses links in both directions. Generality is the logarithm
of the number of links to an entity, since the snapshot has no tree of categories. Context and relatedness of topics are
those of blocks of up to 24 mentions. With `substitute=popularity`, commonness is the share of popularity, and link
probability only tells capitals.

A stage is a step of a system: detection, candidates or ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from msgspec.structs import replace

from karat.model.document import Document, Prediction, Response
from karat.model.spec.external_access import TrainingDetails
from karat.model.spec.system import Link, Refine, System, option
from karat.model.tables.columns import Floats
from karat.systems.linking.lexicon import (
    KB_DESCRIPTION,
    SUBSTITUTE_DESCRIPTION,
    Lexicon,
    Substitute,
    build_lexicon,
    choose_weights,
    snapshot_metadata,
)
from karat.systems.linking.methods.blocks import CandidateArrays, choose_candidate, link_blocks
from karat.systems.linking.methods.learned_weights import DecisionTrees, LearnedWeights, load_weights
from karat.systems.linking.methods.spotting import (
    MIN_LINK_PROBABILITY_DESCRIPTION,
    get_link_probabilities,
    make_spot_stage,
)
from karat.systems.linking.relatedness import Neighbours, find_neighbours, split_blocks
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages, make_candidate_stage, make_document_stage

_MIN_COMMONNESS: Final = 0.02
"""The commonness below which a candidate is no sense of a surface when senses are counted."""


@dataclass(frozen=True, slots=True)
class MinerMethodOptions:
    """The options of `wikipedia-miner-method`."""

    kb: str = option("starter", KB_DESCRIPTION)
    substitute: Substitute = option("none", SUBSTITUTE_DESCRIPTION)
    min_link_probability: float = option(0.02, MIN_LINK_PROBABILITY_DESCRIPTION)
    min_probability: float = option(0.2, "Minimum probability that a detected mention is a link.")
    candidates: int = option(10, "Maximum number of candidates per mention.")

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon, with candidates weighted by counts; raises `UsageError` without counts or a substitute."""
        return build_lexicon(self.kb, choose_weights(self.kb, self.substitute))


class MinerWeights(LearnedWeights, frozen=True, kw_only=True):
    """The learned parts of the method.

    `disambiguator`: trees over the features of `describe_senses`.
    `detector`: trees over the features of `describe_topics`.
    """

    disambiguator: DecisionTrees
    detector: DecisionTrees


def weigh_context(relatedness: Floats, link_probability: Floats) -> Floats:
    """Return the weight of each context entity: the mean of its link probability and its relatedness to the others.

    `relatedness`: matrix of the pairwise relatedness of the context entities.
    """
    n_others = max(len(relatedness) - 1, 1)
    return np.asarray((link_probability + (relatedness.sum(axis=1) - relatedness.diagonal()) / n_others) / 2)


def describe_senses(arrays: CandidateArrays, relatedness: Floats, link_probability: Floats) -> Floats:
    """Return commonness, relatedness to the context and quality of the context of each candidate, a row each.

    `relatedness`: matrix of the pairwise relatedness of the candidates.
    `link_probability`: link probability of each mention.
    A mention with a single sense is no context of itself.
    """
    is_sense = arrays.prior >= _MIN_COMMONNESS
    n_senses = np.bincount(arrays.owner, is_sense, minlength=arrays.n_mentions)
    context = np.flatnonzero(is_sense & (n_senses[arrays.owner] == 1) & (arrays.codes >= 0))
    weights = weigh_context(relatedness[np.ix_(context, context)], link_probability[arrays.owner[context]])
    is_other = arrays.owner[:, None] != arrays.owner[context]
    quality = (is_other * weights).sum(axis=1)
    related = (relatedness[:, context] * is_other * weights).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.nan_to_num(related / quality)
    return np.column_stack([arrays.prior, mean, quality])


def describe_block(
    mentions: Sequence[Prediction], text: str, lexicon: Lexicon, neighbours: Neighbours
) -> tuple[CandidateArrays, Floats]:
    """Return the candidates of the mentions of a block, and the features of each."""
    arrays = CandidateArrays.from_mentions(mentions, lexicon)
    is_known = arrays.codes >= 0
    relatedness = neighbours.relatedness(np.maximum(arrays.codes, 0)) * is_known * is_known[:, None]
    link_probability = np.array(get_link_probabilities(text, mentions, lexicon))
    return arrays, describe_senses(arrays, relatedness, link_probability)


def describe_topics(
    mentions: Sequence[Prediction], text: str, lexicon: Lexicon, neighbours: Neighbours
) -> dict[str, Floats]:
    """Return the features of each entity of a text; `mentions` are linked, in order, and scored by confidence."""
    related: list[float] = []
    for block in split_blocks(len(mentions)) if mentions else ():
        codes = np.array([lexicon.codes.get(str(mention.entity), -1) for mention in mentions[block]], np.int64)
        matrix = neighbours.relatedness(np.maximum(codes, 0)) * (codes >= 0)
        is_other = (codes[:, None] != codes) & (codes[:, None] >= 0)
        related += ((matrix * is_other).sum(axis=1) / np.maximum(is_other.sum(axis=1), 1)).tolist()
    link_probability = get_link_probabilities(text, mentions, lexicon)
    topics: dict[str, list[int]] = {}
    for index, mention in enumerate(mentions):
        topics.setdefault(str(mention.entity), []).append(index)
    scale = np.log(lexicon.popularity.max() + 1)
    length = max(len(text), 1)
    features = {}
    for entity, indices in topics.items():
        probabilities = [link_probability[index] for index in indices]
        confidence = [mentions[index].score or 0.0 for index in indices]
        first, last = (mentions[index].start / length for index in (indices[0], indices[-1]))
        code = lexicon.codes.get(entity)
        features[entity] = np.array(
            [
                np.mean(probabilities),
                max(probabilities),
                np.mean([related[index] for index in indices]),
                np.mean(confidence),
                max(confidence),
                0.0 if code is None else np.log(lexicon.popularity[code]) / scale,
                np.log(len(indices)),
                first,
                last,
                last - first,
            ]
        )
    return features


def disambiguate(
    document: Document, response: Response, lexicon: Lexicon, neighbours: Neighbours, trees: DecisionTrees
) -> Response:
    """Return the response with each mention linked to the candidate of the highest confidence; of equal ones, the
    most common."""

    def link_block(mentions: list[Prediction]) -> list[Prediction]:
        arrays, rows = describe_block(mentions, document.text, lexicon, neighbours)
        confidence = arrays.split(trees.predict(rows))
        return [choose_candidate(*pair) for pair in zip(mentions, confidence, strict=True)]

    return link_blocks(response, link_block)


def _detect(options: MinerMethodOptions) -> Refine:
    """Return the stage that detects words that may be links."""
    return make_spot_stage(options.lexicon, options.min_link_probability)


def _candidates(options: MinerMethodOptions) -> Refine:
    """Return the stage that proposes the most common entities of each surface."""
    return make_candidate_stage(options.lexicon, options.candidates)


def keep_links(
    document: Document,
    response: Response,
    lexicon: Lexicon,
    neighbours: Neighbours,
    trees: DecisionTrees,
    min_probability: float,
) -> Response:
    """Return the response with linked mentions scored by the probability of their topic, without improbable ones."""
    mentions = [mention for mention in response.predictions if mention.candidates]
    topics = describe_topics(mentions, document.text, lexicon, neighbours)
    probability = dict(zip(topics, trees.predict(np.array(list(topics.values()))).tolist(), strict=True))
    links = (replace(mention, score=round(probability[str(mention.entity)], 6)) for mention in mentions)
    return replace(response, predictions=tuple(link for link in links if (link.score or 0.0) >= min_probability))


def _rank(options: MinerMethodOptions, *, keeps_all: bool = False) -> Refine:
    """Return the stage that links mentions and, unless `keeps_all`, drops those that are probably no links."""
    lexicon, weights = options.lexicon, load_miner_weights()
    neighbours = find_neighbours(lexicon)

    def rank(document: Document, response: Response) -> Response:
        linked = disambiguate(document, response, lexicon, neighbours, weights.disambiguator)
        if keeps_all:
            return linked
        return keep_links(document, linked, lexicon, neighbours, weights.detector, options.min_probability)

    return make_document_stage(rank)


@cache
def load_miner_weights() -> MinerWeights:
    """Load the learned parts of the method; the result is cached."""
    return load_weights("wikipedia_miner_method", MinerWeights)


def _start(options: MinerMethodOptions, gold_mentions: bool) -> Link:
    """Return the function that detects and links mentions; given mentions are all linked, without link detection."""
    if gold_mentions:
        return chain_stages(USE_GIVEN_MENTIONS, _candidates(options), _rank(options, keeps_all=True))
    return chain_stages(_detect(options), _candidates(options), _rank(options))


SYSTEM = System(
    title="Method of Wikipedia Miner",
    description="Links words by commonness, relatedness to unambiguous words and the quality of this context, and "
    "keeps topics that are probably links, both by learned trees. The method of Wikipedia Miner, with small trees.",
    start=_start,
    options=MinerMethodOptions,
    gold_mentions="optional",
    stages={"detect": _detect, "candidates": _candidates, "rank": _rank},
    fingerprint=lambda options: {**snapshot_metadata(options.kb), "weights": load_miner_weights().data[:8]},
    requirements=("counts", "links"),
    method_of="wikipedia-miner",
    citation="Milne and Witten 2008: Learning to Link with Wikipedia. CIKM.",
    training=TrainingDetails(
        data="WNED-WIKI in ZELDA", vocabulary="entities of the snapshot", candidate_list="aliases of the snapshot"
    ),
)
