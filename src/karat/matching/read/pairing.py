"""A corpus and a run paired for matching: the same documents, shared entity codes, cut into blocks.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from operator import is_
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from karat.kb.ids.normal_forms import find_plain_qids
from karat.kb.ids.normalising_kb import unwrap_kb
from karat.kb.protocol import KB
from karat.matching.read.document_id_check import describe_shifted_ids, unknown_document_error
from karat.matching.read.facets import Facets
from karat.matching.read.invented_mentions import mask_invented
from karat.matching.read.offset_fit import check_offsets
from karat.matching.read.read_options import (
    Codes,
    ReadOptions,
    canonical_ids,
    find_id_context,
    find_nil_ids,
    find_nil_items,
    resolve_codes,
)
from karat.matching.read.trees import Trees, build_trees
from karat.matching.read.word_expansion import WordGaps, expand_to_words, find_word_gaps
from karat.model.corpus import NO_TEXT_NOTE, Corpus, lookup_meta
from karat.model.document import Response
from karat.model.errors import UsageError
from karat.model.items import OTHER_ENTITY, CodeLists, GoldItems, Items, PredictedItems, RankedCandidates
from karat.model.json.decoder import read_json_value
from karat.model.output.command_options import format_option
from karat.model.reader_categories import OTHER_WORDS
from karat.model.results.failures import FAILED_DOCUMENTS, MISSING_DOCUMENTS
from karat.model.run import Run
from karat.model.spec.settings.conventions import Ids
from karat.model.tables import checks
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import (
    NIL,
    NO_LINK,
    Bools,
    Floats,
    Ints,
    Longs,
    MentionIndex,
    Mentions,
    mask_category,
    position_keys,
)
from karat.model.tables.digest import hash_items

_T = TypeVar("_T")

KINDS = {1: "QUANTITY", 2: "DATETIME"}
"""Names of value types, by their code in `Items.kind`."""

# What names of clusters begin with, by what they are names of.
_ENTITY, _NIL_CLUSTER, _GOLD_NIL, _UNLINKED = "=", "?", "!", "-"

BLOCK = 5_000
"""Documents per block, so that the arrays of a block fit into the processor's cache."""


class SpanArrays(NamedTuple):
    """Spans and entity codes of both sides, when no item carries anything else."""

    gold: tuple[Longs, Ints, Ints, Ints]
    """Offsets of the documents, and start, end and entity of each label."""
    predictions: tuple[Longs, Ints, Ints, Ints]
    """Offsets of the documents, and start, end and entity of each prediction."""
    is_fully_linked: bool
    """Whether every item has a link; NIL counts as a link."""


