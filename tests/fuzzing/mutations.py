"""How sound files are broken: bytes anywhere, and values where a file has values."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq

PIECES = (
    rb'null|"|{|}|[|]|,|:|0|-1|1e999|NaN|\ud800|1.5|true|"x"|99999999999|B-|I-|O|# |(|)|--NME--|<|>|&|;|@|.'.split(b"|")
    + [b"\xff", b"\n", b"\r\n", b"\r", b"\x00", b"\t", b"\n\n", b"\x1b[31m", b"9" * 30, b"-" + b"9" * 30, b"0x1"]
    + [text.encode() for text in ("😀", "\u00a0", "\u2028", "\ufeff", "\u202e", "e\u0301", "١")]
    + [b"-DOCSTART-\n", b"_", b"NIL", b"||", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"\xed\xa0\x80", b"A" * 3000]
    + [b"[" * 2000, b'{"a":' * 2000, b"[" * 400 + b"]" * 400]
)


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 5, 2**31, 2**31 - 1, 2**32, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**40),
    *(0.5, -0.0, 1e308, 1e-320, float("nan"), float("inf"), 1.0),
    *("", " ", "x", "0", "-1", "NIL", "Q1", "a\nb", "a\tb", "\x00", "\x1b[2J", "😀", "\ud800", "é" * 4000, "a/../b"),
    *([], {}, [None], [[]], [{}], {"": None}, {"x": {"y": []}}, [1, 2, 3], ["x", None], {"id": 1}, [0, 3], [-5, 0]),
    *(_nested(100), _nested(600)),
)
CELLS = (
    *("", " ", "_", "O", "-", "0", "-1", "1.5", "1e999", "nan", "inf", "NIL", "x", "B-LOC", "I-LOC", "B-", "#", '"'),
    *("9" * 12, "9" * 30, "١", "0x1", "\x00", "\x1b[2J", "é" * 4000, "http://x", "|", "a|b", "😀", "=", "Q1", "\u2028"),
)


def edited(data: bytes, random: Random) -> bytes:
    """The bytes with a few edits anywhere."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        data = random.choice(_EDITS)(data, random)
    return data


def _flipped(data: bytes, random: Random) -> bytes:
    if not data:
        return data
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]


def _replaced(data: bytes, random: Random) -> bytes:
    place = random.randint(0, len(data))
    return data[:place] + random.choice(PIECES) + data[place + random.choice((0, 0, 1, 2, 4, 8)) :]


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randint(0, len(data))]


def _moved(data: bytes, random: Random) -> bytes:
    """A slice is dropped, doubled or put elsewhere."""
    first = random.randint(0, len(data))
    last = min(len(data), first + random.choice((1, 4, 16, 64)))
    to = random.randint(0, len(data))
    rest = random.choice((data, data[:first] + data[last:]))
    return random.choice((data[:first] + data[last:], rest[:to] + data[first:last] + rest[to:]))


