"""Karat's own JSONL: one document (gold) or one reply (answers) per line.

Arrow reads a block of lines at a time straight into columns. It cannot say where a defect is, nor tell null from
absent, so that a block that it refuses, or could have understood in two ways, is read again line by line with exact
errors. A law test holds the two to accepting the same files.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import InputError, refuse_newer
from karat.model.corpus import Corpus, with_text_facts
from karat.model.defects import by_itself, current
from karat.model.document import (
    ANSWERS_LAYOUT,
    GOLD_LAYOUT,
    Candidate,
    Document,
    Header,
    Label,
    Reply,
    Statement,
    Tag,
    WrittenAnswer,
    WrittenReply,
)
from karat.model.run import Run, text_column
from karat.model.tables.arrow import Arrow
from karat.model.tables.rows import to_table
from karat.model.tables.schema import ANSWERS, GOLD, coded, conformed, in_one_piece
from karat.parsing.lines import is_utf8, whole_lines
from karat.parsing.surfaces.written import GoldTexts, reply_of
from karat.spec.format import Bytes, Format

_BOM = b"\xef\xbb\xbf"
_T = TypeVar("_T", bound=msgspec.Struct)

_BLOCK = 4 << 20
_STREAM = 8 << 20
_SAMPLE_LINES = 50
_WINDOW = 1 << 20
_NIL = re.compile(rb'"entity"\s*:\s*null')  # an unescaped "entity" before a colon can only be a key
_NIL_WRITTEN = (b'"entity":null', b'"entity": null')  # as most programs do
_MARKED = rb'"entity":"\\u0000"'
_HEADER = re.compile(rb'\s*\{\s*"karat"\s*:\s*(?:"(\w+/\d+)")?')
_ESCAPED = re.compile(rb"\\u00(00|[4-7])")  # a letter, or the mark itself


class _Side(NamedTuple):
    """What differs between gold and answers."""

    header: str
    kind: type[Document] | type[Reply]
    schema: Arrow
    items: str


_GOLD = _Side(GOLD_LAYOUT, Document, GOLD, "labels")
_ANSWERS = _Side(ANSWERS_LAYOUT, Reply, ANSWERS, "answers")


@dataclasses.dataclass
class _Placing:
    """What answers that give words in place of spans are placed in, what became of them, and the texts of the lines."""

    gold: GoldTexts
    counts: Counter[str] = dataclasses.field(default_factory=Counter)
    rows: int = 0
    texts: dict[int, str] = dataclasses.field(default_factory=dict)

    def reply(self, found: msgspec.Struct, where: str) -> msgspec.Struct:
        """A line as a reply whose answers have spans."""
        made = reply_of(found, self.gold, where, self.counts) if isinstance(found, WrittenReply) else found
        if isinstance(found, WrittenReply) and found.text is not None:
            self.texts[self.rows] = found.text
        self.rows += 1
        return made

    @property
    def column(self) -> Arrow | None:
        """The texts of the lines, None where no line has one."""
        return text_column(map(self.texts.get, range(self.rows))) if self.texts else None


class _Block(NamedTuple):
    """Some lines as a table, and the line of each of its rows."""

    table: Arrow
    line: Callable[[int], int]


class _Content(NamedTuple):
    """What a file says: its table, what its header says, and the line of each row."""

    table: Arrow
    about: dict[str, str]
    line: Callable[[int], int]


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents, with their texts or only with what scoring needs of them."""
    table, about, line = _read(source, _GOLD, text=text)
    name = about.pop("name", source.stem)
    return Corpus.checked(table, name=name, about=about, where=lambda row: f"{source.label}:{line(row)}")


def read_run(source: Bytes) -> Run:
    """A system's replies."""
    return _run(source, None)


def read_run_on(source: Bytes, gold: Callable[[], Corpus]) -> Run:
    """The same, where answers may give words in place of spans: these are placed in the texts of the gold standard."""
    if _holds_gold(source):
        return Run.of_gold(read_corpus(source, True), name=source.stem)
    return _run(source, gold)


def _run(source: Bytes, gold: Callable[[], Corpus] | None) -> Run:
    placing = _Placing(GoldTexts(gold, source.label))
    table, about, line = _read(source, _ANSWERS, placing)
    name = about.pop("system", source.stem)
    texts = placing.column
    run = Run.checked(table, name=name, about=about, where=lambda row: f"{source.label}:{line(row)}", texts=texts)
    return dataclasses.replace(run, skipped=+placing.counts) if placing.counts else run


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """The corpus with a header line that keeps its name and what is known about it."""
    _write(Header(GOLD_LAYOUT, {"name": corpus.name, **corpus.about}), corpus, file)


