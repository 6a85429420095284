"""What one system answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, pairwise
from typing import ClassVar

import pyarrow as pa

from karat.display import Displayed
from karat.fitting import counted
from karat.model.corpus import WITHOUT_TEXT, Corpus
from karat.model.document import Answer, Document, Reply
from karat.model.tables import check
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Mentions, mentions
from karat.model.tables.digest import digest
from karat.model.tables.rows import from_row, objects, to_table, valid
from karat.model.tables.schema import ANSWERS

CHOSEN_ON = "chosen_on"
"""Where a manifest names the datasets, with commas between, on which the system was chosen among its variants."""


VOCABULARY = "vocabulary"
"""Where a manifest names the entities that the system can answer with: a file of ids beside its own, or a pack."""


def chosen_on(about: Mapping[str, str], corpus: str) -> bool:
    """Whether a manifest says that the system was chosen on a corpus, whichever version or split of it is meant."""
    named = {name.strip() for name in about.get(CHOSEN_ON, "").split(",")} - {""}
    return bool({corpus, corpus.partition("@")[0]} & named)


def chosen_note(run: str, corpus: str) -> str:
    """What to say of a system that was chosen on the very data that is scored."""
    return f"{run}: oracle, of several variants it is the one that was chosen on {corpus}"


def _by_name(table: Arrow) -> check.Where:
    return lambda row: f"document {table.column('id')[row].as_py()!r}"


@dataclass(frozen=True, eq=False)
class Run(Displayed):
    """One system's answers, held as columns; iterate for `Reply` objects.

    `about` is the manifest: system, version, options, corpus, times, as strings. `digest` is eight hexadecimal
    digits that change with the content, not with its order or file format; `answers` are all answers as columns,
    of which `repeated` say again what another says.
    `where` says where the reply in a given row came from, for errors that show only beside the corpus; `skipped`
    counts, in words, what the reader left out or mended. `texts` are the texts that the file of answers itself carries,
    null where it has none: `karat.matching.read.texts` lays them beside those of the gold standard, and then they go.
    `file` is what the run was read from: what its manifest names lies beside it, and nowhere else.
    """

    _page: ClassVar = "karat.pages.mentions"

    table: Arrow = field(repr=False)
    name: str
    about: Mapping[str, str]
    digest: str
    answers: Mentions = field(repr=False)
    repeated: int
    where: check.Where = field(repr=False)
    skipped: Mapping[str, int] = field(default_factory=dict, repr=False)
    texts: Arrow | None = field(default=None, repr=False)
    file: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, replies: Iterable[Reply], *, name: str = "run", **about: str) -> Run:
        """A run of objects made in Python, checked as if it had been read from a file."""
        replies = objects(replies, Reply)
        table = to_table(map(valid, replies), ANSWERS)
        return cls.checked(table, name=name, about=about, where=_by_name(table))

    @classmethod
    def built(
        cls,
        replies: Iterable[Reply],
        *,
        name: str,
        about: Mapping[str, str] | None = None,
        skipped: Mapping[str, int] | None = None,
        where: check.Where | None = None,
        texts: Sequence[str | None] = (),
    ) -> Run:
        """A run of objects that a reader made, whose fields are known to hold what their types say.

        `where` says where the reply in a given row came from; `skipped` keeps only what occurs; `texts` has a text
        for each reply, or nothing where the file carries none.
        """
        table = to_table(replies, ANSWERS)
        own = text_column(texts)
        run = cls.checked(table, name=name, about=about or {}, where=where or _by_name(table), texts=own)
        return replace(run, skipped={what: count for what, count in (skipped or {}).items() if count})

    @classmethod
    def of_gold(cls, corpus: Corpus, *, name: str = "gold") -> Run:
        """The gold standard as if a system had answered it: per mention the alternative that stands for it.

        Mentions that are parts of another segmentation are not answered, their root is.
        """
        chosen, offsets = corpus.units.mentions.tolist(), pairwise(corpus.labels.offsets.tolist())
        replies = (_answered(document, chosen[low:high]) for document, (low, high) in zip(corpus, offsets, strict=True))
        texts = None if corpus.skipped.get(WITHOUT_TEXT) else corpus.table.column("text")
        return replace(cls.of(replies, name=name, answers="labels"), skipped=corpus.skipped, texts=texts)

    @classmethod
    def checked(
        cls, table: Arrow, *, name: str, about: Mapping[str, str], where: check.Where, texts: Arrow | None = None
    ) -> Run:
        """A run over a table in the canonical schema, or an `InputError` about its first defect."""
        check.some(table, name)
        table = check.kept_apart(table)
        gone = check.unsound(check.begun(table, frozenset({"id"})), where)
        if gone:
            table, where, rows = check.without(table, where, gone)
            texts = None if texts is None else texts.take(rows)
            return cls.checked(table, name=name, about=about, where=where, texts=texts)
        answers = mentions(table.column("answers"))
        again, content = len(check.repeated(answers)), digest(table, "answers", answers)
        run = cls(table, name, dict(about), content, answers, again, where, texts=texts)
        return run.without(check.unsound(run._problems(), where))

    def without(self, gone: frozenset[int]) -> Run:
        """The run without the replies in some rows; without any left there is an error."""
        if not gone:
            return self
        table, where, rows = check.without(self.table, self.where, gone)
        texts = None if self.texts is None else self.texts.take(rows)
        made = Run.checked(table, name=self.name, about=self.about, where=where, texts=texts)
        return replace(made, skipped=self.skipped, file=self.file)

    def _problems(self) -> Iterator[check.Problem]:
        yield from check.forward(self.answers, "answer")
        yield from check.named(self.answers)
        yield from check.linked(self.answers)
        yield from check.scores(self.table, "answers")

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        sizes = f"{counted(len(self), 'reply', 'replies')}, {counted(len(self.answers), 'answer')}"
        return f"<Run {self.name}@{self.digest}: {sizes}>"

    def __iter__(self) -> Iterator[Reply]:
        for batch in self.table.to_batches(max_chunksize=1024):
            for row in batch.to_pylist():
                yield from_row(row, Reply)

    @property
    def ids(self) -> Arrow:
        """The ids of the answered documents in order, as Arrow strings."""
        return self.table.column("id").combine_chunks()


def text_column(texts: Iterable[str | None]) -> Arrow | None:
    """The texts that a file of answers carries, None where it has none at all."""
    found = list(texts)
    return pa.chunked_array([pa.array(found, pa.string())]) if any(text is not None for text in found) else None


def _answered(document: Document, chosen: Sequence[bool]) -> Reply:
    answers = tuple(
        Answer(
            label.start,
            label.end,
            label.entity,
            same_as=label.same_as,
            types=label.types,
            nil_cluster=label.nil_cluster,
        )
        for label in compress(document.labels, chosen)
    )
    return Reply(document.id, answers, tags=document.tags, relations=document.relations)
