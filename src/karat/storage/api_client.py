"""Requests to a web API: retried while the service is busy."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlencode

from karat.model.errors import InputError
from karat.version import __version__

_ATTEMPTS: Final = 6
_DEFAULT_WAIT: Final = 1.0  # seconds before the second attempt; each further one waits twice as long
_MAX_WAIT: Final = 120.0  # seconds
_MAX_RESPONSE_SIZE: Final = 1 << 28  # bytes of a response


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A handler that follows no redirect, so that data goes only to the service that the user named."""

    def redirect_request(self, *_: object) -> None:
        return None


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
    if not url.startswith(("http://", "https://")):
        raise InputError(url, actual="not a web address", expected="http or https", remedy="Check the address")
    problem = ""
    for attempt in range(_ATTEMPTS):
        pause = 0.0
        try:
            response, pause = _send_form(url, form, timeout)
            busy_reason = find_busy_reason(response)
            if busy_reason is None:
                return response
            problem = busy_reason
        except urllib.error.HTTPError as error:
            with error:
                if error.code not in (408, 429) and error.code < 500:
                    raise _service_error(url, f"a refusal ({error.code} {error.reason})") from None
                problem, pause = f"{error.code} {error.reason}", _parse_retry_after(error.headers.get("Retry-After"))
        except (urllib.error.URLError, TimeoutError, ConnectionError, http.client.HTTPException) as connection_error:
            problem = (
                str(getattr(connection_error, "reason", "") or connection_error) or type(connection_error).__name__
            )
        if attempt < _ATTEMPTS - 1:
            time.sleep(max(wait * 2**attempt, min(pause, _MAX_WAIT) if wait else 0))
    raise _service_error(url, f"no response in {_ATTEMPTS} attempts ({problem})")


def _send_form(url: str, form: Mapping[str, str], timeout: float) -> tuple[bytes, float]:
    """Send a form once; return the body and the seconds that the service asks to wait before the next request, or 0.

    Raise `http.client.IncompleteRead` if the body is cut, and `InputError` if it is too large.
    """
    request = urllib.request.Request(
        url,
        data=urlencode(form).encode(),  # POST, because a list of ids may be too long for a URL
        headers={"User-Agent": f"karat/{__version__} (evaluation of entity linkers)", "Accept": "application/json"},
    )
    opener = urllib.request.build_opener(_NoRedirects)
    with opener.open(request, timeout=timeout) as response:
        length = response.headers.get("Content-Length", "")
        data: bytes = response.read(_MAX_RESPONSE_SIZE + 1)
        if len(data) > _MAX_RESPONSE_SIZE:
            raise InputError(
                url,
                actual=f"a response of more than {_MAX_RESPONSE_SIZE >> 20} MiB",
                expected="a smaller response",
                remedy="Check the address, or request less at a time",
            )
        if length.isdecimal() and len(data) < int(length):
            raise http.client.IncompleteRead(data)
        return data, _parse_retry_after(response.headers.get("Retry-After"))


def _parse_retry_after(header: str | None) -> float:
    """Return the seconds in a Retry-After header; 0 if it is missing or no number."""
    return float(header) if header is not None and header.isdecimal() and len(header) < 7 else 0.0


def _service_error(url: str, finding: str) -> InputError:
    """Return (not raise) the error for a service that fails."""
    return InputError(
        url,
        actual=finding,
        expected="a service that responds",
        remedy="Check the connection and repeat the command: it resumes the download",
    )
