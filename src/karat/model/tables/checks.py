"""Checks of gold labels and predictions, one rule each over whole columns; each check yields a `Problem` per defect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from karat.model.defects import UniqueIds, get_defects, skip_or_raise
from karat.model.errors import InputError
from karat.model.output.command_options import format_option, format_roles
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, NO_LINK, MentionIndex, Mentions

RowLocator: TypeAlias = Callable[[int], str]
"""A function that returns the source of the document in a row: a file and line, or a name."""


def locate_by_id(table: Arrow) -> RowLocator:
    """Return a function that takes a row of `table` and returns `document 'ID'`, for messages."""
    return lambda row: f"document {table.column('id')[row].as_py()!r}"


KINDS = ("quantity", "datetime", "coreference", "descriptive")
"""The allowed values of `Label.kind`."""


ALL_DOCUMENTS = -1
"""The document number of a problem that concerns all documents."""


class Problem(NamedTuple):
    """A place where a document breaks a rule; the texts are phrases as in `InputError`."""

    document: int
    """The row of the document, or `ALL_DOCUMENTS`."""
    actual: str
    """What was found."""
    expected: str
    """What was expected."""
    remedy: str
    """How to fix it."""


def raise_first(problems: Iterator[Problem], locate_row: RowLocator) -> None:
    """Raise the first of `problems` as `InputError`; do nothing if there is none.

    `locate_row` returns the source of a document's row for the message.
    """
    for problem in problems:
        raise _to_error(problem, locate_row)


def _to_error(problem: Problem, locate_row: RowLocator) -> InputError:
    """Return, without raising it, the `InputError` for a problem."""
    location = locate_row(max(problem.document, 0))
    return InputError(location, actual=problem.actual, expected=problem.expected, remedy=problem.remedy)


def find_invalid_rows(problems: Iterator[Problem], locate_row: RowLocator) -> frozenset[int]:
    """Return the rows of the documents with problems, to be skipped; each document is counted in `get_defects`.

    The first problem is raised as `InputError` if the policy does not skip, or if it concerns all documents.
    """
    invalid_rows: set[int] = set()
    for problem in problems:
        if problem.document == ALL_DOCUMENTS:
            raise _to_error(problem, locate_row)
        if problem.document not in invalid_rows:
            skip_or_raise(_to_error(problem, locate_row))
            invalid_rows.add(problem.document)
    return frozenset(invalid_rows)


class FilteredTable(NamedTuple):
    """A table after the removal of rows."""

    table: Arrow
    """The remaining rows."""
    locate_row: RowLocator
    """Return the source of a remaining row."""
    rows: Arrow
    """The original numbers of the remaining rows."""


def drop_rows(table: Arrow, locate_row: RowLocator, removed_rows: frozenset[int]) -> FilteredTable:
    """Return the table without `removed_rows`, with a function that locates its new rows, and their old numbers."""
    rows = np.setdiff1d(np.arange(table.num_rows), np.fromiter(removed_rows, np.int64, len(removed_rows)))
    return FilteredTable(table.take(pa.array(rows)), lambda row: locate_row(int(rows[row])), pa.array(rows))


def rename_duplicate_ids(table: Arrow) -> Arrow:
    """Return the table with a number added to every repeated document id, as in `a (2)`; count them in `get_defects`.

    The table is returned unchanged if the policy does not rename duplicates.
    """
    defects = get_defects()
    if not defects.policy.rename_duplicates or "id" not in table.column_names:
        return table
    ids, used_ids = table.column("id").to_pylist(), UniqueIds()
    unique_ids = [None if name is None else used_ids.reserve(name) for name in ids]
    defects.renamed += sum(new != old for new, old in zip(unique_ids, ids, strict=True))
    return table.set_column(table.column_names.index("id"), "id", pa.array(unique_ids, pa.string()))


def require_documents(table: Arrow, where: str) -> None:
    """Raise `InputError` if the table has no rows: the first defect if documents were skipped, else that there is none.

    `where` names the data in the message.
    """
    if not table.num_rows:
        final_error = get_defects().final_error
        if final_error is not None:
            raise final_error
        raise InputError(
            where, actual="no document", expected="at least one", remedy="Check that this is the data you meant"
        )


def _true_rows(mask: NDArray[np.bool_]) -> Sequence[int]:
    """Return the rows in which a mask is true, as Python integers."""
    rows: list[int] = np.flatnonzero(mask).tolist() if mask.any() else []
    return rows


def _to_mask(array: Arrow) -> NDArray[np.bool_]:
    """Return an Arrow array of booleans without nulls as NumPy array."""
    return np.asarray(array.to_numpy(zero_copy_only=False), np.bool_)


def check_required(table: Arrow, required: frozenset[str], *, is_run: bool = False) -> Iterator[Problem]:
    """Yield the problems of `check_complete` and `check_ids`, which must be fixed before other checks.

    `required` names the columns in which every document must have a value; `is_run` is as in `check_ids`.
    """
    yield from check_complete(table, required)
    yield from check_ids(table.column("id"), is_run=is_run)


def check_ids(ids: Arrow, *, is_run: bool = False) -> Iterator[Problem]:
    """Yield a problem for each document without id and for each repetition of an id; `ids` is a chunked Arrow array.

    `is_run`: the documents have predictions, which lose their gold document if the id is changed.
    """
    for row in _true_rows(_to_mask(ids.is_null())) if ids.null_count else ():
        yield Problem(row, "a document without id", "a string in `id`", "Give each document an id")
    if len(pc.value_counts(ids)) == len(ids):
        return
    option = format_option("duplicate_ids", "rename")
    advice = (
        f"Write all predictions for a document in one; {option} fits only a gold standard that repeats the id too"
        if is_run
        else f"Rename or merge the documents of that id, or keep them apart with {option}"
    )
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
                advice,
            )


def check_complete(table: Arrow, required: frozenset[str]) -> Iterator[Problem]:
    """Yield a problem for each missing or impossible value in a table, at any depth of its columns.

    Impossible are nulls in lists, numbers that are not finite or out of range, and incomplete or repeated keys of maps.
    Columns in `required`, and fields such as `start` and `end`, must have a value in every row.
    """
    for name in sorted(required.difference(table.column_names)):
        yield Problem(ALL_DOCUMENTS, f"no value at `{name}`", "a value", "Give every document one")
    for name in table.schema.names:
        column = table.column(name)
        start = 0
        for chunk in column.chunks:
            for row, path, actual, expected in _check_values(
                chunk, _SOURCE_FIELDS.get(name, name), is_required=name in required
            ):
                yield Problem(start + row, f"{actual} at `{path}`", expected, "Fill it in, or leave the entry out")
            start += len(chunk)


def _check_values(array: Arrow, path: str, *, is_required: bool) -> Iterator[tuple[int, str, str, str]]:
    """Yield the row, path, actual and expected value of each missing or impossible value in a nested array.

    `path` is the path of the array in messages, such as `labels[].start`. Nulls are a problem if `is_required`.
    """
    kind = array.type
    for row in _true_rows(_to_mask(array.is_null())) if is_required and array.null_count else ():
        yield row, path, "no value", "a value"
    minimum = _MINIMA.get(path.rpartition(".")[2])
    if minimum is not None:
        for row in _true_rows(_to_mask(pc.or_(pc.less(array, minimum), pc.greater(array, _MAXIMUM)).fill_null(False))):
            is_too_large = array[row].as_py() > _MAXIMUM
            yield (
                row,
                path,
                f"{array[row].as_py()}",
                f"a number from {minimum} up{', of at most 18 digits' * is_too_large}",
            )
    if pa.types.is_map(kind):
        yield from _check_map(array, path)
    if pa.types.is_floating(kind) and array.null_count < len(array):
        for row in _true_rows(_to_mask(pc.invert(pc.is_finite(array)).fill_null(False))):
            yield row, path, f"{array[row].as_py()}", "a finite number"
    if pa.types.is_list(kind):
        owners = np.repeat(np.arange(len(array)), np.diff(array.offsets.to_numpy()))
        for row, inner, actual, expected in _check_values(array.flatten(), f"{path}[]", is_required=True):
            yield int(owners[row]), inner, actual, expected
    elif pa.types.is_struct(kind):
        names = [kind.field(i).name for i in range(kind.num_fields)]
        required_fields = _REQUIRED_IN.get(path.rpartition(".")[2].removesuffix("[]"), frozenset[str]())
        for name in names:
            yield from _check_values(array.field(name), f"{path}.{name}", is_required=name in required_fields)
        for name in sorted(required_fields.difference(names)):
            for row in range(len(array)):
                yield row, f"{path}.{name}", "no value", "a value"


def _check_map(array: Arrow, path: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield the row, path, actual and expected value of each map with a key without value or a repeated key."""
    first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
    keys, items = (flat.slice(first, last - first) for flat in (array.keys, array.items))
    owners = np.repeat(np.arange(len(array)), np.diff(array.offsets.to_numpy()))
    for row in np.unique(owners[_to_mask(items.is_null())]).tolist():
        yield row, path, "a key without value", "a string for every key"
    codes = keys.dictionary_encode().indices.to_numpy()
    _, first_rows = np.unique(np.stack([owners, codes]), axis=1, return_index=True)
    for again in np.setdiff1d(np.arange(len(owners)), first_rows).tolist():
        yield int(owners[again]), path, f"the key {keys[again].as_py()!r} twice", "each key once"