class Pairing(msgspec.Struct, frozen=True, dict=True):
    """A corpus and a run with shared document order and shared entity codes."""

    corpus: Corpus
    run: Run
    read_options: ReadOptions
    order: Longs | None
    """Row numbers that sort the predictions by document of the corpus; None if they are sorted already."""
    offsets: Longs
    """Offsets of the sorted predictions of each document of the corpus."""
    document_index: Longs
    """Index of the corpus document of each response; -1 if the corpus does not have the document."""
    names: Arrow
    """Ids by entity code. The codes of gold labels come first and do not depend on the run."""
    gold_entity: Ints
    """Entity code of every label, after everything that `read_options` changes."""
    prediction_entity: Ints
    """Entity code of every prediction, after everything that `read_options` changes."""
    gold_same_as: CodeLists | None
    """Codes of the further ids of every label; None if no label has any."""
    prediction_same_as: CodeLists | None
    """Codes of the further ids of every prediction; None if no prediction has any."""
    n_id_conflicts: int = 0
    """Number of predictions with further ids that were dropped, since they are mapped to other entities."""

    def blocks(self, size: int = BLOCK) -> Iterator[tuple[int, int]]:
        """Yield the index of the first document of each block of `size` documents, and the index after its last one."""
        for first_doc in range(0, len(self.corpus), size):
            yield first_doc, min(first_doc + size, len(self.corpus))

    def gold_block(self, first_doc: int, end_doc: int, *, keep_duplicates: bool = False) -> GoldItems:
        """Return the labels of the documents from `first_doc` to before `end_doc` as items.

        Labels outside the evaluation span are dropped unless they may count if matched. Duplicates are dropped if the
        setting `duplicates` says so, unless `keep_duplicates`; so are further alternatives, by `alternatives`.
        """
        labels, mention_index = self.corpus.labels, self.mention_index
        low, high = int(labels.offsets[first_doc]), int(labels.offsets[end_doc])
        rows = slice(low, high)
        items = Items(
            np.arange(low, high),
            labels.document[rows],
            labels.start[rows],
            labels.end[rows],
            self.gold_entity[rows],
            self.names,
            None if self.gold_same_as is None else self.gold_same_as.take(np.arange(low, high)),
            None if self._types is None else self._types[0].take(np.arange(low, high)),
            None if self._clusters is None else self._clusters[0][rows],
            kind=None if self._kinds is None else self._kinds[0][rows],
            content_hash=partial(hash_items, labels),
        )
        items = self._apply_span_options(items)
        parent, optional = mention_index.parent[rows], mention_index.optional[rows]
        if self.read_options.require_optional:
            optional = np.zeros(high - low, np.bool_)
        gold = GoldItems(
            items,
            mention_index.mention[rows] - low,
            np.where(parent < 0, -1, parent - low),
            optional,
            self.read_options.merge_alternatives,
        )
        mask = self._mask_countable(items)
        if self._gold_duplicates is not None and not keep_duplicates:
            mask &= ~self._gold_duplicates[rows]
        if self._further_alternatives is not None:
            mask &= ~self._further_alternatives[rows]
        return gold if mask.all() else filter_gold(gold, mask)

    def prediction_block(self, first_doc: int, end_doc: int, *, keep_duplicates: bool = False) -> PredictedItems:
        """Return the predictions for the documents from `first_doc` to before `end_doc` as items, with scores.

        Predictions outside the evaluation span are dropped unless they may count if matched. Duplicates are dropped if
        the setting `duplicates` says so, unless `keep_duplicates`.
        """
        items = self._apply_span_options(self._prediction_items(first_doc, end_doc))
        score = self._score[items.row]
        duplicates = None if keep_duplicates else self._prediction_duplicates
        if self._evaluation_spans is None and duplicates is None:
            return PredictedItems(items, score)
        mask = self._mask_countable(items)
        if duplicates is not None:
            mask &= ~duplicates[items.row]
        return PredictedItems(items.take(mask), score[mask])

    @cached_property
    def span_arrays(self) -> SpanArrays | None:
        """Spans and ids of the whole data without copies, or None if any item carries more than a span and an id."""
        options, labels, predictions = self.read_options, self.corpus.labels, self.run.predictions
        has_no_alternatives = options.separate_alternatives or (
            labels.field("mention_id") is None and not options.merge_alternatives
        )
        has_optional = (
            not options.require_optional
            and labels.field("optional") is not None
            and bool(labels.boolean_field("optional").any())
        )
        extras = (
            self.gold_same_as,
            self.prediction_same_as,
            self._kinds,
            self._evaluation_spans,
            self._gold_duplicates,
            self._prediction_duplicates,
            self._further_alternatives,
        )
        if (
            not has_no_alternatives
            or has_optional
            or options.expand_words
            or any(extra is not None for extra in extras)
        ):
            return None
        start, end, entity = predictions.start, predictions.end, self.prediction_entity
        if self.order is not None:
            start, end, entity = start[self.order], end[self.order], entity[self.order]
        is_fully_linked = min(int(codes.min(initial=0)) for codes in (self.gold_entity, entity)) > NO_LINK
        gold = labels.offsets, labels.start, labels.end, self.gold_entity
        return SpanArrays(gold, (self.offsets, start, end, entity), is_fully_linked)

    def _prediction_items(self, first_doc: int, end_doc: int) -> Items:
        """Return all predictions for the documents from `first_doc` to before `end_doc` as items; none is dropped."""
        predictions = self.run.predictions
        low, high = int(self.offsets[first_doc]), int(self.offsets[end_doc])
        rows = np.arange(low, high) if self.order is None else self.order[low:high]
        row_index = slice(low, high) if self.order is None else rows
        return Items(
            rows,
            np.repeat(np.arange(first_doc, end_doc, dtype=np.int32), np.diff(self.offsets[first_doc : end_doc + 1])),
            predictions.start[row_index],
            predictions.end[row_index],
            self.prediction_entity[row_index],
            self.names,
            None if self.prediction_same_as is None else self.prediction_same_as.take(rows),
            None if self._types is None else self._types[1].take(rows),
            None if self._clusters is None else self._clusters[1][row_index],
            kind=None if self._kinds is None else self._kinds[1][row_index],
            candidates=self._candidates,
            has_other_words=None if self._has_other_words is None else self._has_other_words[row_index],
            content_hash=partial(hash_items, predictions),
        )

    @cached_property
    def _candidates(self) -> RankedCandidates | None:
        """Ranked candidates of the predictions, decoded on first use; None if no prediction has candidates."""
        column = self.run.predictions.field("candidates")
        return (
            None
            if column is None
            else RankedCandidates(lambda: _code_candidates(column, self.names, self.read_options))
        )

    @cached_property
    def _has_other_words(self) -> Bools | None:
        """Whether the words of each prediction differ from the text; None if those of no prediction do."""
        mask = mask_category(self.run.predictions, OTHER_WORDS)
        return mask if mask.any() else None

    @cached_property
    def skipped(self) -> dict[str, int]:
        """Counts of documents, labels and predictions that were skipped or deserve a note, by description."""
        corpus, run = self.corpus, self.run
        is_known = self.document_index >= 0
        n_failed = 0
        if "error" in run.table.column_names:
            n_failed = int(np.sum(run.table.column("error").is_valid().to_numpy() & is_known))
        labels_outside = predictions_outside = 0
        alternatives = self._further_alternatives
        if self._evaluation_spans is not None:
            if not self.read_options.span_for_unmatched_only:
                is_inside = self.inside_masks[0]
                labels_outside = int((~is_inside).sum())
                alternatives = None if alternatives is None else alternatives & is_inside
            predictions_outside = int(
                (~self._mask_inside(self._prediction_items(0, len(corpus)))).sum()
            )  # matched or not
        counted = "one counts" if self.read_options.drop_duplicates else "each counts"
        return {
            MISSING_DOCUMENTS: len(corpus) - int(is_known.sum()),
            FAILED_DOCUMENTS: n_failed,
            "unknown documents": int((~is_known).sum()),
            "predictions in unknown documents": int(np.diff(run.predictions.offsets)[~is_known].sum()),
            f"duplicate predictions ({counted})": self._n_duplicates,
            "further alternatives of mentions (only the first counts)": (
                0 if alternatives is None else int(alternatives.sum())
            ),
            "predictions with ids of several entities (their entity counts)": self.n_id_conflicts,
            "labels outside the evaluation span": labels_outside,
            "predictions outside the evaluation span": predictions_outside,
        }

    @property
    def _n_duplicates(self) -> int:
        """Number of duplicate predictions, dropped or not; without dropped ones that other notes count."""
        if not self.read_options.drop_duplicates:
            return self.run.n_duplicates
        duplicates = self._prediction_duplicates
        return 0 if duplicates is None else int((duplicates & self.inside_masks[1]).sum())

    @cached_property
    def has_gold(self) -> Bools:
        """Mask of the documents that have at least one gold label."""
        return np.diff(self.corpus.labels.offsets) > 0

    def cache_gold_result(self, name: str, compute: Callable[[], _T], kb: KB | None = None) -> _T:
        """Return `compute()`, a result about the gold labels, cached in the corpus under `name`.

        All runs with the same read options and knowledge bases, including `kb`, share the cached result.
        """
        options, kbs = (
            self.read_options,
            [unwrap_kb(base) for base in (self.read_options.kb, self.read_options.kind_kb, kb)],
        )
        cached = self.corpus.cache.get(name)
        if cached is None or cached[0] != options or not all(map(is_, cached[1], kbs)):
            cached = self.corpus.cache[name] = (options, kbs, compute())
        result: _T = cached[2]
        return result

    @cached_property
    def labels(self) -> Mentions:
        """Gold labels with their entity codes; NIL stays NIL even if nothing may match NIL."""
        entity = np.where(self._is_gold_nil, np.int32(NIL), self.gold_entity)
        return msgspec.structs.replace(self.corpus.labels, entity=entity, names=self.names)

    @cached_property
    def _is_gold_nil(self) -> Bools:
        """Mask of the labels that are NIL, by null or by their id, even if nothing may match NIL."""
        labels = self.corpus.labels
        mask: Bools = (labels.entity == NIL) | find_nil_items(labels, self.read_options.nil_ids)
        return mask

    @cached_property
    def mention_index(self) -> MentionIndex:
        """Groups of labels that form one mention, as the setting `alternatives` defines them."""
        return self.corpus.mention_index.regroup(
            "separate"
            if self.read_options.separate_alternatives
            else "merged"
            if self.read_options.merge_alternatives
            else "grouped",
            msgspec.structs.replace(self.corpus.labels, entity=self.gold_entity, names=self.names),
        )

    @cached_property
    def predictions(self) -> Mentions:
        """Predictions with their entity codes."""
        return msgspec.structs.replace(self.run.predictions, entity=self.prediction_entity, names=self.names)

    @cached_property
    def facets(self) -> Facets:
        """Facet values of labels and predictions, for filters and groups."""
        context = self.read_options.context
        if context is None or context.facet_corpus is None:
            return Facets(self.labels, self.predictions)
        return Facets(
            self.labels,
            self.predictions,
            _pair_context(context.facet_corpus, self.read_options).labels,
            context.predicted_fields,
        )

    @cached_property
    def _gold_duplicates(self) -> Bools | None:
        """Mask of the labels that repeat an earlier label; None if duplicates count or there are none."""
        if not self.read_options.drop_duplicates:
            return None
        return self._find_duplicates(self.corpus.labels, self._further_alternatives)

    @cached_property
    def _further_alternatives(self) -> Bools | None:
        """Mask of the labels that are not the first label of their mention; None if all count or there are none."""
        if not self.read_options.first_alternative or self.corpus.labels.field("mention_id") is None:
            return None
        mention = self.corpus.mention_index.mention
        first = np.full(len(mention), len(mention), np.int64)
        np.minimum.at(first, mention, np.arange(len(mention)))
        mask: Bools = first[mention] != np.arange(len(mention))
        return mask if mask.any() else None

    @cached_property
    def _prediction_duplicates(self) -> Bools | None:
        """Mask of the predictions that repeat another one; None if duplicates count or there are none."""
        return (
            self._find_duplicates(self.run.predictions)
            if self.read_options.drop_duplicates and self.run.n_duplicates
            else None
        )

    def _find_duplicates(self, mentions: Mentions, excluded: Bools | None = None) -> Bools | None:
        """Return the mask of mentions that repeat another one's document, span and link, or None if there are none.

        Mentions with different types or NIL clusters are no duplicates if a view needs types or clusters. Mentions in
        the mask `excluded` do not count, so others do not repeat them.
        """
        extra_key = np.zeros(len(mentions), np.int64)
        types, clusters = mentions.field("types"), mentions.field("nil_cluster")
        if self.read_options.needs_types and types is not None:
            extra_key = _number_values(pc.binary_join(types, "\x1f").fill_null(""))
        if self.read_options.needs_clusters and clusters is not None:
            extra_key = extra_key * (len(mentions) + 1) + np.where(mentions.entity == NIL, _number_values(clusters), 0)
        if excluded is not None:
            extra_key = 2 * extra_key + excluded
        # neleval's clusters are in the order of their first annotation, so the first of equal annotations must remain.
        in_file_order = self.read_options.needs_clusters and self.read_options.unlinked_cluster
        preference = partial(_duplicate_preference, mentions, in_file_order=in_file_order)
        rows = checks.find_duplicates(mentions, extra_key, preference)
        if not len(rows):
            return None
        mask = np.zeros(len(mentions), np.bool_)
        mask[rows] = True
        return mask

    @cached_property
    def has_plain_ids(self) -> tuple[Bools, Bools]:
        """Masks of the distinct ids, as written, of labels and of predictions that are plain Wikidata ids."""
        return find_plain_qids(self.corpus.labels.names), find_plain_qids(self.run.predictions.names)

    @cached_property
    def type_names(self) -> Arrow:
        """Type names by the codes in `Items.types`."""
        columns = [mentions.field("types") for mentions in (self.corpus.labels, self.run.predictions)]
        return pa.chunked_array([column.flatten() for column in columns if column is not None], pa.string()).unique()

    @cached_property
    def _types(self) -> tuple[CodeLists, CodeLists] | None:
        """Type codes of labels and predictions; None if no view needs types."""
        if not self.read_options.needs_types:
            return None
        sides = (self.corpus.labels, self.run.predictions)
        gold, predictions = (_code_lists(side.field("types"), self.type_names, len(side)) for side in sides)
        return gold, predictions

    @cached_property
    def _nil_clusters(self) -> Arrow:
        """Names of all NIL clusters of labels and predictions."""
        columns = [self._get_nil_clusters(side) for side in (self.corpus.labels, self.run.predictions)]
        return pa.chunked_array([column for column in columns if column is not None], pa.string()).unique().drop_null()

    def _get_nil_clusters(self, mentions: Mentions) -> Arrow | None:
        """Return the NIL cluster of each mention, null without one; None if no mention has one.

        The cluster of a mention whose id is NIL is the id.
        """
        column, is_nil = mentions.field("nil_cluster"), find_nil_items(mentions, self.read_options.nil_ids)
        if not is_nil.any():
            return column
        ids = mentions.names.take(pa.array(mentions.entity, mask=~is_nil))
        return ids if column is None else pc.coalesce(ids, column)

    @cached_property
    def _clusters(self) -> tuple[Ints, Ints] | None:
        """Cluster code of each label and prediction: its entity, its NIL cluster, or a singleton; None if unneeded."""
        if not self.read_options.needs_clusters:
            return None
        names = self._nil_clusters
        next_singleton = len(self.names) + len(names) + self.read_options.unlinked_cluster
        codes = []
        for side, entity in ((self.corpus.labels, self.gold_entity), (self.run.predictions, self.prediction_entity)):
            column, cluster = self._get_nil_clusters(side), next_singleton + np.arange(len(side))
            if column is not None:
                nil_cluster = pc.index_in(column, names, skip_nulls=True).fill_null(-1).to_numpy(zero_copy_only=False)
                cluster = np.where(nil_cluster >= 0, len(self.names) + nil_cluster, cluster)
            if self.read_options.unlinked_cluster:
                cluster = np.where(entity == NO_LINK, self.unlinked_cluster, cluster)
            codes.append(np.where(entity >= 0, entity, cluster).astype(np.int32))
            next_singleton += len(side)
        return codes[0], codes[1]

    @property
    def unlinked_cluster(self) -> int:
        """Cluster code that all unlinked spans share, if `read_options` makes them one cluster."""
        return len(self.names) + len(self._nil_clusters)

    @cached_property
    def cluster_names(self) -> Arrow:
        """Names of the cluster codes, the same in all blocks; singletons have larger codes and no name."""
        entities = pc.binary_join_element_wise(_ENTITY, self.names, "")
        if self.read_options.nil_never_matches:  # the entity that NIL became, which may be called as another
            nil = np.zeros(len(self.names) + 2, np.bool_)
            nil[self.gold_entity[self._is_gold_nil]] = True
            entities = pc.if_else(pa.array(nil[:-2]), _GOLD_NIL, entities)
        nil_clusters = pc.binary_join_element_wise(_NIL_CLUSTER, self._nil_clusters, "")
        unlinked = pa.array([_UNLINKED] * self.read_options.unlinked_cluster, pa.string())
        return pa.concat_arrays([entities, nil_clusters, unlinked])

    @cached_property
    def trees(self) -> Trees:
        """Mentions with their alternatives and parts as trees of gold labels, for profiles that judge every label."""
        return self.corpus.get_or_compute("trees", lambda: build_trees(self.corpus.labels, self.corpus.mention_index))

    @cached_property
    def unlinked_code(self) -> int:
        """Entity code of unlinked items: that of the empty id if `unlinked_is_entity`, else `NO_LINK`."""
        return (
            int(pc.index(self.names, pa.scalar("", pa.string())).as_py())
            if self.read_options.unlinked_is_entity
            else NO_LINK
        )

    @property
    def texts(self) -> list[str]:
        """Texts of the corpus; raises `UsageError` if the corpus has none."""
        return require_texts(self.corpus)

    @cached_property
    def gold_kind(self) -> Ints:
        """Kind of value of each label, as a key of `KINDS` (quantity or datetime); 0 if it is no value."""
        return self.corpus.get_or_compute("kinds", lambda: value_kinds(self.corpus.labels))

    @cached_property
    def prediction_kind(self) -> Ints:
        """Kind of value of each prediction's entity, as a key of `KINDS`; 0 if it is no value or unknown."""
        kinds = np.zeros(len(self.names) + 2, np.int32)
        if self.read_options.kind_kb is not None:
            types = self.read_options.kind_kb.types(self.names.to_pylist())
            for kind, name in reversed(KINDS.items()):
                kinds[[code for code, entity_types in enumerate(types) if entity_types and name in entity_types]] = kind
        return kinds[self.prediction_entity]

    @property
    def _kinds(self) -> tuple[Ints, Ints] | None:
        """Kinds of values of labels and predictions; None if they are not compared by kind."""
        return None if self.read_options.kind_kb is None else (self.gold_kind, self.prediction_kind)

    @cached_property
    def hyperlinks(self) -> dict[int, frozenset[tuple[int, int]]]:
        """Spans of the hyperlinks in each document's source, by document index, from the document metadata."""
        return self.corpus.get_or_compute("hyperlinks", lambda: _find_hyperlinks(self.corpus))

    @cached_property
    def _score(self) -> Floats:
        """Score of each prediction of the run; NaN if it has none."""
        return self.run.predictions.score()

    @cached_property
    def evaluation_bounds(self) -> tuple[list[int], list[int]]:
        """Starts and ends of the evaluation spans of all documents; the whole text by default."""
        if self._evaluation_spans is None:
            return [0] * len(self.corpus), self.corpus.lengths.tolist()
        return self._evaluation_spans[0].tolist(), self._evaluation_spans[1].tolist()

    @cached_property
    def _evaluation_spans(self) -> tuple[Longs, Longs] | None:
        """Starts and ends of the evaluation spans of all documents, or None if no document states one."""
        if "evaluation_span" not in self.corpus.table.column_names:
            return None
        column = pa.concat_arrays(self.corpus.table.column("evaluation_span").chunks)
        sizes = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        has_span = np.flatnonzero(sizes)
        if not len(has_span):
            return None
        flat = column.flatten().to_numpy().reshape(-1, 2)
        start, end = np.zeros(len(sizes), np.int64), self.corpus.lengths.copy()
        start[has_span], end[has_span] = flat[:, 0], flat[:, 1]
        return start, end

    def _apply_span_options(self, items: Items) -> Items:
        """Return `items` with spans expanded to words and a mask of items outside the evaluation span, if needed."""
        if self.read_options.span_for_unmatched_only and self._evaluation_spans is not None:
            items = msgspec.structs.replace(items, is_outside=~self._mask_inside(items))
        if not self.read_options.expand_words or not len(items):
            return items
        is_invented = mask_invented(items.start)  # there are no words to expand to
        starts, ends = np.where(is_invented, 0, items.start), np.where(is_invented, 0, items.end)
        word_starts, word_ends = expand_to_words(self.word_gaps, items.document, starts, ends)
        word_spans = np.where(is_invented, items.start, word_starts), np.where(is_invented, items.end, word_ends)
        return msgspec.structs.replace(items, word_spans=word_spans)

    @property
    def word_gaps(self) -> WordGaps:
        """Word boundaries of the corpus texts.

        Access this once before several threads need the boundaries, to save work.
        """
        return self.corpus.get_or_compute("words", lambda: find_word_gaps(self.texts))

    def _mask_countable(self, items: Items) -> Bools:
        """Return the mask of items that may count.

        These are the items inside the evaluation span, or all items if matched items count anywhere.
        """
        return np.ones(len(items), np.bool_) if self.read_options.span_for_unmatched_only else self._mask_inside(items)

    @property
    def inside_masks(self) -> tuple[Bools, Bools]:
        """Masks of the labels and predictions inside the evaluation span of a document of the corpus."""
        labels, predictions = self.corpus.labels, self.run.predictions
        if self._evaluation_spans is None and (self.document_index >= 0).all():
            return np.ones(len(labels), np.bool_), np.ones(len(predictions), np.bool_)
        document = self.document_index[predictions.document]
        if self._evaluation_spans is None:
            return np.ones(len(labels), np.bool_), document >= 0
        start, end = self._evaluation_spans
        gold = (labels.start >= start[labels.document]) & (labels.end <= end[labels.document])
        inside = (predictions.start >= start[document]) & (predictions.end <= end[document])
        return gold, (document >= 0) & (inside | mask_invented(predictions.start))

    def _mask_inside(self, items: Items) -> Bools:
        """Return the mask of items inside the evaluation span of their document."""
        if self._evaluation_spans is None:
            return np.ones(len(items), np.bool_)
        start, end = self._evaluation_spans
        inside = (items.start >= start[items.document]) & (items.end <= end[items.document])
        return inside | mask_invented(items.start)


