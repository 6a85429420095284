"""Corpora and runs from the content of a file of an annotation tool, and such content from corpora and runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from karat.formats.parsing.duplicates import merge_duplicate_labels
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import map_valid
from karat.model.document import Document, Label
from karat.model.errors import InputError
from karat.model.run import Run
from karat.model.spec.annotations import AnnotatedCorpus, AnnotatedDocument, NotedLabels

UNFINISHED = "documents that no annotator finished"


def select_gold(annotated: AnnotatedCorpus) -> Corpus:
    """Return the gold standard: the adjudicated labels, or those of the annotators if they are the same.

    Documents that no annotator finished are excluded and counted, unless no document of the file has labels. Raise
    `InputError` for a document with different labels that is not adjudicated.
    """
    skipped = SkipCounter(annotated.skipped)
    is_unlabelled = not has_labels(annotated)
    pairs = [
        (item, document)
        for item, document in map_valid(
            annotated.documents, lambda item: _select_labels(item, is_unlabelled, skipped), lambda item: item.location
        )
        if document is not None
    ]
    skipped[UNFINISHED] += len(annotated.documents) - len(pairs)
    skipped[NO_TEXT_NOTE] += sum(not item.has_text for item, _ in pairs)
    locations = [item.location for item, _ in pairs]
    return Corpus.from_reader(
        [document for _, document in pairs],
        name=annotated.name,
        metadata=annotated.metadata,
        skipped=skipped,
        locate_row=locations.__getitem__,
    )


def _select_labels(item: AnnotatedDocument, is_unlabelled: bool, skipped: Counter[str]) -> Document | None:
    """Return a document with its gold labels; None if no annotator finished it. See `select_gold` for errors."""
    if item.gold is not None:
        return _add_labels(item.document, item.gold.labels, skipped)
    finished = {version.annotator: version.content.labels for version in item.versions if version.status == "done"}
    if not finished:
        return item.document if is_unlabelled else None
    if len({frozenset(map(msgspec.json.encode, labels)) for labels in finished.values()}) > 1:
        raise InputError(
            item.location,
            actual=f"different labels by {', '.join(finished)}, and no adjudicated ones",
            expected="one annotator per document, or adjudicated labels",
            remedy="Adjudicate in the tool or with karat annotate import, or compare the annotators with "
            "karat agreement",
        )
    return _add_labels(item.document, next(iter(finished.values())), skipped)


def _add_labels(document: Document, labels: tuple[Label, ...], skipped: Counter[str]) -> Document:
    """Return a document with labels; duplicates are merged and counted in `skipped`."""
    return msgspec.structs.replace(document, labels=merge_duplicate_labels(labels, skipped))


def has_labels(annotated: AnnotatedCorpus) -> bool:
    """Return whether an annotator finished a document, or one is adjudicated."""
    return any(
        item.gold is not None or any(version.status == "done" for version in item.versions)
        for item in annotated.documents
    )


def has_predictions(annotated: AnnotatedCorpus) -> bool:
    """Return whether a document has predictions."""
    return any(item.predictions for item in annotated.documents)


def split_annotators(annotated: AnnotatedCorpus) -> dict[str, Corpus]:
    """Return one corpus for each annotator with the documents that the annotator finished, by name."""
    documents: dict[str, list[tuple[Document, str]]] = {}
    skipped = SkipCounter(annotated.skipped)
    for item in annotated.documents:
        for version in item.versions:
            if version.status == "done":
                document = _add_labels(item.document, version.content.labels, skipped)
                documents.setdefault(version.annotator, []).append((document, item.location))
    return {
        name: Corpus.from_reader(
            [document for document, _ in pairs],
            name=name,
            skipped=skipped,
            locate_row=[location for _, location in pairs].__getitem__,
        )
        for name, pairs in sorted(documents.items())
    }


def select_run(annotated: AnnotatedCorpus, where: str) -> Run:
    """Return the predictions of the only system of a file, else its gold labels as predictions.

    Raise `InputError` about `where` if there are predictions of several systems.
    """
    if not has_predictions(annotated):
        return Run.from_gold(select_gold(annotated), name=annotated.name)
    names = list(dict.fromkeys(name for item in annotated.documents for name in item.predictions))
    if len(names) > 1:
        raise InputError(
            where,
            actual=f"predictions of {', '.join(names)}",
            expected="predictions of one system",
            remedy="Export the predictions of each system to a file of its own",
        )
    items = [item for item in annotated.documents if item.predictions]
    skipped = SkipCounter(annotated.skipped)
    others = [row for row, item in enumerate(annotated.documents) if not item.predictions]
    skipped.add_items("documents without predictions", others, lambda row: annotated.documents[row].location)
    locations = [item.location for item in items]
    return Run.from_reader(
        [item.predictions[names[0]] for item in items],
        name=names[0] or annotated.name,
        metadata=annotated.metadata,
        skipped=skipped,
        locate_row=locations.__getitem__,
        texts=[item.document.text if item.has_text else None for item in items],
    )


def to_annotated_corpus(corpus: Corpus) -> AnnotatedCorpus:
    """Return a gold standard as adjudicated documents."""
    has_text = not corpus.skipped.get(NO_TEXT_NOTE)
    documents = tuple(
        AnnotatedDocument(
            msgspec.structs.replace(document, labels=()), gold=NotedLabels(document.labels), has_text=has_text
        )
        for document in corpus
    )
    return AnnotatedCorpus(corpus.name, documents, corpus.metadata)


def to_predicted_corpus(run: Run) -> AnnotatedCorpus:
    """Return a run as documents with predictions; without texts, the texts are blank."""
    return AnnotatedCorpus(run.name, tuple(_to_predicted_documents(run)), run.metadata)


def _to_predicted_documents(run: Run) -> Iterator[AnnotatedDocument]:
    """Yield the documents of a run with its predictions."""
    texts = [None] * len(run) if run.texts is None else run.texts.to_pylist()
    for response, text in zip(run, texts, strict=True):
        length = max((prediction.end for prediction in response.predictions), default=0)
        yield AnnotatedDocument(
            Document(response.id, " " * length if text is None else text),
            predictions={run.name: response},
            has_text=text is not None,
        )


def count_missing_texts(data: Corpus | Run) -> dict[str, int]:
    """Count the responses of a run whose text is unknown, which a tool cannot show."""
    if isinstance(data, Corpus):
        return {}
    n_missing = len(data) if data.texts is None else int(data.texts.null_count)
    return {"text of documents (unknown; pass the gold standard with --gold)": n_missing}
