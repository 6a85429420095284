"""Arrays about the entities of a lexicon from which `light` computes features: words, neighbours, types, popularity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import pyarrow.compute as pc

from karat.model.tables.columns import Floats, Longs
from karat.systems.linking.lexicon import Lexicon
from karat.systems.linking.relatedness import Neighbours, find_neighbours

WORD: Final = re.compile(r"\w\w+")
"""A word of names, descriptions and texts."""

_TYPE_IDS: Final = {"person": "Q215627", "organisation": "Q43229", "place": "Q27096213", "work": "Q17537576"}
"""The types that features tell apart, with their Wikidata ids."""

_TEAM: Final = re.compile(r"\b(?:team|teams|club|clubs|franchise)\b", re.IGNORECASE)
"""A word in the description of a sports team."""

TYPES: Final = (*_TYPE_IDS, "team")
"""The names of the types. A team has a word such as `club` in its description, and is no other organisation."""

_MAX_NEIGHBOURS: Final = 200
"""The maximal number of neighbours of an entity that features look at, those with the fewest neighbours first."""


class Lists(NamedTuple):
    """One list of integers per entity.

    `starts`: first entry of each entity in `values`, and the length of `values`.
    `values`: the entries, entity by entity.
    """

    starts: Longs
    values: Longs

    def gather(self, rows: Longs) -> tuple[Longs, Longs]:
        """Return the concatenated lists of `rows`, and where each one starts; empty lists have the next one's start."""
        counts = self.starts[rows + 1] - self.starts[rows]
        starts = np.cumsum(counts) - counts
        positions = np.arange(int(counts.sum())) + np.repeat(self.starts[rows] - starts, counts)
        return self.values[positions], starts

    def sum_by_row(self, weights: Floats, rows: Longs) -> Floats:
        """Return the sum of `weights`, by value, over the list of each row of `rows`."""
        values, starts = self.gather(rows)
        totals = np.concatenate([np.zeros(1), np.cumsum(weights[values])])
        return totals[np.append(starts[1:], len(values))] - totals[starts] if len(rows) else np.zeros(0)


@dataclass(frozen=True, eq=False)
class EntityTables:
    """Arrays about the entities of a lexicon, by entity code; neighbours that are no entities have higher codes.

    `names`: main name of each entity.
    `log_popularity`: natural logarithm of the popularity.
    `types`: whether an entity has each of `TYPES`, one column per type.
    `vocabulary`: code of each word in lower case.
    `idf`: inverse document frequency of each word, with names and descriptions as documents.
    `text_words`, `neighbour_words`: words of name and description, and of the names of neighbours.
    `text_norms`, `neighbour_norms`: Euclidean norms of the IDF of these words.
    `neighbours`: up to 200 neighbours in the link graph, those with the fewest neighbours first, without the entity.
    `rarity`: one over the logarithm of the number of neighbours of each entity and neighbour.
    """

    names: Sequence[str] = field(repr=False)
    log_popularity: Floats = field(repr=False)
    types: Floats = field(repr=False)
    vocabulary: dict[str, int] = field(repr=False)
    idf: Floats = field(repr=False)
    text_words: Lists = field(repr=False)
    neighbour_words: Lists = field(repr=False)
    text_norms: Floats = field(repr=False)
    neighbour_norms: Floats = field(repr=False)
    neighbours: Lists = field(repr=False)
    rarity: Floats = field(repr=False)


