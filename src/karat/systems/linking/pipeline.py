"""Pipelines of stages from different systems."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import tee
from typing import Final

from msgspec.structs import replace

from karat.model.document import Candidate, Document, Label, Prediction, Response
from karat.model.errors import UsageError
from karat.model.spec.system import STAGES, Link, Refine, Stage, hide_gold
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages
from karat.systems.linking.system import ConfiguredSystem, get_system

_SEPARATOR: Final = re.compile(r"\+(?![^\[]*\])")


def parse_parts(text: str, options: Mapping[str, str]) -> dict[Stage, ConfiguredSystem]:
    """Return the systems that `text`, written `DETECTOR+CANDIDATES+RANKER`, names, by stage.

    `options` are defaults for each system that has them. Another number of names raises `UsageError`.
    """
    names = _SEPARATOR.split(text)
    if len(names) != len(STAGES) or not all(names):
        raise UsageError(f"pipeline:{text}: write pipeline:DETECTOR+CANDIDATES+RANKER, such as tagme+prior+graph.")
    return dict(zip(STAGES, (get_system(name, options) for name in names), strict=True))


def build_pipeline(parts: Mapping[Stage, ConfiguredSystem], *, gold_mentions: bool) -> Link:
    """Return the function that links documents with the stages of these systems; `parts` are systems by stage.

    With `gold_mentions`, the detector is replaced by the given mentions. Gold links are hidden from systems that do
    not need them.
    """
    stages = (
        get_stage(part, stage, gold_mentions=gold_mentions)
        for stage, part in parts.items()
        if not (gold_mentions and stage == "detect")
    )
    return chain_stages(*([USE_GIVEN_MENTIONS] if gold_mentions else []), *stages)


def get_stage(part: ConfiguredSystem, stage: Stage, *, gold_mentions: bool) -> Refine:
    """Return one stage of a system: the stage that the system offers, or a stage that runs the whole system.

    Any system can detect, and systems that accept gold mentions can propose candidates; otherwise raise `UsageError`.
    With `gold_mentions`, the labels that the stage sees are the spans to link, else there are none.
    """
    system = part.system
    if stage in system.stages:
        refine = system.stages[stage](part.options)
        return refine if system.needs_gold else _hide_gold_from(refine, gold_mentions)
    if stage == "detect":
        return _make_system_stage(
            part.start(gold_mentions=False),
            lambda document, response: hide_gold(document, gold_mentions=False),
            _keep_spans,
        )
    if stage == "candidates" and system.gold_mentions != "never":
        return _make_system_stage(part.start(gold_mentions=True), _mark_spans, _add_candidates)
    stages = ", ".join(system.stages) or "none"
    raise UsageError(f"{part.name} has no stage {stage} (stages: {stages}). Choose another system.")


def _hide_gold_from(refine: Refine, gold_mentions: bool) -> Refine:
    """Return a stage that passes documents without gold links to `refine`; with `gold_mentions`, spans remain."""
    return lambda pairs: refine(
        (hide_gold(document, gold_mentions=gold_mentions), response) for document, response in pairs
    )


def _make_system_stage(
    link: Link, prepare: Callable[[Document, Response], Document], merge: Callable[[Response, Response], Response]
) -> Refine:
    """Return a stage that runs a whole system with `link` on each document.

    `prepare`: returns the document for the system, from the document and the response so far.
    `merge`: returns the new response, from the response so far and that of the system; an error is passed on.
    """

    def refine(pairs: Iterable[tuple[Document, Response]]) -> Iterator[Response]:
        inputs, outputs = tee(pairs)
        responses = link(prepare(document, response) for document, response in inputs)
        for (_, before), response in zip(outputs, responses, strict=True):
            yield replace(before, error=response.error) if response.error else merge(before, response)

    return refine


def _mark_spans(document: Document, response: Response) -> Document:
    """Return the document with the distinct spans that `response` predicts as its labels: the mentions to link."""
    spans = sorted({(prediction.start, prediction.end) for prediction in response.predictions})
    return Document(document.id, document.text, tuple(Label(start, end) for start, end in spans))


def _keep_spans(before: Response, response: Response) -> Response:
    """Return the response `before` with the spans of `response` as its predictions, without links or candidates."""
    return replace(
        before, predictions=tuple(Prediction(prediction.start, prediction.end) for prediction in response.predictions)
    )


def _add_candidates(before: Response, response: Response) -> Response:
    """Return the response `before` with the candidates that `response` has on the same spans.

    Predictions of `before` whose span `response` does not have stay unchanged.
    """
    by_span = {(prediction.start, prediction.end): prediction for prediction in response.predictions}
    predictions = [
        replace(prediction, candidates=_get_candidates(by_span[prediction.start, prediction.end]))
        if (prediction.start, prediction.end) in by_span
        else prediction
        for prediction in before.predictions
    ]
    return replace(before, predictions=tuple(predictions))


def _get_candidates(prediction: Prediction) -> tuple[Candidate, ...]:
    """Return the candidates of a prediction, or else its link as the only candidate; empty without link."""
    if prediction.candidates or not isinstance(prediction.entity, str):
        return prediction.candidates
    return (Candidate(prediction.entity, prediction.score),)
