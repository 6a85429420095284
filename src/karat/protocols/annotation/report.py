"""Agreement, progress and bias of the annotators of a project.

Agreement is measured on pairs of versions of one document, by two annotators or by an annotator and the adjudicator.
Annotators are compared before adjudication. The version of an annotator is the last one that was finished before the
first decision about the document, or else the first one that was finished. So labels that an annotator changed after
seeing a decision do not count as agreement.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from karat.analysis.explanation.agreement import Agreement, ScoreOptions, agreement
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.output.json_files import JsonFile, JsonRecord
from karat.protocols.annotation.changes import Change, Record, RegionDecision
from karat.protocols.annotation.gold import (
    DocumentVersion,
    build_document,
    build_gold,
    collect_history,
    count_annotators,
    group_records,
)
from karat.protocols.annotation.project import AnnotationTask, Project
from karat.protocols.annotation.suggestion_effects import SuggestionEffect, measure_suggestions
from karat.protocols.annotation.version_pairs import VersionAgreement, VersionPair, compare_pairs, pair_versions
from karat.stats.samples.confidence_intervals import RESAMPLES

_MAX_PERIODS: Final = 4
_MIN_DOCUMENTS: Final = 2  # per period


class AnnotatorRecord(JsonRecord, frozen=True):
    """The work of one annotator, and the agreement with others and with the gold standard."""

    annotator: str
    """Random pseudonym."""
    documents: int
    """Number of finished documents."""
    open_documents: int
    """Number of documents that were begun, or reopened, and are not finished."""
    skipped_documents: int
    """Number of skipped documents."""
    labels: int
    """Number of labels in finished documents."""
    minutes: float | None
    """Time that the page measured, without pauses; null if it measured none."""
    with_others: VersionAgreement | None
    """Agreement with the other annotators; null if no document has another annotator."""
    with_gold: VersionAgreement | None
    """Agreement with the adjudicated gold standard; null if no document of the annotator is adjudicated."""


class PeriodRecord(JsonRecord, frozen=True):
    """The agreement on the documents that annotators finished in one period."""

    start: str
    """Time at which the first of these documents was finished by all its annotators, in ISO 8601."""
    end: str
    """Time at which the last one was."""
    agreement: VersionAgreement
    """Agreement of the annotators."""


class RoundRecord(JsonRecord, frozen=True):
    """The agreement at the end of one round."""

    round: int
    """Number of the round."""
    agreement: VersionAgreement
    """Agreement on the documents that at least two annotators finished in this round."""


class AnnotationReport(JsonFile, frozen=True, tag="karat-annotation-report/1"):
    """The output of `karat annotate report --json`."""

    project: str
    """Name of the project."""
    documents: int
    """Number of documents."""
    annotators_per_document: int
    """Number of annotators who finished each document at least; documents that need more annotators do not count."""
    round: int
    """Number of the latest round."""
    gold: Mapping[str, int]
    """Counts of the adjudicated gold standard: documents, regions and labels by state."""
    gold_documents: int
    """Number of adjudicated documents."""
    gold_labels: int
    """Number of labels in them."""
    confidence: float
    """Confidence level of the intervals."""
    resamples: int
    """Number of bootstrap samples."""
    agreement: VersionAgreement | None
    """Agreement of annotators before adjudication; null if no document was finished by two."""
    details: Agreement | None
    """Agreement as `karat agreement` defines it, with every pair of annotators."""
    annotators: tuple[AnnotatorRecord, ...]
    """Annotators by pseudonym."""
    periods: tuple[PeriodRecord, ...]
    """Agreement over time, by the order in which documents were finished; empty for fewer than four documents."""
    rounds: tuple[RoundRecord, ...]
    """Agreement by round."""
    suggestions: Mapping[str, SuggestionEffect]
    """Effects of suggestions by quantity; empty unless some annotators saw suggestions and others did not."""
    undefined: Mapping[str, str]
    """Reasons for missing parts of the report, by part."""
    excluded: Mapping[str, int]
    """Counts of what was not used, by description."""
    kb: str | None = None
    """Name of the knowledge base that resolves ids."""
    max_annotators_per_document: int | None = None
    """Number of annotators who finished a document at most; null in older files."""


class _Versions(NamedTuple):
    """The versions of all documents of a project, by document number and annotator."""

    independent: dict[int, dict[str, DocumentVersion]]
    by_round: dict[int, dict[int, dict[str, DocumentVersion]]]


def measure_project(
    project: Project,
    records: Iterable[Record],
    *,
    kb: KB | None = None,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    seed: int = 0,
) -> AnnotationReport:
    """Measure the agreement and progress of all annotators, and the effect of suggestions.

    `kb` resolves ids. Intervals at the level `confidence` are from `resamples` bootstrap samples of documents.
    """
    records = list(records)
    by_task = group_records(records)
    options = ScoreOptions(resamples, confidence, seed)
    tasks = {task.number: task for task in project.tasks}
    versions = _collect_versions(project, by_task)
    documents = {
        number: {name: _to_document(tasks[number], version) for name, version in by_annotator.items()}
        for number, by_annotator in versions.independent.items()
    }
    gold = build_gold(project, records)
    gold_documents = {document.id: _add_dimensions(document) for document in gold.documents}
    pairs = {number: pair_versions(by_annotator) for number, by_annotator in documents.items()}
    all_pairs = [pair for document_pairs in pairs.values() for pair in document_pairs]
    undefined = {}
    if not all_pairs:
        undefined["agreement"] = "no document was finished by two annotators"
    untimed = {number for number in pairs if pairs[number] and _is_untimed(by_task[number])}
    timed_pairs = {number: pairs[number] for number in pairs if pairs[number] and number not in untimed}
    periods = _split_periods(timed_pairs, versions.independent)
    if not periods:
        undefined["periods"] = f"fewer than {2 * _MIN_DOCUMENTS} documents were finished by two annotators" + (
            " in Karat; imported labels have no times" if untimed else ""
        )
    effects, reason = measure_suggestions(project, documents, gold_documents, kb, options)
    if reason is not None:
        undefined["suggestions"] = reason
    first_agreement = compare_pairs(all_pairs, kb, options) if all_pairs else None
    first_round = () if first_agreement is None else (RoundRecord(1, first_agreement),)
    changes = [record for record in records if isinstance(record, Change)]
    min_annotators, max_annotators = count_annotators(project, records)
    n_untimed = sum(change.seconds is None for change in changes if change.kind in ("edit", "undo", "redo"))
    return AnnotationReport(
        project=project.options.name,
        documents=len(project.tasks),
        annotators_per_document=min_annotators,
        max_annotators_per_document=max_annotators,
        round=max((record.round for record in records), default=1),
        gold=gold.counts,
        gold_documents=len(gold.documents),
        gold_labels=sum(len(document.labels) for document in gold.documents),
        confidence=confidence,
        resamples=resamples,
        agreement=first_agreement,
        details=_measure_details(documents, kb, options) if all_pairs else None,
        annotators=tuple(
            _measure_annotator(name, by_task, documents, gold_documents, kb, options)
            for name in sorted({change.annotator for change in changes})
        ),
        periods=tuple(
            PeriodRecord(start, end, compare_pairs(period_pairs, kb, options)) for start, end, period_pairs in periods
        ),
        rounds=first_round + _measure_rounds(versions.by_round, tasks, kb, options),
        suggestions=effects,
        undefined=undefined,
        excluded={
            description: count
            for description, count in (
                ("changes without time", n_untimed),
                ("documents with labels without time, such as imported ones (in no period)", len(untimed)),
            )
            if count
        },
        kb=None if kb is None else kb.name,
    )


def measure_agreement(
    project: Project,
    records: Iterable[Record],
    *,
    kb: KB | None = None,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    seed: int = 0,
) -> VersionAgreement | None:
    """Measure the agreement of annotators before adjudication; None if no document was finished by two.

    For the parameters see `measure_project`.
    """
    versions = collect_independent_versions(project, records)
    pairs = [
        pair
        for task in project.tasks
        for pair in pair_versions({name: _to_document(task, item) for name, item in versions[task.number].items()})
    ]
    return compare_pairs(pairs, kb, ScoreOptions(resamples, confidence, seed)) if pairs else None


def collect_independent_versions(project: Project, records: Iterable[Record]) -> dict[int, dict[str, DocumentVersion]]:
    """Return the versions on which agreement is measured, by document number and annotator."""
    return _collect_versions(project, group_records(records)).independent


def _collect_versions(project: Project, by_task: Mapping[int, Sequence[Record]]) -> _Versions:
    """Return the versions of all documents before adjudication, and at the end of each later round."""
    independent: dict[int, dict[str, DocumentVersion]] = {}
    by_round: dict[int, dict[int, dict[str, DocumentVersion]]] = defaultdict(lambda: defaultdict(dict))
    for task in project.tasks:
        records = by_task.get(task.number, ())
        n_before = next((i for i, item in enumerate(records) if isinstance(item, RegionDecision)), len(records))
        before = _select_finished(collect_history(records[:n_before]))
        chosen = {}
        for annotator, versions in _select_finished(collect_history(records)).items():
            chosen[annotator] = before[annotator][-1] if annotator in before else versions[0]
            for version in versions:
                if version.round > 1:
                    by_round[version.round][task.number][annotator] = version
        independent[task.number] = chosen
    return _Versions(independent, by_round)


def _select_finished(
    history: Mapping[str, Iterable[DocumentVersion | None]],
) -> dict[str, list[DocumentVersion]]:
    """Return the versions that annotators finished, oldest first, without annotators who finished none."""
    finished = {
        annotator: [version for version in versions if version is not None and version.is_finished]
        for annotator, versions in history.items()
    }
    return {annotator: versions for annotator, versions in finished.items() if versions}


def _to_document(task: AnnotationTask, version: DocumentVersion) -> Document:
    """Return an annotator's version as a document, with further dimensions as categories."""
    return _add_dimensions(build_document(task, version.labels))


