"""Babelfy, as a web service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

from karat.model.document import Document, Prediction, Response
from karat.model.spec.external_access import TrainingDetails
from karat.model.spec.system import Link, System, SystemSample, option
from karat.storage.http_client import WebRequest
from karat.systems.adapters.service_responses import ServiceAnnotation, parse_json, to_response
from karat.systems.adapters.web_service import get_web_access, make_web_linker
from karat.systems.claims.finegrained_2019 import list_finegrained_claims
from karat.systems.telemetry import get_credential


@dataclass(frozen=True, slots=True)
class _BabelfyOptions:
    """The options of `babelfy`."""

    url: str = option("https://babelfy.io/v1/disambiguate", "URL of the service.")
    lang: str = option("EN", "Language of the texts.")
    kind: Literal["NAMED_ENTITIES", "CONCEPTS", "ALL"] = option("NAMED_ENTITIES", "Type of annotations.")
    key: str = option("BABELFY_KEY", "Environment variable with the BabelNet key.", in_request=False)
    timeout: float = option(60.0, "Timeout per document in seconds.", in_request=False)


class _Fragment(msgspec.Struct):
    """A span in UTF-16 units; the end is inclusive."""

    start: int
    end: int


class _Sense(msgspec.Struct):
    """An annotation of Babelfy: a span linked to a BabelNet synset and, if there is one, to a DBpedia page."""

    span: _Fragment = msgspec.field(name="charFragment")
    synset: str = msgspec.field(name="babelSynsetID")
    page: str = msgspec.field(name="DBpediaURL", default="")
    score: float | None = None


def _parse_response(document: Document, body: bytes) -> Response:
    """Parse the JSON of Babelfy: senses with inclusive ends, linked to DBpedia or else to BabelNet."""
    senses = parse_json(body, list[_Sense], "Babelfy")
    annotations = (
        # the end is inclusive, and senses without a DBpedia page have only a synset
        ServiceAnnotation(sense.span.start, sense.span.end + 1, sense.page or sense.synset, sense.score)
        for sense in senses
    )
    return to_response(document, annotations, utf16=True)


def _start(options: _BabelfyOptions, gold_mentions: bool) -> Link:
    """Return a linker that sends texts to Babelfy; a missing key raises `UsageError`; `gold_mentions` is ignored."""
    form = {"key": get_credential(options.key, "Babelfy"), "lang": options.lang, "annType": options.kind}
    return make_web_linker(
        options.url,
        lambda document: WebRequest(form={**form, "text": document.text}),
        _parse_response,
        timeout=options.timeout,
    )


SYSTEM = System(
    title="Babelfy",
    description="Links names and common words to BabelNet senses.",
    start=_start,
    options=_BabelfyOptions,
    id_space="dbpedia, babelnet",
    requirements=("network access", "a BabelNet key in BABELFY_KEY"),
    extra="services",
    citation="Moro et al. 2014: Entity Linking meets Word Sense Disambiguation: A Unified Approach. TACL.",
    claims=list_finegrained_claims("B_s", "B_r"),
    external_access=lambda options: get_web_access(options.url, credential=options.key),
    training=TrainingDetails(vocabulary="BabelNet"),
    sample=SystemSample(
        text="𝔘lm is not Berlin.",
        options={"url": "{url}"},
        reply="""[{"tokenFragment": {"start": 0, "end": 0}, "charFragment": {"start": 0, "end": 3},
             "babelSynsetID": "bn:00000001n", "DBpediaURL": "", "score": 0.5},
            {"tokenFragment": {"start": 3, "end": 3}, "charFragment": {"start": 12, "end": 17},
             "babelSynsetID": "bn:00000002n", "DBpediaURL": "http://dbpedia.org/resource/Berlin", "score": 1.0}]""",
        predictions=(
            Prediction(0, 3, "bn:00000001n", score=0.5),
            Prediction(11, 17, "http://dbpedia.org/resource/Berlin", score=1.0),
        ),
    ),
)
