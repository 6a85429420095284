"""TagMe: the web service at D4Science."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

import msgspec

from karat.adapters.each import ServiceMark, marked_reply, read_json
from karat.adapters.telling import credential
from karat.adapters.web import web_link, web_outside
from karat.model.document import Document, Reply
from karat.spec.outside import TrainingCard
from karat.spec.system import Link, System, option
from karat.storage.web import WebQuestion


@dataclass(frozen=True, slots=True)
class _TagmeOptions:
    url: str = option("https://tagme.d4science.org/tagme/tag", "The address of the service.")
    lang: str = option("en", "The language: en, de or it.")
    epsilon: str = option("", "How much context counts beside commonness; the service's own where empty.")
    key: str = option("TAGME_TOKEN", "The environment variable with the token of D4Science.")
    timeout: float = option(60.0, "Seconds for one document.")


class _Annotation(msgspec.Struct):
    start: int
    end: int
    spot: str
    rho: float
    id: int
    title: str | None = None


class _Tagged(msgspec.Struct):
    annotations: list[_Annotation]
    time: float | None = None


def _read(document: Document, body: bytes, language: str) -> Reply:
    found = read_json(body, _Tagged, "TagMe")
    marks = (
        ServiceMark(each.start, each.end, _page(each, language), each.rho, each.spot) for each in found.annotations
    )
    return marked_reply(document, marks, seconds=None if found.time is None else found.time / 1000)


def _page(found: _Annotation, language: str) -> str:
    """The address of a page: by its title, or where the service gives none by its number."""
    base = f"https://{language}.wikipedia.org/"
    return f"{base}wiki/{quote(found.title.replace(' ', '_'))}" if found.title else f"{base}?curid={found.id}"


def _start(options: _TagmeOptions, given: bool) -> Link:
    form = {"gcube-token": credential(options.key, "TagMe"), "lang": options.lang}
    form |= {"epsilon": options.epsilon} if options.epsilon else {}
    return web_link(
        options.url,
        lambda document: WebQuestion(form={**form, "text": document.text}),
        lambda document, body: _read(document, body, options.lang),
        timeout=options.timeout,
    )


SYSTEM = System(
    title="TagMe, the service",
    says="Spots by link probability, and votes between the senses of all spots. The service reports its own times.",
    start=_start,
    options=_TagmeOptions,
    space="enwiki",
    needs=("a network", "a token of D4Science in TAGME_TOKEN"),
    extra="services",
    outside=lambda options: web_outside(options.url),
    training=TrainingCard(
        data="Wikipedia links", vocabulary="Wikipedia", candidate_list="titles, anchors and redirects"
    ),
)
