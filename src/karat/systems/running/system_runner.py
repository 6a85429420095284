"""Collection of a system's responses to all documents of a corpus, with caching, resuming and retries."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, NamedTuple, overload

import msgspec

from karat.model.document import Document, Response
from karat.model.errors import KaratError, UsageError
from karat.model.output.progress import Advance, track_progress
from karat.model.output.text_layout import format_count
from karat.model.spec.system import Link
from karat.stats.timing import Usage, get_usage, start_measurement
from karat.storage.data_folder import get_home_folder
from karat.storage.response_store import ResponseStore
from karat.storage.retry import RateLimiter, RetryPolicy, use_retry_policy
from karat.systems.adapters.program import SurplusLineError
from karat.systems.running.cached_responses import (
    CachedResponse,
    Clock,
    read_cached_responses,
    read_reply_again,
    write_cached_response,
)
from karat.systems.running.system import RunnableSystem, document_key
from karat.systems.telemetry import ResponseTelemetry, capture_telemetry, redact_response

_CORRECTED: Final = "wall minus empty request"
_EMPTY_REQUEST: Final = "a" + " " * 3000  # the probe of BAT, which contains no entity


_POLL_SECONDS: Final = 0.5  # between two checks for an interrupt
_FLUSH_SECONDS: Final = 1.0  # between two flushes of the responses of a local system
_SKIPPED_MESSAGE: Final = "not sent, because {count} documents in a row had failed; last error: {last}"


@dataclass(frozen=True)
class RunOptions:
    """Options for running a system.

    `gold_mentions`: pass the gold mentions to systems that accept them.
    `workers`: number of documents that are processed at once.
    `rate_limit`: maximal number of requests per second.
    `attempts`: maximal number of requests per document.
    `wait`: seconds before the first retry; doubled for each further one.
    `max_failures`: number of consecutive failures after which no more documents are sent.
    `no_cache`: ignore cached responses.
    `warm_up`: number of documents that a local system processes before times are measured.
    `timing_runs`: number of timed passes of a local system; the median counts.
    `latency_probes`: number of empty requests that measure the latency of a service.
    `repeats`: number of runs, which differ only by randomness.
    """

    gold_mentions: bool = False
    workers: int = 4
    rate_limit: float | None = None
    attempts: int = 4
    wait: float = 1.0
    max_failures: int = 25
    no_cache: bool = False
    warm_up: int = 1
    timing_runs: int = 1
    latency_probes: int = 6
    repeats: int = 1


class CountedDocuments(Sequence[Document]):
    """Documents that know how many of them were read, which tells how many a system processes at once.

    `n_read`: number of documents up to the last one that was read.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents, self.n_read = documents, 0

    def __len__(self) -> int:
        return len(self._documents)

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Document]: ...
    def __getitem__(self, index: int | slice) -> Document | Sequence[Document]:
        indices = range(len(self._documents))[index]
        last = indices if isinstance(indices, int) else max(indices, default=-1)
        self.n_read = max(self.n_read, last + 1)
        return self._documents[index]


class TimedResponse(NamedTuple):
    """A response of a local system.

    `key`: cache key of the document.
    `response`: the response.
    `seconds`: time of the document, or of its batch divided by the batch size; None if the batch is not finished.
    `batch_size`: number of documents in the batch.
    `telemetry`: reports on its processing.
    """

    key: str
    response: Response
    seconds: float | None
    batch_size: int
    telemetry: ResponseTelemetry


@dataclass(frozen=True)
class CollectedResponses:
    """The responses to all documents, in order.

    `responses`: one response per document.
    `cached_responses`: the responses with their measurements, by document id.
    `n_cached`: number of responses from the cache.
    `cached_period`: times of arrival of the first and the last response from the cache; None without such responses.
    `usage`: CPU time and memory of this process and its children.
    `start_seconds`: seconds until the system was ready.
    `latency`: measured latency in seconds.
    `counts`: counted events, by description.
    `peak_memory`: maximal memory of a persistent program, in bytes.
    `n_within_latency`: number of documents that took no longer than an empty request.
    """

    responses: tuple[Response, ...]
    cached_responses: Mapping[str, CachedResponse]
    n_cached: int
    cached_period: tuple[str, str] | None
    usage: Usage
    start_seconds: float = 0.0
    latency: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)
    peak_memory: int = 0
    n_within_latency: int = 0


