"""Corpora and runs from objects: dictionaries, tuples, data frames, Hugging Face datasets, spaCy `Doc` objects.

No library is imported: objects are recognised by their attributes. Predictions without a document id are assigned to
the corpus document with the same text, or, in a list of lists, to the document at the same position. Dictionaries with
exactly the fields of Karat JSONL are read like the lines of such a file.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from itertools import chain
from math import isnan
from numbers import Integral, Real
from typing import Any, Final, Literal, NamedTuple, TypeVar

import msgspec
import pyarrow as pa

from karat.data.load import ForeignObject
from karat.formats.parsing.blank_texts import make_blank_documents
from karat.formats.parsing.class_labels import read_named_rows
from karat.formats.parsing.duplicates import merge_duplicate_labels
from karat.formats.parsing.json.karat_objects import convert_object
from karat.formats.parsing.surfaces.columns import ColumnRoles, suggest_roles
from karat.formats.parsing.surfaces.run_builder import GoldTexts, build_run_from_objects, check_surfaces
from karat.formats.parsing.surfaces.table import NULL_LINKS, TableSource, read_table_corpus, read_table_run
from karat.formats.parsing.surfaces.table_rows import TableRow
from karat.formats.plugins.hf_datasets import (
    build_corpus,
    build_run,
    build_tagged_corpus,
    build_tagged_run,
    rename_token_columns,
)
from karat.formats.plugins.spacy_docbin import read_doc
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_counts, locate_positive, merge_counts
from karat.model.document import (
    UNLINKED,
    Document,
    EntityId,
    Header,
    Label,
    Prediction,
    Response,
    WrittenPrediction,
    WrittenResponse,
)
from karat.model.errors import InputError, UsageError
from karat.model.output.text_layout import format_count
from karat.model.run import Run
from karat.model.spec.settings.nil_spellings import NIL_ID
from karat.model.tables.arrow import Arrow
from karat.model.tables.rows import to_builtin, validate_object

_T = TypeVar("_T", bound=msgspec.Struct)

_FIELD_NAMES: Final = {
    "document": ("document", "doc", "doc_id", "id"),
    "start": ("start", "start_char", "begin"),
    "end": ("end", "end_char"),
    "entity": ("entity", "kb_id", "kb_id_", "entity_id", "qid"),
    "score": ("score",),
    "types": ("entity_group", "types", "type", "label"),
    "surface": ("word", "text", "surface", "mention"),
}
"""The accepted field names of each part of a prediction, in order of precedence."""

_EXTRA_FIELDS: Final = {"same_as", "categories", "candidates", "nil_cluster"}
"""Fields of a prediction that have the same name everywhere."""

_TUPLE_FIELDS: Final = ("document", "start", "end", "entity", "score")
"""The parts of a mention in a tuple; entity and score may be missing."""

_LABEL_FIELDS: Final = {*Label.__struct_fields__, *chain(*_FIELD_NAMES.values())} - {"score"}
"""The fields of a gold mention that are read."""

_PREDICTION_FIELDS: Final = {*chain(*_FIELD_NAMES.values()), *_EXTRA_FIELDS, "index"}
"""The fields of a prediction that are read."""

_UNREAD_FIELDS = "predictions with unread fields"
_UNREAD_LABEL_FIELDS = "labels with unread fields"
_TEXT_MISMATCH = "predictions whose text differs from the text at their span"
_MAX_KINDS = 3  # of objects, named in a message
_TOKEN_TAG = re.compile(r"[BIESLU]-.+|O|LABEL_\d+")
_ENTITY_ID = re.compile(r"Q[1-9]\d*|https?://\S+")
_IGNORED_TEXT = re.compile(r"\s+|##")


def to_corpus(data: ForeignObject, spans_key: str | None = None) -> Corpus:
    """Convert documents, mentions with their document ids, a Hugging Face dataset or spaCy `Doc` objects to a corpus.

    Documents are `Document` objects, or dictionaries as in Karat JSONL. Mentions without texts are dictionaries, tuples
    or rows of a data frame; see `read_mentions`. `spans_key` names the span group with the mentions of `Doc` objects.
    Raise `UsageError` for others, and for other objects with a `spans_key`.
    """
    if spans_key is None and (columns := _find_role_columns(data)) is not None:
        return read_object_corpus(data, columns.by_role)
    if _is_dataset(data) and not _has_mention_rows(data) and spans_key is None:
        return build_corpus(_to_arrow(data), _get_dataset_name(data, "dataset"), "dataset")
    skipped = SkipCounter()
    items = _to_list(data, skipped)
    _check_spans_key(items, spans_key)
    if items and all(isinstance(item, Document) for item in items):
        return Corpus.from_documents(items)
    metadata, items = _split_header(items)
    name = metadata.pop("name", "corpus")
    if items and all(_is_document(item) or _has_lists_only(item) for item in items):
        documents = [_to_struct(item, Document, f"document {number}") for number, item in enumerate(items, 1)]
        return Corpus.from_reader(documents, name=name, metadata=metadata)
    if _are_mentions(items):
        mentions = read_mentions(items)
        skipped.update(mentions.skipped)
        return build_blank_corpus(mentions._replace(skipped=skipped), name=name)
    if not items or not all(_is_doc(_get_doc(item)) for item in items):
        raise _unreadable_error(
            data,
            "a name or a path, a list of documents or mentions, a Hugging Face Dataset, or a list of spaCy's Doc",
        )
    documents = []
    for number, item in enumerate(items, 1):
        doc = _get_doc(item)
        content = read_doc(doc, skipped, spans_key)
        doc_id = content.id if doc is item else _read_context_id(item[1])
        skipped["documents without an id (numbered)"] += doc_id is None
        with locate_counts(f"document {doc_id or str(number)!r}"):
            labels = merge_duplicate_labels(content.to_labels(skipped), skipped)
        documents.append(Document(doc_id or str(number), doc.text, labels, meta=content.meta))
    return Corpus.from_reader(documents, name="docs", skipped=skipped)


def read_object_corpus(data: ForeignObject, columns: Mapping[str, str | int]) -> Corpus:
    """Read a gold standard from a table of objects with the given columns by role."""
    roles = ColumnRoles.from_columns(columns)
    table = _build_table(data, roles)
    if roles.is_token_table:
        return build_tagged_corpus(rename_token_columns(table.rows, roles.by_role), table.stem, table.label)
    return read_table_corpus(table, roles)


def read_object_run(data: ForeignObject, columns: ColumnRoles, corpus: Corpus | None) -> Run:
    """Read predictions from a table of objects; `corpus` has the texts, for predictions without spans."""
    table = _build_table(data, columns)
    if columns.is_token_table:
        return build_tagged_run(rename_token_columns(table.rows, columns.by_role), table.stem, table.label)
    return read_table_run(table, columns, None if corpus is None else lambda: corpus)


def _find_role_columns(data: ForeignObject) -> ColumnRoles | None:
    """Return the columns of a table whose header consists of names of roles, as in a CSV file; else None.

    Also return None for a table of mentions with spans. Its column `text` may have the texts of mentions, unless spans
    end within them and are shorter.
    """
    names = _list_columns(data)
    columns = ColumnRoles.from_header(names)
    if columns is None or not {"start", "end"} <= set(names):
        return columns
    rows = (_list_rows(data) or []) if "text" in names else []
    spans = [(row["start"], row["end"], row["text"]) for row in rows]
    if not all(isinstance(s, Real) and isinstance(e, Real) and isinstance(text, str) for s, e, text in spans):
        return None
    is_inside = all(end <= len(text) for _, end, text in spans)
    return columns if is_inside and any(end - start < len(text) for start, end, text in spans) else None


def _build_table(data: ForeignObject, columns: ColumnRoles) -> TableSource:
    """Return a Hugging Face dataset, data frame, Arrow table or list of dictionaries as a table with these columns.

    Raise `UsageError` for other objects, and for a table that lacks a column.
    """
    name = _get_dataset_name(data, "dataset") if _is_dataset(data) else "table"
    rows = _list_rows(data)
    items = _list_elements(data) if rows is None else rows
    if not items or not all(isinstance(item, Mapping) for item in items):
        raise _unreadable_error(data, "a Dataset, a data frame or a list of dictionaries, if columns are named")
    names = {str(key): None for item in items for key in item}
    by_column = {c: c if c in names else c.partition(".")[0] for c in columns.required_columns.values()}
    missing = [column for column, first_name in by_column.items() if first_name not in names]
    if missing:
        is_index = missing[0] in getattr(getattr(data, "index", None), "names", ())  # of pandas
        hint = f" {missing[0]!r} is its index: pass frame.reset_index()." if is_index else ""
        raise UsageError(f"the {name} has no column {missing[0]!r}. It has {', '.join(names)}.{hint}")
    read_names = set(by_column.values())
    table_rows = [
        TableRow(
            {
                str(key): _to_lists(_to_plain(value, f"{name}: row {number}, column {str(key)!r}"))
                for key, value in item.items()
                if str(key) in read_names
            },
            f"{name}: row {number}",
            tuple(names),
            null_is_empty=rows is not None,
        )
        for number, item in enumerate(items, 1)
    ]
    return TableSource(name, name, table_rows)


def to_run(data: ForeignObject, corpus: Corpus | None, system: str | None, spans_key: str | None = None) -> Run:
    """Convert responses, predictions, a Hugging Face dataset or spaCy `Doc` objects to a run named `system`.

    Responses are `Response` objects, or dictionaries as in Karat JSONL. Predictions are dictionaries, tuples or rows of
    a data frame; see `read_mentions`.
    `corpus` identifies documents without an id, by text or order; its texts are compared with the texts of predictions.
    `spans_key` names the span group with the mentions of `Doc` objects. Raises `UsageError` for other objects.
    """
    if spans_key is None and (columns := _find_role_columns(data)) is not None:
        return read_object_run(data, columns, corpus)
    if _is_dataset(data) and not _has_mention_rows(data) and spans_key is None:
        return build_run(_to_arrow(data), system or _get_dataset_name(data, "dataset"), "dataset")
    skipped = SkipCounter()
    items: list[ForeignObject] = [*data.items()] if isinstance(data, Mapping) else _to_list(data, skipped)
    if _is_empty_list(data):
        raise UsageError(
            f"found {type(data).__name__} that is empty; expected responses or predictions. Of a system that predicted "
            'nothing, pass a response for each document: [{"id": "…", "predictions": []}].'
        )
    if isinstance(data, list | tuple | Mapping) and any(
        map(_is_system, data.values() if isinstance(data, Mapping) else data)
    ):
        raise UsageError(
            "found several systems where one is expected. Pass one of them, or all to karat.evaluate_runs or "
            "karat.compare."
        )
    _check_spans_key(items, spans_key)
    if items and all(isinstance(item, Response) for item in items):
        return Run.from_responses(items, name=system or "run")
    metadata, items = _split_header(items)
    name = system or metadata.pop("system", "run")
    if items and all(isinstance(item, Document) or _is_gold_document(item) for item in items):
        return Run.from_gold(to_corpus(data), name=name)
    if items and all(_is_written_response(item) or _is_misspelt_response(item) for item in items):
        gold = None if corpus is None else lambda: corpus
        dictionaries = (_to_plain(item, f"response {number}") for number, item in enumerate(items, 1))
        return build_run_from_objects(dictionaries, gold, name=name, metadata=metadata)
    if items and all(_is_doc(_get_doc(item)) for item in items):
        documents = _read_docs(items, corpus, skipped, spans_key)
    elif isinstance(data, Mapping):
        documents = [
            _DocumentPredictions(str(id), _read_predictions(values, f"document {id!r}", skipped))
            for id, values in items
        ]
    elif items and all(isinstance(item, Mapping) or _is_tuple_mention(item) for item in items):
        documents = list(_read_dictionaries([_to_dictionary(item) for item in items], corpus, skipped))
    elif items and all(isinstance(item, list | tuple) for item in items):
        documents = _read_in_order(items, corpus, skipped)
    else:
        raise _unreadable_error(
            data, "a name or a path, a list of responses or predictions, a Dataset, or spaCy's Doc objects"
        )
    texts = GoldTexts(None if corpus is None else lambda: corpus, name)
    responses = [_build_response(document, texts, skipped) for document in documents]
    own_texts = [document.text for document in documents]
    return Run.from_reader(responses, name=name, metadata=metadata, skipped=skipped, texts=own_texts)


def _is_system(item: ForeignObject) -> bool:
    """Return whether an item is all that one system predicted: a run, a path, or a list of responses."""
    if isinstance(item, list | tuple):
        return bool(item) and all(
            isinstance(member, Response) or (isinstance(member, Mapping) and "predictions" in member) for member in item
        )
    return isinstance(item, Run | str | os.PathLike)


def is_single_object(data: ForeignObject) -> bool:
    """Return whether `data` is one corpus or run as an object, rather than a list of several.

    A list of lists is several; as one run, it would have one list of predictions per document.
    """
    if hasattr(data, "iterrows") or hasattr(data, "to_dicts") or hasattr(data, "to_pylist") or _is_dataset(data):
        return True
    return (
        isinstance(data, list | tuple)
        and bool(data)
        and all(
            isinstance(item, Mapping | Document | Response) or _is_tuple_mention(item) or _is_doc(_get_doc(item))
            for item in data
        )
    )


def detect_object_kind(data: ForeignObject) -> Literal["gold", "predictions"]:
    """Detect whether objects are documents of a gold standard or responses; raise `UsageError` if they are neither."""
    _, items = _split_header(data if isinstance(data, list) else [])
    if items and all(
        isinstance(item, Response) or (isinstance(item, Mapping) and "predictions" in item) for item in items
    ):
        return "predictions"
    if items and all(isinstance(item, Document) or _is_document(item) for item in items):
        return "gold"
    raise _unreadable_error(data, "what karat.load or karat.load_run returns")


class MentionList(NamedTuple):
    """Mentions that were given without the texts of their documents."""

    labels: Mapping[str, Sequence[Label]]
    """The mentions by document id."""
    skipped: Mapping[str, int]
    """Counts of what was not read, by description."""


def read_mentions(data: ForeignObject) -> MentionList:
    """Read mentions: tuples (document, start, end, entity), dictionaries with these fields, or a data frame of them.

    The entity None is NIL; a mention without the field, or with a missing value in a data frame, is unlinked. Repeated
    mentions are merged and counted. Raise `UsageError` for other objects, and `InputError` for an invalid mention.
    """
    skipped = SkipCounter()
    labels: dict[str, list[Label]] = {}
    mentions = list_mentions(data, skipped)
    _check_field_names(mentions, _LABEL_FIELDS, "mentions", skipped, has_document=True)
    for number, item in enumerate(mentions, 1):
        where = f"mention {number}"
        fields = {name: item[name] for name in Label.__struct_fields__ if item.get(name) is not None}
        fields |= {"start": _read_offset(item, "start", where), "end": _read_offset(item, "end", where)}
        entity = _read_entity(item, where)
        fields |= {"types": _read_types(item, where)} | ({} if entity is UNLINKED else {"entity": entity})
        _count_unread(_UNREAD_LABEL_FIELDS, set(item) - _LABEL_FIELDS, skipped)
        labels.setdefault(_read_document_id(item, where, None), []).append(_to_struct(fields, Label, where))
    merged = {}
    for id, mentions_of_document in labels.items():
        with locate_counts(f"document {id!r}"):
            merged[id] = merge_duplicate_labels(mentions_of_document, skipped)
    return MentionList(merged, locate_positive(skipped, ""))


def list_mentions(data: ForeignObject, skipped: Counter[str] | None = None) -> list[Mapping[str, ForeignObject]]:
    """Return mentions that are tuples, dictionaries or rows of a data frame as dictionaries; see `read_mentions`.

    Missing links are counted in `skipped`. Raise `UsageError` for other objects.
    """
    items = _to_list(data, SkipCounter() if skipped is None else skipped)
    if not _are_mentions(items) and not _is_empty_list(data):
        raise _unreadable_error(data, "a list of (document, start, end, entity), or a data frame with these columns")
    return [_to_dictionary(item) for item in items]


def build_blank_corpus(
    mentions: MentionList, *, name: str = "corpus", other_ids: Collection[str] = (), min_length: int | None = None
) -> Corpus:
    """Build a corpus of mentions without texts, which spaces replace; `other_ids` are documents without mentions.

    `min_length` is the length that predictions need; None if it is unknown.
    """
    labels = {**dict.fromkeys(other_ids, ()), **mentions.labels}
    documents = make_blank_documents(labels, min_length)
    return Corpus.from_reader(
        documents, name=name, skipped=merge_counts(mentions.skipped, {NO_TEXT_NOTE: len(documents)})
    )


class _SurfacePrediction(NamedTuple):
    """A prediction, and the text that it claims for its span, if any."""

    prediction: Prediction
    surface: str | None = None
    is_token_text: bool = False
    """Whether a tokeniser may have changed the text, such as its case and accents."""


class _DocumentPredictions(NamedTuple):
    """The predictions for one document, and its text if the predictions carry it."""

    document: str
    predictions: list[_SurfacePrediction]
    text: str | None = None


# --- Hugging Face datasets


def _is_dataset(data: ForeignObject) -> bool:
    """Return whether `data` is a Hugging Face dataset; raise `UsageError` for several splits or a streamed dataset."""
    if not (hasattr(data, "with_format") and hasattr(data, "cast_column")):
        return False
    if isinstance(data, Mapping) or not hasattr(data, "__len__"):
        splits = ", ".join(map(repr, data)) if isinstance(data, Mapping) else "none at hand"
        raise UsageError(
            f"found {type(data).__name__}: a dictionary of splits or a streamed dataset (splits: {splits}). "
            "Pass a Dataset: one split, in memory or on disk."
        )
    return True


def _has_mention_rows(data: ForeignObject) -> bool:
    """Return whether a Hugging Face dataset has a mention in each row: document id and two integers as span."""
    types = {field.name: field.type for field in data.features.arrow_schema}
    span = [next((types[name] for name in _FIELD_NAMES[part] if name in types), None) for part in ("start", "end")]
    return (
        not types.keys() & {"labels", "predictions", "tokens"}
        and not types.keys().isdisjoint(_FIELD_NAMES["document"])
        and all(kind is not None and pa.types.is_integer(kind) for kind in span)
    )


def _to_arrow(data: ForeignObject) -> Arrow:
    """Return all rows of a Hugging Face dataset as an Arrow table, with the library's metadata about the columns."""
    table = data.with_format("arrow")[:]
    metadata = data.features.arrow_schema.metadata or {}
    return table.replace_schema_metadata({**(table.schema.metadata or {}), **metadata})


