"""Custom tables in CSV, TSV, JSON, JSONL, Arrow or Parquet, read by the columns that the user names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, Final, NamedTuple

from karat.formats.parsing.duplicates import separate_duplicate_labels
from karat.formats.parsing.lines import decode_utf8
from karat.formats.parsing.surfaces.answers import select_usage, to_answer_response
from karat.formats.parsing.surfaces.columns import ColumnRoles, suggest_roles
from karat.formats.parsing.surfaces.entries import parse_offset, replace_surrogates
from karat.formats.parsing.surfaces.run_builder import GoldTexts, ResponseEntry, build_run, locate_predictions
from karat.formats.parsing.surfaces.table_rows import (
    TableRow,
    get_value,
    is_nested,
    list_fields,
    read_column_names,
    read_rows,
)
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import get_defects, isolate_defects, map_valid, skip_or_raise
from karat.model.document import UNLINKED, Document, EntityId, Label, Prediction, WrittenPrediction, WrittenResponse
from karat.model.errors import InputError, UsageError
from karat.model.output.command_options import advise_gold_standard
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format
from karat.model.spec.settings.nil_spellings import NIL_ID

PreviewCallback = Callable[[str, Sequence[str]], None]
"""Callback that gets the name of a file and a preview of its first mentions."""

NULL_LINKS: Final = "mentions whose link is null in a table (unlinked; NIL is written NIL)"
"""The description of nulls that are read as empty cells."""

_BOM = b"\xef\xbb\xbf"
_N_PREVIEWS = 3
_ABSENT: Final = object()
"""The value of a field that a member of a list does not have."""


class TableSource(NamedTuple):
    """The rows of a table, from a file or from objects."""

    label: str
    """The name of the table in messages."""
    stem: str
    """The name of the corpus or run."""
    rows: Iterable[TableRow]
    """The rows."""
    texts: Callable[[str], str | None] | None = None
    """The text of a document by id, if the texts are elsewhere."""

    @classmethod
    def from_file(cls, source: ByteSource, columns: ColumnRoles) -> TableSource:
        """Return the table in a file; texts may be in a file or folder next to it.

        Raise `InputError` if offsets are in columns whose name is a number, which is a cell of a table without header.
        """
        roles = ("start", "end", "length")
        numbers = [name for role in roles if (name := columns.by_role.get(role, "")).isdigit()]
        if numbers and not columns.is_headerless and not is_nested(source):
            raise InputError(
                source.label,
                actual=f"a header with the number {numbers[0]} for a column of offsets",
                expected="names, or a table without header, whose columns are counted from 1",
                remedy=f"Count them: {suggest_roles(read_column_names(source))}",
            )
        rows = read_rows(source, is_headerless=columns.is_headerless)
        return cls(source.label, source.stem, rows, _open_texts(source, columns))


@dataclass
class _TableDocument:
    """The mentions of one document in all rows of a table, with its text, if known."""

    location: str
    text: str | None
    predictions: list[WrittenPrediction] = field(default_factory=list)


def make_table_format(columns: ColumnRoles, on_preview: PreviewCallback | None = None) -> Format:
    """Make the format of a table with these columns; `on_preview` gets the first mentions of each file."""

    def read_run(source: ByteSource) -> Run:
        return read_table_run(TableSource.from_file(source, columns), columns, None, on_preview)

    def read_run_with_gold(source: ByteSource, gold: Callable[[], Corpus]) -> Run:
        return read_table_run(TableSource.from_file(source, columns), columns, gold, on_preview)

    return Format(
        title="custom table",
        suffix=".csv",
        recognises=lambda head: True,
        has_gold=lambda source: columns.has_texts and not columns.has_answers,
        read_corpus=lambda source, text: read_table_corpus(TableSource.from_file(source, columns), columns, on_preview),
        read_run=read_run,
        read_run_with_gold=read_run_with_gold,
        is_kind_ambiguous=True,
        description=f"Columns {columns}.",
    )


def find_missing_columns(source: ByteSource, columns: ColumnRoles) -> list[str]:
    """Return the required columns that a file lacks; all required columns if the file is not a table.

    In nested data, a path such as `entities.start` is present if its first step is a field.
    """
    names = set(read_column_names(source, is_headerless=columns.is_headerless))
    has_paths = is_nested(source)
    return [
        name
        for name in columns.required_columns.values()
        if name not in names and not (has_paths and name.partition(".")[0] in names and "." in name)
    ]


def read_table_corpus(source: TableSource, columns: ColumnRoles, on_preview: PreviewCallback | None = None) -> Corpus:
    """Read gold documents from a table, locate their mentions, and preview the first ones.

    Raise `InputError` if there are no texts or no documents.
    """
    if columns.has_answers:
        raise InputError(
            source.label,
            actual="answers of a language model",
            expected="gold labels",
            remedy="Read them as predictions; karat data convert --as gold stores predictions as gold labels",
        )
    if not columns.has_texts:
        raise InputError(
            source.label,
            actual=f"no column for the texts of the documents in {columns}",
            expected="text=COLUMN",
            remedy="If this file has gold labels, add text=COLUMN, or texts=NAME of a folder or table next to it. "
            + advise_gold_standard(),
        )
    skipped = SkipCounter()
    texts = GoldTexts(None, source.label)
    documents: list[Document] = []
    locations: list[str] = []
    for doc_id, document in _read_documents(source, columns, skipped).items():
        if document.text is None:
            skip_or_raise(
                InputError(
                    document.location,
                    actual=f"document {doc_id!r} without text",
                    expected="a text for each document",
                    remedy="Add the text, or remove the document",
                )
            )
            continue
        with isolate_defects(f"document {doc_id!r}"):
            response = WrittenResponse(doc_id, tuple(document.predictions), document.text)
            predictions = locate_predictions(response, texts, document.location, skipped).predictions
            labels = separate_duplicate_labels(map(_to_label, predictions), skipped)
            documents.append(Document(doc_id, document.text, labels))
            locations.append(document.location)
    if not documents:
        raise _no_row_error(source.label)
    if on_preview is not None:
        lines = [
            _format_preview(d.id, label, d.text) for d in documents[:_N_PREVIEWS] for label in d.labels[:_N_PREVIEWS]
        ]
        on_preview(source.label, lines[:_N_PREVIEWS])
    return Corpus.from_reader(documents, name=source.stem, skipped=skipped, locate_row=locations.__getitem__)


def _no_row_error(label: str) -> InputError:
    """Build the error for a table without any valid row: the first defect that was skipped, or "no row"."""
    return get_defects().final_error or InputError(
        label,
        actual="no row",
        expected="a row for each mention, or with the id of each document without mentions",
        remedy="Check that this is the correct file",
    )


def _to_label(prediction: Prediction) -> Label:
    """Convert a prediction to a gold label with the same span, entity and types."""
    return Label(prediction.start, prediction.end, prediction.entity, types=prediction.types)


def read_table_run(
    source: TableSource,
    columns: ColumnRoles,
    gold: Callable[[], Corpus] | None,
    on_preview: PreviewCallback | None = None,
) -> Run:
    """Read predictions from a table and preview the first ones; `gold` loads the corpus with the texts, if needed."""
    skipped = SkipCounter()
    if columns.has_answers:
        responses = [
            entry
            for _, entry in map_valid(
                source.rows, lambda row: _read_answer(row, columns, source), lambda row: row.location
            )
        ]
    else:
        responses = [
            ResponseEntry(WrittenResponse(doc_id, tuple(document.predictions), document.text), document.location)
            for doc_id, document in _read_documents(source, columns, skipped).items()
        ]
    if not responses:
        raise _no_row_error(source.label)
    texts = GoldTexts(gold, source.label)
    run = build_run(responses, texts, name=source.stem, skipped=skipped)
    if on_preview is not None:
        own_texts = {entry.response.id: entry.response.text for entry in responses}
        lines = [
            _format_preview(response.id, prediction, own_texts[response.id] or _find_gold_text(response.id, texts))
            for response in islice(run, _N_PREVIEWS)
            for prediction in response.predictions[:_N_PREVIEWS]
        ]
        on_preview(source.label, lines[:_N_PREVIEWS])
    return run


def _read_answer(row: TableRow, columns: ColumnRoles, source: TableSource) -> ResponseEntry:
    """Read a row whose mentions are in the answer of a language model, and count what the answer lost."""
    counts = SkipCounter()
    text = _parse_text(row, columns)
    doc_id = _parse_id(row, columns, {}, text)
    answer = get_value(row.fields, columns.by_role["response"])
    record = {"id": doc_id, "response": answer, "text": text if source.texts is None else source.texts(doc_id)}
    record |= select_usage(row.fields)
    return ResponseEntry(to_answer_response(record, row.location, counts), row.location, counts)


def _find_gold_text(doc_id: str, texts: GoldTexts) -> str | None:
    """Return the text of a document in the gold standard, or None if it or the gold standard is missing."""
    with suppress(UsageError):
        return texts.get_text(doc_id)
    return None


def _format_preview(doc_id: str, item: Label | Prediction, text: str | None) -> str:
    """Format a mention for the preview: document, span, surface if the text is known, and link."""
    surface = "" if text is None else f" {text[item.start : item.end]!r}"
    link = NIL_ID if item.entity is None else "unlinked" if item.entity is UNLINKED else item.entity
    return f"{doc_id}: [{item.start}, {item.end}){surface} → {link}"


# --- rows


def _read_documents(source: TableSource, columns: ColumnRoles, skipped: Counter[str]) -> dict[str, _TableDocument]:
    """Read the documents of a table with their mentions, by id, in the order of their first rows.

    Nulls that are empty cells are counted in `skipped`. The error policy decides whether an invalid row raises
    `InputError`, or is skipped and counted in `Defects`.
    """
    documents: dict[str, _TableDocument] = {}
    ids: dict[str, str] = {}
    absent_columns = set(columns.mention_columns.values())
    has_mentions = False
    for row in source.rows:
        absent_columns -= {name for name in absent_columns if _has_path(row.fields, name.split("."), name)}
        with isolate_defects(row.location):
            text = _parse_text(row, columns)
            doc_id = _parse_id(row, columns, ids, text)
            items = list(_split_mentions(row, columns))
            mentions = [(item, _parse_prediction(item, columns)) for item in items]
            predictions = [prediction for _, prediction in mentions if prediction is not None]
            skipped[NULL_LINKS] += sum(_has_null_link(item, columns) for item, mention in mentions if mention)
            has_mentions |= bool(predictions) or any(item is not row for item in items)
            if source.texts is not None:
                text = source.texts(doc_id)
            document = documents.setdefault(doc_id, _TableDocument(row.location, text))
            if text is not None and document.text is not None and text != document.text:
                raise InputError(
                    row.location,
                    actual=f"a text of document {doc_id!r} that differs from the one at {document.location}",
                    expected="one text for each document",
                    remedy="Give documents with different texts different ids",
                )
            document.text = text if document.text is None else document.text
            document.predictions += predictions
    if absent_columns and has_mentions:
        raise InputError(
            source.label,
            actual=f"no row with a value for the column {min(absent_columns)!r}",
            expected="a value in each column that is named",
            remedy="Correct the name, or leave its role out",
        )
    return documents


def _has_path(value: object, steps: Sequence[str], name: str = "") -> bool:
    """Return whether a row has a column called `name`, or a value at `steps` in nested objects and lists of them."""
    if not steps or (isinstance(value, Mapping) and name in value):
        return True
    if isinstance(value, Mapping):
        return steps[0] in value and _has_path(value[steps[0]], steps[1:])
    if not isinstance(value, list):
        return False
    is_cell = steps[0].isdigit() and int(steps[0]) < len(value)  # of a mention that is a list
    return is_cell or any(_has_path(member, steps) for member in value)


def _parse_id(row: TableRow, columns: ColumnRoles, ids: dict[str, str], text: str | None) -> str:
    """Return the document id of a row; without a column of ids, number the distinct texts, which `ids` records.

    Raise `InputError` if the id is missing or invalid.
    """
    column = columns.by_role.get("doc")
    if column is None:
        return ids.setdefault(text or "", str(len(ids)))
    value = get_value(row.fields, column)
    doc_id = replace_surrogates(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    if not doc_id:
        raise _cell_error(row, column, value, "the id of a document")
    return doc_id


def _parse_text(row: TableRow, columns: ColumnRoles) -> str | None:
    """Return the document text of a row; None if the cell is empty or the texts are in another file."""
    column = columns.by_role.get("text")
    if column is None or "texts" in columns.by_role:
        return None
    value = get_value(row.fields, column)
    if value is not None and not isinstance(value, str):
        raise _cell_error(row, column, value, "a text")
    return replace_surrogates(value) if value else None


def _split_mentions(row: TableRow, columns: ColumnRoles) -> Iterator[TableRow]:
    """Yield a row for each mention: the row itself, or one for each member if the spans or mentions are in a list.

    Then all columns of mentions are lists of that length, or fields of the members of such a list (`entities.start`).
    Raise `InputError` if they are not.
    """
    key = columns.by_role.get("start") or columns.by_role["mention"]
    lists = {name: _find_list(row, name) for name in columns.mention_columns.values()}
    path, members = lists[key]
    if members is None:
        yield row
        return
    for name, (_, values) in lists.items():
        if len(values or ()) != len(members) or (values is None and get_value(row.fields, name) is not None):
            expected = f"a list of {len(members)} values, as in {key!r}"
            raise _cell_error(row, name, get_value(row.fields, name) if values is None else values, expected)
    names = tuple(list_fields(path, get_value(row.fields, path)))
    for index in range(len(members)):
        fields = {name: values[index] for name, (_, values) in lists.items() if values is not None}
        present = {name: value for name, value in fields.items() if value is not _ABSENT}
        yield row._replace(fields=present, location=f"{row.location}, {path} {index + 1}", names=names)


def _find_list(row: TableRow, name: str) -> tuple[str, list[Any] | None]:
    """Return the path of the list in which a column has its values, and the values; no values outside lists.

    The list is at `name`, or earlier on that path: then values are a field of its members, `_ABSENT` where they lack
    it. Raise `InputError` if the path leads through another value.
    """
    if name in row.fields:
        path, steps, value = name, [], row.fields[name]
    else:
        steps = name.split(".")
        value = row.fields
        while steps and isinstance(value, Mapping):
            value = value.get(steps.pop(0))
        path = name.removesuffix("." + ".".join(steps)) if steps else name
    if isinstance(value, list):
        return path, [_get_field(row, path, member, steps) for member in value]
    if steps and value is not None:
        raise _cell_error(row, path, value, "a list of mentions")
    return path, None


def _get_field(row: TableRow, path: str, member: object, steps: Sequence[str]) -> object:
    """Return the value at `steps` in a member of the list at `path`, or `_ABSENT`.

    Raise `InputError` if the member is no object or list.
    """
    if steps and not isinstance(member, Mapping | list):
        raise _cell_error(row, path, member, "a list of objects or lists")
    value = member
    for step in steps:
        if isinstance(value, list):
            value = value[int(step)] if step.isdigit() and int(step) < len(value) else _ABSENT
        else:
            value = value.get(step, _ABSENT) if isinstance(value, Mapping) else _ABSENT
    return value


def _parse_prediction(row: TableRow, columns: ColumnRoles) -> WrittenPrediction | None:
    """Parse the mention of a row; return None if the row only names a document.

    Raise `InputError` if a link, type or score has no mention, or if an end of a span is missing.
    """

    def get_cell(role: str) -> object:
        name = columns.by_role.get(role)
        cell = None if name is None else get_value(row.fields, name)
        return None if cell == [] or (isinstance(cell, str) and not cell.strip()) else cell

    start, end, length = (
        _parse_offset_cell(row, columns.by_role.get(role, role), get_cell(role)) for role in ("start", "end", "length")
    )
    if start is not None and length is not None:
        end = _parse_offset_cell(row, columns.by_role["length"], start + length)
    mention, before, after = (
        _parse_text_cell(row, columns.by_role.get(role, role), get_cell(role))
        for role in ("mention", "before", "after")
    )
    if start is None and end is None and mention is None:
        extra_columns = [columns.by_role[role] for role in ("entity", "type", "score") if get_cell(role) is not None]
        if extra_columns:
            raise _cell_error(
                row,
                columns.mention_columns.get("start", columns.mention_columns.get("mention", "")),
                None,
                f"a span or mention for {extra_columns[0]!r}",
            )
        return None
    if mention is None and (start is None or end is None):
        roles = ("end", "length") if end is None else ("start",)
        column = next((columns.by_role[role] for role in roles if role in columns.by_role), roles[0])
        raise _cell_error(row, column, None, "both ends of a span")
    return WrittenPrediction(
        start,
        end,
        mention,
        before,
        after,
        _parse_entity(row, columns),
        types=_parse_types(row, columns, get_cell("type")),
        score=_parse_score(row, columns, get_cell("score")),
    )


def _parse_entity(row: TableRow, columns: ColumnRoles) -> EntityId:
    """Return the entity of a row: None (NIL) for null or `NIL`, `UNLINKED` for an empty cell or no column."""
    name = columns.by_role.get("entity")
    if name is None or not _has_path(row.fields, name.split("."), name) or _has_null_link(row, columns):
        return UNLINKED
    value = get_value(row.fields, name)
    if value is None or value == NIL_ID:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise _cell_error(row, name, value, "the id of an entity")
    return replace_surrogates(value.strip()) or UNLINKED


def _has_null_link(row: TableRow, columns: ColumnRoles) -> bool:
    """Return whether the entity of a row is null, and null is an empty cell."""
    name = columns.by_role.get("entity")
    return row.null_is_empty and name is not None and get_value(row.fields, name) is None


def _parse_text_cell(row: TableRow, column: str, value: object) -> str | None:
    """Return a cell as valid Unicode text, also a number such as a year; None stays None.

    Raise `InputError` for other values.
    """
    if value is not None and (not isinstance(value, str | int | float) or isinstance(value, bool)):
        raise _cell_error(row, column, value, "a text")
    return None if value is None else replace_surrogates(str(value))


def _parse_types(row: TableRow, columns: ColumnRoles, value: object) -> tuple[str, ...]:
    """Return the distinct types of a cell, which is a string or a list of strings; raise `InputError` otherwise."""
    values = [] if value is None else value if isinstance(value, list) else [value]
    types = [replace_surrogates(name) for name in values if name is not None]
    if not all(isinstance(name, str) for name in types):
        raise _cell_error(row, columns.by_role["type"], value, "the name of a type, or a list of names")
    return tuple(dict.fromkeys(name for name in types if name))


def _parse_score(row: TableRow, columns: ColumnRoles, value: object) -> float | None:
    """Return the score of a cell, or None for an empty cell; raise `InputError` if it is not a finite number."""
    if value is None:
        return None
    try:
        score = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        raise _cell_error(row, columns.by_role["score"], value, "a finite number with a decimal point")
    return score


def _parse_offset_cell(row: TableRow, column: str, value: object) -> int | None:
    """Return the offset of a cell, or None for an empty cell; raise `InputError` if it is not an offset."""
    offset = None if value is None else parse_offset(value)
    if value is not None and offset is None:
        raise _cell_error(row, column, value, "an offset, an integer from 0")
    return offset


def _cell_error(row: TableRow, column: str, value: object, expected: str) -> InputError:
    """Build the error for a missing (None) or invalid value of a column."""
    existing = f" (it has {', '.join(row.names)})" if row.names and column not in row.names else ""
    return InputError(
        row.location,
        actual=f"nothing in {column!r}{existing}" if value is None else f"{str(value)[:40]!r} in the column {column!r}",
        expected=expected,
        remedy="Correct the row, or choose another column",
    )


def _open_texts(source: ByteSource, columns: ColumnRoles) -> Callable[[str], str | None] | None:
    """Return a function that looks up the text of a document id in the folder or table that the role `texts` names.

    The function returns None for an unknown id. Return None instead of a function if there is no such role.
    """
    texts_name = columns.by_role.get("texts")
    if texts_name is None:
        return None
    if source.path == "-":
        raise UsageError("texts= names a folder or table next to the file, and standard input has none. Pass a file.")
    texts_source = source.get_sibling(texts_name)
    if not texts_source.exists:
        raise InputError(
            texts_source.label,
            actual="no such file or folder",
            expected="a folder or table with the texts",
            remedy="Check texts=NAME",
        )
    if texts_source.is_folder:
        file_names = set(texts_source.file_names)

        @cache
        def read_text(doc_id: str) -> str | None:
            file = next((file for file in (f"{doc_id}.txt", doc_id) if file in file_names), None)
            return (
                None
                if file is None
                else decode_utf8(
                    texts_source.get_child(file).read_bytes().removeprefix(_BOM), texts_source.get_child(file)
                )
            )

        return read_text
    text_columns = ColumnRoles((("doc", columns.by_role["doc"]), ("text", columns.by_role.get("text", "text"))))
    texts = {
        _parse_id(row, text_columns, {}, None): _parse_text(row, text_columns)
        for row in read_rows(texts_source, is_headerless=text_columns.is_headerless)
    }
    return texts.get