def _find_hyperlinks(corpus: Corpus) -> dict[int, frozenset[tuple[int, int]]]:
    """Return the hyperlink spans by document index, for documents whose metadata lists hyperlinks."""
    column = lookup_meta(corpus.table, ("hyperlinks",)).to_pylist()
    return {document: _parse_hyperlink_spans(text) for document, text in enumerate(column) if text is not None}


@lru_cache(maxsize=4096)  # article files repeat the documents of their benchmark
def _parse_hyperlink_spans(hyperlinks: str) -> frozenset[tuple[int, int]]:
    """Parse the spans in a JSON list of hyperlinks, `[[[start, end], target], …]`; raise `InputError` if it is none."""
    links = read_json_value(
        hyperlinks,
        list[tuple[tuple[int, int], Any]],
        "meta.hyperlinks",
        expected="a list of [[start, end], target] as JSON",
        remedy="Correct or remove the field",
    )
    return frozenset(span for span, _ in links)


def require_texts(corpus: Corpus) -> list[str]:
    """Return the texts of a corpus, or raise `UsageError` if it was loaded from a file without texts."""
    if corpus.skipped.get(NO_TEXT_NOTE):
        raise UsageError(f"{corpus.name}: the file has no texts, and these scores need them. Pass a file with texts.")
    return corpus.texts


