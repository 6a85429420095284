"""Linkers that send one request per document to a web service."""

from __future__ import annotations

from collections.abc import Callable

from karat.model.document import Document, Response
from karat.model.spec.external_access import ExternalAccess
from karat.storage.http_client import WebRequest, WebService, is_local, parse_host
from karat.systems.adapters.service_responses import PerDocumentLinker


def make_web_linker(
    address: str,
    make_request: Callable[[Document], WebRequest],
    parse: Callable[[Document, bytes], Response],
    *,
    timeout: float = 60.0,
) -> PerDocumentLinker:
    """Return a linker that sends one request per document to a web service.

    `address`: URL of the service, to which the paths of requests are appended.
    `make_request`: returns the request for a document.
    `parse`: returns the response, from the document and the body that the service returned.
    `timeout`: seconds per request.
    """
    service = WebService(address, timeout)
    return PerDocumentLinker(lambda document: parse(document, service.send(make_request(document))), service.close)


def get_web_access(address: str, *, has_latency_probe: bool = True, credential: str = "") -> ExternalAccess:
    """Return the external access of a web service: the host that receives texts; none if it is this computer.

    `has_latency_probe`: whether empty requests may measure the latency. `credential`: the environment variable without
    which nothing is sent.
    """
    hosts = () if is_local(address) else (parse_host(address),)
    return ExternalAccess(hosts, has_latency_probe=has_latency_probe, credential=credential)
