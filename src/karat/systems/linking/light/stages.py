"""The stages of `light`: detection and ranking with learned weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np
from msgspec.structs import replace

from karat.model.document import Candidate, Document, Prediction, Response
from karat.model.tables.columns import Floats
from karat.systems.linking.lexicon import Lexicon
from karat.systems.linking.light.candidate_features import FEATURES, FeatureExtractor
from karat.systems.linking.light.detector import DETECTION_FEATURES, SpanExtractor, select_spans
from karat.systems.linking.light.entity_tables import build_entity_tables
from karat.systems.linking.light.model import (
    BIAS,
    CONFIDENCE_FEATURES,
    LightWeights,
    describe_links,
    load_weights,
    predict_probability,
    softmax_by_owner,
    to_vector,
)


@dataclass(frozen=True, eq=False)
class LightLinker:
    """Detection and ranking for one lexicon with some weights."""

    extractor: FeatureExtractor = field(repr=False)
    span_extractor: SpanExtractor = field(repr=False)
    weights: LightWeights = field(repr=False)
    ranking: Floats = field(repr=False)
    confidence: Floats = field(repr=False)
    detection: Floats = field(repr=False)

    def detect(self, document: Document, response: Response, threshold: float) -> Response:
        """Return the response with an unlinked prediction for each detected mention.

        `threshold`: minimum probability of a mention.
        """
        proposals = self.span_extractor.propose_spans(document.text)
        features = self.span_extractor.describe_spans(document.text, proposals)
        probability = predict_probability(features, self.detection, self.weights.detection[BIAS])
        spans = select_spans(proposals, probability, threshold)
        return replace(response, predictions=tuple(Prediction(start, end) for start, end in spans))

    def rank(self, document: Document, response: Response, min_confidence: float) -> Response:
        """Return the response with each mention linked to its likeliest candidate.

        Scores of candidates are probabilities among the candidates; the score of a link is the probability that it is
        correct. Links below `min_confidence` are dropped. Mentions without candidates stay unchanged.
        """
        mentions = [prediction for prediction in response.predictions if prediction.candidates]
        if not mentions:
            return response
        features = self.extractor.extract(document.text, mentions)
        probability = softmax_by_owner(features.candidates @ self.ranking, features.owner, len(mentions))
        order = np.lexsort((np.arange(len(probability)), -probability, features.owner))
        starts = np.searchsorted(features.owner, np.arange(len(mentions)))
        links = describe_links(probability, order, starts, features.candidates, features.mentions)
        confidence = predict_probability(links, self.confidence, self.weights.confidence[BIAS])
        rounded, indices = np.round(probability, 6).tolist(), (order - starts[features.owner]).tolist()
        bounds = [*starts.tolist(), len(order)]
        linked = []
        for number, prediction in enumerate(mentions):
            score = round(float(confidence[number]), 6)
            if score < min_confidence:
                continue
            low = bounds[number]
            ranked = tuple(
                Candidate(prediction.candidates[index].entity, rounded[low + index])
                for index in indices[low : bounds[number + 1]]
            )
            linked.append(
                Prediction(prediction.start, prediction.end, ranked[0].entity, score=score, candidates=ranked)
            )
        others = [prediction for prediction in response.predictions if not prediction.candidates]
        return replace(response, predictions=tuple(sorted([*linked, *others], key=lambda prediction: prediction.start)))


@cache
def build_linker(lexicon: Lexicon) -> LightLinker:
    """Build the linker with the committed weights for a lexicon; cached."""
    return create_linker(lexicon, load_weights())


def create_linker(lexicon: Lexicon, weights: LightWeights) -> LightLinker:
    """Create a linker with some weights for a lexicon."""
    return LightLinker(
        FeatureExtractor(lexicon, build_entity_tables(lexicon)),
        SpanExtractor(lexicon),
        weights,
        to_vector(weights.ranking, FEATURES),
        to_vector(weights.confidence, CONFIDENCE_FEATURES),
        to_vector(weights.detection, DETECTION_FEATURES),
    )
