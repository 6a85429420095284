"""Export of the labels of a project, with guidelines, agreement and provenance, and what formats cannot hold."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from karat.data.absolute_iris import IriBases, find_relative_id, to_absolute_iris
from karat.data.convert import count_losses, select_storable
from karat.data.format_detection import list_formats
from karat.kb.type_names import find_type_names
from karat.model.corpus import Corpus
from karat.model.document import Document
from karat.model.errors import KaratError, UsageError
from karat.model.output.text_layout import format_count
from karat.model.spec.format import Format
from karat.protocols.annotation.changes import Change, Record, RegionDecision
from karat.protocols.annotation.gold import (
    GoldStandard,
    adjudicate_document,
    build_gold,
    count_annotators,
    group_records,
)
from karat.protocols.annotation.project import Project
from karat.protocols.annotation.version_pairs import VersionAgreement
from karat.version import __version__


class FormatLosses(NamedTuple):
    """The parts of a corpus that a format cannot hold."""

    name: str
    """Name of the format."""
    title: str
    """Title of the format."""
    losses: Mapping[str, int]
    """Counts of what is not stored, by description."""
    error: str | None = None
    """Why the corpus cannot be written at all; None if it can."""


def build_gold_corpus(
    project: Project, records: Sequence[Record], agreement: VersionAgreement | None, *, is_partial: bool = False
) -> tuple[Corpus, GoldStandard]:
    """Return the adjudicated gold standard as a corpus with guidelines, agreement and provenance as metadata.

    Raise `UsageError` if documents are missing, unless `is_partial`.
    """
    gold = build_gold(project, records)
    if not (gold.is_complete or is_partial):
        missing = ", ".join(f"{count} {name}" for name, count in gold.counts.items() if name in _MISSING)
        raise UsageError(
            f"{len(gold.documents)} of {gold.counts['documents']} documents are adjudicated ({missing}). Finish and "
            "adjudicate the rest, or pass --partial to skip them."
        )
    by_task = group_records(records)
    provenance = {task.document: _describe_document(project, task.number, by_task) for task in project.tasks}
    documents = [_add_meta(document, provenance[document.id]) for document in gold.documents]
    counts = {f"gold: {name}": str(count) for name, count in gold.counts.items()}
    metadata = {**build_metadata(project, records, agreement), **counts}
    return msgspec.structs.replace(gold, documents=tuple(documents)).to_corpus(project.options.name, metadata), gold


_MISSING = (
    "documents that too few annotators finished",
    "documents with undecided regions",
    "undecided regions",
)


def build_metadata(project: Project, records: Iterable[Record], agreement: VersionAgreement | None) -> dict[str, str]:
    """Return the metadata of the labels of a project: guidelines, agreement and provenance, without empty values.

    People appear under their pseudonyms. `agreement` is that of the annotators before adjudication.
    """
    records = list(records)
    options = project.options
    annotators = sorted({record.annotator for record in records if isinstance(record, Change)})
    adjudicators = sorted({record.annotator for record in records if isinstance(record, RegionDecision)})
    times = sorted(record.server_time for record in records)
    type_names = find_type_names(options.whitelist, None)
    metadata = {
        "created-with": f"karat {__version__}",
        "annotators": " ".join(annotators),
        "adjudicators": " ".join(adjudicators),
        "annotators-per-document": " to ".join(map(str, dict.fromkeys(count_annotators(project, records)))),
        "rounds": str(max((record.round for record in records), default=1)),
        "annotated": f"{times[0]} to {times[-1]}" if times else "",
        "documents-drawn": f"{len(project.tasks)} of {options.documents}, seed {options.seed}",
        "evaluation-spans": options.span,
        "suggestions": options.prefill,
        "suggestion-sources": " ".join(options.sources),
        "categories": " ".join(options.scheme),
        "types": ", ".join(type_names.get(id, id) for id in options.whitelist),
        "kb": options.kb or "",
        "guidelines": ", ".join(
            f"{version.version} since {version.since}" if version.since else version.version
            for version in project.guidelines
        ),
        **{f"guidelines {version.version}": version.text for version in project.guidelines},
        "agreement": "" if agreement is None else describe_agreement(agreement),
        "agreement-json": "" if agreement is None else msgspec.json.encode(agreement).decode(),
    }
    return {key: value for key, value in metadata.items() if value}


def describe_agreement(agreement: VersionAgreement) -> str:
    """Return an agreement as one sentence."""
    scores = {
        "F1 of spans": agreement.spans,
        "F1 of links": agreement.links,
        "kappa of entities on spans that both marked": agreement.kappa,
        **{f"alpha of {name}": score for name, score in agreement.categories.items()},
    }
    parts = [
        f"{name} {score.value:.3f}"
        + ("" if score.interval is None else f" [{score.interval[0]:.3f}, {score.interval[1]:.3f}]")
        for name, score in scores.items()
        if score.value is not None
    ]
    documents = format_count(agreement.documents, "document")
    return f"{', '.join(parts) or 'undefined'}; {documents}, before adjudication"


def list_format_losses(corpus: Corpus, bases: IriBases | None = None) -> list[FormatLosses]:
    """Return what each format that can hold gold labels loses, those with the fewest kinds of losses first.

    `bases` are the prefixes of IRIs, for formats that use them. Every format is tried out in memory.
    """
    rows = []
    for name, target in list_formats():
        if target.writes_gold:
            error = find_write_error(corpus, target, bases)
            rows.append(FormatLosses(name, target.title, count_losses(corpus, target), error))
    return sorted(rows, key=lambda row: (row.error is not None, len(row.losses), row.name))


def find_write_error(corpus: Corpus, target: Format, bases: IriBases | None = None) -> str | None:
    """Return why a corpus cannot be written in a format; None if it can. Nothing is stored."""
    try:
        if target.has_iris:
            if bases is None and (id := find_relative_id(corpus)) is not None:
                return f"{id!r} is not an absolute IRI. Add --base IRI."
            corpus = select_storable(corpus, target)
            corpus = corpus if bases is None else _to_iris(corpus, bases)
        if target.write_corpus is not None:
            target.write_corpus(corpus, io.BytesIO())
        elif target.write_folder is not None:
            target.write_folder(corpus)
    except KaratError as problem:
        return str(problem)
    return None


def _to_iris(corpus: Corpus, bases: IriBases) -> Corpus:
    """Return a corpus with absolute IRIs."""
    converted = to_absolute_iris(corpus, bases)
    assert isinstance(converted, Corpus), "a corpus stays one"
    return converted


def _describe_document(project: Project, number: int, by_task: Mapping[int, Sequence[Record]]) -> dict[str, str]:
    """Return the provenance of one document: its annotators and the number of regions that were adjudicated."""
    document = adjudicate_document(project.tasks[number], by_task.get(number, ()))
    n_decided = len({record.digest for record in by_task.get(number, ()) if isinstance(record, RegionDecision)})
    return {"annotators": " ".join(document.versions), "adjudicated-regions": str(n_decided)}


def _add_meta(document: Document, meta: Mapping[str, str]) -> Document:
    """Return a document with further metadata."""
    return msgspec.structs.replace(document, meta={**document.meta, **meta})
