"""Hugging Face datasets: a folder from `save_to_disk` or for the Hub, an Arrow file, or a Parquet file.

Read with pyarrow alone; the library `datasets` is not needed. A row is a document, in one of two layouts.

The writer writes a folder like `save_to_disk`, or the Arrow file of one (`.arrow`), in Karat's columns: those of Karat
Parquet (`id`, `text`, `labels`, … or `id`, `predictions`, …), but `meta` as a list of `key` and `value`, since
datasets have no maps. `datasets.load_from_disk` opens the folder, and `Dataset.from_file` the file.

Tokens: `tokens` and `ner_tags` (IOB or IOBES, as strings or as a ClassLabel), optionally `entity_ids` with the link of
each token (the first of a mention counts; `NIL` is NIL; null, empty, `O` or `_` is unlinked), `id` (or `doc_id`; rows
are numbered otherwise) and `text`. Tokens are joined by spaces if there is no text or it lacks a token.

The variant `hf-hub` writes a folder with a Parquet file per split and a dataset card, which `datasets.load_dataset`
opens and which can be uploaded as it is. Loading scripts are no longer supported there.

A Parquet file must be named as `hf-datasets`, since it is otherwise read as Karat Parquet.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from typing import IO, Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from karat.formats.parsing.arrow_tables import (
    STREAM_MAGIC,
    damaged_file_error,
    is_hub_folder,
    is_saved_dataset,
    read_arrow_table,
    suggest_table_roles,
    unknown_field_error,
)
from karat.formats.parsing.class_labels import read_named_rows
from karat.formats.parsing.conversion import to_predictions
from karat.formats.parsing.surfaces.table_rows import TableRow, get_value, read_rows
from karat.formats.parsing.tokens.iob import OUTSIDE, parse_tags
from karat.formats.parsing.tokens.text import JoinedText, join_tokens
from karat.model.corpus import Corpus, drop_text_facts
from karat.model.counts.skip_counter import SkipCounter, locate_positive
from karat.model.defects import map_valid
from karat.model.document import GOLD_LAYOUT, PREDICTIONS_LAYOUT, UNLINKED, Document, EntityId, Label, Response
from karat.model.errors import InputError, UsageError, check_layout_version
from karat.model.json.decoder import JsonError, decode_json
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format
from karat.model.spec.settings.nil_spellings import NIL_ID
from karat.model.tables.arrow import Arrow
from karat.model.tables.checks import RowLocator
from karat.model.tables.schema import GOLD, PREDICTIONS, UnknownFieldError, conform_table

_CARD_KEYS = {"description": "", "creators": "Creators", "published": "Published", "sources": "Sources"}
"""Metadata on a dataset card, with the titles of those in the list."""
_LABEL_FLAGS = (
    "Labels with the same `mention_id` are alternatives of one mention. If `optional` is true, predictions need not",
    "have the mention.",
)
_SPLITS = ("train", "dev", "validation", "test")
_LICENCE_NAMES = {"apache": "apache-2.0", "gpl-3.0-or-later": "gpl-3.0", "gpl-3.0-only": "gpl-3.0", "cc0": "cc0-1.0"}
"""Identifiers of licences on the Hub by other names in lower case."""
_LICENCE = re.compile(
    r"cc-by(-nc)?(-sa|-nd)?-\d\.\d|cc0-1\.0|mit|apache-2\.0|l?gpl-\d\.\d|agpl-3\.0|bsd(-\d-clause)?|odbl|odc-by|pddl|"
    r"cdla-(sharing|permissive)-\d\.\d|unlicense|other|unknown"
)
"""The identifiers of licences on the Hub that datasets have."""

COLUMNS = ("tokens", "ner_tags", "entity_ids", "id", "doc_id", "text")
"""Columns that are read."""

_TOKEN_ROLES = {
    "token": "tokens",
    "tag": "ner_tags",
    "id": "entity_ids",
    "entity": "entity_ids",
    "doc": "id",
    "text": "text",
}
"""The column of each role that a user can name."""


_Data = TypeVar("_Data", Corpus, Run)

_METADATA_KEY = b"karat"
_LAYOUT_KEY = b"karat-layout"
_DATA_FILE = "data-00000-of-00001.arrow"
_TOKEN_COLUMNS = {"tokens", "ner_tags"}
_LAYOUTS = ({"id", "labels"}, {"id", "predictions"}, _TOKEN_COLUMNS)
_PAIRS_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with their texts (`text` is ignored)."""
    return build_corpus(read_arrow_table(source), source.stem, source.label)


