"""Karat JSONL: one document (gold) or one response (predictions) per line, or a JSON array of them.

Arrow reads a block of lines at a time into columns. It can neither locate an error nor distinguish null from absent. A
block that Arrow rejects, or that is ambiguous, is therefore read again line by line with exact errors. A test checks
that both ways accept the same files.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import IO, NamedTuple, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.formats.parsing.json.karat_objects import convert_object
from karat.formats.parsing.lines import is_utf8, read_line_blocks
from karat.formats.parsing.surfaces.columns import suggest_roles
from karat.formats.parsing.surfaces.run_builder import GoldTexts, to_response
from karat.formats.parsing.surfaces.table_rows import read_nested_names
from karat.model.corpus import NO_LABELS_NOTE, Corpus, add_text_facts
from karat.model.counts.skip_counter import SkipCounter, locate_positive
from karat.model.defects import get_defects, isolate_defects
from karat.model.document import (
    GOLD_LAYOUT,
    PREDICTIONS_LAYOUT,
    Document,
    Header,
    Response,
    WrittenResponse,
)
from karat.model.errors import InputError, check_layout_version
from karat.model.json.decoder import VALID_JSON, JsonError, decode_exact_json, decode_json, find_json_prefix
from karat.model.run import Run, to_text_column
from karat.model.spec.format import ByteSource, Format
from karat.model.tables.arrow import Arrow
from karat.model.tables.rows import to_table
from karat.model.tables.schema import GOLD, PREDICTIONS, code_entities, combine_tables, conform_table

_BOM = b"\xef\xbb\xbf"
_T = TypeVar("_T", bound=msgspec.Struct)

_ARROW_BLOCK_SIZE = 4 << 20
_BLOCK_SIZE = 8 << 20
_SAMPLE_LINES = 50
_WINDOW = 1 << 20
_NIL = re.compile(rb'"entity"\s*:\s*null')  # an unescaped "entity" before a colon can only be a key
_COMMON_NIL = (b'"entity":null', b'"entity": null')  # as most programs write it
_NIL_MARK = rb'"entity":"\\u0000"'
_RESPONSE_FIELDS = (b'"invented"', b'"error"', b'"seconds"', b'"tokens"', b'"cost"')
_HEADER = re.compile(rb'\s*\{\s*"karat"\s*:\s*(?:"(\w+/\d+)")?')
_TRAILING_COMMA = re.compile(rb",\s*([}\]])")
_ARRAY = re.compile(rb"\[\s*\{")
_ESCAPE = re.compile(rb"\\u00(00|[4-7])")  # a character, or the mark itself


class _Layout(NamedTuple):
    """The differences between gold and predictions: name of the layout, type of a line, columns, and list of items.

    `evidence` are the fields of which a file without header has at least one.
    """

    name: str
    object_type: type[Document] | type[Response]
    schema: Arrow
    items: str
    evidence: tuple[str, ...]


_GOLD_LINES = _Layout(GOLD_LAYOUT, Document, GOLD, "labels", ("labels", "tags", "relations"))
_PREDICTION_LINES = _Layout(
    PREDICTIONS_LAYOUT, Response, PREDICTIONS, "predictions", ("predictions", "tags", "relations", "invented", "error")
)


@dataclasses.dataclass
class _Locator:
    """A locator of predictions that give text instead of spans.

    The locator counts the outcomes and collects the texts that lines have, by row.
    """

    gold: GoldTexts
    counts: SkipCounter = dataclasses.field(default_factory=SkipCounter)
    rows: int = 0
    texts: dict[int, str] = dataclasses.field(default_factory=dict)

    def locate_response(self, line_object: msgspec.Struct, location: str) -> msgspec.Struct:
        """Return the response of the next line with a span for each prediction; predictions not found are dropped."""
        located = (
            to_response(line_object, self.gold, location, self.counts)
            if isinstance(line_object, WrittenResponse)
            else line_object
        )
        if isinstance(line_object, WrittenResponse) and line_object.text is not None:
            self.texts[self.rows] = line_object.text
        self.rows += 1
        return located

    @property
    def text_column(self) -> Arrow | None:
        """The text of each line, null for lines without one; None if no line has a text."""
        return to_text_column(map(self.texts.get, range(self.rows))) if self.texts else None


class _Block(NamedTuple):
    """A block of lines as a table, with a function from a row to its line number.

    `has_items` says whether a field shows that the lines are gold labels or predictions.
    """

    table: Arrow
    get_line: Callable[[int], int]
    has_items: bool


class _Content(NamedTuple):
    """The table and the metadata of a file, with a function from a row to its line number.

    `has_items` says whether a header or field shows that the lines are gold labels or predictions.
    """

    table: Arrow
    metadata: dict[str, str]
    get_line: Callable[[int], int]
    has_items: bool


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents; without `text`, only with the lengths and digests of texts that scoring needs."""
    table, metadata, get_line, has_items = _read_file(source, _GOLD_LINES, text=text)
    name = metadata.pop("name", source.stem)
    corpus = Corpus.from_table(
        table, name=name, metadata=metadata, locate_row=lambda row: f"{source.label}:{get_line(row)}"
    )
    return corpus if has_items else dataclasses.replace(corpus, skipped={NO_LABELS_NOTE: len(corpus)})


