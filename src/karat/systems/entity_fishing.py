"""entity-fishing: its web service, the public one or one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from karat.adapters.each import ServiceMark, marked_reply, read_json, utf16_place
from karat.adapters.web import web_link, web_outside
from karat.model.document import UNLINKED, Document, Reply
from karat.spec.outside import TrainingCard
from karat.spec.system import Link, System, option
from karat.storage.web import WebQuestion


@dataclass(frozen=True, slots=True)
class _FishingOptions:
    url: str = option("https://cloud.science-miner.com/nerd/service", "The address of the service.")
    lang: str = option("en", "The language of the texts.")
    mentions: str = option("ner+wikipedia", "What finds mentions, with + between.")
    timeout: float = option(120.0, "Seconds for one document.")


class _Entity(msgspec.Struct):
    words: str = msgspec.field(name="rawName")
    start: int = msgspec.field(name="offsetStart")
    end: int = msgspec.field(name="offsetEnd")
    item: str | None = msgspec.field(name="wikidataId", default=None)
    score: float | None = msgspec.field(name="confidence_score", default=None)
    old_score: float | None = msgspec.field(name="nerd_selection_score", default=None)
    type: str | None = None


class _Disambiguated(msgspec.Struct):
    entities: list[_Entity] = []
    runtime: float | None = None


def _ask(document: Document, options: _FishingOptions, given: bool) -> WebQuestion:
    known = [
        {
            "rawName": document.text[label.start : label.end],
            "offsetStart": utf16_place(document.text, label.start),
            "offsetEnd": utf16_place(document.text, label.end),
        }
        for label in document.labels
    ]
    asked: dict[str, Any] = {"text": document.text, "language": {"lang": options.lang}}
    asked |= {"entities": known, "mentions": []} if given else {"mentions": options.mentions.split("+")}
    return WebQuestion(
        "/disambiguate",
        body=msgspec.json.encode(asked),
        headers={"Content-Type": "application/json", "Accept": "application/json"},
    )


def _read(document: Document, body: bytes) -> Reply:
    found = read_json(body, _Disambiguated, "entity-fishing")
    marks = (
        ServiceMark(
            each.start,
            each.end,
            each.item or UNLINKED,
            each.score if each.score is not None else each.old_score,
            each.words,
            () if each.type is None else (each.type,),
        )
        for each in found.entities
    )
    return marked_reply(document, marks, seconds=None if found.runtime is None else found.runtime / 1000)


def _start(options: _FishingOptions, given: bool) -> Link:
    return web_link(options.url, lambda document: _ask(document, options, given), _read, timeout=options.timeout)


SYSTEM = System(
    title="entity-fishing",
    says="Recognises entities and disambiguates them against Wikidata. It reports its own times.",
    start=_start,
    options=_FishingOptions,
    spans="welcome",
    space="wikidata",
    needs=("a network or a service of your own",),
    extra="services",
    outside=lambda options: web_outside(options.url),
    training=TrainingCard(vocabulary="Wikidata"),
)