def _get_dataset_name(data: ForeignObject, default: str) -> str:
    """Return the name that a Hugging Face dataset states, or `default`."""
    info = getattr(data, "info", None)
    return str(getattr(info, "dataset_name", None) or getattr(info, "builder_name", None) or default)


# --- spaCy


def _is_doc(value: ForeignObject) -> bool:
    """Return whether a value has the attributes of a spaCy `Doc`."""
    return all(hasattr(value, name) for name in ("ents", "spans", "user_data", "text"))


def _check_spans_key(items: Sequence[ForeignObject], spans_key: str | None) -> None:
    """Raise `UsageError` if a span group is named, but items are no `Doc` objects or none of them has it."""
    if spans_key is None:
        return
    docs = [_get_doc(item) for item in items]
    if not all(map(_is_doc, docs)):
        raise UsageError("spans_key= names a span group of spaCy's Doc objects. Pass a list of them, or leave it out.")
    if docs and not any(spans_key in doc.spans for doc in docs):
        groups = sorted({name for doc in docs for name in doc.spans})
        raise UsageError(f"no Doc has a span group {spans_key!r}. They have: {', '.join(groups) or 'none'}.")


def _get_doc(item: ForeignObject) -> ForeignObject:
    """Return the `Doc` of an item, which may be a pair of `Doc` and id from `nlp.pipe(…, as_tuples=True)`."""
    return item[0] if isinstance(item, tuple) and len(item) == 2 else item


