"""WAT, the successor of TagMe: the web service at D4Science."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

import msgspec

from karat.adapters.each import ServiceMark, marked_reply, read_json, utf16_place
from karat.adapters.telling import credential
from karat.adapters.web import web_link, web_outside
from karat.model.document import Document, Reply
from karat.spec.outside import TrainingCard
from karat.spec.system import Link, System, option
from karat.storage.web import WebQuestion


@dataclass(frozen=True, slots=True)
class _WatOptions:
    url: str = option("https://wat.d4science.org/wat/tag/json", "The address of the service.")
    method: str = option("", "How it disambiguates; the service's own where empty.")
    key: str = option("TAGME_TOKEN", "The environment variable with the token of D4Science.")
    timeout: float = option(60.0, "Seconds for one document.")


class _WatAnnotation(msgspec.Struct):
    start: int
    end: int
    rho: float
    id: int
    title: str | None = None
    spot: str | None = None


class _WatReply(msgspec.Struct):
    annotations: list[_WatAnnotation]
    metrics: dict[str, float] = {}


def _read(document: Document, body: bytes) -> Reply:
    found = read_json(body, _WatReply, "WAT")
    times = [value for name, value in found.metrics.items() if name.startswith("time_")]
    marks = (ServiceMark(each.start, each.end, _page(each), each.rho, each.spot) for each in found.annotations)
    return marked_reply(document, marks, utf16=True, seconds=sum(times) / 1e9 if times else None)


def _page(found: _WatAnnotation) -> str:
    base = "https://en.wikipedia.org/"
    return f"{base}wiki/{quote(found.title.replace(' ', '_'))}" if found.title else f"{base}?curid={found.id}"


def _start(options: _WatOptions, given: bool) -> Link:
    params = {"gcube-token": credential(options.key, "WAT"), "lang": "en"}
    params |= {"method": options.method} if options.method else {}

    def ask(document: Document) -> WebQuestion:
        places = ((utf16_place(document.text, edge) for edge in label.span) for label in document.labels)
        spans = [dict(zip(("start", "end"), place, strict=True)) for place in places]
        asked = {"text": document.text} | ({"spans": spans} if given else {})
        return WebQuestion(method="GET", params={**params, "document": msgspec.json.encode(asked).decode()})

    return web_link(options.url, ask, _read, timeout=options.timeout)


SYSTEM = System(
    title="WAT",
    says="A service that marks mentions and links them, with ρ for scores. It reports its own times.",
    start=_start,
    options=_WatOptions,
    spans="welcome",
    space="enwiki",
    needs=("a network", "a token of D4Science in TAGME_TOKEN"),
    extra="services",
    outside=lambda options: web_outside(options.url),
    training=TrainingCard(vocabulary="Wikipedia"),
)