def write_run(run: Run, file: IO[bytes]) -> None:
    """The run with a header line that keeps its manifest."""
    _write(Header(ANSWERS_LAYOUT, {"system": run.name, **run.about}), run, file)


def _write(header: Header, objects: Corpus | Run, file: IO[bytes]) -> None:
    encode = msgspec.json.Encoder().encode
    file.write(encode(header) + b"\n")
    for item in objects:
        file.write(encode(item) + b"\n")


def corpus_blocks(source: Bytes) -> Iterator[Corpus]:
    """Gold documents a block of lines at a time, for files that do not fit into memory."""
    about: dict[str, str] = {}
    for block in _blocks(source, _GOLD, about):
        yield _as_corpus(block, source, about)


def _as_corpus(block: _Block, source: Bytes, about: dict[str, str]) -> Corpus:
    rest = {name: value for name, value in about.items() if name != "name"}
    name, table = about.get("name", source.stem), conformed(block.table, GOLD)
    return Corpus.checked(table, name=name, about=rest, where=lambda row: f"{source.label}:{block.line(row)}")


def _read(source: Bytes, side: _Side, placing: _Placing | None = None, *, text: bool = True) -> _Content:
    """All blocks as one. Without `text`, each block gives length and fingerprint in place of its texts."""
    wanted, about = coded(side.schema), dict[str, str]()
    tables: list[Arrow] = []
    begins: list[int] = []
    lines: list[Callable[[int], int]] = []
    rows = 0
    for block, line in _blocks(source, side, about, placing):
        table = conformed(block, wanted)
        if not text and "text" in table.column_names:
            table = with_text_facts(table).drop_columns(["text"])
        begins.append(rows)
        lines.append(line)
        rows += table.num_rows
        tables.append(table)
        del block, table  # or the last ones would be held while they become one
    if not tables:
        raise current().first or InputError(
            source.label,
            found="no document",
            expected="one JSON object per line",
            remedy="Check that this is the file you meant",
        )

    def line_of(row: int) -> int:
        block = bisect_right(begins, row) - 1
        return lines[block](row - begins[block])

    return _Content(in_one_piece(tables), about, line_of)


def _blocks(source: Bytes, side: _Side, about: dict[str, str], placing: _Placing | None = None) -> Iterator[_Block]:
    """The blocks of lines in which there is anything; what the header says is noted in `about`."""
    for numbers, data in whole_lines(source, _STREAM):
        found = _read_lines(data, source, side, about, numbers[0], placing)
        if found is not None:
            yield found


def _read_lines(
    data: bytes, source: Bytes, side: _Side, about: dict[str, str], first_line: int, placing: _Placing | None
) -> _Block | None:
    begin = 0
    if first_line == 1:
        begin = len(_BOM) if data.startswith(_BOM) else 0
        newline = data.find(b"\n", begin)
        opening = data[begin:] if newline < 0 else data[begin:newline]
        if begun := _HEADER.match(opening[:100]):
            refuse_newer(f"{source.label}:1", (begun[1] or b"").decode(), GOLD_LAYOUT, ANSWERS_LAYOUT)
            header = _parsed(opening, 1, source, Header)
            if header.karat != side.header:
                raise InputError(
                    f"{source.label}:1",
                    found=f"a file of {header.karat}",
                    expected=side.header,
                    remedy="Give the gold file first, then the files with answers",
                )
            about.update(header.about)
            begin += len(opening) + 1
            first_line += 1
    end = len(data)
    while end > begin and data[end - 1] in b" \t\r\n":
        end -= 1
    table = _columns(data, begin, end, side)
    if table is not None:
        if placing is not None:
            placing.rows += table.num_rows
        return _Block(table, lambda row: row + first_line)
    objects: list[msgspec.Struct] = []
    numbers: list[int] = []
    for number, line in enumerate(data[begin:end].split(b"\n"), first_line):
        if line.strip():
            with by_itself():
                found = _parsed(line.rstrip(b" \t\r"), number, source, side.kind)
                objects.append(found if placing is None else placing.reply(found, f"{source.label}:{number}"))
                numbers.append(number)
    return _Block(to_table(objects, side.schema), numbers.__getitem__) if objects else None


