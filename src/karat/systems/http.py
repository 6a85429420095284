"""Any service that takes a document in JSON and gives answers in JSON."""

from __future__ import annotations

from dataclasses import dataclass

from karat.adapters.process import jsonl_question, said_reply
from karat.adapters.telling import credential
from karat.adapters.web import web_link, web_outside
from karat.model.document import Document
from karat.spec.system import Link, System, option
from karat.storage.web import WebQuestion, host_of


@dataclass(frozen=True, slots=True)
class _HttpOptions:
    rest: str = option("", "The address of the service.")
    key: str = option("", "The environment variable with a token that is sent as Authorization: Bearer.")
    timeout: float = option(60.0, "Seconds for one document.")


def _start(options: _HttpOptions, given: bool) -> Link:
    host = host_of(options.rest)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if options.key:
        headers["Authorization"] = f"Bearer {credential(options.key, host)}"

    def ask(document: Document) -> WebQuestion:
        return WebQuestion(body=jsonl_question(document), headers=headers)

    return web_link(
        options.rest, ask, lambda document, body: said_reply(document, body, host, again=True), timeout=options.timeout
    )


SYSTEM = System(
    title="Any JSON service",
    says="A service that takes `id`, `text` and, where mentions are given, `spans`, and gives `answers`.",
    start=_start,
    options=_HttpOptions,
    spans="welcome",
    rest="https://linker.example/link",
    space="its own",
    extra="services",
    outside=lambda options: web_outside(options.rest),
)
