"""Systems as chains of stages: detection, candidates, ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, tee
from typing import Any

from msgspec.structs import replace

from karat.model.document import Document, Prediction, Response
from karat.model.spec.system import Link, Refine, hide_gold
from karat.systems.linking.lexicon import Lexicon
from karat.systems.telemetry import count_event


def chain_stages(*stages: Refine) -> Link:
    """Return the function that links documents by applying stages in order, starting with empty responses."""

    def link_documents(documents: Iterable[Document]) -> Iterator[Response]:
        query_documents, stage_documents = tee(documents)
        responses: Iterator[Response] = (Response(document.id) for document in query_documents)
        for stage in stages:
            stage_documents, stage_input = tee(stage_documents)
            responses = stage(zip(stage_input, responses, strict=True))
        return responses

    return link_documents


def make_document_stage(refine: Callable[[Document, Response], Response]) -> Refine:
    """Return a stage that replaces each response by the result of `refine` for its document and response."""
    return lambda pairs: (refine(document, response) for document, response in pairs)


def mark_given_spans(document: Document, response: Response) -> Response:
    """Return the response with the labels of the document, given or gold, as unlinked predictions, without parts."""
    spans = hide_gold(document, gold_mentions=True).labels
    return replace(response, predictions=tuple(Prediction(label.start, label.end) for label in spans))


USE_GIVEN_MENTIONS: Refine = make_document_stage(mark_given_spans)
"""The stage that uses the given mentions instead of detecting mentions."""


def make_candidate_stage(lexicon: Lexicon, max_candidates: int) -> Refine:
    """Return the stage that gives each mention the candidates of its surface in `lexicon`, and no link."""

    def propose(document: Document, response: Response) -> Response:
        text = document.text
        predictions = [
            Prediction(
                prediction.start,
                prediction.end,
                candidates=lexicon.find_candidates(text[prediction.start : prediction.end], max_candidates),
            )
            for prediction in response.predictions
        ]
        return replace(response, predictions=tuple(predictions))

    return make_document_stage(propose)


def link_first_candidates(document: Document, response: Response) -> Response:
    """Return the response with each mention linked to its first candidate; mentions without stay unchanged.

    Count links whose next candidate has the same score: nothing but the order of their ids decides.
    """
    count_event(
        "links to the first of several equally likely candidates",
        sum(
            len(prediction.candidates) > 1 and prediction.candidates[0].score == prediction.candidates[1].score
            for prediction in response.predictions
        ),
    )
    predictions = [
        Prediction(
            prediction.start,
            prediction.end,
            prediction.candidates[0].entity,
            score=prediction.candidates[0].score,
            candidates=prediction.candidates,
        )
        if prediction.candidates
        else prediction
        for prediction in response.predictions
    ]
    return replace(response, predictions=tuple(predictions))


LINK_FIRST_CANDIDATE: Refine = make_document_stage(link_first_candidates)
"""The stage that links each mention to its first candidate."""


def split_batches(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield the items of an iterable in lists of `size`; the last list may be shorter."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
