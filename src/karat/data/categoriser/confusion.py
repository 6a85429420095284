"""Comparison of rule-based categories with manual ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from karat.data.categoriser.categorise import assign_categories
from karat.data.categoriser.pos import Tagger
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.finegrained_scheme import DIMENSIONS, is_leaf


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of labels in one dimension by manual and rule-based leaf.

    `dimension`: name of the dimension.
    `confusion`: counts by pair of manual leaf and rule-based leaf (None if undecided).
    `unclear`: number of excluded labels, which have several manual leaves or an inner node.
    """

    dimension: str
    confusion: Mapping[tuple[str, str | None], int]
    unclear: int

    @property
    def total(self) -> int:
        """Number of compared labels."""
        return sum(self.confusion.values())

    @property
    def correct(self) -> int:
        """Number of labels with the same leaf."""
        return sum(count for (gold, predicted), count in self.confusion.items() if gold == predicted)

    @property
    def undecided(self) -> int:
        """Number of labels that the rules leave undecided."""
        return sum(count for (_, predicted), count in self.confusion.items() if predicted is None)

    @property
    def accuracy(self) -> float | None:
        """Share of correct labels, counting undecided ones as wrong; None if there are no labels."""
        return self.correct / self.total if self.total else None

    @property
    def accuracy_of_decided(self) -> float | None:
        """Share of correct labels among the decided ones; None if there are none."""
        return self.correct / (self.total - self.undecided) if self.total > self.undecided else None


def compare_categories(corpus: Corpus, *, kb: KB | None = None, tagger: Tagger | None = None) -> dict[str, Confusion]:
    """Compare rule-based categories with those in the corpus; return a confusion matrix by dimension.

    Dimensions without manual categories are omitted. Raises `UsageError` if there are none in any dimension.
    """
    confusions: dict[str, Counter[tuple[str, str | None]]] = {name: Counter() for name in DIMENSIONS}
    unclear: Counter[str] = Counter()
    for document in assign_categories(corpus, kb=kb, tagger=tagger):
        for label, leaves in zip(document.document.labels, document.leaves, strict=True):
            for dimension, leaf in leaves.items():
                gold = {category for category in label.categories if category.startswith(f"{dimension}:")}
                if len(gold) == 1 and is_leaf(min(gold)):
                    confusions[dimension][min(gold), leaf] += 1
                else:
                    unclear[dimension] += bool(gold)
    if not any(confusions.values()):
        raise UsageError(f"{corpus.name} has no categories to compare with. Omit --evaluate.")
    return {name: Confusion(name, counts, unclear[name]) for name, counts in confusions.items() if counts}