def build_corpus(table: Arrow, name: str, label: str) -> Corpus:
    """Build the gold documents of a table of tokens or of Karat's columns; `label` names it in error messages.

    `name` is the name of the corpus unless the table's metadata has one.
    """
    skipped = SkipCounter()
    if set(table.column_names) >= _TOKEN_COLUMNS:
        return build_tagged_corpus(_select_token_rows(table, skipped), name, label, skipped)
    karat_table, metadata = _to_karat_table(table, GOLD, label, skipped)
    corpus = Corpus.from_table(
        karat_table, name=metadata.pop("name", name), metadata=metadata, locate_row=_make_locator(label)
    )
    return replace(corpus, skipped=locate_positive(skipped, ""))


def read_run(source: ByteSource) -> Run:
    """Read a system's responses from a folder or file."""
    return build_run(read_arrow_table(source), source.stem, source.label)


def build_run(table: Arrow, name: str, label: str) -> Run:
    """Build the responses of a table of tokens or of Karat's columns; `label` names it in error messages.

    `name` is the name of the system unless the table's metadata has one.
    """
    skipped = SkipCounter()
    if set(table.column_names) >= _TOKEN_COLUMNS:
        return build_tagged_run(_select_token_rows(table, skipped), name, label, skipped)
    karat_table, metadata = _to_karat_table(table, PREDICTIONS, label, skipped)
    name = metadata.pop("system", name)
    run = Run.from_table(
        karat_table, name=name, metadata=metadata, locate_row=_make_locator(label), texts=_get_texts(table)
    )
    return replace(run, skipped=locate_positive(skipped, ""))


def build_tagged_corpus(
    rows: Sequence[dict[str, Any]], name: str, label: str, skipped: Counter[str] | None = None
) -> Corpus:
    """Build the gold documents of rows of tokens; see `read_tagged_rows`."""
    skipped = SkipCounter() if skipped is None else skipped
    documents = [Document(*row) for row in read_tagged_rows(rows, label, skipped)]
    return Corpus.from_reader(documents, name=name, skipped=skipped, locate_row=_make_locator(label))


def build_tagged_run(rows: Sequence[dict[str, Any]], name: str, label: str, skipped: Counter[str] | None = None) -> Run:
    """Build the responses of rows of tokens; see `read_tagged_rows`."""
    skipped = SkipCounter() if skipped is None else skipped
    tagged = list(read_tagged_rows(rows, label, skipped))
    responses, texts = [Response(row.id, to_predictions(row.labels)) for row in tagged], [row.text for row in tagged]
    return Run.from_reader(responses, name=name, skipped=skipped, locate_row=_make_locator(label), texts=texts)


