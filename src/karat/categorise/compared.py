"""The categoriser against categories that people assigned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from karat.categorise.categorise import assigned
from karat.categorise.pos import Tagger
from karat.errors import UsageError
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.scheme import DIMENSIONS, is_leaf


@dataclass(frozen=True, slots=True)
class Confusion:
    """In one dimension, how many labels have each leaf by people (first) and by the rules; None is undecided.

    Labels that people gave several leaves, or an inner node, are left out and counted in `unclear`.
    """

    dimension: str
    confusion: Mapping[tuple[str, str | None], int]
    unclear: int

    @property
    def total(self) -> int:
        """All labels that are compared."""
        return sum(self.confusion.values())

    @property
    def right(self) -> int:
        """Those with the same leaf."""
        return sum(count for (gold, found), count in self.confusion.items() if gold == found)

    @property
    def undecided(self) -> int:
        """Those for which the rules say nothing."""
        return sum(count for (_, found), count in self.confusion.items() if found is None)

    @property
    def accuracy(self) -> float | None:
        """The share that is right, where undecided is wrong; None if nothing is compared."""
        return self.right / self.total if self.total else None

    @property
    def accuracy_of_decided(self) -> float | None:
        """The share that is right among those decided; None if none is."""
        return self.right / (self.total - self.undecided) if self.total > self.undecided else None


def agreements(corpus: Corpus, *, kb: KB | None = None, tagger: Tagger | None = None) -> dict[str, Confusion]:
    """By dimension, what the rules say against the categories that the labels of a corpus have.

    Dimensions that no label has a category of are left out.
    """
    confusions: dict[str, Counter[tuple[str, str | None]]] = {name: Counter() for name in DIMENSIONS}
    unclear: Counter[str] = Counter()
    for one in assigned(corpus, kb=kb, tagger=tagger):
        for label, leaves in zip(one.document.labels, one.leaves, strict=True):
            for dimension, leaf in leaves.items():
                gold = {category for category in label.categories if category.startswith(f"{dimension}:")}
                if len(gold) == 1 and is_leaf(min(gold)):
                    confusions[dimension][min(gold), leaf] += 1
                else:
                    unclear[dimension] += bool(gold)
    if not any(confusions.values()):
        raise UsageError(f"{corpus.name} has no categories to compare with. Leave --evaluate out.")
    return {name: Confusion(name, counts, unclear[name]) for name, counts in confusions.items() if counts}
