"""REL, the Radboud Entity Linker: its web service, the public one or one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from karat.adapters.each import ServiceMark, marked_reply, read_json
from karat.adapters.web import web_link, web_outside
from karat.errors import FailedError
from karat.model.document import Document, Reply
from karat.spec.outside import TrainingCard
from karat.spec.system import Link, System, option
from karat.storage.web import WebQuestion


@dataclass(frozen=True, slots=True)
class _RelOptions:
    url: str = option("https://rel.cs.ru.nl/api", "The address of the service.")
    tagger: str = option("", "The tagger that finds mentions; the service's own where empty.")
    timeout: float = option(120.0, "Seconds for one document.")


def _ask(document: Document, options: _RelOptions) -> WebQuestion:
    asked: dict[str, Any] = {
        "text": document.text,
        "spans": [[label.start, label.end - label.start] for label in document.labels],
    }
    asked |= {"tagger": options.tagger} if options.tagger else {}
    return WebQuestion(body=msgspec.json.encode(asked), headers={"Content-Type": "application/json"})


def _read(document: Document, body: bytes) -> Reply:
    return marked_reply(document, [_mark(row) for row in read_json(body, list[list[Any]], "REL")])


def _mark(row: list[Any]) -> ServiceMark:
    """A mention as REL lists it: start, length, words, title, and confidences; the last is the type."""
    match row:
        case [int(start), int(length), str(words), str(title), *rest]:
            score = next((float(value) for value in rest if isinstance(value, float | int)), None)
            page = None if title == "NIL" else f"https://en.wikipedia.org/wiki/{quote(title)}"
            types = tuple(value for value in rest[-1:] if isinstance(value, str))
            return ServiceMark(start, start + length, page, score, words, types)
    raise FailedError("REL sent a mention that is not as documented")


def _start(options: _RelOptions, given: bool) -> Link:
    return web_link(options.url, lambda document: _ask(document, options), _read, timeout=options.timeout)


SYSTEM = System(
    title="REL",
    says="Flair finds mentions; a neural network ranks candidates by prior, context and coherence.",
    start=_start,
    options=_RelOptions,
    spans="welcome",
    space="enwiki",
    needs=("a network or a service of your own",),
    extra="services",
    outside=lambda options: web_outside(options.url),
    training=TrainingCard(data="AIDA-CoNLL", dump_date="2014 or 2019", vocabulary="Wikipedia"),
)
