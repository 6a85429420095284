"""REL, the Radboud Entity Linker: the public web service or your own instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from karat.model.document import Document, Prediction, Response
from karat.model.errors import ResponseError
from karat.model.spec.external_access import TrainingDetails
from karat.model.spec.system import Link, System, SystemSample, option
from karat.storage.http_client import WebRequest
from karat.systems.adapters.service_responses import ServiceAnnotation, parse_json, to_response
from karat.systems.adapters.web_service import get_web_access, make_web_linker
from karat.systems.claims.fair_2023 import list_fair_claims
from karat.systems.claims.posthoc_2021 import list_posthoc_claims


@dataclass(frozen=True, slots=True)
class _RelOptions:
    """The options of `rel`."""

    url: str = option("https://rel.cs.ru.nl/api", "URL of the service.")
    tagger: str = option("", "Mention tagger; empty: the service's default.")
    timeout: float = option(120.0, "Timeout per document in seconds.", in_request=False)


def _to_request(document: Document, options: _RelOptions) -> WebRequest:
    """Return the request for a document; its labels are sent as spans (start and length) to link."""
    body: dict[str, Any] = {
        "text": document.text,
        "spans": [[label.start, label.end - label.start] for label in document.labels],
    }
    body |= {"tagger": options.tagger} if options.tagger else {}
    return WebRequest(body=msgspec.json.encode(body), headers={"Content-Type": "application/json"})


def _parse_response(document: Document, body: bytes) -> Response:
    """Parse the JSON of REL."""
    return to_response(document, [_to_annotation(row) for row in parse_json(body, list[list[Any]], "REL")])


def _to_annotation(row: list[Any]) -> ServiceAnnotation:
    """Convert a row of REL's JSON: start, length, text, title, confidences and type.

    The first confidence is the score. Raise `ResponseError` for a row of another structure.
    """
    match row:
        case [int(start), int(length), str(surface), str(title), *rest]:
            score = next((float(value) for value in rest if isinstance(value, float | int)), None)
            page = None if title == "NIL" else f"https://en.wikipedia.org/wiki/{quote(title)}"
            types = tuple(value for value in rest[-1:] if isinstance(value, str))
            return ServiceAnnotation(start, start + length, page, score, surface, types)
    raise ResponseError("REL sent a mention with an undocumented structure")


def _start(options: _RelOptions, gold_mentions: bool) -> Link:
    """Return a linker that sends texts, and mentions if given, to REL."""
    return make_web_linker(
        options.url, lambda document: _to_request(document, options), _parse_response, timeout=options.timeout
    )


SYSTEM = System(
    title="REL",
    description="Detects mentions with Flair and ranks candidates by prior, context and coherence with a neural "
    "network.",
    start=_start,
    options=_RelOptions,
    gold_mentions="optional",
    id_space="enwiki",
    requirements=("network access or your own service",),
    extra="services",
    citation="van Hulst et al. 2020: REL: An Entity Linker Standing on the Shoulders of Giants. SIGIR.",
    claims=(*list_fair_claims("REL"), *list_posthoc_claims("REL")),
    external_access=lambda options: get_web_access(options.url),
    training=TrainingDetails(data="AIDA-CoNLL", dump_date="2014 or 2019", vocabulary="Wikipedia"),
    sample=SystemSample(
        text="Ada went from Berlin to Poland.",
        options={"url": "{url}"},
        reply="""[[14, 6, "Berlin", "Berlin", 0.8, 0.99, "LOC"], [0, 3, "Ada", "NIL", 0.0, 0.9, "PER"]]""",
        predictions=(
            Prediction(14, 20, "https://en.wikipedia.org/wiki/Berlin", score=0.8, types=("LOC",)),
            Prediction(0, 3, None, score=0.0, types=("PER",)),
        ),
    ),
)