class FailureCounter:
    """A thread-safe counter of consecutive failures, which tells when to stop sending documents.

    `max_failures`: number of consecutive failures after which documents are skipped.
    """

    def __init__(self, max_failures: int) -> None:
        self._max_failures, self._row, self._last = max_failures, 0, ""
        self._lock = threading.Lock()

    def record(self, response: Response) -> None:
        """Count a failed response; a successful one resets the counter."""
        with self._lock:
            self._row = 0 if response.error is None else self._row + 1
            self._last = response.error or ""

    def get_skip_response(self, document: Document) -> Response | None:
        """Return the error response of a document that is not sent after too many failures; None if it is sent."""
        with self._lock:
            if self._row < self._max_failures:
                return None
            return Response(document.id, error=_SKIPPED_MESSAGE.format(count=self._row, last=self._last))


def collect_responses(
    system: RunnableSystem, documents: Iterable[Document], options: RunOptions, title: str, repeat: int = 0
) -> CollectedResponses:
    """Send all documents to a system, except those with a cached response, and return all responses in order.

    `title`: title of the progress bar.
    `repeat`: index of the repetition, from 0; each repetition has its own cached responses.
    Responses are cached as they arrive, so an interrupted call resumes where it stopped. Documents with equal
    content are sent once.
    """
    gold_mentions = system.uses_gold_mentions(options.gold_mentions)
    queries = [system.prepare_document(document, gold_mentions=gold_mentions) for document in documents]
    keys = [document_key(document, repeat) for document in queries]
    store = ResponseStore(get_home_folder() / "responses" / f"{system.cache_key(gold_mentions=gold_mentions)}.jsonl")
    try:
        responses = {} if options.no_cache else dict(read_cached_responses(store, keys))
        responses = _read_replies(system, responses, dict(zip(keys, queries, strict=True)))
        missing = {key: document for key, document in zip(keys, queries, strict=True) if key not in responses}
        n_cached = sum(key in responses for key in keys)
        timestamps = sorted(response.timestamp for response in responses.values())
        cached_period = (timestamps[0], timestamps[-1]) if timestamps else None
        runner = SystemRunner(system, options, store, gold_mentions)
        with track_progress(title, len(queries)) as advance:
            advance(len(queries) - len(missing))
            new_responses = runner.run(missing, advance) if missing else {}
    except SurplusLineError:  # any response of this run may belong to another document
        store.discard_new()
        raise
    finally:
        store.close()
    corrected, n_within_latency = subtract_latency({**responses, **new_responses})
    collected = _to_collected([document.id for document in queries], keys, corrected, n_cached, cached_period, runner)
    return replace(collected, n_within_latency=n_within_latency)


def _read_replies(
    system: RunnableSystem, cached_responses: Mapping[str, CachedResponse], documents: Mapping[str, Document]
) -> dict[str, CachedResponse]:
    """Return cached responses with their replies read with the options of the system; unreadable ones are left out.

    `documents`: document of each cache key, as the system receives it.
    """
    assert system.system is not None
    if system.system.read_reply is None or not any(cached.reply for cached in cached_responses.values()):
        return dict(cached_responses)
    read_reply = system.system.read_reply(system.options)
    read = {
        key: read_reply_again(cached, documents[key], read_reply) if cached.reply else cached
        for key, cached in cached_responses.items()
    }
    return {key: cached for key, cached in read.items() if cached is not None}


def _to_collected(
    ids: Sequence[str],
    keys: Sequence[str],
    cached_responses: Mapping[str, CachedResponse],
    n_cached: int,
    cached_period: tuple[str, str] | None,
    runner: SystemRunner,
) -> CollectedResponses:
    """Return the responses in the order of the documents, with the measurements of `runner`.

    `ids`, `keys`: id and cache key of each document.
    `cached_responses`: response of each key, from the cache or new.
    `n_cached`: number of documents whose response is from the cache.
    `cached_period`: times of arrival of the first and the last of them.
    """
    responses = tuple(
        msgspec.structs.replace(cached_responses[key].response, id=id) for id, key in zip(ids, keys, strict=True)
    )
    counts: Counter[str] = Counter()
    for key in keys:
        counts.update(cached_responses[key].counts)
    by_id = {id: cached_responses[key] for id, key in zip(ids, keys, strict=True)}
    return CollectedResponses(
        responses,
        by_id,
        n_cached,
        cached_period,
        runner.usage,
        runner.start_seconds,
        runner.latency,
        dict(counts),
        runner.peak_memory,
    )