def rename_token_columns(rows: Iterable[TableRow], roles: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return rows of tokens with the column names of `COLUMNS`, given the column of each role.

    Raise `UsageError` for a role that such rows do not have, and `InputError` for tokens or tags that are no list.
    """
    for role in roles:
        if role not in _TOKEN_ROLES:
            raise UsageError(f"rows with lists of tokens have no role {role}. Choose among {', '.join(_TOKEN_ROLES)}.")
    renamed = []
    for row in rows:
        for role in ("token", "tag"):
            if not isinstance(value := get_value(row.fields, roles[role]), list):
                raise InputError(
                    row.location,
                    actual=f"{str(value)[:40]!r} in the column {roles[role]!r}",
                    expected="a list with an element for each token, and a row for each document",
                    remedy="Choose another column, or save a token per line as a CoNLL file",
                )
        renamed.append({_TOKEN_ROLES[role]: get_value(row.fields, name) for role, name in roles.items()})
    return renamed


def make_token_format(roles: Mapping[str, str]) -> Format:
    """Make the format of tables with lists of tokens, tags and ids in columns that the user names by role."""

    def read_renamed_rows(source: ByteSource) -> list[dict[str, Any]]:
        return rename_token_columns(read_rows(source, is_headerless=False), roles)

    return Format(
        title="table of tokens",
        suffix=".arrow",
        recognises=lambda head: True,
        has_gold=lambda source: True,
        read_corpus=lambda source, text: build_tagged_corpus(read_renamed_rows(source), source.stem, source.label),
        read_run=lambda source: build_tagged_run(read_renamed_rows(source), source.stem, source.label),
        is_kind_ambiguous=True,
        description="Lists of tokens, tags and ids, in columns that the user names.",
    )


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write the corpus as an Arrow stream, as datasets store it, with its name and metadata in the schema."""
    facts = [name for name in ("length", "text_digest") if name in corpus.table.column_names]
    _write_stream(corpus.table.drop_columns(facts), {"name": corpus.name, **corpus.metadata}, GOLD_LAYOUT, file)


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write the run as an Arrow stream, with its name and metadata in the schema."""
    _write_stream(run.table, {"system": run.name, **run.metadata}, PREDICTIONS_LAYOUT, file)


def _write_stream(table: Arrow, metadata: dict[str, str], layout: str, file: IO[bytes]) -> None:
    """Write a table as an Arrow stream, with `meta` as lists of key and value; the schema has metadata and layout."""
    if "meta" in table.column_names:
        pairs = [None if entry is None else [{"key": k, "value": v} for k, v in entry] for entry in _get_meta(table)]
        table = table.set_column(table.column_names.index("meta"), "meta", pa.array(pairs, _PAIRS_TYPE))
    stored = {_METADATA_KEY: json.dumps(metadata, sort_keys=True).encode(), _LAYOUT_KEY: layout.encode()}
    table = table.replace_schema_metadata(stored)
    with pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


def write_folder(data: Corpus | Run) -> dict[str, bytes]:
    """Return the content of the files of a folder for `datasets.load_from_disk`, by file name."""
    stream = BytesIO()
    if isinstance(data, Corpus):
        write_corpus(data, stream)
    else:
        write_run(data, stream)
    state: dict[str, Any] = {"_data_files": [{"filename": _DATA_FILE}], "_fingerprint": data.digest, "_split": None}
    state |= {"_format_columns": None, "_format_kwargs": {}, "_format_type": None, "_output_all_columns": False}
    info_keys = {"description": "title", "license": "licence", "citation": "citation", "homepage": "homepage"}
    info = {name: data.metadata.get(key, "") for name, key in info_keys.items()}
    return {_DATA_FILE: stream.getvalue(), "state.json": _encode_json(state), "dataset_info.json": _encode_json(info)}


def write_hub_folder(data: Corpus | Run) -> dict[str, bytes]:
    """Return the content of the files of a folder for `datasets.load_dataset`, by file name."""
    split = data.metadata.get("split", data.name if data.name in _SPLITS else "")
    return _write_hub_files({split: data}, data.metadata.get("title") or data.name)


def write_hub_splits(corpora: Mapping[str, Corpus]) -> dict[str, bytes]:
    """Return the content of the files of such a folder with all splits of a dataset, which get the same columns."""
    first = next(iter(corpora.values()))
    tables = [drop_text_facts(corpus.table) for corpus in corpora.values()]
    table = pa.concat_tables(tables, promote_options="permissive")
    ends = np.cumsum([0, *map(len, tables)]).tolist()
    splits = {
        split: replace(corpus, table=table.slice(start, end - start))
        for (split, corpus), (start, end) in zip(corpora.items(), pairwise(ends), strict=True)
    }
    return _write_hub_files(splits, first.metadata.get("title") or first.name.rpartition("/")[0] or first.name)


def _write_hub_files(splits: Mapping[str, Corpus | Run], title: str) -> dict[str, bytes]:
    """Return the content of a dataset card and of a Parquet file per split; raise `UsageError` for equal names."""
    by_name: dict[str, Corpus | Run] = {}
    files: dict[str, bytes] = {}
    for split, data in splits.items():
        name = re.sub(r"\W+", "_", split)
        name = name if name not in ("", "all") else "test"  # the Hub reserves `all`
        if name in by_name:
            raise UsageError(f"{title}: two splits would be called {name} on the Hub. Rename one of them.")
        file = BytesIO()
        if isinstance(data, Corpus):
            write_hub_corpus(data, file)
        else:
            write_hub_run(data, file)
        by_name[name] = data
        files[f"{name}.parquet"] = file.getvalue()
    return {"README.md": _write_card(by_name, " ".join(title.split())).encode(), **files}


def write_hub_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write the corpus as Parquet with types that datasets have."""
    _write_parquet(write_corpus, corpus, file)


def write_hub_run(run: Run, file: IO[bytes]) -> None:
    """Write the run as Parquet with types that datasets have."""
    _write_parquet(write_run, run, file)


def _write_parquet(write_stream: Callable[[_Data, IO[bytes]], None], data: _Data, file: IO[bytes]) -> None:
    """Write as Parquet what `write_stream` writes as an Arrow stream."""
    stream = BytesIO()
    write_stream(data, stream)
    pq.write_table(pa.ipc.open_stream(stream.getvalue()).read_all(), file)


def _write_card(splits: Mapping[str, Corpus | Run], title: str) -> str:
    """Return the dataset card: a header in YAML, whose strings are written as JSON, and how to load the data."""
    data = next(iter(splits.values()))
    default = "test" if "test" in splits else next(iter(splits))
    sizes = f" ({', '.join(f'{name} {len(part):,}' for name, part in splits.items())})" if len(splits) > 1 else ""
    header = {
        "pretty_name": title,
        "license": _to_hub_licence(data.metadata.get("licence", "")),
        "language": data.metadata.get("language", ""),
    }
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in header.items() if value]
    items = "labels" if isinstance(data, Corpus) else "predictions"
    stated = {name: " ".join(data.metadata.get(name, "").split()) for name in _CARD_KEYS}
    dataset = data.name.partition("/")[0]  # the Hub has no place for a version, such as `mybench@2`
    facts = {"Version": dataset if "@" in dataset and isinstance(data, Corpus) else ""}
    facts |= {title: stated[name] for name, title in _CARD_KEYS.items() if title}
    bullets = [f"- {name}: {fact}" for name, fact in facts.items() if fact]
    return "\n".join(
        [
            "---",
            *lines,
            'tags: ["entity-linking", "karat"]',
            "configs:",
            "- config_name: default",
            "  data_files:",
            *(f"  - split: {name}\n    path: {name}.parquet" for name in splits),
            "---",
            "",
            f"# {title}",
            "",
            *([stated["description"], ""] if stated["description"] else []),
            f"{sum(map(len, splits.values())):,} documents for entity linking{sizes}. Each row has an `id` and its",
            f"`{items}`; a mention has",
            "`start` and `end` (offsets in code points, end exclusive), `linked` and `entity`. `entity` is null for",
            "NIL if `linked` is true, and for mentions without a link if it is false.",
            *(_LABEL_FLAGS if items == "labels" else ()),
            "",
            *bullets,
            *([""] if bullets else []),
            "```python",
            "import datasets",
            "import karat",
            "",
            f'dataset = datasets.load_dataset("PATH OR NAME", split="{default}")',
            f"data = karat.{'load(dataset)' if items == 'labels' else 'load_run(dataset)'}",
            "```",
            "",
            *([data.metadata["citation"], ""] if data.metadata.get("citation") else []),
        ]
    )