def value_kinds(labels: Mentions) -> Ints:
    """Return the kind of value of each label by its types or its kind, as a key of `KINDS`; 0 if it is no value."""
    kinds = np.zeros(len(labels), np.int32)
    types, kind_column = labels.field("types"), labels.field("kind")
    for code, kind in reversed(KINDS.items()):
        if types is not None:
            lengths = types.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
            owner = np.repeat(np.arange(len(kinds)), lengths)
            kinds[owner[pc.equal(types.flatten(), kind).to_numpy(zero_copy_only=False)]] = code
        if kind_column is not None:
            kinds[pc.equal(kind_column, kind.lower()).fill_null(False).to_numpy(zero_copy_only=False)] = code
    return kinds


def filter_gold(gold: GoldItems, mask: Bools) -> GoldItems:
    """Return the labels in `mask`, with mentions and parents renumbered.

    A mention that lost an alternative becomes optional, since a prediction may have matched the lost alternative. A
    root that lost a part and a part that lost its root become optional too.
    """
    rows = np.flatnonzero(mask)
    new_index = np.full(len(mask) + 1, -1)
    mentions, first = np.unique(gold.mention[rows], return_index=True)
    if gold.has_alternatives and not mask[mentions].all():
        items = gold.items.take(rows)
        order = np.lexsort((*position_keys(items.names, items.entity, items.end, items.start), gold.mention[rows]))
        first = order[np.searchsorted(gold.mention[rows][order], mentions)]
    new_index[mentions] = np.where(
        mask[mentions], np.cumsum(mask)[mentions] - 1, first
    )  # the first label of the mention, if it remains
    is_broken = np.zeros(len(mask) + 1, np.bool_)
    lost = np.unique(gold.mention[~mask])
    while len(lost):
        is_broken[lost] = True
        lost = np.unique(gold.parent[lost])
        lost = lost[lost >= 0]
    parent = new_index[gold.parent[rows]]
    orphaned = (gold.parent[rows] >= 0) & (parent < 0)
    optional = gold.optional[rows] | is_broken[gold.mention[rows]] | orphaned
    if gold.is_merged:  # removed labels belong to another part of the data
        optional = gold.optional[rows]
    return GoldItems(gold.items.take(rows), new_index[gold.mention[rows]], parent, optional, gold.is_merged)


