"""TagMe (Ferragina and Scaiella, CIKM 2010), for short texts.

A stage is a step of a system: detection, candidates or ranking.

A block is a group of mentions of one text that are linked jointly: by votes between their candidates, pruned by ρ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from karat.model.document import Candidate, Document, Prediction, Response
from karat.model.spec.system import Link, Refine, System, option
from karat.model.tables.columns import Floats, Longs
from karat.systems.linking.lexicon import (
    KB_DESCRIPTION,
    SNAPSHOT_TRAINING,
    SUBSTITUTE_DESCRIPTION,
    Lexicon,
    Substitute,
    build_lexicon,
    choose_weights,
    snapshot_metadata,
)
from karat.systems.linking.methods.blocks import CandidateArrays, link_blocks
from karat.systems.linking.methods.spotting import (
    MIN_LINK_PROBABILITY_DESCRIPTION,
    get_link_probabilities,
    make_spot_stage,
)
from karat.systems.linking.relatedness import Neighbours, find_neighbours
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages, make_candidate_stage, make_document_stage


@dataclass(frozen=True, slots=True)
class TagmeOptions:
    """The options of `tagme`."""

    kb: str = option("starter", KB_DESCRIPTION)
    substitute: Substitute = option("none", SUBSTITUTE_DESCRIPTION)
    rho: float = option(0.1, "Minimum ρ of a mention, the mean of its link probability and coherence.")
    epsilon: float = option(0.3, "Share of the best candidate's votes that a more common candidate may lack.")
    min_link_probability: float = option(0.05, MIN_LINK_PROBABILITY_DESCRIPTION)
    candidates: int = option(10, "Maximum number of candidates per mention.")

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon, with candidates weighted by counts; raises `UsageError` without counts or a substitute."""
        return build_lexicon(self.kb, choose_weights(self.kb, self.substitute))


def _detect(options: TagmeOptions) -> Refine:
    """Return the stage that detects words that are often links."""
    return make_spot_stage(options.lexicon, options.min_link_probability)


def _candidates(options: TagmeOptions) -> Refine:
    """Return the stage that proposes the most likely entities of each surface."""
    return make_candidate_stage(options.lexicon, options.candidates)


def _rank(options: TagmeOptions, rho: float) -> Refine:
    """Return the stage that links mentions by votes and drops those with a ρ below `rho`."""
    lexicon = options.lexicon
    neighbours = find_neighbours(lexicon)
    return make_document_stage(
        lambda document, response: annotate(document, response, lexicon, neighbours, epsilon=options.epsilon, rho=rho)
    )


def _start(options: TagmeOptions, gold_mentions: bool) -> Link:
    """Return the function that detects and links mentions; given mentions are all linked, regardless of ρ."""
    if gold_mentions:  # all given mentions are to be linked
        return chain_stages(USE_GIVEN_MENTIONS, _candidates(options), _rank(options, 0.0))
    return chain_stages(_detect(options), _candidates(options), _rank(options, options.rho))


class VoteResult(NamedTuple):
    """The candidates that mentions choose by votes.

    `choices`: index of the chosen candidate of each mention, among all candidates.
    `votes`: sum of the votes for each candidate.
    `coherence`: mean relatedness of each mention's choice to the other choices.
    """

    choices: Longs
    votes: Floats
    coherence: Floats


def vote(
    codes: Longs, owner: Longs, prior: Floats, n_mentions: int, neighbours: Neighbours, epsilon: float
) -> VoteResult:
    """Let all mentions vote for the candidates of each other mention.

    `codes`, `owner`, `prior`: entity code, index of the mention and prior of each candidate, mention after mention.
    A mention's vote for a candidate is the mean relatedness of its own candidates, weighted by their priors. Of the
    candidates with nearly the most votes (up to `epsilon`), the one with the highest prior is chosen.
    """
    related = neighbours.relatedness(codes)
    n_candidates = np.bincount(owner, minlength=n_mentions)
    ballots = np.zeros((len(codes), n_mentions))
    ballots[np.arange(len(codes)), owner] = prior / n_candidates[owner]
    votes = related @ ballots
    votes[np.arange(len(codes)), owner] = 0.0
    total = votes.sum(axis=1)
    best = np.zeros(n_mentions)
    np.maximum.at(best, owner, total)
    is_close = total >= best[owner] * (1 - epsilon)
    order = np.lexsort((np.arange(len(codes)), -prior, ~is_close, owner))
    chosen = order[np.searchsorted(owner[order], np.arange(n_mentions))]
    linked = related[np.ix_(chosen, chosen)]
    coherence = (linked.sum(axis=1) - linked.diagonal()) / max(n_mentions - 1, 1)
    return VoteResult(chosen, total, coherence)


def annotate(
    document: Document, response: Response, lexicon: Lexicon, neighbours: Neighbours, *, epsilon: float, rho: float
) -> Response:
    """Return the response with each mention linked by votes, without mentions whose ρ is below `rho`.

    ρ, the score of a link, is the mean of link probability and coherence. `epsilon` is that of `vote`. Mentions
    without candidates stay unchanged. Mentions of long texts are linked in blocks of up to 24.
    """
    linked = link_blocks(response, lambda mentions: _link_block(document.text, mentions, lexicon, neighbours, epsilon))
    accepted = (item for item in linked.predictions if item.score is None or item.score >= rho)
    return replace(linked, predictions=tuple(accepted))


def _link_block(
    text: str, mentions: list[Prediction], lexicon: Lexicon, neighbours: Neighbours, epsilon: float
) -> Iterator[Prediction]:
    """Yield the mentions of one block, linked by votes and scored by ρ; all must have candidates in the lexicon."""
    arrays = CandidateArrays.from_mentions(mentions, lexicon)
    result = vote(arrays.codes, arrays.owner, arrays.prior, len(mentions), neighbours, epsilon)
    candidates = [candidate for prediction in mentions for candidate in prediction.candidates]
    probabilities = get_link_probabilities(text, mentions, lexicon)
    for index, (prediction, votes) in enumerate(zip(mentions, arrays.split(result.votes), strict=True)):
        chosen = candidates[result.choices[index]]
        ranked = [
            Candidate(candidate.entity, round(float(vote), 6))
            for vote, candidate in sorted(zip(votes.tolist(), prediction.candidates, strict=True), key=lambda x: -x[0])
        ]
        others = [candidate for candidate in ranked if candidate.entity != chosen.entity]
        first = next(candidate for candidate in ranked if candidate.entity == chosen.entity)
        score = round((probabilities[index] + float(result.coherence[index])) / 2, 6)
        yield Prediction(prediction.start, prediction.end, chosen.entity, score=score, candidates=(first, *others))


SYSTEM = System(
    title="TagMe",
    description="Detects words that are often links, lets the candidates of all mentions vote for each other by "
    "relatedness, "
    "and keeps coherent mentions that are likely links.",
    start=_start,
    options=TagmeOptions,
    gold_mentions="optional",
    stages={
        "detect": _detect,
        "candidates": _candidates,
        "rank": lambda options: _rank(options, options.rho),
    },
    fingerprint=lambda options: snapshot_metadata(options.kb),
    requirements=("counts", "links"),
    method_of="tagme-api",
    citation="Ferragina and Scaiella 2010: TAGME: On-the-Fly Annotation of Short Text Fragments "
    "(by Wikipedia Entities). CIKM.",
    training=SNAPSHOT_TRAINING,
)
