"""Hugging Face datasets: a folder from `save_to_disk`, an Arrow file of such a folder, or a Parquet file.

Read with pyarrow alone; the library `datasets` is not needed. A row is a document, in one of two layouts.

Written are a folder as `save_to_disk` makes it, or the Arrow file of one (`.arrow`), in Karat's own columns: those of
Karat Parquet (`id`, `text`, `labels`, … or `id`, `answers`, …), but `meta` as a list of `key` and `value`, since
datasets have no maps. `datasets.load_from_disk` opens the folder, and `Dataset.from_file` the file.

Tokens: `tokens` and `ner_tags` (IOB or IOBES, as strings or as a ClassLabel), perhaps `entity_ids` with the link of
each token (the first of a mention counts; `NIL` is NIL; null, empty, `O` or `_` is no link), `id` (or `doc_id`; else
rows are numbered) and `text`. Without a text, or where it does not hold the tokens in order, they are joined by spaces.

A Parquet file has to be named as `hf-datasets`: by itself it is taken for Karat Parquet.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from karat.errors import InputError, refuse_newer
from karat.formats.hf_datasets.tagged_rows import KNOWN, TaggedRow, tagged
from karat.model.corpus import Corpus
from karat.model.document import ANSWERS_LAYOUT, GOLD_LAYOUT, Document, Reply
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.model.tables.check import Where, some
from karat.model.tables.schema import ANSWERS, GOLD, conformed
from karat.parsing.answering import as_answers
from karat.spec.format import Bytes, Format

_ABOUT = b"karat"
_LAYOUT = b"karat-layout"
_DATA = "data-00000-of-00001.arrow"
_STREAM = b"\xff\xff\xff\xff"
_PARQUET = b"PAR1"
_OF_TOKENS = {"tokens", "ner_tags"}
_LAYOUTS = ({"id", "labels"}, {"id", "answers"}, _OF_TOKENS)
_PAIRS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    return corpus_of(_table(source), source.stem, source.label)


def corpus_of(table: Arrow, name: str, label: str) -> Corpus:
    """Gold documents of a table, which errors call by a label."""
    skipped = Counter[str]()
    if set(table.column_names) >= _OF_TOKENS:
        documents = [Document(*row) for row in _tagged(table, label, skipped)]
        return Corpus.built(documents, name=name, skipped=skipped, where=_where(label))
    own, about = _own(table, GOLD, label, skipped)
    corpus = Corpus.checked(own, name=about.pop("name", name), about=about, where=_where(label))
    return replace(corpus, skipped=dict(skipped))


def read_run(source: Bytes) -> Run:
    """A system's replies."""
    return run_of(_table(source), source.stem, source.label)


def run_of(table: Arrow, name: str, label: str) -> Run:
    """The replies of a table."""
    skipped = Counter[str]()
    if set(table.column_names) >= _OF_TOKENS:
        rows = _tagged(table, label, skipped)
        replies, texts = [Reply(row.id, as_answers(row.labels)) for row in rows], [row.text for row in rows]
        return Run.built(replies, name=name, skipped=skipped, where=_where(label), texts=texts)
    own, about = _own(table, ANSWERS, label, skipped)
    name = about.pop("system", name)
    run = Run.checked(own, name=name, about=about, where=_where(label), texts=_texts(table))
    return replace(run, skipped=dict(skipped))


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """The corpus as an Arrow stream, as datasets store it, with its name and what is known about it."""
    facts = [name for name in ("length", "text_digest") if name in corpus.table.column_names]
    _write(corpus.table.drop_columns(facts), {"name": corpus.name, **corpus.about}, GOLD_LAYOUT, file)


def write_run(run: Run, file: IO[bytes]) -> None:
    """The run as an Arrow stream, with its manifest."""
    _write(run.table, {"system": run.name, **run.about}, ANSWERS_LAYOUT, file)


