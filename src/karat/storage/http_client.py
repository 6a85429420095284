"""HTTP requests: services of systems (`WebService`, with httpx), web APIs and downloads (with the standard library).

All share the rules for status codes, Retry-After and redirects. The core uses the standard library, so that it needs no
extra. httpx keeps connections open, so that the measured seconds of a service do not include a new connection.
"""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from ipaddress import ip_address
from typing import IO, TYPE_CHECKING, Final, NamedTuple, cast
from urllib.parse import urlencode, urlsplit

from karat.model.errors import InputError, ResponseError, UsageError, shorten
from karat.model.json.decoder import JsonError, decode_json
from karat.model.limits import get_limit
from karat.storage.retry import HANDLERS, RetryPolicy, call_with_retries, limit_time, watch_client
from karat.version import __version__

if TYPE_CHECKING:
    import httpx

USER_AGENT: Final = f"karat/{__version__} (evaluation of entity linkers)"

_ATTEMPTS: Final = 6
_DEFAULT_WAIT: Final = 1.0  # seconds before the second attempt; each further one waits twice as long
_MAX_WAIT: Final = 120.0  # seconds
_MAX_RESPONSE_SIZE: Final = 1 << 28  # bytes of a response
_MAX_REDIRECTS: Final = 5
_DEFAULT_TIMEOUT: Final = 60.0  # seconds per request
_SECRET: Final = re.compile(r"(?i)(?:key|token|secret|passw|auth)[\w.-]*=")
_MAX_MESSAGE_LENGTH: Final = 200  # characters of an error response in a message


def is_retryable_status(status: int) -> bool:
    """Return whether a request that failed with an HTTP status may succeed later."""
    return status in (408, 425, 429) or status >= 500


def parse_retry_after(header: str | None) -> float:
    """Return the seconds that a Retry-After header (number or date) asks to wait; 0 if it is missing or invalid."""
    if header is None:
        return 0.0
    if header.isdecimal() and len(header) < 7:
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return 0.0
    return max(0.0, (date.astimezone(UTC) - datetime.now(UTC)).total_seconds())


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """A handler that follows redirects, but raises `InputError` for one from https to http or to another protocol."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        allowed = ("https:",) if req.full_url.startswith("https:") else ("http:", "https:")
        if not newurl.startswith(allowed):
            raise InputError(
                req.full_url,
                actual=f"a redirect to {newurl}",
                expected=f"an address that starts with {' or '.join(allowed)}",
                remedy="Download the file by hand and pass its folder with --from",
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A handler that follows no redirect, so that data goes only to the service that the user named."""

    def redirect_request(self, *_: object) -> None:
        return None


@contextmanager
def open_url(
    url: str, *, headers: Mapping[str, str], timeout: float, data: bytes | None = None
) -> Iterator[http.client.HTTPResponse]:
    """Open a web address for the block, by POST with `data` or else by GET, and yield the response.

    The whole exchange, with the body, has to end within `timeout` seconds, unless the block calls `restart_deadline`.
    Only a request without data is redirected, and never from https to http. Raise `InputError` for another kind of
    address, `urllib.error.HTTPError` for an error status that a retry cannot help, and `ResponseError` for a busy
    service and for a connection that breaks, in the block too.
    """
    if not url.startswith(("http://", "https://")):
        raise InputError(url, actual="not a web address", expected="http or https", remedy="Check the address")
    opener = urllib.request.build_opener(_SafeRedirects if data is None else _NoRedirects, *HANDLERS)
    request = urllib.request.Request(url, data, {"User-Agent": USER_AGENT, **headers})
    try:
        with limit_time(timeout), opener.open(request, timeout=timeout) as response:
            yield cast("http.client.HTTPResponse", response)
    except urllib.error.HTTPError as problem:
        if not is_retryable_status(problem.code):
            raise
        with problem:
            pause = parse_retry_after(problem.headers.get("Retry-After"))
            raise ResponseError(f"{problem.code} {problem.reason}", retry_after=pause) from None
    except TimeoutError:
        raise ResponseError(f"no complete response within {timeout:g} seconds") from None
    except (ConnectionError, http.client.HTTPException) as problem:
        raise ResponseError(str(problem) or type(problem).__name__) from None
    except urllib.error.URLError as problem:
        if isinstance(problem.reason, TimeoutError):
            raise ResponseError(f"no complete response within {timeout:g} seconds") from None
        raise ResponseError(
            str(problem.reason), is_retryable=isinstance(problem.reason, ConnectionResetError)
        ) from None


def request_api(
    url: str,
    form: Mapping[str, str],
    *,
    find_busy_reason: Callable[[bytes], str | None] = lambda _: None,
    timeout: float = 60,
    wait: float = _DEFAULT_WAIT,
) -> bytes:
    """Send a form to a web API by POST and return the body of the response, with retries.

    `find_busy_reason`: returns the reason if a response only says that the service is busy, else None. `timeout`:
    seconds for each attempt. `wait`: seconds before the first retry; each further retry waits twice as long. Raise
    `InputError` if the service refuses the request, or after the last of six attempts.
    """

    def send() -> bytes:
        try:
            body, pause = _send_form(url, form, timeout)
        except ResponseError as problem:  # an unreachable service may be reachable later
            raise ResponseError(str(problem), retry_after=_limit_pause(problem.retry_after, wait)) from None
        busy_reason = find_busy_reason(body)
        if busy_reason is not None:
            raise ResponseError(busy_reason, retry_after=_limit_pause(pause, wait))
        return body

    try:
        return call_with_retries(send, RetryPolicy(_ATTEMPTS, wait))
    except urllib.error.HTTPError as problem:
        with problem:
            raise _service_error(url, f"a refusal ({problem.code} {problem.reason})") from None
    except ResponseError as problem:
        raise _service_error(url, f"no response in {_ATTEMPTS} attempts ({problem})") from None