def _add_dimensions(document: Document) -> Document:
    """Return a document whose labels have their types, their kind and whether they are optional as categories.

    So that annotators are compared in these dimensions, too.
    """
    return msgspec.structs.replace(document, labels=tuple(map(_add_label_dimensions, document.labels)))


def _add_label_dimensions(label: Label) -> Label:
    """Return a label with the categories `type:…`, `kind:…` and `optional:…`."""
    types = [f"type:{name}" for name in label.types]
    optional = "yes" if label.optional else "no"
    categories = (*label.categories, *types, f"kind:{label.kind or 'name'}", f"optional:{optional}")
    return msgspec.structs.replace(label, categories=categories)


def _measure_details(
    documents: Mapping[int, Mapping[str, Document]], kb: KB | None, options: ScoreOptions
) -> Agreement:
    """Return the agreement in the definitions of `karat agreement`, of all annotators who share documents."""
    by_annotator: dict[str, list[Document]] = defaultdict(list)
    for versions in documents.values():
        for annotator, document in versions.items() if len(versions) > 1 else ():
            by_annotator[annotator].append(document)
    corpora = {name: Corpus.from_reader(items, name=name) for name, items in sorted(by_annotator.items())}
    return agreement(corpora, kb=kb, resamples=options.resamples, confidence=options.confidence, seed=options.seed)