def read_run(source: ByteSource) -> Run:
    """Read a system's responses; predictions given by text need the text of the document in their line."""
    return _read_run(source, None)


def read_run_with_gold(source: ByteSource, gold: Callable[[], Corpus]) -> Run:
    """Read a system's responses; predictions given by text are located in the gold texts, which `gold` loads.

    If the file is a gold standard with labels, its labels are the predictions.
    """
    if _has_gold(source):
        corpus = read_corpus(source, True)
        if not corpus.skipped.get(NO_LABELS_NOTE):
            return Run.from_gold(corpus, name=source.stem)
    return _read_run(source, gold)


def _read_run(source: ByteSource, gold: Callable[[], Corpus] | None) -> Run:
    """Read a system's responses; `gold` loads the texts for predictions given by text, or is None."""
    locator = _Locator(GoldTexts(gold, source.label))
    table, metadata, get_line, has_items = _read_file(source, _PREDICTION_LINES, locator)
    if not has_items:
        raise InputError(
            source.label,
            actual="no line with the field `predictions`",
            expected="it in at least one line",
            remedy='Check that this is a file of predictions; write "predictions": [] if there are none',
        )
    name = metadata.pop("system", source.stem)
    texts = locator.text_column
    run = Run.from_table(
        table, name=name, metadata=metadata, locate_row=lambda row: f"{source.label}:{get_line(row)}", texts=texts
    )
    return dataclasses.replace(run, skipped=locate_positive(locator.counts, source.label)) if locator.counts else run


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write the corpus with a header line for its name and metadata."""
    _write_lines(Header(GOLD_LAYOUT, {"name": corpus.name, **corpus.metadata}), corpus, file)


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write the run with a header line for its name and metadata."""
    _write_lines(Header(PREDICTIONS_LAYOUT, {"system": run.name, **run.metadata}), run, file)


def _write_lines(header: Header, objects: Corpus | Run, file: IO[bytes]) -> None:
    """Write the header, then one line per document or response."""
    encode = msgspec.json.Encoder().encode
    file.write(encode(header) + b"\n")
    for item in objects:
        file.write(encode(item) + b"\n")


def read_corpus_blocks(source: ByteSource) -> Iterator[Corpus]:
    """Yield the gold documents as corpora of one block of lines each, for files that do not fit into memory."""
    metadata: dict[str, str] = {}
    for block in _read_blocks(source, _GOLD_LINES, metadata):
        yield _to_corpus(block, source, metadata)


def _to_corpus(block: _Block, source: ByteSource, metadata: dict[str, str]) -> Corpus:
    """Build a corpus from one block of a file and the metadata of its header."""
    rest = {name: value for name, value in metadata.items() if name != "name"}
    name, table = metadata.get("name", source.stem), conform_table(block.table, GOLD)
    return Corpus.from_table(
        table, name=name, metadata=rest, locate_row=lambda row: f"{source.label}:{block.get_line(row)}"
    )


