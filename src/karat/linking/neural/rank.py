"""Trained linkers as a stage: each mention is linked to the best of its candidates, or of all entities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import torch
from msgspec.structs import replace

from karat.linking.neural.decide import decide
from karat.linking.neural.folder import TrainedLinker
from karat.linking.neural.tokens import MarkedText
from karat.linking.stages import batches
from karat.model.document import Answer, Candidate, Document, Reply
from karat.spec.system import Refine

_DOCUMENTS: Final = 32
_SHOWN: Final = 10


@cache
def read_linker(folder: str) -> TrainedLinker:
    """The linker of a folder, on the fastest device; what was read once is kept."""
    return TrainedLinker.read(Path(folder), "cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True, eq=False)
class ModelRanking:
    """A linker; with `in_order` it decides the surest mention of a window first, where it can use that."""

    linker: TrainedLinker
    in_order: bool = False

    def rank(self, pairs: Iterable[tuple[Document, Reply]]) -> Iterator[Reply]:
        """The stage: some documents at a time."""
        for batch in batches(pairs, _DOCUMENTS):
            yield from self._ranked(batch)

    def _ranked(self, batch: list[tuple[Document, Reply]]) -> list[Reply]:
        linker = self.linker
        texts = [MarkedText(document.text, *self._asked(reply)) for document, reply in batch]
        snippets = linker.pieces.snippets(texts, linker.plan["tokens"])
        found = decide(linker.model, snippets, listed=True, most=_SHOWN, in_order=self.in_order)
        links: dict[tuple[int, int, int], tuple[Candidate, ...]] = {}
        for place in range(snippets.mentions):
            where = (int(snippets.document[place]), int(snippets.start[place]), int(snippets.end[place]))
            rows = zip(found.codes[place].tolist(), found.shares[place].tolist(), strict=True)
            links[where] = tuple(Candidate(linker.entities[code], round(share, 6)) for code, share in rows if code >= 0)
        return [
            replace(reply, answers=tuple(_linked(a, links.get((number, a.start, a.end), ())) for a in reply.answers))
            for number, (_, reply) in enumerate(batch)
        ]

    def _asked(self, reply: Reply) -> tuple[list[tuple[int, int]], list[int], list[list[int]]]:
        """The spans, no gold, and of the candidates those that the linker knows."""
        codes = self.linker.codes
        listed = [[codes[each.entity] for each in a.candidates if each.entity in codes] for a in reply.answers]
        return [(answer.start, answer.end) for answer in reply.answers], [], listed


def _linked(answer: Answer, candidates: tuple[Candidate, ...]) -> Answer:
    if not candidates:
        return Answer(answer.start, answer.end)
    return Answer(answer.start, answer.end, candidates[0].entity, score=candidates[0].score, candidates=candidates)


def model_stage(folder: str, *, in_order: bool = False) -> Refine:
    """The stage that a trained linker is."""
    return ModelRanking(read_linker(folder), in_order).rank
