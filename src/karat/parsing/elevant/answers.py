"""The mentions that a linker marked in ELEVANT's articles, as the columns of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.parsing.elevant.articles import NIL, NO_MAPPING, UNMAPPED, PlainArticle, articles, names_of
from karat.parsing.json.blocks import JsonBlock, nothing
from karat.spec.format import Bytes

_UNMAPPED = "links without a mapping to Wikidata (<NO_MAPPING>, read as NIL)"
_UNLINKED = "mentions with an empty id (read as without link)"
_FURTHER = {
    "referenced_span": "spans of antecedents (referenced_span)",
    "contained": "flags `contained` of mentions",
}
_NULL, _EMPTY = pa.scalar(None, pa.string()), pa.scalar("", pa.string())
_NO_ENTITY = pa.array([NIL, NO_MAPPING], pa.string())
_BY = ("recognized_by", "linked_by")
_FIELDS = ("id", "candidates", *_BY, *_FURTHER)
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

    def add(self, block: JsonBlock[PlainArticle]) -> None:
        """Take in the mentions of some articles."""
        if len(self.batch.fields["start"]) + len(self.batch.ids) > _MANY:
            self._finish()
        self.batch.add(block.objects)
        self.texts.append(pa.array([article.text for article in block.objects], pa.string()))
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
        fields = self.batch.fields
        for name, values in self.by.items():
            values.update(_counted(fields[name]))
        for name, what in _FURTHER.items():
            self.skipped[what] += len(fields[name]) - fields[name].count(None) - fields[name].count(False)
        self.tables.append(_table(self.batch, self.skipped))
        self.batch = _Batch()

    def _where(self, row: int) -> str:
        return f"{self.source.label}:{self.numbers[row]}"


@dataclass
class _Batch:
    """What some documents and their mentions have in each field."""

    ids: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    fields: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in (*_FIELDS, "start", "end")})

    def add(self, found: Sequence[PlainArticle]) -> None:
        """Take the articles apart."""
        marked = [article.entity_mentions or () for article in found]
        self.ids.extend([str(article.id) for article in found])
        self.sizes.extend(map(len, marked))
        mentions = list(chain.from_iterable(marked))
        for name in _FIELDS:
            self.fields[name].extend(map(attrgetter(name), mentions))
        places = list(map(attrgetter("span"), mentions))
        self.fields["start"].extend(map(attrgetter("start"), places))
        self.fields["end"].extend(map(attrgetter("end"), places))


def _counted(values: list[str | None]) -> Mapping[str | None, int]:
    """How often each value occurs; most often there is one."""
    same = values.count(values[0]) if values else 0
    return {values[0]: same} if same and same == len(values) else Counter(values)


def _table(batch: _Batch, skipped: Counter[str]) -> Arrow:
    answers = _answers(batch.fields, skipped)
    return pa.table(
        {
            "id": pa.array(batch.ids, pa.string()),
            "answers": pa.ListArray.from_arrays(_offsets(batch.sizes), answers),
        }
    )


def _offsets(sizes: Sequence[int]) -> Arrow:
    return pa.array(np.cumsum([0, *sizes], dtype=np.int32))


def _answers(fields: Mapping[str, list[Any]], skipped: Counter[str]) -> Arrow:
    written = pa.array(fields["id"], pa.string())
    empty = fields["id"].count("")
    if empty:
        written = pc.if_else(pc.equal(written, _EMPTY), _NULL, written)
    skipped[_UNLINKED] += empty
    unmapped = fields["id"].count(NO_MAPPING)
    skipped[_UNMAPPED] += unmapped
    columns = {
        "start": pa.array(fields["start"], pa.int32()),
        "end": pa.array(fields["end"], pa.int32()),
        "entity": pc.if_else(pc.is_in(written, _NO_ENTITY), _NULL, written),
        "linked": written.is_valid(),
        "candidates": _candidates(fields["candidates"]),
    }
    marks = [(UNMAPPED,) if id == NO_MAPPING else None for id in fields["id"]] if unmapped else len(written) * [None]
    columns["categories"] = pa.array(marks, pa.list_(pa.string()))
    return pa.StructArray.from_arrays(list(columns.values()), list(columns))


def _candidates(lists: Sequence[tuple[str, ...] | None]) -> Arrow:
    sizes = [len(each) if each else 0 for each in lists]
    entities = pa.array(list(chain.from_iterable(filter(None, lists))), pa.string())
    return pa.ListArray.from_arrays(_offsets(sizes), pa.StructArray.from_arrays([entities], ["entity"]))
