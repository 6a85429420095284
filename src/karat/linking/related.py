"""How related the candidates of a text are, all with all, by their neighbours in the links of a pack.

It is the measure of Milne and Witten (`karat.kb.relatedness`), with one difference: the neighbours of an entity are
those that link to it, those that it links to, and itself. A pack made of facts states most of them in one direction
only, and a fact that joins two candidates says more than one that both share with a third.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.linking.lexicon import Lexicon
from karat.model.tables.columns import Floats, Longs

_BLOCK: Final = 24


@dataclass(frozen=True, eq=False)
class Neighbours:
    """For each entity of a lexicon the entities next to it, as sorted numbers; `size` is how many there are in all."""

    size: int
    starts: Longs = field(repr=False)
    others: Longs = field(repr=False)
    names: list[str] = field(repr=False)
    """The ids of all neighbours; the first ones are the entities of the lexicon."""

    def related(self, codes: Longs) -> Floats:
        """The relatedness of some entities, each with each; 0 where nothing is next to both."""
        many = len(codes)
        counts = self.starts[codes + 1] - self.starts[codes]
        owner = np.repeat(np.arange(many), counts)
        at = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts) + self.starts[codes][owner]
        order = np.argsort(self.others[at], kind="stable")
        source, owner = self.others[at][order], owner[order]
        first = np.flatnonzero(np.r_[True, source[1:] != source[:-1]]) if len(source) else np.zeros(0, np.int64)
        size = np.diff(np.r_[first, len(source)])
        group = np.repeat(np.arange(len(first)), size)
        wide = size[group]  # each neighbour pairs its candidates with each other
        left = np.repeat(owner, wide)
        step = np.arange(len(left)) - np.repeat(np.cumsum(wide) - wide, wide)
        right = owner[np.repeat(first[group], wide) + step]
        both = np.bincount(left * many + right, minlength=many * many).reshape(many, many)
        few, most = np.minimum.outer(counts, counts), np.maximum.outer(counts, counts)
        found = np.zeros((many, many))
        some = both > 0
        room = np.log(max(self.size, 2)) - np.log(few[some])
        with np.errstate(divide="ignore", invalid="ignore"):
            found[some] = np.clip(1 - (np.log(most[some]) - np.log(both[some])) / room, 0.0, 1.0)
        return np.nan_to_num(found)


@cache
def neighbours(known: Lexicon) -> Neighbours:
    """The neighbours of all entities of a lexicon; without any links each has itself only."""
    own = pa.array(known.ids, pa.string())
    pairs = [pack.table("links") for pack in known.packs]
    tables = [table.whole("target", "source") for table in pairs if table is not None]
    targets, sources = (
        pa.chunked_array([chunk for table in tables for chunk in table[name].chunks], pa.string())
        for name in ("target", "source")
    )
    every = pc.unique(pa.chunked_array([own, *targets.chunks, *sources.chunks], pa.string()))
    to, by = (pc.index_in(each, value_set=every).to_numpy().astype(np.int64) for each in (targets, sources))
    itself = np.arange(len(own), dtype=np.int64)
    one, other = np.concatenate([to, by, itself]), np.concatenate([by, to, itself])
    mine = one < len(own)
    keys = np.unique(one[mine] * len(every) + other[mine])
    starts = np.searchsorted(keys, np.arange(len(own) + 1, dtype=np.int64) * len(every))
    return Neighbours(len(every), starts, keys % len(every), every.to_pylist())


def blocks(many: int) -> list[slice]:
    """A text's mentions in pieces of about the same size: what is related to what is looked at inside each.

    So the work grows with the length of a text and not with its square.
    """
    pieces = max(1, -(-many // _BLOCK))
    bounds = np.linspace(0, many, pieces + 1).round().astype(int).tolist()
    return [slice(low, high) for low, high in pairwise(bounds)]
