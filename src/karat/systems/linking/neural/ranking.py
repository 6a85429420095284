"""Trained models as a ranking stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import torch
from msgspec.structs import replace

from karat.model.document import Candidate, Document, Prediction, Response
from karat.model.spec.system import Refine
from karat.systems.linking.neural.entity_texts import find_descriptions, find_names
from karat.systems.linking.neural.inference import predict_entities
from karat.systems.linking.neural.tokens import MarkedText
from karat.systems.linking.neural.trained_linker import TrainedLinker
from karat.systems.linking.stages import split_batches

_BATCH_SIZE: Final = 32
_TOP_K: Final = 10


@cache
def load_linker(folder: str) -> TrainedLinker:
    """Load the model of a folder, on a GPU if there is one; the result is cached."""
    return TrainedLinker.load(Path(folder), "cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True, eq=False)
class ModelRanker:
    """A ranker that uses a trained model.

    `linker`: the model.
    `options`: further keyword arguments of `predict_entities`.
    `kb`: snapshots with names and descriptions of candidates that the model was not trained with; may be empty.
    """

    linker: TrainedLinker
    options: Mapping[str, Any] = field(default_factory=dict)
    kb: str = ""

    def rank(self, pairs: Iterable[tuple[Document, Response]]) -> Iterator[Response]:
        """Yield the responses with each mention linked to its most probable entity and the 10 best as candidates."""
        for batch in split_batches(pairs, _BATCH_SIZE):
            yield from self._rank_batch(batch)

    def _rank_batch(self, batch: list[tuple[Document, Response]]) -> list[Response]:
        """Return the linked responses of some documents; mentions in texts without tokens become unlinked."""
        linker = self.linker
        self._add_candidates(response for _, response in batch)
        has_title = linker.options.get("title_context", False)
        texts = [
            MarkedText(document.text, *self._to_inputs(response), title=get_title(document) if has_title else "")
            for document, response in batch
        ]
        snippets = linker.tokenise(texts)
        predicted = predict_entities(linker.model, snippets, use_candidates=True, top_k=_TOP_K, **self.options)
        links: dict[tuple[int, int, int], tuple[Candidate, ...]] = {}
        for index in range(snippets.n_mentions):
            key = (int(snippets.document[index]), int(snippets.start[index]), int(snippets.end[index]))
            rows = zip(predicted.codes[index].tolist(), predicted.probabilities[index].tolist(), strict=True)
            links[key] = tuple(
                Candidate(linker.entities[code], round(probability, 6)) for code, probability in rows if code >= 0
            )
        return [
            replace(
                response,
                predictions=tuple(
                    _link_prediction(prediction, links.get((number, prediction.start, prediction.end), ()))
                    for prediction in response.predictions
                ),
            )
            for number, (_, response) in enumerate(batch)
        ]

    def _add_candidates(self, responses: Iterable[Response]) -> None:
        """Add the candidates that the model was not trained with to it, if it reads names."""
        linker = self.linker
        if not linker.model.reads_names:
            return
        entities = (
            candidate.entity
            for response in responses
            for prediction in response.predictions
            for candidate in prediction.candidates
        )
        new = [entity for entity in dict.fromkeys(entities) if entity not in linker.codes]
        linker.add_entities(new, find_names(new, self.kb), find_descriptions(new, self.kb))

    def _to_inputs(self, response: Response) -> tuple[list[tuple[int, int]], list[int], list[list[int]]]:
        """Return the fields of `MarkedText` after the text: spans, no gold entities, and codes of known candidates."""
        codes = self.linker.codes
        candidates = [
            [codes[candidate.entity] for candidate in prediction_.candidates if candidate.entity in codes]
            for prediction_ in response.predictions
        ]
        return [(prediction.start, prediction.end) for prediction in response.predictions], [], candidates


def _link_prediction(prediction: Prediction, candidates: tuple[Candidate, ...]) -> Prediction:
    """Return a mention linked to the first of `candidates`, or unlinked if there are none."""
    if not candidates:
        return Prediction(prediction.start, prediction.end)
    return Prediction(
        prediction.start, prediction.end, candidates[0].entity, score=candidates[0].score, candidates=candidates
    )


def get_title(document: Document) -> str:
    """Return the title of a document: its metadata `title`, or its id with spaces for underscores."""
    return document.meta.get("title") or document.id.replace("_", " ")


def make_model_stage(folder: str, options: Mapping[str, Any], kb: str) -> Refine:
    """Load the model in `folder` and return its ranking stage; see `ModelRanker` for the arguments."""
    return ModelRanker(load_linker(folder), options, kb).rank