def _read_file(source: ByteSource, layout: _Layout, locator: _Locator | None = None, *, text: bool = True) -> _Content:
    """Read all blocks as one table; without `text`, store length and digest of each text only.

    `locator` locates predictions given by text. Raise `InputError` if there is no valid line.
    """
    schema, metadata = code_entities(layout.schema), dict[str, str]()
    tables: list[Arrow] = []
    first_rows: list[int] = []
    line_getters: list[Callable[[int], int]] = []
    n_rows, has_items = 0, _HEADER.match(source.first_bytes.removeprefix(_BOM)[:100]) is not None
    for block, get_line, block_has_items in _read_blocks(source, layout, metadata, locator):
        has_items = has_items or block_has_items
        table = conform_table(block, schema)
        if not text and "text" in table.column_names:
            table = add_text_facts(table).drop_columns(["text"])
        first_rows.append(n_rows)
        line_getters.append(get_line)
        n_rows += table.num_rows
        tables.append(table)
        del block, table  # frees the last tables before all are joined
    if not tables:
        raise get_defects().final_error or InputError(
            source.label,
            actual="no document",
            expected="one JSON object per line",
            remedy="Check that this is the correct file",
        )

    def get_file_line(row: int) -> int:
        block = bisect_right(first_rows, row) - 1
        return line_getters[block](row - first_rows[block])

    return _Content(combine_tables(tables), metadata, get_file_line, has_items)


def _read_blocks(
    source: ByteSource, layout: _Layout, metadata: dict[str, str], locator: _Locator | None = None
) -> Iterator[_Block]:
    """Yield the blocks of lines as tables, without empty blocks; store the metadata of the header in `metadata`."""
    blocks = _read_array(source) if _is_array(source.first_bytes) else read_line_blocks(source, _BLOCK_SIZE)
    for numbers, data in blocks:
        block = _read_lines(data, source, layout, metadata, numbers[0], locator)
        if block is not None:
            yield block


def _is_array(head: bytes) -> bool:
    """Return whether the first bytes begin a JSON array."""
    return head.removeprefix(_BOM).lstrip().startswith(b"[")


def _read_array(source: ByteSource) -> Iterator[tuple[range, bytes]]:
    """Yield the objects of a JSON array as one block of lines; line numbers count the objects."""
    try:
        objects = decode_json(source.read_bytes().removeprefix(_BOM), list[msgspec.Raw])
    except JsonError as problem:
        raise InputError(source.label, actual=str(problem), expected=problem.expected, remedy=problem.remedy) from None
    if objects:
        lines = [msgspec.json.format(bytes(item), indent=-1) for item in objects]
        yield range(1, len(lines) + 1), b"\n".join(lines)


def _read_lines(
    data: bytes,
    source: ByteSource,
    layout: _Layout,
    metadata: dict[str, str],
    first_line: int,
    locator: _Locator | None,
) -> _Block | None:
    """Read a block of lines as a table, with Arrow or else line by line; return None if it has no valid line.

    If the block begins with the header of the file, store its metadata in `metadata`. `first_line` is the number of the
    first line.
    """
    start = 0
    if first_line == 1:
        start = len(_BOM) if data.startswith(_BOM) else 0
        newline = data.find(b"\n", start)
        first = data[start:] if newline < 0 else data[start:newline]
        if header_match := _HEADER.match(first[:100]):
            check_layout_version(
                f"{source.label}:1", (header_match[1] or b"").decode(), GOLD_LAYOUT, PREDICTIONS_LAYOUT
            )
            header = _parse_line(first, 1, source, Header)
            if header.karat != layout.name:
                raise InputError(
                    f"{source.label}:1",
                    actual=f"a file of {header.karat}",
                    expected=layout.name,
                    remedy="Pass the gold file first, then the files with predictions",
                )
            metadata.update(header.metadata)
            start += len(first) + 1
            first_line += 1
    end = len(data)
    while end > start and data[end - 1] in b" \t\r\n":
        end -= 1
    has_items = any(f'"{field}"'.encode() in data for field in layout.evidence)
    table = _read_columns(data, start, end, layout)
    if table is not None:
        if locator is not None:
            locator.rows += table.num_rows
        return _Block(table, lambda row: row + first_line, has_items)
    objects: list[msgspec.Struct] = []
    numbers: list[int] = []
    for number, line in enumerate(data[start:end].split(b"\n"), first_line):
        if line.strip():
            with isolate_defects(f"{source.label}:{number}"):
                line_object = _parse_line(line.rstrip(b" \t\r"), number, source, layout.object_type)
                objects.append(
                    line_object if locator is None else locator.locate_response(line_object, f"{source.label}:{number}")
                )
                numbers.append(number)
    return _Block(to_table(objects, layout.schema), numbers.__getitem__, has_items) if objects else None


# --- fast path: Arrow