def _read_docs(
    items: Sequence[ForeignObject], corpus: Corpus | None, skipped: Counter[str], spans_key: str | None
) -> list[_DocumentPredictions]:
    """Convert `Doc` objects, or pairs of `Doc` and id, to predictions by document.

    A document without an id is identified by its text in `corpus`, or numbered without a corpus. Such documents, which
    are kept, and data that are not read are counted in `skipped`, here and below.
    """
    by_text = _index_ids_by_text(corpus)
    documents = []
    for number, item in enumerate(items, 1):
        doc = _get_doc(item)
        content = read_doc(doc, skipped, spans_key)
        name = content.id if doc is item else _read_context_id(item[1])
        if name is None:
            name = _find_id_by_text(doc.text, by_text, number, corpus, skipped)
        predictions = [_SurfacePrediction(prediction) for prediction in content.predictions]
        documents.append(_DocumentPredictions(name, predictions, doc.text if content.has_text else None))
    return documents


def _read_context_id(context: ForeignObject) -> str:
    """Return the document id in the context that `nlp.pipe` passes with a text: an id, or a dictionary with one.

    Raises `InputError` for anything else.
    """
    if isinstance(context, Mapping):
        context = next((context[key] for key in _FIELD_NAMES["document"] if key in context), None)
    if not _is_document_id(context):
        raise InputError(
            "a pair of Doc and context",
            actual=f"a context of type {type(context).__name__}",
            expected="the id of the document, or a dictionary with `id`",
            remedy="Pass pairs of text and id to nlp.pipe, with as_tuples=True",
        )
    return str(context)


