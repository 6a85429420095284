"""The mentions that a linker marked in ELEVANT's articles, as the columns of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.arrow import Arrow
from karat.model.run import Run
from karat.parsing.elevant_articles import NIL, NO_MAPPING, EntityMention, PlainArticle, articles
from karat.parsing.json_blocks import nothing
from karat.spec.format import Bytes

_UNMAPPED = "links without a mapping to Wikidata (<NO_MAPPING>, read as NIL)"
_UNLINKED = "mentions with an empty id (read as without link)"
_FURTHER = {
    "referenced_span": "spans of antecedents (referenced_span)",
    "contained": "flags `contained` of mentions",
}
_BY = ("recognized_by", "linked_by")
_MANY = 1_000  # documents


def read_run(source: Bytes, name: str) -> Run:
    """The answers of a linker.

    Who recognised and who linked the mentions is in `about` where it is the same for all, and else left out.
    """
    skipped: Counter[str] = Counter()
    tables: list[Arrow] = []
    numbers: list[int] = []
    by: dict[str, Counter[str | None]] = {field: Counter() for field in _BY}
    waiting: list[PlainArticle] = []
    for block in articles(source, skipped):
        waiting.extend(block.objects)
        numbers.extend(block.numbers)
        if len(waiting) > _MANY:
            tables.append(_table(waiting, by, skipped))
            waiting = []
    if not numbers:
        raise nothing(source)
    table = pa.concat_tables([*tables, _table(waiting, by, skipped)])
    about = {}
    for field, values in by.items():
        only = next(iter(values)) if len(values) == 1 else None
        if only is not None:
            about[field] = only
        else:
            skipped[f"fields `{field}` of mentions"] += sum(n for value, n in values.items() if value is not None)
    run = Run.checked(table, name=name, about=about, where=lambda row: f"{source.label}:{numbers[row]}")
    return replace(run, skipped={what: count for what, count in skipped.items() if count})


def _table(found: Sequence[PlainArticle], by: Mapping[str, Counter[str | None]], skipped: Counter[str]) -> Arrow:
    mentions = list(chain.from_iterable(article.entity_mentions or () for article in found))
    for field, values in by.items():
        values.update(map(attrgetter(field), mentions))
    for field, what in _FURTHER.items():
        skipped[what] += sum(bool(getattr(mention, field)) for mention in mentions)
    sizes = [len(article.entity_mentions or ()) for article in found]
    return pa.table(
        {
            "id": pa.array([str(article.id) for article in found], pa.string()),
            "answers": pa.ListArray.from_arrays(_offsets(sizes), _answers(mentions, skipped)),
        }
    )


def _offsets(sizes: Sequence[int]) -> Arrow:
    return pa.array(np.cumsum([0, *sizes], dtype=np.int32))


def _answers(mentions: Sequence[EntityMention], skipped: Counter[str]) -> Arrow:
    spans = [mention.span for mention in mentions]
    written = pa.array([mention.id or None for mention in mentions], pa.string())
    skipped[_UNLINKED] += sum(mention.id == "" for mention in mentions)
    skipped[_UNMAPPED] += pc.sum(pc.equal(written, NO_MAPPING)).as_py() or 0
    known = pc.invert(pc.is_in(written, pa.array([NIL, NO_MAPPING])))
    candidates = [mention.candidates or () for mention in mentions]
    entities = pa.array(list(chain.from_iterable(candidates)), pa.string())
    columns = {
        "start": pa.array([span.start for span in spans], pa.int32()),
        "end": pa.array([span.end for span in spans], pa.int32()),
        "entity": pc.if_else(known, written, pa.scalar(None, pa.string())),
        "linked": written.is_valid(),
        "candidates": pa.ListArray.from_arrays(
            _offsets([len(each) for each in candidates]), pa.StructArray.from_arrays([entities], ["entity"])
        ),
    }
    return pa.StructArray.from_arrays(list(columns.values()), list(columns))
