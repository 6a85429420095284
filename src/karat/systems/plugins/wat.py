"""WAT, the successor of TagMe, as a web service of D4Science."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from karat.model.document import Document, Prediction, Response
from karat.model.spec.external_access import TrainingDetails
from karat.model.spec.system import Link, System, SystemSample, option
from karat.storage.http_client import WebRequest
from karat.systems.adapters.service_responses import (
    ServiceAnnotation,
    build_page_url,
    parse_json,
    to_response,
    to_utf16_offset,
)
from karat.systems.adapters.web_service import get_web_access, make_web_linker
from karat.systems.telemetry import get_credential


@dataclass(frozen=True, slots=True)
class _WatOptions:
    """The options of `wat`."""

    url: str = option("https://wat.d4science.org/wat/tag/json", "URL of the service.")
    method: str = option("", "Disambiguation method; empty: the service's default.")
    key: str = option("TAGME_TOKEN", "Environment variable with the D4Science token.", in_request=False)
    timeout: float = option(60.0, "Timeout per document in seconds.", in_request=False)


class _WatAnnotation(msgspec.Struct):
    """An annotation of WAT; `spot` is its surface, `id` the id of the Wikipedia page."""

    start: int
    end: int
    rho: float
    id: int
    title: str | None = None
    spot: str | None = None


class _WatResponse(msgspec.Struct):
    """The JSON that WAT returns; metrics named `time_…` are in nanoseconds."""

    annotations: list[_WatAnnotation]
    metrics: dict[str, float] = {}


def _parse_response(document: Document, body: bytes) -> Response:
    """Parse the JSON of WAT; times are reported in nanoseconds."""
    result = parse_json(body, _WatResponse, "WAT")
    times = [value for name, value in result.metrics.items() if name.startswith("time_")]
    annotations = (
        ServiceAnnotation(
            annotation.start,
            annotation.end,
            build_page_url(annotation.title, annotation.id, "en"),
            annotation.rho,
            annotation.spot,
        )
        for annotation in result.annotations
    )
    return to_response(document, annotations, utf16=True, seconds=sum(times) / 1e9 if times else None)


def _start(options: _WatOptions, gold_mentions: bool) -> Link:
    """Return a linker that sends texts, and spans with `gold_mentions`, to WAT; a missing token raises `UsageError`."""
    params = {"gcube-token": get_credential(options.key, "WAT"), "lang": "en"}
    params |= {"method": options.method} if options.method else {}

    def make_request(document: Document) -> WebRequest:
        span_offsets = ((to_utf16_offset(document.text, edge) for edge in label.span) for label in document.labels)
        spans = [dict(zip(("start", "end"), offsets, strict=True)) for offsets in span_offsets]
        body = {"text": document.text} | ({"spans": spans} if gold_mentions else {})
        return WebRequest(method="GET", params={**params, "document": msgspec.json.encode(body).decode()})

    return make_web_linker(options.url, make_request, _parse_response, timeout=options.timeout)


SYSTEM = System(
    title="WAT",
    description="Detects and links mentions, with ρ as scores. It reports its own times.",
    start=_start,
    options=_WatOptions,
    gold_mentions="optional",
    id_space="enwiki",
    requirements=("network access", "a D4Science token in TAGME_TOKEN"),
    extra="services",
    external_access=lambda options: get_web_access(options.url, credential=options.key),
    training=TrainingDetails(vocabulary="Wikipedia"),
    sample=SystemSample(
        text="𝔘lm is not New York.",
        options={"url": "{url}"},
        reply="""{"annotations": [{"start": 12, "end": 20, "spot": "New York", "rho": 0.7, "id": 12,
             "title": "New York"}], "metrics": {"time_spot": 4000000, "time_disambiguation": 6000000}}""",
        predictions=(Prediction(11, 19, "https://en.wikipedia.org/wiki/New_York", score=0.7),),
    ),
)