def _index_ids_by_text(corpus: Corpus | None) -> dict[str, list[str]]:
    """Return the ids of the corpus documents by text, the last id first; empty without texts."""
    ids: dict[str, list[str]] = defaultdict(list)
    if corpus is not None and corpus.has_text:
        for id, text in zip(reversed(corpus.ids.to_pylist()), reversed(corpus.texts), strict=True):
            ids[text].append(id)
    return ids


def _find_id_by_text(
    text: str, by_text: Mapping[str, list[str]], number: int, corpus: Corpus | None, skipped: Counter[str]
) -> str:
    """Return the id of the next corpus document with this text and remove it from `by_text`.

    Without a corpus, return `number`. The document, which is kept, is counted in `skipped`. Raises `InputError` if no
    document with this text is left.
    """
    if corpus is None:
        skipped["documents without an id (numbered)"] += 1
        return str(number)
    if not by_text.get(text):
        raise InputError(
            f"Doc {number}",
            actual=f"no id in user_data, and a text that no other document of {corpus.name} has ({text[:40]!r})",
            expected="the texts of the corpus, or an id",
            remedy='Set doc.user_data["id"], or pass the texts of the corpus to nlp.pipe',
        )
    skipped["documents without an id (identified by text)"] += 1
    return by_text[text].pop()


