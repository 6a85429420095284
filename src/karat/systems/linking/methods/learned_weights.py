"""Small learned parts of methods, read from JSON files that `tools/train_methods.py` writes."""

from __future__ import annotations

from importlib.resources import files
from typing import TypeVar

import msgspec
import numpy as np

from karat.model.json.decoder import decode_json
from karat.model.tables.columns import Floats

_Weights = TypeVar("_Weights", bound="LearnedWeights")


class DecisionTree(msgspec.Struct, frozen=True):
    """A binary decision tree.

    `features`: index of the feature that each node compares; -1 for a leaf.
    `values`: threshold of each node: values up to it go left; for a leaf, its probability.
    `left`: left child of each node; the right child follows it. 0 for a leaf.
    """

    features: tuple[int, ...]
    values: tuple[float, ...]
    left: tuple[int, ...]

    def predict(self, rows: Floats) -> Floats:
        """Return the probability of each row of features."""
        features, values, left = np.array(self.features), np.array(self.values), np.array(self.left)
        nodes = np.zeros(len(rows), np.int64)
        while (inner := features[nodes] >= 0).any():
            above = rows[inner, features[nodes[inner]]] > values[nodes[inner]]
            nodes[inner] = left[nodes[inner]] + above
        return np.asarray(values[nodes])


class DecisionTrees(msgspec.Struct, frozen=True):
    """Decision trees that vote: the probability is the mean of theirs."""

    trees: tuple[DecisionTree, ...]

    def predict(self, rows: Floats) -> Floats:
        """Return the probability of each row of features."""
        return np.asarray(np.mean([tree.predict(rows) for tree in self.trees], axis=0)) if len(rows) else np.zeros(0)


class LinearModel(msgspec.Struct, frozen=True):
    """A weighted sum of features.

    `weights`: weight of each feature.
    `bias`: constant.
    """

    weights: tuple[float, ...]
    bias: float = 0.0

    def score(self, rows: Floats) -> Floats:
        """Return the weighted sum of each row of features."""
        return np.asarray(rows @ np.array(self.weights) + self.bias)

    def predict(self, rows: Floats) -> Floats:
        """Return the probability of each row of features, the logistic function of its weighted sum."""
        return np.asarray(1.0 / (1.0 + np.exp(-self.score(rows))))


class LearnedWeights(msgspec.Struct, frozen=True, kw_only=True):
    """The learned parts of a method, with their origin.

    `seed`: random seed of the training.
    `corpora`: names of the corpora that were trained on.
    `n_mentions`: number of gold mentions in them.
    `data`: SHA-256 of their files, in order.
    `kb`: name and digest of the snapshot.
    """

    seed: int
    corpora: tuple[str, ...]
    n_mentions: int
    data: str
    kb: str


def load_weights(name: str, kind: type[_Weights]) -> _Weights:
    """Load the learned parts of the method `name`."""
    file = files("karat.systems.linking.methods") / "weights" / f"{name}.json"
    return decode_json(file.read_bytes(), kind)
