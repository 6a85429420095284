"""The automatic id bridge: the built-in knowledge base, used if gold and predictions write their ids differently.

Systems often predict Wikidata ids for a gold standard of Wikipedia titles. Without a bridge, no link would be correct.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.evaluation.cases.id_health import add_title_kinds, find_patterns, get_id_kind
from karat.evaluation.request import Request
from karat.kb.ids.normal_forms import find_plain_qids, normalise_ids
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.spec.settings.conventions import Ids
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs, Mentions


class SideIds(NamedTuple):
    """The distinct entity ids of a gold standard or run, in normal form."""

    ids: Arrow
    """Ids of linked annotations, without duplicates in spelling."""
    counts: Longs
    """Number of annotations that are linked to each id."""
    same_as_kinds: frozenset[str]
    """Kinds of the further ids (`same_as`) of annotations."""

    def resolve(self, kb: KB) -> SideIds:
        """Return the ids as `kb` resolves them."""
        canonical_ids = pa.array(kb.canonical_ids(self.ids.to_pylist()), pa.string())
        return self._replace(ids=normalise_ids(canonical_ids, Ids.NORMALISED))

    def count_kinds(self) -> dict[str, int]:
        """Return the number of annotations by the kind of their id."""
        return dict(find_patterns(self.ids, find_plain_qids(self.ids)).sum_by(get_id_kind, self.counts))


def bridge_ids(request: Request, corpus: Corpus, runs: Sequence[Run], kb: str | None = None) -> Request:
    """Return the request with a knowledge base if it bridges the ids of the corpus and of a run.

    Otherwise return the request itself. `kb` is a path or snapshot name; None is the built-in snapshot. A bridge is
    needed if most predicted ids are of a kind that the gold standard does not have. A request with a knowledge base,
    with an explicit setting `ids` or under a profile of another tool stays unchanged.
    """
    if not _allows_bridge(request):
        return request
    foreign_sides = [side for run in runs if (side := _find_foreign_ids(corpus, run)) is not None]
    if not foreign_sides:
        return request
    from karat.kb.catalogue import open_kb, open_starter

    bridge, gold = open_starter() if kb is None else open_kb(kb), _collect_gold_ids(corpus)
    resolved_gold = gold.resolve(bridge)
    is_bridged = any(
        _count_foreign(resolved_gold, side.resolve(bridge)) < _count_foreign(gold, side) for side in foreign_sides
    )
    return request.replace(kb=bridge, is_bridge=True) if is_bridged else request


def needs_bridge(request: Request, corpus: Corpus, run: Run) -> bool:
    """Return whether a knowledge base should map the ids of corpus and run onto each other (an id bridge).

    That is so if most predicted ids are of a kind that the corpus does not have, and the request allows a bridge.
    """
    return _allows_bridge(request) and _find_foreign_ids(corpus, run) is not None


def _allows_bridge(request: Request) -> bool:
    """Return whether a knowledge base may be added: there is none, and the user did not set `ids`."""
    is_default = "ids" not in request.overrides
    return request.kb is None and request.conventions.ids is Ids.NORMALISED and is_default


def _find_foreign_ids(corpus: Corpus, run: Run) -> SideIds | None:
    """Return the ids of the run if most are of a kind that the corpus does not have, else None."""
    gold, predictions = _collect_gold_ids(corpus), _collect_ids(run.predictions, run.table)
    if not gold.counts.any() or 2 * _count_foreign(gold, predictions) <= predictions.counts.sum():
        return None
    return predictions


def _collect_gold_ids(corpus: Corpus) -> SideIds:
    """Return the ids of the corpus; cached with the corpus."""
    return corpus.get_or_compute("side ids", lambda: _collect_ids(corpus.labels, corpus.table))


def _collect_ids(mentions: Mentions, table: Arrow) -> SideIds:
    """Return the ids of mentions and of the document-level tags in `table`."""
    counts = np.bincount(mentions.entity[mentions.entity >= 0], minlength=len(mentions.names))
    ids, used = mentions.names, counts > 0
    if not used.all():
        ids, counts = ids.filter(pa.array(used)), counts[used]
    if "tags" in table.column_names:
        tags = pc.struct_field(pc.list_flatten(table.column("tags")).combine_chunks(), "entity").drop_null()
        tag_counts = tags.value_counts()
        ids = pa.concat_arrays([ids.cast(pa.string()), tag_counts.field("values").cast(pa.string())])
        counts = np.concatenate([counts, tag_counts.field("counts").to_numpy()])
    same_as = mentions.field("same_as")
    others = pa.array([], pa.string()) if same_as is None else same_as.flatten().unique().drop_null()
    kinds = frozenset(map(get_id_kind, normalise_ids(others, Ids.NORMALISED).to_pylist()))
    return SideIds(normalise_ids(ids, Ids.NORMALISED), counts, kinds)


def _count_foreign(gold: SideIds, predictions: SideIds) -> int:
    """Return the number of predictions whose id is of a kind that the gold standard does not have."""
    gold_kinds = add_title_kinds(frozenset(gold.count_kinds()) | gold.same_as_kinds)
    if predictions.same_as_kinds & gold_kinds:
        return 0
    return sum(count for kind, count in predictions.count_kinds().items() if kind not in gold_kinds)
