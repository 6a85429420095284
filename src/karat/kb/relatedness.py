"""How related two entities are, by what links to both (Milne and Witten 2008).

    1 - (log max(|A|, |B|) - log |A ∩ B|) / (log N - log min(|A|, |B|))

A and B are the entities that link to the one and to the other, N is how many entities there are. Where nothing links to
both it is 0; where nothing at all links to one of them nobody can say. An entity and itself have 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UsageError
from karat.kb.pack.pack import Pack
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats, Longs

_AT_ONCE: Final = 1 << 20  # links that are looked up together


@dataclass(frozen=True, eq=False)
class InLinks:
    """What links to some entities, each as a sorted array; `size` is how many entities there are in all."""

    size: int
    _ids: Arrow = field(repr=False)
    _starts: Longs = field(repr=False)
    _keys: Longs = field(repr=False)
    """The entity times the number of sources, plus the source: in order, and so searched by halves."""
    _source: Longs = field(repr=False)
    _sources: int = field(repr=False)

    @classmethod
    def of(cls, targets: Sequence[str] | Arrow, sources: Sequence[str] | Arrow, size: int) -> InLinks:
        """The links of pairs (target, source); a pair that is given twice is one link."""
        to, by = (pa.chunked_array([pa.array(each)]) if not _is_arrow(each) else each for each in (targets, sources))
        ids, origins = (pc.unique(each) for each in (to, by))
        many = max(len(origins), 1)
        codes = [pc.index_in(each, value_set=known).to_numpy() for each, known in ((to, ids), (by, origins))]
        keys = np.unique(codes[0].astype(np.int64) * many + codes[1])
        starts = np.searchsorted(keys, np.arange(len(ids) + 1, dtype=np.int64) * many)
        return cls(size, ids, starts, keys, keys % many, many)

    @classmethod
    def about(cls, pack: Pack, ids: Sequence[str]) -> InLinks:
        """What a pack says of some entities, by their canonical ids; nothing else of its links is read."""
        table, entities = pack.table("links"), pack.table("entities")
        if table is None or entities is None:
            raise UsageError(f"the pack {pack.name} has no links, so nobody can say what is related in it.")
        rows = table.matching(list(dict.fromkeys(ids)), "source")
        return cls.of(rows.column("target"), rows.column("source"), entities.rows)

    def relatedness(self, one: Sequence[str], other: Sequence[str]) -> Floats:
        """How related the entities of each pair are; NaN where nobody can say."""
        left, right = (
            pc.fill_null(pc.index_in(pa.array(each, pa.string()), value_set=self._ids), -1).to_numpy().astype(np.int64)
            for each in (one, other)
        )
        found = self._related(left, right)
        same = np.array([a == b for a, b in zip(one, other, strict=True)], np.bool_)
        return np.where(same, 1.0, found)

    def _related(self, left: Longs, right: Longs) -> Floats:
        known = (left >= 0) & (right >= 0)
        counts = np.diff(self._starts, append=self._starts[-1:])  # one more, so that -1 is a place
        few, many = np.minimum(counts[left], counts[right]), np.maximum(counts[left], counts[right])
        swapped = counts[left] > counts[right]
        small, large = np.where(swapped, right, left), np.where(swapped, left, right)
        both = np.zeros(len(left), np.int64)
        both[known] = self._shared(small[known], large[known])
        found = np.full(len(left), np.nan)
        found[known] = 0.0
        some = known & (both > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.log(many[some]) - np.log(both[some])
            room = np.log(self.size) - np.log(few[some])
            found[some] = np.where(apart == 0, 1.0, np.clip(1 - apart / room, 0.0, 1.0))
        return found

    def _shared(self, small: Longs, large: Longs) -> Longs:
        """How many link to both, looked up link by link of the one that fewer link to."""
        counts = self._starts[small + 1] - self._starts[small]
        shared = np.zeros(len(small), np.int64)
        ends = np.cumsum(counts)
        start = 0
        while start < len(small):
            before = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + _AT_ONCE, side="right")))
            shared[start:stop] = self._looked_up(small[start:stop], large[start:stop], counts[start:stop])
            start = stop
        return shared

    def _looked_up(self, small: Longs, large: Longs, counts: Longs) -> Longs:
        pair = np.repeat(np.arange(len(small)), counts)
        first = np.cumsum(counts) - counts
        at = np.arange(len(pair)) - first[pair] + self._starts[small][pair]
        wanted = self._source[at] + (large * self._sources)[pair]
        place = np.minimum(np.searchsorted(self._keys, wanted), max(len(self._keys) - 1, 0))
        return np.bincount(pair[self._keys[place] == wanted], minlength=len(small))


def _is_arrow(values: object) -> bool:
    return isinstance(values, pa.Array | pa.ChunkedArray)
