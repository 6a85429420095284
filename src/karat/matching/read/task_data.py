"""The data that a task compares, derived from annotations of a harder task, and checks that there is such data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise, product
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.matching.read.invented_mentions import mask_invented
from karat.matching.read.read_options import CorpusContext, ReadOptions, canonical_ids
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Prediction
from karat.model.errors import UsageError
from karat.model.output.command_options import format_setting
from karat.model.run import Run
from karat.model.spec.settings.task import TASK_ALIASES, TASKS, Task, TaskSource
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NO_LINK, Bools, Mentions, flatten_mentions

_CLASS = ("http://www.w3.org/2002/07/owl#Class", "http://www.w3.org/2000/01/rdf-schema#Class")
SEPARATOR = "\t"
"""Separator of subject, predicate and object in a triple that is written as one id."""


def select_task_data(corpus: Corpus, run: Run, source: TaskSource, options: ReadOptions) -> tuple[Corpus, Run]:
    """Return corpus and run with the annotations of one kind (`source`), such as tags, as labels and predictions.

    Triples are resolved here, since they are a single id afterwards. If one document of the whole data has tags, tags
    are compared in all documents.
    """
    if source == "entities":
        run = replace(run, predictions=run.predictions.select(~mask_invented(run.predictions.start)))
        gold_tags, prediction_tags = _find_tag_use(corpus, run, options.context)
        if gold_tags:
            corpus = replace(corpus, labels=_tags_as_mentions(corpus.table))
        if prediction_tags:
            run = replace(run, predictions=_tags_as_mentions(run.table), n_duplicates=0)
    elif source == "triples":
        corpus = replace(corpus, labels=_triples_as_mentions(corpus.table, options))
        run = replace(run, predictions=_triples_as_mentions(run.table, options), n_duplicates=0)
    elif source == "individuals":
        corpus = replace(corpus, labels=corpus.labels.select(~_mask_classes(corpus.labels)))
        run = replace(run, predictions=run.predictions.select(~_mask_classes(run.predictions)))
    elif source == "classes":
        corpus = replace(corpus, labels=_merge_classes(corpus.labels))
        run = replace(run, predictions=_merge_classes(run.predictions), n_duplicates=0)
    return corpus, run


def _find_tag_use(corpus: Corpus, run: Run, context: CorpusContext | None) -> tuple[bool, bool]:
    """Return whether any document of the whole gold standard has tags, and whether any response has."""
    if context is not None:
        return context.has_gold_tags, context.has_prediction_tags
    return _count_values(corpus.table, "tags") > 0, _count_values(run.table, "tags") > 0


def _mask_classes(items: Mentions) -> Bools:
    """Return the mask of mentions with the type `owl:Class` or `rdfs:Class`."""
    types = items.field("types")
    if types is None:
        return np.zeros(len(items), np.bool_)
    owner = np.repeat(np.arange(len(items)), types.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
    is_class = pc.is_in(types.flatten(), pa.array(_CLASS)).to_numpy(zero_copy_only=False)
    return np.bincount(owner[is_class], minlength=len(items)) > 0


def _merge_classes(items: Mentions) -> Mentions:
    """Return only the mentions of classes (types `owl:Class` or `rdfs:Class`), as unlinked spans.

    Spans inside other spans are merged into the outer spans.
    """
    classes = items.select(_mask_classes(items))
    rows = zip(classes.start.tolist(), classes.end.tolist(), classes.score().tolist(), strict=True)
    predictions = [Prediction(start, end, score=None if score != score else score) for start, end, score in rows]
    column = [merge_nested(predictions[low:high]) for low, high in pairwise(classes.offsets.tolist())]
    kind = pa.struct(
        [
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("entity", pa.string()),
            ("linked", pa.bool_()),
            ("score", pa.float64()),
        ]
    )
    spans = [
        [{"start": span.start, "end": span.end, "linked": False, "score": span.score} for span in merged]
        for merged in column
    ]
    return flatten_mentions(pa.chunked_array([pa.array(spans, pa.list_(kind))]))


def count_unscored(
    corpus: Corpus, run: Run, sources: set[TaskSource], context: CorpusContext | None = None
) -> dict[str, int]:
    """Count tags and relations that no task scores, and mentions that are ignored because other documents have tags.

    `sources` are the kinds of items that are scored. Counts are by description, and may be 0.
    """
    sources_by_column: dict[str, TaskSource] = {"tags": "entities", "relations": "triples"}
    counts = {}
    if "entities" in sources:
        sides = (("gold labels", corpus.table, corpus.labels), ("predictions", run.table, run.predictions))
        for (side, table, items), is_tagged in zip(sides, _find_tag_use(corpus, run, context), strict=True):
            count = _count_untagged_mentions(table, items) if is_tagged else 0
            counts[f"{side} in documents without tags, where others have tags"] = count
    return counts | {
        f"{side} {column} not scored": _count_values(table, column)
        for column, source in sources_by_column.items()
        if source not in sources
        for side, table in (("gold", corpus.table), ("prediction", run.table))
    }


class DataCounts(NamedTuple):
    """Numbers of annotations of one side, which add up over blocks."""

    mentions: int = 0
    """All mentions."""
    unlinked_mentions: int = 0
    """Mentions without link."""
    typed_mentions: int = 0
    """Mentions with a list of types."""
    scored_mentions: int = 0
    """Mentions with a confidence score."""
    tags: int = 0
    """Document-level entities."""
    scored_tags: int = 0
    """Document-level entities with a confidence score."""
    ranked_tags: int = 0
    """Document-level entities with a rank."""
    triples: int = 0
    """Relation triples."""

    def merge(self, other: DataCounts) -> DataCounts:
        """Return the sum of both counts, number by number."""
        return DataCounts(*(left + right for left, right in zip(self, other, strict=True)))


def count_data(side: Corpus | Run) -> DataCounts:
    """Count the annotations of a corpus or run; cached for a corpus."""
    return side.get_or_compute("census", lambda: _count_data(side)) if isinstance(side, Corpus) else _count_data(side)


def _count_data(side: Corpus | Run) -> DataCounts:
    """Count the annotations without the cache."""
    items = side.labels if isinstance(side, Corpus) else side.predictions
    tags = [chunk.flatten() for chunk in side.table.column("tags").chunks] if _count_values(side.table, "tags") else []
    types = items.field("types")
    return DataCounts(
        mentions=len(items),
        unlinked_mentions=int((items.entity == NO_LINK).sum()),
        typed_mentions=0 if types is None else len(types) - types.null_count,
        scored_mentions=_count_non_null(items.values, "score"),
        tags=sum(map(len, tags)),
        scored_tags=sum(_count_non_null(chunk_values, "score") for chunk_values in tags),
        ranked_tags=sum(_count_non_null(chunk_values, "rank") for chunk_values in tags),
        triples=_count_values(side.table, "relations"),
    )


def _count_non_null(values: Arrow, name: str) -> int:
    """Return how many structs in an Arrow array have a value in the field `name`; 0 if there is no such field."""
    index = values.type.get_field_index(name)
    return 0 if index < 0 else len(values) - int(values.field(index).null_count)


def check_task_data(task: str, corpus: Corpus, run: Run, *, is_requested: bool = True) -> None:
    """Raise `UsageError`, listing the possible tasks, if the data lacks what `task` needs.

    A task that the user did not request is refused only if the data has no annotations of its kind at all.
    """
    check_task_counts(task, (corpus.name, count_data(corpus)), (run.name, count_data(run)), is_requested=is_requested)


def check_task_counts(
    task: str, corpus: tuple[str, DataCounts], run: tuple[str, DataCounts], *, is_requested: bool = True
) -> None:
    """Check the data of `task` like `check_task_data`, from the name and the counts of each side."""
    missing = _find_missing_data(TASKS[task], corpus, run)
    if missing is not None and (is_requested or missing.is_total):
        bat_names = {
            name: alias.capitalize().replace("2w", "2W") for alias, name in TASK_ALIASES.items() if alias.endswith("2w")
        }
        simple = [name for name, spec in TASKS.items() if not spec.parts and not name.startswith("oke")]
        possible = [name for name in simple if _find_missing_data(TASKS[name], corpus, run) is None]
        listed = ", ".join(f"{name} ({bat_names[name]})" if name in bat_names else name for name in possible)
        advice = f"Choose one, for example {format_setting('task', possible[0])}." if possible else ""
        raise UsageError(
            f"task {task} cannot be scored: {missing.description}. Possible tasks: {listed or 'none'}. {advice}".strip()
        )


class _MissingData(NamedTuple):
    """Description of the data that a task lacks."""

    description: str
    is_total: bool = False
    """Whether there are no annotations of the task's kind at all."""


