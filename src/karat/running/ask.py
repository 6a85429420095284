"""All documents of a corpus put to a system: cached, resumed, retried, and each answered or carrying its error."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

import msgspec

from karat.adapters.patience import Pace, Patience, with_patience
from karat.adapters.telling import Heard, listening, without_secrets
from karat.errors import KaratError, UsageError
from karat.model.document import Document, Reply
from karat.running.named import RunnableSystem, document_key
from karat.spec.system import Link
from karat.stats.timing import Usage, begin, used
from karat.storage.home import home
from karat.storage.replies import ReplyStore
from karat.work import Advance, working

Clock: TypeAlias = Literal["service-reported", "local call", "wall minus empty request", "wall"]
"""Where a time comes from."""

_EMPTY: Final = "a" + " " * 3000  # as BAT asks; nothing is found in it
_LOOKS_UP: Final = 0.5  # seconds between two looks whether somebody interrupts
_NOT_ASKED: Final = "not asked, for {count} documents in a row had failed; the last: {last}"


@dataclass(frozen=True)
class RunWishes:
    """How a system is run.

    `given` hands mentions to systems that take them. Up to `workers` documents are under way at once, at most `rate` a
    second, and each is asked about up to `attempts` times. After `give_up` failures in a row nothing more is asked.
    `fresh` asks also what is known. `warm_up` documents are asked before times count, and times are the median of
    `timings` calls, for systems on this machine; `calibrate` empty questions tell how long the way to a service takes.
    `repeats` runs differ only by chance.
    """

    given: bool = False
    workers: int = 4
    rate: float | None = None
    attempts: int = 4
    wait: float = 1.0
    give_up: int = 25
    fresh: bool = False
    warm_up: int = 1
    timings: int = 1
    calibrate: int = 6
    repeats: int = 1


class KeptReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """A reply as it is kept: without the name of its document, and with what else is known of it.

    An error that is `final` is what the system has to say, and is not asked about again.
    """

    reply: Reply
    clock: str
    at: str
    counts: dict[str, int] = {}
    overhead: float = 0.0
    final: bool = False


@dataclass(frozen=True)
class Asked:
    """What came of asking: a reply for each document in their order, and what is known of them as a whole.

    `cached` of them were known before. `kept` has what is known of each that was answered, `usage` what this process
    and those it started took, `started` the seconds until the system was there, `peak` the memory of a program that
    stays.
    """

    replies: tuple[Reply, ...]
    kept: Mapping[str, KeptReply]
    cached: int
    usage: Usage
    started: float = 0.0
    overhead: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)
    peak: int = 0


class _Failures:
    """How many documents failed in a row."""

    def __init__(self, most: int) -> None:
        self._most, self._row, self._last = most, 0, ""
        self._lock = threading.Lock()

    def count(self, reply: Reply) -> None:
        with self._lock:
            self._row = 0 if reply.error is None else self._row + 1
            self._last = reply.error or ""

    def instead(self, document: Document) -> Reply | None:
        """What stands in place of a reply once it is no use to ask."""
        with self._lock:
            if self._row < self._most:
                return None
            return Reply(document.id, error=_NOT_ASKED.format(count=self._row, last=self._last))


def ask_all(
    named: RunnableSystem, documents: Iterable[Document], wishes: RunWishes, what: str, repeat: int = 0
) -> Asked:
    """Put documents to a system. Whatever ends it, replies that came are kept, and the next call goes on from them."""
    given = named.takes_mentions(wishes.given)
    asked = [named.asked(document, given=given) for document in documents]
    keys = [document_key(document, repeat) for document in asked]
    store = ReplyStore(home() / "replies" / f"{named.key(given=given)}.jsonl")
    try:
        known = {} if wishes.fresh else dict(_known(store, keys))
        missing = {key: document for key, document in zip(keys, asked, strict=True) if key not in known}
        cached = sum(key in known for key in keys)
        run = _Running(named, wishes, store, given)
        with working(what, len(asked)) as advance:
            advance(len(asked) - len(missing))
            made = run.ask(missing, advance) if missing else {}
    finally:
        store.close()
    return _asked([document.id for document in asked], keys, {**known, **made}, cached, run)


def _known(store: ReplyStore, keys: Sequence[str]) -> Iterator[tuple[str, KeptReply]]:
    for key in dict.fromkeys(keys):
        record = store.get(key)
        if record is not None:
            with suppress(msgspec.DecodeError, UnicodeDecodeError):  # it was cut while it was written
                yield key, msgspec.json.decode(record, type=KeptReply)


def _asked(
    ids: Sequence[str], keys: Sequence[str], found: Mapping[str, KeptReply], cached: int, run: _Running
) -> Asked:
    replies = tuple(msgspec.structs.replace(found[key].reply, id=id) for id, key in zip(ids, keys, strict=True))
    counts: Counter[str] = Counter()
    for key in keys:
        counts.update(found[key].counts)
    kept = {id: found[key] for id, key in zip(ids, keys, strict=True)}
    return Asked(replies, kept, cached, run.usage, run.started, run.overhead, dict(counts), run.peak)


class _Running:
    """A system at work."""

    def __init__(self, named: RunnableSystem, wishes: RunWishes, store: ReplyStore, given: bool) -> None:
        self._named, self._wishes, self._store, self._given = named, wishes, store, given
        self._failures = _Failures(wishes.give_up)
        self.usage = Usage()
        self.started = self.overhead = 0.0
        self.peak = 0

    def ask(self, missing: Mapping[str, Document], advance: Advance) -> dict[str, KeptReply]:
        assert self._named.system is not None
        before, began = begin(), time.perf_counter()
        link = self._named.system.start(self._named.options, self._given)
        self.started = time.perf_counter() - began
        try:
            outside = self._named.outside
            if outside is None:
                return self._ask_here(link, missing, advance)
            patience = Patience(self._wishes.attempts, self._wishes.wait, pace=Pace(self._wishes.rate))
            with with_patience(patience):
                if outside.calibrated:
                    self.overhead = self._calibrated(link)
                return self._ask_outside(link, missing, advance, patience)
        finally:
            close: Callable[[], None] = getattr(link, "close", lambda: None)
            close()
            self.usage = used() - before

    # --- on this machine: one after the other, as the system takes them

    def _ask_here(self, link: Link, missing: Mapping[str, Document], advance: Advance) -> dict[str, KeptReply]:
        every = list(missing.items())
        with suppress(Exception):  # it will be the error of its document
            for _ in link([document for _, document in every[: self._wishes.warm_up]]):
                pass
        made: dict[str, KeptReply] = {}
        times: dict[str, list[float]] = {}
        for timing in range(max(1, self._wishes.timings)):
            last = timing == max(1, self._wishes.timings) - 1
            for key, reply, seconds, told in self._passed(link, every):
                times.setdefault(key, []).append(seconds)
                if last:
                    middle = sorted(times[key])[len(times[key]) // 2]
                    made[key] = self._keep(key, reply, middle, "local call", told)
                    advance(1)
        return made

    def _passed(self, link: Link, every: Sequence[tuple[str, Document]]) -> Iterator[tuple[str, Reply, float, Heard]]:
        """Replies to all documents; what a system raises is the error of the document that it was at."""
        place = 0
        while place < len(every):
            if (instead := self._failures.instead(every[place][1])) is not None:
                yield every[place][0], instead, 0.0, Heard()
                place += 1
                continue
            replies = link([document for _, document in every[place:]])
            began = time.perf_counter()
            try:
                while place < len(every):
                    with listening() as told:
                        reply = next(replies)
                    seconds = time.perf_counter() - began
                    self._failures.count(reply)
                    yield every[place][0], reply, seconds, told
                    place += 1
                    began = time.perf_counter()
            except StopIteration:
                raise UsageError(f"{self._named.title} gave {place} replies to {len(every)} documents.") from None
            except KaratError:
                raise
            except Exception as problem:  # noqa: BLE001  # whatever somebody's linker raises is an error of this document
                reply = Reply(every[place][1].id, error=f"{type(problem).__name__}: {problem}")
                self._failures.count(reply)
                yield every[place][0], reply, time.perf_counter() - began, Heard()
                place += 1

    # --- elsewhere: several at once

    def _calibrated(self, link: Link) -> float:
        """How long an empty question takes: the mean without the fastest and the slowest; 0 where one fails."""
        walls = []
        for _ in range(self._wishes.calibrate):
            with listening() as told:
                reply = next(iter(link([Document("empty", _EMPTY)])))
            if reply.error is not None or told.seconds is None or reply.seconds is not None:
                return 0.0  # or the service tells its times itself
            walls.append(told.seconds)
        middle = sorted(walls)[1:-1] or walls
        return sum(middle) / len(middle) if middle else 0.0

    def _ask_outside(
        self, link: Link, missing: Mapping[str, Document], advance: Advance, patience: Patience
    ) -> dict[str, KeptReply]:
        made: dict[str, KeptReply] = {}
        jobs = iter(missing.items())
        pool = ThreadPoolExecutor(self._wishes.workers)
        under_way: set[Future[tuple[str, KeptReply]]] = set()
        try:
            while True:
                for key, document in jobs:
                    under_way.add(pool.submit(copy_context().run, self._one, link, key, document))
                    if len(under_way) >= 2 * self._wishes.workers:
                        break
                if not under_way:
                    return made
                done: set[Future[tuple[str, KeptReply]]] = set()
                while not done:  # a signal that comes just before it waits does not wake it: it looks up
                    done, under_way = wait(under_way, _LOOKS_UP, FIRST_COMPLETED)
                for each in done:
                    key, kept = each.result()
                    made[key] = kept
                    advance(1)
        finally:
            patience.stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)  # whoever closes the link ends what is under way

    def _one(self, link: Link, key: str, document: Document) -> tuple[str, KeptReply]:
        """One document, in whichever thread."""
        if (instead := self._failures.instead(document)) is not None:
            return key, KeptReply(instead, "wall", _now())
        began = time.perf_counter()
        with listening() as told:
            reply = next(iter(link([document])))
        wall = time.perf_counter() - began if told.seconds is None else told.seconds
        self._failures.count(reply)
        here = self._named.outside is not None and self._named.outside.command
        clock: Clock = "wall minus empty request" if self.overhead else "local call" if here else "wall"
        return key, self._keep(key, reply, max(0.0, wall - self.overhead), clock, told)

    def _keep(self, key: str, reply: Reply, seconds: float, clock: Clock, told: Heard) -> KeptReply:
        """A reply with its time; an error is not stored unless it is final, so that the next run asks again."""
        self.peak = max(self.peak, told.peak)
        if reply.error is not None:
            reply = msgspec.structs.replace(reply, error=without_secrets(reply.error))
        elif reply.seconds is None:
            reply = msgspec.structs.replace(reply, seconds=seconds)
        else:
            clock = "service-reported"
        kept = KeptReply(reply, clock, _now(), dict(told.counts), self.overhead, told.final)
        if reply.error is None or told.final:
            nameless = msgspec.structs.replace(kept, reply=msgspec.structs.replace(reply, id=""))
            self._store.put(key, msgspec.json.encode(nameless))
        return kept


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