def _read_columns(data: bytes, start: int, end: int, layout: _Layout) -> Arrow | None:
    """Read the lines from `start` to `end` with Arrow; return None if they must be read one by one."""
    n_lines = _count_lines(memoryview(data)[start:end])
    if not n_lines:
        return None
    if not is_utf8(memoryview(data)[start:end]):
        return None  # Arrow does not check UTF-8, except for lone surrogates
    buffer = pa.py_buffer(memoryview(data)[start:end])
    used_fields = _find_used_fields(_sample_lines(data, start, min(end, start + _ARROW_BLOCK_SIZE)), layout)
    # Empty columns cost time, so the fields of the first lines are tried before all fields.
    for schema in (
        _build_schema(layout, used_fields),
        _build_schema(layout, used_fields._replace(fields=None, items=None)),
    ):
        table = _read_with_arrow(buffer, schema)
        if table is not None:
            break
    if table is None or table.num_rows != n_lines:
        return None  # rejected, several objects on a line, or one object over several lines
    if _has_null_entity(table, layout):
        return None  # the exact path locates an error, and tells unlinked invented mentions from NIL
    if table.column(layout.items).null_count and _has_null_items(data, layout):
        return None  # the exact path locates the null
    n_absent = sum(chunk.flatten().field("entity").null_count for chunk in table.column(layout.items).chunks)
    if n_absent:
        if "entity" in used_fields.meta:
            return None  # a null then cannot be identified by its key
        is_common = any(data.count(pattern, start, end) == n_absent for pattern in _COMMON_NIL)
        n_nil = n_absent if is_common else len(_NIL.findall(data, start, end))
        if n_nil != n_absent:
            if _ESCAPE.search(data, start, end):
                return None  # a key may be escaped
            table = _read_with_arrow(pa.py_buffer(_NIL.sub(_NIL_MARK, data[start:end])), schema) if n_nil else table
            if table is None:
                return None
            table = _replace_column(table, layout.items, _add_linked)
    if "meta" in table.column_names:
        table = _replace_column(table, "meta", _to_map)
    return table


def _has_null_items(data: bytes, layout: _Layout) -> bool:
    """Return whether the list of items of a line is null, or may be; lines without the list are no reason."""
    return re.search(rf'"{layout.items}"\s*:\s*null'.encode(), data) is not None or _ESCAPE.search(data) is not None


def _has_null_entity(table: Arrow, layout: _Layout) -> bool:
    """Return whether a tag, a candidate or an invented mention is null or has no entity."""
    names = [name for name in ("tags", "invented") if name in table.column_names]
    entries = [chunk.flatten() for name in names for chunk in table.column(name).chunks]
    for chunk in table.column(layout.items).chunks:
        items = chunk.flatten()
        if items.type.get_field_index("candidates") >= 0:
            entries.append(items.field("candidates").flatten())
    return any(entry.null_count or entry.field("entity").null_count for entry in entries)


def _replace_column(table: Arrow, name: str, change: Callable[[Arrow], Arrow]) -> Arrow:
    """Return a table in which `change` was applied to each chunk of the column `name`."""
    chunks = [change(chunk) for chunk in table.column(name).chunks]
    return table.set_column(table.column_names.index(name), name, pa.chunked_array(chunks))


def _count_lines(body: memoryview) -> int:
    """Count the lines; return 0 if one does not begin with an object (Arrow crashes if null begins one)."""
    values = np.frombuffer(body, np.uint8)
    if not len(values) or values[0] != ord("{"):
        return 0
    lines = 1
    for offset in range(0, len(values), _WINDOW):
        breaks = np.flatnonzero(values[offset : offset + _WINDOW] == ord("\n"))
        if np.any(values[breaks + (offset + 1)] != ord("{")):
            return 0
        lines += len(breaks)
    return lines


def _read_with_arrow(buffer: Arrow, schema: Arrow) -> Arrow | None:
    """Read JSON lines with Arrow, with exactly the fields of the schema; return None if Arrow rejects them."""
    import pyarrow.json as arrow_json

    parse_options = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    for block in (_ARROW_BLOCK_SIZE, max(len(buffer), _ARROW_BLOCK_SIZE)):
        try:
            read_options = arrow_json.ReadOptions(block_size=min(block, 2**31 - 1))
            return arrow_json.read_json(pa.BufferReader(buffer), read_options=read_options, parse_options=parse_options)
        except (pa.ArrowException, UnicodeDecodeError) as problem:
            if "straddling" not in str(problem):  # an object longer than a block
                return None
    return None


class _UsedFields(NamedTuple):
    """The fields that occur in documents, in labels or predictions, and in `meta`; None means all fields."""

    fields: frozenset[str] | None
    items: frozenset[str] | None
    meta: frozenset[str]