def _write(table: Arrow, about: dict[str, str], layout: str, file: IO[bytes]) -> None:
    if "meta" in table.column_names:
        pairs = [None if entry is None else [{"key": k, "value": v} for k, v in entry] for entry in _meta(table)]
        table = table.set_column(table.column_names.index("meta"), "meta", pa.array(pairs, _PAIRS))
    metadata = {_ABOUT: json.dumps(about, sort_keys=True).encode(), _LAYOUT: layout.encode()}
    table = table.replace_schema_metadata(metadata)
    with pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)


def write_folder(data: Corpus | Run) -> dict[str, bytes]:
    """The files of a folder that `datasets.load_from_disk` opens; it finds the features in the Arrow file."""
    stream = BytesIO()
    if isinstance(data, Corpus):
        write_corpus(data, stream)
    else:
        write_run(data, stream)
    state: dict[str, Any] = {"_data_files": [{"filename": _DATA}], "_fingerprint": data.digest, "_split": None}
    state |= {"_format_columns": None, "_format_kwargs": {}, "_format_type": None, "_output_all_columns": False}
    said = {"description": "title", "license": "licence", "citation": "citation", "homepage": "homepage"}
    info = {name: data.about.get(key, "") for name, key in said.items()}
    return {_DATA: stream.getvalue(), "state.json": _json(state), "dataset_info.json": _json(info)}


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content, indent=2, sort_keys=True).encode() + b"\n"


def _meta(table: Arrow) -> list[Any]:
    found: list[Any] = table.column("meta").to_pylist()
    return found


def _texts(table: Arrow) -> Arrow | None:
    """The texts that stand beside answers, if any do."""
    kind = table.schema.field("text").type if "text" in table.column_names else None
    given = kind is not None and (pa.types.is_string(kind) or pa.types.is_large_string(kind))
    return table.column("text").cast(pa.string()) if given else None


def _where(label: str) -> Where:
    return lambda row: f"{label}: row {row + 1}"


def _table(source: Bytes) -> Arrow:
    """All rows of a folder or file."""
    if not source.folder:
        return _opened(source)
    if "state.json" not in source.names:
        splits = sorted({name.partition("/")[0] for name in source.names if name.endswith("/state.json")})
        raise InputError(
            source.label,
            found=f"several datasets in one folder ({', '.join(splits) or 'none'})",
            expected="one split",
            remedy="Name the folder of a split",
        )
    try:
        state = json.loads(source.inside("state.json").data())
        names = [entry["filename"] for entry in state["_data_files"]]
    except (ValueError, KeyError, TypeError) as problem:
        raise _damaged(source.inside("state.json").label, problem) from None
    tables = [_opened(source.inside(str(name))) for name in names]
    if not tables:
        raise _damaged(source.label, "it names no data files")
    return pa.concat_tables(tables)


def _opened(source: Bytes) -> Arrow:
    data = source.data()
    try:
        if data.startswith(_PARQUET):
            table = pq.read_table(pa.BufferReader(data))
        else:
            table = pa.ipc.open_stream(data).read_all()
        table.validate(full=True)
        names = table.column_names
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise _damaged(source.label, problem) from None
    some(table, source.label)
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(
            source.label,
            found=f"the column {twice[0]!r} twice",
            expected="each column once",
            remedy="Rename or drop one of the two",
        )
    return table


def _damaged(label: str, problem: object) -> InputError:
    return InputError(
        label,
        found=f"data that cannot be read ({problem})",
        expected="an Arrow stream or a Parquet file, as the library datasets writes them",
        remedy="Write or fetch it again",
    )