def _to_hub_licence(licence: str) -> str:
    """Return a licence as the Hub's identifier, such as `cc-by-4.0`; `other` if it has none."""
    id = _LICENCE_NAMES.get(name := "-".join(re.split(r"[\s_-]+", licence.strip().lower())), name)
    return id if not id or _LICENCE.fullmatch(id) else "other"


def _encode_json(content: dict[str, Any]) -> bytes:
    """Return the content as indented JSON with sorted keys."""
    return json.dumps(content, indent=2, sort_keys=True).encode() + b"\n"


def _get_meta(table: Arrow) -> list[Any]:
    """Return the column `meta` as Python objects."""
    entries: list[Any] = table.column("meta").to_pylist()
    return entries


def _get_texts(table: Arrow) -> Arrow | None:
    """Return the column `text` of a table, or None if the table has no column of strings of this name."""
    text_type = table.schema.field("text").type if "text" in table.column_names else None
    has_texts = text_type is not None and (pa.types.is_string(text_type) or pa.types.is_large_string(text_type))
    return table.column("text").cast(pa.string()) if has_texts else None


def _make_locator(label: str) -> RowLocator:
    """Return a function from a row to its location, for error messages."""
    return lambda row: f"{label}: row {row + 1}"


def _to_karat_table(table: Arrow, schema: Arrow, label: str, skipped: Counter[str]) -> tuple[Arrow, dict[str, str]]:
    """Convert a table with Karat's columns to the types of `schema` (GOLD or PREDICTIONS); also return its metadata.

    Other columns are dropped and counted in `skipped`. Missing columns or fields, and wrong types, raise `InputError`.
    """
    items = "labels" if schema is GOLD else "predictions"
    layout = (table.schema.metadata or {}).get(_LAYOUT_KEY, b"").decode(errors="replace")
    check_layout_version(label, layout, GOLD_LAYOUT, PREDICTIONS_LAYOUT)
    if not {"id", items} <= set(table.column_names):
        raise InputError(
            label,
            actual=f"the columns {', '.join(table.column_names)}",
            expected=f"`id` and `{items}`, or `tokens` and `ner_tags`",
            remedy="Rename the columns of the dataset to these names, or name yours by role, with "
            + suggest_table_roles(table),
        )
    metadata = _read_metadata(table)
    table = _zip_lists(_select_columns(table, [*schema.names, "text"], skipped), items, label)
    if schema is PREDICTIONS and "text" in table.column_names:
        table = table.drop_columns(["text"])
    try:
        table = conform_table(table, schema)
    except UnknownFieldError as problem:
        raise unknown_field_error(label, problem, table) from None
    except TypeError as problem:
        raise InputError(
            label,
            actual=f"a column of another type at {problem}",
            expected="the types of the documentation page 'Karat files'",
            remedy="Cast the column",
        ) from None
    except ValueError as problem:  # names of fields that are not UTF-8
        raise damaged_file_error(label, problem) from None
    for name in ("start", "end", "entity"):
        if table.schema.field(items).type.value_type.get_field_index(name) < 0:
            raise InputError(
                label,
                actual=f"{items} without a field `{name}`",
                expected="start, end and entity (null for NIL; `linked` false if unlinked)",
                remedy="Add the field",
            )
    return table, metadata


