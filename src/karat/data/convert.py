"""Counts of losses by a conversion to another format, replacement of masked texts, and predictions as gold labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.formats.parsing.extra_fields import count_lost_metadata
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.document import Document, Label, Response
from karat.model.errors import InputError
from karat.model.output.text_layout import format_count
from karat.model.run import Run
from karat.model.spec.format import Format
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Mentions

_LABEL = (
    "same_as",
    "name",
    "types",
    "categories",
    "difficulty",
    "kind",
    "optional",
    "mention_id",
    "parent",
    "nil_cluster",
)
_PREDICTION = ("same_as", "types", "categories", "score", "candidates", "nil_cluster")
_DOCUMENT = ("evaluation_span", "tags", "relations", "meta")
_RESPONSE = ("tags", "relations", "seconds", "tokens", "cost", "error", "invented")

VALUE_ENTITIES: Final[Mapping[str | None, str]] = {"quantity": "QUANTITY", "datetime": "DATETIME"}
"""The entity of labels of values without an id, by kind, as in the files of ELEVANT."""

_TITLES = {"invented": "invented mentions"}
"""Names of fields in descriptions that differ from the fields."""

_LEFT_OUT = "documents without predictions, or that failed (left out)"
_NOT_KEPT = "scores and candidates of predictions (not kept in labels)"

_SHARED_FIELDS = ("entity", "same_as", "types", "categories", "nil_cluster")  # that labels and predictions share


def count_losses(data: Corpus | Run, target: Format) -> dict[str, int]:
    """Count the labels, predictions or documents with data that the format `target` cannot store.

    Counts are by a description of the data, such as `types of labels`, without zeros. Empty if the format stores all.
    """
    other_losses = dict({} if target.count_losses is None else target.count_losses(data))
    if isinstance(data, Corpus):
        n_values = len(data.labels) - len(select_storable(data, target).labels)
        if target.stored_fields is not None:
            other_losses |= count_lost_metadata(data)
        other_losses["labels of quantities and datetimes, which have no IRI"] = n_values
    if target.stored_fields is None:
        return {name: count for name, count in other_losses.items() if count}
    mentions, fields, document_fields = (
        (data.labels, _LABEL, _DOCUMENT) if isinstance(data, Corpus) else (data.predictions, _PREDICTION, _RESPONSE)
    )
    kind = "labels" if isinstance(data, Corpus) else "predictions"
    counts = {
        f"{name} of {kind}": _count_mentions_with(mentions, name) for name in fields if name not in target.stored_fields
    }
    counts |= {
        f"{_TITLES.get(name, name)} of documents": _count_documents_with(data.table, name)
        for name in document_fields
        if name not in target.stored_fields
    }
    meta_keys = {name.removeprefix("meta.") for name in target.stored_fields if name.startswith("meta.")}
    if meta_keys:
        counts["meta of documents"] = _count_other_meta(data.table, meta_keys)
    counts |= other_losses
    return {name: count for name, count in counts.items() if count}


def is_value(label: Label) -> bool:
    """Return whether a label is a quantity or datetime without an id; a year may have one, such as `Q7678`."""
    return label.kind in VALUE_ENTITIES and label.entity in VALUE_ENTITIES.values()


def select_storable(corpus: Corpus, target: Format) -> Corpus:
    """Return a corpus without the labels that a format cannot write: values, if entities must be IRIs."""
    kinds = corpus.labels.field("kind")
    if not target.has_iris or kinds is None or not VALUE_ENTITIES.keys() & set(pc.unique(kinds).to_pylist()):
        return corpus
    documents = [
        msgspec.structs.replace(document, labels=tuple(label for label in document.labels if not is_value(label)))
        for document in corpus
    ]
    return Corpus.from_reader(documents, name=corpus.name, metadata=corpus.metadata, skipped=corpus.skipped)


def _count_mentions_with(items: Mentions, name: str) -> int:
    """Count the labels or predictions that have a value in the field `name`; 0 if no item has the field.

    Empty lists and false flags are no values.
    """
    column = items.field(name)
    return 0 if column is None else _count_values(column)


def _count_documents_with(table: Arrow, name: str) -> int:
    """Count the documents (rows of `table`) that have a value in the column `name`; 0 if there is no such column.

    Empty lists, empty maps and false flags are no values.
    """
    if name not in table.column_names:
        return 0
    return sum(_count_values(chunk) for chunk in table.column(name).chunks)


def _count_other_meta(table: Arrow, meta_keys: set[str]) -> int:
    """Count the documents with keys in `meta` other than `meta_keys`."""
    if "meta" not in table.column_names:
        return 0
    return sum(any(key not in meta_keys for key, _ in pairs) for pairs in table.column("meta").to_pylist() if pairs)


def _count_values(column: Arrow) -> int:
    """Count the rows of `column` with a value; null, empty lists and maps, and false flags do not count."""
    if pa.types.is_map(column.type):
        return int((np.diff(column.offsets.to_numpy()) > 0).sum())
    if pa.types.is_list(column.type):
        return int(pc.sum(pc.greater(pc.list_value_length(column).fill_null(0), 0)).as_py() or 0)
    if pa.types.is_boolean(column.type):
        return int(pc.sum(column.fill_null(False)).as_py() or 0)
    return len(column) - int(column.null_count)


def replace_texts(corpus: Corpus, source: Corpus) -> Corpus:
    """Return `corpus` with the texts of `source`: of the same ids if `source` has them all, else in the same order.

    ELEVANT masks the texts of AIDA-CoNLL, and another copy has them. If `corpus` has no texts, documents are found by
    id. Raise `InputError` if the number of documents, the length of a text or the text of a label differs.
    """
    if corpus.skipped.get(NO_TEXT_NOTE):
        return _add_texts(corpus, source)
    by_id = {document.id: document for document in source}
    others = [by_id[id] for id in corpus.ids.to_pylist() if id in by_id]
    if len(others) < len(corpus):
        others = list(by_id.values())
    if len(corpus) != len(others):
        raise InputError(
            source.name,
            actual=format_count(len(source), "document"),
            expected=f"{format_count(len(corpus), 'document')}, as in {corpus.name}",
            remedy="Pass texts of the same documents in the same order, or with the same ids",
        )
    documents = [_replace_text(document, other, source.name) for document, other in zip(corpus, others, strict=True)]
    result = Corpus.from_reader(documents, name=corpus.name, metadata=corpus.metadata)
    return replace(result, skipped=corpus.skipped)


def _add_texts(corpus: Corpus, source: Corpus) -> Corpus:
    """Return a corpus without texts with the texts of the documents of `source` that have the same ids.

    Raise `InputError` if a document is missing, or if its text ends before a label.
    """
    texts = {document.id: document.text for document in source}
    documents = []
    for document in corpus:
        text = texts.get(document.id)
        end = max((label.end for label in document.labels), default=0)
        if text is None or end > len(text):
            raise InputError(
                source.name,
                actual=f"no document {document.id!r}"
                if text is None
                else f"a text of {document.id!r} that ends before the label up to {end}",
                expected=f"the text of each document of {corpus.name}",
                remedy="Pass texts with the same ids of documents",
            )
        documents.append(msgspec.structs.replace(document, text=text))
    skipped = {name: count for name, count in corpus.skipped.items() if name != NO_TEXT_NOTE}
    return replace(Corpus.from_reader(documents, name=corpus.name, metadata=corpus.metadata), skipped=skipped)


def _replace_text(document: Document, other: Document, where: str) -> Document:
    """Return `document` with the text of `other`; raise `InputError` about `where` unless lengths and labels agree."""
    old, new = document.text, other.text
    is_equal = len(old) == len(new) and all(
        old[label.start : label.end] == new[label.start : label.end] for label in document.labels
    )
    if not is_equal:
        raise InputError(
            where,
            actual=f"another text in {other.id!r} than in {document.id!r}",
            expected="a text of the same length with the same text at every label",
            remedy="Pass texts of the same documents in the same order, or with the same ids",
        )
    return msgspec.structs.replace(document, text=new)


def convert_to_labels(run: Run, corpus: Corpus) -> Corpus:
    """Return the documents of `corpus` with the predictions of `run` as labels, under the name of the run.

    Documents that the run lacks or failed on are left out and counted, as are the scores and candidates of predictions.
    """
    counts = SkipCounter(run.skipped)
    responses = {response.id: response for response in run}
    documents = []
    for document in corpus:
        response = responses.get(document.id)
        if response is None or response.error is not None:
            counts[_LEFT_OUT] += 1
            continue
        counts[_NOT_KEPT] += sum(
            prediction.score is not None or bool(prediction.candidates) for prediction in response.predictions
        )
        documents.append(_convert_response(document, response))
    return Corpus.from_reader(documents, name=run.name, metadata=corpus.metadata, skipped=counts)


def _convert_response(document: Document, response: Response) -> Document:
    """Return the document with the predictions of a response as labels, each distinct one once."""
    labels = dict.fromkeys(
        Label(prediction.start, prediction.end, **{name: getattr(prediction, name) for name in _SHARED_FIELDS})
        for prediction in response.predictions
    )
    return Document(
        document.id,
        document.text,
        tuple(labels),
        evaluation_span=document.evaluation_span,
        tags=response.tags,
        relations=response.relations,
        meta=document.meta,
    )
