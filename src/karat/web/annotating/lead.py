"""An annotation project as its lead sees it: progress, pace, agreement, times and annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Final

from msgspec import UnsetType

from karat.data.convert import VALUE_ENTITIES
from karat.protocols.annotation.changes import AnnotatedLabel
from karat.protocols.annotation.monitoring import FILTERS, AnnotationCase, AnnotationEntry, ProjectMonitor
from karat.protocols.annotation.project import AnnotationTask
from karat.protocols.annotation.regions import get_entity
from karat.protocols.annotation.store.store import AnnotationStore, AnnotatorStatus
from karat.protocols.campaigns.working_times import PACE_HOURS, TIME_RULE
from karat.web.campaigns.entities import EntityLookup
from karat.web.campaigns.lead import LeadQuery, StateCache, build_pace, build_person_figures, person_query, select_page
from karat.web.campaigns.lead_payloads import (
    AccessRow,
    FigureGroup,
    LabelLine,
    LeadCase,
    LeadCaseList,
    LeadFigure,
    Overview,
    PersonRow,
    RecordLine,
)
from karat.web.campaigns.payloads import EntityPayload
from karat.web.server.request_checks import WebError

_CONTEXT: Final = 80  # characters before and after a region
_MAX_TEXT: Final = 300  # characters of a whole document
_TITLES: Final = {
    "finished": "Finished documents",
    "open": "Documents in progress",
    "skipped": "Skipped documents",
    "complete": "Documents that enough annotators finished",
    "incomplete": "Documents that too few annotators finished",
    "adjudicated": "Adjudicated documents",
    "shared": "Regions that several annotators marked",
    "agreed": "Regions on which all annotators agree",
    "disagreed": "Regions on which annotators disagree",
    "undecided": "Regions to decide",
    "decided": "Decided regions",
    "decisions": "Decisions",
    "timed": "Finished documents with a known time",
    "untimed": "Finished documents without a known time",
    "fast": "Documents finished in a time too short to be true",
}


@dataclass(frozen=True)
class ProjectView:
    """A project for its lead."""

    store: AnnotationStore
    entities: EntityLookup
    _cache: StateCache = field(default_factory=StateCache, repr=False)

    def _monitor(self, now: datetime) -> ProjectMonitor:
        """Return the state of the project; periods end at `now`, to the minute."""
        states = self.store.list_states()
        minute = now.replace(second=0, microsecond=0)
        return self._cache.get(
            (self.store.get_record_state(), states, minute),
            lambda: ProjectMonitor(self.store.project, self.store.get_records(), states, now),
        )

    def build_overview(self, now: datetime) -> Overview:
        """Return all numbers of the project."""
        monitor = self._monitor(now)
        people = self.store.list_annotators()
        return Overview(
            people="annotators",
            time=now.isoformat(timespec="seconds"),
            groups=(
                self._build_progress(monitor),
                build_pace(
                    "Finished documents",
                    "finished",
                    lambda hours: len(monitor.find_cases("finished", hours=hours)),
                    (monitor.n_needed, "incomplete"),
                    len(monitor.find_cases("finished", hours=PACE_HOURS)),
                ),
                _build_agreement(monitor),
                _build_times(monitor),
            ),
            persons=_build_persons(monitor, people),
            access=tuple(map(_build_access, people)),
        )

    def _build_progress(self, monitor: ProjectMonitor) -> FigureGroup:
        """Return how many documents and regions are done."""
        n_documents, required = len(monitor.project.tasks), self.store.options.annotators
        figures = [
            _count(monitor, "complete", n_documents),
            _count(monitor, "adjudicated", n_documents),
            _count(monitor, "undecided"),
            _count(monitor, "decided"),
            _count(monitor, "finished", n_documents * required),
            _count(monitor, "open"),
            _count(monitor, "skipped"),
            LeadFigure(
                title="Labels in finished documents",
                value=sum(monitor.count_labels().values()),
                query=_open("finished"),
            ),
        ]
        needed = "1 annotator" if required == 1 else f"{required} annotators"
        note = f"Each document needs {needed}. Finished documents count once for each annotator."
        return FigureGroup("Progress", tuple(figures), note)

    def find_cases(self, query: LeadQuery, now: datetime) -> LeadCaseList:
        """Return some of the cases behind a number."""
        if query.show not in FILTERS:
            raise WebError("bad-request", f"unknown filter. Pass one of {', '.join(FILTERS)}.")
        cases = self._monitor(now).find_cases(query.show, query.person, query.hours)
        selected = select_page(cases, query.offset)
        ids = {label.label.entity for case in selected for entry in case.entries for label in entry.labels}
        entities = self.entities.get_entities(id for id in ids if isinstance(id, str))
        return LeadCaseList(
            _TITLES[query.show],
            len(cases),
            sum(len(case.entries) for case in cases),
            tuple(_describe_case(case, entities) for case in selected),
        )


def _open(show: str) -> Mapping[str, str]:
    """Return the parameters of the cases of a filter."""
    return {"show": show}


def _count(monitor: ProjectMonitor, name: str, total: int | None = None) -> LeadFigure:
    """Return the number of the cases of a filter."""
    count = len(monitor.find_cases(name))
    return LeadFigure(title=_TITLES[name], value=count, total=total, query=_open(name) if count else None)


def _build_agreement(monitor: ProjectMonitor) -> FigureGroup:
    """Return how far annotators agree before adjudication."""
    n_shared, agreement = len(monitor.find_cases("shared")), monitor.agreement
    missing = "no document was finished by two annotators"
    scores = {
        "F1 of spans": None if agreement is None else agreement.spans,
        "F1 of links": None if agreement is None else agreement.links,
        "Cohen's kappa of entities": None if agreement is None else agreement.kappa,
        "Krippendorff's alpha of entities": None if agreement is None else agreement.alpha,
    }
    return FigureGroup(
        "Agreement",
        (
            _count(monitor, "agreed", n_shared),
            _count(monitor, "disagreed", n_shared),
            *(
                LeadFigure(
                    title=title,
                    value=None if score is None else score.value,
                    format="number",
                    query=_open("shared") if n_shared else None,
                    reason=missing if score is None else score.reason or "",
                )
                for title, score in scores.items()
            ),
        ),
        "Before adjudication. The command karat annotate report adds intervals, categories, periods and rounds. Below, "
        "an annotator's agreement with others is the mean share of equal regions with each other annotator.",
    )


def _build_times(monitor: ProjectMonitor) -> FigureGroup:
    """Return how long documents take, and how many take too short a time."""
    seconds = [value for values in monitor.collect_seconds().values() for value in values]
    n_fast = len(monitor.find_cases("fast"))
    return FigureGroup(
        "Times",
        (
            LeadFigure(
                title="Too short to be true",
                value=n_fast,
                total=len(seconds),
                query=_open("fast") if n_fast else None,
                total_query=_open("timed") if seconds else None,
                is_alarm=n_fast > 0,
            ),
            LeadFigure(
                title="Median seconds per document",
                value=median(seconds) if seconds else None,
                format="seconds",
                query=_open("timed") if seconds else None,
                reason="no time is known",
            ),
            _count(monitor, "untimed"),
        ),
        f"{TIME_RULE} Each label counts as a decision. The time of a document ends when it is finished first.",
    )


def _build_persons(monitor: ProjectMonitor, people: Sequence[AnnotatorStatus]) -> tuple[PersonRow, ...]:
    """Return the work of each annotator and adjudicator, by pseudonym."""
    names = ("finished", "open", "skipped", "shared", "timed", "fast", "decisions")
    counts = {name: monitor.count_by_person(name) for name in names}
    labels, seconds, last_times = monitor.count_labels(), monitor.collect_seconds(), monitor.last_times

    def count(title: str, name: str, person: str) -> LeadFigure:
        """Return the number of the cases of a filter and person."""
        number = counts[name][person]
        return LeadFigure(title=title, value=number, query=person_query(name, person, number))

    rows = []
    for status in sorted(people, key=lambda status: status.annotator):
        person = status.annotator
        n_finished, n_shared = counts["finished"][person], counts["shared"][person]
        rows.append(
            PersonRow(
                person,
                (
                    LeadFigure(title="Role", value=status.role, format="text"),
                    count("Finished", "finished", person),
                    count("In progress", "open", person),
                    count("Skipped", "skipped", person),
                    LeadFigure(
                        title="Labels", value=labels[person], query=person_query("finished", person, n_finished)
                    ),
                    *build_person_figures(
                        person,
                        counts,
                        seconds,
                        (monitor.measure_agreement(person), n_shared),
                        "no other annotator has finished the same documents",
                    ),
                    count("Decisions", "decisions", person),
                    LeadFigure(
                        title="Last change", value=last_times.get(person), format="time", reason="no change yet"
                    ),
                ),
                status.is_revoked,
            )
        )
    return tuple(rows)


def _build_access(status: AnnotatorStatus) -> AccessRow:
    """Return who has access."""
    return AccessRow(
        status.worker,
        status.annotator if status.worker is None else None,
        (LeadFigure(title="Role", value=status.role, format="text"), LeadFigure(title="Finished", value=status.done)),
        status.is_revoked,
    )


def _describe_case(case: AnnotationCase, entities: Mapping[str, EntityPayload]) -> LeadCase:
    """Return a case with its context."""
    task = case.task
    if case.is_region:
        start, end = max(0, case.start - _CONTEXT), min(len(task.text), case.end + _CONTEXT)
    else:
        start, end = case.start, min(case.end, case.start + _MAX_TEXT)
    before = task.text[start : case.start]
    after = task.text[case.end if case.is_region else case.start : end]
    if case.is_region and start > 0:
        before = f"… {before.partition(' ')[2]}"
    if end < (len(task.text) if case.is_region else case.end):
        after = f"{after.rpartition(' ')[0]} …"
    mention = task.text[case.start : case.end] if case.is_region else ""
    return LeadCase(
        task.document,
        before + mention + after,
        len(before),
        len(before) + len(mention),
        None,
        (),
        tuple(_describe_entry(task, entry, entities) for entry in case.entries),
    )


def _describe_entry(task: AnnotationTask, entry: AnnotationEntry, entities: Mapping[str, EntityPayload]) -> RecordLine:
    """Return what one person did, under the pseudonym."""
    notes = [
        *(["too short"] if entry.is_fast else []),
        *([f"reason: {entry.reason}"] if entry.reason else []),
    ]
    labels = tuple(_describe_label(task, item, entities) for item in entry.labels)
    return RecordLine(entry.person, entry.time, entry.action, labels, entry.seconds, tuple(notes))


def _describe_label(task: AnnotationTask, item: AnnotatedLabel, entities: Mapping[str, EntityPayload]) -> LabelLine:
    """Return a label with its entity and what else it says."""
    label = item.label
    id = get_entity(label)
    kind = "unlinked" if isinstance(id, UnsetType) else "NIL" if id is None else ""
    if label.kind in VALUE_ENTITIES:
        kind = label.kind or ""
    details = [kind, "" if label.kind in VALUE_ENTITIES else label.kind or "", "optional" if label.optional else ""]
    details += [*label.types, *label.categories]
    entity = entities.get(label.entity) if isinstance(label.entity, str) else None
    return LabelLine(task.text[label.start : label.end], entity, ", ".join(detail for detail in details if detail))
