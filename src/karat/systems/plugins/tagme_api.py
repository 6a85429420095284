"""TagMe, as a web service of D4Science."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from karat.model.document import Document, Prediction, Response
from karat.model.spec.external_access import TrainingDetails
from karat.model.spec.system import Link, System, SystemSample, option
from karat.storage.http_client import WebRequest
from karat.systems.adapters.service_responses import ServiceAnnotation, build_page_url, parse_json, to_response
from karat.systems.adapters.web_service import get_web_access, make_web_linker
from karat.systems.claims.bat_2013 import list_bat_claims
from karat.systems.claims.fair_2023 import list_compared_claims, list_fair_claims
from karat.systems.claims.finegrained_2019 import list_finegrained_claims
from karat.systems.telemetry import get_credential


@dataclass(frozen=True, slots=True)
class _TagmeOptions:
    """The options of `tagme-api`."""

    url: str = option("https://tagme.d4science.org/tagme/tag", "URL of the service.")
    lang: str = option("en", "Language: en, de or it.")
    epsilon: str = option("", "Weight of context versus commonness; empty: the service's default.")
    key: str = option("TAGME_TOKEN", "Environment variable with the D4Science token.", in_request=False)
    timeout: float = option(60.0, "Timeout per document in seconds.", in_request=False)


class _Annotation(msgspec.Struct):
    """An annotation of TagMe; `spot` is its surface, `id` the id of the Wikipedia page."""

    start: int
    end: int
    spot: str
    rho: float
    id: int
    title: str | None = None


class _TagResponse(msgspec.Struct):
    """The JSON that TagMe returns; `time` is in milliseconds."""

    annotations: list[_Annotation]
    time: float | None = None


def _parse_response(document: Document, body: bytes, language: str) -> Response:
    """Parse the JSON of TagMe; `language` is that of the Wikipedia that is linked."""
    result = parse_json(body, _TagResponse, "TagMe")
    annotations = (
        ServiceAnnotation(
            annotation.start,
            annotation.end,
            build_page_url(annotation.title, annotation.id, language),
            annotation.rho,
            annotation.spot,
        )
        for annotation in result.annotations
    )
    return to_response(document, annotations, seconds=None if result.time is None else result.time / 1000)


def _start(options: _TagmeOptions, gold_mentions: bool) -> Link:
    """Return a linker that sends texts to TagMe; a missing token raises `UsageError`; `gold_mentions` is ignored."""
    form = {"gcube-token": get_credential(options.key, "TagMe"), "lang": options.lang}
    form |= {"epsilon": options.epsilon} if options.epsilon else {}
    return make_web_linker(
        options.url,
        lambda document: WebRequest(form={**form, "text": document.text}),
        lambda document, body: _parse_response(document, body, options.lang),
        timeout=options.timeout,
    )


SYSTEM = System(
    title="TagMe web service",
    description="Detects mentions by link probability and links them by votes between all candidates. It reports "
    "its own times.",
    start=_start,
    options=_TagmeOptions,
    id_space="enwiki",
    requirements=("network access", "a D4Science token in TAGME_TOKEN"),
    extra="services",
    citation="Ferragina and Scaiella 2010: TAGME: On-the-Fly Annotation of Short Text Fragments "
    "(by Wikipedia Entities). CIKM.",
    claims=(
        *list_bat_claims("TagMe 2"),
        *list_finegrained_claims("T"),
        *list_fair_claims("TagMe"),
        *list_compared_claims(
            "wiki-annot30@ferragina2010",
            "TagMe",
            section="A.2.2",
            paper="Ferragina and Scaiella 2010",
            reported=76.2,
            reproduced=57.5,
        ),
    ),
    external_access=lambda options: get_web_access(options.url, credential=options.key),
    training=TrainingDetails(
        data="Wikipedia links", vocabulary="Wikipedia", candidate_list="titles, anchors and redirects"
    ),
    sample=SystemSample(
        text="Berlin is near New York?",
        options={"url": "{url}"},
        reply="""{"test": "5", "time": 12, "api": "tag", "lang": "en", "annotations": [
            {"spot": "Berlin", "start": 0, "end": 6, "link_probability": 0.3, "rho": 0.4, "id": 11, "title": "Berlin"},
            {"spot": "New York", "start": 15, "end": 23, "link_probability": 0.2, "rho": 0.1, "id": 12}
        ]}""",
        predictions=(
            Prediction(0, 6, "https://en.wikipedia.org/wiki/Berlin", score=0.4),
            Prediction(15, 23, "https://en.wikipedia.org/?curid=12", score=0.1),
        ),
    ),
)
