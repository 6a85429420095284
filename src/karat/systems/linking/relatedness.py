"""Relatedness of candidate entities by their neighbours in the link graph of a snapshot.

The measure is that of Milne and Witten (`karat.kb.relatedness`) with one difference: the neighbours of an entity are
the entities that link to it, the entities it links to, and itself. A snapshot of facts states most links in one
direction only, and a direct link between two candidates is stronger evidence than a shared neighbour.

A block is a group of mentions of one text that are linked jointly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.tables.columns import Floats, Longs
from karat.systems.linking.lexicon import Lexicon

Direction: TypeAlias = Literal["both", "in", "out"]
"""The links of an entity that make neighbours: both, those to it, or those from it."""

_BLOCK_SIZE: Final = 24


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The neighbours of each entity of a lexicon in the link graph; with both directions, each includes itself.

    `n_entities`: number of entities and neighbours.
    `starts`: first entry of each entity in `neighbours`, by entity code, and the length of `neighbours`.
    `neighbours`: codes of the neighbours, sorted for each entity.
    `ids`: ids of all codes; the first ones are the entities of the lexicon.
    """

    n_entities: int
    starts: Longs = field(repr=False)
    neighbours: Longs = field(repr=False)
    ids: list[str] = field(repr=False)

    def relatedness(self, codes: Longs) -> Floats:
        """Return the matrix of pairwise relatedness of the entities `codes`, from 0 (no shared neighbour) to 1."""
        counts, n_shared = self.count_shared(codes)
        smaller, larger = np.minimum.outer(counts, counts), np.maximum.outer(counts, counts)
        result = np.zeros(n_shared.shape)
        mask = n_shared > 0
        log_range = np.log(max(self.n_entities, 2)) - np.log(smaller[mask])
        with np.errstate(divide="ignore", invalid="ignore"):
            result[mask] = np.clip(1 - (np.log(larger[mask]) - np.log(n_shared[mask])) / log_range, 0.0, 1.0)
        return np.nan_to_num(result)

    def mutual_information(self, codes: Longs) -> Floats:
        """Return the matrix of pairwise mutual information of the entities `codes` by their neighbours.

        This is the share of entities that are neighbours of both, over the product of the shares that are neighbours
        of one and of the other, as a logarithm over its maximum; 0 if it is negative or no neighbour is shared.
        """
        counts, n_shared = self.count_shared(codes)
        n_entities = max(self.n_entities, 2)
        expected = np.multiply.outer(counts, counts) / n_entities
        mask = n_shared > 0
        result = np.zeros(n_shared.shape)
        result[mask] = np.maximum(np.log(n_shared[mask] / expected[mask]), 0.0) / np.log(n_entities)
        return result

    def count_shared(self, codes: Longs) -> tuple[Longs, Longs]:
        """Return the number of neighbours of each of the entities `codes`, and the matrix of those that pairs share."""
        n = len(codes)
        counts = self.starts[codes + 1] - self.starts[codes]
        owner = np.repeat(np.arange(n), counts)
        positions = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts) + self.starts[codes][owner]
        order = np.argsort(self.neighbours[positions], kind="stable")
        source, owner = self.neighbours[positions][order], owner[order]
        group_starts = np.flatnonzero(np.r_[True, source[1:] != source[:-1]]) if len(source) else np.zeros(0, np.int64)
        size = np.diff(np.r_[group_starts, len(source)])
        group = np.repeat(np.arange(len(group_starts)), size)
        group_sizes = size[group]  # each neighbour pairs its candidates
        left = np.repeat(owner, group_sizes)
        step = np.arange(len(left)) - np.repeat(np.cumsum(group_sizes) - group_sizes, group_sizes)
        right = owner[np.repeat(group_starts[group], group_sizes) + step]
        return counts, np.bincount(left * n + right, minlength=n * n).reshape(n, n)


@cache
def find_neighbours(lexicon: Lexicon, direction: Direction = "both") -> Neighbours:
    """Find the neighbours of all entities of a lexicon in the links of its snapshots; the result is cached.

    With the direction `in` or `out`, only entities that link to an entity, or that it links to, are its neighbours;
    the entity itself is not.
    """
    entity_ids = pa.array(lexicon.ids, pa.string())
    pairs = [snapshot.get_table("links") for snapshot in lexicon.snapshots]
    tables = [table.read_all("target", "source") for table in pairs if table is not None]
    targets, sources = (
        pa.chunked_array([chunk for table in tables for chunk in table[name].chunks], pa.string())
        for name in ("target", "source")
    )
    all_ids = pc.unique(pa.chunked_array([entity_ids, *targets.chunks, *sources.chunks], pa.string()))
    to, by = (pc.index_in(column, value_set=all_ids).to_numpy().astype(np.int64) for column in (targets, sources))
    itself = np.arange(len(entity_ids), dtype=np.int64)
    first, second = {
        "both": (np.concatenate([to, by, itself]), np.concatenate([by, to, itself])),
        "in": (to, by),
        "out": (by, to),
    }[direction]
    mask = first < len(entity_ids)
    keys = np.unique(first[mask] * len(all_ids) + second[mask])
    starts = np.searchsorted(keys, np.arange(len(entity_ids) + 1, dtype=np.int64) * len(all_ids))
    return Neighbours(len(all_ids), starts, keys % len(all_ids), all_ids.to_pylist())


def split_blocks(n_mentions: int) -> list[slice]:
    """Split the mentions of a text into blocks of at most 24 and similar size; mentions of a block are linked jointly.

    This makes the runtime linear in the length of the text.
    """
    n_blocks = max(1, -(-n_mentions // _BLOCK_SIZE))
    bounds = np.linspace(0, n_mentions, n_blocks + 1).round().astype(int).tolist()
    return [slice(low, high) for low, high in pairwise(bounds)]