# --- dictionaries and tuples


def _split_header(items: list[ForeignObject]) -> tuple[dict[str, str], list[ForeignObject]]:
    """Return the metadata in the header of Karat JSONL, if the first item is one, and the other items."""
    if not items or not isinstance(items[0], Mapping) or "karat" not in items[0]:
        return {}, items
    return dict(_to_struct(items[0], Header, "the header").metadata), items[1:]


def _is_document(item: ForeignObject) -> bool:
    """Return whether an item is a dictionary with the text of a document, rather than with a mention."""
    return isinstance(item, Mapping) and "text" in item and ("labels" in item or "start" not in item)


def _is_written_response(item: ForeignObject) -> bool:
    """Return whether an item is a dictionary with exactly the fields of a line of Karat JSONL."""
    if not isinstance(item, Mapping) or "id" not in item or not set(item) <= set(WrittenResponse.__struct_fields__):
        return False
    predictions = item.get("predictions", ())
    fields = set(WrittenPrediction.__struct_fields__)
    return isinstance(predictions, list | tuple) and all(
        isinstance(prediction, Mapping) and set(prediction) <= fields for prediction in predictions
    )


def _is_gold_document(item: ForeignObject) -> bool:
    """Return whether an item is a dictionary with the text and labels of a document, and no predictions."""
    return _is_document(item) and "labels" in item and "predictions" not in item


def _has_lists_only(item: ForeignObject) -> bool:
    """Return whether an item is a dictionary with lists and no field of a mention: a document or response.

    It may have a misspelt field, which the conversion names, or lack one.
    """
    names = {name for part in _FIELD_NAMES if part not in ("document", "surface") for name in _FIELD_NAMES[part]}
    return (
        isinstance(item, Mapping)
        and names.isdisjoint(item)
        and any(isinstance(value, list | tuple) for value in item.values())
    )


def _is_misspelt_response(item: ForeignObject) -> bool:
    """Return whether an item seems to be a response whose predictions are in a field of another name."""
    return _has_lists_only(item) and "predictions" not in item


def _are_mentions(items: Sequence[ForeignObject]) -> bool:
    """Return whether items, at least one, are mentions: tuples, or dictionaries with a span."""
    return bool(items) and all(
        _is_tuple_mention(item) or (isinstance(item, Mapping) and not item.keys().isdisjoint(_FIELD_NAMES["start"]))
        for item in items
    )


def _is_tuple_mention(item: ForeignObject) -> bool:
    """Return whether an item is a tuple or list of document id, start, end, and perhaps entity and score.

    Offsets may be floating-point numbers, as in pandas, or texts, as in the rows of `csv.reader`; `_read_offset` checks
    them.
    """
    return (
        isinstance(item, list | tuple)
        and 3 <= len(item) <= len(_TUPLE_FIELDS)
        and _is_document_id(item[0])
        and all(isinstance(offset, str | Real) for offset in item[1:3])
    )


def _is_document_id(value: ForeignObject) -> bool:
    """Return whether a value is text or an integer, perhaps of NumPy or Arrow, such as an element of `Corpus.ids`."""
    return isinstance(value, str | Integral | pa.StringScalar)


def _to_dictionary(item: ForeignObject) -> Mapping[str, ForeignObject]:
    """Return a mention as a dictionary, from a tuple or a dictionary."""
    return item if isinstance(item, Mapping) else dict(zip(_TUPLE_FIELDS, item, strict=False))


def _to_plain(item: ForeignObject, where: str) -> ForeignObject:
    """Return a value with Python's own numbers, texts and lists instead of NumPy's and Arrow's.

    Raise `InputError` with the location `where` for other objects.
    """
    try:
        return msgspec.to_builtins(item, enc_hook=to_builtin)
    except TypeError as problem:
        raise InputError(
            where,
            actual=f"a field of the wrong type ({problem})",
            expected="numbers, strings, lists and dictionaries",
            remedy="Correct the value",
        ) from None


def _to_lists(value: ForeignObject) -> ForeignObject:
    """Return a value with lists in place of tuples, as in files."""
    if isinstance(value, list | tuple):
        return [_to_lists(member) for member in value]
    return {key: _to_lists(member) for key, member in value.items()} if isinstance(value, Mapping) else value