def _zip_lists(table: Arrow, name: str, label: str) -> Arrow:
    """Return a table with lists of objects in the column `name`, which may store them as an object of lists.

    The library stores a `Sequence` of objects so. Raise `InputError` if the lists differ in length.
    """
    kind = table.schema.field(name).type
    if not pa.types.is_struct(kind) or not all(pa.types.is_list(field.type) for field in kind):
        return table
    rows = []
    for number, row in enumerate(table.column(name).to_pylist(), 1):
        lists = {} if row is None else {field: values or [] for field, values in row.items()}
        if len(set(map(len, lists.values()))) > 1:
            raise InputError(
                f"{label}: row {number}",
                actual=f"lists of different lengths in {name!r} ({', '.join(lists)})",
                expected="a value of each for every mention",
                remedy="Correct the row",
            )
        rows.append([dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)])
    members = pa.struct([(field.name, field.type.value_type) for field in kind])
    return table.set_column(table.column_names.index(name), name, pa.array(rows, pa.list_(members)))


def _select_columns(table: Arrow, names: Sequence[str], skipped: Counter[str]) -> Arrow:
    """Drop all columns but `names`, and count the dropped ones in `skipped`."""
    other_names = [name for name in table.column_names if name not in names]
    if other_names:
        skipped[f"columns that are not read ({', '.join(other_names)})"] += len(other_names)
    return table.select([name for name in table.column_names if name in names])