# --- the fast way


def _columns(data: bytes, begin: int, end: int, side: _Side) -> Arrow | None:
    """The table as Arrow reads it, or None where the lines have to be read one by one."""
    lines = _lines(memoryview(data)[begin:end])
    if not lines:
        return None
    if not is_utf8(memoryview(data)[begin:end]):
        return None  # Arrow would take the bytes as they are; half of a surrogate pair it refuses itself
    buffer = pa.py_buffer(memoryview(data)[begin:end])
    used = _used(_first_lines(data, begin, min(end, begin + _BLOCK)), side)
    # Empty columns cost time, so the fields of the first lines are tried before all fields.
    for schema in (_schema(side, used), _schema(side, used._replace(fields=None, items=None))):
        table = _arrow(buffer, schema)
        if table is not None:
            break
    if table is None or table.num_rows != lines:
        return None  # refused; or several objects on a line, or one object over several lines
    absent = sum(chunk.flatten().field("entity").null_count for chunk in table.column(side.items).chunks)
    if absent:
        if "entity" in used.meta:
            return None  # then a null cannot be told by its key
        usual = any(data.count(written, begin, end) == absent for written in _NIL_WRITTEN)
        nil = absent if usual else len(_NIL.findall(data, begin, end))
        if nil != absent:
            if _ESCAPED.search(data, begin, end):
                return None  # a key may be written in another way
            table = _arrow(pa.py_buffer(_NIL.sub(_MARKED, data[begin:end])), schema) if nil else table
            if table is None:
                return None
            table = _replaced(table, side.items, _say_what_is_linked)
    if "meta" in table.column_names:
        table = _replaced(table, "meta", _pairs)
    return table


def _replaced(table: Arrow, name: str, change: Callable[[Arrow], Arrow]) -> Arrow:
    """The table with one column changed chunk by chunk."""
    chunks = [change(chunk) for chunk in table.column(name).chunks]
    return table.set_column(table.column_names.index(name), name, pa.chunked_array(chunks))


def _lines(body: memoryview) -> int:
    """How many lines there are, or 0 if one does not begin with an object (Arrow crashes where null begins one)."""
    values = np.frombuffer(body, np.uint8)
    if not len(values) or values[0] != ord("{"):
        return 0
    lines = 1
    for first in range(0, len(values), _WINDOW):
        breaks = np.flatnonzero(values[first : first + _WINDOW] == ord("\n"))
        if np.any(values[breaks + (first + 1)] != ord("{")):
            return 0
        lines += len(breaks)
    return lines


def _arrow(buffer: Arrow, schema: Arrow) -> Arrow | None:
    import pyarrow.json as arrow_json

    parsing = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    for block in (_BLOCK, max(len(buffer), _BLOCK)):
        try:
            reading = arrow_json.ReadOptions(block_size=min(block, 2**31 - 1))
            return arrow_json.read_json(pa.BufferReader(buffer), read_options=reading, parse_options=parsing)
        except (pa.ArrowException, UnicodeDecodeError) as problem:
            if "straddling" not in str(problem):  # an object longer than a block
                return None
    return None


class _Used(NamedTuple):
    """Which fields of documents, of labels or answers, and of `meta` are used; None is all."""

    fields: frozenset[str] | None
    items: frozenset[str] | None
    meta: frozenset[str]


def _first_lines(data: bytes, begin: int, end: int) -> Iterator[bytes]:
    """Some lines from a place on, the last of which may be cut off."""
    for _ in range(_SAMPLE_LINES):
        stop = data.find(b"\n", begin, end)
        yield data[begin : end if stop < 0 else stop]
        if stop < 0:
            return
        begin = stop + 1


def _used(lines: Iterable[bytes], side: _Side) -> _Used:
    """What some lines use."""
    fields: set[str] = set()
    items: set[str] = {"start", "end", "entity"}
    meta: set[str] = set()
    for line in lines:
        try:
            row = msgspec.json.decode(line)
            fields.update(row)
            items.update(key for item in row.get(side.items) or () for key in item)
            meta.update(own if isinstance(own := row.get("meta"), dict) else ())
        except (msgspec.DecodeError, AttributeError, TypeError, ValueError, RecursionError):
            continue  # a truncated last line of the sample, or a defect that the full read will find
    return _Used(frozenset(fields), frozenset(items), frozenset(meta))


