"""Commonness over n-grams, the method of CMNS (Meij, Weerkamp and de Rijke, WSDM 2012), for tweets.

Every n-gram that is a name suggests entities. The score of an entity is its commonness: the share of the links with
this n-gram as text that lead to it. Over several n-grams, the best one counts. The entities of a document are ranked by
their scores (C2KB, Rc2KB); of equal ones, the longer n-gram comes first, then the more popular entity.

Differences from the publication: its second step, which re-ranks these entities by a forest trained on annotated
tweets, is missing. N-grams that overlap a longer one suggest entities too, but only the longest become mentions, which
the publication does not have. N-grams are names of the snapshot, without stop words that are in no name, and with
`substitute=popularity` commonness is the share of popularity.

A stage is a step of a system: detection, candidates or ranking.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from karat.model.document import Document, Prediction, Response, Tag
from karat.model.spec.system import Link, Refine, System, option
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
from karat.systems.linking.methods.spotting import MIN_LINK_PROBABILITY_DESCRIPTION, Spot, find_ngrams
from karat.systems.linking.stages import (
    LINK_FIRST_CANDIDATE,
    USE_GIVEN_MENTIONS,
    chain_stages,
    make_candidate_stage,
    make_document_stage,
)


@dataclass(frozen=True, slots=True)
class CmnsMethodOptions:
    """The options of `cmns-method`."""

    kb: str = option("starter", KB_DESCRIPTION)
    substitute: Substitute = option("none", SUBSTITUTE_DESCRIPTION)
    min_link_probability: float = option(0.05, MIN_LINK_PROBABILITY_DESCRIPTION)
    candidates: int = option(10, "Maximum number of entities per n-gram.")
    concepts: int = option(10, "Maximum number of ranked entities per document.")
    min_commonness: float = option(0.3, "Minimum commonness of a ranked entity.")

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon, with candidates weighted by counts; raises `UsageError` without counts or a substitute."""
        return build_lexicon(self.kb, choose_weights(self.kb, self.substitute))


def rank_concepts(text: str, ngrams: Iterable[Spot], lexicon: Lexicon, max_candidates: int) -> list[tuple[str, float]]:
    """Return the entities that n-grams of a text suggest with their best commonness, best first.

    Of equal ones, the entity of the longer n-gram comes first, then the more popular one.
    """
    best: dict[str, tuple[float, int]] = {}
    for ngram in ngrams:
        surface = text[ngram.start : ngram.end]
        for candidate in lexicon.find_candidates(surface, max_candidates):
            key = (candidate.score or 0.0, len(surface))
            best[candidate.entity] = max(best.get(candidate.entity, key), key)
    popularity = lexicon.popularity
    order = sorted(best, key=lambda id: (-best[id][0], -best[id][1], -popularity[lexicon.codes[id]], id))
    return [(id, best[id][0]) for id in order]


def select_longest(ngrams: Iterable[Spot]) -> list[Spot]:
    """Return n-grams without overlaps, sorted by start: the longest first, of equal ones the earliest."""
    chosen: list[Spot] = []
    taken: set[int] = set()
    for ngram in sorted(ngrams, key=lambda ngram: (ngram.start - ngram.end, ngram.start)):
        span = range(ngram.start, ngram.end)
        if taken.isdisjoint(span):
            chosen.append(ngram)
            taken.update(span)
    return sorted(chosen)


def _detect(options: CmnsMethodOptions) -> Refine:
    """Return the stage that marks the longest n-grams."""
    lexicon = options.lexicon

    def detect(document: Document, response: Response) -> Response:
        ngrams = select_longest(find_ngrams(document.text, lexicon, options.min_link_probability))
        return replace(response, predictions=tuple(Prediction(ngram.start, ngram.end) for ngram in ngrams))

    return make_document_stage(detect)


def _add_concepts(options: CmnsMethodOptions) -> Refine:
    """Return the stage that adds the ranked entities of all n-grams of a document, which pipelines do not have."""
    lexicon = options.lexicon

    def add(document: Document, response: Response) -> Response:
        ngrams = find_ngrams(document.text, lexicon, options.min_link_probability)
        ranking = rank_concepts(document.text, ngrams, lexicon, options.candidates)[: options.concepts]
        concepts = [(id, score) for id, score in ranking if score >= options.min_commonness]
        tags = tuple(Tag(id, rank=rank, score=score) for rank, (id, score) in enumerate(concepts, 1))
        return replace(response, tags=tags)

    return make_document_stage(add)


def _candidates(options: CmnsMethodOptions) -> Refine:
    """Return the stage that proposes the entities of each n-gram by commonness."""
    return make_candidate_stage(options.lexicon, options.candidates)


def _start(options: CmnsMethodOptions, gold_mentions: bool) -> Link:
    """Return the function that detects n-grams, or takes given mentions, and links each to its most common entity."""
    if gold_mentions:
        return chain_stages(USE_GIVEN_MENTIONS, _candidates(options), LINK_FIRST_CANDIDATE)
    return chain_stages(_detect(options), _candidates(options), LINK_FIRST_CANDIDATE, _add_concepts(options))


SYSTEM = System(
    title="Method of CMNS",
    description="Links n-grams to the entity that they most commonly refer to, and ranks the entities of a document "
    "by commonness. The method of CMNS, without its learned second step.",
    start=_start,
    options=CmnsMethodOptions,
    gold_mentions="optional",
    stages={"detect": _detect, "candidates": _candidates, "rank": lambda options: LINK_FIRST_CANDIDATE},
    fingerprint=lambda options: snapshot_metadata(options.kb),
    requirements=("counts",),
    method_of="cmns",
    citation="Meij et al. 2012: Adding Semantics to Microblog Posts. WSDM.",
    training=SNAPSHOT_TRAINING,
)
