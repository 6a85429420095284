"""The mentions that a linker marked in ELEVANT's articles, as the columns of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.parsing.elevant.articles import (
    NIL,
    NO_MAPPING,
    UNMAPPED,
    AnyArticle,
    ArticleBlock,
    EntityMention,
    articles,
    names_of,
)
from karat.parsing.json.blocks import nothing
from karat.spec.format import Bytes

_UNMAPPED = "links without a mapping to Wikidata (<NO_MAPPING>, read as NIL)"
_UNLINKED = "mentions with an empty id (read as without link)"
_ANTECEDENTS = "spans of antecedents (referenced_span)"
_CONTAINED = "flags `contained` of mentions"
_NULL, _EMPTY, _NO_MAPPING = (pa.scalar(value, pa.string()) for value in (None, "", NO_MAPPING))
_MARKS = pa.array([None, (UNMAPPED,)], pa.list_(pa.string()))
_NO_ENTITY = pa.array([NIL, NO_MAPPING], pa.string())
_BY = ("recognized_by", "linked_by")
_FIELDS = ("start", "end", "id", "candidates")
_MANY = 20_000  # mentions and documents at a time


def read_run(source: Bytes) -> Run:
    """The answers of a linker.

    Who recognised and who linked the mentions is in `about` where it is the same for all, and else left out.
    """
    skipped: Counter[str] = Counter()
    found = ElevantAnswers(source)
    for block in articles(source, skipped):
        found.add(block)
    return found.run(names_of(source).linker, skipped)


@dataclass
class ElevantAnswers:
    """What a linker marked in a file, to be taken in block by block."""

    source: Bytes
    numbers: list[int] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    by: dict[str, Counter[str | None]] = field(default_factory=lambda: {name: Counter() for name in _BY})
    tables: list[Arrow] = field(default_factory=list)
    texts: list[Arrow] = field(default_factory=list)
    batch: _Batch = field(default_factory=lambda: _Batch())

    def add(self, block: ArticleBlock) -> None:
        """Take in the mentions of some articles."""
        if self.batch.mentions + len(self.batch.ids) > _MANY:
            self._finish()
        mentions = self.batch.add(block.objects)
        self.by["recognized_by"].update(_counted([mention.recognized_by for mention in mentions]))
        self.by["linked_by"].update(_counted([mention.linked_by for mention in mentions]))
        self.skipped[_ANTECEDENTS] += sum([mention.referenced_span is not None for mention in mentions])
        self.skipped[_CONTAINED] += sum([bool(mention.contained) for mention in mentions])
        self.texts.append(block.texts)
        self.numbers.extend(block.numbers)

    def run(self, name: str, skipped: Mapping[str, int]) -> Run:
        """All that was taken in, with the texts; `skipped` is what was left out before."""
        if not self.numbers:
            raise nothing(self.source)
        self._finish()
        about = {}
        for field_name, values in self.by.items():
            only = next(iter(values)) if len(values) == 1 else None
            if only is not None:
                about[field_name] = only
            else:
                self.skipped[f"fields `{field_name}` of mentions"] += values.total() - values[None]
        texts = pa.chunked_array(self.texts, pa.string())
        own = texts if texts.null_count < len(texts) else None
        run = Run.checked(pa.concat_tables(self.tables), name=name, about=about, where=self._where, texts=own)
        return replace(run, skipped=dict(Counter(skipped) + self.skipped))

    def _finish(self) -> None:
        """Make a table of what was taken in since the last one."""
        self.tables.append(_table(self.batch, self.skipped))
        self.batch = _Batch()

    def _where(self, row: int) -> str:
        return f"{self.source.label}:{self.numbers[row]}"


@dataclass
class _Batch:
    """What some documents and their mentions have in each field, in pieces: one for each block of articles."""

    ids: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    fields: dict[str, list[Arrow]] = field(default_factory=lambda: {name: [] for name in _FIELDS})
    mentions: int = 0

    def add(self, found: Sequence[AnyArticle]) -> Sequence[EntityMention]:
        """Take the articles apart, and give all their mentions."""
        marked = [article.entity_mentions or () for article in found]
        self.ids.extend([str(article.id) for article in found])
        self.sizes.extend(map(len, marked))
        mentions = list(chain.from_iterable(marked))
        self.mentions += len(mentions)
        spans = [mention.span for mention in mentions]
        self.fields["start"].append(_whole([span.start for span in spans]))
        self.fields["end"].append(_whole([span.end for span in spans]))
        self.fields["id"].append(pa.array([mention.id for mention in mentions], pa.string()))
        self.fields["candidates"].append(_candidates([mention.candidates for mention in mentions]))
        return mentions

    def column(self, name: str) -> Arrow:
        """A field of all mentions."""
        return pa.concat_arrays(self.fields[name])


def _counted(values: list[str | None]) -> Mapping[str | None, int]:
    """How often each value occurs; most often there is one."""
    same = values.count(values[0]) if values else 0
    return {values[0]: same} if same and same == len(values) else Counter(values)


def _table(batch: _Batch, skipped: Counter[str]) -> Arrow:
    answers = _answers(batch, skipped)
    return pa.table(
        {
            "id": pa.array(batch.ids, pa.string()),
            "answers": pa.ListArray.from_arrays(_offsets(batch.sizes), answers),
        }
    )


def _offsets(sizes: list[int]) -> Arrow:
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(np.fromiter(sizes, np.int32, len(sizes)), out=offsets[1:])
    return pa.array(offsets)


def _whole(values: list[int]) -> Arrow:
    return pa.array(np.fromiter(values, np.int32, len(values)))


def _answers(batch: _Batch, skipped: Counter[str]) -> Arrow:
    given = batch.column("id")
    empty, unmapped = (pc.equal(given, each).fill_null(False) for each in (_EMPTY, _NO_MAPPING))
    skipped[_UNLINKED] += empty.true_count
    skipped[_UNMAPPED] += unmapped.true_count
    written = pc.if_else(empty, _NULL, given) if empty.true_count else given
    columns = {
        "start": batch.column("start"),
        "end": batch.column("end"),
        "entity": pc.if_else(pc.is_in(written, _NO_ENTITY), _NULL, written),
        "linked": written.is_valid(),
        "candidates": batch.column("candidates"),
        "categories": _MARKS.take(unmapped.cast(pa.int8())),
    }
    return pa.StructArray.from_arrays(list(columns.values()), list(columns))


def _candidates(lists: Sequence[tuple[str, ...] | None]) -> Arrow:
    sizes = [len(each) if each else 0 for each in lists]
    entities = pa.array(list(chain.from_iterable(filter(None, lists))), pa.string())
    return pa.ListArray.from_arrays(_offsets(sizes), pa.StructArray.from_arrays([entities], ["entity"]))
