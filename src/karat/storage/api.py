"""Questions to a service on the web: asked again while it is busy, and answered with bytes."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlencode

from karat.errors import InputError
from karat.version import __version__

_ATTEMPTS: Final = 6
_WAIT: Final = 1.0  # seconds before the second attempt; each further one waits twice as long
_LONGEST: Final = 120.0  # seconds that a service may ask us to wait
_SIZE: Final = 1 << 28  # bytes of a reply


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A service that sends us elsewhere is not the one that was named."""

    def redirect_request(self, *_: object) -> None:
        return None


def ask(
    url: str,
    question: Mapping[str, str],
    *,
    busy: Callable[[bytes], str | None] = lambda _: None,
    timeout: float = 60,
    wait: float = _WAIT,
) -> bytes:
    """The reply to a question. `busy` says of a reply why it is none yet, where the service writes that into it."""
    if not url.startswith(("http://", "https://")):
        raise InputError(url, found="an address off the web", expected="http or https", remedy="Check the address")
    problem = ""
    for attempt in range(_ATTEMPTS):
        pause = 0.0
        try:
            reply, pause = _reply(url, question, timeout)
            said = busy(reply)
            if said is None:
                return reply
            problem = said
        except urllib.error.HTTPError as refusal:
            with refusal:
                if refusal.code not in (408, 429) and refusal.code < 500:
                    raise _unwilling(url, f"a refusal ({refusal.code} {refusal.reason})") from None
                problem, pause = f"{refusal.code} {refusal.reason}", _asked_pause(refusal.headers.get("Retry-After"))
        except (urllib.error.URLError, TimeoutError, ConnectionError, http.client.HTTPException) as broken:
            problem = str(getattr(broken, "reason", "") or broken) or type(broken).__name__
        if attempt < _ATTEMPTS - 1:
            time.sleep(max(wait * 2**attempt, min(pause, _LONGEST) if wait else 0))
    raise _unwilling(url, f"no reply in {_ATTEMPTS} attempts ({problem})")


def _reply(url: str, question: Mapping[str, str], timeout: float) -> tuple[bytes, float]:
    request = urllib.request.Request(
        url,
        data=urlencode(question).encode(),  # posted, for a list of ids may be longer than an address
        headers={"User-Agent": f"karat/{__version__} (evaluation of entity linkers)", "Accept": "application/json"},
    )
    opener = urllib.request.build_opener(_NoRedirects)
    with opener.open(request, timeout=timeout) as reply:
        length = reply.headers.get("Content-Length", "")
        data: bytes = reply.read(_SIZE)
        if length.isdecimal() and len(data) < int(length):
            raise http.client.IncompleteRead(data)
        return data, _asked_pause(reply.headers.get("Retry-After"))


def _asked_pause(header: str | None) -> float:
    return float(header) if header is not None and header.isdecimal() and len(header) < 7 else 0.0


def _unwilling(url: str, found: str) -> InputError:
    return InputError(
        url,
        found=found,
        expected="a service that answers",
        remedy="Check the connection and repeat the command: it goes on from what was fetched",
    )
