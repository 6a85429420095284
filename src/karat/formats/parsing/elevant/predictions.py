"""Mentions that a linker found in ELEVANT's articles, as the columns of a run.

A block is a sequence of whole lines of the file that is decoded at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.formats.parsing.elevant.articles import (
    NIL,
    NO_MAPPING,
    UNMAPPED,
    ArticleBlock,
    BaseArticle,
    EntityMention,
    parse_file_name,
    read_articles,
)
from karat.formats.parsing.elevant.gold import ElevantGold
from karat.formats.parsing.json.blocks import empty_file_error
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_positive
from karat.model.run import Run
from karat.model.spec.format import ByteSource
from karat.model.tables.arrow import Arrow

_UNMAPPED = "links without a mapping to Wikidata (<NO_MAPPING>, read as NIL)"
_EMPTY_IDS = "mentions with an empty id (read as unlinked)"
_NO_MENTIONS = "documents without `entity_mentions` (read as without predictions)"  # ELEVANT omits empty lists
_ANTECEDENTS = "spans of antecedents (referenced_span)"
_CONTAINED = "flags `contained` of mentions"
_NULL, _EMPTY, _NO_MAPPING = (pa.scalar(value, pa.string()) for value in (None, "", NO_MAPPING))
_MARKS = pa.array([None, (UNMAPPED,)], pa.list_(pa.string()))
_NO_ENTITY = pa.array([NIL, NO_MAPPING], pa.string())
_COMPONENT_FIELDS = ("recognized_by", "linked_by")
_FIELDS = ("start", "end", "id", "candidates")
_BATCH_SIZE = 20_000  # mentions and documents at a time


def read_run(source: ByteSource) -> Run:
    """Read the predictions of a linker.

    `recognized_by` and `linked_by` go to `metadata` if they are the same for all mentions, and are counted otherwise.
    """
    skipped = SkipCounter()
    predictions = ElevantPredictions(source)
    for block in read_articles(source, skipped):
        predictions.add_block(block)
    return predictions.build_run(parse_file_name(source).linker, skipped)


@dataclass
class ElevantPredictions:
    """The mentions that a linker found in a file, collected block by block to build a run."""

    source: ByteSource
    """The file."""
    numbers: list[int] = field(default_factory=list)
    """Line number of each response."""
    skipped: SkipCounter = field(default_factory=SkipCounter)
    """Counts of skipped data."""
    component_counts: dict[str, Counter[str | None]] = field(
        default_factory=lambda: {name: Counter() for name in _COMPONENT_FIELDS}
    )
    """How often each recogniser and linker occurs."""
    tables: list[Arrow] = field(default_factory=list)
    """Finished tables of responses."""
    texts: list[Arrow] = field(default_factory=list)
    """Texts of the articles."""
    batch: _Batch = field(default_factory=lambda: _Batch())
    """Responses that are not in a table yet."""

    def add_block(self, block: ArticleBlock) -> None:
        """Add the mentions and texts of a block of articles, and count the fields of mentions that are not stored."""
        if self.batch.n_mentions + len(self.batch.ids) > _BATCH_SIZE:
            self._flush_batch()
        mentions = self.batch.add_articles(block.objects)
        self.component_counts["recognized_by"].update(_count_values([mention.recognized_by for mention in mentions]))
        self.component_counts["linked_by"].update(_count_values([mention.linked_by for mention in mentions]))
        self.skipped[_ANTECEDENTS] += sum([mention.referenced_span is not None for mention in mentions])
        self.skipped[_CONTAINED] += sum([bool(mention.contained) for mention in mentions])
        unmarked = [row for row, article in enumerate(block.objects) if article.entity_mentions is None]
        self.skipped.add_items(_NO_MENTIONS, unmarked, lambda row: f"line {block.numbers[row]}")
        self.texts.append(block.texts)
        self.numbers.extend(block.numbers)

    def build_run(self, name: str, skipped: Mapping[str, int]) -> Run:
        """Build the run of all collected responses with texts; `skipped` are further counts, from reading the articles.

        Raise `InputError` if there is no response.
        """
        if not self.numbers:
            raise empty_file_error(self.source.label)
        self._flush_batch()
        metadata = {}
        for field_name, values in self.component_counts.items():
            only = next(iter(values)) if len(values) == 1 else None
            if only is not None:
                metadata[field_name] = only
            else:
                self.skipped[f"fields `{field_name}` of mentions"] += values.total() - values[None]
        texts = pa.chunked_array(self.texts, pa.string())
        texts_or_none = texts if texts.null_count < len(texts) else None
        run = Run.from_table(
            pa.concat_tables(self.tables),
            name=name,
            metadata=metadata,
            locate_row=self._get_location,
            texts=texts_or_none,
        )
        self.skipped.update(skipped)
        return replace(run, skipped=locate_positive(self.skipped, self.source.label))

    def _flush_batch(self) -> None:
        """Append the current batch to `tables`, and begin an empty batch."""
        self.tables.append(_build_table(self.batch, self.skipped))
        self.batch = _Batch()

    def _get_location(self, row: int) -> str:
        """Return the location `FILE:LINE` of the document in a row, for messages."""
        return f"{self.source.label}:{self.numbers[row]}"


@dataclass
class _Batch:
    """Fields of documents and mentions until they become a table; each field has an array per block of articles."""

    ids: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    fields: dict[str, list[Arrow]] = field(default_factory=lambda: {name: [] for name in _FIELDS})
    n_mentions: int = 0

    def add_articles(self, articles: Sequence[BaseArticle]) -> Sequence[EntityMention]:
        """Add the fields of articles, and return all their mentions in order."""
        mention_lists = [article.entity_mentions or () for article in articles]
        self.ids.extend([str(article.id) for article in articles])
        self.sizes.extend(map(len, mention_lists))
        mentions = list(chain.from_iterable(mention_lists))
        self.n_mentions += len(mentions)
        spans = [mention.span for mention in mentions]
        self.fields["start"].append(_to_integers([span.start for span in spans]))
        self.fields["end"].append(_to_integers([span.end for span in spans]))
        self.fields["id"].append(pa.array([mention.id for mention in mentions], pa.string()))
        self.fields["candidates"].append(_build_candidates([mention.candidates for mention in mentions]))
        return mentions

    def get_column(self, name: str) -> Arrow:
        """Return a field of all mentions, such as `start`, as one array."""
        return pa.concat_arrays(self.fields[name])


def _count_values(values: list[str | None]) -> Mapping[str | None, int]:
    """Count how often each value occurs; the usual case of a single value is fast."""
    n_equal = values.count(values[0]) if values else 0
    return {values[0]: n_equal} if n_equal and n_equal == len(values) else Counter(values)


def _build_table(batch: _Batch, skipped: SkipCounter) -> Arrow:
    """Build the table of responses of a batch, in the columns of a run; count lost or changed data in `skipped`."""
    predictions = _build_predictions(batch, skipped)
    return pa.table(
        {
            "id": pa.array(batch.ids, pa.string()),
            "predictions": pa.ListArray.from_arrays(_to_offsets(batch.sizes), predictions),
        }
    )


def _to_offsets(sizes: list[int]) -> Arrow:
    """Convert the sizes of lists to the offsets of an Arrow list column."""
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(np.fromiter(sizes, np.int32, len(sizes)), out=offsets[1:])
    return pa.array(offsets)


def _to_integers(values: list[int]) -> Arrow:
    """Return a list of numbers as an Arrow array."""
    return pa.array(np.fromiter(values, np.int32, len(values)))


def _build_predictions(batch: _Batch, skipped: SkipCounter) -> Arrow:
    """Build the column of all predictions: empty ids become unlinked, `<NIL>` and `<NO_MAPPING>` become NIL.

    Predictions with an empty or unmapped id are kept and counted in `skipped`.
    """
    raw_ids = batch.get_column("id")
    is_empty, is_unmapped = (pc.equal(raw_ids, value).fill_null(False) for value in (_EMPTY, _NO_MAPPING))
    for description, mask in ((_EMPTY_IDS, is_empty), (_UNMAPPED, is_unmapped)):
        if mask.true_count:
            mentions = np.flatnonzero(mask.to_numpy(zero_copy_only=False))
            documents = np.searchsorted(np.cumsum(batch.sizes), mentions, side="right")
            skipped.add_items(description, documents.tolist(), lambda row: f"document {batch.ids[row]!r}")
    entity_ids = pc.if_else(is_empty, _NULL, raw_ids) if is_empty.true_count else raw_ids
    columns = {
        "start": batch.get_column("start"),
        "end": batch.get_column("end"),
        "entity": pc.if_else(pc.is_in(entity_ids, _NO_ENTITY), _NULL, entity_ids),
        "linked": entity_ids.is_valid(),
        "candidates": batch.get_column("candidates"),
        "categories": _MARKS.take(is_unmapped.cast(pa.int8())),
    }
    return pa.StructArray.from_arrays(list(columns.values()), list(columns))


def _build_candidates(lists: Sequence[tuple[str, ...] | None]) -> Arrow:
    """Build the column of candidates, without scores; None is an empty list."""
    sizes = [len(entities) if entities else 0 for entities in lists]
    entities = pa.array(list(chain.from_iterable(filter(None, lists))), pa.string())
    return pa.ListArray.from_arrays(_to_offsets(sizes), pa.StructArray.from_arrays([entities], ["entity"]))


def read_both(source: ByteSource) -> tuple[Corpus, Run]:
    """Read the corpus and the run of a file in one pass; both equal those read separately, but the run has no texts."""
    skipped = SkipCounter()
    gold, predictions = ElevantGold(source), ElevantPredictions(source)
    for block in read_articles(source, skipped):
        gold.add_block(block)
        predictions.add_block(block)
    names = parse_file_name(source)
    run = replace(predictions.build_run(names.linker, skipped), texts=None)  # the corpus already has them
    return gold.build_corpus(names.benchmark, skipped), run