def pair_run(corpus: Corpus, run: Run, *, allow_unknown: bool = False, options: ReadOptions | None = None) -> Pairing:
    """Pair the responses of a run with the documents of a corpus by id, and give both sides common entity codes.

    Predictions for documents that the corpus does not have raise `InputError`; with `allow_unknown` they are skipped
    and counted. Predictions outside their text raise `InputError` too. `options` tell how ids are read.
    """
    document_index = np.arange(len(corpus))
    if not run.ids.equals(corpus.ids):
        document_index = np.asarray(
            pc.index_in(run.ids, corpus.ids).fill_null(-1).to_numpy(zero_copy_only=False), np.int64
        )
    unknown = np.flatnonzero(document_index < 0)
    if len(unknown) and not allow_unknown:
        first = int(unknown[0])
        raise unknown_document_error(
            run.locate_row(first), run.ids[first].as_py(), corpus.name, len(unknown) - 1, corpus.ids, run.ids
        )
    labels, predictions = corpus.labels, run.predictions
    limits = np.append(corpus.lengths, np.iinfo(np.int64).max)[document_index]  # the last is for unknown documents
    checks.raise_first(
        _find_outside_predictions(corpus, run, document_index, limits, is_numbering_checked=not allow_unknown),
        run.locate_row,
    )
    counts = np.diff(predictions.offsets)
    per_document = np.zeros(len(corpus), np.int64)
    per_document[document_index[document_index >= 0]] = counts[document_index >= 0]
    in_order = len(document_index) == 0 or (
        document_index[0] >= 0 and bool(np.all(document_index[1:] > document_index[:-1]))
    )
    order = (
        None
        if in_order
        else np.argsort(np.repeat(document_index, counts), kind="stable")[counts[document_index < 0].sum() :]
    )
    names, prediction_codes = _merge_ids(labels, predictions)
    # Common codes begin with the gold standard's own, so that its labels keep theirs.
    sides = (
        Codes(labels.entity, _code_same_as(labels, names)),
        Codes(prediction_codes[predictions.entity], _code_same_as(predictions, names)),
    )
    options = options or ReadOptions()
    if options.ids is Ids.NORMALISED and options.id_context is None:
        options = options.with_id_context(find_id_context(corpus, run))
    if options.changes_codes:
        names, sides = resolve_codes(names, sides, options)
    gold, predicted = sides
    offsets = np.concatenate([[0], np.cumsum(per_document)])
    return Pairing(
        corpus,
        run,
        options,
        order,
        offsets,
        document_index,
        names,
        gold.entity,
        predicted.entity,
        gold.same_as,
        predicted.same_as,
        predicted.n_conflicts,
    )


