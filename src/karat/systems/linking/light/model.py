"""The linear models of `light` and their committed weights: ranking, confidence and detection."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from karat.model.json.decoder import decode_json
from karat.model.tables.columns import Floats, Longs
from karat.storage.files import Source
from karat.systems.linking.light.candidate_features import CONTEXT, FEATURES, MENTION_FEATURES

WEIGHTS_FILE: Final = Path(__file__).with_name("weights.json")
"""The file of weights that `tools/train_light.py` writes."""

BIAS: Final = "bias"
"""The name of the constant term of a model."""

_TOP_FEATURES: Final = (
    "log_share",
    "log_popularity",
    "exact",
    "folded",
    "equals_title",
    "folds_to_title",
    "title_coverage",
    *CONTEXT[: CONTEXT.index("same_type")],
)
CONFIDENCE_FEATURES: Final = ("probability", "lead_in_ranking", *_TOP_FEATURES, *MENTION_FEATURES)
"""The features of a link from which its confidence is computed."""

_TOP_COLUMNS: Final = np.array([FEATURES.index(name) for name in _TOP_FEATURES])


class TrainingSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A dataset from which weights were learned."""

    name: str
    """The name."""
    path: str
    """The path of the file or folder, relative to the folder of published data."""
    digest: str
    """The digest of the corpus as loaded."""
    documents: int
    """The number of documents."""
    mentions: int
    """The number of distinct spans with a gold label."""
    mentions_in_kb: int
    """The number of these whose entity the knowledge base has."""
    excluded: int
    """The number of documents that are not used, because a test document is nearly the same."""


class LightWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The weights of the three linear models by feature, and where they come from."""

    layout: str
    """The layout of the file."""
    script: str
    """The script that wrote the file."""
    seed: str
    """The text that, with the text of a document, decides whether the document is in the development part."""
    kb: str
    """The name and digest of the snapshot."""
    data: tuple[TrainingSet, ...]
    """The training data."""
    n_train: int
    """The number of documents in the training part."""
    n_dev: int
    """The number of documents in the development part."""
    ranking: Mapping[str, float]
    """The weights of `FEATURES`."""
    confidence: Mapping[str, float]
    """The weights of `CONFIDENCE_FEATURES` and the bias."""
    detection: Mapping[str, float]
    """The weights of `DETECTION_FEATURES` and the bias."""
    thresholds: Mapping[str, float]
    """The thresholds tuned on the development part: `detection`, `confidence` and `nil`."""


@cache
def load_weights() -> LightWeights:
    """Load the committed weights; cached."""
    return decode_json(Source(str(WEIGHTS_FILE)).read_bytes(), LightWeights)


def compute_weights_digest() -> str:
    """Return a digest of the file of weights, for manifests."""
    return hashlib.sha256(Source(str(WEIGHTS_FILE)).read_bytes()).hexdigest()[:8]


def to_vector(weights: Mapping[str, float], features: Sequence[str]) -> Floats:
    """Return the weights of `features` in order."""
    return np.array([weights[name] for name in features])


def softmax_by_owner(scores: Floats, owner: Longs, n_owners: int) -> Floats:
    """Return the softmax of the scores of each owner; owners are sorted and have at least one score each."""
    starts = np.searchsorted(owner, np.arange(n_owners))
    largest = np.maximum.reduceat(scores, starts)
    powers = np.exp(scores - largest[owner])
    return np.asarray(powers / np.add.reduceat(powers, starts)[owner])


def describe_links(probability: Floats, order: Longs, starts: Longs, candidates: Floats, mentions: Floats) -> Floats:
    """Return one row of `CONFIDENCE_FEATURES` per mention.

    `probability`: that of each candidate in the ranking.
    `order`: candidates, mention after mention, the best first.
    `starts`: where each mention starts in `order`.
    `candidates`, `mentions`: values of `FEATURES` and `MENTION_FEATURES`.
    """
    ends = np.append(starts[1:], len(order))
    first = order[starts]
    second = np.where(ends - starts > 1, probability[order[np.minimum(starts + 1, len(order) - 1)]], 0.0)
    return np.column_stack(
        [probability[first], probability[first] - second, candidates[np.ix_(first, _TOP_COLUMNS)], mentions]
    )


def predict_probability(features: Floats, weights: Floats, bias: float) -> Floats:
    """Return the probability that a logistic model predicts for each row of features."""
    return np.asarray(1.0 / (1.0 + np.exp(-(features @ weights + bias))))
