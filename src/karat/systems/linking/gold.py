"""Stages that use the gold standard, for upper bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from karat.model.document import Candidate, Document, EntityId, Prediction, Response
from karat.model.spec.settings.conventions import NilIds
from karat.model.spec.system import Refine
from karat.systems.linking.stages import make_document_stage, split_batches

Canonicaliser: TypeAlias = Callable[[Sequence[str]], list[str]]
"""A function from ids to canonical ids, by which gold ids and candidates are compared; `list` leaves ids unchanged."""

_BATCH_SIZE = 64


class GoldLinks:
    """The gold entities of some documents, by document and span, with canonical ids; parts of mentions are excluded."""

    def __init__(self, documents: Iterable[Document], canonicalise: Canonicaliser) -> None:
        labels = [(document.id, label) for document in documents for label in document.labels if label.parent is None]
        ids = list(dict.fromkeys(label.entity for _, label in labels if isinstance(label.entity, str)))
        canonical_ids = dict(zip(ids, canonicalise(ids), strict=True))
        self._links: dict[tuple[str, int, int], list[EntityId]] = {}
        for document, label in labels:
            entity = canonical_ids[label.entity] if isinstance(label.entity, str) else label.entity
            entity = None if NilIds.NOT_IN_WIKI.is_nil(label.entity) else entity
            self._links.setdefault((document, label.start, label.end), []).append(entity)

    def find_links_at(self, document: Document, start: int, end: int) -> list[EntityId]:
        """Return the gold entities at exactly a span; empty if no gold mention has this span.

        None is NIL, `UNLINKED` a mention without link.
        """
        return self._links.get((document.id, start, end), [])


def _make_gold_stage(
    change: Callable[[Prediction, list[EntityId]], Prediction | None], canonicalise: Canonicaliser
) -> Refine:
    """Return a stage that replaces each prediction by the result of `change`; None drops the prediction.

    `change` receives a prediction and the gold entities at its span.
    """

    def refine(pairs: Iterable[tuple[Document, Response]]) -> Iterator[Response]:
        for batch in split_batches(pairs, _BATCH_SIZE):
            gold = GoldLinks((document for document, _ in batch), canonicalise)
            for document, response in batch:
                predictions = (
                    change(prediction, gold.find_links_at(document, prediction.start, prediction.end))
                    for prediction in response.predictions
                )
                yield replace(
                    response, predictions=tuple(prediction for prediction in predictions if prediction is not None)
                )

    return refine


def _link_gold(document: Document, response: Response) -> Response:
    """Return the response with each prediction linked as the first label on its span; others are dropped."""
    labels_by_span = {(label.start, label.end): label for label in reversed(document.labels) if label.parent is None}
    predictions = [
        replace(prediction, entity=label.entity, same_as=label.same_as, score=1.0)
        for prediction in response.predictions
        if (label := labels_by_span.get((prediction.start, prediction.end))) is not None
    ]
    return replace(response, predictions=tuple(predictions))


LINK_GOLD: Refine = make_document_stage(_link_gold)
"""The stage that links each mention to its gold entity, with the gold ids, and drops other mentions."""


def make_gold_candidate_stage(canonicalise: Canonicaliser) -> Refine:
    """Return the stage that appends gold entities that are no candidates to the candidates of their mentions."""
    return _make_gold_stage(_add_gold_candidates, canonicalise)


def make_gold_ranking_stage(canonicalise: Canonicaliser) -> Refine:
    """Return the stage that links mentions to their gold entity if it is a candidate, or to NIL if NIL is gold.

    Other gold mentions stay unlinked, and mentions that are not in the gold standard are dropped.
    """
    return _make_gold_stage(_choose_gold, canonicalise)


def make_gold_nil_stage(canonicalise: Canonicaliser) -> Refine:
    """Return the stage that sets NIL as in the gold standard and keeps all other links."""
    return _make_gold_stage(
        lambda prediction, entities: replace(prediction, entity=None) if None in entities else prediction, canonicalise
    )


def _add_gold_candidates(prediction: Prediction, gold_entities: list[EntityId]) -> Prediction:
    """Return the prediction with missing gold entities as its last candidates."""
    candidate_ids = {candidate.entity for candidate in prediction.candidates}
    missing = dict.fromkeys(
        entity for entity in gold_entities if isinstance(entity, str) and entity not in candidate_ids
    )
    return replace(prediction, candidates=(*prediction.candidates, *map(Candidate, missing)))


def _choose_gold(prediction: Prediction, gold_entities: list[EntityId]) -> Prediction | None:
    """Return the prediction linked to the first gold entity that is NIL or a candidate, else unlinked.

    None if there are no gold entities.
    """
    if not gold_entities:
        return None
    candidate_ids = {candidate.entity for candidate in prediction.candidates}
    entity = next(
        (gold_entity for gold_entity in gold_entities if gold_entity is None or gold_entity in candidate_ids), ""
    )
    if entity == "":
        return Prediction(prediction.start, prediction.end, candidates=prediction.candidates)
    return replace(prediction, entity=entity, score=1.0)


def make_ranking_correction_stage(canonicalise: Canonicaliser) -> Refine:
    """Return the stage that links mentions to the gold entity if it is a candidate, and keeps all other links."""
    return _make_gold_stage(_correct_ranking, canonicalise)


def _correct_ranking(prediction: Prediction, gold_entities: list[EntityId]) -> Prediction:
    """Return the prediction linked to the first gold entity that is a candidate, or unchanged if none is."""
    candidate_ids = {candidate.entity for candidate in prediction.candidates}
    entity = next(
        (gold_entity for gold_entity in gold_entities if isinstance(gold_entity, str) and gold_entity in candidate_ids),
        None,
    )
    return prediction if entity is None else replace(prediction, entity=entity)