def _schema(side: _Side, used: _Used) -> Arrow:
    """The schema of the fields that are used. `linked` is no field of JSONL."""
    fields = []
    for field in side.schema:
        if field.name == "meta":
            field = pa.field("meta", pa.struct([(key, pa.string()) for key in sorted(used.meta)]))
        elif field.name == side.items:
            inner = [
                f for f in field.type.value_type if f.name != "linked" and (used.items is None or f.name in used.items)
            ]
            field = pa.field(field.name, pa.list_(pa.struct(inner)))
        if field.name == side.items or used.fields is None or field.name in used.fields:
            fields.append(field)
    return pa.schema(fields)


def _pairs(array: Arrow) -> Arrow:
    """Objects of strings as a map: the keys that are given, in alphabetical order."""
    names = [field.name for field in array.type]
    if not names:
        return pa.nulls(len(array), pa.map_(pa.string(), pa.string()))
    given = np.column_stack([array.field(n).is_valid().to_numpy(zero_copy_only=False) for n in names])
    rows, columns = np.nonzero(given)
    offsets = np.zeros(len(array) + 1, np.int32)
    np.cumsum(given.sum(axis=1), out=offsets[1:])
    flat = pa.concat_arrays([array.field(n) for n in names])
    return pa.MapArray.from_arrays(
        pa.array(offsets),
        pa.array(names).take(pa.array(columns)),
        flat.take(pa.array(columns * len(array) + rows)),
    )


def _say_what_is_linked(lists: Arrow) -> Arrow:
    """The lists with NIL, which was marked, as null, and `linked` false where there was no entity."""
    values = lists.flatten()
    names = [field.name for field in values.type]
    entity = values.field("entity")
    nil = pc.equal(entity, "\0").fill_null(False)
    fields = [
        pc.if_else(nil, pa.scalar(None, pa.string()), entity) if n == "entity" else values.field(n) for n in names
    ]
    inner = pa.StructArray.from_arrays([*fields, entity.is_valid()], [*names, "linked"])
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return pa.ListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)), inner)


# --- the exact way


class _RefusedError(ValueError):
    """JSON that is well formed, and still cannot be taken."""

    def __init__(self, found: str, expected: str, remedy: str) -> None:
        self.says = {"found": found, "expected": expected, "remedy": remedy}
        super().__init__(found)


def _parsed(line: bytes, number: int, source: Bytes, kind: type[_T]) -> _T:
    """The object on one line, or an `InputError` that says where, found, expected and what to do."""
    where = f"{source.label}:{number}"
    try:
        raw = json.loads(
            line, object_pairs_hook=_once, parse_constant=_not_a_number, parse_float=_finite, parse_int=_small
        )
        msgspec.json.encode(raw)  # refuses half a surrogate pair, which no UTF-8 file can hold
        if kind is Document and isinstance(raw, dict) and "answers" in raw:
            raise _RefusedError("a line of answers", "gold labels", "Give the gold file first, then the answers")
        bare = _without_nulls(raw)
        return msgspec.convert(bare, WrittenReply if kind is Reply and _in_words(bare) else kind)  # type: ignore[return-value]
    except _RefusedError as problem:
        says = problem.says
    except UnicodeDecodeError as problem:
        says = _says(f"bytes that are not UTF-8 (byte {problem.start + 1} of the line)", "UTF-8", "Convert the file")
    except UnicodeEncodeError:
        says = _says("half of a surrogate pair (\\ud800 to \\udfff)", "whole characters", "Write the character itself")
    except msgspec.ValidationError as problem:
        says = _says(
            *_explained(str(problem), kind),
            "See docs/formats.md for the fields, or say with --columns which of yours is what",
        )
    except (ValueError, RecursionError) as problem:
        says = _says(
            f"a line that is not valid JSON ({problem})",
            "one complete JSON object per line",
            "Check that the line was not cut off, and that no object goes over several lines",
        )
    raise InputError(where, **says)


def _in_words(reply: object) -> bool:
    """Whether a line has the text of its document, or of its answers."""
    if not isinstance(reply, dict):
        return False
    answers = reply.get("answers")
    given = answers if isinstance(answers, list) else []
    return "text" in reply or any(isinstance(answer, dict) and "text" in answer for answer in given)


