"""An annotation project while it runs, as its lead sees it: every number, and the annotations behind it.

Numbers are counts of cases that a filter selects, so that each number has exactly the cases that it opens. Labels are
part of a case only if their annotator has finished the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import combinations
from typing import Final, NamedTuple

from karat.protocols.annotation.changes import AnnotatedLabel, Change, Record, RegionDecision
from karat.protocols.annotation.gold import AdjudicatedDocument, DocumentVersion, adjudicate_document, group_records
from karat.protocols.annotation.project import AnnotationTask, Project
from karat.protocols.annotation.regions import find_regions
from karat.protocols.annotation.report import collect_independent_versions, measure_agreement
from karat.protocols.annotation.version_pairs import VersionAgreement
from karat.protocols.campaigns.working_times import elapsed_seconds, min_seconds, parse_time


class AnnotationEntry(NamedTuple):
    """The contribution of one person to a case."""

    person: str
    """Pseudonym."""
    time: str
    """Time on the server, in ISO 8601; empty if the person has a document and did nothing yet."""
    action: str
    """The action of the person, such as `finished`."""
    labels: tuple[AnnotatedLabel, ...] = ()
    """Labels of the person."""
    seconds: float | None = None
    """Time that the person took for the document; None if unknown."""
    is_fast: bool = False
    """Whether the time is too short to be true."""
    reason: str = ""
    """Reason of the person."""


class AnnotationCase(NamedTuple):
    """A document, or a region of it, with what people did there."""

    task: AnnotationTask
    """The document."""
    start: int
    """Start of the region, or of the evaluation span."""
    end: int
    """End of the region, or of the evaluation span."""
    is_region: bool
    """Whether the case is about a region, and not about the whole document."""
    entries: tuple[AnnotationEntry, ...]
    """The actions of all people."""

    @property
    def people(self) -> set[str]:
        """Pseudonyms of the people."""
        return {entry.person for entry in self.entries}


class _Work:
    """The work of an annotator on a document until it was finished first."""

    def __init__(self, first: Change, previous: Change | None) -> None:
        """Begin with the `first` change; `previous` is the annotator's change before it, in another document."""
        self._first, self._previous = first, previous
        self._measured = 0.0
        self._is_measured = False
        self.is_finished = False
        self.seconds: float | None = None

    def add(self, change: Change) -> None:
        """Add a change; the work ends with the first `finish`."""
        if self.is_finished:
            return
        if change.seconds is not None:
            self._measured += change.seconds
            self._is_measured = True
        if change.kind == "finish":
            self.is_finished = True
            self.seconds = self._compute_seconds(change)

    def _compute_seconds(self, finish: Change) -> float | None:
        """Return the time until `finish`, rather too long than too short; None if unknown.

        Unsent changes arrive together when a connection is back, so the time between first and last change on the clock
        of the server may be too short, and what the page measured leaves out the time after the last change. The longer
        of both counts, but never more than the time since the annotator worked on another document.
        """
        spans = []
        if self._first is not finish:
            span = elapsed_seconds(self._first.server_time, finish.server_time)
            if span is not None and self._first.seconds is not None:
                spans.append(span + self._first.seconds)
            if self._is_measured:
                spans.append(self._measured)
        elapsed = None
        if self._previous is not None:
            elapsed = elapsed_seconds(self._previous.server_time, finish.server_time)
        bounds = [*([max(spans)] if spans else []), *([elapsed] if elapsed is not None else [])]
        return min(bounds, default=None)