def _read_metadata(table: Arrow) -> dict[str, str]:
    """Return the metadata of the corpus or run that the schema stores; empty if there are none or they are invalid."""
    try:
        metadata = decode_json((table.schema.metadata or {}).get(_METADATA_KEY, b"{}"))
    except JsonError:
        return {}
    return {str(key): str(value) for key, value in metadata.items()} if isinstance(metadata, dict) else {}


def _select_token_rows(table: Arrow, skipped: Counter[str]) -> list[dict[str, Any]]:
    """Return the rows of a table of tokens; drop unread columns and count them in `skipped`."""
    return read_named_rows(_select_columns(table, COLUMNS, skipped))


def _recognises(head: bytes) -> bool:
    """Return whether the first bytes are an Arrow stream with the columns of a layout that is read."""
    names = set(_read_stream_columns(head))
    return any(layout <= names for layout in _LAYOUTS)


def _read_stream_columns(head: bytes) -> list[str]:
    """Return the column names of an Arrow stream from its first bytes; an empty list if it is not a stream."""
    if not head.startswith(STREAM_MAGIC):
        return []
    try:
        return list(pa.ipc.read_schema(pa.py_buffer(head)).names)
    except (pa.ArrowException, OSError, ValueError):
        return []


def _has_gold(source: ByteSource) -> bool:
    """Return whether the data have no column `predictions`."""
    if source.is_folder or not source.first_bytes.startswith(STREAM_MAGIC):
        return "predictions" not in read_arrow_table(source).column_names
    return "predictions" not in _read_stream_columns(source.first_bytes)


class TaggedRow(NamedTuple):
    """A document built from a row of tokens, tags and links."""

    id: str
    """Document id."""
    text: str
    """Text of the document."""
    labels: tuple[Label, ...]
    """Labels of the document."""


def read_tagged_rows(rows: Sequence[dict[str, Any]], label: str, skipped: Counter[str]) -> Iterator[TaggedRow]:
    """Yield the documents of rows.

    Documents without id are numbered and counted in `skipped`, as are irregular tags, links and texts; no document is
    dropped. The error policy decides whether an invalid row raises `InputError`, or is skipped and counted in
    `Defects`. `label` names the table in error messages.
    """

    def to_document(item: tuple[int, dict[str, Any]]) -> TaggedRow:
        number, row = item
        location = f"{label}: row {number}"
        tokens, tags = _get_list(row, "tokens", location), _get_list(row, "ner_tags", location)
        links = _get_list(row, "entity_ids", location) if row.get("entity_ids") is not None else [None] * len(tokens)
        if not len(tokens) == len(tags) == len(links):
            raise InputError(
                location,
                actual=f"{len(tokens)} tokens, {len(tags)} tags and {len(links)} links",
                expected="the same number of each",
                remedy="Correct the row",
            )
        doc_id = row.get("doc_id") if row.get("id") is None else row["id"]
        skipped["documents without an id (numbered)"] += doc_id is None
        joined = _locate_tokens([str(token) for token in tokens], row.get("text"), skipped)
        words = [_to_tag(tag, location) for tag in tags]
        labels = _to_labels(words, links, joined, location, skipped)
        return TaggedRow(str(number if doc_id is None else doc_id), joined.text, labels)

    for _, document in map_valid(enumerate(rows, 1), to_document, lambda item: f"row {item[0]}"):
        yield document


def _get_list(row: dict[str, Any], name: str, location: str) -> list[Any]:
    """Return the list in a column of a row, or raise `InputError`."""
    value = row.get(name)
    if not isinstance(value, list):
        raise InputError(
            location,
            actual=f"no list in `{name}`",
            expected="lists of equal length in `tokens` and `ner_tags`",
            remedy="Rename the columns of the dataset to these names, or correct the row",
        )
    return value


