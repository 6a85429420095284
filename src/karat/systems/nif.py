"""Any NIF web service, as GERBIL asks it."""

from __future__ import annotations

from dataclasses import dataclass

from karat.adapters.nif import TURTLE, nif_question, nif_reply
from karat.adapters.web import web_link, web_outside
from karat.model.document import Document
from karat.spec.system import Link, System, option
from karat.storage.web import WebQuestion, host_of


@dataclass(frozen=True, slots=True)
class _NifOptions:
    rest: str = option("", "The address of the service.")
    timeout: float = option(600.0, "Seconds for one document; GERBIL waits ten minutes.")


_HEADERS = {"Content-Type": f"{TURTLE};charset=UTF-8", "Accept": TURTLE, "Accept-Charset": "UTF-8"}


def _start(options: _NifOptions, given: bool) -> Link:
    host = host_of(options.rest)

    def ask(document: Document) -> WebQuestion:
        return WebQuestion(body=nif_question(document), headers=_HEADERS)

    return web_link(options.rest, ask, lambda document, body: nif_reply(document, body, host), timeout=options.timeout)


SYSTEM = System(
    title="Any NIF web service",
    says="A service that takes a document in NIF and sends it back with annotations: GERBIL's protocol.",
    start=_start,
    options=_NifOptions,
    spans="welcome",
    rest="https://linker.example/nif",
    space="its own",
    extra="services",
    outside=lambda options: web_outside(options.rest),
)
