"""Linkers that send one request per document to a web service."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from karat.model.document import Document, Response
from karat.model.errors import ResponseError
from karat.model.spec.external_access import ExternalAccess
from karat.storage.http_client import WebRequest, WebService, is_local, parse_host
from karat.systems.adapters.service_responses import PerDocumentLinker


def make_web_linker(
    address: str,
    make_request: Callable[[Document], WebRequest],
    parse: Callable[[Document, bytes], Response],
    *,
    timeout: float = 60.0,
    remedies: Mapping[str, str] = {},
) -> PerDocumentLinker:
    """Return a linker that sends one request per document to a web service.

    `address`: URL of the service, to which the paths of requests are appended.
    `make_request`: returns the request for a document.
    `parse`: returns the response, from the document and the body that the service returned.
    `timeout`: seconds per request.
    `remedies`: options to add if the service refuses a request, by a name that its message then contains.
    """
    service = WebService(address, timeout)

    def link(document: Document) -> Response:
        try:
            body = service.send(make_request(document))
        except ResponseError as problem:
            remedy = next((remedy for name, remedy in remedies.items() if name in str(problem)), None)
            if problem.is_retryable or remedy is None:
                raise
            raise ResponseError(f"{problem}. Add the option {remedy}", is_retryable=False) from None
        return parse(document, body)

    return PerDocumentLinker(link, service.close)


def get_web_access(address: str, *, has_latency_probe: bool = True, credential: str = "") -> ExternalAccess:
    """Return the external access of a web service: the host that receives texts; none if it is this computer.

    `has_latency_probe`: whether empty requests may measure the latency. `credential`: the environment variable without
    which nothing is sent.
    """
    hosts = () if is_local(address) else (parse_host(address),)
    return ExternalAccess(hosts, has_latency_probe=has_latency_probe, credential=credential)