def _to_tag(tag: object, location: str) -> str:
    """Return a tag if it is a string; raise `InputError` for another value, such as a number without a name."""
    if isinstance(tag, str):
        return tag
    raise InputError(
        location,
        actual=f"the tag {tag!r}",
        expected="a string such as B-PER, or a number with a name in the feature of `ner_tags`",
        remedy="Save the dataset with its ClassLabel, or write the tags as strings",
    )


def _to_labels(
    tags: Sequence[str], links: Sequence[object], joined: JoinedText, location: str, skipped: Counter[str]
) -> tuple[Label, ...]:
    """Build the labels of tagged tokens; a mention has the link of its first token.

    Raise `InputError` for an invalid tag. Links outside all mentions are dropped; mentions that begin with the wrong
    tag and mentions whose tokens have different links are kept. All are counted in `skipped`.
    """
    mentions, n_without_begin, invalid = parse_tags(tags)
    if invalid is not None:
        raise InputError(
            f"{location}, token {invalid + 1}",
            actual=f"the tag {tags[invalid]!r}",
            expected="O, or B-, I-, E- or S- with a type",
            remedy="Correct the tag",
        )
    skipped["mentions that begin without a B or S tag"] += n_without_begin
    mention_indices = {index for mark in mentions for index in range(mark.start, mark.end)}
    entities = [_to_entity(link) for link in links]
    link_indices = [
        index for index, entity in enumerate(entities) if entity is not UNLINKED and index not in mention_indices
    ]
    skipped["links on tokens outside all mentions"] += len(link_indices)
    labels = []
    for mark in mentions:
        is_mixed = any(entity != entities[mark.start] for entity in entities[mark.start : mark.end])
        skipped["mentions whose tokens have different links (the first counts)"] += is_mixed
        start, end = joined.starts[mark.start], joined.ends[mark.end - 1]
        labels.append(Label(start, end, entities[mark.start], types=(mark.type,)))
    return tuple(labels)


def _to_entity(link: object) -> EntityId:
    """Return the entity of a token's link: None for `NIL`, `UNLINKED` for null or an empty cell."""
    if link is None or link in OUTSIDE:
        return UNLINKED
    return None if link == NIL_ID else str(link)


def _locate_tokens(tokens: list[str], text: object, skipped: Counter[str]) -> JoinedText:
    """Find the tokens in the text, in order; if there is no text or the text lacks a token, join the tokens by spaces.

    Texts that lack a token are counted in `skipped`.
    """
    if isinstance(text, str):
        starts: list[int] = []
        offset = 0
        for token in tokens:
            offset = text.find(token, offset)
            if offset < 0:
                skipped["texts that lack a token (tokens joined by spaces)"] += 1
                break
            starts.append(offset)
            offset += len(token)
        else:
            ends = [start + len(token) for start, token in zip(starts, tokens, strict=True)]
            return JoinedText(text, tuple(starts), tuple(ends))
    return join_tokens(tokens, [*[" "] * (len(tokens) - 1), ""][: len(tokens)])


FORMAT = Format(
    title="Hugging Face dataset",
    suffix=".arrow",
    recognises=_recognises,
    has_gold=_has_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
    write_folder=write_folder,
    recognises_folder=is_saved_dataset,
    description="A saved dataset or its Arrow file, in Karat's columns or with tokens, ner_tags and entity_ids.",
)

TABLE = {
    "hf-hub": msgspec.structs.replace(
        FORMAT,
        title="Hugging Face dataset for the Hub",
        suffix=".hub.parquet",
        recognises=lambda head: False,  # it is read as Karat Parquet otherwise
        write_corpus=write_hub_corpus,
        write_run=write_hub_run,
        write_folder=write_hub_folder,
        write_splits=write_hub_splits,
        recognises_folder=is_hub_folder,
        description="A folder with a Parquet file per split and a dataset card, which datasets.load_dataset opens.",
    ),
}
"""Variants by name."""
