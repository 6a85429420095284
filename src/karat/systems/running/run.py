"""A system's run on a corpus, with its manifest and measurements."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from karat.data.load import load_manifest, load_run
from karat.model.corpus import Corpus
from karat.model.document import Response
from karat.model.errors import UsageError
from karat.model.output.text_layout import format_count
from karat.model.results.failures import group_by_error
from karat.model.run import COUNT_PREFIX, Run
from karat.model.spec.external_access import TrainingDetails
from karat.stats.timing import TimeSummary
from karat.systems.running.cached_responses import CachedResponse
from karat.systems.running.system import RunnableSystem
from karat.systems.running.system_runner import CollectedResponses, RunOptions, collect_responses


@dataclass(frozen=True)
class SystemRun:
    """A system's run on a corpus, with measurements.

    `system`: title of the system.
    `corpus`: name of the corpus.
    `run`: the responses, with the manifest as metadata.
    `n_documents`: number of documents.
    `n_cached`: number of responses from the cache or a file of published predictions.
    `times`: summary of the seconds per successful document; None if no times are known.
    `stated_seconds`: seconds over all documents that published predictions state; None if not stated.
    `clock`: source of the times.
    `cpu_seconds`, `peak_memory`: CPU time and maximal memory in bytes of the started programs, or else of this process;
    None for remote systems and if all responses were cached.
    `tokens`, `cost`: totals; None if unknown.
    `documents_by_error`: ids of the failed documents, by error message.
    `n_final_errors`: number of errors that a new run would not change.
    `repeat`: index of the repetition, from 0.
    `cached_period`: times of arrival of the first and the last cached response of a service, whose code Karat does not
    see; None without cached responses, and for other systems.
    `includes_karat`: whether `peak_memory` is the memory of Karat's own process.
    `replies`: what the system sent as it came, by document id, for systems whose replies can be read again.
    """

    system: str
    corpus: str
    run: Run
    n_documents: int
    n_cached: int = 0
    times: TimeSummary | None = None
    clock: str = ""
    cpu_seconds: float | None = None
    peak_memory: int | None = None
    tokens: int | None = None
    cost: float | None = None
    documents_by_error: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    n_final_errors: int = 0
    repeat: int = 0
    cached_period: tuple[str, str] | None = None
    includes_karat: bool = False
    replies: Mapping[str, str] = field(default_factory=dict)
    stated_seconds: float | None = None

    @property
    def total_seconds(self) -> float | None:
        """The seconds over all documents; None if unknown."""
        return self.stated_seconds if self.times is None else self.times.total

    @property
    def mean_seconds(self) -> float | None:
        """The mean seconds per document; None if unknown or without documents."""
        if self.times is not None:
            return self.times.mean
        return None if self.stated_seconds is None or not self.n_documents else self.stated_seconds / self.n_documents

    @property
    def n_failures(self) -> int:
        """The number of documents with an error."""
        return sum(map(len, self.documents_by_error.values()))


def run_system(
    system: RunnableSystem,
    corpus: Corpus,
    options: RunOptions,
    repeat: int = 0,
    training: TrainingDetails | None = None,
) -> SystemRun:
    """Run a system on all documents of a corpus, or load its published predictions.

    `repeat`: index of the repetition, from 0; each repetition has its own cached responses.
    `training`: training details for the manifest, which override those of the system.
    A corpus without texts raises `UsageError`. Responses are read from the cache and written to it.
    """
    if not corpus.has_text:
        raise UsageError(f"{corpus.name} has no texts, which systems need. Pass a gold standard with texts.")
    if system.predictions_file is not None:
        return _load_published(system, corpus)
    start = datetime.now(UTC)
    title = system.title if options.repeats == 1 else f"{system.title} #{repeat + 1}"
    collected = collect_responses(system, corpus, options, f"{title} on {corpus.name}", repeat)
    times, clock = _summarise_times(collected)
    metadata = {
        **system.metadata(),
        **({} if training is None else training.to_metadata()),
        "corpus": f"{corpus.name}@{corpus.digest}",
        "mentions": "gold" if system.uses_gold_mentions(options.gold_mentions) else "detected",
        **_date_metadata(collected, start),
        **_time_metadata(times, clock, collected),
        **_machine_metadata(collected, system),
        **{f"{COUNT_PREFIX}{event}": str(count) for event, count in sorted(collected.counts.items())},
        **({} if options.repeats == 1 else {"repeat": f"{repeat + 1} of {options.repeats}"}),
    }
    run = Run.from_reader(collected.responses, name=title, metadata=metadata, skipped=collected.counts)
    documents_by_error = _group_by_error(collected.responses)
    cpu, peak = _get_usage(collected, system)
    tokens, cost = (
        _sum_known([response.tokens for response in collected.responses]),
        _sum_known([response.cost for response in collected.responses]),
    )
    final = sum(collected.cached_responses[id].is_final for ids in documents_by_error.values() for id in ids)
    system_run = SystemRun(
        title,
        corpus.name,
        run,
        len(collected.responses),
        collected.n_cached,
        times,
        clock,
        cpu,
        peak,
        n_final_errors=final,
    )
    return replace(
        system_run,
        tokens=None if tokens is None else int(tokens),
        cost=cost,
        documents_by_error=documents_by_error,
        repeat=repeat,
        cached_period=collected.cached_period if _is_remote(system) else None,
        includes_karat=system.access is None,
        replies={id: cached.reply for id, cached in collected.cached_responses.items() if cached.reply},
    )


def _load_published(system: RunnableSystem, corpus: Corpus) -> SystemRun:
    """Load the published predictions of a system and return them as a run; all responses count as cached."""
    assert system.predictions_file is not None
    run = load_run(system.predictions_file, corpus=corpus, system=system.title)
    responses = list(run)
    seconds = [response.seconds for response in responses if response.seconds is not None]
    tokens, cost = (
        _sum_known([response.tokens for response in responses]),
        _sum_known([response.cost for response in responses]),
    )
    system_run = SystemRun(
        system.title,
        corpus.name,
        run,
        len(responses),
        len(responses),
        TimeSummary.from_seconds(seconds),
        "as published",
    )
    return replace(
        system_run,
        tokens=None if tokens is None else int(tokens),
        cost=cost,
        documents_by_error=_group_by_error(responses),
        stated_seconds=load_manifest(system.predictions_file).seconds,
    )


def _is_remote(system: RunnableSystem) -> bool:
    """Return whether a system is a web service rather than a program or a part of Karat."""
    return system.access is not None and not system.access.command


def _group_by_error(responses: Sequence[Response]) -> dict[str, tuple[str, ...]]:
    """Return the ids of the failed documents by error message, most frequent first."""
    return group_by_error((response.id, response.error) for response in responses if response.error is not None)


def _sum_known(values: Sequence[float | None]) -> float | None:
    """Return the sum of the values that are not None, or None if there are none."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None


