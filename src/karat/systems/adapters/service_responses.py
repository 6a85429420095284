"""Linkers that process one document at a time, and the conversion of service annotations to checked responses."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec
import numpy as np

from karat.formats.parsing.offset_units import utf16_offset_table
from karat.formats.parsing.surfaces.search import is_same_surface
from karat.model.defects import get_error_policy
from karat.model.document import UNLINKED, Candidate, Document, EntityId, Prediction, Response
from karat.model.errors import ResponseError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.offsets.unit_maps import to_code_points
from karat.model.span import Span
from karat.storage.retry import call_with_retries
from karat.systems.telemetry import RETRIED_EVENT, count_event, redact_secrets, report_seconds

_CONVERTED_EVENT: Final = "predictions with offsets in {} (converted)"
UTF16_EVENT: Final = _CONVERTED_EVENT.format(OffsetKind.UTF16.description)

_T = TypeVar("_T")


class PerDocumentLinker:
    """A linker that sends one document after the other; a failure affects only its document.

    `send`: returns the response to a document, or raises `ResponseError`.
    `close`: releases resources when the run ends.
    """

    def __init__(self, send: Callable[[Document], Response], close: Callable[[], None] = lambda: None) -> None:
        self._send = send
        self.close = close

    def __call__(self, documents: Iterable[Document]) -> Iterator[Response]:
        """Yield the response to each document."""
        for document in documents:
            yield self._link_document(document)

    def _link_document(self, document: Document) -> Response:
        """Return the checked response to a document, with retries; a `ResponseError` becomes its error."""

        def send() -> Response:
            start = time.perf_counter()
            response = check_response(document, self._send(document))
            report_seconds(time.perf_counter() - start)
            return response

        try:
            return call_with_retries(send, on_retry=lambda: count_event(RETRIED_EVENT))
        except ResponseError as problem:
            return Response(document.id, error=redact_secrets(str(problem)))


def check_response(document: Document, response: Response) -> Response:
    """Return the response with the id of `document`; raise `ResponseError` for a span that is empty or too long."""
    for number, prediction in enumerate(response.predictions, 1):
        if not prediction.start < prediction.end <= len(document.text):
            span = f"[{prediction.start}, {prediction.end})"
            is_empty = prediction.end <= prediction.start
            reason = "the end is exclusive" if is_empty else f"the text has {len(document.text)} characters"
            raise ResponseError(f"prediction {number} has the {'empty ' * is_empty}span {span}, but {reason}")
    return response if response.id == document.id else msgspec.structs.replace(response, id=document.id)


class ServiceAnnotation(NamedTuple):
    """An annotation of a service.

    `start`, `end`: span in the units of the service: code points or UTF-16 units.
    `entity`: entity id, None for NIL, or `UNLINKED`.
    `score`: score of the link.
    `surface`: text of the mention according to the service.
    `types`: entity types.
    `candidates`: candidate entities.
    """

    start: int
    end: int
    entity: EntityId = UNLINKED
    score: float | None = None
    surface: str | None = None
    types: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()


def to_response(
    document: Document, annotations: Iterable[ServiceAnnotation], *, utf16: bool = False, seconds: float | None = None
) -> Response:
    """Convert the annotations of a service to a response with spans in code points.

    Services written in Java count UTF-16 units, which differ after characters outside the basic plane; few document
    this. The surfaces of the annotations decide which units they use; without surfaces, `utf16` decides.
    `seconds` is the time that the service reports. A span that contradicts its surface raises `ResponseError`.
    """
    items, text = list(annotations), document.text
    has_wide_characters = any(ord(character) > 0xFFFF for character in text) if items else False
    surfaced = [item for item in items if item.surface is not None]
    if has_wide_characters and (
        any(text[item.start : item.end] != item.surface for item in surfaced) if surfaced else utf16
    ):
        offsets = utf16_offset_table(text)
        last = len(offsets) - 1
        items = [
            item._replace(start=int(offsets[min(item.start, last)]), end=int(offsets[min(item.end, last)]))
            for item in items
        ]
        count_event(UTF16_EVENT, len(items))
    for item in items:
        if item.surface is not None and text[item.start : item.end] != item.surface:
            raise ResponseError(f"the text at [{item.start}, {item.end}) is not {item.surface!r}")
    if any(item.start < 0 for item in items):
        raise ResponseError("a prediction has a negative start")
    predictions = tuple(
        Prediction(item.start, item.end, item.entity, score=item.score, types=item.types, candidates=item.candidates)
        for item in items
    )
    return Response(document.id, predictions, seconds=seconds)


def convert_spans(text: str, spans: Sequence[Span], surfaces: Sequence[str | None]) -> Sequence[Span]:
    """Return the spans of a response in code points; converted ones are counted as an event.

    They have the kind of offsets that the error policy names. If it names none, they count UTF-16 units if the
    surfaces, or else the end of the text, contradict code points only.
    """
    kind = get_error_policy().offsets
    if kind is OffsetKind.CODE_POINTS and not _counts_utf16(text, spans, surfaces):
        return spans
    kind = OffsetKind.UTF16 if kind is OffsetKind.CODE_POINTS else kind
    count_event(_CONVERTED_EVENT.format(kind.description), len(spans))
    return _to_code_points(text, kind, spans)


def _counts_utf16(text: str, spans: Sequence[Span], surfaces: Sequence[str | None]) -> bool:
    """Return whether spans fit their surfaces, or else a text, as UTF-16 units but not as code points."""
    if not spans or all(ord(character) <= 0xFFFF for character in text):
        return False
    if all(surface is None for surface in surfaces):
        return len(text) < max(span.end for span in spans) <= to_utf16_offset(text, len(text))

    def fits(spans: Sequence[Span]) -> bool:
        return all(
            surface is None or is_same_surface(text[span.start : span.end], surface)
            for span, surface in zip(spans, surfaces, strict=True)
        )

    return not fits(spans) and fits(_to_code_points(text, OffsetKind.UTF16, spans))


def _to_code_points(text: str, kind: OffsetKind, spans: Sequence[Span]) -> list[Span]:
    """Convert spans of `kind` to code points."""
    starts, ends = to_code_points(
        text, kind, np.array([span.start for span in spans], int), np.array([span.end for span in spans], int)
    )
    return [Span(start, end) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def parse_json(body: bytes, value_type: type[_T], service: str) -> _T:
    """Parse a JSON body as `value_type`; numbers may be strings. `service` names the sender in the `ResponseError`."""
    try:
        return decode_json(body, value_type, strict=False)
    except JsonError as problem:
        raise ResponseError(f"{service} sent JSON that differs from its documentation ({problem})") from None


def to_utf16_offset(text: str, offset: int) -> int:
    """Convert an offset in code points to an offset in UTF-16 units."""
    return len(text[:offset].encode("utf-16-le")) // 2


def build_page_url(title: str | None, page_id: int, language: str) -> str:
    """Return the URL of a page in the Wikipedia of a language, by its title or else by its page id."""
    path = f"wiki/{quote(title.replace(' ', '_'))}" if title else f"?curid={page_id}"
    return f"https://{language}.wikipedia.org/{path}"