def _relined(data: bytes, random: Random) -> bytes:
    """A line is dropped, doubled or moved."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    line = lines[random.randrange(len(lines))]
    if random.random() < 0.6:
        lines.remove(line)
    if random.random() < 0.6:
        lines.insert(random.randint(0, len(lines)), line)
    return b"".join(lines)


def _swapped_number(data: bytes, random: Random) -> bytes:
    """A run of digits becomes another number."""
    places = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    if not places:
        return data
    first = last = random.choice(places)
    while last < len(data) and 48 <= data[last] <= 57:
        last += 1
    number = random.choice((b"0", b"-1", b"7", b"4294967296", b"9" * 20, b"9" * 5000, b"1.5", b"", b"1e5", b"00"))
    return data[:first] + number + data[last:]


_EDITS = (_flipped, _flipped, _replaced, _replaced, _replaced, _cut, _moved, _relined, _swapped_number)


# --- values


def revalued(data: bytes, random: Random) -> bytes:
    """The file with one or two values changed, where it can be taken for a file of values; else its bytes edited."""
    for change in (_packed, _parquet, _arrow, _json, _xml):
        try:
            changed = change(data, random)
        except Exception:  # noqa: BLE001 what cannot be changed in this way is changed in another
            continue
        if changed is not None:
            return changed
    return random.choice((_table, edited))(data, random)


def _packed(data: bytes, random: Random) -> bytes | None:
    """What lies in zlib or gzip is changed inside, so that it can still be unpacked."""
    if data[:2] == b"\x1f\x8b":
        return gzip.compress(edited(gzip.decompress(data), random))
    return zlib.compress(edited(zlib.decompress(data), random)) if data[:1] == b"\x78" else None


def _parquet(data: bytes, random: Random) -> bytes | None:
    if data[:4] != b"PAR1":
        return None
    file = io.BytesIO()
    pq.write_table(_columns(pq.read_table(io.BytesIO(data)), random), file)
    return file.getvalue()


def _arrow(data: bytes, random: Random) -> bytes | None:
    if data[:6] != b"ARROW1" and data[:4] != b"\xff\xff\xff\xff":
        return None
    whole = data[:6] == b"ARROW1"
    table = _columns((pa.ipc.open_file if whole else pa.ipc.open_stream)(data).read_all(), random)
    file = io.BytesIO()
    with (pa.ipc.new_file if whole else pa.ipc.new_stream)(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


def _columns(table: Any, random: Random) -> Any:
    """A table with a column more or less, of another name, type or metadata, or with changed values."""
    place = random.randrange(table.num_columns)
    name = table.column_names[place]
    rows = table.num_rows
    kind = random.choice(("drop", "double", "rename", "null", "retype", "metadata", "values", "values", "values"))
    if kind == "drop":
        return table.remove_column(place)
    if kind == "double":
        return table.append_column(name, table.column(place))
    if kind == "rename":
        other = random.choice([*table.column_names, "", "x", "text", "tokens", "labels", "predictions", "id"])
        return table.rename_columns([other if i == place else n for i, n in enumerate(table.column_names)])
    if kind == "null":
        return table.set_column(place, name, pa.nulls(rows, table.column(place).type))
    if kind == "metadata":
        stored = dict(table.schema.metadata or {b"karat": b"{}", b"huggingface": b"{}"})
        key = random.choice(list(stored))
        stored[key] = random.choice((_json, edited))(stored[key], random) or b""
        return table.replace_schema_metadata(stored)
    if kind == "retype":
        values = random.choice(
            ([1] * rows, [0.5] * rows, ["x"] * rows, [b"\xff"] * rows, [["x"]] * rows, [{"a": 1}] * rows, [True] * rows)
        )
        made = pa.array(values)
        if pa.types.is_string(made.type) and random.random() < 0.5:
            made = made.dictionary_encode() if random.random() < 0.5 else made.cast(pa.large_string())
        return table.set_column(place, name, made)
    values = table.column(place).to_pylist()
    for _ in range(20):  # most values do not fit into the type
        try:
            changed = changed_json(deepcopy(values), random)
            if pa.types.is_map(table.column(place).type) and not _all_keyed(changed):
                continue  # Arrow ends the whole process
            made = pa.array(changed, table.column(place).type)
            return table.set_column(place, name, made)
        except Exception:  # noqa: BLE001
            continue
    return table


def _all_keyed(rows: Any) -> bool:
    """Whether each entry of each row is a key with a value."""
    return all(
        isinstance(row, list) and all(isinstance(e, tuple) and isinstance(e[0], str) for e in row) for row in rows
    )


def _json(data: bytes, random: Random) -> bytes | None:
    """One JSON value, or one on each line."""
    try:
        value = json.loads(data)
        return _dumped(changed_json(value, random))
    except ValueError:
        lines = data.split(b"\n")
        place = random.choice([i for i, line in enumerate(lines) if line.strip()])
        lines[place] = _dumped(changed_json(json.loads(lines[place]), random))
        return b"\n".join(lines)


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


def changed_json(value: Any, random: Random) -> Any:
    """The value with something changed inside, or another one."""
    for _ in range(random.choice((1, 1, 2))):
        places = list(_places(value))
        if not places or random.random() < 0.02:
            return _copied(random.choice(VALUES))
        holder, key = random.choice(places)
        action = random.randrange(10)
        if action == 0:
            del holder[key]
        elif action == 1 and isinstance(holder, list):
            holder.insert(key, _copied(holder[key]))
        elif action == 1:
            holder[random.choice(("x", "", "id", "text", "meta", "\x1b"))] = holder[key]
        elif action == 2:
            holder[key] = [holder[key]]
        elif action == 3:
            holder[key] = {"x": holder[key]}
        elif action == 4:
            other, at = random.choice(places)
            holder[key] = _copied(other[at]) if at in other or (isinstance(at, int) and at < len(other)) else None
        else:
            holder[key] = _copied(random.choice(VALUES))  # the next change may be one inside it
    return value


_DEEPEST = 50
"""Levels at which values are changed: what is nested deeper as a whole could not be copied and written."""


def _places(value: Any, depth: int = 0) -> Any:
    """Where a value can be changed: holders with keys."""
    for key in range(len(value)) if isinstance(value, list) else list(value) if isinstance(value, dict) else ():
        yield value, key
        if depth < _DEEPEST:
            yield from _places(value[key], depth + 1)


def _copied(value: Any) -> Any:
    """A copy, however deep the value is."""
    root = [value]
    holders: list[tuple[Any, Any]] = [(root, 0)]
    while holders:
        holder, key = holders.pop()
        if isinstance(holder[key], (list, dict)):
            holder[key] = holder[key].copy()
            keys = holder[key] if isinstance(holder[key], dict) else range(len(holder[key]))
            holders += [(holder[key], inner) for inner in keys]
    return root[0]


def _xml(data: bytes, random: Random) -> bytes | None:
    if not data.lstrip().startswith(b"<"):
        return None
    root = ElementTree.fromstring(data)  # our own samples
    one = random.choice(list(root.iter()))
    action = random.randrange(7)
    if action == 0 and len(one):
        one.remove(random.choice(list(one)))
    elif action == 1 and len(one):
        one.append(random.choice(list(one)))
    elif action == 2:
        one.tag = random.choice(("x", "document", "annotation", "text", "id", "offset"))
    elif action == 3 and one.attrib:
        one.attrib[random.choice(list(one.attrib))] = _cell(random)
    elif action == 4:
        one.attrib.clear()
    else:
        one.text = _cell(random)
    return ElementTree.tostring(root, encoding="utf-8")


def _cell(random: Random) -> str:
    return random.choice([cell for cell in CELLS if "\x00" not in cell and "\x1b" not in cell])


def _table(data: bytes, random: Random) -> bytes:
    """A cell, column or row of a table of lines is changed."""
    separator = max((b"\t", b",", b" "), key=data.count)
    rows = [line.split(separator) for line in data.split(b"\n")]
    row = random.choice(rows)
    place = random.randrange(len(row))
    action = random.randrange(6)
    if action == 0:
        del row[place]
    elif action == 1:
        row.insert(place, row[place])
    elif action == 2:
        for each in rows:  # a column is doubled
            if place < len(each):
                each.append(each[place])
    elif action == 3:
        rows[0] = deepcopy(row)
    else:
        row[place] = random.choice(CELLS).encode()
    return b"\n".join(separator.join(each) for each in rows)


# --- files


def broken(files: dict[str, bytes], random: Random) -> dict[str, bytes]:
    """Some files, of which one is changed inside, packed, emptied, left out or called otherwise."""
    name = random.choice(list(files))
    action = random.random()
    if action < 0.5:
        return files | {name: edited(files[name], random)}
    if action < 0.93:
        return files | {name: revalued(files[name], random)}
    odd: Callable[[], dict[str, bytes]] = random.choice(
        (
            lambda: files | {name: b""},
            lambda: {other: data for other, data in files.items() if other != name} or files,
            lambda: files | {name: gzip.compress(edited(files[name], random), 1)},
            lambda: files | {name: edited(gzip.compress(files[name], 1), random)},
            lambda: files | {name: edited(pa.compress(files[name], "zstd", asbytes=True), random)},
            lambda: files | {name: files[random.choice(list(files))]},
            lambda: files | {random.choice(("\udcff.txt", "x\ny.tsv", "x\x1b[2J.json", "é.ann")): files[name]},
            lambda: files | {name: files[name].decode("utf-8", "replace").encode("utf-16")},
            lambda: files | {name: files[name] * 2},
            lambda: files | {name: random.randbytes(random.choice((1, 4, 40)))},
        )
    )
    return odd()
