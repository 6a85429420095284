"""Ranking of candidates by the similarity of their names and descriptions to the context of a mention."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from msgspec.structs import replace

from karat.model.document import Candidate, Document, Prediction, Response
from karat.systems.linking.lexicon import Lexicon
from karat.systems.linking.minilm import Encoder, Vectors, load_encoder
from karat.systems.linking.stages import split_batches

_BATCH_SIZE = 32
_MAX_CACHED = 200_000


@dataclass(frozen=True, eq=False)
class EntityVectors:
    """Embeddings of entities by name and description, computed on first use.

    `lexicon`: the lexicon with the entities.
    `encoder`: the text encoder.
    """

    lexicon: Lexicon
    encoder: Encoder
    _cache: dict[str, Vectors] = field(default_factory=dict, repr=False)

    def encode(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the cached unit vectors by entity id, after adding those of `ids`; it may have further entities."""
        if len(self._cache) > _MAX_CACHED:
            self._cache.clear()
        missing_ids = [id for id in dict.fromkeys(ids) if id not in self._cache]
        if missing_ids:
            self._cache.update(zip(missing_ids, self.encoder.encode(self._entity_texts(missing_ids)), strict=True))
        return self._cache

    def _entity_texts(self, ids: Sequence[str]) -> list[str]:
        """Return the name and description of each entity, joined by a comma; empty if both are unknown.

        The first snapshot has precedence.
        """
        texts = [""] * len(ids)
        for snapshot in reversed(self.lexicon.snapshots):
            for i, parts in enumerate(zip(snapshot.names(ids), snapshot.descriptions(ids), strict=True)):
                texts[i] = ", ".join(filter(None, parts)) or texts[i]
        return texts


@cache
def build_entity_vectors(lexicon: Lexicon) -> EntityVectors:
    """Return the vectors of the entities of a lexicon, none of them computed yet; the result is cached."""
    return EntityVectors(lexicon, load_encoder())


@dataclass(frozen=True, eq=False)
class EmbeddingRanker:
    """A ranker of candidates by the similarity of their embeddings to that of the mention's context.

    `entities`: vectors of the entities.
    `similarity_weight`: weight of the similarity, from 0 to 1; the rest is the weight of the prior.
    `context_size`: number of characters before and after a mention that are encoded with it.
    """

    entities: EntityVectors
    similarity_weight: float
    context_size: int

    def rank(self, pairs: Iterable[tuple[Document, Response]]) -> Iterator[Response]:
        """Yield the responses with ranked candidates and each mention linked to the first; others stay unchanged.

        Texts are encoded in batches of documents.
        """
        for batch in split_batches(pairs, _BATCH_SIZE):
            mentions = [
                (document, prediction)
                for document, response in batch
                for prediction in response.predictions
                if prediction.candidates
            ]
            text_vectors = self.entities.encoder.encode(
                [self._context_text(document.text, prediction) for document, prediction in mentions]
            )
            entity_vectors = self.entities.encode(
                [candidate.entity for _, prediction in mentions for candidate in prediction.candidates]
            )
            vectors = iter(text_vectors)
            for _, response in batch:
                predictions = [
                    self._rank_candidates(prediction, next(vectors), entity_vectors)
                    if prediction.candidates
                    else prediction
                    for prediction in response.predictions
                ]
                yield replace(response, predictions=tuple(predictions))

    def _context_text(self, text: str, prediction: Prediction) -> str:
        """Return the surface of a mention and the text around it, as they are encoded."""
        low, high = max(0, prediction.start - self.context_size), prediction.end + self.context_size
        return f"{text[prediction.start : prediction.end]}: {text[low:high]}"

    def _rank_candidates(
        self, prediction: Prediction, vector: Vectors, entity_vectors: Mapping[str, Vectors]
    ) -> Prediction:
        """Return a mention linked to its best candidate; `vector` is the embedding of the mention's context."""
        similarity = np.array([entity_vectors[candidate.entity] for candidate in prediction.candidates]) @ vector
        prior = np.array([candidate.score or 0.0 for candidate in prediction.candidates])
        total = self.similarity_weight * similarity + (1 - self.similarity_weight) * prior
        ranked = [
            Candidate(prediction.candidates[i].entity, round(float(total[i]), 6))
            for i in np.argsort(-total, kind="stable").tolist()
        ]
        return Prediction(
            prediction.start, prediction.end, ranked[0].entity, score=ranked[0].score, candidates=tuple(ranked)
        )
