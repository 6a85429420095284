"""Requests to a web service at one host: bounded in size and time, and never redirected to another host."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from karat.model.errors import InputError, ResponseError, UsageError
from karat.model.limits import get_limit
from karat.storage.http_client import USER_AGENT, is_retryable_status, parse_retry_after

if TYPE_CHECKING:
    import httpx

_MAX_REDIRECTS: Final = 5
_DEFAULT_TIMEOUT: Final = 60.0  # seconds per request
_SECRET: Final = re.compile(r"(?i)(?:key|token|secret|passw|auth)[\w.-]*=")
_MAX_MESSAGE_LENGTH: Final = 200  # characters of an error response in a message


class WebRequest(NamedTuple):
    """A request to a web service; `form` and `body` exclude each other."""

    path: str = ""
    """Path that is appended to the address of the service."""
    method: str = "POST"
    """HTTP method."""
    params: Mapping[str, str] = {}
    """Query parameters."""
    headers: Mapping[str, str] = {}
    """HTTP headers."""
    form: Mapping[str, str] | None = None
    """Form fields of the body."""
    body: bytes | None = None
    """Bytes of the body."""


class WebService:
    """A service at an address, safe for use by several threads.

    Parameters may contain credentials, so messages show only the host of an address. `timeout` is in seconds per
    request. Raise `InputError` for an address that `parse_host` rejects.
    """

    def __init__(self, address: str, timeout: float = _DEFAULT_TIMEOUT) -> None:
        self.host = parse_host(address)
        try:
            import httpx
        except ImportError:
            raise UsageError("web services need httpx: pip install 'karat[services]'") from None
        self._address, self._timeout = address, timeout
        self._client = httpx.Client(
            headers={"User-Agent": USER_AGENT},
            timeout=timeout,
            follow_redirects=False,
            trust_env=not is_local(address),  # a proxy cannot reach this machine
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
        )

    def send(self, request: WebRequest) -> bytes:
        """Send a request and return the body of the response; raise `ResponseError` if it fails.

        Redirects to the same host are followed. The request is not retried, but the error says whether a retry may
        help.
        """
        import httpx

        http_request = self._client.build_request(
            request.method,
            self._address + request.path,
            params=dict(request.params) or None,
            headers=dict(request.headers),
            data=request.form,
            content=request.body,
        )
        try:
            for _ in range(_MAX_REDIRECTS):
                response = self._client.send(http_request, stream=True)
                try:
                    if response.next_request is None:
                        return self._read_body(response)
                    http_request = self._check_redirect(http_request, response.next_request)
                finally:
                    response.close()
        except httpx.TimeoutException:
            raise ResponseError(f"{self.host}: no response within {self._timeout:g} seconds") from None
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            raise ResponseError(f"{self.host}: {_describe_problem(problem)}") from None
        raise ResponseError(f"{self.host}: more than {_MAX_REDIRECTS} redirects", is_retryable=False)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _check_redirect(self, request: httpx.Request, redirected: httpx.Request) -> httpx.Request:
        """Return the redirected request; raise `ResponseError` if it goes to another scheme, host or port."""
        if _parse_origin(str(redirected.url)) != _parse_origin(str(request.url)):
            raise ResponseError(f"{self.host}: a redirect to {redirected.url.host}, another host", is_retryable=False)
        return redirected

    def _read_body(self, response: httpx.Response) -> bytes:
        """Return the body of a response; raise `ResponseError` for an error status or a body too long or slow."""
        deadline, body = time.monotonic() + self._timeout, bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > get_limit("response"):
                raise ResponseError(
                    f"{self.host}: a response of more than {get_limit('response'):,} bytes", is_retryable=False
                )
            if time.monotonic() > deadline:
                raise ResponseError(f"{self.host}: no complete response within {self._timeout:g} seconds")
        if response.is_success:
            return bytes(body)
        message = " ".join(bytes(body[: 4 * _MAX_MESSAGE_LENGTH]).decode("utf-8", "replace").split())[
            :_MAX_MESSAGE_LENGTH
        ]
        raise ResponseError(
            f"{self.host}: {response.status_code} {_get_status_phrase(response.status_code)}"
            f"{f' ({message})' if message else ''}",
            is_retryable=is_retryable_status(response.status_code),
            retry_after=parse_retry_after(response.headers.get("Retry-After")),
        )


def parse_host(address: str) -> str:
    """Return the host of a web address, with its port if stated.

    Raise `InputError` for other addresses, and for addresses that contain a user name, password or key.
    """
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(
            address.partition("?")[0] or "no address",
            actual="not a web address",
            expected="an address that starts with http:// or https://",
            remedy="Pass the address of the service",
        )
    if parts.username or parts.password or _SECRET.search(parts.query):
        raise InputError(
            f"{parts.scheme}://{parts.hostname}/…",
            actual="a user name, password or key in an address",
            expected="an address without credentials, because manifests store addresses",
            remedy="Put credentials into an environment variable",
        )
    return parts.hostname if port is None else f"{parts.hostname}:{port}"


def is_local(address: str) -> bool:
    """Return whether an address is on this machine: `localhost` or a loopback IP address."""
    name = urlsplit(address).hostname or ""
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _parse_origin(address: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port of an address, with the default port of the scheme."""
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _get_status_phrase(status: int) -> str:
    """Return the standard phrase of an HTTP status, such as Not Found."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "(unknown status)"


def _describe_problem(problem: Exception) -> str:
    """Describe an error of httpx in plain words, without its address; the name of an unknown error."""
    name = type(problem).__name__
    messages = {
        "ConnectError": "no connection",
        "RemoteProtocolError": "the connection was cut",
        "ReadError": "the connection was cut",
        "WriteError": "the connection was cut",
        "DecodingError": "a response that cannot be decompressed",
    }
    return messages.get(name, name)
