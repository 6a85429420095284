"""DBpedia Spotlight: its web service, the public one or one's own."""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import msgspec

from karat.adapters.each import ServiceMark, marked_reply, read_json, utf16_place
from karat.adapters.web import web_link, web_outside
from karat.model.document import Document, Reply
from karat.spec.outside import TrainingCard
from karat.spec.system import Link, System, option
from karat.storage.web import WebQuestion


@dataclass(frozen=True, slots=True)
class _SpotlightOptions:
    url: str = option("https://api.dbpedia-spotlight.org/en", "The address of the service, up to the language.")
    confidence: float = option(0.5, "The lowest confidence.")
    support: int = option(0, "The fewest links that lead to an entity.")
    timeout: float = option(60.0, "Seconds for one document.")


class _Resource(msgspec.Struct):
    uri: str = msgspec.field(name="@URI")
    words: str = msgspec.field(name="@surfaceForm")
    offset: int = msgspec.field(name="@offset")
    score: float = msgspec.field(name="@similarityScore")
    types: str = msgspec.field(name="@types", default="")


class _Annotated(msgspec.Struct):
    resources: list[_Resource] = msgspec.field(name="Resources", default_factory=list)


def _ask(document: Document, options: _SpotlightOptions, given: bool) -> WebQuestion:
    text = document.text
    if given:  # mentions are named in the XML that the service also takes
        forms = (
            f'<surfaceForm name={quoteattr(text[label.start : label.end])} offset="{utf16_place(text, label.start)}" />'
            for label in document.labels
        )
        text = f"<annotation text={quoteattr(text)}>{''.join(forms)}</annotation>"
    form = {"text": text, "confidence": str(options.confidence), "support": str(options.support)}
    path = "/disambiguate" if given else "/annotate"
    return WebQuestion(path, form=form, headers={"Accept": "application/json"})


def _read(document: Document, body: bytes) -> Reply:
    found = read_json(body, _Annotated, "DBpedia Spotlight").resources
    marks = (
        ServiceMark(
            each.offset,
            each.offset + utf16_place(each.words, len(each.words)),
            each.uri,
            each.score,
            each.words,
            tuple(filter(None, each.types.split(","))),
        )
        for each in found
    )
    return marked_reply(document, marks)


def _start(options: _SpotlightOptions, given: bool) -> Link:
    return web_link(options.url, lambda document: _ask(document, options, given), _read, timeout=options.timeout)


SYSTEM = System(
    title="DBpedia Spotlight",
    says="Marks names of a dictionary, and links each to the candidate whose contexts are most alike.",
    start=_start,
    options=_SpotlightOptions,
    spans="welcome",
    space="dbpedia",
    needs=("a network or a service of your own",),
    extra="services",
    outside=lambda options: web_outside(options.url),
    training=TrainingCard(data="Wikipedia links", vocabulary="DBpedia", candidate_list="titles, anchors and redirects"),
)