_SOURCE_FIELDS = {"length": "text"}  # if only the length is stored, the text is missing in the source
_MINIMA = {"rank": 1, "tokens": 0}
_MAXIMUM = 10**18 - 1

_SWAPPED_COLUMNS = {"start": "end", "end": "start", "entity": "entity"}
"""Columns by role, where start and end are swapped."""

_REQUIRED_IN = {
    "labels": frozenset({"start", "end"}),
    "predictions": frozenset({"start", "end"}),
    "invented": frozenset({"text"}),
    "tags": frozenset({"entity"}),
    "candidates": frozenset({"entity"}),
    "relations": frozenset({"subject", "predicate", "object"}),
}


def check_span_order(items: Mentions, item_noun: str, min_length: int = 1) -> Iterator[Problem]:
    """Yield a problem for each span that is empty, reversed or negative; `item_noun` names the items in messages.

    `min_length` is the smallest difference of end and start: 0 if ends are inclusive.
    """
    for row in _true_rows((items.start < 0) | (items.end - items.start < min_length)):
        start, end = int(items.start[row]), int(items.end[row])
        yield Problem(
            int(items.document[row]),
            f"{item_noun} [{start}, {end})",
            "0 <= start < end" if min_length else "0 <= start <= end",
            _advise_span_order(item_noun)
            if start > end >= 0
            else "Count from 0: the first code point of the text has the offset 0"
            if start < 0
            else "Give half-open spans: the end is the first code point not covered"
            + f"; if the ends of all predictions are inclusive, pass {format_option('offsets', 'inclusive')}, "
            "or one-based-inclusive if they count from 1" * bool(item_noun == "prediction" and start == end),
        )


