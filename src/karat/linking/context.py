"""How well the words of a text fit an entity: those of its description, its names and the names next to it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np
import pyarrow.compute as pc

from karat.linking.lexicon import Lexicon
from karat.linking.related import Neighbours, neighbours
from karat.model.tables.columns import Floats, Longs

_WORD: Final = re.compile(r"\w\w+")
_NEXT: Final = 200
"""How many names next to an entity are looked at, the least popular entities first: their names say most."""


@dataclass(frozen=True, eq=False)
class Keywords:
    """The words of each entity, and how rare each word is (inverse document frequency)."""

    near: Neighbours = field(repr=False)
    said: Sequence[str] = field(repr=False)
    """What is said of each entity and each of its neighbours: name and description, in small letters."""
    names: Sequence[str] = field(repr=False)
    rarity: dict[str, float] = field(repr=False)
    most: float
    _made: dict[int, tuple[frozenset[str], float]] = field(default_factory=dict, repr=False)

    def similarity(self, words: frozenset[str], but: frozenset[str], codes: Longs) -> Floats:
        """How much of what is said of some entities stands among the words, of which some do not count.

        It is the sum of their rarity, by the norm.
        """
        return np.array([self._fits(words, but, code) for code in codes.tolist()])

    def _fits(self, words: frozenset[str], but: frozenset[str], code: int) -> float:
        own, norm = self._of(code)
        shared = (own & words) - but  # in this order: a text has more words than an entity
        return math.fsum(self.rarity.get(word, self.most) for word in shared) / norm if shared else 0.0

    def _of(self, code: int) -> tuple[frozenset[str], float]:
        made = self._made.get(code)
        if made is None:
            low, high = int(self.near.starts[code]), int(self.near.starts[code + 1])
            beside = self.near.others[low : min(high, low + _NEXT)].tolist()
            text = " ".join([self.said[code], *(self.names[other] for other in beside)])
            words = frozenset(_WORD.findall(text))
            norm = float(np.sqrt(math.fsum(self.rarity.get(word, self.most) ** 2 for word in words))) or 1.0
            made = self._made[code] = (words, norm)
        return made


def words_of(text: str) -> frozenset[str]:
    """The words of a text in small letters."""
    return frozenset(_WORD.findall(text.lower()))


@cache
def keywords(known: Lexicon) -> Keywords:
    """What the packs of a lexicon say of its entities."""
    near = neighbours(known)
    names, descriptions = [""] * len(near.names), [""] * len(known.ids)
    for pack in reversed(known.packs):  # what the first one says goes before
        table = pack.table("entities")
        if table is not None:
            for column, ids, into in (("name", near.names, names), ("description", known.ids, descriptions)):
                for place, text in enumerate(pc.utf8_lower(table.aligned(ids, column)).to_pylist()):
                    into[place] = text or into[place]
    said = [f"{name} {description}" for name, description in zip(names, descriptions, strict=False)]
    seen = Counter(word for text in said for word in set(_WORD.findall(text)))
    many = max(len(said), 2)
    rarity = {word: float(np.log(many / count)) for word, count in seen.items()}
    return Keywords(near, said, names, rarity, float(np.log(many)))
