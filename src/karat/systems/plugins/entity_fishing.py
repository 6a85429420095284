"""entity-fishing: the public web service or your own instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from karat.model.document import UNLINKED, Document, Prediction, Response
from karat.model.spec.external_access import TrainingDetails
from karat.model.spec.system import Link, System, SystemSample, option
from karat.storage.http_client import WebRequest
from karat.systems.adapters.service_responses import ServiceAnnotation, parse_json, to_response, to_utf16_offset
from karat.systems.adapters.web_service import get_web_access, make_web_linker


@dataclass(frozen=True, slots=True)
class _FishingOptions:
    """The options of `entity-fishing`."""

    url: str = option("https://cloud.science-miner.com/nerd/service", "URL of the service.")
    lang: str = option("en", "Language of the texts.")
    mentions: str = option("ner+wikipedia", "Mention recognisers, joined by +.")
    timeout: float = option(120.0, "Timeout per document in seconds.", in_request=False)


class _Entity(msgspec.Struct):
    """An annotation of entity-fishing; older versions name its score `nerd_selection_score`."""

    surface: str = msgspec.field(name="rawName")
    start: int = msgspec.field(name="offsetStart")
    end: int = msgspec.field(name="offsetEnd")
    wikidata_id: str | None = msgspec.field(name="wikidataId", default=None)
    score: float | None = msgspec.field(name="confidence_score", default=None)
    old_score: float | None = msgspec.field(name="nerd_selection_score", default=None)
    type: str | None = None


class _DisambiguationResponse(msgspec.Struct):
    """The JSON that entity-fishing returns; `runtime` is in milliseconds."""

    entities: list[_Entity] = []
    runtime: float | None = None


def _to_request(document: Document, options: _FishingOptions, gold_mentions: bool) -> WebRequest:
    """Return the request that disambiguates the given mentions, or detects and links mentions."""
    entities = [
        {
            "rawName": document.text[label.start : label.end],
            "offsetStart": to_utf16_offset(document.text, label.start),
            "offsetEnd": to_utf16_offset(document.text, label.end),
        }
        for label in document.labels
    ]
    body: dict[str, Any] = {"text": document.text, "language": {"lang": options.lang}}
    body |= {"entities": entities, "mentions": []} if gold_mentions else {"mentions": options.mentions.split("+")}
    return WebRequest(
        "/disambiguate",
        body=msgspec.json.encode(body),
        headers={"Content-Type": "application/json", "Accept": "application/json"},
    )


def _parse_response(document: Document, body: bytes) -> Response:
    """Parse the JSON of entity-fishing; entities without Wikidata id are unlinked."""
    result = parse_json(body, _DisambiguationResponse, "entity-fishing")
    annotations = (
        ServiceAnnotation(
            entity.start,
            entity.end,
            entity.wikidata_id or UNLINKED,
            entity.score if entity.score is not None else entity.old_score,
            entity.surface,
            () if entity.type is None else (entity.type,),
        )
        for entity in result.entities
    )
    return to_response(document, annotations, seconds=None if result.runtime is None else result.runtime / 1000)


def _start(options: _FishingOptions, gold_mentions: bool) -> Link:
    """Return a linker that sends texts, and mentions with `gold_mentions`, to entity-fishing."""
    return make_web_linker(
        options.url,
        lambda document: _to_request(document, options, gold_mentions),
        _parse_response,
        timeout=options.timeout,
    )


SYSTEM = System(
    title="entity-fishing",
    description="Recognises entities and disambiguates them against Wikidata. It reports its own times.",
    start=_start,
    options=_FishingOptions,
    gold_mentions="optional",
    id_space="wikidata",
    requirements=("network access or your own service",),
    extra="services",
    external_access=lambda options: get_web_access(options.url),
    training=TrainingDetails(vocabulary="Wikidata"),
    sample=SystemSample(
        text="𝔘lm lies far from Berlin.",
        options={"url": "{url}"},
        reply="""{"runtime": 34, "language": {"lang": "en", "conf": 1.0}, "entities": [
            {"rawName": "𝔘lm", "offsetStart": 0, "offsetEnd": 4, "type": "LOCATION"},
            {"rawName": "Berlin", "offsetStart": 19, "offsetEnd": 25, "wikidataId": "Q64", "confidence_score": 0.6}
        ]}""",
        predictions=(
            Prediction(0, 3, UNLINKED, types=("LOCATION",)),
            Prediction(18, 24, "Q64", score=0.6),
        ),
    ),
)
