"""Corpora: documents with gold labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.caches.value_cache import ValueCache
from karat.model.counts.skip_counter import locate_positive
from karat.model.defects import get_defects
from karat.model.document import Document
from karat.model.errors import UnknownNameError, UsageError
from karat.model.output.text_layout import format_count
from karat.model.results.display import TableDisplay
from karat.model.tables import checks
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs, MentionIndex, Mentions, flatten_mentions, index_mentions
from karat.model.tables.digest import compute_digest, hash_strings
from karat.model.tables.rows import check_names, check_objects, from_row, to_table, validate_object
from karat.model.tables.schema import GOLD

_MIN_PARALLEL_BYTES = 1 << 20  # of a table; for less, a thread takes longer to start than it saves

TEXT_FACTS = ("length", "text_digest")
"""The columns that replace the text when texts are not loaded."""

STEPS_KEY = "steps"
"""The metadata key that lists the applied steps, separated by commas."""

NO_TEXT_NOTE = "documents without text (replaced by spaces)"
"""The key of `Corpus.skipped` for a source that has spans but no texts."""

NO_LABELS_NOTE = "warning: documents of a file that nowhere has the field `labels` (read as texts without labels)"
"""The key of `Corpus.skipped` for a source that has texts but no labels, not even empty lists."""

_DATA_PATTERN = re.compile(r"(?P<name>.*?)@(?P<digest>[0-9a-f]{8})(?: after (?P<steps>.+))?", re.DOTALL)


class DataName(NamedTuple):
    """The name of a corpus in a signature."""

    name: str
    """The name of the corpus."""
    digest: str
    """The digest of the content."""
    steps: str = ""
    """The applied steps, separated by commas."""

    @classmethod
    def parse(cls, text: str) -> DataName:
        """Parse the data part of a signature, such as `demo@1f3c9a02 after drop-nil`; never raise an error.

        In a text of another form, the part after the last `@` is the digest.
        """
        match = _DATA_PATTERN.fullmatch(text)
        return cls(*text.rpartition("@")[::2]) if match is None else cls(*match.groups(""))

    def __str__(self) -> str:
        return f"{self.name}@{self.digest}{f' after {self.steps}' * bool(self.steps)}"


@dataclass(frozen=True, eq=False)
class Corpus(TableDisplay, ValueCache):
    """Documents with gold labels, stored as columns; iterate for `Document` objects."""

    _page: ClassVar = "karat.render.mentions"

    table: Arrow = field(repr=False)
    """One row per document, in the canonical schema."""
    name: str
    """The name in reports and signatures."""
    metadata: Mapping[str, str]
    """The metadata of the source (title, language, licence, …)."""
    digest: str
    """Eight hexadecimal digits that depend on the content, but not on its order or file format."""
    labels: Mentions = field(repr=False)
    """All gold labels as columns."""
    skipped: Mapping[str, int] = field(default_factory=dict, repr=False)
    """Counts of what the reader skipped or repaired, by description; results name the first three locations of each."""
    tokens: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=dict, repr=False)
    """The start and end offsets of each document's tokens, if the source is a token table.

    Predictions in token tables refer to rows instead of offsets.
    """

    @property
    def is_unlabelled(self) -> bool:
        """Whether all documents are texts of files that have no field for labels."""
        return self.skipped.get(NO_LABELS_NOTE, 0) == len(self)

    @classmethod
    def from_documents(cls, documents: Iterable[Document], *, name: str = "corpus", **metadata: str) -> Corpus:
        """Create a corpus from `Document` objects, checked like a file; keyword arguments are its metadata.

        Raise `UsageError` for other objects, and `InputError` for the first invalid field, span, id or label.
        """
        check_names("corpus", name, *metadata.values())
        documents = check_objects(documents, Document)
        table = to_table(map(validate_object, documents), GOLD)
        return cls.from_table(table, name=name, metadata=metadata, locate_row=checks.locate_by_id(table))

    @classmethod
    def from_reader(
        cls,
        documents: Iterable[Document],
        *,
        name: str,
        metadata: Mapping[str, str] | None = None,
        skipped: Mapping[str, int] | None = None,
        locate_row: checks.RowLocator | None = None,
    ) -> Corpus:
        """Create a corpus from the documents that a file reader built, without checking the types of their fields.

        All other checks are those of `from_table`. `locate_row` returns the source location of a row for messages.
        `skipped` counts what the reader skipped or repaired, by description; zero counts are dropped.
        """
        table = to_table(documents, GOLD)
        locate_row = locate_row or checks.locate_by_id(table)
        corpus = cls.from_table(table, name=name, metadata=metadata or {}, locate_row=locate_row)
        return replace(corpus, skipped=locate_positive(skipped or {}, get_defects().label))

    @classmethod
    def from_table(
        cls, table: Arrow, *, name: str, metadata: Mapping[str, str], locate_row: checks.RowLocator
    ) -> Corpus:
        """Create a corpus from an Arrow table with the schema `GOLD`; raise `InputError` on the first defect.

        Under an error policy that skips, documents with defects are counted and dropped instead. The column `text` may
        be replaced by the columns `TEXT_FACTS`; see `compute_text_facts`.
        """
        checks.require_documents(table, name)
        text = "length" if "length" in table.column_names else "text"
        table = checks.rename_duplicate_ids(table)
        invalid_rows = checks.find_invalid_rows(checks.check_required(table, frozenset({"id", text})), locate_row)
        if invalid_rows:
            table, locate_row, _ = checks.drop_rows(table, locate_row, invalid_rows)
            return cls.from_table(table, name=name, metadata=metadata, locate_row=locate_row)
        if table.nbytes < _MIN_PARALLEL_BYTES:
            table = add_text_facts(table) if text == "text" else table
            labels = flatten_mentions(table.column("labels"))
        else:
            with ThreadPoolExecutor(max_workers=1) as pool:  # Arrow encodes the ids while Python looks at the texts
                flattened = pool.submit(flatten_mentions, table.column("labels"))
                table = add_text_facts(table) if text == "text" else table
                labels = flattened.result()
        identity_columns = table.drop_columns([column for column in ("text", "length") if column in table.column_names])
        corpus = cls(table, name, dict(metadata), compute_digest(identity_columns, "labels", labels), labels)
        invalid_rows = checks.find_invalid_rows(corpus._find_problems(), locate_row)
        if invalid_rows:
            table, locate_row, _ = checks.drop_rows(table, locate_row, invalid_rows)
            return cls.from_table(drop_text_facts(table), name=name, metadata=metadata, locate_row=locate_row)
        return corpus

    def _find_problems(self) -> Iterator[checks.Problem]:
        """Yield a problem for each defect of labels and evaluation spans."""
        labels, lengths = self.labels, self.lengths
        yield from checks.check_span_order(labels, "label")
        yield from checks.check_span_ends(labels, lengths, "label")
        if "evaluation_span" in self.table.column_names:
            yield from checks.check_evaluation_spans(self.table.column("evaluation_span"), lengths)
        yield from checks.check_entity_ids(labels)
        yield from checks.check_unlinked(labels)
        yield from checks.check_kinds(labels)
        yield from checks.check_duplicate_labels(labels)
        if labels.field("parent") is not None:
            yield from checks.check_parents(labels, self.mention_index)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[Document]:
        self._require_text()
        bare = self.table.drop_columns(list(TEXT_FACTS))
        for batch in bare.to_batches(max_chunksize=1024):
            for row in batch.to_pylist():
                yield from_row(row, Document)

    def __repr__(self) -> str:
        sizes = f"{format_count(len(self), 'document')}, {format_count(len(self.labels), 'label')}"
        return f"<Corpus {self.name}@{self.digest}: {sizes}>"

    def __getitem__(self, document: str) -> Document:
        if not isinstance(document, str):
            raise UsageError("the key is not a string. Use a document id, or iterate over the corpus.")
        row = pc.index(self.table.column("id"), pa.scalar(document, pa.string())).as_py()
        if row < 0:
            raise UnknownNameError("document", document, self.ids.to_pylist())
        self._require_text()
        bare = self.table.drop_columns(list(TEXT_FACTS))
        return from_row(bare.slice(row, 1).to_pylist()[0], Document)

    @property
    def ids(self) -> Arrow:
        """The document ids in order, as an Arrow array of strings."""
        return self.table.column("id").combine_chunks()

    @property
    def has_text(self) -> bool:
        """Whether the texts were loaded; scoring needs only their lengths."""
        return "text" in self.table.column_names

    def _require_text(self) -> None:
        """Raise `UsageError` if the texts were not loaded."""
        if not self.has_text:
            raise UsageError(f"{self.name} was loaded without texts. Load it again with text=True.")

    @cached_property
    def texts(self) -> list[str]:
        """The text of each document in order; raises `UsageError` if the texts were not loaded."""
        self._require_text()
        texts: list[str] = self.table.column("text").to_pylist()
        return texts

    @cached_property
    def lengths(self) -> Longs:
        """The length of each text in code points."""
        return np.asarray(self.table.column("length").to_numpy(), np.int64)

    @cached_property
    def mention_index(self) -> MentionIndex:
        """For each label: the mention that it is an alternative of, and the mention that it is a part of."""
        return index_mentions(self.labels)


def lookup_meta(table: Arrow, keys: Sequence[str], default: str | None = None) -> Arrow:
    """Return for each document the `meta` value of the first of `keys` that it has, else `default`.

    `table` has one row per document; the result is an Arrow array of strings, null where the value is None.
    """
    fallback = pa.scalar(default, pa.string())
    if "meta" not in table.column_names:
        return pa.array([default] * table.num_rows, pa.string())
    meta = table.column("meta").combine_chunks()
    return pc.coalesce(*(pc.map_lookup(meta, key, "first") for key in keys), fallback)


def drop_text_facts(table: Arrow) -> Arrow:
    """Return the table without the columns `TEXT_FACTS`.

    Unchanged if the table has no texts to recompute the columns.
    """
    columns = [name for name in TEXT_FACTS if name in table.column_names]
    return table.drop_columns(columns) if "text" in table.column_names else table


def compute_text_facts(texts: Arrow) -> tuple[Any, Any]:
    """Return two Arrow columns, the length in code points and a 64-bit hash of each text, which suffice for scoring.

    The two are the columns `TEXT_FACTS`.
    """
    fingerprints = [pa.array(hash_strings(chunk).view(np.int64)) for chunk in texts.chunks]
    return pc.utf8_length(texts), pa.chunked_array(fingerprints, pa.int64())


def add_text_facts(table: Arrow) -> Arrow:
    """Return the table with two more columns, the length and the hash of each text; see `compute_text_facts`."""
    for fact, column in zip(TEXT_FACTS, compute_text_facts(table.column("text")), strict=True):
        table = table.append_column(fact, column)
    return table