def _sample_lines(data: bytes, start: int, end: int) -> Iterator[bytes]:
    """Yield the first 50 lines from `start` on; the last line may be cut off at `end`."""
    for _ in range(_SAMPLE_LINES):
        stop = data.find(b"\n", start, end)
        yield data[start : end if stop < 0 else stop]
        if stop < 0:
            return
        start = stop + 1


def _find_used_fields(lines: Iterable[bytes], layout: _Layout) -> _UsedFields:
    """Return the fields that occur in the lines; invalid lines are ignored."""
    fields: set[str] = set()
    items: set[str] = {"start", "end", "entity"}
    meta: set[str] = set()
    for line in lines:
        try:
            row = decode_json(line)
            fields.update(row)
            items.update(key for item in row.get(layout.items) or () for key in item)
            meta.update(values if isinstance(values := row.get("meta"), dict) else ())
        except (AttributeError, TypeError, ValueError):
            continue  # a truncated last line of the sample, or an error that the full read will find
    return _UsedFields(frozenset(fields), frozenset(items), frozenset(meta))


def _build_schema(layout: _Layout, used_fields: _UsedFields) -> Arrow:
    """Build the schema of the used fields, without `linked`, which JSONL does not have."""
    fields = []
    for field in layout.schema:
        if field.name == "meta":
            field = pa.field("meta", pa.struct([(key, pa.string()) for key in sorted(used_fields.meta)]))
        elif field.name == layout.items:
            inner = [
                f
                for f in field.type.value_type
                if f.name != "linked" and (used_fields.items is None or f.name in used_fields.items)
            ]
            field = pa.field(field.name, pa.list_(pa.struct(inner)))
        if field.name == layout.items or used_fields.fields is None or field.name in used_fields.fields:
            fields.append(field)
    return pa.schema(fields)


def _to_map(array: Arrow) -> Arrow:
    """Convert objects of strings to maps of the keys that are present, in alphabetical order."""
    names = [field.name for field in array.type]
    if not names:
        return pa.nulls(len(array), pa.map_(pa.string(), pa.string()))
    is_present = np.column_stack([array.field(n).is_valid().to_numpy(zero_copy_only=False) for n in names])
    rows, columns = np.nonzero(is_present)
    offsets = np.zeros(len(array) + 1, np.int32)
    np.cumsum(is_present.sum(axis=1), out=offsets[1:])
    flat = pa.concat_arrays([array.field(n) for n in names])
    return pa.MapArray.from_arrays(
        pa.array(offsets),
        pa.array(names).take(pa.array(columns)),
        flat.take(pa.array(columns * len(array) + rows)),
    )


def _add_linked(lists: Arrow) -> Arrow:
    """Replace marked NIL in lists of mentions by null, and add a field `linked`, false where `entity` was absent."""
    values = lists.flatten()
    names = [field.name for field in values.type]
    entity = values.field("entity")
    is_nil = pc.equal(entity, "\0").fill_null(False)
    fields = [
        pc.if_else(is_nil, pa.scalar(None, pa.string()), entity) if n == "entity" else values.field(n) for n in names
    ]
    inner = pa.StructArray.from_arrays([*fields, entity.is_valid()], [*names, "linked"])
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return pa.ListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)), inner)


# --- exact path: line by line


def _parse_line(line: bytes, number: int, source: ByteSource, object_type: type[_T]) -> _T:
    """Parse the object on a line, or raise `InputError`; predictions given by text become a `WrittenResponse`."""
    location = f"{source.label}:{number}"
    try:
        raw = decode_exact_json(line)
        if isinstance(raw, dict) and "karat" in raw and number > 1:
            raise JsonError(
                "a second header",
                "one header, in the first line",
                "Combine files with karat data convert ONE.jsonl+TWO.jsonl OUT.jsonl instead of appending them",
            )
        return convert_object(
            raw,
            WrittenResponse if object_type is Response and _has_text(raw) else object_type,
            location,
            describe_alternative=partial(_describe_columns, source),
        )  # type: ignore[return-value]
    except JsonError as problem:
        error_fields = _error_fields(str(problem), problem.expected, problem.remedy)
        if problem.expected == VALID_JSON:
            error_fields = _error_fields(
                f"a line that is not valid JSON ({problem})",
                "one complete JSON object per line",
                _find_json_remedy(line),
            )
    raise InputError(location, **error_fields)


