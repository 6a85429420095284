"""Responses from files, with predictions located in the texts of their documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np

from karat.formats.parsing.json.karat_objects import convert_object
from karat.formats.parsing.surfaces.search import (
    NOT_FOUND,
    REALIGNED,
    TOO_FREQUENT,
    Surface,
    is_same_surface,
    locate_surfaces,
)
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import get_defects, isolate_defects, map_valid
from karat.model.document import InventedMention, Prediction, Response, WrittenPrediction, WrittenResponse
from karat.model.errors import InputError, UsageError
from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.offsets.unit_maps import from_code_points, to_code_points
from karat.model.output.command_options import format_option
from karat.model.run import Run
from karat.model.span import Span

NO_DOCUMENT = "without a text, since the gold standard lacks the document (skipped)"

_REPORTED = (NOT_FOUND, TOO_FREQUENT, REALIGNED, NO_DOCUMENT)  # deviations from the file that every command reports
_LOCATION_FIELDS = frozenset({"start", "end", "text", "before", "after"})


class MissingGoldError(UsageError):
    """The error for predictions given by text that cannot be located without the gold standard."""


class ResponseEntry(NamedTuple):
    """A response as a file writes it, with its location."""

    response: WrittenResponse
    """The response."""
    location: str
    """File and line, for error messages."""
    counts: Mapping[str, int] = {}
    """Counts of repaired and skipped parts of the response, by description."""


class GoldTexts(msgspec.Struct, frozen=True, dict=True):
    """The texts of a gold standard by document id, loaded when the first text is needed."""

    gold: Callable[[], Corpus] | None
    """Loader of the gold standard, or None if there is none."""
    label: str
    """Name of the predictions, for error messages."""

    def get_text(self, id: str) -> str | None:
        """Return the text of a document, or None if the gold standard lacks the document.

        Raise `MissingGoldError` if there is no gold standard, and `UsageError` if it has no texts.
        """
        return self._texts.get(id)

    def find_text(self, id: str) -> str | None:
        """Return the text of a document, or None if there is none, even if no document has a text."""
        corpus = self._corpus
        has_texts = corpus is not None and corpus.has_text and not corpus.skipped.get(NO_TEXT_NOTE)
        return self.get_text(id) if has_texts else None

    @cached_property
    def _corpus(self) -> Corpus | None:
        """The gold standard, or None if there is none."""
        return None if self.gold is None else self.gold()

    @cached_property
    def _texts(self) -> dict[str, str]:
        """The text of each document, by id."""
        corpus = self._corpus
        if corpus is None:
            raise MissingGoldError(
                f"{self.label} gives predictions by their text, and the gold standard is needed to locate them. "
                "Pass it too (--gold FILE; in Python corpus=…), or add the text of each document to its predictions."
            )
        if corpus.skipped.get(NO_TEXT_NOTE) or not corpus.has_text:
            raise UsageError(
                f"{self.label} gives predictions by their text, but {corpus.name} has no texts. Pass a gold "
                "standard with texts, or predictions with spans."
            )
        return dict(zip(corpus.table.column("id").to_pylist(), corpus.table.column("text").to_pylist(), strict=True))


def build_run(
    responses: Iterable[ResponseEntry],
    texts: GoldTexts,
    *,
    name: str,
    metadata: dict[str, str] | None = None,
    skipped: SkipCounter | None = None,
) -> Run:
    """Build a run of responses whose predictions may give their text instead of a span.

    Texts come from the response or else from `texts`. Predictions that are not found are dropped and counted in
    `skipped`. The error policy decides whether an invalid response raises `InputError`, or is skipped and counted in
    `Defects`.
    """
    counts = SkipCounter() if skipped is None else skipped
    converted: list[Response] = []
    locations: list[str] = []
    texts_of_responses: list[str | None] = []
    ids: set[str] = set()
    for response, location, response_counts in responses:
        with isolate_defects(f"document {response.id!r}"):
            new_counts = SkipCounter(response_counts)
            converted.append(to_response(response, texts, location, new_counts))
            locations.append(location)
            texts_of_responses.append(response.text)
            if response.id not in ids or get_defects().policy.rename_duplicates:  # others are not scored
                counts.update(new_counts)
            ids.add(response.id)
    return Run.from_reader(
        converted,
        name=name,
        metadata=metadata,
        skipped=counts,
        locate_row=locations.__getitem__,
        texts=texts_of_responses,
    )


def build_run_from_objects(
    responses: Iterable[Mapping[str, Any]],
    gold: Callable[[], Corpus] | None,
    *,
    name: str,
    metadata: dict[str, str] | None = None,
) -> Run:
    """Build a run of dictionaries in the layout of Karat's predictions, which may give text instead of spans.

    `gold` loads the gold standard that has the texts; it is called only if needed. Invalid dictionaries are errors or
    skipped.
    """
    located = ((fields, f"response {number}") for number, fields in enumerate(responses, 1))
    converted = map_valid(located, lambda pair: convert_object(pair[0], WrittenResponse, pair[1]))
    entries = [ResponseEntry(response, location) for (_, location), response in converted]
    return build_run(entries, GoldTexts(gold, name), name=name, metadata=metadata)


def to_response(response: WrittenResponse, texts: GoldTexts, location: str, counts: Counter[str]) -> Response:
    """Return a response with a span for each prediction found in the text; the others are `invented`.

    The outcomes are counted in `counts`.
    """
    located = locate_predictions(response, texts, location, counts)
    searched = {"predictions", "invented"}
    fields = {name: getattr(response, name) for name in Response.__struct_fields__ if name not in searched}
    return Response(**fields, predictions=located.predictions, invented=(*response.invented, *located.invented))


def check_surfaces(
    response: Response,
    surfaces: Sequence[str | None],
    own_text: str | None,
    texts: GoldTexts,
    location: str,
    counts: Counter[str],
) -> Response:
    """Return a response whose predictions have these surfaces, unchanged if each surface is at its span.

    Texts come from the file (`own_text`) or else from `texts`; without a text, nothing is compared. The error policy
    decides whether a differing surface raises `InputError`, or the prediction is moved and counted in `counts`.
    """
    written_surfaces = [surface if surface and surface.strip() else None for surface in surfaces]
    if not any(written_surfaces):
        return response
    text = texts.find_text(response.id) if own_text is None else own_text
    pairs = list(zip(response.predictions, written_surfaces, strict=True))
    is_correct = all(surface in (None, (text or "")[item.start : item.end]) for item, surface in pairs)
    if text is None or (is_correct and get_defects().policy.offsets is OffsetKind.CODE_POINTS):
        return response
    predictions = tuple(
        WrittenPrediction(**{name: getattr(item, name) for name in Prediction.__struct_fields__}, text=surface)
        for item, surface in pairs
    )
    fields = {name: getattr(response, name) for name in Response.__struct_fields__ if name != "predictions"}
    return to_response(WrittenResponse(**fields, predictions=predictions, text=text), texts, location, counts)


class LocatedPredictions(NamedTuple):
    """The predictions of a response after the search for their texts."""

    predictions: tuple[Prediction, ...]
    """The predictions with their spans."""
    invented: tuple[InventedMention, ...]
    """The predictions that the text does not contain."""


def locate_predictions(
    response: WrittenResponse, texts: GoldTexts, location: str, counts: Counter[str]
) -> LocatedPredictions:
    """Return the predictions of a response with their spans, and those that have no place in the text.

    Predictions of a document whose text is unknown are skipped. Outcomes of the search are counted in `counts`, and
    those that every command reports in the defects of the file. Raise `InputError` for a prediction without span and
    text, or for a wrong span unless wrong spans are realigned.
    """
    outcomes = SkipCounter()
    spans = _locate_spans(response, texts, location, outcomes)
    counts.update(outcomes)
    get_defects().other_counts.update({name: outcomes[name] for name in _REPORTED})
    pairs = list(zip(response.predictions, spans, strict=True))
    unplaced = [] if outcomes[NO_DOCUMENT] else [prediction for prediction, span in pairs if span is None]
    return LocatedPredictions(
        tuple(_to_prediction(prediction, span) for prediction, span in pairs if span is not None),
        tuple(
            InventedMention(prediction.text or "", prediction.entity, prediction.types, prediction.score)
            for prediction in unplaced
        ),
    )


def _locate_spans(
    response: WrittenResponse, texts: GoldTexts, location: str, counts: Counter[str]
) -> list[Span | None]:
    """Return the span of each prediction, or None if it is not found in the text; count the outcomes in `counts`.

    Spans are returned in the kind of offsets that the policy names for the file, to be converted with all others. A
    stated span is used if its text fits. The error policy decides whether a wrong span is an error or searched again.
    """
    given_spans = [
        _parse_span(prediction, f"{location}: prediction {number}")
        for number, prediction in enumerate(response.predictions, 1)
    ]
    if all(prediction.text is None for prediction in response.predictions):
        return [*given_spans]
    text = response.text if response.text is not None else texts.get_text(response.id)
    if text is None:  # pairing corpus and run reports unknown documents
        counts[NO_DOCUMENT] += sum(prediction.text is not None for prediction in response.predictions)
        return [
            None if prediction.text is not None else span
            for prediction, span in zip(response.predictions, given_spans, strict=True)
        ]
    kind = get_defects().policy.offsets
    file_spans = given_spans
    given_spans = [None if span is None else _convert_span(text, kind, span) for span in given_spans]
    spans: list[Span | None] = []
    for number, (prediction, span, file_span) in enumerate(
        zip(response.predictions, given_spans, file_spans, strict=True), 1
    ):
        is_correct = span is not None and (
            prediction.text is None or is_same_surface(text[span.start : span.end], prediction.text)
        )
        if file_span is not None and not is_correct and not get_defects().policy.realign_spans:
            raise _span_mismatch_error(prediction, file_span, text, f"{location}: prediction {number}")
        spans.append(span if is_correct else None)
    missing = [index for index, span in enumerate(spans) if span is None]
    surfaces = [_to_surface(response.predictions[index], given_spans[index]) for index in missing]
    correct_spans = [span for span in spans if span is not None]
    for index, span in zip(missing, locate_surfaces(text, surfaces, counts, correct_spans), strict=True):
        spans[index] = span
    return [
        file_span if index not in missing else None if span is None else Span(*from_code_points(text, kind, *span))
        for index, (span, file_span) in enumerate(zip(spans, file_spans, strict=True))
    ]


def _convert_span(text: str, kind: OffsetKind, span: Span) -> Span:
    """Convert a span of `kind` to code points."""
    if kind is OffsetKind.CODE_POINTS:
        return span
    start, end = to_code_points(text, kind, np.array([span.start]), np.array([span.end]))
    return Span(max(0, int(start[0])), max(0, int(end[0])))


def _parse_span(prediction: WrittenPrediction, location: str) -> Span | None:
    """Return the span that a prediction states, or None if it gives only a text; raise `InputError` if it has neither.

    With start and text only, the span is as long as the text.
    """
    if prediction.text is not None and not prediction.text.strip():
        raise InputError(
            location,
            actual=f"the text {prediction.text!r}",
            expected="the text of the mention",
            remedy="Remove the prediction",
        )
    if prediction.start is not None and prediction.end is not None:
        return Span(prediction.start, prediction.end)
    if prediction.text is None:
        raise InputError(
            location,
            actual=f"neither text nor {'start' if prediction.start is None else 'end'}",
            expected="`start` and `end`, or `text`",
            remedy="Add the span or the text of the prediction",
        )
    return None if prediction.start is None else Span(prediction.start, prediction.start + len(prediction.text))


def _to_surface(prediction: WrittenPrediction, wrong_span: Span | None) -> Surface:
    """Return the text and context of a prediction to search for, with the start of its wrong span, if any, as hint."""
    return Surface(
        prediction.text or "",
        prediction.before or "",
        prediction.after or "",
        None if wrong_span is None else wrong_span.start,
    )


def _span_mismatch_error(prediction: WrittenPrediction, span: Span, text: str, location: str) -> InputError:
    """Build the error for a prediction whose text differs from the document at its span, as its file writes it."""
    kinds = [
        kind
        for kind in OffsetKind
        if is_same_surface(text[slice(*_convert_span(text, kind, span))], prediction.text or "")
    ]
    at_span = text[slice(*_convert_span(text, get_defects().policy.offsets, span))]
    advice = f"; this span fits as {kinds[0].description}: {format_option('offsets', kinds[0])}" if kinds else ""
    return InputError(
        location,
        actual=f"the text {prediction.text!r} at [{span.start}, {span.end}), where the document has {at_span[:40]!r}",
        expected="spans that cover their text",
        remedy=f"Correct or remove the spans, or realign them with {format_option('span_mismatch', 'realign')}{advice}",
    )


def _to_prediction(prediction: WrittenPrediction, span: Span) -> Prediction:
    """Convert a written prediction to a prediction with this span, without text and context."""
    fields = {
        name: getattr(prediction, name) for name in WrittenPrediction.__struct_fields__ if name not in _LOCATION_FIELDS
    }
    return Prediction(*span, **fields)
