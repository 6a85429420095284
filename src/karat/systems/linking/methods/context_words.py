"""Words of entities, from names, descriptions and neighbours, and words around mentions."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import pyarrow.compute as pc

from karat.model.tables.columns import Floats, Longs
from karat.systems.linking.lexicon import Lexicon
from karat.systems.linking.relatedness import Neighbours, find_neighbours

_WORD: Final = re.compile(r"\w\w+")
_MAX_NEIGHBOURS: Final = 200
"""The maximal number of neighbours whose names are used."""


class TextWords(NamedTuple):
    """The words of a text in lower case, in order; words of one character are dropped.

    `words`: words.
    `offsets`: start of each word.
    """

    words: list[str]
    offsets: list[int]

    @classmethod
    def from_text(cls, text: str) -> TextWords:
        """Split a text."""
        matches = list(_WORD.finditer(text))
        return cls([match[0].lower() for match in matches], [match.start() for match in matches])

    def count_all(self) -> Counter[str]:
        """Count all words."""
        return Counter(self.words)

    def count_around(self, start: int, end: int, n_words: int) -> Counter[str]:
        """Count up to `n_words` words before and after the span from `start` to `end`, without its own words."""
        first, last = bisect_left(self.offsets, start), bisect_left(self.offsets, end)
        return Counter(self.words[max(0, first - n_words) : first] + self.words[last : last + n_words])


class WordVector(NamedTuple):
    """Weighted words.

    `weights`: weight of each word.
    `norm`: Euclidean norm of the weights.
    """

    weights: Mapping[str, float]
    norm: float

    def cosine(self, other: WordVector) -> float:
        """Return the cosine of two vectors; 0 if one has no weight. The time is linear in the words of this one."""
        if not (self.norm and other.norm):
            return 0.0
        shared = (weight * other.weights[word] for word, weight in self.weights.items() if word in other.weights)
        return min(1.0, math.fsum(shared) / (self.norm * other.norm))


@dataclass(frozen=True, eq=False)
class Keywords:
    """The words of each entity: those of its name, its description and the names of its neighbours.

    `neighbours`: neighbours of the entities in the link graph.
    `texts`: name and description of each entity, in lower case, by entity code.
    `names`: name of each entity and neighbour, in lower case, by code.
    `idf`: inverse document frequency of each word, with the texts as documents.
    `max_idf`: inverse document frequency of unknown words.
    """

    neighbours: Neighbours = field(repr=False)
    texts: Sequence[str] = field(repr=False)
    names: Sequence[str] = field(repr=False)
    idf: dict[str, float] = field(repr=False)
    max_idf: float
    _cache: dict[int, tuple[frozenset[str], float]] = field(default_factory=dict, repr=False)
    _counts: dict[int, Counter[str]] = field(default_factory=dict, repr=False)
    _vectors: dict[int, WordVector] = field(default_factory=dict, repr=False)

    def similarity(self, words: frozenset[str], ignored: frozenset[str], codes: Longs) -> Floats:
        """Return the similarity of a text, given by its `words`, to each entity of `codes`.

        The similarity is the sum of the IDF of shared words that are not `ignored`, over the Euclidean norm of the IDF
        of all words of the entity.
        """
        return np.array([self._similarity(words, ignored, code) for code in codes.tolist()])

    def _similarity(self, words: frozenset[str], ignored: frozenset[str], code: int) -> float:
        """Return the similarity of `words` to one entity."""
        entity_words, norm = self._words_and_norm(code)
        shared = (entity_words & words) - ignored  # fastest in this order: a text has more words than an entity
        return math.fsum(self.idf.get(word, self.max_idf) for word in shared) / norm if shared else 0.0

    def _words_and_norm(self, code: int) -> tuple[frozenset[str], float]:
        """Return the words of an entity, with up to 200 neighbours, and the norm of their IDF; the result is cached."""
        entry = self._cache.get(code)
        if entry is None:
            words = frozenset(_WORD.findall(self._join_texts(code)))
            norm = float(np.sqrt(math.fsum(self.idf.get(word, self.max_idf) ** 2 for word in words))) or 1.0
            entry = self._cache[code] = (words, norm)
        return entry

    def count_words(self, code: int) -> Counter[str]:
        """Count the words of an entity, with up to 200 neighbours; the result is cached."""
        counts = self._counts.get(code)
        if counts is None:
            counts = self._counts[code] = Counter(_WORD.findall(self._join_texts(code)))
        return counts

    def _join_texts(self, code: int) -> str:
        """Return name and description of an entity and the names of up to 200 neighbours."""
        low, high = int(self.neighbours.starts[code]), int(self.neighbours.starts[code + 1])
        neighbour_codes = self.neighbours.neighbours[low : min(high, low + _MAX_NEIGHBOURS)].tolist()
        return " ".join([self.texts[code], *(self.names[neighbour] for neighbour in neighbour_codes)])

    def weigh(self, counts: Mapping[str, int]) -> WordVector:
        """Return the TF·IDF vector of counted words."""
        weights = {word: count * self.idf.get(word, self.max_idf) for word, count in counts.items()}
        return WordVector(weights, math.sqrt(math.fsum(weight * weight for weight in weights.values())))

    def get_vector(self, code: int) -> WordVector:
        """Return the TF·IDF vector of the words of an entity; the result is cached."""
        vector = self._vectors.get(code)
        if vector is None:
            vector = self._vectors[code] = self.weigh(self.count_words(code))
        return vector


def split_words(text: str) -> frozenset[str]:
    """Return the distinct words of a text in lower case; words of one character are dropped."""
    return frozenset(_WORD.findall(text.lower()))


@cache
def build_keywords(lexicon: Lexicon) -> Keywords:
    """Build the keywords of a lexicon's entities: words of names, descriptions and names of neighbours. Cached.

    The texts come from the lexicon's snapshots; for each entity, the first snapshot with a name gives the name, and the
    first snapshot with a description gives the description.
    """
    neighbours = find_neighbours(lexicon)
    names, descriptions = [""] * len(neighbours.ids), [""] * len(lexicon.ids)
    for snapshot in reversed(lexicon.snapshots):  # the first snapshot has precedence
        table = snapshot.get_table("entities")
        if table is not None:
            for column, ids, target in (("name", neighbours.ids, names), ("description", lexicon.ids, descriptions)):
                for i, text in enumerate(pc.utf8_lower(table.look_up(ids, column)).to_pylist()):
                    target[i] = text or target[i]
    texts = [f"{name} {description}" for name, description in zip(names, descriptions, strict=False)]
    word_counts = Counter(word for text in texts for word in set(_WORD.findall(text)))
    n_texts = max(len(texts), 2)
    idf = {word: float(np.log(n_texts / count)) for word, count in word_counts.items()}
    return Keywords(neighbours, texts, names, idf, float(np.log(n_texts)))