@dataclass(frozen=True)
class ProjectMonitor:
    """The state of a project at one moment.

    `states` has the status of the documents that annotators have, by number of the document and pseudonym. `now` is the
    time for which periods are counted.
    """

    project: Project
    records: Sequence[Record]
    states: Mapping[tuple[int, str], str]
    now: datetime

    @cached_property
    def _by_task(self) -> dict[int, list[Record]]:
        """Records by number of the document."""
        return group_records(self.records)

    @cached_property
    def _seconds(self) -> dict[tuple[int, str], float | None]:
        """Time for each document that an annotator finished, by number of the document and pseudonym."""
        works: dict[tuple[int, str], _Work] = {}
        previous: dict[str, Change] = {}
        for record in self.records:
            if not isinstance(record, Change) or record.kind == "round":  # a round is no work of the annotator
                continue
            key = (record.task, record.annotator)
            if key not in works:
                works[key] = _Work(record, previous.get(record.annotator))
            works[key].add(record)
            previous[record.annotator] = record
        return {key: work.seconds for key, work in works.items() if work.is_finished}

    @cached_property
    def _documents(self) -> dict[int, AdjudicatedDocument]:
        """Versions, regions and decisions of each document, by its number."""
        return {
            task.number: adjudicate_document(task, self._by_task.get(task.number, ())) for task in self.project.tasks
        }

    @cached_property
    def agreement(self) -> VersionAgreement | None:
        """Agreement of annotators before adjudication, without intervals; None if no document was finished by two."""
        return measure_agreement(self.project, self.records, resamples=0)

    @property
    def n_needed(self) -> int:
        """Number of documents that annotators still have to finish, counted once for each annotator."""
        done = Counter(number for (number, _), state in self.states.items() if state == "done")
        return sum(max(0, self.project.options.annotators - done[task.number]) for task in self.project.tasks)

    def collect_seconds(self) -> dict[str, list[float]]:
        """Return the known times of finished documents by annotator."""
        seconds: dict[str, list[float]] = {}
        for case in self._finished:
            for entry in case.entries:
                if entry.seconds is not None:
                    seconds.setdefault(entry.person, []).append(entry.seconds)
        return seconds

    def count_labels(self) -> Counter[str]:
        """Count the labels in finished documents by annotator."""
        counts: Counter[str] = Counter()
        for case in self._finished:
            for entry in case.entries:
                counts[entry.person] += len(entry.labels)
        return counts

    @property
    def last_times(self) -> dict[str, str]:
        """Time of the last record of each person."""
        return {record.annotator: record.server_time for record in self.records}

    # Filters.

    def find_cases(self, name: str, person: str | None = None, hours: float | None = None) -> list[AnnotationCase]:
        """Return the cases behind a number: those of the filter `name`, of one person and of the last hours.

        Raise `KeyError` for an unknown filter.
        """
        return [
            case
            for case in self._select_cases(name)
            if (person is None or person in case.people)
            and (hours is None or any(self._is_recent(entry.time, hours) for entry in case.entries))
        ]

    def count_by_person(self, name: str) -> Counter[str]:
        """Count the cases of a filter by person; a case of several people counts for each."""
        return Counter(person for case in self._select_cases(name) for person in case.people)

    @cached_property
    def _cases_by_filter(self) -> dict[str, Sequence[AnnotationCase]]:
        """Cases of the filters that were used, because many numbers of the page share a filter."""
        return {}

    def _select_cases(self, name: str) -> Sequence[AnnotationCase]:
        """Return all cases of a filter."""
        if name not in self._cases_by_filter:
            self._cases_by_filter[name] = FILTERS[name](self)
        return self._cases_by_filter[name]

    def _is_recent(self, time: str, hours: float) -> bool:
        """Return whether a time is in the last hours."""
        return bool(time) and parse_time(time) > self.now - timedelta(hours=hours)

    @cached_property
    def _finished(self) -> list[AnnotationCase]:
        """Documents that annotators have finished, one case for each annotator, in the order of time."""
        cases = [
            self._whole(self._documents[number].task, (self._describe_version(number, person, version),))
            for (number, person), state in self.states.items()
            if state == "done" and (version := self._documents[number].versions.get(person)) is not None
        ]
        return sorted(cases, key=lambda case: case.entries[0].time)

    def _describe_version(self, number: int, person: str, version: DocumentVersion) -> AnnotationEntry:
        """Return the finished version of an annotator, with its time."""
        task = self._documents[number].task
        seconds = self._seconds.get((number, person))
        shortest = min_seconds(len(version.labels), task.end - task.start)
        is_fast = seconds is not None and seconds < shortest
        return AnnotationEntry(person, version.time, "finished", version.labels, seconds, is_fast)

    def _whole(self, task: AnnotationTask, entries: tuple[AnnotationEntry, ...]) -> AnnotationCase:
        """Return a case about a whole document."""
        return AnnotationCase(task, task.start, task.end, False, entries)

    def _find_unfinished(self, state: str) -> list[AnnotationCase]:
        """Return the documents that annotators have open or have skipped, without labels."""
        return [
            self._whole(self._documents[number].task, (self._describe_last_change(number, person, state),))
            for (number, person), document_state in self.states.items()
            if document_state == state
        ]

    def _describe_last_change(self, number: int, person: str, state: str) -> AnnotationEntry:
        """Return the last change of an annotator in a document that is open or skipped."""
        changes = [
            record
            for record in self._by_task.get(number, ())
            if isinstance(record, Change) and record.annotator == person
        ]
        action = "skipped" if state == "skipped" else "in progress"
        if not changes:
            return AnnotationEntry(person, "", action)
        return AnnotationEntry(person, changes[-1].server_time, action, reason=changes[-1].reason)

    def _find_documents(self, is_selected: Callable[[AdjudicatedDocument, int], bool]) -> list[AnnotationCase]:
        """Return the documents that a condition on document and number of finished versions selects."""
        return [
            self._whole(
                document.task,
                tuple(self._describe_version(number, person, version) for person, version in finished.items()),
            )
            for number, document in self._documents.items()
            for finished in [{person: version for person, version in document.versions.items() if version.is_finished}]
            if is_selected(document, len(finished))
        ]

    def _is_complete(self, n_finished: int) -> bool:
        """Return whether enough annotators have finished a document."""
        return n_finished >= self.project.options.annotators

    @cached_property
    def _shared_regions(self) -> list[tuple[bool, AnnotationCase]]:
        """Regions of documents that two or more annotators finished, before adjudication, and whether all agree."""
        cases = []
        versions = collect_independent_versions(self.project, self.records)
        for task in self.project.tasks:
            by_annotator = versions[task.number]
            if len(by_annotator) < 2:
                continue
            for region in find_regions({person: version.labels for person, version in by_annotator.items()}):
                entries = tuple(
                    AnnotationEntry(person, by_annotator[person].time, "marked" if labels else "marked nothing", labels)
                    for person, labels in region.versions.items()
                )
                cases.append((region.is_agreed, AnnotationCase(task, region.start, region.end, True, entries)))
        return cases

    @cached_property
    def _pair_agreements(self) -> dict[tuple[str, str], float]:
        """Share of equal regions of each pair of annotators with common documents and a region in them."""
        n_agreed, n_regions = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for versions in collect_independent_versions(self.project, self.records).values():
            for pair in combinations(sorted(versions), 2):
                regions = find_regions({person: versions[person].labels for person in pair})
                n_agreed[pair] += sum(region.is_agreed for region in regions)
                n_regions[pair] += len(regions)
        return {pair: n_agreed[pair] / count for pair, count in n_regions.items() if count}

    def measure_agreement(self, person: str) -> float | None:
        """Return the mean agreement of an annotator with each other annotator; None without common regions."""
        shares = [share for pair, share in self._pair_agreements.items() if person in pair]
        return sum(shares) / len(shares) if shares else None

    def _find_regions(self, *, is_decided: bool) -> Iterator[AnnotationCase]:
        """Yield the regions in which annotators disagree, of documents that enough of them finished, by decision."""
        for document in self._documents.values():
            if not self._is_complete(sum(version.is_finished for version in document.versions.values())):
                continue
            for item in document.regions:
                if item.region.is_agreed or (item.decision is not None) != is_decided:
                    continue
                entries = [
                    AnnotationEntry(
                        person, document.versions[person].time, "marked" if labels else "marked nothing", labels
                    )
                    for person, labels in item.region.versions.items()
                ]
                if item.decision is not None:
                    entries.append(_describe_decision(item.decision))
                yield AnnotationCase(document.task, item.region.start, item.region.end, True, tuple(entries))

    def _find_decisions(self) -> list[AnnotationCase]:
        """Return all decisions of adjudicators that they did not withdraw."""
        latest: dict[tuple[int, str], RegionDecision] = {}
        for record in self.records:
            if isinstance(record, RegionDecision):
                latest.pop((record.task, record.digest), None)
                latest[record.task, record.digest] = record
        return [
            AnnotationCase(
                self._documents[decision.task].task, decision.start, decision.end, True, (_describe_decision(decision),)
            )
            for decision in latest.values()
            if decision.choice != "open"
        ]

    def _find_timed(self, is_selected: Callable[[AnnotationEntry], bool]) -> list[AnnotationCase]:
        """Return the finished documents that a condition on their entry selects."""
        return [case for case in self._finished if is_selected(case.entries[0])]


