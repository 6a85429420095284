"""Mentions of a text that are linked jointly, in blocks, with their candidates as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from karat.model.document import Candidate, Prediction, Response
from karat.model.tables.columns import Floats, Longs
from karat.systems.linking.lexicon import Lexicon
from karat.systems.linking.relatedness import split_blocks


class CandidateArrays(NamedTuple):
    """The candidates of some mentions, mention after mention.

    `n_mentions`: number of mentions.
    `owner`: index of the mention of each candidate.
    `codes`: entity code of each candidate; -1 if the lexicon lacks the entity.
    `prior`: share of each candidate among the uses of the surface.
    """

    n_mentions: int
    owner: Longs
    codes: Longs
    prior: Floats

    @classmethod
    def from_mentions(cls, mentions: Sequence[Prediction], lexicon: Lexicon) -> CandidateArrays:
        """Build from mentions with candidates, whose scores are the priors."""
        candidates = [candidate for mention in mentions for candidate in mention.candidates]
        return cls(
            len(mentions),
            np.repeat(np.arange(len(mentions)), [len(mention.candidates) for mention in mentions]),
            np.array([lexicon.codes.get(candidate.entity, -1) for candidate in candidates], np.int64),
            np.array([candidate.score or 0.0 for candidate in candidates]),
        )

    def find_best(self, score: Floats) -> Longs:
        """Return the index of the candidate of each mention with the highest score; of equal ones, the first."""
        order = np.lexsort((np.arange(len(self.owner)), -score, self.owner))
        return np.asarray(order[np.searchsorted(self.owner[order], np.arange(self.n_mentions))])

    def split(self, values: Floats) -> list[Floats]:
        """Return one array for each mention with the values of its candidates."""
        return np.split(values, np.searchsorted(self.owner, np.arange(1, self.n_mentions))) if self.n_mentions else []


def link_blocks(response: Response, link: Callable[[list[Prediction]], Iterable[Prediction]]) -> Response:
    """Return the response with its mentions linked in blocks of up to 24; mentions without candidates stay unchanged.

    `link`: returns the mentions of one block, linked.
    """
    mentions = [prediction for prediction in response.predictions if prediction.candidates]
    others = [prediction for prediction in response.predictions if not prediction.candidates]
    linked = [mention for block in split_blocks(len(mentions)) if mentions for mention in link(mentions[block])]
    return replace(response, predictions=tuple(sorted([*linked, *others], key=lambda prediction: prediction.start)))


def choose_candidate(mention: Prediction, values: Floats, score: float | None = None) -> Prediction:
    """Return a mention linked to its candidate with the highest value, with candidates sorted by their values.

    `score`: score of the link, by default the value of the candidate.
    """
    order = np.argsort(-values, kind="stable").tolist()
    ranked = tuple(Candidate(mention.candidates[index].entity, round(float(values[index]), 6)) for index in order)
    confidence = ranked[0].score if score is None else round(score, 6)
    return Prediction(mention.start, mention.end, ranked[0].entity, score=confidence, candidates=ranked)
