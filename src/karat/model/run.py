"""What one system answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, pairwise

from karat.model.corpus import Corpus
from karat.model.document import Answer, Document, Reply
from karat.model.tables import check
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Mentions, mentions
from karat.model.tables.digest import digest
from karat.model.tables.rows import from_row, objects, to_table, valid
from karat.model.tables.schema import ANSWERS

CHOSEN_ON = "chosen_on"
"""Where a manifest names the datasets, with commas between, on which the system was chosen among its variants."""


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
class Run:
    """One system's answers, held as columns; iterate for `Reply` objects.

    `about` is the manifest: system, version, options, corpus, times, as strings. `digest` is eight hexadecimal
    digits that change with the content, not with its order or file format; `answers` are all answers as columns,
    of which `repeated` say again what another says.
    `where` says where the reply in a given row came from, for errors that show only beside the corpus; `skipped`
    counts, in words, what the reader left out or mended.
    """

    table: Arrow = field(repr=False)
    name: str
    about: Mapping[str, str]
    digest: str
    answers: Mentions = field(repr=False)
    repeated: int
    where: check.Where = field(repr=False)
    skipped: Mapping[str, int] = field(default_factory=dict, repr=False)

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
    ) -> Run:
        """A run of objects that a reader made, whose fields are known to hold what their types say.

        `where` says where the reply in a given row came from; `skipped` keeps only what occurs.
        """
        table = to_table(replies, ANSWERS)
        run = cls.checked(table, name=name, about=about or {}, where=where or _by_name(table))
        return replace(run, skipped={what: count for what, count in (skipped or {}).items() if count})

    @classmethod
    def of_gold(cls, corpus: Corpus, *, name: str = "gold") -> Run:
        """The gold standard as if a system had answered it: per mention the alternative that stands for it.

        Mentions that are parts of another segmentation are not answered, their root is.
        """
        chosen, offsets = corpus.units.mentions.tolist(), pairwise(corpus.labels.offsets.tolist())
        replies = (_answered(document, chosen[low:high]) for document, (low, high) in zip(corpus, offsets, strict=True))
        return replace(cls.of(replies, name=name, answers="labels"), skipped=corpus.skipped)

    @classmethod
    def checked(cls, table: Arrow, *, name: str, about: Mapping[str, str], where: check.Where) -> Run:
        """A run over a table in the canonical schema, or an `InputError` about its first defect."""
        check.some(table, name)
        check.refuse(check.complete(table, frozenset({"id"})), where)
        check.refuse(check.identified(table.column("id")), where)
        answers = mentions(table.column("answers"))
        run = cls(
            table, name, dict(about), digest(table, "answers", answers), answers, len(check.repeated(answers)), where
        )
        check.refuse(check.forward(run.answers, "answer"), where)
        check.refuse(check.named(run.answers), where)
        check.refuse(check.linked(run.answers), where)
        check.refuse(check.scores(table, "answers"), where)
        return run

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"<Run {self.name}@{self.digest}: {len(self)} replies, {len(self.answers)} answers>"

    def __iter__(self) -> Iterator[Reply]:
        for batch in self.table.to_batches(max_chunksize=1024):
            for row in batch.to_pylist():
                yield from_row(row, Reply)

    @property
    def ids(self) -> Arrow:
        """The ids of the answered documents in order, as Arrow strings."""
        return self.table.column("id").combine_chunks()


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