def _describe_decision(decision: RegionDecision) -> AnnotationEntry:
    """Return a decision of an adjudicator."""
    actions = {"none": "decided: no label", "edited": "decided: other labels"}
    action = actions.get(decision.choice, "decided for a version")
    return AnnotationEntry(decision.annotator, decision.server_time, action, decision.labels, reason=decision.reason)


FILTERS: Final[Mapping[str, Callable[[ProjectMonitor], Sequence[AnnotationCase]]]] = {
    "finished": lambda monitor: monitor._finished,
    "open": lambda monitor: monitor._find_unfinished("open"),
    "skipped": lambda monitor: monitor._find_unfinished("skipped"),
    "complete": lambda monitor: monitor._find_documents(lambda _, count: monitor._is_complete(count)),
    "incomplete": lambda monitor: monitor._find_documents(lambda _, count: not monitor._is_complete(count)),
    "adjudicated": lambda monitor: monitor._find_documents(
        lambda document, count: monitor._is_complete(count) and not document.n_open
    ),
    "shared": lambda monitor: [case for _, case in monitor._shared_regions],
    "agreed": lambda monitor: [case for is_agreed, case in monitor._shared_regions if is_agreed],
    "disagreed": lambda monitor: [case for is_agreed, case in monitor._shared_regions if not is_agreed],
    "undecided": lambda monitor: list(monitor._find_regions(is_decided=False)),
    "decided": lambda monitor: list(monitor._find_regions(is_decided=True)),
    "decisions": lambda monitor: monitor._find_decisions(),
    "timed": lambda monitor: monitor._find_timed(lambda entry: entry.seconds is not None),
    "untimed": lambda monitor: monitor._find_timed(lambda entry: entry.seconds is None),
    "fast": lambda monitor: monitor._find_timed(lambda entry: entry.is_fast),
}
"""Filters by name."""
