"""Relatedness of entities by shared in-links (Milne and Witten 2008).

    1 - (log max(|A|, |B|) - log |A ∩ B|) / (log N - log min(|A|, |B|))

A and B are the sets of entities that link to the one and the other entity, N is the number of entities. The value is 0
if A and B are disjoint, and unknown if A or B is empty. An entity has relatedness 1 to itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.kb.snapshot.snapshot import Snapshot
from karat.model.errors import UsageError
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats, Longs

_LINKS_PER_BATCH: Final = 1 << 20  # links looked up together


@dataclass(frozen=True, eq=False)
class InLinks:
    """The in-links of some entities: for each of them, the entities that link to it."""

    size: int
    """Number of entities in the knowledge base."""
    _ids: Arrow = field(repr=False)
    _starts: Longs = field(repr=False)
    _keys: Longs = field(repr=False)
    """Sorted codes of all links: target code times `_n_sources` plus source code."""
    _source_codes: Longs = field(repr=False)
    _n_sources: int = field(repr=False)

    @classmethod
    def from_pairs(cls, targets: Sequence[str] | Arrow, sources: Sequence[str] | Arrow, size: int) -> InLinks:
        """Build from parallel columns, in which `sources[i]` links to `targets[i]`; a repeated pair is one link.

        `size`: number of entities in the knowledge base.
        """
        target_column, source_column = (
            pa.chunked_array([pa.array(column)]) if not isinstance(column, pa.Array | pa.ChunkedArray) else column
            for column in (targets, sources)
        )
        ids, source_ids = (pc.unique(column) for column in (target_column, source_column))
        n_sources = max(len(source_ids), 1)
        codes = [
            pc.index_in(column, value_set=value_set).to_numpy()
            for column, value_set in ((target_column, ids), (source_column, source_ids))
        ]
        keys = np.unique(codes[0].astype(np.int64) * n_sources + codes[1])
        starts = np.searchsorted(keys, np.arange(len(ids) + 1, dtype=np.int64) * n_sources)
        return cls(size, ids, starts, keys, keys % n_sources, n_sources)

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot, ids: Sequence[str]) -> InLinks:
        """Read the in-links of the entities with the canonical `ids`; raise `UsageError` without a table of links."""
        table, entities = snapshot.get_table("links"), snapshot.get_table("entities")
        if table is None or entities is None:
            raise UsageError(
                f"the snapshot {snapshot.name} has no links, so relatedness is unknown. Use a snapshot with links."
            )
        rows = table.find_rows(list(dict.fromkeys(ids)), "source")
        return cls.from_pairs(rows.column("target"), rows.column("source"), entities.rows)

    def relatedness(self, first_ids: Sequence[str], second_ids: Sequence[str]) -> Floats:
        """Return the relatedness, from 0 to 1, of `first_ids[i]` and `second_ids[i]`; NaN if either has no in-links.

        An entity has relatedness 1 to itself, even without in-links.
        """
        left, right = (
            pc.fill_null(pc.index_in(pa.array(ids, pa.string()), value_set=self._ids), -1).to_numpy().astype(np.int64)
            for ids in (first_ids, second_ids)
        )
        values = self._compute_relatedness(left, right)
        same = np.array([a == b for a, b in zip(first_ids, second_ids, strict=True)], np.bool_)
        return np.where(same, 1.0, values)

    def _compute_relatedness(self, left: Longs, right: Longs) -> Floats:
        """Return the relatedness of pairs of entities by their index in `_ids`; NaN if an index is -1 (no in-links)."""
        has_links = (left >= 0) & (right >= 0)
        counts = np.diff(self._starts, append=self._starts[-1:])  # one more, so that index -1 is valid
        min_counts, max_counts = np.minimum(counts[left], counts[right]), np.maximum(counts[left], counts[right])
        is_swapped = counts[left] > counts[right]
        small, large = np.where(is_swapped, right, left), np.where(is_swapped, left, right)
        shared_counts = np.zeros(len(left), np.int64)
        shared_counts[has_links] = self._count_shared(small[has_links], large[has_links])
        values = np.full(len(left), np.nan)
        values[has_links] = 0.0
        is_shared = has_links & (shared_counts > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.log(max_counts[is_shared]) - np.log(shared_counts[is_shared])
            max_distance = np.log(self.size) - np.log(min_counts[is_shared])
            values[is_shared] = np.where(distance == 0, 1.0, np.clip(1 - distance / max_distance, 0.0, 1.0))
        return values

    def _count_shared(self, small: Longs, large: Longs) -> Longs:
        """Count the sources that link to both entities of each pair; `small` has no more in-links than `large`."""
        counts = self._starts[small + 1] - self._starts[small]
        shared = np.zeros(len(small), np.int64)
        ends = np.cumsum(counts)
        start = 0
        while start < len(small):
            before = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + _LINKS_PER_BATCH, side="right")))
            shared[start:stop] = self._count_shared_in_batch(small[start:stop], large[start:stop], counts[start:stop])
            start = stop
        return shared

    def _count_shared_in_batch(self, small: Longs, large: Longs, counts: Longs) -> Longs:
        """Count the shared sources of each pair at once; `counts`: number of in-links of each entity in `small`."""
        pair = np.repeat(np.arange(len(small)), counts)
        first_row = np.cumsum(counts) - counts
        rows = np.arange(len(pair)) - first_row[pair] + self._starts[small][pair]
        wanted_keys = self._source_codes[rows] + (large * self._n_sources)[pair]
        positions = np.minimum(np.searchsorted(self._keys, wanted_keys), max(len(self._keys) - 1, 0))
        return np.bincount(pair[self._keys[positions] == wanted_keys], minlength=len(small))