def _find_missing_data(task: Task, corpus: tuple[str, DataCounts], run: tuple[str, DataCounts]) -> _MissingData | None:
    """Return a description of the data that `task` lacks on one side, or None; an empty side lacks nothing."""
    if task.parts:  # data for one part of the task is enough
        missing = [_find_missing_data(TASKS[part.task], corpus, run) for part in task.parts]
        return None if None in missing else missing[0]
    for side, (name, counts) in (("the gold standard", corpus), ("the run", run)):
        mentions, tags, statements = counts.mentions, counts.tags, counts.triples
        if task.source not in ("entities", "triples") and not mentions and (tags or statements):
            return _MissingData(f"{side} ({name}) has {'tags' if tags else 'relations'} but no mentions", is_total=True)
        if task.required_data == "links" and not (task.source == "entities" and tags):
            if mentions and counts.unlinked_mentions == mentions:
                return _MissingData(f"{side} ({name}) has mentions without links")
            if not mentions and statements:
                return _MissingData(f"{side} ({name}) has relations but no entities", is_total=True)
        if task.required_data == "types" and mentions and not counts.typed_mentions:
            return _MissingData(f"{side} ({name}) has mentions without types")
        if task.required_data == "triples" and not statements and (mentions or tags):
            return _MissingData(f"{side} ({name}) has no relations")
    if task.needs_scores or task.needs_ranking:
        name, counts = run
        by_tags = task.source == "entities" and counts.tags > 0
        ranks = counts.ranked_tags if by_tags and task.needs_ranking else 0
        if (
            (by_tags or counts.mentions)
            and not (counts.scored_tags if by_tags else counts.scored_mentions)
            and not ranks
        ):
            return _MissingData(f"the predictions ({name}) have no scores{' or ranks' * task.needs_ranking}")
    return None