def _find_outside_predictions(
    corpus: Corpus, run: Run, document_index: Longs, limits: Longs, *, is_numbering_checked: bool
) -> Iterator[checks.Problem]:
    """Yield a problem for each prediction that ends after the text length of its response, in `limits`.

    `document_index` is the document of each response, or -1. If `is_numbering_checked` and both sides number their
    documents differently, the problem says so first.
    """
    predictions = run.predictions
    if run.n_invented:
        predictions = predictions.select(~mask_invented(predictions.start))
    for problem in checks.check_span_ends(predictions, limits, "prediction"):
        numbering_hint = describe_shifted_ids(corpus.ids, run.ids, corpus.name) if is_numbering_checked else ""
        kinds = [] if numbering_hint else check_offsets(corpus, run, document_index).find_best_kinds()
        if kinds:
            others = f" (or as {', '.join(kinds[1:])})" if len(kinds) > 1 else ""
            fit = f"{kinds[0].description}{others}"
            remedy = f"Convert the offsets, which fit as {fit}: {format_option('offsets', kinds[0])}"
            problem = problem._replace(remedy=remedy)
        yield problem._replace(actual=f"{numbering_hint}, and {problem.actual}") if numbering_hint else problem


@lru_cache(maxsize=8)  # shared by the blocks of one evaluation
def _pair_context(corpus: Corpus, options: ReadOptions) -> Pairing:
    """Pair the facet corpus of a `CorpusContext` with a run without predictions; cached for the blocks.

    Its labels have all facet values of the whole data, so that a block (some documents of the data) knows values that
    do not occur in it. `options`: the options by which the block is read, so that ids are resolved in the same way.
    """
    return pair_run(
        corpus, Run.from_responses([Response(corpus.ids[0].as_py())]), options=replace(options, context=None)
    )


