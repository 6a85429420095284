"""From what was annotated to what a task compares: a harder problem's data as data of an easier one."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UsageError
from karat.matching.read.merging import merged
from karat.matching.read.reading import Reading, resolved
from karat.matching.read.whole import Whole
from karat.model.corpus import Corpus
from karat.model.document import Answer
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NO_LINK, Bools, Mentions, mentions
from karat.spec.choices.task import ALSO, TASKS, Source, Task

_CLASS = ("http://www.w3.org/2002/07/owl#Class", "http://www.w3.org/2000/01/rdf-schema#Class")
SEPARATOR = "\t"
"""Stands between subject, predicate and object where a statement is written as one id."""


def reduced(corpus: Corpus, run: Run, source: Source, how: Reading) -> tuple[Corpus, Run]:
    """Both sides with what is compared in place of their labels and answers.

    The parts of statements are resolved here, since afterwards they are one id. Of blocks of a corpus, one document
    with tags decides for all.
    """
    if source == "entities":
        gold_tags, answer_tags = _tagged(corpus, run, how.whole)
        if gold_tags:
            corpus = replace(corpus, labels=_tags(corpus.table))
        if answer_tags:
            run = replace(run, answers=_tags(run.table), repeated=0)
    elif source == "statements":
        corpus = replace(corpus, labels=_statements(corpus.table, how))
        run = replace(run, answers=_statements(run.table, how), repeated=0)
    elif source == "individuals":
        corpus = replace(corpus, labels=corpus.labels.where(~_is_class(corpus.labels)))
        run = replace(run, answers=run.answers.where(~_is_class(run.answers)))
    elif source == "classes":
        corpus = replace(corpus, labels=_merged(corpus.labels))
        run = replace(run, answers=_merged(run.answers), repeated=0)
    return corpus, run


def _tagged(corpus: Corpus, run: Run, whole: Whole | None) -> tuple[bool, bool]:
    """Whether tags are what is compared, on either side."""
    if whole is not None:
        return whole.gold_tags, whole.answer_tags
    return _length(corpus.table, "tags") > 0, _length(run.table, "tags") > 0


def _is_class(items: Mentions) -> Bools:
    """Which mentions stand for a class."""
    types = items.field("types")
    if types is None:
        return np.zeros(len(items), np.bool_)
    owner = np.repeat(np.arange(len(items)), types.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
    hit = pc.is_in(types.flatten(), pa.array(_CLASS)).to_numpy(zero_copy_only=False)
    return np.bincount(owner[hit], minlength=len(items)) > 0


def _merged(items: Mentions) -> Mentions:
    """The mentions of classes, those inside others merged into them."""
    classes = items.where(_is_class(items))
    rows = zip(classes.start.tolist(), classes.end.tolist(), classes.score().tolist(), strict=True)
    answers = [Answer(start, end, score=None if score != score else score) for start, end, score in rows]
    column = [merged(answers[low:high]) for low, high in pairwise(classes.offsets.tolist())]
    kind = pa.struct(
        [
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("entity", pa.string()),
            ("linked", pa.bool_()),
            ("score", pa.float64()),
        ]
    )
    spans = [[{"start": a.start, "end": a.end, "linked": False, "score": a.score} for a in kept] for kept in column]
    return mentions(pa.chunked_array([pa.array(spans, pa.list_(kind))]))


def left_out(corpus: Corpus, run: Run, sources: set[Source], whole: Whole | None = None) -> dict[str, int]:
    """Tags and relations that no task looked at, and mentions where tags took their place."""
    parts: dict[str, Source] = {"tags": "entities", "relations": "statements"}
    counts = {}
    if "entities" in sources:
        sides = (("gold labels", corpus.table, corpus.labels), ("answers", run.table, run.answers))
        for (side, table, items), tagged in zip(sides, _tagged(corpus, run, whole), strict=True):
            count = _beside_tags(table, items) if tagged else 0
            counts[f"{side} in documents without tags, where others have tags"] = count
    return counts | {
        f"{side} {column} not scored": _length(table, column)
        for column, source in parts.items()
        if source not in sources
        for side, table in (("gold", corpus.table), ("answer", run.table))
    }


class Census(NamedTuple):
    """What there is on one side, in numbers that add up over blocks."""

    mentions: int = 0
    bare: int = 0
    """Mentions without link."""
    typed: int = 0
    scored: int = 0
    tags: int = 0
    scored_tags: int = 0
    ranked_tags: int = 0
    statements: int = 0

    def plus(self, other: Census) -> Census:
        """What there is in both together."""
        return Census(*(one + two for one, two in zip(self, other, strict=True)))


def census(side: Corpus | Run) -> Census:
    """What there is in a corpus or a run."""
    return side.once("census", lambda: _census(side)) if isinstance(side, Corpus) else _census(side)


def _census(side: Corpus | Run) -> Census:
    items = side.labels if isinstance(side, Corpus) else side.answers
    tags = [chunk.flatten() for chunk in side.table.column("tags").chunks] if _length(side.table, "tags") else []
    types = items.field("types")
    return Census(
        mentions=len(items),
        bare=int((items.entity == NO_LINK).sum()),
        typed=0 if types is None else len(types) - types.null_count,
        scored=_given(items.values, "score"),
        tags=sum(map(len, tags)),
        scored_tags=sum(_given(each, "score") for each in tags),
        ranked_tags=sum(_given(each, "rank") for each in tags),
        statements=_length(side.table, "relations"),
    )


def _given(values: Arrow, name: str) -> int:
    """How many structures have a value in some field."""
    index = values.type.get_field_index(name)
    return 0 if index < 0 else len(values) - int(values.field(index).null_count)


def demand(name: str, corpus: Corpus, run: Run, *, asked: bool = True) -> None:
    """Raise `UsageError`, which says what is possible, if the data is not that of a task or a harder one.

    A task that nobody asked for is refused only where there is nothing of its kind at all.
    """
    demand_of(name, (corpus.name, census(corpus)), (run.name, census(run)), asked=asked)


def demand_of(name: str, corpus: tuple[str, Census], run: tuple[str, Census], *, asked: bool = True) -> None:
    """The same for what there is on both sides, each with its name."""
    lacking = _lacking(TASKS[name], corpus, run)
    if lacking is not None and (asked or lacking.wholly):
        bat = {known: also.capitalize().replace("2w", "2W") for also, known in ALSO.items() if also.endswith("2w")}
        simple = [known for known, task in TASKS.items() if not task.parts and not known.startswith("oke")]
        possible = [known for known in simple if _lacking(TASKS[known], corpus, run) is None]
        listed = ", ".join(f"{known} ({bat[known]})" if known in bat else known for known in possible)
        ask = f"Ask for one with --task {possible[0]} or another." if possible else ""
        raise UsageError(
            f"task {name} cannot be scored: {lacking.words}. Possible here: {listed or 'none'}. {ask}".strip()
        )


class _Lack(NamedTuple):
    """What is missing for a task; `wholly` if there is nothing of its kind at all."""

    words: str
    wholly: bool = False


def _lacking(task: Task, corpus: tuple[str, Census], run: tuple[str, Census]) -> _Lack | None:
    """What is missing for a task; nothing is, where a side is empty."""
    if task.parts:  # what serves one part need not serve the others
        lacking = [_lacking(TASKS[part.task], corpus, run) for part in task.parts]
        return None if None in lacking else lacking[0]
    for what, (name, there) in (("the gold standard", corpus), ("the run", run)):
        mentions, tags, statements = there.mentions, there.tags, there.statements
        if task.source not in ("entities", "statements") and not mentions and (tags or statements):
            return _Lack(f"{what} ({name}) has {'tags' if tags else 'relations'} but no mentions", wholly=True)
        if task.needs == "links" and not (task.source == "entities" and tags):
            if mentions and there.bare == mentions:
                return _Lack(f"{what} ({name}) has mentions without links")
            if not mentions and statements:
                return _Lack(f"{what} ({name}) has relations but no entities", wholly=True)
        if task.needs == "types" and mentions and not there.typed:
            return _Lack(f"{what} ({name}) has mentions without types")
        if task.needs == "statements" and not statements and (mentions or tags):
            return _Lack(f"{what} ({name}) has no relations")
    if task.scored or task.ranked:
        name, there = run
        by_tags = task.source == "entities" and there.tags > 0
        ranks = there.ranked_tags if by_tags and task.ranked else 0
        if (by_tags or there.mentions) and not (there.scored_tags if by_tags else there.scored) and not ranks:
            return _Lack(f"the answers ({name}) have no scores{' or ranks' * task.ranked}")
    return None


def _beside_tags(table: Arrow, items: Mentions) -> int:
    """Mentions of documents without tags."""
    column = table.column("tags").combine_chunks()
    bare = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False) == 0
    return int(np.diff(items.offsets)[bare].sum())


def _tags(table: Arrow) -> Mentions:
    """Tags as mentions without a place."""
    return mentions(pa.chunked_array([_placed(chunk) for chunk in table.column("tags").chunks]))


def _placed(lists: Arrow) -> Arrow:
    """A list of structures with an entity, as such a list of mentions at no place."""
    values = lists.flatten()
    names = [values.type.field(i).name for i in range(values.type.num_fields)]
    nowhere = pa.array(np.zeros(len(values), np.int32))
    columns = [nowhere, nowhere, *(values.field(name) for name in names)]
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(columns, ["start", "end", *names]))


def _statements(table: Arrow, how: Reading) -> Mentions:
    """Statements as entities: every way to write subject, predicate and object is one of its ids.

    Two statements share such an id exactly if their subjects, predicates and objects share one each.
    """
    rows = table.column("relations").to_pylist() if "relations" in table.column_names else [None] * table.num_rows
    column = [
        [
            {"entity": ids[0], "same_as": ids[1:], "score": row.get("score")}
            for row in statements or ()
            for ids in [[SEPARATOR.join(parts) for parts in product(*_parts(row, how))]]
        ]
        for statements in rows
    ]
    kind = pa.struct([("entity", pa.string()), ("same_as", pa.list_(pa.string())), ("score", pa.float64())])
    return mentions(pa.chunked_array([_placed(pa.array(column, pa.list_(kind)))]))


def _parts(row: dict[str, object], how: Reading) -> list[list[str]]:
    found = []
    for part in ("subject", "predicate", "object"):
        more = row.get(f"{part}_same_as")
        ids = [str(row[part]), *(more if isinstance(more, list) else ())]
        found.append(resolved(ids, how) if how.renames else ids)
    return found


def _length(table: Arrow, name: str) -> int:
    if name not in table.column_names or (column := table.column(name)).null_count == len(column):
        return 0
    return sum(len(chunk.flatten()) for chunk in column.chunks)
