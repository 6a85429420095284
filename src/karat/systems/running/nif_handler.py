"""Handling of GERBIL's NIF requests by a system."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from karat.model.document import Response
from karat.model.errors import ResponseError, UsageError
from karat.model.spec.system import Link
from karat.systems.adapters.nif import parse_nif_request, to_nif_response
from karat.systems.running.system import RunnableSystem


@contextmanager
def open_nif_handler(runnable: RunnableSystem) -> Iterator[Callable[[bytes], bytes]]:
    """Start a system and yield the function that converts the body of a NIF request to that of a NIF response.

    Mentions in a request are linked if the system accepts them; otherwise the system detects mentions. Systems that
    need gold labels and published predictions raise `UsageError`. The function raises `ResponseError` if the system
    fails, and `InputError` for an invalid request; it may be called from several threads.
    """
    if runnable.system is None or runnable.needs_gold:
        raise UsageError(f"{runnable.title} needs gold labels, which GERBIL does not send. Name another system.")
    system, lock = runnable.system, threading.Lock()
    links: dict[bool, Link] = {}
    is_concurrent = runnable.access is not None

    def get_link(gold_mentions: bool) -> Link:
        with lock:
            if gold_mentions not in links:
                links[gold_mentions] = system.start(runnable.options, gold_mentions)
            return links[gold_mentions]

    def handle(body: bytes) -> bytes:
        request = parse_nif_request(body)
        document = request.document
        if not document.text.strip():
            return to_nif_response(request, Response(document.id))
        gold_mentions = runnable.uses_gold_mentions(bool(document.labels))
        query, link = runnable.prepare_document(document, gold_mentions=gold_mentions), get_link(gold_mentions)
        if is_concurrent:
            response = next(iter(link([query])))
        else:
            with lock:  # a local system processes one document at a time
                response = next(iter(link([query])))
        if response.error is not None:
            raise ResponseError(response.error)
        return to_nif_response(request, response)

    get_link(gold_mentions=system.gold_mentions == "required")  # report a failing start before the first request
    try:
        yield handle
    finally:
        for open_link in links.values():
            close: Callable[[], None] = getattr(open_link, "close", lambda: None)
            close()