def _limit_pause(pause: float, wait: float) -> float:
    """Return the seconds of a pause that a service requests, at most `_MAX_WAIT`; none if retries do not wait."""
    return min(pause, _MAX_WAIT) if wait else 0.0


def _send_form(url: str, form: Mapping[str, str], timeout: float) -> tuple[bytes, float]:
    """Send a form once; return the body and the seconds that the service asks to wait before the next request, or 0.

    Raise `ResponseError` if the body is cut, and `InputError` if it is too large.
    """
    data = urlencode(form).encode()  # POST, because a list of ids may be too long for a URL
    with open_url(url, data=data, headers={"Accept": "application/json"}, timeout=timeout) as response:
        length = response.headers.get("Content-Length", "")
        body = response.read(_MAX_RESPONSE_SIZE + 1)
        if len(body) > _MAX_RESPONSE_SIZE:
            raise InputError(
                url,
                actual=f"a response of more than {_MAX_RESPONSE_SIZE >> 20} MiB",
                expected="a smaller response",
                remedy="Check the address, or request less at a time",
            )
        if length.isdecimal() and len(body) < int(length):
            raise http.client.IncompleteRead(body)
        return body, parse_retry_after(response.headers.get("Retry-After"))


def _service_error(url: str, finding: str) -> InputError:
    """Return (not raise) the error for a service that fails."""
    return InputError(
        url,
        actual=finding,
        expected="a service that responds",
        remedy="Check the connection and repeat the command: it resumes the download",
    )


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
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate"},
            timeout=timeout,
            follow_redirects=False,
            trust_env=not is_local(address),  # a proxy cannot reach this machine
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
        )
        watch_client(self._client)

    def send(self, request: WebRequest) -> bytes:
        """Send a request and return the body of the response; raise `ResponseError` if it fails.

        Redirects to the same host are followed. The timeout is that of the whole exchange, with redirects and body. The
        request is not retried, but the error says whether a retry may help.
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
            with limit_time(self._timeout):
                for _ in range(_MAX_REDIRECTS):
                    response = self._client.send(http_request, stream=True)
                    try:
                        if response.next_request is None:
                            return self._read_body(response)
                        http_request = self._check_redirect(http_request, response.next_request)
                    finally:
                        response.close()
        except httpx.TimeoutException:
            raise ResponseError(f"{self.host}: no complete response within {self._timeout:g} seconds") from None
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
        """Return the decoded body of a response; raise `ResponseError` for an error status or a body too long."""
        max_size, received = get_limit("response"), bytearray()
        for chunk in response.iter_raw():
            received += chunk
            if len(received) > max_size:
                raise ResponseError(f"{self.host}: a response of more than {max_size:,} bytes", is_retryable=False)
        try:
            body = _decode_body(bytes(received), response.headers.get("Content-Encoding", ""), max_size)
        except zlib.error:
            raise ResponseError(f"{self.host}: a response that cannot be decompressed") from None
        except ResponseError as problem:
            raise ResponseError(f"{self.host}: {problem}", is_retryable=False) from None
        if response.is_success:
            return body
        message = shorten(" ".join(_get_error_message(body).split()), _MAX_MESSAGE_LENGTH)
        raise ResponseError(
            f"{self.host}: {response.status_code} {_get_status_phrase(response.status_code)}"
            f"{f' ({message})' if message else ''}",
            is_retryable=is_retryable_status(response.status_code),
            retry_after=parse_retry_after(response.headers.get("Retry-After")),
        )


def _get_error_message(body: bytes) -> str:
    """Return the message in the body of an error: the field of the JSON that most services send, or else its text."""
    with suppress(JsonError):
        value = decode_json(body)
        for name in ("error", "message"):
            if isinstance(value, dict) and isinstance(value.get(name), dict | str):
                value = value[name]
        if isinstance(value, str):
            return value
    return body[: 4 * _MAX_MESSAGE_LENGTH].decode("utf-8", "replace")


def _decode_body(body: bytes, encodings: str, max_size: int) -> bytes:
    """Undo the content encodings of a body, at most `max_size` bytes after each; `encodings` is their header.

    Raise `zlib.error` for damaged bytes, and `ResponseError` for too many bytes or an unknown encoding.
    """
    for name in reversed([name.strip().lower() for name in encodings.split(",")]):
        if name in ("", "identity"):
            continue
        if name not in ("gzip", "x-gzip", "deflate"):
            raise ResponseError(f"a response in the encoding {name!r}, which was not requested")
        body = _decompress(body, max_size)
    return body


def _decompress(data: bytes, max_size: int) -> bytes:
    """Decompress gzip or deflate, which some services send without its header; raise errors as `_decode_body` does."""
    is_raw = not data.startswith(b"\x1f\x8b") and not (data[:1] == b"\x78" and int.from_bytes(data[:2]) % 31 == 0)
    decoder = zlib.decompressobj(-zlib.MAX_WBITS if is_raw else zlib.MAX_WBITS | 32)
    decoded = decoder.decompress(data, max_size + 1)
    if len(decoded) > max_size:
        raise ResponseError(f"a response of {len(data):,} bytes that decompresses to more than {max_size:,}")
    if not decoder.eof:
        raise zlib.error("incomplete")
    return decoded


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
