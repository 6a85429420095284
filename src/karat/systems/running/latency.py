"""The latency of a service: measured by empty requests, and subtracted from the times of responses as in BAT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from karat.model.document import Document
from karat.model.spec.system import Link
from karat.systems.adapters.telemetry import capture_telemetry
from karat.systems.running.cached_responses import CachedResponse

_CORRECTED: Final = "wall minus empty request"
_EMPTY_REQUEST: Final = "a" + " " * 3000  # the probe of BAT, which contains no entity


def measure_latency(link: Link, n_probes: int) -> float:
    """Send `n_probes` empty requests to a service; return their mean seconds, without the fastest and the slowest.

    Return 0 if a request fails or the service reports its own times, which need no correction.
    """
    times = []
    for _ in range(n_probes):
        with capture_telemetry() as telemetry:
            response = next(iter(link([Document("empty", _EMPTY_REQUEST)])))
        if response.error is not None or telemetry.seconds is None or response.seconds is not None:
            return 0.0
        times.append(telemetry.seconds)
    trimmed = sorted(times)[1:-1] or times
    return sum(trimmed) / len(trimmed) if trimmed else 0.0


def subtract_latency(responses: Mapping[str, CachedResponse]) -> tuple[dict[str, CachedResponse], int]:
    """Return the responses with the latency of an empty request subtracted from their times, and a count.

    The count is the number of responses that took no longer than an empty request. If it is not 0, an empty request
    does not measure the latency, and nothing is subtracted.
    """
    calibrated = {
        key: cached
        for key, cached in responses.items()
        if cached.clock == "wall" and cached.latency and cached.response.seconds is not None
    }
    n_within = sum((cached.response.seconds or 0.0) <= cached.latency for cached in calibrated.values())
    if n_within:
        return dict(responses), n_within
    corrected = {
        key: msgspec.structs.replace(
            cached,
            clock=_CORRECTED,
            response=msgspec.structs.replace(
                cached.response, seconds=(cached.response.seconds or 0.0) - cached.latency
            ),
        )
        for key, cached in calibrated.items()
    }
    return {**responses, **corrected}, 0