def _count_untagged_mentions(table: Arrow, items: Mentions) -> int:
    """Count the mentions (`items`) of documents without tags in `table`."""
    column = table.column("tags").combine_chunks()
    has_no_tags = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False) == 0
    return int(np.diff(items.offsets)[has_no_tags].sum())


def _tags_as_mentions(table: Arrow) -> Mentions:
    """Return the document-level tags of all documents as mentions with start and end 0."""
    return flatten_mentions(pa.chunked_array([_add_empty_spans(chunk) for chunk in table.column("tags").chunks]))


def _add_empty_spans(lists: Arrow) -> Arrow:
    """Return an Arrow array of lists of structs with the fields `start` and `end`, both 0, added to each struct."""
    values = lists.flatten()
    names = [values.type.field(i).name for i in range(values.type.num_fields)]
    zeros = pa.array(np.zeros(len(values), np.int32))
    columns = [zeros, zeros, *(values.field(name) for name in names)]
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(columns, ["start", "end", *names]))


def _triples_as_mentions(table: Arrow, options: ReadOptions) -> Mentions:
    """Return triples as mentions with start and end 0, in which each combination of their parts' ids is one id.

    Two triples share such an id exactly if their subjects, predicates and objects share an id each.
    """
    rows = table.column("relations").to_pylist() if "relations" in table.column_names else [None] * table.num_rows
    column = [
        [
            {"entity": ids[0], "same_as": ids[1:], "score": row.get("score")}
            for row in triples or ()
            for ids in [[SEPARATOR.join(parts) for parts in product(*_triple_ids(row, options))]]
        ]
        for triples in rows
    ]
    kind = pa.struct([("entity", pa.string()), ("same_as", pa.list_(pa.string())), ("score", pa.float64())])
    return flatten_mentions(pa.chunked_array([_add_empty_spans(pa.array(column, pa.list_(kind)))]))


def _triple_ids(row: dict[str, object], options: ReadOptions) -> list[list[str]]:
    """Return the ids of the subject, the predicate and the object of a triple, resolved as `options` tell."""
    ids_by_part = []
    for part in ("subject", "predicate", "object"):
        same_as = row.get(f"{part}_same_as")
        ids = [str(row[part]), *(same_as if isinstance(same_as, list) else ())]
        ids_by_part.append(canonical_ids(ids, options) if options.changes_codes else ids)
    return ids_by_part


def _count_values(table: Arrow, name: str) -> int:
    """Return the number of list items in the column `name`; 0 if there is no such column."""
    if name not in table.column_names or (column := table.column(name)).null_count == len(column):
        return 0
    return sum(len(chunk.flatten()) for chunk in column.chunks)


def merge_nested(predictions: Iterable[Prediction]) -> tuple[Prediction, ...]:
    """Merge every prediction of a document into the longest one around it and unite their ids and types.

    Of several equally long outer predictions the last one is used, and of equal spans the last one takes in the others.
    """
    spans = list(predictions)
    outer_spans: dict[int, Prediction] = {}
    for index in sorted(range(len(spans)), key=lambda index: (spans[index].start - spans[index].end, -index)):
        inner = spans[index]
        outer = next(
            (i for i, span in outer_spans.items() if span.start <= inner.start and inner.end <= span.end), None
        )
        if outer is None:
            outer_spans[index] = inner
        else:
            outer_spans[outer] = _unite(outer_spans[outer], inner)
    return tuple(outer_spans[index] for index in sorted(outer_spans))


def _unite(outer: Prediction, inner: Prediction) -> Prediction:
    """Return `outer` with the ids and types of both predictions, the ids of `outer` first."""
    ids = dict.fromkeys(
        entity
        for prediction in (outer, inner)
        for entity in (prediction.entity, *prediction.same_as)
        if isinstance(entity, str)
    )
    entity: object = next(iter(ids), None)
    if not ids and outer.entity is UNLINKED:
        entity = inner.entity
    return msgspec.structs.replace(
        outer,
        entity=entity,
        same_as=tuple(ids)[1:],
        types=tuple(dict.fromkeys([*outer.types, *inner.types])),
    )
