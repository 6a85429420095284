"""A system of Karat's as a web service that GERBIL can ask."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from karat.adapters.nif import answered_in_nif, asked_in_nif
from karat.errors import FailedError, UsageError
from karat.running.named import RunnableSystem
from karat.spec.system import Link


@contextmanager
def nif_answerer(named: RunnableSystem) -> Iterator[Callable[[bytes], bytes]]:
    """What answers documents in NIF: given mentions are linked where the system takes them, else it finds its own."""
    if named.system is None or named.sees_gold:
        raise UsageError(f"{named.title} answers from gold labels, and GERBIL sends none. Name another system.")
    system, lock = named.system, threading.Lock()
    started: dict[bool, Link] = {}
    together = named.outside is not None

    def link(given: bool) -> Link:
        with lock:
            if given not in started:
                started[given] = system.start(named.options, given)
            return started[given]

    def answer(body: bytes) -> bytes:
        document = asked_in_nif(body)
        given = named.takes_mentions(bool(document.labels))
        asked, use = named.asked(document, given=given), link(given)
        if together:
            reply = next(iter(use([asked])))
        else:
            with lock:  # a linker on this machine is asked one document at a time
                reply = next(iter(use([asked])))
        if reply.error is not None:
            raise FailedError(reply.error)
        return answered_in_nif(document, reply)

    link(given=system.spans == "needed")  # what cannot start says so before anybody asks
    try:
        yield answer
    finally:
        for each in started.values():
            close: Callable[[], None] = getattr(each, "close", lambda: None)
            close()
