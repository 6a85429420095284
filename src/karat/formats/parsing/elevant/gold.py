"""Gold labels of ELEVANT's articles, as the columns of a corpus.

`karat.formats.plugins.elevant` documents the mapping. Articles are split into one list per field as soon as they are
decoded, which is several times faster than creating Karat's objects.

A block is a sequence of whole lines of the file that is decoded at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.formats.parsing.elevant.articles import (
    NIL,
    NO_MAPPING,
    UNMAPPED,
    ArticleBlock,
    GoldLabel,
    get_meta,
    parse_file_name,
    read_articles,
)
from karat.formats.parsing.elevant.label_trees import fill_trees, init_trees
from karat.formats.parsing.json.blocks import empty_file_error
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_positive
from karat.model.defects import is_skipping, map_valid
from karat.model.errors import InputError
from karat.model.reader_categories import NOT_COREFERENCE as NOT_COREFERENCE
from karat.model.spec.format import ByteSource
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs

_NO_ENTITY_ID = "labels without entity id (read as unlinked)"
_DESCRIPTIVE_COREFERENCE = "coreference labels that are also descriptive (read as optional)"
_KINDS = pa.array([None, "quantity", "datetime", "descriptive", "coreference"], pa.string())
# Scalars of a given type are created many times faster.
_NULL, _EMPTY, _NO_MAPPING = (pa.scalar(value, pa.string()) for value in (None, "", NO_MAPPING))
_NO_ENTITY = pa.array([NIL, NO_MAPPING], pa.string())
_BATCH_SIZE = 20_000  # labels and documents at a time


def read_corpus(source: ByteSource) -> Corpus:
    """Read the documents of a file with their gold labels; raise `InputError` if there are none."""
    skipped = SkipCounter()
    gold = ElevantGold(source)
    for block in read_articles(source, skipped):
        gold.add_block(block)
    return gold.build_corpus(parse_file_name(source).benchmark, skipped)


@dataclass
class ElevantGold:
    """The documents of a file with their gold labels, collected block by block to build a corpus."""

    source: ByteSource
    """The file."""
    tables: list[Arrow] = field(default_factory=list)
    """Finished tables of documents."""
    numbers: list[int] = field(default_factory=list)
    """Line number of each document."""
    skipped: SkipCounter = field(default_factory=SkipCounter)
    """Counts of skipped data."""
    batch: _Batch | None = None
    """Documents that are not in a table yet."""

    def add_block(self, block: ArticleBlock) -> None:
        """Add the documents and labels of `block`, a number of consecutive articles, to those collected so far.

        Invalid articles raise `InputError`, or are skipped and counted if the error policy says so.
        """
        if is_skipping():
            block = self._select_valid(block)
            if not block.objects:
                return
        batch = self.batch
        if batch is not None and (batch.is_plain != block.is_plain or batch.is_full):
            self.tables.append(_build_table(batch, self.source.label, self.skipped))
            batch = None
        self.batch = batch or _Batch(block.is_plain)
        self.batch.add_block(block)
        self.numbers.extend(block.numbers)

    def _select_valid(self, block: ArticleBlock) -> ArticleBlock:
        """Return the block without invalid articles, such as those without text or with duplicate label ids.

        The errors of invalid articles are counted.
        """
        rows = range(len(block.objects))
        valid_rows = [row for row, _ in map_valid(rows, lambda row: self._build_single(block.select_rows([row])))]
        return block.select_rows(valid_rows)

    def _build_single(self, block: ArticleBlock) -> Arrow:
        """Build the table of a block with a single article, to find its errors."""
        batch = _Batch(block.is_plain)
        batch.add_block(block)
        return _build_table(batch, self.source.label, SkipCounter())

    def build_corpus(self, name: str, skipped: Mapping[str, int]) -> Corpus:
        """Build the corpus of all collected documents; `skipped` are further counts, from reading the articles.

        Raise `InputError` if there is no document.
        """
        if self.batch is None:
            raise empty_file_error(self.source.label)
        table = pa.concat_tables([*self.tables, _build_table(self.batch, self.source.label, self.skipped)])
        corpus = Corpus.from_table(table, name=name, metadata={}, locate_row=self._get_location)
        self.skipped.update(skipped)
        return replace(corpus, skipped=locate_positive(self.skipped, self.source.label))

    def _get_location(self, row: int) -> str:
        """Return the location `FILE:LINE` of the document in a row, for messages."""
        return f"{self.source.label}:{self.numbers[row]}"


@dataclass
class _Batch:
    """The fields of documents and their labels, until they become a table.

    Either all labels are plain, or all have the further fields. A block of articles is split while the processor cache
    holds it, so each field is a list of arrays, one per block.
    """

    is_plain: bool
    numbers: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    texts: list[Arrow] = field(default_factory=list)
    spans: list[tuple[int, int] | None] = field(default_factory=list)
    meta: list[list[tuple[str, str]]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    fields: dict[str, list[Arrow]] = field(default_factory=lambda: defaultdict(list))
    children: list[tuple[int, ...] | None] = field(default_factory=list)
    categories: list[tuple[str, ...] | None] = field(default_factory=list)
    n_labels: int = 0

    @property
    def is_full(self) -> bool:
        """Whether the batch has enough documents and labels to become a table."""
        return self.n_labels + len(self.numbers) > _BATCH_SIZE

    def add_block(self, block: ArticleBlock) -> None:
        """Add the fields of `block`, a number of consecutive articles; the block must be plain if the batch is."""
        articles = block.objects
        self.numbers.extend(block.numbers)
        self.ids.extend([str(article.id) for article in articles])
        self.texts.append(block.texts)
        self.spans.extend(_get_evaluation_spans(block))
        self.meta.extend([list(get_meta(article).items()) for article in articles])
        label_lists = [article.labels or () for article in articles]
        self.sizes.extend(map(len, label_lists))
        labels = list(chain.from_iterable(label_lists))
        self.n_labels += len(labels)
        spans = [label.span for label in labels]
        self._append("id", _to_integers([label.id for label in labels]))
        self._append("start", _to_integers([span.start for span in spans]))
        self._append("end", _to_integers([span.end for span in spans]))
        self._append("entity_id", _to_column([label.entity_id for label in labels], pa.string()))
        self._append("name", _to_column([label.name for label in labels], pa.string()))
        self._append("type", _to_column([label.type for label in labels], pa.string()))
        if not self.is_plain:
            self._add_full_labels(cast("list[GoldLabel]", labels))

    def _add_full_labels(self, labels: list[GoldLabel]) -> None:
        """Add the fields that plain labels lack."""
        self._append("parent", _to_column([label.parent for label in labels], pa.int64()))
        self._append("optional", _to_column([label.optional for label in labels], pa.bool_()))
        self._append("desc", _to_column([label.desc for label in labels], pa.bool_()))
        self._append("coref", _to_column([label.coref for label in labels], pa.bool_()))
        self.children.extend([label.children for label in labels])
        self.categories.extend([label.categories for label in labels])

    def _append(self, name: str, array: Arrow) -> None:
        """Add an array, with the values of one block of articles, to the field `name`."""
        self.fields[name].append(array)

    def get_column(self, name: str) -> Arrow:
        """Return a field of all labels, such as `start`, as one array."""
        return pa.concat_arrays(self.fields[name])


def _to_integers(values: list[int]) -> Arrow:
    """Return a list of numbers as an Arrow array."""
    return pa.array(np.fromiter(values, np.int64, len(values)))


def _to_column(values: list[Any], data_type: Arrow) -> Arrow:
    """Convert values to a column of `data_type`; the case that all are the same object, such as None, is fast."""
    if values and values[0] is values[-1] and values.count(values[0]) == len(values):
        return pa.repeat(pa.scalar(values[0], data_type), len(values))
    return pa.array(values, data_type)


def _get_evaluation_spans(block: ArticleBlock) -> list[tuple[int, int] | None]:
    """Return the evaluation span of each article, or None if it states none or has no text."""
    spans = [article.evaluation_span for article in block.objects]
    if not any(spans):
        return [None] * len(spans)
    lengths = pc.binary_length(block.texts).to_pylist()
    return [(span.start, span.end) if span and length else None for span, length in zip(spans, lengths, strict=True)]


def _build_table(batch: _Batch, label: str, skipped: SkipCounter) -> Arrow:
    """Build the table of documents of a batch, in the columns of a corpus; `label` is the name of the file.

    Raise `InputError` for a missing text or a duplicate label id; count lost or changed data in `skipped`.
    """

    def get_location(row: int) -> str:
        return f"{label}:{batch.numbers[row]}"

    texts = pa.concat_arrays(batch.texts)
    if texts.null_count:
        row = pc.index(texts.is_null(), pa.scalar(True)).as_py()
        raise InputError(
            get_location(row), actual="no field `text`", expected="the text", remedy="Pass the benchmark file as gold"
        )
    offsets = np.cumsum([0, *batch.sizes], dtype=np.int64)
    labels = _build_labels(batch, offsets, get_location, skipped)
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
    """Masks of the labels that are coreferences, are explicitly none, are descriptive, or are optional."""

    coreference: Bools
    not_coreference: Bools
    descriptive: Bools
    optional: Bools


def _build_labels(batch: _Batch, offsets: Longs, get_location: Callable[[int], str], skipped: SkipCounter) -> Arrow:
    """Build the column of all labels; document `d` has the labels from `offsets[d]` up to `offsets[d + 1]`.

    `get_location` returns the location of a document, for error messages. Labels
    without entity id and descriptive coreference are kept and counted in `skipped`.
    """
    ids, start, end = (batch.get_column(name).to_numpy() for name in ("id", "start", "end"))
    _check_unique_ids(ids, offsets, get_location)
    trees = init_trees(ids, offsets, start, end)
    if not batch.is_plain:
        fill_trees(trees, batch.get_column("parent"), batch.children, ids, offsets, skipped)
    flags = _Flags(*np.zeros((4, batch.n_labels), np.bool_)) if batch.is_plain else _get_flags(batch)
    entity_ids = _drop_empty(batch.get_column("entity_id"))
    types, quantity, datetime = _split_types(batch.get_column("type"))
    is_unmapped = _to_mask(pc.equal(entity_ids, _NO_MAPPING))
    kinds = np.select([flags.coreference, flags.descriptive, quantity, datetime], [4, 3, 1, 2], 0)
    for description, mask in (
        (_NO_ENTITY_ID, _to_mask(entity_ids.is_null())),
        (_DESCRIPTIVE_COREFERENCE, flags.coreference & flags.descriptive),
    ):
        documents = np.searchsorted(offsets, np.flatnonzero(mask), side="right") - 1
        skipped.add_items(description, documents.tolist(), get_location)
    columns = {
        "start": pa.array(start.astype(np.int32)),
        "end": pa.array(end.astype(np.int32)),
        "entity": pc.if_else(pc.is_in(entity_ids, _NO_ENTITY), _NULL, entity_ids),
        "linked": entity_ids.is_valid(),
        "name": _drop_empty(batch.get_column("name")),
        "types": types,
        "categories": _build_categories(batch.categories, flags.not_coreference, is_unmapped, trees.marks),
        "kind": _KINDS.take(pa.array(kinds)),
        "optional": pa.array(flags.optional | flags.descriptive | quantity | datetime),
        "mention_id": _to_ids(trees.mention_id),
        "parent": _to_ids(trees.parent),
    }
    return pa.StructArray.from_arrays(list(columns.values()), list(columns))


def _drop_empty(strings: Arrow) -> Arrow:
    """Replace empty strings by null."""
    is_empty = pc.equal(strings, _EMPTY)
    return pc.if_else(is_empty, _NULL, strings) if pc.any(is_empty).as_py() else strings


def _get_flags(batch: _Batch) -> _Flags:
    """Return the masks of a batch of full labels; a missing value counts as false."""
    coreference, descriptive, optional = (batch.get_column(name) for name in ("coref", "desc", "optional"))
    return _Flags(_to_mask(coreference), _to_mask(pc.invert(coreference)), _to_mask(descriptive), _to_mask(optional))


def _to_mask(flags: Arrow) -> Bools:
    """Convert a boolean column to a mask, in which null is false."""
    return np.asarray(flags.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)


def _to_ids(numbers: Longs) -> Arrow:
    """Convert numbers to string ids; negative numbers become null."""
    if np.all(numbers < 0):  # as in most files
        return pa.nulls(len(numbers), pa.string())
    return pa.array(numbers, mask=numbers < 0).cast(pa.string())


def _split_types(joined_types: Arrow) -> tuple[Arrow, Bools, Bools]:
    """Split types that `|` joins into a list per label; also return the masks of quantities and of dates or times."""
    if joined_types.null_count == len(joined_types):
        no_rows = np.zeros(len(joined_types), np.bool_)
        return pa.nulls(len(joined_types), pa.list_(pa.string())), no_rows, no_rows
    encoded = joined_types.fill_null("").dictionary_encode()
    lists = [[kind for kind in joined.split("|") if kind] for joined in encoded.dictionary.to_pylist()]
    codes = encoded.indices.to_numpy()
    quantity, datetime = (np.array([kind in types for types in lists], np.bool_) for kind in ("QUANTITY", "DATETIME"))
    return pa.array(lists, pa.list_(pa.string())).take(encoded.indices), quantity[codes], datetime[codes]


def _build_categories(
    label_categories: Sequence[tuple[str, ...] | None],
    not_coreference: Bools,
    is_unmapped: Bools,
    marks: Mapping[int, tuple[str, ...]],
) -> Arrow:
    """Return the categories of each label: those that encode other fields, then its own; null if there are none.

    `marks` are the categories of rows that encode irregular parents (see `label_trees`).
    """
    combinations: list[tuple[str, ...]] = [(), (NOT_COREFERENCE,), (UNMAPPED,), (NOT_COREFERENCE, UNMAPPED)]
    codes = not_coreference.astype(np.int64) + 2 * is_unmapped
    by_row = (
        {row: categories for row, categories in enumerate(label_categories) if categories}
        if any(label_categories)
        else {}
    )
    for row in sorted(marks.keys() | by_row.keys()):
        combinations.append((*combinations[codes[row]], *marks.get(row, ()), *by_row.get(row, ())))
        codes[row] = len(combinations) - 1
    if not codes.any():
        return pa.nulls(len(codes), pa.list_(pa.string()))
    return pa.array(combinations, pa.list_(pa.string())).take(pa.array(codes))


def _check_unique_ids(ids: Longs, offsets: Longs, get_location: Callable[[int], str]) -> None:
    """Raise `InputError` if two labels of a document have the same id; document `d` begins at row `offsets[d]`."""
    document = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    keys = (document << 32) | ids
    if np.all(keys[1:] > keys[:-1]):
        return
    first_rows = np.unique(keys, return_index=True)[1]
    if len(first_rows) < len(ids):
        duplicate = int(np.setdiff1d(np.arange(len(ids)), first_rows)[0])
        raise InputError(
            get_location(int(document[duplicate])),
            actual=f"the duplicate label id {ids[duplicate]}",
            expected="distinct ids within a document",
            remedy="Number the labels of the document",
        )