class SystemRunner:
    """The execution of a system on the documents without cached response, with its measurements.

    `usage`: CPU time and memory of this process and its children during `run`.
    `start_seconds`: seconds until the system was ready.
    `latency`: seconds of an empty request to a service.
    `peak_memory`: maximal memory of a persistent program, in bytes.
    `workers`: number of documents that are processed at once.
    """

    def __init__(self, system: RunnableSystem, options: RunOptions, store: ResponseStore, gold_mentions: bool) -> None:
        self._system, self._options, self._store, self._gold_mentions = system, options, store, gold_mentions
        self._failures = FailureCounter(options.max_failures)
        self.usage = Usage()
        self.start_seconds = self.latency = 0.0
        self.peak_memory = 0
        self.workers = 1

    def run(self, missing: Mapping[str, Document], advance: Advance) -> dict[str, CachedResponse]:
        """Start the system, send the documents and return their responses, both by cache key; then close the system.

        `advance` is called with the number of documents whose responses are on disk, in the cache, since the last call.
        """
        assert self._system.system is not None
        before, start = start_measurement(), time.perf_counter()
        link = self._system.system.start(self._system.options, self._gold_mentions)
        self.start_seconds = time.perf_counter() - start
        try:
            access = self._system.access
            if access is None:
                return self._run_local(link, missing, advance)
            policy = RetryPolicy(
                self._options.attempts, self._options.wait, rate_limiter=RateLimiter(self._options.rate_limit)
            )
            with use_retry_policy(policy):
                if access.has_latency_probe:
                    self.latency = measure_latency(link, self._options.latency_probes)
                return self._run_external(link, missing, advance, policy)
        finally:
            close: Callable[[], None] = getattr(link, "close", lambda: None)
            close()
            self.usage = get_usage() - before

    # --- local systems: one document after the other

    def _run_local(self, link: Link, missing: Mapping[str, Document], advance: Advance) -> dict[str, CachedResponse]:
        """Run a system inside Karat: a warm-up, then timed passes; each response gets its median time.

        A response of an unfinished batch is cached without time, and again with its time when the batch is finished.
        """
        documents = list(missing.items())
        with suppress(Exception):  # the timed pass reports the error
            for _ in link([document for _, document in documents[: self._options.warm_up]]):
                pass
        responses: dict[str, CachedResponse] = {}
        times: dict[str, list[float]] = {}
        n_unflushed, last_flush = 0, time.monotonic()
        for timing in range(max(1, self._options.timing_runs)):
            is_last = timing == max(1, self._options.timing_runs) - 1
            for timed in self._iterate_responses(link, documents):
                key = timed.key
                if timed.seconds is not None:
                    times.setdefault(key, []).append(timed.seconds)
                if not is_last:
                    continue
                n_unflushed += key not in responses
                median = None if timed.seconds is None else sorted(times[key])[len(times[key]) // 2]
                clock: Clock = "local call" if timed.batch_size == 1 else "local call, batch mean"
                responses[key] = self._store_response(key, timed.response, median, clock, timed.telemetry)
                if time.monotonic() - last_flush > _FLUSH_SECONDS:
                    self._store.flush()
                    advance(n_unflushed)
                    n_unflushed, last_flush = 0, time.monotonic()
        self._store.flush()
        advance(n_unflushed)
        return responses

    def _iterate_responses(self, link: Link, documents: Sequence[tuple[str, Document]]) -> Iterator[TimedResponse]:
        """Yield the response of each document with its time; an exception becomes the document's error.

        Documents that the system reads before it answers the first of them are a batch, over which its time is spread
        evenly. The responses of a batch of several documents are yielded first without time, then with it. After an
        exception, linking restarts with the next document. Too few responses raise `UsageError`.
        """
        index = 0
        while index < len(documents):
            if (skipped := self._failures.get_skip_response(documents[index][1])) is not None:
                yield TimedResponse(documents[index][0], skipped, 0.0, 1, ResponseTelemetry())
                index += 1
                continue
            first = index
            queries = CountedDocuments([document for _, document in documents[first:]])
            batch: list[TimedResponse] = []
            start, total = time.perf_counter(), 0.0
            responses = link(queries)
            try:
                while index < len(documents):
                    with capture_telemetry() as telemetry:
                        response = next(responses)
                    total += time.perf_counter() - start
                    response = redact_response(response, telemetry)
                    self._failures.record(response)
                    timed = TimedResponse(documents[index][0], response, None, 1, telemetry)
                    batch.append(timed)
                    index += 1
                    if index - first >= queries.n_read:
                        yield from _spread_time(batch, total)
                        batch, total = [], 0.0
                    else:
                        yield timed
                    start = time.perf_counter()
            except StopIteration:
                raise UsageError(
                    f"{self._system.title} returned {format_count(index, 'response')} for "
                    f"{format_count(len(documents), 'document')}. Return one response per document."
                ) from None
            except KaratError:
                raise
            except Exception as problem:  # noqa: BLE001  # any exception of a system is the error of this document
                telemetry = ResponseTelemetry()
                error = Response(documents[index][1].id, error=f"{type(problem).__name__}: {problem}")
                response = redact_response(error, telemetry)
                self._failures.record(response)
                batch.append(TimedResponse(documents[index][0], response, None, 1, telemetry))
                index += 1
                total += time.perf_counter() - start
            yield from _spread_time(batch, total)

    # --- external systems: several documents at once

    def _run_external(
        self, link: Link, missing: Mapping[str, Document], advance: Advance, policy: RetryPolicy
    ) -> dict[str, CachedResponse]:
        """Send the documents to a service or program in several threads; stop all waiting requests at the end."""
        responses: dict[str, CachedResponse] = {}
        self.workers = min(self._options.workers, len(missing))
        jobs = iter(missing.items())
        pool = ThreadPoolExecutor(self._options.workers)
        pending: set[Future[tuple[str, CachedResponse]]] = set()
        try:
            while True:
                for key, document in jobs:
                    pending.add(pool.submit(copy_context().run, self._run_document, link, key, document))
                    if len(pending) >= 2 * self._options.workers:
                        break
                if not pending:
                    return responses
                done: set[Future[tuple[str, CachedResponse]]] = set()
                while not done:  # a signal just before `wait` does not wake it, so it polls
                    done, pending = wait(pending, _POLL_SECONDS, FIRST_COMPLETED)
                for future in done:
                    key, response = future.result()
                    responses[key] = response
                    advance(1)
        finally:
            policy.stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)  # closing the link ends pending requests

    def _run_document(self, link: Link, key: str, document: Document) -> tuple[str, CachedResponse]:
        """Send one document, or skip it after too many failures; return its key and response."""
        if (skipped := self._failures.get_skip_response(document)) is not None:
            return key, CachedResponse(skipped, "wall", _now())
        start = time.perf_counter()
        with capture_telemetry() as telemetry:
            response = next(iter(link([document])))
        response = redact_response(response, telemetry)
        wall = time.perf_counter() - start if telemetry.seconds is None else telemetry.seconds
        self._failures.record(response)
        clock: Clock = "local call" if self._runs_program else "wall"
        cached = self._store_response(key, response, wall, clock, telemetry)
        self._store.flush()
        return key, cached

    @property
    def _runs_program(self) -> bool:
        """Whether the system is a program that Karat starts."""
        return self._system.access is not None and bool(self._system.access.command)

    def _store_response(
        self, key: str, response: Response, seconds: float | None, clock: Clock, telemetry: ResponseTelemetry
    ) -> CachedResponse:
        """Return a response with its time and telemetry; write it to the cache unless it has a temporary error.

        `seconds` and `clock` count only if the response has no time of its own. A program that writes its time measures
        the call, as Karat does, but without its start.
        """
        self.peak_memory = max(self.peak_memory, telemetry.peak_memory)
        if response.error is None:
            if response.seconds is None:
                response = msgspec.structs.replace(response, seconds=seconds)
            else:
                clock = "local call" if self._runs_program else "service-reported"
        is_kept = response.error is None or telemetry.is_final
        cached = CachedResponse(
            response,
            clock,
            _now(),
            dict(telemetry.counts),
            self.latency,
            telemetry.is_final,
            self.workers,
            telemetry.reply if is_kept else "",
        )
        if is_kept:
            write_cached_response(self._store, key, cached)
        return cached


def _spread_time(batch: Sequence[TimedResponse], seconds: float) -> Iterator[TimedResponse]:
    """Yield the responses of a batch, each with the same share of the batch's time."""
    for timed in batch:
        yield timed._replace(seconds=seconds / len(batch), batch_size=len(batch))


def _now() -> str:
    """Return the current time in UTC, in ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


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
