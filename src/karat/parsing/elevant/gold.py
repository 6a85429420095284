"""The gold labels of ELEVANT's articles, as the columns of a corpus.

`karat.formats.elevant` says what becomes of what. Articles are taken apart into one list per field as soon as they are
decoded, which is several times faster than to make objects of Karat's from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import skipping, sound
from karat.model.marks import NOT_COREFERENCE as NOT_COREFERENCE
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs
from karat.parsing.elevant.articles import NIL, NO_MAPPING, UNMAPPED, Article, PlainArticle, articles, meta_of, names_of
from karat.parsing.elevant.trees import tie, untied
from karat.parsing.json.blocks import JsonBlock, nothing
from karat.spec.format import Bytes

_UNLINKED = "labels without entity id (read as without link)"
_DESCRIBES = "coreference labels that also describe (read as optional)"
_KINDS = pa.array([None, "quantity", "datetime", "descriptive", "coreference"], pa.string())
# A scalar whose type is given is made many times faster.
_NULL, _EMPTY, _NO_MAPPING = (pa.scalar(value, pa.string()) for value in (None, "", NO_MAPPING))
_NO_ENTITY = pa.array([NIL, NO_MAPPING], pa.string())
_PLAIN = ("id", "entity_id", "name", "type")
_FULL = ("parent", "children", "optional", "desc", "coref", "categories")
_MANY = 20_000  # labels and documents at a time


def read_corpus(source: Bytes) -> Corpus:
    """The documents of a file with their gold labels."""
    skipped: Counter[str] = Counter()
    found = ElevantGold(source)
    for block in articles(source, skipped):
        found.add(block)
    return found.corpus(names_of(source).benchmark, skipped)


@dataclass
class ElevantGold:
    """The gold labels of a file, to be taken in block by block."""

    source: Bytes
    tables: list[Arrow] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    batch: _Batch | None = None

    def add(self, block: JsonBlock[PlainArticle]) -> None:
        """Take in the labels of some articles."""
        if skipping():
            block = self._sound(block)
            if not block.objects:
                return
        full = isinstance(block.objects[0], Article)
        batch = self.batch
        if batch is not None and (batch.full != full or len(batch.fields["id"]) + len(batch.numbers) > _MANY):
            self.tables.append(_table(batch, self.source.label, self.skipped))
            batch = None
        self.batch = batch or _Batch(full)
        self.batch.add(block)
        self.numbers.extend(block.numbers)

    def _sound(self, block: JsonBlock[PlainArticle]) -> JsonBlock[PlainArticle]:
        """The articles that have a text, and each id of a label once."""
        rows = list(zip(block.objects, block.numbers, strict=True))
        found = list(sound(rows, lambda row: _table(_Batch.of(*row), self.source.label, Counter())))
        return JsonBlock([row[0] for row, _ in found], [row[1] for row, _ in found], ())

    def corpus(self, name: str, skipped: Mapping[str, int]) -> Corpus:
        """All that was taken in; `skipped` is what was left out before."""
        if self.batch is None:
            raise nothing(self.source)
        table = pa.concat_tables([*self.tables, _table(self.batch, self.source.label, self.skipped)])
        corpus = Corpus.checked(table, name=name, about={}, where=self._where)
        counts = Counter(skipped) + self.skipped
        return replace(corpus, skipped=dict(counts))

    def _where(self, row: int) -> str:
        return f"{self.source.label}:{self.numbers[row]}"


@dataclass
class _Batch:
    """What some documents and their labels have in each field; all labels are plain, or all have the further fields."""

    full: bool
    numbers: list[int] = field(default_factory=list)
    documents: dict[str, list[Any]] = field(default_factory=lambda: {n: [] for n in ("id", "text", "span", "meta")})
    sizes: list[int] = field(default_factory=list)
    fields: dict[str, list[Any]] = field(default_factory=lambda: {n: [] for n in (*_PLAIN, *_FULL, "start", "end")})

    @classmethod
    def of(cls, article: PlainArticle, number: int) -> _Batch:
        """What one document has."""
        batch = cls(isinstance(article, Article))
        batch.add(JsonBlock([article], [number], ()))
        return batch

    def add(self, block: JsonBlock[PlainArticle]) -> None:
        """Take the articles apart."""
        found = block.objects
        self.numbers.extend(block.numbers)
        self.sizes.extend([len(article.labels or ()) for article in found])
        self.documents["id"].extend([str(article.id) for article in found])
        self.documents["text"].extend([article.text for article in found])
        self.documents["meta"].extend([list(meta_of(article).items()) for article in found])
        spans = [article.evaluation_span if article.text else None for article in found]
        self.documents["span"].extend([span and (span.start, span.end) for span in spans])
        labels = list(chain.from_iterable(article.labels or () for article in found))
        for name in (*_PLAIN, *_FULL) if self.full else _PLAIN:
            self.fields[name].extend(map(attrgetter(name), labels))
        places = list(map(attrgetter("span"), labels))
        self.fields["start"].extend(map(attrgetter("start"), places))
        self.fields["end"].extend(map(attrgetter("end"), places))


def _table(batch: _Batch, label: str, skipped: Counter[str]) -> Arrow:
    def where(row: int) -> str:
        return f"{label}:{batch.numbers[row]}"

    if None in batch.documents["text"]:
        row = batch.documents["text"].index(None)
        raise InputError(
            where(row), found="no field `text`", expected="the text", remedy="Give the benchmark file as gold"
        )
    offsets = np.cumsum([0, *batch.sizes], dtype=np.int64)
    labels = _labels(batch, offsets, where, skipped)
    return pa.table(
        {
            "id": pa.array(batch.documents["id"], pa.string()),
            "text": pa.array(batch.documents["text"], pa.string()),
            "labels": pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), labels),
            "evaluation_span": pa.array(batch.documents["span"], pa.list_(pa.int32())),
            "meta": pa.array(batch.documents["meta"], pa.map_(pa.string(), pa.string())),
        }
    )


class _Flags(NamedTuple):
    """What the labels say of themselves."""

    refers: Bools
    denied: Bools
    describes: Bools
    optional: Bools


def _labels(batch: _Batch, offsets: Longs, where: Callable[[int], str], skipped: Counter[str]) -> Arrow:
    fields, count = batch.fields, len(batch.fields["id"])
    start, end = (np.fromiter(fields[side], np.int32, count) for side in ("start", "end"))
    ids = _ids(fields["id"], offsets, where)
    ties = untied(ids, offsets, start, end)
    if batch.full:
        tie(ties, fields["parent"], fields["children"], ids, offsets, skipped)
    flags = _flags(fields) if batch.full else _Flags(*np.zeros((4, count), np.bool_))
    written = _strings(fields["entity_id"])
    types, quantity, datetime = _types(fields["type"])
    unmapped = _true(pc.equal(written, _NO_MAPPING))
    kinds = np.select([flags.refers, flags.describes, quantity, datetime], [4, 3, 1, 2], 0)
    skipped[_UNLINKED] += written.null_count
    skipped[_DESCRIBES] += int(np.sum(flags.refers & flags.describes))
    columns = {
        "start": pa.array(start),
        "end": pa.array(end),
        "entity": pc.if_else(pc.is_in(written, _NO_ENTITY), _NULL, written),
        "linked": written.is_valid(),
        "name": _strings(fields["name"]),
        "types": types,
        "categories": _categories(fields["categories"], flags.denied, unmapped, ties.marks),
        "kind": _KINDS.take(pa.array(kinds)),
        "optional": pa.array(flags.optional | flags.describes | quantity | datetime),
        "unit": _names(ties.unit),
        "parent": _names(ties.parent),
    }
    return pa.StructArray.from_arrays(list(columns.values()), list(columns))


def _strings(values: list[str | None]) -> Arrow:
    """Null where a string is empty."""
    written = pa.array(values, pa.string())
    return pc.if_else(pc.equal(written, _EMPTY), _NULL, written) if "" in values else written


def _flags(fields: Mapping[str, list[Any]]) -> _Flags:
    refers, describes, optional = (pa.array(fields[name], pa.bool_()) for name in ("coref", "desc", "optional"))
    return _Flags(_true(refers), _true(pc.invert(refers)), _true(describes), _true(optional))


def _true(flags: Arrow) -> Bools:
    return np.asarray(flags.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)


def _names(numbers: Longs) -> Arrow:
    """Ids as strings, null where there is none."""
    if np.all(numbers < 0):  # as in most files
        return pa.nulls(len(numbers), pa.string())
    return pa.array(numbers, mask=numbers < 0).cast(pa.string())


def _types(values: list[str | None]) -> tuple[Arrow, Bools, Bools]:
    """The types, which are joined by `|`; and which labels are quantities, and which dates or times."""
    encoded = pa.array(values, pa.string()).fill_null("").dictionary_encode()
    lists = [[kind for kind in joined.split("|") if kind] for joined in encoded.dictionary.to_pylist()]
    codes = encoded.indices.to_numpy()
    quantity, datetime = (np.array([kind in each for each in lists], np.bool_) for kind in ("QUANTITY", "DATETIME"))
    return pa.array(lists, pa.list_(pa.string())).take(encoded.indices), quantity[codes], datetime[codes]


def _categories(
    values: Sequence[tuple[str, ...] | None], denied: Bools, unmapped: Bools, marks: Mapping[int, tuple[str, ...]]
) -> Arrow:
    choices: list[tuple[str, ...]] = [(), (NOT_COREFERENCE,), (UNMAPPED,), (NOT_COREFERENCE, UNMAPPED)]
    codes = denied.astype(np.int64) + 2 * unmapped
    given = {row: categories for row, categories in enumerate(values) if categories} if any(values) else {}
    for row in sorted(marks.keys() | given.keys()):
        choices.append((*choices[codes[row]], *marks.get(row, ()), *given.get(row, ())))
        codes[row] = len(choices) - 1
    if not codes.any():
        return pa.nulls(len(codes), pa.list_(pa.string()))
    return pa.array(choices, pa.list_(pa.string())).take(pa.array(codes))


def _ids(values: list[int], offsets: Longs, where: Callable[[int], str]) -> Longs:
    """The ids of all labels, each of which must be once in its document."""
    ids = np.fromiter(values, np.int64, len(values))
    document = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    keys = (document << 32) | ids
    if np.all(keys[1:] > keys[:-1]):
        return ids
    first = np.unique(keys, return_index=True)[1]
    if len(first) < len(ids):
        again = int(np.setdiff1d(np.arange(len(ids)), first)[0])
        raise InputError(
            where(int(document[again])),
            found=f"the label id {ids[again]} a second time",
            expected="each id once per document",
            remedy="Number the labels of the document",
        )
    return ids