@cache
def build_entity_tables(lexicon: Lexicon) -> EntityTables:
    """Build the arrays for the entities of a lexicon from its snapshots, of which the first has precedence; cached."""
    graph = find_neighbours(lexicon)
    names, descriptions = [""] * len(graph.ids), [""] * len(lexicon.ids)
    types = np.zeros((len(lexicon.ids), len(TYPES)))
    for snapshot in reversed(lexicon.snapshots):
        entities, type_table = snapshot.get_table("entities"), snapshot.get_table("types")
        if entities is not None:
            for column, ids, target in (("name", graph.ids, names), ("description", lexicon.ids, descriptions)):
                for i, text in enumerate(entities.look_up(ids, column).to_pylist()):
                    target[i] = text or target[i]
        if type_table is not None:
            rows = type_table.look_up(lexicon.ids, "types")
            has_type = np.repeat(np.arange(len(rows)), pc.fill_null(pc.list_value_length(rows), 0).to_numpy())
            values = pc.list_flatten(rows)
            for index, id in enumerate(_TYPE_IDS.values()):
                types[has_type[pc.equal(values, id).to_numpy(zero_copy_only=False)], index] = 1.0
    organisation, team = TYPES.index("organisation"), TYPES.index("team")
    for code in np.flatnonzero(types[:, organisation]).tolist():
        if _TEAM.search(descriptions[code]) is not None:
            types[code, organisation], types[code, team] = 0.0, 1.0
    vocabulary: dict[str, int] = {}
    name_words = _index_words(names, vocabulary)
    text_words = _index_words(
        [f"{name} {description}" for name, description in zip(names, descriptions, strict=False)], vocabulary
    )
    neighbours, rarity = _select_neighbours(graph)
    neighbour_words = _join_lists(neighbours, name_words, len(vocabulary))
    counts = np.bincount(text_words.values, minlength=len(vocabulary))
    idf = np.log(max(len(lexicon.ids), 2) / np.maximum(counts, 1))
    return EntityTables(
        names[: len(lexicon.ids)],
        np.log(lexicon.popularity),
        types,
        vocabulary,
        idf,
        text_words,
        neighbour_words,
        _norms(text_words, idf),
        _norms(neighbour_words, idf),
        neighbours,
        rarity,
    )


def _index_words(texts: Sequence[str], vocabulary: dict[str, int]) -> Lists:
    """Return the codes of the distinct words of each text; new words get the next codes of `vocabulary`."""
    rows = [
        sorted({vocabulary.setdefault(word, len(vocabulary)) for word in WORD.findall(text.lower())}) for text in texts
    ]
    counts = np.array([len(row) for row in rows], np.int64)
    return Lists(np.append(0, np.cumsum(counts)), np.array([code for row in rows for code in row], np.int64))


def _select_neighbours(graph: Neighbours) -> tuple[Lists, Floats]:
    """Return the neighbours of each entity, the rarest first and at most 200, and one over the log of their degrees."""
    n_entities = len(graph.starts) - 1
    owner = np.repeat(np.arange(n_entities), np.diff(graph.starts))
    degree = np.bincount(graph.neighbours, minlength=graph.n_entities)
    mask = owner != graph.neighbours
    owner, values = owner[mask], graph.neighbours[mask]
    order = np.lexsort((values, degree[values], owner))
    owner, values = owner[order], values[order]
    starts = np.searchsorted(owner, np.arange(n_entities + 1))
    mask = np.arange(len(owner)) - starts[owner] < _MAX_NEIGHBOURS
    owner, values = owner[mask], values[mask]
    return Lists(np.searchsorted(owner, np.arange(n_entities + 1)), values), 1.0 / np.log(2.0 + degree)


def _join_lists(first: Lists, second: Lists, n_values: int) -> Lists:
    """Return the distinct values that `second` has for the values of `first`, sorted, by row of `first`."""
    n_rows = len(first.starts) - 1
    owner = np.repeat(np.arange(n_rows), np.diff(first.starts))
    values, _ = second.gather(first.values)
    counts = (second.starts[1:] - second.starts[:-1])[first.values]
    keys = np.unique(np.repeat(owner, counts) * n_values + values)
    return Lists(np.searchsorted(keys, np.arange(n_rows + 1) * n_values), keys % max(n_values, 1))


def _norms(words: Lists, idf: Floats) -> Floats:
    """Return the Euclidean norm of the IDF of each list of words; 1 for an empty list."""
    norms = np.sqrt(words.sum_by_row(idf**2, np.arange(len(words.starts) - 1)))
    return np.where(norms > 0, norms, 1.0)
