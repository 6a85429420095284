"""Runs: the predictions of one system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, pairwise
from math import fsum
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from karat.model.caches.value_cache import ValueCache
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.counts.skip_counter import locate_positive, merge_counts
from karat.model.defects import get_defects
from karat.model.document import Document, Prediction, Response
from karat.model.output.text_layout import format_count
from karat.model.results.display import TableDisplay
from karat.model.results.usage import QUANTITIES, UsageSum
from karat.model.tables import checks
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Mentions, flatten_mentions
from karat.model.tables.digest import compute_digest
from karat.model.tables.rows import check_names, check_objects, from_row, to_table, validate_object
from karat.model.tables.schema import PREDICTIONS

SELECTED_ON = "selected_on"
"""The metadata key that lists the datasets on which the system variant was selected, separated by commas."""


VOCABULARY = "vocabulary"
"""The metadata key that names the entities a system can predict: a file of ids next to the run, or a snapshot."""
COUNT_PREFIX = "count: "
"""The beginning of the metadata keys with the counts of `Run.skipped` when the run was written."""
OTHER_LABELS_NOTE = "other labels of the same mentions, not predicted"
"""Description of the count of gold labels that `Run.from_gold` leaves out."""


def is_selected_on(metadata: Mapping[str, str], corpus: str) -> bool:
    """Return whether the metadata of a run lists `corpus` among the datasets on which the system was selected.

    The list may name the corpus in full (`aida@v1/testb`), without its version or split, or without both. A pool of
    corpora is selected on if one of them is.
    """
    datasets = {name.strip() for name in metadata.get(SELECTED_ON, "").split(",")} - {""}
    return any(not datasets.isdisjoint(_list_dataset_names(part)) for part in (corpus, *corpus.split("+")))


def _list_dataset_names(corpus: str) -> set[str]:
    """Return the names by which a corpus NAME@VERSION/SPLIT may be listed; version and split may be missing."""
    names = {corpus, corpus.partition("@")[0]}
    dataset, _, split = corpus.partition("/")
    if split:
        name = dataset.partition("@")[0]
        names |= {dataset, name, f"{name}/{split}"}
    return names - {""}


def selection_note(run: str, corpus: str) -> str:
    """Return the note that the run named `run` comes from a system variant selected on the scored corpus."""
    return f"{run}: oracle, this variant was selected on {corpus}"


@dataclass(frozen=True, eq=False)
class Run(TableDisplay, ValueCache):
    """The predictions of one system, stored as columns; iterate for `Response` objects."""

    _page: ClassVar = "karat.render.mentions"

    table: Arrow = field(repr=False)
    """One row per response, in the canonical schema."""
    name: str
    """The name in reports."""
    metadata: Mapping[str, str]
    """The manifest of the run (system, version, options, corpus, times, …)."""
    digest: str
    """Eight hexadecimal digits that depend on the content, but not on its order or file format."""
    predictions: Mentions = field(repr=False)
    """All predictions as columns."""
    n_duplicates: int
    """The number of predictions that repeat another one."""
    locate_row: checks.RowLocator = field(repr=False)
    """Return the source location of a row, for messages."""
    skipped: Mapping[str, int] = field(default_factory=dict, repr=False)
    """Counts of what the reader skipped or repaired, by description; results name the first three locations of each."""
    texts: Arrow | None = field(default=None, repr=False)
    """The texts in the prediction file, null if missing; dropped once aligned with the gold texts."""
    n_invented: int = field(default=0, repr=False)
    """The number of invented mentions among the predictions, with spans behind the text; 0 unless they are scored."""
    file: str | None = field(default=None, repr=False)
    """The file that the run was read from; files named in its metadata are next to it."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, without the function that locates rows in the file, which cannot be pickled."""
        return {name: value for name, value in super().__getstate__().items() if name != "locate_row"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled run; its messages name documents instead of lines."""
        self.__dict__.update(state, locate_row=checks.locate_by_id(state["table"]))

    @classmethod
    def from_responses(cls, responses: Iterable[Response], *, name: str = "run", **metadata: str) -> Run:
        """Create a run from `Response` objects, checked like a file; keyword arguments are its metadata.

        Raise `UsageError` for other objects, and `InputError` for the first invalid field, span, id or score.
        """
        check_names("run", name, *metadata.values())
        responses = check_objects(responses, Response)
        table = to_table(map(validate_object, responses), PREDICTIONS)
        return cls.from_table(table, name=name, metadata=metadata, locate_row=checks.locate_by_id(table))

    @classmethod
    def from_reader(
        cls,
        responses: Iterable[Response],
        *,
        name: str,
        metadata: Mapping[str, str] | None = None,
        skipped: Mapping[str, int] | None = None,
        locate_row: checks.RowLocator | None = None,
        texts: Sequence[str | None] = (),
    ) -> Run:
        """Create a run from the responses that a file reader built, without checking the types of their fields.

        All other checks are those of `from_table`. `locate_row` returns the source location of a row for messages.
        `skipped` counts what the reader skipped or repaired, by description; zero counts are dropped. `texts` has the
        text of each response's document, None where missing, or is empty if the file has no texts.
        """
        table = to_table(responses, PREDICTIONS)
        text_array = to_text_column(texts)
        run = cls.from_table(
            table,
            name=name,
            metadata=metadata or {},
            locate_row=locate_row or checks.locate_by_id(table),
            texts=text_array,
        )
        return replace(run, skipped=locate_positive(skipped or {}, get_defects().label))

    @classmethod
    def from_gold(cls, corpus: Corpus, *, name: str = "gold") -> Run:
        """Create a run that predicts every gold mention, also optional mentions, with one of its accepted links.

        Document-level entities and relations are predicted as well. Other alternatives, and parts of alternative
        segmentations, are counted in `skipped`.
        """
        is_predicted, offsets = (
            corpus.mention_index.is_representative.tolist(),
            pairwise(corpus.labels.offsets.tolist()),
        )
        responses = (
            _to_response(document, is_predicted[low:high])
            for document, (low, high) in zip(corpus, offsets, strict=True)
        )
        texts = None if corpus.skipped.get(NO_TEXT_NOTE) else corpus.table.column("text")
        n_others = len(corpus.labels) - sum(is_predicted)
        skipped = merge_counts(corpus.skipped, {OTHER_LABELS_NOTE: n_others}) if n_others else corpus.skipped
        return replace(cls.from_responses(responses, name=name, predictions="labels"), skipped=skipped, texts=texts)

    @classmethod
    def from_table(
        cls,
        table: Arrow,
        *,
        name: str,
        metadata: Mapping[str, str],
        locate_row: checks.RowLocator,
        texts: Arrow | None = None,
    ) -> Run:
        """Create a run from an Arrow table with the schema `PREDICTIONS`; raise `InputError` on the first defect.

        Under an error policy that skips, responses with defects are counted and dropped instead. `texts` is a column
        with the text of each response's document, null where missing.
        """
        checks.require_documents(table, name)
        table = checks.rename_duplicate_ids(table)
        invalid_rows = checks.find_invalid_rows(
            checks.check_required(table, frozenset({"id"}), is_run=True), locate_row
        )
        if invalid_rows:
            table, locate_row, rows = checks.drop_rows(table, locate_row, invalid_rows)
            texts = None if texts is None else texts.take(rows)
            return cls.from_table(table, name=name, metadata=metadata, locate_row=locate_row, texts=texts)
        predictions = flatten_mentions(table.column("predictions"))
        n_duplicates, content = (
            len(checks.find_duplicates(predictions)),
            compute_digest(table, "predictions", predictions),
        )
        run = cls(table, name, dict(metadata), content, predictions, n_duplicates, locate_row, texts=texts)
        return run.drop_rows(checks.find_invalid_rows(run._find_problems(), locate_row))

    def sum_usage(self, corpus: Corpus) -> dict[str, UsageSum]:
        """Return the sums of what the responses to documents of `corpus` used; missing if no response states it."""
        names = [name for name in QUANTITIES if name in self.table.column_names]
        if not names:
            return {}
        columns = self.table.select(["id", *names])
        columns = columns.filter(pc.is_in(columns.column("id"), corpus.ids))
        values_by_name = {name: columns.column(name).drop_null().to_pylist() for name in names}
        return {name: UsageSum(fsum(values), len(values)) for name, values in values_by_name.items() if values}

    def drop_rows(self, removed_rows: frozenset[int]) -> Run:
        """Return a copy of the run without the responses in `removed_rows`; raise `InputError` if none is left."""
        if not removed_rows:
            return self
        table, where, rows = checks.drop_rows(self.table, self.locate_row, removed_rows)
        texts = None if self.texts is None else self.texts.take(rows)
        run = Run.from_table(table, name=self.name, metadata=self.metadata, locate_row=where, texts=texts)
        return replace(run, skipped=self.skipped, file=self.file)

    def _find_problems(self) -> Iterator[checks.Problem]:
        """Yield a problem for each defect of predictions."""
        offsets = get_defects().policy.offsets
        yield from checks.check_span_order(self.predictions, "prediction", offsets.min_length)
        yield from checks.check_entity_ids(self.predictions)
        yield from checks.check_unlinked(self.predictions)
        yield from checks.check_scores(self.table, "predictions")

    def add_counts_to_metadata(self) -> Run:
        """Return a copy of the run whose metadata have the counts of `skipped`, which files do not have otherwise."""
        counts = {f"{COUNT_PREFIX}{description}": str(count) for description, count in sorted(self.skipped.items())}
        return replace(self, metadata={**self.metadata, **counts})

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        sizes = (
            f"{format_count(len(self), 'response', 'responses')}, {format_count(len(self.predictions), 'prediction')}"
        )
        return f"<Run {self.name}@{self.digest}: {sizes}>"

    def __iter__(self) -> Iterator[Response]:
        for batch in self.table.to_batches(max_chunksize=1024):
            for row in batch.to_pylist():
                yield from_row(row, Response)

    @property
    def ids(self) -> Arrow:
        """The document ids in order, as an Arrow array of strings."""
        return self.table.column("id").combine_chunks()


def to_text_column(texts: Iterable[str | None]) -> Arrow | None:
    """Return the texts as an Arrow column of strings, null for None; None if there is no text at all."""
    values = list(texts)
    return pa.chunked_array([pa.array(values, pa.string())]) if any(text is not None for text in values) else None


def _to_response(document: Document, is_predicted: Sequence[bool]) -> Response:
    """Return a response with a prediction for each label of `document` whose entry in `is_predicted` is true.

    The response also predicts the tags and relations of the document.
    """
    predictions = tuple(
        Prediction(
            label.start,
            label.end,
            label.entity,
            same_as=label.same_as,
            types=label.types,
            nil_cluster=label.nil_cluster,
        )
        for label in compress(document.labels, is_predicted)
    )
    return Response(document.id, predictions, tags=document.tags, relations=document.relations)