def _to_struct(item: ForeignObject, struct: type[_T], where: str) -> _T:
    """Convert a dictionary to a struct, checked like a file; raise `InputError` that names `where`."""
    try:
        content = msgspec.to_builtins(item, enc_hook=to_builtin)
        msgspec.json.encode(content)  # rejects lone surrogates
    except (TypeError, OverflowError, UnicodeEncodeError) as problem:
        raise InputError(
            where,
            actual=f"a field of the wrong type ({problem})",
            expected=f"the types that help(karat.{struct.__name__}) shows",
            remedy="Correct the value",
        ) from None
    return convert_object(content, struct, where)


def _read_dictionaries(
    items: Sequence[ForeignObject], corpus: Corpus | None, skipped: Counter[str]
) -> Iterator[_DocumentPredictions]:
    """Yield predictions by document, from one dictionary per document or one per prediction.

    If all dictionaries have `predictions`, each is a document. Otherwise each is a prediction with its document's id.
    Fields that are not read are dropped and counted in `skipped`.
    """
    if all("predictions" in item for item in items):
        for number, item in enumerate(items, 1):
            name = _read_document_id(item, f"dictionary {number}", None)
            read_fields = {"predictions", "text", *_FIELD_NAMES["document"]}
            skipped["fields of responses that are not read"] += len(set(item) - read_fields)
            text = item.get("text")
            yield _DocumentPredictions(
                name, _read_predictions(item["predictions"], f"document {name!r}", skipped), text
            )
        return
    _check_field_names(items, _PREDICTION_FIELDS, "dictionaries", skipped, has_document=True)
    by_document: dict[str, list[_SurfacePrediction]] = {}
    for number, item in enumerate(items, 1):
        where = f"dictionary {number}"
        by_document.setdefault(_read_document_id(item, where, corpus), []).append(
            _read_prediction(item, where, skipped, has_document=True)
        )
    yield from (_DocumentPredictions(name, predictions) for name, predictions in by_document.items())


def _read_document_id(item: Mapping[str, ForeignObject], where: str, corpus: Corpus | None) -> str:
    """Return the document id in a dictionary, or that of the only document of `corpus`; else raise `InputError`."""
    name = _get_first_value(item, "document")
    if name is None and corpus is not None and len(corpus) == 1:
        return str(corpus.ids[0].as_py())
    if not _is_document_id(name):
        raise InputError(
            where,
            actual=f"the fields {', '.join(map(str, item))}",
            expected=f"the id of its document, as one of {', '.join(_FIELD_NAMES['document'])}",
            remedy="Add the id, or pass one list of dictionaries per document, in the order of the corpus"
            + ("" if "predictions" in item else f", or name yours {_suggest_columns(item)}"),
        )
    return str(name)


def _read_in_order(
    items: Sequence[ForeignObject], corpus: Corpus | None, skipped: Counter[str]
) -> list[_DocumentPredictions]:
    """Convert one list of predictions per corpus document, in the order of the corpus, as pipelines return them.

    Raises `UsageError` without a corpus or if the numbers differ.
    """
    if corpus is None or len(corpus) != len(items):
        corpus_text = "no corpus" if corpus is None else f"{corpus.name} has {format_count(len(corpus), 'document')}"
        raise UsageError(
            f"{len(items)} lists of predictions, but {corpus_text}. Pass one list per document, in the order of the "
            "corpus, with corpus=…, or a dictionary of lists by document id."
        )
    ids = corpus.ids.to_pylist()
    return [
        _DocumentPredictions(id, _read_predictions(predictions, f"document {id!r}", skipped))
        for id, predictions in zip(ids, items, strict=True)
    ]


def _read_predictions(values: ForeignObject, where: str, skipped: Counter[str]) -> list[_SurfacePrediction]:
    """Convert a list of dictionaries to predictions; `where` is the location for error messages."""
    if not isinstance(values, list | tuple):
        raise InputError(
            where,
            actual=type(values).__name__,
            expected="a list of dictionaries",
            remedy="Pass one dictionary per prediction",
        )
    _check_field_names([item for item in values if isinstance(item, Mapping)], _PREDICTION_FIELDS, where, skipped)
    return [_read_prediction(item, f"{where}, prediction {number}", skipped) for number, item in enumerate(values, 1)]


def _check_field_names(
    items: Iterable[Mapping[str, ForeignObject]],
    read_fields: Collection[str],
    where: str,
    skipped: Counter[str],
    *,
    has_document: bool = False,
) -> None:
    """Raise `InputError` for a field that is not read but may be meant: there is no link, or only its case differs.

    Types that look like ids of entities are refused too if there is no link. `where` is the location for the message;
    `skipped` counts the links of tables that are missing. `has_document`: the fields include the document id, so that
    they can be named by role.
    """
    values: dict[str, list[ForeignObject]] = defaultdict(list)
    for item in items:
        for name, value in item.items():
            values[str(name)].append(value)
    unread = [name for name in values if name not in read_fields]
    misspelt = [name for name in unread if name.strip().lower() in read_fields]
    has_link = not values.keys().isdisjoint(_FIELD_NAMES["entity"]) or skipped[NULL_LINKS] > 0
    if not has_link:
        unread += [name for name in _FIELD_NAMES["types"] if name in values and all(map(_is_entity_id, values[name]))]
    required = [_FIELD_NAMES[part] for part in ("document", "start", "end")]
    if has_document and unread and not misspelt and not has_link and any(map(values.keys().isdisjoint, required)):
        raise InputError(
            where,
            actual=f"the fields {', '.join(f'`{name}`' for name in values)}, and none with the link",
            expected=f"the fields {', '.join(sorted(read_fields))}",
            remedy=f"Name yours {_suggest_columns(values)}",
        )
    if misspelt or (unread and not has_link):
        name = (misspelt or unread)[0]
        raise InputError(
            where,
            actual=f"the field `{name}`" + ("" if has_link else ", and none with the link"),
            expected=f"the fields {', '.join(sorted(read_fields))}",
            remedy=f"Rename it to `{name.strip().lower() if misspelt else 'entity'}`, or remove it",
        )


