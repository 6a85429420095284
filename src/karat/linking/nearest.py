"""Candidates ranked by how near their names and descriptions are to the words around a mention."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from msgspec.structs import replace

from karat.linking.lexicon import Lexicon
from karat.linking.minilm import Encoder, Vectors, encoder
from karat.linking.stages import batches
from karat.model.document import Answer, Candidate, Document, Reply

_DOCUMENTS = 32
_KEPT = 200_000


@dataclass(frozen=True, eq=False)
class EntityVectors:
    """Entities as vectors, by what packs say of them; each is encoded when it is first met."""

    known: Lexicon
    encoder: Encoder
    _made: dict[str, Vectors] = field(default_factory=dict, repr=False)

    def of(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """The vectors of some entities, by id."""
        if len(self._made) > _KEPT:
            self._made.clear()
        new = [id for id in dict.fromkeys(ids) if id not in self._made]
        if new:
            self._made.update(zip(new, self.encoder.encode(self._said(new)), strict=True))
        return self._made

    def _said(self, ids: Sequence[str]) -> list[str]:
        """What the packs say of entities: name and description."""
        said = [""] * len(ids)
        for pack in reversed(self.known.packs):
            for place, words in enumerate(zip(pack.names(ids), pack.descriptions(ids), strict=True)):
                said[place] = ", ".join(filter(None, words)) or said[place]
        return said


@cache
def entity_vectors(known: Lexicon) -> EntityVectors:
    """The vectors of the entities of a lexicon; what was encoded once is kept."""
    return EntityVectors(known, encoder())


@dataclass(frozen=True, eq=False)
class Nearest:
    """A ranking: how much nearness says beside the share, and how many letters around a mention are read."""

    entities: EntityVectors
    nearness: float
    around: int

    def rank(self, pairs: Iterable[tuple[Document, Reply]]) -> Iterator[Reply]:
        """The stage: some documents at a time, so that their texts are encoded together."""
        for batch in batches(pairs, _DOCUMENTS):
            asked = [(document, answer) for document, reply in batch for answer in reply.answers if answer.candidates]
            texts = self.entities.encoder.encode([self._around(document.text, answer) for document, answer in asked])
            known = self.entities.of([candidate.entity for _, answer in asked for candidate in answer.candidates])
            vectors = iter(texts)
            for _, reply in batch:
                answers = [self._ranked(a, next(vectors), known) if a.candidates else a for a in reply.answers]
                yield replace(reply, answers=tuple(answers))

    def _around(self, text: str, answer: Answer) -> str:
        low, high = max(0, answer.start - self.around), answer.end + self.around
        return f"{text[answer.start : answer.end]}: {text[low:high]}"

    def _ranked(self, answer: Answer, vector: Vectors, known: Mapping[str, Vectors]) -> Answer:
        near = np.array([known[candidate.entity] for candidate in answer.candidates]) @ vector
        share = np.array([candidate.score or 0.0 for candidate in answer.candidates])
        total = self.nearness * near + (1 - self.nearness) * share
        ranked = [
            Candidate(answer.candidates[place].entity, round(float(total[place]), 6))
            for place in np.argsort(-total, kind="stable").tolist()
        ]
        return Answer(answer.start, answer.end, ranked[0].entity, score=ranked[0].score, candidates=tuple(ranked))
