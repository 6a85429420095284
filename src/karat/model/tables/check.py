"""What makes gold labels and answers unusable. One rule each, over whole columns; the first offender is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from karat.errors import InputError
from karat.model.defects import current, free_id, pass_over
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, NO_LINK, Mentions, Units

Where: TypeAlias = Callable[[int], str]
"""Where the document with this row number came from: a file and line, or a name."""

KINDS = ("quantity", "datetime", "coreference", "descriptive")


EVERY = -1
"""The document of a problem that is one of all of them."""


class Problem(NamedTuple):
    """A rule that was broken: which document, and the three sentences of an `InputError`."""

    document: int
    found: str
    expected: str
    remedy: str


def refuse(problems: Iterator[Problem], where: Where) -> None:
    """Raise the first problem, if there is one."""
    for problem in problems:
        raise _error(problem, where)


def _error(problem: Problem, where: Where) -> InputError:
    place = where(max(problem.document, 0))
    return InputError(place, found=problem.found, expected=problem.expected, remedy=problem.remedy)


def unsound(problems: Iterator[Problem], where: Where) -> frozenset[int]:
    """The documents with problems, which are counted; where nothing is to be left out, the first problem is raised."""
    found: set[int] = set()
    for problem in problems:
        if problem.document == EVERY:
            raise _error(problem, where)
        if problem.document not in found:
            pass_over(_error(problem, where))
            found.add(problem.document)
    return frozenset(found)


class Kept(NamedTuple):
    """A table without some rows, where those that are left come from, and which they are."""

    table: Arrow
    where: Where
    rows: Arrow


def without(table: Arrow, where: Where, gone: frozenset[int]) -> Kept:
    """The table without some of its rows."""
    rows = np.setdiff1d(np.arange(table.num_rows), np.fromiter(gone, np.int64, len(gone)))
    return Kept(table.take(pa.array(rows)), lambda row: where(int(rows[row])), pa.array(rows))


def kept_apart(table: Arrow) -> Arrow:
    """The table with an id of its own for each document, if that is asked for; ids that are new are counted."""
    here = current()
    if not here.how.apart or "id" not in table.column_names:
        return table
    ids, taken = table.column("id").to_pylist(), set[str]()
    free = [None if name is None else free_id(name, taken) for name in ids]
    here.renamed += sum(new != old for new, old in zip(free, ids, strict=True))
    return table.set_column(table.column_names.index("id"), "id", pa.array(free, pa.string()))


def some(table: Arrow, where: str) -> None:
    """There is at least one document; where all were left out, what was wrong with the first is said."""
    if not table.num_rows:
        first = current().first
        if first is not None:
            raise first
        raise InputError(
            where, found="no document", expected="at least one", remedy="Check that this is the data you meant"
        )


def _each(mask: NDArray[np.bool_]) -> Sequence[int]:
    """The rows of a mask; most often there is none."""
    rows: list[int] = np.flatnonzero(mask).tolist() if mask.any() else []
    return rows


def _mask(array: Arrow) -> NDArray[np.bool_]:
    return np.asarray(array.to_numpy(zero_copy_only=False), np.bool_)


def begun(table: Arrow, required: frozenset[str]) -> Iterator[Problem]:
    """What has to hold before anything else can be looked at."""
    yield from complete(table, required)
    yield from identified(table.column("id"))


def identified(ids: Arrow) -> Iterator[Problem]:
    """Every document has an id of its own."""
    for row in _each(_mask(ids.is_null())) if ids.null_count else ():
        yield Problem(row, "a document without id", "a string in `id`", "Give each document an id")
    if len(pc.value_counts(ids)) == len(ids):
        return
    seen: dict[str, list[int]] = {}
    for row, name in enumerate(ids.to_pylist()):
        if name is not None:
            seen.setdefault(name, []).append(row)
    for name, rows in seen.items():
        for row in rows[1:]:
            yield Problem(
                row,
                f"document {name!r} a second time",
                "each document id once",
                "Rename or merge the documents of that id, or keep them apart with --same-id apart",
            )


def complete(table: Arrow, required: frozenset[str]) -> Iterator[Problem]:
    """No required value is missing at any depth, no list has a hole in it, and every number is one."""
    for name in sorted(required.difference(table.column_names)):
        yield Problem(EVERY, f"no value at `{name}`", "a value", "Give every document one")
    for name in table.schema.names:
        column = table.column(name)
        start = 0
        for chunk in column.chunks:
            for row, path, found, expected in _holes(chunk, _CALLED.get(name, name), name in required):
                yield Problem(start + row, f"{found} at `{path}`", expected, "Fill it in, or leave the entry out")
            start += len(chunk)


def _holes(array: Arrow, path: str, required: bool) -> Iterator[tuple[int, str, str, str]]:
    kind = array.type
    for row in _each(_mask(array.is_null())) if required and array.null_count else ():
        yield row, path, "no value", "a value"
    least = _LEAST.get(path.rpartition(".")[2])
    if least is not None:
        for row in _each(_mask(pc.or_(pc.less(array, least), pc.greater(array, _MOST)).fill_null(False))):
            many = array[row].as_py() > _MOST
            yield row, path, f"{array[row].as_py()}", f"a number from {least} up{', of at most 18 digits' * many}"
    if pa.types.is_map(kind):
        yield from _pairs(array, path)
    if pa.types.is_floating(kind) and array.null_count < len(array):
        for row in _each(_mask(pc.invert(pc.is_finite(array)).fill_null(False))):
            yield row, path, f"{array[row].as_py()}", "a finite number"
    if pa.types.is_list(kind):
        owners = np.repeat(np.arange(len(array)), np.diff(array.offsets.to_numpy()))
        for row, inner, found, expected in _holes(array.flatten(), f"{path}[]", True):
            yield int(owners[row]), inner, found, expected
    elif pa.types.is_struct(kind):
        names = [kind.field(i).name for i in range(kind.num_fields)]
        must = _REQUIRED_IN.get(path.rpartition(".")[2].removesuffix("[]"), frozenset[str]())
        for name in names:
            yield from _holes(array.field(name), f"{path}.{name}", name in must)
        for name in sorted(must.difference(names)):
            for row in range(len(array)):
                yield row, f"{path}.{name}", "no value", "a value"


def _pairs(array: Arrow, path: str) -> Iterator[tuple[int, str, str, str]]:
    """Every key of a map has a value, and stands there once."""
    first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
    keys, items = (flat.slice(first, last - first) for flat in (array.keys, array.items))
    owners = np.repeat(np.arange(len(array)), np.diff(array.offsets.to_numpy()))
    for row in np.unique(owners[_mask(items.is_null())]).tolist():
        yield row, path, "a key without value", "a string for every key"
    codes = keys.dictionary_encode().indices.to_numpy()
    _, places = np.unique(np.stack([owners, codes]), axis=1, return_index=True)
    for again in np.setdiff1d(np.arange(len(owners)), places).tolist():
        yield int(owners[again]), path, f"the key {keys[again].as_py()!r} twice", "each key once"


_CALLED = {"length": "text"}  # where only the length was kept, it was the text that was not given
_LEAST = {"rank": 1, "tokens": 0}
_MOST = 10**18 - 1

_REQUIRED_IN = {
    "labels": frozenset({"start", "end"}),
    "answers": frozenset({"start", "end"}),
    "tags": frozenset({"entity"}),
    "candidates": frozenset({"entity"}),
    "relations": frozenset({"subject", "predicate", "object"}),
}


def forward(items: Mentions, what: str) -> Iterator[Problem]:
    """Spans run forward and are not empty."""
    for row in _each((items.start < 0) | (items.end <= items.start)):
        yield Problem(
            int(items.document[row]),
            f"{what} [{int(items.start[row])}, {int(items.end[row])})",
            "0 <= start < end",
            "Give half-open spans: the end is the first code point not covered",
        )


def inside(items: Mentions, lengths: NDArray[Any], what: str) -> Iterator[Problem]:
    """Spans end inside their text."""
    short = np.minimum(lengths, np.iinfo(np.int32).max).astype(np.int32)  # of every label: half as much memory
    for row in _each(items.end > short[items.document]):
        document, start, end = int(items.document[row]), int(items.start[row]), int(items.end[row])
        yield Problem(
            document,
            f"{what} [{start}, {end}) in a text of {int(lengths[document])} code points",
            "an end inside the text",
            "Count offsets in Unicode code points of exactly this text, not in bytes or UTF-16 units",
        )


def evaluation_spans(column: Arrow, lengths: NDArray[Any]) -> Iterator[Problem]:
    """An evaluation span is two numbers, forward, inside the text."""
    row = 0
    for chunk in column.chunks:
        sizes = chunk.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        flat = chunk.flatten().fill_null(-1).to_numpy(zero_copy_only=False)
        ends = np.cumsum(sizes)
        for i in np.flatnonzero(_mask(chunk.is_valid())):
            pair = flat[ends[i] - sizes[i] : ends[i]].tolist()
            if len(pair) != 2 or not 0 <= pair[0] < pair[1] <= lengths[row + i]:
                yield Problem(
                    row + int(i),
                    f"evaluation_span {pair}",
                    f"[start, end] with 0 <= start < end <= {int(lengths[row + i])}",
                    "Correct it, or leave it out to score the whole document",
                )
        row += len(chunk)


def kinds(labels: Mentions) -> Iterator[Problem]:
    """The kind of a label is one of the known ones."""
    column = labels.field("kind")
    if column is None:
        return
    for row in _each(_mask(pc.invert(pc.is_in(column, pa.array(KINDS))).fill_null(False)) & _mask(column.is_valid())):
        yield Problem(
            int(labels.document[row]),
            f"kind {column[row].as_py()!r}",
            f"one of {', '.join(KINDS)}",
            "Use `categories` for labels of your own",
        )


def repeated(
    items: Mentions,
    besides: NDArray[Any] | None = None,
    prefer: Callable[[NDArray[np.int64]], Sequence[NDArray[Any]]] | None = None,
) -> NDArray[np.int64]:
    """Rows that say again what another row of the same document says: same span, same entity (same code besides).

    The row that is left is the first by the keys that `prefer` gives, of which the last counts most, or in the file.
    """
    place = items.document.astype(np.int64)
    place <<= 32
    place |= items.start
    order = None
    if np.any(place[1:] < place[:-1]):
        order = np.argsort(place, kind="stable")
        place = place[order]
    tied = np.zeros(len(items) + 1, np.bool_)
    tied[1:-1] = place[1:] == place[:-1]
    rows = np.flatnonzero(tied[1:] | tied[:-1])  # few share document and start: only these are looked at
    place, rows = place[rows], rows if order is None else order[rows]
    also = np.zeros(len(rows), np.int64) if besides is None else besides[rows]
    keys = () if prefer is None else prefer(rows)
    by_content = np.lexsort((rows, *keys, also, items.entity[rows], items.end[rows], place))
    columns = np.stack([place, items.end[rows], items.entity[rows], also])[:, by_content]
    again = np.all(columns[:, 1:] == columns[:, :-1], axis=0)
    return np.sort(rows[by_content[1:][again]])


def named(items: Mentions) -> Iterator[Problem]:
    """An entity id is not empty."""
    empty = pc.index(items.names, pa.scalar("", items.names.type)).as_py()
    for row in () if empty < 0 else _each(items.entity == empty):
        yield Problem(
            int(items.document[row]),
            f"an empty entity id at [{int(items.start[row])}, {int(items.end[row])})",
            "an id, null for NIL, or no `entity` for a span without link",
            "Choose one of the three",
        )


def linked(items: Mentions) -> Iterator[Problem]:
    """A span that is said not to be linked has no entity."""
    for row in _each((items.entity == NO_LINK) & _mask(items.values.field("entity").is_valid())):
        yield Problem(
            int(items.document[row]),
            f"an entity on [{int(items.start[row])}, {int(items.end[row])}), where `linked` is false",
            "either of the two",
            "Drop the entity, or `linked`",
        )


def labels_once(labels: Mentions) -> Iterator[Problem]:
    """No label is given twice, unless it says by its unit that it is another mention."""
    named = labels.field("unit")
    unit = None if named is None else named.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
    for row in repeated(labels, unit).tolist():
        name = "NIL" if labels.entity[row] == NIL else labels.linked_to(np.array([row]))[0].as_py() or "no link"
        yield Problem(
            int(labels.document[row]),
            f"label [{int(labels.start[row])}, {int(labels.end[row])}) {name} a second time",
            "each span and entity once per document",
            "Delete one of the two, or give each a unit of its own",
        )


def scores(table: Arrow, items: str) -> Iterator[Problem]:
    """No score is NaN, which is neither above nor below any threshold."""
    for name in (items, "tags", "relations"):
        for first, lists in _chunks(table, name):
            values = lists.flatten()
            index = values.type.get_field_index("score")
            for row in () if index < 0 else _each(_mask(pc.is_nan(values.field(index)).fill_null(False))):
                owners = np.repeat(np.arange(len(lists)), lists.value_lengths().fill_null(0))
                yield Problem(
                    first + int(owners[row]),
                    f"the score NaN in {name}",
                    "a number, or no score",
                    "Leave the score out where there is none",
                )


def _chunks(table: Arrow, name: str) -> Iterator[tuple[int, Arrow]]:
    """The chunks of a column, each with the row it begins at."""
    first = 0
    for chunk in table.column(name).chunks if name in table.column_names else ():
        yield first, chunk
        first += len(chunk)


def families(labels: Mentions, units: Units) -> Iterator[Problem]:
    """Parents exist, agree within a unit and lead up to a root."""
    above = labels.field("parent")
    if above is None:
        return
    for lost in _each(_mask(above.is_valid()) & (units.parent < 0)):
        yield Problem(
            int(labels.document[lost]),
            f"parent {above[lost].as_py()!r}",
            "the `unit` of a label in the same document",
            "Name the unit of the root, or drop `parent`",
        )
    for differs in _each(units.parent != units.parent[units.unit]):
        yield Problem(
            int(labels.document[differs]),
            f"different parents within unit {labels.values.field('unit')[differs].as_py()!r}",
            "one parent for all alternatives of a unit",
            "Give all labels of the unit the same `parent`",
        )
    node = units.parent.copy()
    for _ in range(len(labels)):
        active = np.flatnonzero(node >= 0)
        if not len(active):
            return
        for row in active[node[active] == units.unit[active]].tolist():
            node[labels.document == labels.document[row]] = -1  # or whoever leads into the circle never ends
            yield Problem(
                int(labels.document[row]),
                f"label [{int(labels.start[row])}, {int(labels.end[row])}) among its own parents",
                "parents that lead up to a root",
                "Remove one `parent` of the circle",
            )
        node[active] = units.parent[node[active]]