def _suggest_columns(names: Iterable[ForeignObject]) -> str:
    """Suggest roles of the fields of mentions, for an error message."""
    return f"by role in karat.load_run or karat.load: {suggest_roles(map(str, names))}"


def _count_unread(description: str, names: Collection[ForeignObject], skipped: Counter[str]) -> None:
    """Count one mention in `skipped`, under `description` and the names, if it has fields that are not read."""
    if names:
        skipped[f"{description}: {', '.join(sorted(map(str, names)))}"] += 1


def _is_entity_id(value: ForeignObject) -> bool:
    """Return whether a value is a QID or an IRI."""
    return isinstance(value, str) and _ENTITY_ID.fullmatch(value) is not None


def _read_prediction(
    item: ForeignObject, where: str, skipped: Counter[str], *, has_document: bool = False
) -> _SurfacePrediction:
    """Convert a dictionary with field names of Karat's files, spaCy spans or Hugging Face pipelines to a prediction.

    `has_document`: the fields include the document id. Predictions with unknown fields are kept without these fields
    and counted in `skipped`; a missing span raises `InputError`.
    """
    if not isinstance(item, Mapping):
        raise InputError(
            where, actual=type(item).__name__, expected="a dictionary", remedy="Pass start, end and entity"
        )
    start, end = _read_offset(item, "start", where), _read_offset(item, "end", where)
    if start is None or end is None:
        raise InputError(
            where,
            actual=f"the fields {', '.join(map(str, item))}",
            expected="`start` and `end`, offsets in code points",
            remedy="Add them, since a text may occur in a document more than once"
            + (f", or name yours {_suggest_columns(item)}" if has_document else ""),
        )
    read_fields = {name for part, names in _FIELD_NAMES.items() if has_document or part != "document" for name in names}
    _count_unread(_UNREAD_FIELDS, set(item) - read_fields - _EXTRA_FIELDS - {"index"}, skipped)
    surface = _get_first_value(item, "surface")
    prediction = {
        "start": start,
        "end": end,
        "types": _read_types(item, where),
        **{name: item[name] for name in _EXTRA_FIELDS if item.get(name) is not None},
        **({} if (score := _read_score(item, where)) is None else {"score": score}),
    }
    entity = _read_entity(item, where)
    if entity is not UNLINKED:
        prediction["entity"] = entity
    return _SurfacePrediction(
        _to_prediction(prediction, where), surface if isinstance(surface, str) else None, item.get("word") is not None
    )


def _to_prediction(prediction: dict[str, Any], where: str) -> Prediction:
    """Convert a dictionary with Karat's field names to a prediction.

    Raise `InputError` for values of the wrong type.
    """
    try:
        plain = msgspec.to_builtins(prediction, enc_hook=to_builtin)
        return msgspec.convert(plain, Prediction)
    except (msgspec.ValidationError, TypeError, OverflowError) as problem:
        raise InputError(
            where,
            actual=f"a field of the wrong type ({problem})",
            expected="the types that help(karat.Prediction) shows",
            remedy="Correct the value",
        ) from None


def _read_entity(item: Mapping[str, ForeignObject], where: str) -> EntityId:
    """Return the entity of a dictionary, None for NIL, or `UNLINKED` if there is none.

    Raises `InputError` for the tag of a single token, such as `B-PER`, and for a value that is no id, such as a list.
    """
    name = next((name for name in _FIELD_NAMES["entity"] if name in item), None)
    if name is None:
        return UNLINKED
    value = item[name]
    if name == "entity" and "index" in item and isinstance(value, str) and _TOKEN_TAG.fullmatch(value):
        raise InputError(
            where,
            actual=f"the tag {value!r} of a single token",
            expected="mentions",
            remedy='Ask the pipeline for them: aggregation_strategy="simple"',
        )
    if value is None or value == NIL_ID:
        return None
    if value is UNLINKED or value == "":
        return UNLINKED
    if isinstance(value, str):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(value)
    raise InputError(
        where,
        actual=f"the entity {value!r}",
        expected="the id of an entity, a string",
        remedy="Write None for NIL, or no entity for a mention without a link"
        if _is_missing(value)
        else "Pass one id; further ids of the same entity go into `same_as`",
    )


def _read_score(item: Mapping[str, ForeignObject], where: str) -> float | None:
    """Return the score in a dictionary, or None; raise `InputError` if it is no number."""
    value = _get_first_value(item, "score")
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        raise InputError(
            where, actual=f"the score {value!r}", expected="a number", remedy="Correct the value"
        ) from None


def _read_types(item: Mapping[str, ForeignObject], where: str) -> tuple[str, ...]:
    """Return the types in a dictionary, which has one string, a list or none; raise `InputError` for other values."""
    value = _get_first_value(item, "types")
    is_list = isinstance(value, Iterable) and not isinstance(value, str | Mapping)
    types = list(value) if is_list else [] if value is None else [value]
    if not all(isinstance(name, str) for name in types):
        raise InputError(
            where,
            actual=f"the type {value!r}",
            expected="a name such as PER, or a list of names",
            remedy="Write the name of the type instead of its number",
        )
    return tuple(types)