def code_labels(labels: Mentions) -> tuple[Arrow, Codes]:
    """Return all ids of some labels, as written, and the codes of each label: indices into these ids."""
    names = _append_same_as_ids(labels.names, labels)
    return names, Codes(labels.entity, _code_same_as(labels, names))


def _merge_ids(labels: Mentions, predictions: Mentions) -> tuple[Arrow, Ints]:
    """Return the distinct ids of both sides, gold ids first, and the index among them of each distinct prediction id.

    The indices end with NO_LINK and NIL, so that the codes -2 and -1 map to themselves.
    """
    gold_names = _append_same_as_ids(labels.names, labels)
    index = pc.index_in(predictions.names, gold_names)
    new_names = predictions.names.filter(index.is_null())
    codes = index.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    codes[codes < 0] = len(gold_names) + np.arange(len(new_names))
    names = _append_same_as_ids(pa.concat_arrays([gold_names, new_names]), predictions)
    return names, np.append(codes, np.array([NO_LINK, NIL], np.int32))


def _append_same_as_ids(names: Arrow, mentions: Mentions) -> Arrow:
    """Return `names`, followed by the ids that occur only in `same_as`."""
    same_as = mentions.field("same_as")
    return names if same_as is None else pa.concat_arrays([names, same_as.flatten()]).unique()