def _measure_annotator(
    name: str,
    by_task: Mapping[int, Sequence[Record]],
    documents: Mapping[int, Mapping[str, Document]],
    gold: Mapping[str, Document],
    kb: KB | None,
    options: ScoreOptions,
) -> AnnotatorRecord:
    """Return the work of an annotator, and the agreement with the other annotators and with the gold standard."""
    states: Counter[str] = Counter()
    seconds = []
    n_labels = 0
    for records in by_task.values():
        changes = [record for record in records if isinstance(record, Change) and record.annotator == name]
        if not changes:
            continue
        seconds += [change.seconds for change in changes if change.seconds is not None]
        last = next((change.kind for change in reversed(changes) if change.kind in _STATES), "edit")
        states[_STATES.get(last, "open")] += 1
        version = collect_history(records)[name]
        if last in ("finish", "round") and version and version[-1] is not None:
            n_labels += len(version[-1].labels)
    others = [
        VersionPair(document.id, document, versions[name])
        for versions in documents.values()
        for other, document in versions.items()
        if name in versions and other != name
    ]
    with_gold = [
        VersionPair(versions[name].id, gold[versions[name].id], versions[name])
        for versions in documents.values()
        if name in versions and versions[name].id in gold
    ]
    return AnnotatorRecord(
        annotator=name,
        documents=states["done"],
        open_documents=states["open"],
        skipped_documents=states["skipped"],
        labels=n_labels,
        minutes=sum(seconds) / 60 if seconds else None,
        with_others=compare_pairs(others, kb, options) if others else None,
        with_gold=compare_pairs(with_gold, kb, options) if with_gold else None,
    )


_STATES: Final = {"finish": "done", "reopen": "open", "skip": "skipped", "round": "open"}
"""State of a document after a change of each kind that decides it."""


def _is_untimed(records: Iterable[Record]) -> bool:
    """Return whether labels of a document have no times: their records have that of an import."""
    return any(isinstance(record, Change) and record.kind == "edit" and record.seconds is None for record in records)


def _split_periods(
    pairs: Mapping[int, Sequence[VersionPair]], versions: Mapping[int, Mapping[str, DocumentVersion]]
) -> list[tuple[str, str, list[VersionPair]]]:
    """Divide documents into periods by the time when all their annotators had finished them.

    Return first time, last time and pairs of each period; empty if there are too few documents for two periods.
    """
    times = {number: max(version.time for version in versions[number].values()) for number in pairs}
    order = sorted(pairs, key=lambda number: (times[number], number))
    n_periods = min(_MAX_PERIODS, len(order) // _MIN_DOCUMENTS)
    if n_periods < 2:
        return []
    return [
        (
            times[numbers[0]],
            times[numbers[-1]],
            [pair for number in numbers for pair in pairs[number]],
        )
        for numbers in (list(map(int, part)) for part in np.array_split(np.array(order), n_periods))
    ]


def _measure_rounds(
    by_round: Mapping[int, Mapping[int, Mapping[str, DocumentVersion]]],
    tasks: Mapping[int, AnnotationTask],
    kb: KB | None,
    options: ScoreOptions,
) -> tuple[RoundRecord, ...]:
    """Return the agreement of each later round in which two annotators finished a document."""
    rounds = []
    for number in sorted(by_round):
        pairs = [
            pair
            for task, versions in by_round[number].items()
            for pair in pair_versions({name: _to_document(tasks[task], item) for name, item in versions.items()})
        ]
        if pairs:
            rounds.append(RoundRecord(number, compare_pairs(pairs, kb, options)))
    return tuple(rounds)
