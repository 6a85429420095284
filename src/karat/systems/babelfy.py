"""Babelfy: its web service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

from karat.adapters.each import ServiceMark, marked_reply, read_json
from karat.adapters.telling import credential
from karat.adapters.web import web_link, web_outside
from karat.model.document import Document, Reply
from karat.spec.outside import TrainingCard
from karat.spec.system import Link, System, option
from karat.storage.web import WebQuestion


@dataclass(frozen=True, slots=True)
class _BabelfyOptions:
    url: str = option("https://babelfy.io/v1/disambiguate", "The address of the service.")
    lang: str = option("EN", "The language of the texts.")
    kind: Literal["NAMED_ENTITIES", "CONCEPTS", "ALL"] = option("NAMED_ENTITIES", "What is annotated.")
    key: str = option("BABELFY_KEY", "The environment variable with the key of BabelNet.")
    timeout: float = option(60.0, "Seconds for one document.")


class _Fragment(msgspec.Struct):
    start: int
    end: int


class _Sense(msgspec.Struct):
    place: _Fragment = msgspec.field(name="charFragment")
    synset: str = msgspec.field(name="babelSynsetID")
    page: str = msgspec.field(name="DBpediaURL", default="")
    score: float | None = None


def _read(document: Document, body: bytes) -> Reply:
    found = read_json(body, list[_Sense], "Babelfy")
    marks = (
        # its last character is part of the fragment, and what DBpedia does not have is only a synset
        ServiceMark(each.place.start, each.place.end + 1, each.page or each.synset, each.score)
        for each in found
    )
    return marked_reply(document, marks, utf16=True)


def _start(options: _BabelfyOptions, given: bool) -> Link:
    form = {"key": credential(options.key, "Babelfy"), "lang": options.lang, "annType": options.kind}
    return web_link(
        options.url,
        lambda document: WebQuestion(form={**form, "text": document.text}),
        _read,
        timeout=options.timeout,
    )


SYSTEM = System(
    title="Babelfy",
    says="Links words and names to the senses of BabelNet, common ones too.",
    start=_start,
    options=_BabelfyOptions,
    space="dbpedia, babelnet",
    needs=("a network", "a key of BabelNet in BABELFY_KEY"),
    extra="services",
    outside=lambda options: web_outside(options.url),
    training=TrainingCard(vocabulary="BabelNet"),
)
