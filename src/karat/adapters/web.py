"""Services on the web: one question for each document, and one way to read the reply."""

from __future__ import annotations

from collections.abc import Callable

from karat.adapters.each import AskingEach
from karat.model.document import Document, Reply
from karat.spec.outside import Outside
from karat.storage.web import WebQuestion, WebService, host_of, is_local


def web_link(
    address: str,
    ask: Callable[[Document], WebQuestion],
    read: Callable[[Document, bytes], Reply],
    *,
    timeout: float = 60.0,
) -> AskingEach:
    """The function that links by asking a service."""
    service = WebService(address, timeout)
    return AskingEach(lambda document: read(document, service.ask(ask(document))), service.close)


def web_outside(address: str, *, calibrated: bool = True) -> Outside:
    """What asking a service touches; texts do not leave for one on this machine."""
    hosts = () if is_local(address) else (host_of(address),)
    return Outside(hosts, calibrated=calibrated)
