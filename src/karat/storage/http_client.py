"""HTTP requests with the standard library: a form sent to a web API, and the connection that downloads use."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import IO, Final, cast
from urllib.parse import urlencode

from karat.model.errors import InputError, ResponseError
from karat.storage.retry import RetryPolicy, call_with_retries
from karat.version import __version__

USER_AGENT: Final = f"karat/{__version__} (evaluation of entity linkers)"

_ATTEMPTS: Final = 6
_DEFAULT_WAIT: Final = 1.0  # seconds before the second attempt; each further one waits twice as long
_MAX_WAIT: Final = 120.0  # seconds
_MAX_RESPONSE_SIZE: Final = 1 << 28  # bytes of a response


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

    `timeout` is in seconds. Only a request without data is redirected, and never from https to http. Raise
    `InputError` for another kind of address, `urllib.error.HTTPError` for an error status that a retry cannot help, and
    `ResponseError` for a busy service and for a connection that breaks, in the block too.
    """
    if not url.startswith(("http://", "https://")):
        raise InputError(url, actual="not a web address", expected="http or https", remedy="Check the address")
    opener = urllib.request.build_opener(_SafeRedirects if data is None else _NoRedirects)
    request = urllib.request.Request(url, data, {"User-Agent": USER_AGENT, **headers})
    try:
        with opener.open(request, timeout=timeout) as response:
            yield cast("http.client.HTTPResponse", response)
    except urllib.error.HTTPError as problem:
        if not is_retryable_status(problem.code):
            raise
        with problem:
            pause = parse_retry_after(problem.headers.get("Retry-After"))
            raise ResponseError(f"{problem.code} {problem.reason}", retry_after=pause) from None
    except (TimeoutError, ConnectionError, http.client.HTTPException) as problem:
        raise ResponseError(str(problem) or type(problem).__name__) from None
    except urllib.error.URLError as problem:
        is_broken = isinstance(problem.reason, TimeoutError | ConnectionResetError)
        raise ResponseError(str(problem.reason), is_retryable=is_broken) from None


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
