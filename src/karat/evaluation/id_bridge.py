"""The automatic id bridge: the built-in knowledge base, used if ids are written in different ways.

Systems often predict Wikidata ids for a gold standard of Wikipedia titles, or some ids of each. Without a bridge, no
link between the two would be correct.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.evaluation.cases.id_health import TITLE_KINDS, find_patterns, get_id_kind
from karat.evaluation.request import Request
from karat.kb.ids.id_context import IdEvidence, build_context, collect_evidence
from karat.kb.ids.normal_forms import DEFAULT_CONTEXT, find_plain_qids, normalise_ids
from karat.kb.ids.normalising_kb import NormalisingKB, wrap_kb
from karat.kb.protocol import KB
from karat.matching.read.read_options import ID_COLUMNS, ReadOptions, collect_table_evidence
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.spec.engine import PartitionedData
from karat.model.spec.settings.conventions import Ids, NilIds
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs, Mentions, flatten_mentions
from karat.model.tables.schema import GOLD

_ROWS_PER_TABLE = 20_000


class SideIds(NamedTuple):
    """The distinct entity ids of a gold standard or run, or of a part of it, in normal form."""

    ids: Arrow
    """Ids of linked annotations, without duplicates in spelling."""
    counts: Longs
    """Number of annotations that are linked to each id."""
    kind_sets: frozenset[frozenset[str]]
    """The kinds of all ids of an annotation, also further ones (`same_as`), in all combinations that occur."""

    def count_kinds(self) -> KindCounts:
        """Count the annotations by the kind of their id."""
        counts = find_patterns(self.ids, find_plain_qids(self.ids)).sum_by(get_id_kind, self.counts)
        return KindCounts(counts, self.kind_sets)

    def find_kind_changes(self, kb: KB) -> frozenset[tuple[str, str]]:
        """Return the pairs of the kind of an id and the kind of the id that `kb` resolves it to."""
        resolved = normalise_ids(pa.array(kb.canonical_ids(self.ids.to_pylist()), pa.string()), Ids.NORMALISED)
        return frozenset(zip(_list_kind_groups(self.ids), _list_kind_groups(resolved), strict=True))


class KindCounts(NamedTuple):
    """How many annotations have ids of each kind; counts add up over the parts of a gold standard or run."""

    counts: Mapping[str, int]
    """Number of linked annotations by the kind of their id."""
    kind_sets: frozenset[frozenset[str]]
    """The kinds of all ids of an annotation, also further ones (`same_as`), in all combinations that occur."""

    def merge(self, other: KindCounts) -> KindCounts:
        """Return the counts of both parts together."""
        return KindCounts(Counter(self.counts) + Counter(other.counts), self.kind_sets | other.kind_sets)

    def is_comparable(self, other: KindCounts) -> bool:
        """Return whether every annotation of one side has an id of the same kind as every annotation of the other."""
        return not any(kinds.isdisjoint(others) for kinds in self.kind_sets for others in other.kind_sets)


_TITLES: Final = "titles"
_NO_KINDS = KindCounts({}, frozenset())


def _get_group(kind: str) -> str:
    """Return the kind of an id, with all kinds of titles as one."""
    return _TITLES if kind in TITLE_KINDS else kind


def bridge_ids(
    request: Request,
    corpus: Corpus | PartitionedData,
    runs: Sequence[Corpus | Run | PartitionedData],
    kb: str | None = None,
) -> Request:
    """Return the request with a knowledge base if it bridges the ids of the corpus and of a run.

    Otherwise return the request itself. `kb` is a path or snapshot name; None is the built-in snapshot. A bridge is
    needed if ids of several kinds occur, on either side, and the knowledge base connects two of them; every id is then
    resolved by itself. `runs` may also be corpora of other annotators. A request with a knowledge base, with an
    explicit setting `ids` or under a profile of another tool stays unchanged.
    """
    if not _allows_bridge(request):
        return request
    mixed_runs = [run for run in runs if _has_several_kinds(corpus, run)]
    if not mixed_runs:
        return request
    from karat.kb.catalogue import open_kb, open_starter

    bridge = open_starter() if kb is None else open_kb(kb)
    is_bridged = any(_connects(bridge, corpus, run) for run in mixed_runs)
    return request.replace(kb=bridge, is_bridge=True) if is_bridged else request


def build_link_options(corpus: Corpus, runs: Sequence[Run], kb: KB | None) -> ReadOptions:
    """Return how the links of all sources are read, as in scoring: the ids of all sources decide together.

    Without `kb`, the built-in knowledge base is used if it bridges ids of different schemes.
    """
    bridge = kb or bridge_ids(Request.from_options(), corpus, runs).kb
    tables = [corpus.table, *(run.table for run in runs)]
    context = build_context(map(collect_table_evidence, tables))
    base = ReadOptions(
        kb=None if bridge is None else wrap_kb(bridge, Ids.NORMALISED), ids=Ids.NORMALISED, nil_ids=NilIds.NOT_IN_WIKI
    )
    return base.with_id_context(context)


def needs_bridge(request: Request, corpus: Corpus, run: Run) -> bool:
    """Return whether a knowledge base should map the ids of corpus and run onto each other (an id bridge).

    That may be so if their ids are of several kinds, and the request allows a bridge.
    """
    return _allows_bridge(request) and _has_several_kinds(corpus, run)


def _allows_bridge(request: Request) -> bool:
    """Return whether a knowledge base may be added: there is none, and the user did not set `ids`."""
    is_default = "ids" not in request.overrides
    return request.kb is None and request.conventions.ids is Ids.NORMALISED and is_default


def _has_several_kinds(corpus: Corpus | PartitionedData, run: Corpus | Run | PartitionedData) -> bool:
    """Return whether the ids of corpus and run are of several kinds, so that some may not match as they are written.

    A single id of another kind suffices. Further ids (`same_as`) make a bridge needless if they connect every
    annotation with every one of the other side.
    """
    gold, predictions = _count_kinds(corpus), _count_kinds(run)
    return bool(gold.counts and predictions.counts) and not gold.is_comparable(predictions)


def _connects(kb: KB, corpus: Corpus | PartitionedData, run: Corpus | Run | PartitionedData) -> bool:
    """Return whether `kb` maps ids of two kinds to one kind, and corpus and run then share a kind."""
    view = NormalisingKB(kb, Ids.NORMALISED, DEFAULT_CONTEXT._replace(title_language=_find_title_language(corpus, run)))
    gold, predictions = (
        frozenset[tuple[str, str]]().union(*(part.find_kind_changes(view) for part in _iterate_ids(side)))
        for side in (corpus, run)
    )
    changes = gold | predictions
    is_shared = not {new for _, new in gold}.isdisjoint(new for _, new in predictions)
    return is_shared and len({new for _, new in changes}) < len(changes)


def _find_title_language(*sides: Corpus | Run | PartitionedData) -> str:
    """Return the language of the Wikipedia whose pages bare titles name; empty if they name none."""
    evidence = [
        reduce(IdEvidence.merge, (collect_evidence(part.ids) for part in _iterate_ids(side)), IdEvidence())
        for side in sides
    ]
    return build_context(evidence).title_language


def _count_kinds(data: Corpus | Run | PartitionedData) -> KindCounts:
    """Count the annotations of a corpus or run by the kind of their id."""
    if isinstance(data, Corpus | Run):
        return data.get_or_compute("id kinds", lambda: next(_iterate_ids(data)).count_kinds())
    return reduce(KindCounts.merge, (part.count_kinds() for part in _iterate_ids(data)), _NO_KINDS)


def _list_kind_groups(ids: Arrow) -> list[str]:
    """Return the kind of each id; all kinds of titles are one, since titles of one word may be of any of them."""
    patterns = find_patterns(ids, find_plain_qids(ids))
    kinds = [_get_group(get_id_kind(id)) for id in patterns.ids]
    return [kinds[index] for index in patterns.pattern_index.tolist()]


def _iterate_ids(data: Corpus | Run | PartitionedData) -> Iterator[SideIds]:
    """Yield the ids of a corpus or run, part by part; those in memory are one part, cached with it."""
    if isinstance(data, Corpus | Run):
        mentions = data.labels if isinstance(data, Corpus) else data.predictions
        yield data.get_or_compute("side ids", lambda: _collect_ids(mentions, data.table))
    else:
        columns = [name for name in ID_COLUMNS if name in data.schema.names]
        for partition in data.partitions if columns else ():
            for table in partition.tables(_ROWS_PER_TABLE, columns):
                yield _collect_ids(_flatten_table(table), table)


def _flatten_table(table: Arrow) -> Mentions:
    """Return the mentions of a part; none if fields are missing, which the check of the part reports."""
    fields = GOLD.field("labels").type.value_type
    for name in ("labels", "predictions"):
        kind = table.schema.field(name).type.value_type if name in table.column_names else pa.struct([])
        if all(kind.get_field_index(field) >= 0 for field in ("start", "end", "entity")):
            return flatten_mentions(table.column(name))
    return flatten_mentions(pa.chunked_array([pa.array([], pa.list_(fields))]))


def _collect_ids(mentions: Mentions, table: Arrow) -> SideIds:
    """Return the ids of mentions and of the document-level tags in `table`."""
    counts = np.bincount(mentions.entity[mentions.entity >= 0], minlength=len(mentions.names))
    ids, used = mentions.names, counts > 0
    if not used.all():
        ids, counts = ids.filter(pa.array(used)), counts[used]
    tags = pa.array([], pa.string())
    if "tags" in table.column_names:
        tags = pc.struct_field(pc.list_flatten(table.column("tags")).combine_chunks(), "entity").drop_null()
        tag_counts = tags.value_counts()
        ids = pa.concat_arrays([ids.cast(pa.string()), tag_counts.field("values").cast(pa.string())])
        counts = np.concatenate([counts, tag_counts.field("counts").to_numpy()])
    ids = normalise_ids(ids, Ids.NORMALISED)
    same_as = mentions.field("same_as")
    lengths = None if same_as is None else same_as.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    if same_as is None or lengths is None or not lengths.any():
        kinds = find_patterns(ids, find_plain_qids(ids)).sum_by(get_id_kind, counts)
        return SideIds(ids, counts, frozenset(frozenset([_get_group(kind)]) for kind in kinds))
    further_kinds = _list_groups(normalise_ids(same_as.flatten(), Ids.NORMALISED))
    entity_kinds, offsets = (
        _list_groups(normalise_ids(mentions.names, Ids.NORMALISED)),
        np.append(0, np.cumsum(lengths)),
    )
    kind_lists = [
        [entity_kinds[code], *further_kinds[offsets[row] : offsets[row + 1]]]
        for row, code in enumerate(mentions.entity.tolist())
        if code >= 0
    ]
    kind_lists += [[kind] for kind in _list_groups(tags)]
    return SideIds(ids, counts, frozenset(map(frozenset, kind_lists)))


def _list_groups(ids: Arrow) -> list[str]:
    """Return the kind of each id, with all kinds of titles as one."""
    patterns = find_patterns(ids, find_plain_qids(ids))
    groups = [_get_group(get_id_kind(id)) for id in patterns.ids]
    return [groups[index] for index in patterns.pattern_index.tolist()]
