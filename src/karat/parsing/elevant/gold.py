"""The gold labels of ELEVANT's articles, as the columns of a corpus.

`karat.formats.elevant` says what becomes of what. Articles are taken apart into one list per field as soon as they are
decoded, which is several times faster than to make objects of Karat's from them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import skipping, sound
from karat.model.marks import NOT_COREFERENCE as NOT_COREFERENCE
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs
from karat.parsing.elevant.articles import (
    NIL,
    NO_MAPPING,
    UNMAPPED,
    ArticleBlock,
    GoldLabel,
    articles,
    meta_of,
    names_of,
)
from karat.parsing.elevant.trees import tie, untied
from karat.parsing.json.blocks import nothing
from karat.spec.format import Bytes

_UNLINKED = "labels without entity id (read as without link)"
_DESCRIBES = "coreference labels that also describe (read as optional)"
_KINDS = pa.array([None, "quantity", "datetime", "descriptive", "coreference"], pa.string())
# A scalar whose type is given is made many times faster.
_NULL, _EMPTY, _NO_MAPPING = (pa.scalar(value, pa.string()) for value in (None, "", NO_MAPPING))
_NO_ENTITY = pa.array([NIL, NO_MAPPING], pa.string())
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

    def add(self, block: ArticleBlock) -> None:
        """Take in the labels of some articles."""
        if skipping():
            block = self._sound(block)
            if not block.objects:
                return
        batch = self.batch
        if batch is not None and (batch.plain != block.plain or batch.many):
            self.tables.append(_table(batch, self.source.label, self.skipped))
            batch = None
        self.batch = batch or _Batch(block.plain)
        self.batch.add(block)
        self.numbers.extend(block.numbers)

    def _sound(self, block: ArticleBlock) -> ArticleBlock:
        """The articles that have a text, and each id of a label once."""
        rows = range(len(block.objects))
        kept = [row for row, _ in sound(rows, lambda row: self._alone(block.some([row])))]
        return block.some(kept)

    def _alone(self, block: ArticleBlock) -> Arrow:
        batch = _Batch(block.plain)
        batch.add(block)
        return _table(batch, self.source.label, Counter())

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
    """What some documents and their labels have in each field; all labels are plain, or all have the further fields.

    A block of articles is taken apart while the cache of the processor holds it: of each field there are pieces.
    """

    plain: bool
    numbers: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    texts: list[Arrow] = field(default_factory=list)
    spans: list[tuple[int, int] | None] = field(default_factory=list)
    meta: list[list[tuple[str, str]]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    fields: dict[str, list[Arrow]] = field(default_factory=lambda: defaultdict(list))
    children: list[tuple[int, ...] | None] = field(default_factory=list)
    categories: list[tuple[str, ...] | None] = field(default_factory=list)
    labels: int = 0

    @property
    def many(self) -> bool:
        """Whether it is time for a table."""
        return self.labels + len(self.numbers) > _MANY

    def add(self, block: ArticleBlock) -> None:
        """Take the articles apart."""
        found = block.objects
        self.numbers.extend(block.numbers)
        self.ids.extend([str(article.id) for article in found])
        self.texts.append(block.texts)
        self.spans.extend(_evaluated(block))
        self.meta.extend([list(meta_of(article).items()) for article in found])
        given = [article.labels or () for article in found]
        self.sizes.extend(map(len, given))
        labels = list(chain.from_iterable(given))
        self.labels += len(labels)
        spans = [label.span for label in labels]
        self._note("id", _whole([label.id for label in labels]))
        self._note("start", _whole([span.start for span in spans]))
        self._note("end", _whole([span.end for span in spans]))
        self._note("entity_id", _column([label.entity_id for label in labels], pa.string()))
        self._note("name", _column([label.name for label in labels], pa.string()))
        self._note("type", _column([label.type for label in labels], pa.string()))
        if not self.plain:
            self._add_further(cast("list[GoldLabel]", labels))

    def _add_further(self, labels: list[GoldLabel]) -> None:
        self._note("parent", _column([label.parent for label in labels], pa.int64()))
        self._note("optional", _column([label.optional for label in labels], pa.bool_()))
        self._note("desc", _column([label.desc for label in labels], pa.bool_()))
        self._note("coref", _column([label.coref for label in labels], pa.bool_()))
        self.children.extend([label.children for label in labels])
        self.categories.extend([label.categories for label in labels])

    def _note(self, name: str, piece: Arrow) -> None:
        self.fields[name].append(piece)

    def column(self, name: str) -> Arrow:
        """A field of all labels."""
        return pa.concat_arrays(self.fields[name])


def _whole(values: list[int]) -> Arrow:
    return pa.array(np.fromiter(values, np.int64, len(values)))


def _column(values: list[Any], kind: Arrow) -> Arrow:
    """The values as a column; often all are the same object, such as None."""
    if values and values[0] is values[-1] and values.count(values[0]) == len(values):
        return pa.repeat(pa.scalar(values[0], kind), len(values))
    return pa.array(values, kind)


def _evaluated(block: ArticleBlock) -> list[tuple[int, int] | None]:
    """The evaluation span of each article that has a text."""
    spans = [article.evaluation_span for article in block.objects]
    if not any(spans):
        return [None] * len(spans)
    lengths = pc.binary_length(block.texts).to_pylist()
    return [(span.start, span.end) if span and length else None for span, length in zip(spans, lengths, strict=True)]


def _table(batch: _Batch, label: str, skipped: Counter[str]) -> Arrow:
    def where(row: int) -> str:
        return f"{label}:{batch.numbers[row]}"

    texts = pa.concat_arrays(batch.texts)
    if texts.null_count:
        row = pc.index(texts.is_null(), pa.scalar(True)).as_py()
        raise InputError(
            where(row), found="no field `text`", expected="the text", remedy="Give the benchmark file as gold"
        )
    offsets = np.cumsum([0, *batch.sizes], dtype=np.int64)
    labels = _labels(batch, offsets, where, skipped)
    return pa.table(
        {
            "id": pa.array(batch.ids, pa.string()),
            "text": texts,
            "labels": pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), labels),
            "evaluation_span": pa.array(batch.spans, pa.list_(pa.int32())),
            "meta": pa.array(batch.meta, pa.map_(pa.string(), pa.string())),
        }
    )


class _Flags(NamedTuple):
    """What the labels say of themselves."""

    refers: Bools
    denied: Bools
    describes: Bools
    optional: Bools


def _labels(batch: _Batch, offsets: Longs, where: Callable[[int], str], skipped: Counter[str]) -> Arrow:
    ids, start, end = (batch.column(name).to_numpy() for name in ("id", "start", "end"))
    _once(ids, offsets, where)
    ties = untied(ids, offsets, start, end)
    if not batch.plain:
        tie(ties, batch.column("parent"), batch.children, ids, offsets, skipped)
    flags = _Flags(*np.zeros((4, batch.labels), np.bool_)) if batch.plain else _flags(batch)
    written = _strings(batch.column("entity_id"))
    types, quantity, datetime = _types(batch.column("type"))
    unmapped = _true(pc.equal(written, _NO_MAPPING))
    kinds = np.select([flags.refers, flags.describes, quantity, datetime], [4, 3, 1, 2], 0)
    skipped[_UNLINKED] += written.null_count
    skipped[_DESCRIBES] += int(np.sum(flags.refers & flags.describes))
    columns = {
        "start": pa.array(start.astype(np.int32)),
        "end": pa.array(end.astype(np.int32)),
        "entity": pc.if_else(pc.is_in(written, _NO_ENTITY), _NULL, written),
        "linked": written.is_valid(),
        "name": _strings(batch.column("name")),
        "types": types,
        "categories": _categories(batch.categories, flags.denied, unmapped, ties.marks),
        "kind": _KINDS.take(pa.array(kinds)),
        "optional": pa.array(flags.optional | flags.describes | quantity | datetime),
        "unit": _names(ties.unit),
        "parent": _names(ties.parent),
    }
    return pa.StructArray.from_arrays(list(columns.values()), list(columns))


def _strings(written: Arrow) -> Arrow:
    """Null where a string is empty."""
    empty = pc.equal(written, _EMPTY)
    return pc.if_else(empty, _NULL, written) if pc.any(empty).as_py() else written


def _flags(batch: _Batch) -> _Flags:
    refers, describes, optional = (batch.column(name) for name in ("coref", "desc", "optional"))
    return _Flags(_true(refers), _true(pc.invert(refers)), _true(describes), _true(optional))


def _true(flags: Arrow) -> Bools:
    return np.asarray(flags.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)


def _names(numbers: Longs) -> Arrow:
    """Ids as strings, null where there is none."""
    if np.all(numbers < 0):  # as in most files
        return pa.nulls(len(numbers), pa.string())
    return pa.array(numbers, mask=numbers < 0).cast(pa.string())


def _types(written: Arrow) -> tuple[Arrow, Bools, Bools]:
    """The types, which are joined by `|`; and which labels are quantities, and which dates or times."""
    if written.null_count == len(written):
        neither = np.zeros(len(written), np.bool_)
        return pa.nulls(len(written), pa.list_(pa.string())), neither, neither
    encoded = written.fill_null("").dictionary_encode()
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


def _once(ids: Longs, offsets: Longs, where: Callable[[int], str]) -> None:
    """Each id of a label must be once in its document."""
    document = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    keys = (document << 32) | ids
    if np.all(keys[1:] > keys[:-1]):
        return
    first = np.unique(keys, return_index=True)[1]
    if len(first) < len(ids):
        again = int(np.setdiff1d(np.arange(len(ids)), first)[0])
        raise InputError(
            where(int(document[again])),
            found=f"the label id {ids[again]} a second time",
            expected="each id once per document",
            remedy="Number the labels of the document",
        )