def _summarise_times(collected: CollectedResponses) -> tuple[TimeSummary | None, str]:
    """Return a summary of the seconds of successful documents, and a text that names the clocks.

    The summary is None if no document has a time. Several clocks are listed with their numbers of documents.
    """
    successes = [response for response in collected.responses if response.error is None]
    clocks = Counter(_describe_clock(collected.cached_responses[response.id]) for response in successes)
    seconds = [response.seconds for response in successes if response.seconds is not None]
    description = ", ".join(
        f"{clock}" if len(clocks) == 1 else f"{clock} ({count})" for clock, count in clocks.most_common()
    )
    if collected.n_within_latency:
        description += (
            f" (an empty request takes no less time than {collected.n_within_latency:,} of {len(successes):,} "
            f"documents, so its time is not subtracted)"
        )
    return TimeSummary.from_seconds(seconds), description


def _describe_clock(cached: CachedResponse) -> str:
    """Return the source of a time, with the number of documents that were processed at once if there were several."""
    is_shared = cached.workers > 1 and cached.clock != "service-reported"
    return f"{cached.clock}, {cached.workers} documents at once" if is_shared else cached.clock


def _time_metadata(times: TimeSummary | None, clock: str, collected: CollectedResponses) -> dict[str, str]:
    """Return the manifest entries on seconds per document; empty if no times are known."""
    if times is None:
        return {}
    latency = max((collected.cached_responses[response.id].latency for response in collected.responses), default=0.0)
    metadata = {"times": clock, "seconds in all": f"{times.total:.6g}", "seconds mean": f"{times.mean:.6g}"}
    metadata |= {f"seconds {name}": f"{getattr(times, name):.6g}" for name in ("median", "p90", "p95", "p99")}
    return metadata | ({"seconds of an empty request": f"{latency:.6g}"} if latency else {})


def _date_metadata(collected: CollectedResponses, start: datetime) -> dict[str, str]:
    """Return the manifest entries on when the run started and when cached responses were received."""
    metadata = {"run at": start.isoformat(timespec="seconds")}
    if collected.cached_period is not None:
        first, last = collected.cached_period
        metadata["responses from the cache"] = (
            f"{collected.n_cached} of {len(collected.responses)}, received from {first} to {last}"
        )
    return metadata


def _get_usage(collected: CollectedResponses, system: RunnableSystem) -> tuple[float | None, int | None]:
    """Return the CPU seconds and the peak memory in bytes of a run.

    Both are None if the system is remote or all responses were cached. Both include Karat for a system inside Karat,
    and concern only the started programs otherwise.
    """
    if collected.n_cached == len(collected.responses) or _is_remote(system):
        return None, None
    usage = collected.usage
    cpu, peak = (
        (usage.cpu_seconds, usage.peak_bytes)
        if system.access is None
        else (usage.child_cpu_seconds, collected.peak_memory)
    )
    return cpu, peak or None


def _machine_metadata(collected: CollectedResponses, system: RunnableSystem) -> dict[str, str]:
    """Return the manifest entries on this computer and the resources used; empty if all responses were cached."""
    if collected.n_cached == len(collected.responses):
        return {}
    metadata = {
        "machine": f"{platform.system()} {platform.machine()}, {format_count(os.cpu_count() or 1, 'CPU')}",
        "python": platform.python_version(),
    }
    cpu, peak = _get_usage(collected, system)
    if cpu is None:
        return metadata
    scope = "including Karat" if system.access is None else "of a process"
    metadata |= {"seconds to start": f"{collected.start_seconds:.3g}", "CPU seconds": f"{cpu:.3g}"}
    return metadata if peak is None else metadata | {"peak memory": f"{peak / 1e6:.0f} MB {scope}"}
