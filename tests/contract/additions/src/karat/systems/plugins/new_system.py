"""A made-up web service."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from karat.model.document import Document, Prediction, Response
from karat.model.spec.system import Link, System, SystemSample, option
from karat.storage.http_client import WebRequest
from karat.systems.adapters.service_responses import ServiceAnnotation, parse_json, to_response
from karat.systems.adapters.web_service import get_web_access, make_web_linker


@dataclass(frozen=True, slots=True)
class _MadeUpOptions:
    """The options of `new-system`."""

    url: str = option("https://linker.example/made-up", "URL of the service.")


class _MadeUpLink(msgspec.Struct):
    """A link of the service."""

    at: int
    to: int
    id: str


def _parse_response(document: Document, body: bytes) -> Response:
    """Parse the list of links in `body`, which the service sends for `document`."""
    links = parse_json(body, list[_MadeUpLink], "the made-up service")
    return to_response(document, (ServiceAnnotation(link.at, link.to, link.id) for link in links))


def _start(options: _MadeUpOptions, gold_mentions: bool) -> Link:
    """Return a linker that sends texts to the service in `options`; `gold_mentions` is ignored."""
    return make_web_linker(
        options.url, lambda document: WebRequest(form={"text": document.text}), _parse_response, timeout=60.0
    )


SYSTEM = System(
    title="Made-up service",
    description="Links what it likes.",
    start=_start,
    options=_MadeUpOptions,
    id_space="wikidata",
    extra="services",
    external_access=lambda options: get_web_access(options.url),
    sample=SystemSample(
        text="Ada met Bob.",
        options={"url": "{url}"},
        reply='[{"at": 0, "to": 3, "id": "Q1"}]',
        predictions=(Prediction(0, 3, "Q1"),),
    ),
)
