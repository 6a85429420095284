"""Telemetry of a response (counts, times, memory), and credentials that must not be written anywhere."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

import msgspec

from karat.model.document import Response
from karat.model.errors import UsageError

RETRIED_EVENT: Final = "retried requests"
REDACTED_EVENT: Final = "credentials in responses (replaced by the name of their variable)"

_MIN_SECRET_LENGTH: Final = 4  # shorter values would match everywhere


@dataclass
class ResponseTelemetry:
    """The reports of an adapter on the processing of one document.

    `counts`: counted events, by description.
    `seconds`: duration of the successful request; None if the adapter reports none.
    `is_final`: the error is the system's own answer, so the document is not sent again.
    `peak_memory`: maximal memory of a started program, in bytes.
    `reply`: what the system sent, as it came, if the cache keeps it; see `System.read_reply`.
    """

    counts: Counter[str] = field(default_factory=Counter)
    seconds: float | None = None
    is_final: bool = False
    peak_memory: int = 0
    reply: str = ""


_current: ContextVar[ResponseTelemetry | None] = ContextVar("telemetry", default=None)


@contextmanager
def capture_telemetry() -> Iterator[ResponseTelemetry]:
    """Yield a record that collects the reports of all adapters called inside the context."""
    telemetry = ResponseTelemetry()
    token = _current.set(telemetry)
    try:
        yield telemetry
    finally:
        _current.reset(token)


def count_event(event: str, count: int = 1) -> None:
    """Add `count` to the telemetry of the current document, under the event's description; do nothing outside one."""
    telemetry = _current.get()
    if telemetry is not None and count:
        telemetry.counts[event] += count


def report_seconds(seconds: float) -> None:
    """Store the duration of the successful request in the current telemetry, without earlier attempts and waiting."""
    telemetry = _current.get()
    if telemetry is not None:
        telemetry.seconds = seconds


def report_peak_memory(size: int) -> None:
    """Raise the peak memory in the current telemetry to `size` bytes, if that is more."""
    telemetry = _current.get()
    if telemetry is not None:
        telemetry.peak_memory = max(telemetry.peak_memory, size)


def report_final_error() -> None:
    """Mark the error of the current document as the system's own answer, which a retry would not change."""
    telemetry = _current.get()
    if telemetry is not None:
        telemetry.is_final = True


def report_reply(body: bytes) -> None:
    """Store what the system sent in the current telemetry, so that the cache keeps it."""
    telemetry = _current.get()
    if telemetry is not None:
        telemetry.reply = body.decode("utf-8", "replace")


_secrets: dict[str, str] = {}


def get_credential(variable: str, system: str) -> str:
    """Return the value of an environment variable, and let `redact_secrets` hide it from now on.

    An unset or empty variable raises `UsageError`, which names `system`.
    """
    value = os.environ.get(variable, "")
    if not value:
        raise UsageError(
            f"{system} needs a credential in the environment variable {variable}. Run export {variable}=…."
        )
    hide_variables([variable])
    return value


def hide_variables(variables: Iterable[str]) -> None:
    """Let `redact_secrets` hide the values of these environment variables from now on; unset ones are ignored."""
    _secrets.update({name: os.environ[name] for name in variables if name in os.environ})


def redact_secrets(text: str) -> str:
    """Return a text with hidden values of at least 4 characters replaced by `$` and the names of their variables.

    Replaced values, plain or percent-encoded, are counted as a telemetry event.
    """
    for name, value in _secrets.items():
        if len(value) >= _MIN_SECRET_LENGTH:
            for written in dict.fromkeys((value, quote(value), quote(value, safe=""))):
                count_event(REDACTED_EVENT, text.count(written))
                text = text.replace(written, f"${name}")
    return text


def redact_response(response: Response, telemetry: ResponseTelemetry) -> Response:
    """Return a response without hidden values, as `redact_secrets` does, and replace them in the telemetry."""
    telemetry.reply = redact_secrets(telemetry.reply)
    with capture_telemetry() as redaction:
        clean = _redact_strings(msgspec.to_builtins(response)) if _secrets else None
        counts = Counter({redact_secrets(event): count for event, count in telemetry.counts.items()})
    if not redaction.counts:
        return response
    telemetry.counts = counts + redaction.counts
    return msgspec.convert(clean, Response)


def _redact_strings(value: object) -> object:
    """Return a JSON value whose strings contain no hidden values; names of fields stay."""
    if isinstance(value, str):
        return redact_secrets(value)
    if isinstance(value, list | tuple):
        return [_redact_strings(item) for item in value]
    return {name: _redact_strings(item) for name, item in value.items()} if isinstance(value, dict) else value