def _says(found: str, expected: str, remedy: str) -> dict[str, str]:
    return {"found": found, "expected": expected, "remedy": remedy}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = next(key for key in values if sum(key == other for other, _ in pairs) > 1)
        raise _RefusedError(f"the key {twice!r} twice in one object", "each key once", "Delete one of the two")
    return values


def _not_a_number(name: str) -> float:
    raise _RefusedError(name, "a finite number", "Leave the field out where there is none")


def _finite(digits: str) -> float:
    if not math.isfinite(value := float(digits)):
        raise _RefusedError(f"the number {digits}", "a finite number", "Leave the field out where there is none")
    return value


def _small(digits: str) -> int:
    if len(digits.lstrip("-")) > 18:
        raise _RefusedError(f"the number {digits[:20]}…", "a number of at most 18 digits", "Correct it")
    return int(digits)


def _without_nulls(value: object) -> object:
    """Null means "not given" everywhere but in the `entity` of a mention, where it is NIL."""
    if not isinstance(value, dict):
        return value
    bare: dict[str, object] = {}
    for key, item in value.items():
        if isinstance(item, list) and key != "evaluation_span":
            bare[key] = [_without_nulls(entry) for entry in item]
        elif key == "meta" and isinstance(item, dict):
            bare[key] = {name: value for name, value in item.items() if value is not None}
        elif isinstance(item, dict):
            bare[key] = _without_nulls(item)
        elif item is not None or key == "entity":
            bare[key] = item
    return bare


def _fields(kind: type[msgspec.Struct], path: str) -> tuple[str, ...]:
    """The fields of the object at a path such as `$.labels[0]`."""
    inner = re.findall(r"[a-z]+(?=\[)", path)
    objects = {"labels": Label, "answers": WrittenAnswer, "tags": Tag, "relations": Statement, "candidates": Candidate}
    return (objects[inner[-1]] if inner and inner[-1] in objects else kind).__struct_fields__


def _explained(problem: str, kind: type[msgspec.Struct]) -> tuple[str, str]:
    """What msgspec found and expected, in Karat's form."""
    message, _, path = problem.partition(" - at `")
    place = f" at `{path.rstrip('`').removeprefix('$.')}`" if path.rstrip("`") not in ("", "$") else ""
    if match := re.fullmatch(r"Expected (.*), got (.*)", message):
        return f"{match[2]}{place}", match[1].replace("str", "string")
    if match := re.fullmatch(r"Expected (.*)", message):
        return f"another value{place}", match[1]
    if match := re.fullmatch(r"Object missing required field (.*)", message):
        return f"no {match[1]}{place}", f"the field {match[1]}"
    if match := re.fullmatch(r"Object contains unknown field (.*)", message):
        return f"the unknown field {match[1]}{place}", f"fields out of {', '.join(_fields(kind, path))}"
    return f"{message}{place}", "a valid value"


def _recognises(head: bytes) -> bool:
    """An object per line with an id; which kind of file it is `_holds_gold` says."""
    start = head.removeprefix(_BOM).lstrip()
    return start.startswith(b"{") and (b'"karat"' in start[:100] or b'"id"' in start or b"\n" not in start)


def _certain(head: bytes) -> bool:
    """A header, or a whole first line with no fields but Karat's own."""
    line, newline, _ = head.removeprefix(_BOM).lstrip().partition(b"\n")
    if _HEADER.match(line[:100]):
        return True
    try:
        first = msgspec.json.decode(line) if newline else None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    known = {*Document.__struct_fields__, *WrittenReply.__struct_fields__}
    return isinstance(first, dict) and isinstance(first.get("id"), str) and first.keys() <= known and len(first) > 1


def _holds_gold(source: Bytes) -> bool:
    """Whether the file has labels; told by its header, or by its first line if that is long."""
    start = source.opening
    if b'"gold/1"' in start[:200] or b'"answers/1"' in start[:200]:
        return b'"gold/1"' in start[:200]
    if b"\n" not in start:
        start = source.data().partition(b"\n")[0]
    return b'"labels"' in start and b'"answers"' not in start


FORMAT = Format(
    title="Karat JSONL",
    suffix=".jsonl",
    signs=('"id"', '"text"', '"labels"', '"answers"'),
    recognises=_recognises,
    holds_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    read_run_on=read_run_on,
    write_corpus=write_corpus,
    write_run=write_run,
    corpus_blocks=corpus_blocks,
    certain=_certain,
    loose=True,  # so that a misspelt field is said to be one, and not an unknown format
)