def _own(table: Arrow, schema: Arrow, label: str, skipped: Counter[str]) -> tuple[Arrow, dict[str, str]]:
    """A table in Karat's own columns, in the types of the schema, and what is known about the whole."""
    items = "labels" if schema is GOLD else "answers"
    said = (table.schema.metadata or {}).get(_LAYOUT, b"").decode(errors="replace")
    refuse_newer(label, said, GOLD_LAYOUT, ANSWERS_LAYOUT)
    if not {"id", items} <= set(table.column_names):
        raise InputError(
            label,
            found=f"the columns {', '.join(table.column_names)}",
            expected=f"`id` and `{items}`, or `tokens` and `ner_tags`",
            remedy="Rename the columns of the dataset to these names",
        )
    about = _about(table)
    table = _known(table, [*schema.names, "text"], skipped)
    if schema is ANSWERS and "text" in table.column_names:
        table = table.drop_columns(["text"])
    if "meta" in table.column_names and not pa.types.is_map(table.schema.field("meta").type):
        table = table.set_column(table.column_names.index("meta"), "meta", _maps(table, label))
    try:
        table = conformed(table, schema)
    except TypeError as problem:
        raise InputError(
            label,
            found=f"a column of another type at {problem}",
            expected="the types of docs/formats.md",
            remedy="Cast the column before writing the file",
        ) from None
    except ValueError as problem:  # names of fields that are no UTF-8
        raise _damaged(label, problem) from None
    for name in ("start", "end", "entity"):
        if table.schema.field(items).type.value_type.get_field_index(name) < 0:
            raise InputError(
                label,
                found=f"{items} without a field `{name}`",
                expected="start, end, and entity (null for NIL; `linked` false where there is no link)",
                remedy="Add the field",
            )
    return table, about


def _maps(table: Arrow, label: str) -> Arrow:
    """Lists of key and value as maps."""
    try:
        pairs = [None if e is None else [(str(p["key"]), str(p["value"])) for p in e] for e in _meta(table)]
    except (KeyError, TypeError) as problem:
        raise _damaged(label, f"`meta` is no list of key and value: {problem}") from None
    return pa.array(pairs, GOLD.field("meta").type)


def _known(table: Arrow, names: Sequence[str], skipped: Counter[str]) -> Arrow:
    others = [name for name in table.column_names if name not in names]
    if others:
        skipped[f"columns that are not read ({', '.join(others)})"] += len(others)
    return table.select([name for name in table.column_names if name in names])


def _about(table: Arrow) -> dict[str, str]:
    try:
        about = json.loads((table.schema.metadata or {}).get(_ABOUT, b"{}"))
    except ValueError:
        return {}
    return {str(key): str(value) for key, value in about.items()} if isinstance(about, dict) else {}


def _tagged(table: Arrow, label: str, skipped: Counter[str]) -> list[TaggedRow]:
    rows = _known(table, KNOWN, skipped).to_pylist()
    return list(tagged(rows, _class_names(table), label, skipped))


def _class_names(table: Arrow) -> list[str] | None:
    """What the numbers in `ner_tags` stand for, as the library writes it into the schema."""
    try:
        info = json.loads((table.schema.metadata or {})[b"huggingface"])
        names = info["info"]["features"]["ner_tags"]["feature"]["names"]
    except (KeyError, TypeError, ValueError):
        return None
    return [str(name) for name in names] if isinstance(names, list) else None


def _recognises(head: bytes) -> bool:
    """An Arrow stream with the columns of one of the layouts."""
    names = set(_stream_columns(head))
    return any(layout <= names for layout in _LAYOUTS)


def _stream_columns(head: bytes) -> list[str]:
    """The columns of an Arrow stream that begins so; none where it is no such stream."""
    if not head.startswith(_STREAM):
        return []
    try:
        return list(pa.ipc.read_schema(pa.py_buffer(head)).names)
    except (pa.ArrowException, OSError, ValueError):
        return []


def _holds_gold(source: Bytes) -> bool:
    if source.folder or not source.opening.startswith(_STREAM):
        return "answers" not in _table(source).column_names
    return "answers" not in _stream_columns(source.opening)


FORMAT = Format(
    title="Hugging Face dataset",
    suffix=".arrow",
    recognises=_recognises,
    holds_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
    write_folder=write_folder,
    recognises_folder=lambda names: {"state.json", "dataset_info.json"} <= set(names) or "dataset_dict.json" in names,
    says="A saved dataset or its Arrow file, in Karat's own columns or with tokens, ner_tags and entity_ids.",
)