def _duplicate_preference(mentions: Mentions, rows: Longs, *, in_file_order: bool) -> tuple[NDArray[Any], ...]:
    """Return keys for `np.lexsort` that order duplicates: no score first, then the highest score, then content.

    With `in_file_order`, the file decides instead of the content.
    """
    score = mentions.score()[rows]
    by_score = np.where(np.isnan(score), -np.inf, -score)
    return (by_score,) if in_file_order else (hash_items(mentions, rows), by_score)


def _number_values(column: Arrow) -> Longs:
    """Return a number for each entry, from 1, equal for equal values; 0 for null."""
    codes = column.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(codes, np.int64) + 1


def _code_same_as(mentions: Mentions, names: Arrow) -> CodeLists | None:
    """Return the column `same_as` as codes into `names`, or None if there is no such column."""
    column = mentions.field("same_as")
    return None if column is None else _code_lists(column, names, len(mentions))


def _code_candidates(column: Arrow, names: Arrow, options: ReadOptions) -> CodeLists:
    """Return a column of candidate lists as codes into `names`, with ids resolved like those of predictions.

    Candidates that are NIL by their id get `NIL`, others that are not in `names` get `OTHER_ENTITY`.
    """
    lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    ids = pc.struct_field(column.flatten(), "entity").dictionary_encode()
    index = pc.index_in(pa.array(canonical_ids(ids.dictionary.to_pylist(), options), pa.string()), names)
    codes = index.fill_null(OTHER_ENTITY).to_numpy(zero_copy_only=False).astype(np.int32)
    codes[find_nil_ids(ids.dictionary, options.nil_ids)] = NIL
    return CodeLists(np.concatenate([[0], np.cumsum(lengths)]), codes[ids.indices.to_numpy(zero_copy_only=False)])


def _code_lists(column: Arrow | None, names: Arrow, count: int) -> CodeLists:
    """Return a column of string lists as codes into `names`; `count` empty lists if the column is None."""
    if column is None:
        return CodeLists(np.zeros(count + 1, np.int64), np.zeros(0, np.int32))
    lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    codes = pc.index_in(column.flatten(), names).to_numpy(zero_copy_only=False)
    return CodeLists(np.concatenate([[0], np.cumsum(lengths)]), np.asarray(codes, np.int32))