def _read_offset(item: Mapping[str, ForeignObject], part: Literal["start", "end"], where: str) -> int | None:
    """Return the start or end in a dictionary; a whole floating-point number, as in pandas, as an integer.

    Return None if no field has its name. Raise `InputError` for any other value.
    """
    value = _get_first_value(item, part)
    if value is None:
        if (name := next((name for name in _FIELD_NAMES[part] if name in item), None)) is None:
            return None
        raise InputError(
            where,
            actual=f"no value of `{name}`",
            expected="both ends of the span",
            remedy="Add the offset, or remove the mention",
        )
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Real) and not isinstance(value, bool) and float(value).is_integer():
        return int(float(value))
    raise InputError(
        where,
        actual=f"{part} {value!r}",
        expected="an integer from 0",
        remedy="Pass an int; the order of a tuple is document, start, end, entity, score",
    )


def _get_first_value(item: Mapping[str, ForeignObject], part: str) -> ForeignObject:
    """Return the first value that is not None among the accepted field names of `part`, a key of `_FIELD_NAMES`.

    Else None.
    """
    return next((item[name] for name in _FIELD_NAMES[part] if item.get(name) is not None), None)


# --- both


def _build_response(document: _DocumentPredictions, texts: GoldTexts, skipped: Counter[str]) -> Response:
    """Return the response for a document; its text, or that in `texts`, has to have the surfaces at their spans.

    Differences in case, whitespace and `##` are ignored. Surfaces of tokenisers that differ are only counted in
    `skipped`; the error policy decides about others, as in files.
    """
    response = validate_object(Response(document.document, tuple(item.prediction for item in document.predictions)))
    text = texts.find_text(document.document) if document.text is None else document.text
    surfaces: list[str | None] = []
    for prediction, surface, is_token_text in document.predictions:
        differs = (
            surface is not None
            and text is not None
            and _normalise_surface(surface) != _normalise_surface(text[prediction.start : prediction.end])
        )
        skipped[_TEXT_MISMATCH] += differs and is_token_text
        surfaces.append(surface if differs and not is_token_text else None)
    location = f"document {document.document!r}"
    with locate_counts(location):
        return check_surfaces(response, surfaces, document.text, texts, location, skipped)


def _normalise_surface(text: str) -> str:
    """Return a text without whitespace and `##`, case-folded."""
    return _IGNORED_TEXT.sub("", text).casefold()


def _to_list(data: ForeignObject, skipped: Counter[str]) -> list[ForeignObject]:
    """Return the elements of an iterable, or the rows of a table as dictionaries; an empty list for anything else.

    A row whose link is missing has no field for it, since a table cannot distinguish NIL from no link. These rows are
    counted in `skipped`.
    """
    rows = _list_rows(data)
    if rows is None:
        return _list_elements(data)
    return [_drop_null_link(row, skipped) for row in rows]


def _list_elements(data: ForeignObject) -> list[ForeignObject]:
    """Return the elements of an iterable; an empty list for text, a mapping or anything else."""
    return [] if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable) else list(data)


def _list_rows(data: ForeignObject) -> list[dict[str, ForeignObject]] | None:
    """Return the rows of a data frame, a Hugging Face dataset or an Arrow table; None for anything else.

    Missing values of a data frame become None.
    """
    if hasattr(data, "iterrows"):
        rows = data.to_dict("records")  # pandas
        return [{name: None if _is_missing(value) else value for name, value in row.items()} for row in rows]
    for method in ("to_dicts", "to_pylist"):  # Polars and Arrow
        if hasattr(data, method):
            return list(getattr(data, method)())
    return read_named_rows(_to_arrow(data)) if _is_dataset(data) else None


def _list_columns(data: ForeignObject) -> list[str]:
    """Return the names of the columns of a data frame or an Arrow table; an empty list for anything else."""
    names = getattr(data, "column_names", getattr(data, "columns", ()))
    return list(map(str, names)) if isinstance(names, Iterable) else []


def _drop_null_link(row: dict[str, ForeignObject], skipped: Counter[str]) -> dict[str, ForeignObject]:
    """Return a row without the links that are None, and count it in `skipped` if it has one."""
    names = [name for name in _FIELD_NAMES["entity"] if name in row and row[name] is None]
    skipped[NULL_LINKS] += bool(names) and _get_first_value(row, "start") is not None
    return {name: value for name, value in row.items() if name not in names}


def _is_empty_list(data: ForeignObject) -> bool:
    """Return whether `data` is a list or table without elements."""
    return isinstance(data, Sized) and isinstance(data, Iterable) and not isinstance(data, str) and len(data) == 0


def _is_missing(value: ForeignObject) -> bool:
    """Return whether a value is one of those with which pandas marks missing values."""
    return (isinstance(value, float) and isnan(value)) or type(value).__name__ in ("NAType", "NaTType")


def _unreadable_error(data: ForeignObject, expected: str) -> UsageError:
    """Make the error for an object of unknown kind; `expected` is what to pass instead."""
    if hasattr(data, "get_docs"):  # of spaCy's DocBin
        expected = "its documents: list(docbin.get_docs(nlp.vocab))"
    elif columns := _list_columns(data):
        expected += f", or name the columns by role: {suggest_roles(columns)}"
    detail = ""
    if _is_empty_list(data):
        detail = " that is empty"
    elif isinstance(data, list | tuple):
        kinds = dict.fromkeys(type(item).__name__ for item in data)
        detail = f" of {' and '.join(list(kinds)[:_MAX_KINDS])}"
    return UsageError(f"found {type(data).__name__}{detail}. Pass {expected}.")
