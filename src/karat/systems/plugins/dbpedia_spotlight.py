"""DBpedia Spotlight: the public web service or your own instance."""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import msgspec

from karat.model.document import Document, Prediction, Response
from karat.model.spec.external_access import TrainingDetails
from karat.model.spec.system import Link, System, SystemSample, option
from karat.storage.http_client import WebRequest
from karat.systems.adapters.service_responses import ServiceAnnotation, parse_json, to_response, to_utf16_offset
from karat.systems.adapters.web_service import get_web_access, make_web_linker
from karat.systems.claims.bat_2013 import list_bat_claims
from karat.systems.claims.fair_2023 import list_compared_claims
from karat.systems.claims.finegrained_2019 import list_finegrained_claims


@dataclass(frozen=True, slots=True)
class _SpotlightOptions:
    """The options of `dbpedia-spotlight`."""

    url: str = option("https://api.dbpedia-spotlight.org/en", "URL of the service, up to the language.")
    confidence: float = option(0.5, "Minimum confidence.")
    support: int = option(0, "Minimum number of links to an entity.")
    timeout: float = option(60.0, "Timeout per document in seconds.", in_request=False)


class _Resource(msgspec.Struct):
    """An annotation of DBpedia Spotlight; `offset` is its start, `types` are joined by commas."""

    uri: str = msgspec.field(name="@URI")
    surface: str = msgspec.field(name="@surfaceForm")
    offset: int = msgspec.field(name="@offset")
    score: float = msgspec.field(name="@similarityScore")
    types: str = msgspec.field(name="@types", default="")


class _AnnotationResponse(msgspec.Struct):
    """The JSON that DBpedia Spotlight returns."""

    resources: list[_Resource] = msgspec.field(name="Resources", default_factory=list)


def _surface_form(text: str, start: int, end: int) -> str:
    """Return the XML element of a mention to link, with its offset in UTF-16 units."""
    return f'<surfaceForm name={quoteattr(text[start:end])} offset="{to_utf16_offset(text, start)}" />'


def _to_request(document: Document, options: _SpotlightOptions, gold_mentions: bool) -> WebRequest:
    """Return the request that disambiguates the given mentions, as XML, or annotates the text."""
    text = document.text
    if gold_mentions:  # the service accepts mentions as XML
        forms = (_surface_form(text, label.start, label.end) for label in document.labels)
        text = f"<annotation text={quoteattr(text)}>{''.join(forms)}</annotation>"
    form = {"text": text, "confidence": str(options.confidence), "support": str(options.support)}
    path = "/disambiguate" if gold_mentions else "/annotate"
    return WebRequest(path, form=form, headers={"Accept": "application/json"})


def _parse_response(document: Document, body: bytes) -> Response:
    """Parse the JSON of DBpedia Spotlight."""
    resources = parse_json(body, _AnnotationResponse, "DBpedia Spotlight").resources
    annotations = (
        ServiceAnnotation(
            resource.offset,
            resource.offset + to_utf16_offset(resource.surface, len(resource.surface)),
            resource.uri,
            resource.score,
            resource.surface,
            tuple(filter(None, resource.types.split(","))),
        )
        for resource in resources
    )
    return to_response(document, annotations)


def _start(options: _SpotlightOptions, gold_mentions: bool) -> Link:
    """Return a linker that sends texts, and mentions with `gold_mentions`, to DBpedia Spotlight."""
    return make_web_linker(
        options.url,
        lambda document: _to_request(document, options, gold_mentions),
        _parse_response,
        timeout=options.timeout,
    )


SYSTEM = System(
    title="DBpedia Spotlight",
    description="Detects names from a dictionary and links each to the candidate with the most similar contexts.",
    start=_start,
    options=_SpotlightOptions,
    gold_mentions="optional",
    id_space="dbpedia",
    requirements=("network access or your own service",),
    extra="services",
    citation="Mendes et al. 2011: DBpedia Spotlight: Shedding Light on the Web of Documents. I-SEMANTICS.",
    claims=(
        *list_bat_claims("DBPedia Spotlight", "DBpedia Spotlight"),
        *list_finegrained_claims("D"),
        *list_compared_claims(
            "dbpedia-spotlight@elevant2024",
            "DBpedia Spotlight (no configuration)",
            section="A.2.3",
            paper="Mendes et al. 2011",
            reported=45.2,
            reproduced=42.4,
        ),
        *list_compared_claims(
            "dbpedia-spotlight@elevant2024",
            "DBpedia Spotlight (confidence 0.35, support 100)",
            section="A.2.3",
            paper="Mendes et al. 2011",
            reported=56.0,
            reproduced=33.6,
        ),
    ),
    external_access=lambda options: get_web_access(options.url),
    training=TrainingDetails(
        data="Wikipedia links", vocabulary="DBpedia", candidate_list="titles, anchors and redirects"
    ),
    sample=SystemSample(
        text="𝔘lm is not in Poland.",
        options={"url": "{url}"},
        reply="""{"@text": "𝔘lm is not in Poland.", "@confidence": "0.5", "@support": "0", "Resources": [
            {"@URI": "http://dbpedia.org/resource/Poland", "@support": "1", "@types": "DBpedia:Place,Schema:Place",
             "@surfaceForm": "Poland", "@offset": "15", "@similarityScore": "0.9", "@percentageOfSecondRank": "0.1"}
        ]}""",
        predictions=(
            Prediction(
                14, 20, "http://dbpedia.org/resource/Poland", score=0.9, types=("DBpedia:Place", "Schema:Place")
            ),
        ),
    ),
)