def _advise_span_order(item_noun: str) -> str:
    """Return the advice for a span whose end is smaller than its start; `item_noun` is as in `check_span_order`."""
    roles = {"doc": "id"} | ({"text": "text"} if item_noun == "label" else {})
    roles |= {role: f"{item_noun}s.{name}" for role, name in _SWAPPED_COLUMNS.items()}
    return (
        "Start and end look swapped, or the end is a length. Correct them where they are written, or, if all are so, "
        f"name the columns: in Karat JSONL {format_roles(roles)}, for lengths the role length in place of end"
    )


def check_span_ends(items: Mentions, lengths: NDArray[Any], item_noun: str) -> Iterator[Problem]:
    """Yield a problem for each span that ends beyond its text.

    `lengths` are the lengths of all texts in code points; `item_noun` names the items in messages.
    """
    limits = np.minimum(lengths, np.iinfo(np.int32).max).astype(np.int32)  # of every label: half as much memory
    for row in _true_rows(items.end > limits[items.document]):
        document, start, end = int(items.document[row]), int(items.start[row]), int(items.end[row])
        yield Problem(
            document,
            f"{item_noun} [{start}, {end}) in a text of {int(lengths[document])} code points",
            "an end inside the text",
            "Count offsets in Unicode code points of exactly this text, not in bytes or UTF-16 units"
            + f", or name what they count with {format_option('offsets')}" * (item_noun == "prediction"),
        )


