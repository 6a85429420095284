"""A system on a corpus, as a run with its manifest, and what there is to say about how it went."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from karat.data.load import load_run
from karat.errors import UsageError
from karat.fitting import counted
from karat.model.corpus import Corpus
from karat.model.document import Reply
from karat.model.run import Run
from karat.running.ask import Asked, RunWishes, ask_all
from karat.running.named import RunnableSystem
from karat.spec.outside import TrainingCard
from karat.stats.timing import TimeSummary


@dataclass(frozen=True)
class Ran:
    """A system on a corpus: its run, and how it went.

    `clock` says where times come from, `failed` the ids of the documents with each error, of which `final` are not
    asked about again, `cached` how many replies were known before. `cpu` seconds and `peak` bytes are what this machine
    spent: those of the programs that were started, or else of this process; None where the work was done elsewhere or
    nothing was asked.
    """

    system: str
    corpus: str
    run: Run
    documents: int
    cached: int = 0
    times: TimeSummary | None = None
    clock: str = ""
    cpu: float | None = None
    peak: int | None = None
    tokens: int | None = None
    cost: float | None = None
    failed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    final: int = 0
    repeat: int = 0

    @property
    def failures(self) -> int:
        """How many documents have an error."""
        return sum(map(len, self.failed.values()))


def run_system(
    named: RunnableSystem, corpus: Corpus, wishes: RunWishes, repeat: int = 0, training: TrainingCard | None = None
) -> Ran:
    """The replies of a system to all documents of a corpus; `training` says what it was made from, if it does not."""
    if not corpus.has_text:
        raise UsageError(f"{corpus.name} has no texts, and linkers read texts. Give a gold standard with texts.")
    if named.published is not None:
        return _read(named, corpus)
    began = datetime.now(UTC)
    title = named.title if wishes.repeats == 1 else f"{named.title} #{repeat + 1}"
    asked = ask_all(named, corpus, wishes, f"{title} on {corpus.name}", repeat)
    times, clock = _times(asked)
    about = {
        **named.about(),
        **({} if training is None else training.said()),
        "corpus": f"{corpus.name}@{corpus.digest}",
        "mentions": "given" if named.takes_mentions(wishes.given) else "found",
        **_when(asked, began),
        **_timed(times, clock, asked),
        **_spent(asked, named),
        **{f"count: {what}": str(count) for what, count in sorted(asked.counts.items())},
        **({} if wishes.repeats == 1 else {"repeat": f"{repeat + 1} of {wishes.repeats}"}),
    }
    run = Run.built(asked.replies, name=title, about=about, skipped=asked.counts)
    failed = _failed(asked.replies)
    cpu, peak = _usage(asked, named)
    tokens, cost = _sum([reply.tokens for reply in asked.replies]), _sum([reply.cost for reply in asked.replies])
    final = sum(asked.kept[id].final for ids in failed.values() for id in ids)
    made = Ran(title, corpus.name, run, len(asked.replies), asked.cached, times, clock, cpu, peak, final=final)
    return replace(made, tokens=None if tokens is None else int(tokens), cost=cost, failed=failed, repeat=repeat)


def _read(named: RunnableSystem, corpus: Corpus) -> Ran:
    """Answers that somebody published, as if they had been given here."""
    assert named.published is not None
    run = load_run(named.published, corpus=corpus, system=named.title)
    replies = list(run)
    seconds = [reply.seconds for reply in replies if reply.seconds is not None]
    tokens, cost = _sum([reply.tokens for reply in replies]), _sum([reply.cost for reply in replies])
    made = Ran(named.title, corpus.name, run, len(replies), len(replies), TimeSummary.of(seconds), "as published")
    return replace(made, tokens=None if tokens is None else int(tokens), cost=cost, failed=_failed(replies))


def _hosts(named: RunnableSystem) -> bool:
    return named.outside is not None and not named.outside.command


def _failed(replies: Sequence[Reply]) -> dict[str, tuple[str, ...]]:
    """The documents with each error, the most frequent first."""
    found: dict[str, list[str]] = {}
    for reply in replies:
        if reply.error is not None:
            found.setdefault(reply.error, []).append(reply.id)
    return {error: tuple(ids) for error, ids in sorted(found.items(), key=lambda item: -len(item[1]))}


def _sum(values: Sequence[float | None]) -> float | None:
    """The sum of what is known, None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _times(asked: Asked) -> tuple[TimeSummary | None, str]:
    """Times of documents that were answered, and where they come from."""
    answered = [reply for reply in asked.replies if reply.error is None]
    clocks = Counter(asked.kept[reply.id].clock for reply in answered)
    seconds = [reply.seconds for reply in answered if reply.seconds is not None]
    said = ", ".join(f"{clock}" if len(clocks) == 1 else f"{clock} ({count})" for clock, count in clocks.most_common())
    return TimeSummary.of(seconds), said


def _timed(times: TimeSummary | None, clock: str, asked: Asked) -> dict[str, str]:
    if times is None:
        return {}
    overhead = max((asked.kept[reply.id].overhead for reply in asked.replies), default=0.0)
    said = {"times": clock, "seconds in all": f"{times.total:.6g}", "seconds mean": f"{times.mean:.6g}"}
    said |= {f"seconds {name}": f"{getattr(times, name):.6g}" for name in ("median", "p90", "p95", "p99")}
    return said | ({"seconds of an empty request": f"{overhead:.6g}"} if overhead else {})


def _when(asked: Asked, began: datetime) -> dict[str, str]:
    """When replies were given: those that were known before have their own times."""
    at = sorted(kept.at for kept in asked.kept.values())
    said = {"run at": began.isoformat(timespec="seconds")}
    if asked.cached and at:
        said["replies from the cache"] = f"{asked.cached} of {len(asked.replies)}, given from {at[0]} to {at[-1]}"
    return said


def _usage(asked: Asked, named: RunnableSystem) -> tuple[float | None, int | None]:
    """CPU seconds and peak memory, where they say something about the system."""
    if asked.cached == len(asked.replies) or _hosts(named):
        return None, None
    used = asked.usage
    cpu, peak = (used.cpu, used.peak) if named.outside is None else (used.child_cpu, asked.peak)
    return cpu, peak or None


def _spent(asked: Asked, named: RunnableSystem) -> dict[str, str]:
    """What this machine spent, and which machine it is."""
    if asked.cached == len(asked.replies):
        return {}
    said = {
        "machine": f"{platform.system()} {platform.machine()}, {counted(os.cpu_count() or 1, 'CPU')}",
        "python": platform.python_version(),
    }
    cpu, peak = _usage(asked, named)
    if cpu is None:
        return said
    whose = "with Karat itself" if named.outside is None else "of a process"
    said |= {"seconds to start": f"{asked.started:.3g}", "CPU seconds": f"{cpu:.3g}"}
    return said if peak is None else said | {"peak memory": f"{peak / 1e6:.0f} MB {whose}"}
