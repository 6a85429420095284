"""A benchmark: documents with gold labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.display import Displayed
from karat.errors import UnknownNameError, UsageError
from karat.fitting import counted
from karat.model.document import Document
from karat.model.tables import check
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs, Mentions, Units, mentions, units
from karat.model.tables.digest import digest, string_hashes
from karat.model.tables.rows import from_row, objects, to_table, valid
from karat.model.tables.schema import GOLD

_T = TypeVar("_T")

TEXT_FACTS = ("length", "text_digest")


STEPS = "steps"
"""Where `about` names the steps that were taken, with commas between."""

WITHOUT_TEXT = "documents without text (blanks stand for it)"
"""What `skipped` says of a source that gives spans but no texts."""


_DATA = re.compile(r"(?P<name>.*?)@(?P<digest>[0-9a-f]{8})(?: after (?P<steps>.+))?", re.DOTALL)


class NamedData(NamedTuple):
    """A corpus as signatures name it: with its fingerprint, and the steps that were taken."""

    name: str
    digest: str
    steps: str = ""

    @classmethod
    def parse(cls, text: str) -> NamedData:
        """What a signature says; an unnamed corpus has no name."""
        found = _DATA.fullmatch(text)
        return cls(*text.rpartition("@")[::2]) if found is None else cls(*found.groups(""))

    def __str__(self) -> str:
        return f"{self.name}@{self.digest}{f' after {self.steps}' * bool(self.steps)}"


@dataclass(frozen=True, eq=False)
class Corpus(Displayed):
    """Documents with gold labels, held as columns; iterate for `Document` objects.

    `about` is what the source says about the whole (title, language, licence, …), as strings. `digest` is eight
    hexadecimal digits that change with the content, not with its order or file format; `labels` are all gold labels
    as columns. `skipped` counts, in words, what the reader left out or mended. `tokens` says where the tokens of each
    document begin and end, if the source is a table of tokens: answers in such tables stand on rows, not on offsets.
    """

    _page: ClassVar = "karat.pages.mentions"

    table: Arrow = field(repr=False)
    name: str
    about: Mapping[str, str]
    digest: str
    labels: Mentions = field(repr=False)
    skipped: Mapping[str, int] = field(default_factory=dict, repr=False)
    tokens: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, documents: Iterable[Document], *, name: str = "corpus", **about: str) -> Corpus:
        """A corpus of objects made in Python, checked as if it had been read from a file."""
        documents = objects(documents, Document)
        table = to_table(map(valid, documents), GOLD)
        ids = table.column("id")
        return cls.checked(table, name=name, about=about, where=lambda row: f"document {ids[row].as_py()!r}")

    @classmethod
    def built(
        cls,
        documents: Iterable[Document],
        *,
        name: str,
        about: Mapping[str, str] | None = None,
        skipped: Mapping[str, int] | None = None,
        where: check.Where | None = None,
    ) -> Corpus:
        """A corpus of objects that a reader made, whose fields are known to hold what their types say.

        `where` says where the document in a given row came from; `skipped` keeps only what occurs.
        """
        table = to_table(documents, GOLD)
        ids = table.column("id")
        found = where or (lambda row: f"document {ids[row].as_py()!r}")
        corpus = cls.checked(table, name=name, about=about or {}, where=found)
        return replace(corpus, skipped={what: count for what, count in (skipped or {}).items() if count})

    @classmethod
    def checked(cls, table: Arrow, *, name: str, about: Mapping[str, str], where: check.Where) -> Corpus:
        """A corpus over a table in the canonical schema, or an `InputError` about its first defect.

        The text column may have been replaced by `length` and `text_digest` (see `text_facts`).
        """
        check.some(table, name)
        text = "length" if "length" in table.column_names else "text"
        table = check.kept_apart(table)
        gone = check.unsound(check.begun(table, frozenset({"id", text})), where)
        if gone:
            table, where, _ = check.without(table, where, gone)
            return cls.checked(table, name=name, about=about, where=where)
        with ThreadPoolExecutor(max_workers=1) as pool:  # Arrow encodes the ids while Python looks at the texts
            flattened = pool.submit(mentions, table.column("labels"))
            if text == "text":
                table = with_text_facts(table)
            labels = flattened.result()
        identity = table.drop_columns([column for column in ("text", "length") if column in table.column_names])
        corpus = cls(table, name, dict(about), digest(identity, "labels", labels), labels)
        gone = check.unsound(corpus._problems(), where)
        if gone:
            table, where, _ = check.without(table, where, gone)
            return cls.checked(_without_facts(table), name=name, about=about, where=where)
        return corpus

    def _problems(self) -> Iterator[check.Problem]:
        labels, lengths = self.labels, self.lengths
        yield from check.forward(labels, "label")
        yield from check.inside(labels, lengths, "label")
        if "evaluation_span" in self.table.column_names:
            yield from check.evaluation_spans(self.table.column("evaluation_span"), lengths)
        yield from check.named(labels)
        yield from check.linked(labels)
        yield from check.kinds(labels)
        yield from check.labels_once(labels)
        if labels.field("parent") is not None:
            yield from check.families(labels, self.units)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[Document]:
        self._need_text()
        bare = self.table.drop_columns(list(TEXT_FACTS))
        for batch in bare.to_batches(max_chunksize=1024):
            for row in batch.to_pylist():
                yield from_row(row, Document)

    def __repr__(self) -> str:
        sizes = f"{counted(len(self), 'document')}, {counted(len(self.labels), 'label')}"
        return f"<Corpus {self.name}@{self.digest}: {sizes}>"

    def __getitem__(self, document: str) -> Document:
        if not isinstance(document, str):
            raise UsageError("documents are named by their id. Iterate, or give a string.")
        row = pc.index(self.table.column("id"), pa.scalar(document, pa.string())).as_py()
        if row < 0:
            raise UnknownNameError("document", document, self.ids.to_pylist())
        self._need_text()
        bare = self.table.drop_columns(list(TEXT_FACTS))
        return from_row(bare.slice(row, 1).to_pylist()[0], Document)

    @property
    def ids(self) -> Arrow:
        """The document ids in order, as Arrow strings."""
        return self.table.column("id").combine_chunks()

    @property
    def has_text(self) -> bool:
        """Whether the texts were kept; scoring alone needs only their lengths."""
        return "text" in self.table.column_names

    def _need_text(self) -> None:
        if not self.has_text:
            raise UsageError(f"{self.name} was loaded without its texts. Load it again with text=True.")

    @cached_property
    def texts(self) -> list[str]:
        """The texts in order; an error where they were not kept."""
        self._need_text()
        texts: list[str] = self.table.column("text").to_pylist()
        return texts

    @cached_property
    def lengths(self) -> Longs:
        """The length of each text in code points."""
        return np.asarray(self.table.column("length").to_numpy(), np.int64)

    @cached_property
    def noted(self) -> dict[str, Any]:
        """What upper layers found out about it and may ask for again, under names of their own; it does not travel."""
        return {}

    def once(self, name: str, find: Callable[[], _T]) -> _T:
        """What is found out about the corpus alone, which everybody may share; noted under a name."""
        if name not in self.noted:
            self.noted[name] = find()
        found: _T = self.noted[name]
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "noted"}

    @cached_property
    def units(self) -> Units:
        """Which labels are alternatives of one mention, and which are parts of another segmentation."""
        return units(self.labels)


def said_of(table: Arrow, keys: Sequence[str], whole: str | None = None) -> Arrow:
    """What the `meta` of each document say under the first of some keys that it has; else what is said of the whole."""
    known = pa.scalar(whole, pa.string())
    if "meta" not in table.column_names:
        return pa.array([whole] * table.num_rows, pa.string())
    meta = table.column("meta").combine_chunks()
    return pc.coalesce(*(pc.map_lookup(meta, key, "first") for key in keys), known)


def _without_facts(table: Arrow) -> Arrow:
    """The table without what is made anew from its texts."""
    made = [name for name in TEXT_FACTS if name in table.column_names]
    return table.drop_columns(made) if "text" in table.column_names else table


def text_facts(texts: Arrow) -> tuple[Any, Any]:
    """The length and the fingerprint of each text: all that scoring needs of them."""
    fingerprints = [pa.array(string_hashes(chunk).view(np.int64)) for chunk in texts.chunks]
    return pc.utf8_length(texts), pa.chunked_array(fingerprints, pa.int64())


def with_text_facts(table: Arrow) -> Arrow:
    """The table with the length and the fingerprint of each text."""
    for fact, column in zip(TEXT_FACTS, text_facts(table.column("text")), strict=True):
        table = table.append_column(fact, column)
    return table