def check_evaluation_spans(column: Arrow, lengths: NDArray[Any]) -> Iterator[Problem]:
    """Yield a problem for each evaluation span that is not two ordered offsets inside the text.

    `column` has a list of offsets or null for each document, `lengths` the lengths of the texts in code points.
    """
    row = 0
    for chunk in column.chunks:
        sizes = chunk.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        flat = chunk.flatten().fill_null(-1).to_numpy(zero_copy_only=False)
        ends = np.cumsum(sizes)
        for i in np.flatnonzero(_to_mask(chunk.is_valid())):
            pair = flat[ends[i] - sizes[i] : ends[i]].tolist()
            if len(pair) != 2 or not 0 <= pair[0] < pair[1] <= lengths[row + i]:
                yield Problem(
                    row + int(i),
                    f"evaluation_span {pair}",
                    f"[start, end] with 0 <= start < end <= {int(lengths[row + i])}",
                    "Correct it, or leave it out to score the whole document",
                )
        row += len(chunk)


def check_kinds(labels: Mentions) -> Iterator[Problem]:
    """Yield a problem for each label whose `kind` is not in `KINDS`; labels without kind are fine."""
    column = labels.field("kind")
    if column is None:
        return
    for row in _true_rows(
        _to_mask(pc.invert(pc.is_in(column, pa.array(KINDS))).fill_null(False)) & _to_mask(column.is_valid())
    ):
        yield Problem(
            int(labels.document[row]),
            f"kind {column[row].as_py()!r}",
            f"one of {', '.join(KINDS)}",
            "Use `categories` for labels of your own",
        )


def find_duplicates(
    items: Mentions,
    extra_codes: NDArray[Any] | None = None,
    prefer: Callable[[NDArray[np.int64]], Sequence[NDArray[Any]]] | None = None,
) -> NDArray[np.int64]:
    """Return the sorted rows that repeat another row: same document, span and entity, and same `extra_codes` if given.

    Of equal rows, all but one are returned. The one is the first in the file, unless `prefer` is given: a function from
    an array of rows to sort keys, one value per row in each key, the last key being the most significant (as for
    `np.lexsort`). Then the one with the smallest keys is not returned.
    """
    positions = items.document.astype(np.int64)
    positions <<= 32
    positions |= items.start
    order = None
    if np.any(positions[1:] < positions[:-1]):
        order = np.argsort(positions, kind="stable")
        positions = positions[order]
    shares_start = np.zeros(len(items) + 1, np.bool_)
    shares_start[1:-1] = positions[1:] == positions[:-1]
    rows = np.flatnonzero(
        shares_start[1:] | shares_start[:-1]
    )  # few share document and start: only these are looked at
    positions, rows = positions[rows], rows if order is None else order[rows]
    codes = np.zeros(len(rows), np.int64) if extra_codes is None else extra_codes[rows]
    keys = () if prefer is None else prefer(rows)
    by_content = np.lexsort((rows, *keys, codes, items.entity[rows], items.end[rows], positions))
    columns = np.stack([positions, items.end[rows], items.entity[rows], codes])[:, by_content]
    repeats = np.all(columns[:, 1:] == columns[:, :-1], axis=0)
    return np.sort(rows[by_content[1:][repeats]])


def check_entity_ids(items: Mentions) -> Iterator[Problem]:
    """Yield a problem for each label or prediction whose entity id is the empty string."""
    empty = pc.index(items.names, pa.scalar("", items.names.type)).as_py()
    for row in () if empty < 0 else _true_rows(items.entity == empty):
        yield Problem(
            int(items.document[row]),
            f"an empty entity id at [{int(items.start[row])}, {int(items.end[row])})",
            "an id, null for NIL, or no `entity` for an unlinked span",
            "Choose one of the three",
        )