def _describe_columns(source: ByteSource) -> str:
    """Return how to name own fields instead of renaming them, as the end of a sentence."""
    return f", or map your columns with {suggest_roles(read_nested_names(source))}"


def _find_json_remedy(line: bytes) -> str:
    """Return how to correct a line that is not valid JSON; a correction is only named if it makes the line valid."""
    corrections = (
        (_TRAILING_COMMA.sub(rb"\1", line), "Remove the comma before a closing bracket"),
        (line.rstrip().removesuffix(b","), "Remove the comma at the end of each line"),
    )
    for corrected, remedy in corrections:
        if corrected != line and _is_json(corrected):
            return remedy
    prefix = find_json_prefix(line.decode(errors="replace"), 0)
    if prefix is not None and line.decode(errors="replace")[prefix[1] :].lstrip().startswith("{"):
        return "Begin a new line after each object"
    return "Check that the line was not cut off and that no object spans several lines"


def _is_json(line: bytes) -> bool:
    """Return whether a line is valid JSON."""
    try:
        decode_exact_json(line)
    except JsonError:
        return False
    return True


def _has_text(response: object) -> bool:
    """Return whether a decoded line has the text of its document or of a prediction."""
    if not isinstance(response, dict):
        return False
    predictions = response.get("predictions")
    entries = predictions if isinstance(predictions, list) else []
    return any(isinstance(item, dict) and item.get("text") is not None for item in (response, *entries))


def _error_fields(problem: str, expected: str, remedy: str) -> dict[str, str]:
    """Return the fields of an `InputError` except its location."""
    return {"actual": problem, "expected": expected, "remedy": remedy}


def _recognises(head: bytes) -> bool:
    """Return whether the first bytes are a JSON object with a header or an id, or without a line end, or an array."""
    start = head.removeprefix(_BOM).lstrip()
    if _ARRAY.match(start):
        return b'"id"' in start and any(marker in start for marker in (b'"labels"', b'"predictions"'))
    return start.startswith(b"{") and (b'"karat"' in start[:100] or b'"id"' in start or b"\n" not in start)


def _is_certain(head: bytes) -> bool:
    """Return whether the first bytes are a header, or a complete first object that has only Karat's fields."""
    if _HEADER.match(head.removeprefix(_BOM)[:100]):
        return True
    row = _parse_first_object(head)
    if not isinstance(row, dict) or not isinstance(row.get("id"), str) or len(row) < 2:
        return False
    fields = {*Document.__struct_fields__, *WrittenResponse.__struct_fields__}
    # ELEVANT's simple JSONL calls its list `predictions` too, but its entries have `start_char`.
    lists = [value for value in map(row.get, ("labels", "predictions")) if isinstance(value, list)]
    is_foreign = any(isinstance(entry, dict) and "start_char" in entry for entries in lists for entry in entries)
    return row.keys() <= fields and not is_foreign


def _parse_first_object(head: bytes) -> object:
    """Return the value on the first line, or the first object of an array; None if it is invalid or incomplete."""
    start = head.removeprefix(_BOM).lstrip()
    if array := _ARRAY.match(start):
        prefix = find_json_prefix(start[array.end() - 1 :].decode(errors="replace"), 0)
        return prefix and prefix[0]
    try:
        return decode_json(start.partition(b"\n")[0])
    except JsonError:
        return None


def _has_gold(source: ByteSource) -> bool:
    """Return whether the file is gold, by its header or else by its first bytes or first line.

    Documents with a text and without any field of a response are gold too, without labels.
    """
    start = source.first_bytes
    if b'"gold/2"' in start[:200] or b'"predictions/2"' in start[:200]:
        return b'"gold/2"' in start[:200]
    if b"\n" not in start and not _is_array(start):
        start = source.read_bytes().partition(b"\n")[0]
    if b'"predictions"' in start or b'"text"' not in start:
        return False
    return b'"labels"' in start or not any(field in start for field in _RESPONSE_FIELDS)


FORMAT = Format(
    title="Karat JSONL",
    suffix=".jsonl",
    markers=('"id"', '"text"', '"labels"', '"predictions"'),
    recognises=_recognises,
    has_gold=_has_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    read_run_with_gold=read_run_with_gold,
    write_corpus=write_corpus,
    write_run=write_run,
    read_corpus_blocks=read_corpus_blocks,
    is_certain=_is_certain,
    is_fallback=True,  # so that a misspelt field is reported rather than an unknown format
)
