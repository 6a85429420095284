"""Cached responses of a system, from which an interrupted run resumes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Literal, TypeAlias

import msgspec

from karat.model.document import Document, Response
from karat.model.errors import ResponseError
from karat.model.json.decoder import JsonError, decode_json
from karat.storage.response_store import ResponseStore
from karat.systems.adapters.service_responses import check_response
from karat.systems.telemetry import REDACTED_EVENT, RETRIED_EVENT, capture_telemetry, redact_response

Clock: TypeAlias = Literal["service-reported", "local call", "local call, batch mean", "wall"]
"""The source of a measured time; `batch mean`: the time of a batch, divided by its number of documents."""


class CachedResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """A response with its measurements; the cache stores it without the document id.

    `response`: the response.
    `clock`: source of the measured time.
    `timestamp`: when the response arrived, in ISO 8601.
    `counts`: counted events, by description.
    `latency`: measured latency in seconds, which the time in the cache includes; see `subtract_latency`.
    `is_final`: the error is the system's own answer, so the document is not sent again.
    `workers`: number of documents that were processed at once.
    `reply`: what the system sent, as it came, if it can be read again; see `System.read_reply`.
    """

    response: Response
    clock: str
    timestamp: str
    counts: dict[str, int] = {}
    latency: float = 0.0
    is_final: bool = False
    workers: int = 1
    reply: str = ""


def read_cached_responses(store: ResponseStore, keys: Sequence[str]) -> Iterator[tuple[str, CachedResponse]]:
    """Yield each distinct key of `keys` that has a response in `store`, with the response.

    Records that are damaged, because a process was killed while writing, are skipped; their documents are sent again.
    """
    for key in dict.fromkeys(keys):
        record = store.get(key)
        if record is not None:
            with suppress(JsonError):
                yield key, decode_json(record, CachedResponse)


def write_cached_response(store: ResponseStore, key: str, cached: CachedResponse) -> None:
    """Write a response to `store` under the cache key of its document, without the document id."""
    anonymous = msgspec.structs.replace(cached, response=msgspec.structs.replace(cached.response, id=""))
    store.put(key, msgspec.json.encode(anonymous))


def read_reply_again(
    cached: CachedResponse, document: Document, read_reply: Callable[[Document, bytes], Response]
) -> CachedResponse | None:
    """Return a cached response whose reply is read anew, with its times; None if the reply cannot be read.

    `read_reply`: returns the response from the document and the reply.
    """
    with capture_telemetry() as telemetry:
        try:
            response = check_response(document, read_reply(document, cached.reply.encode()))
        except ResponseError:
            return None
    response = redact_response(response, telemetry)
    for event in (RETRIED_EVENT, REDACTED_EVENT):  # they happened when the reply arrived
        telemetry.counts[event] += cached.counts.get(event, 0)
    return msgspec.structs.replace(
        cached,
        response=msgspec.structs.replace(response, seconds=cached.response.seconds),
        counts=dict(+telemetry.counts),
        is_final=telemetry.is_final,
    )