def check_unlinked(items: Mentions) -> Iterator[Problem]:
    """Yield a problem for each label or prediction that has an entity although its `linked` is false."""
    for row in _true_rows((items.entity == NO_LINK) & _to_mask(items.values.field("entity").is_valid())):
        yield Problem(
            int(items.document[row]),
            f"an entity on [{int(items.start[row])}, {int(items.end[row])}), where `linked` is false",
            "either of the two",
            "Drop the entity, or `linked`",
        )


def check_duplicate_labels(labels: Mentions) -> Iterator[Problem]:
    """Yield a problem for each label that repeats span, entity and mention id of another one in its document."""
    mention_ids = labels.field("mention_id")
    codes = (
        None
        if mention_ids is None
        else mention_ids.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
    )
    for row in find_duplicates(labels, codes).tolist():
        name = "NIL" if labels.entity[row] == NIL else labels.entity_ids(np.array([row]))[0].as_py() or "no link"
        yield Problem(
            int(labels.document[row]),
            f"label [{int(labels.start[row])}, {int(labels.end[row])}) {name} a second time",
            "each span and entity once per document",
            "Delete one of the two, or give each its own `mention_id`",
        )


def check_scores(table: Arrow, item_column: str) -> Iterator[Problem]:
    """Yield a problem for each score that is NaN, in the column `item_column` and in other lists."""
    for name in (item_column, "tags", "relations", "invented"):
        for first, lists in _iterate_chunks(table, name):
            values = lists.flatten()
            index = values.type.get_field_index("score")
            for row in () if index < 0 else _true_rows(_to_mask(pc.is_nan(values.field(index)).fill_null(False))):
                owners = np.repeat(np.arange(len(lists)), lists.value_lengths().fill_null(0))
                yield Problem(
                    first + int(owners[row]),
                    f"the score NaN in {name}",
                    "a number, or no score",
                    "Leave the score out where there is none",
                )


def _iterate_chunks(table: Arrow, name: str) -> Iterator[tuple[int, Arrow]]:
    """Yield the number of the first row and the array of each chunk of a column; nothing if there is no such column."""
    first = 0
    for chunk in table.column(name).chunks if name in table.column_names else ():
        yield first, chunk
        first += len(chunk)


def check_parents(labels: Mentions, mention_index: MentionIndex) -> Iterator[Problem]:
    """Yield a problem for each label whose parent does not exist, differs within its mention, or leads into a cycle.

    `mention_index` is that of `labels`.
    """
    parents = labels.field("parent")
    if parents is None:
        return
    for lost in _true_rows(_to_mask(parents.is_valid()) & (mention_index.parent < 0)):
        yield Problem(
            int(labels.document[lost]),
            f"parent {parents[lost].as_py()!r}",
            "the `mention_id` of a label in the same document",
            "Name the `mention_id` of the root, or remove `parent`",
        )
    for row_in_mention in _true_rows(mention_index.parent != mention_index.parent[mention_index.mention]):
        yield Problem(
            int(labels.document[row_in_mention]),
            f"different parents within mention {labels.values.field('mention_id')[row_in_mention].as_py()!r}",
            "one parent for all alternatives of a mention",
            "Give all labels of the mention the same `parent`",
        )
    node = mention_index.parent.copy()
    for _ in range(len(labels)):
        active = np.flatnonzero(node >= 0)
        if not len(active):
            return
        for row in active[node[active] == mention_index.mention[active]].tolist():
            node[labels.document == labels.document[row]] = -1  # else rows that lead into the cycle never end
            yield Problem(
                int(labels.document[row]),
                f"label [{int(labels.start[row])}, {int(labels.end[row])}) among its own parents",
                "parents that lead up to a root",
                "Remove one `parent` of the cycle",
            )
        node[active] = mention_index.parent[node[active]]
