"""Predictions as the gold labels of an annotator."""

from __future__ import annotations

from collections import Counter

from karat.model.corpus import Corpus
from karat.model.document import Document, Label, Response
from karat.model.run import Run

_LEFT_OUT = "documents without predictions, or that failed (left out)"
_NOT_KEPT = "scores and candidates of predictions (not kept in labels)"
CONVERSION_NOTES = frozenset({_LEFT_OUT, _NOT_KEPT})
"""Counts that the conversion adds to those of the run."""

_FIELDS = ("entity", "same_as", "types", "categories", "nil_cluster")  # that labels and predictions share


def convert_to_labels(run: Run, corpus: Corpus) -> Corpus:
    """Return the documents of `corpus` with the predictions of `run` as labels, under the name of the run.

    Documents that the run lacks or failed on are left out and counted, as are the scores and candidates of predictions.
    """
    counts: Counter[str] = Counter(run.skipped)
    responses = {response.id: response for response in run}
    documents = []
    for document in corpus:
        response = responses.get(document.id)
        if response is None or response.error is not None:
            counts[_LEFT_OUT] += 1
            continue
        counts[_NOT_KEPT] += sum(
            prediction.score is not None or bool(prediction.candidates) for prediction in response.predictions
        )
        documents.append(_convert_response(document, response))
    return Corpus.from_reader(documents, name=run.name, metadata=corpus.metadata, skipped=Counter(+counts))


def _convert_response(document: Document, response: Response) -> Document:
    """Return the document with the predictions of a response as labels, each distinct one once."""
    labels = dict.fromkeys(
        Label(prediction.start, prediction.end, **{name: getattr(prediction, name) for name in _FIELDS})
        for prediction in response.predictions
    )
    return Document(
        document.id,
        document.text,
        tuple(labels),
        evaluation_span=document.evaluation_span,
        tags=response.tags,
        relations=response.relations,
        meta=document.meta,
    )
