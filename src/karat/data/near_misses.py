"""Near misses: wrong predictions, paired with the gold links that they overlap, and how close the two entities are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from karat.kb.relatedness import InLinks
from karat.kb.snapshot.snapshot import Snapshot
from karat.matching.align.near_miss_credit import EntityNeighbourhood
from karat.model.corpus import Corpus
from karat.model.output.json_files import JsonRecord
from karat.model.run import Run
from karat.model.spec.relation import Nearness
from karat.model.tables.columns import Floats, Mentions

STEPS: Final = tuple(step / 10 for step in range(11))
"""Relatedness values above which the share of wrong predictions is reported."""

_TOLERANCE: Final = 1e-12


def share_above(values: Floats, threshold: float) -> float:
    """Return the share of relatedness values above a threshold; equal values, up to rounding errors, are not above."""
    return float((values > threshold + _TOLERANCE).mean())


class NearMiss(JsonRecord, frozen=True):
    """A wrong prediction and a gold link that it overlaps."""

    gold: str
    """Canonical id of the gold link."""
    prediction: str
    """Canonical id of the prediction."""
    nearness: Nearness
    """Kind of closeness between the two entities."""
    relatedness: float | None
    """Relatedness between 0 and 1; None if unknown."""


@dataclass(frozen=True)
class NearMisses:
    """All pairs of a wrong prediction and a gold link that it overlaps, with counts of predictions."""

    misses: tuple[NearMiss, ...]
    """Pairs of a wrong prediction and an overlapping gold link."""
    n_predictions: int
    """Number of predictions with a link."""
    n_wrong: int
    """Number of wrong predictions."""
    n_without_gold: int
    """Number of wrong predictions that overlap no gold link."""

    @property
    def cumulative_shares(self) -> Mapping[float, float]:
        """Share of pairs whose relatedness is above each of `STEPS`, among pairs with known relatedness.

        Empty without any. Figure 5 of the BAT paper shows these shares.
        """
        values = np.array([miss.relatedness for miss in self.misses if miss.relatedness is not None])
        return {step: share_above(values, step) for step in STEPS} if len(values) else {}

    @property
    def n_unknown(self) -> int:
        """Number of pairs whose relatedness is unknown."""
        return sum(miss.relatedness is None for miss in self.misses)

    @property
    def counts(self) -> Mapping[Nearness, int]:
        """Number of pairs by nearness."""
        counts = Counter(miss.nearness for miss in self.misses)
        return {nearness: counts[nearness] for nearness in Nearness}


def find_near_misses(corpus: Corpus, run: Run, snapshot: Snapshot) -> NearMisses:
    """Find the wrong predictions of a run and compare each with the gold links that it overlaps.

    A prediction is correct if it overlaps a label with the same entity, after all ids were resolved by the snapshot
    (weak annotation match). Every gold link that a wrong prediction overlaps makes a pair.
    """
    gold, predictions = corpus.labels, run.predictions
    document_index = {id: number for number, id in enumerate(corpus.table.column("id").to_pylist())}
    gold_documents = [document_index.get(id, -1) for id in run.ids.to_pylist()]
    entities = [_resolve_entities(gold, snapshot), _resolve_entities(predictions, snapshot)]
    pairs: list[tuple[str, str]] = []
    n_wrong = n_without_gold = 0
    for prediction, labels in _iterate_overlaps(gold, predictions, gold_documents):
        predicted = entities[1][prediction]
        gold_entities = [entities[0][label] for label in labels if entities[0][label] is not None]
        if predicted is None or predicted in gold_entities:
            continue
        n_wrong += 1
        n_without_gold += not gold_entities
        pairs += [(label, predicted) for label in dict.fromkeys(gold_entities) if label is not None]
    n_predictions = sum(entity is not None for entity in entities[1])
    return NearMisses(tuple(_describe_pairs(pairs, snapshot)), n_predictions, n_wrong, n_without_gold)


def _resolve_entities(mentions: Mentions, snapshot: Snapshot) -> list[str | None]:
    """Return the canonical id of the entity of each label or prediction in `mentions`; None for NIL and unlinked."""
    names = snapshot.canonical_ids(mentions.names.to_pylist())
    return [names[code] if code >= 0 else None for code in mentions.entity.tolist()]


def _iterate_overlaps(
    gold: Mentions, predictions: Mentions, gold_documents: Sequence[int]
) -> Iterator[tuple[int, list[int]]]:
    """Yield each prediction with the list of gold labels that it overlaps, as row numbers; the list may be empty.

    `gold_documents`: for each document with predictions, the index of the gold document with the same id, -1 if there
    is none. Only labels of that document can overlap.
    """
    for response, document in enumerate(gold_documents):
        first, last = (int(gold.offsets[document + step]) for step in (0, 1)) if document >= 0 else (0, 0)
        starts, ends = gold.start[first:last], gold.end[first:last]
        for prediction in range(int(predictions.offsets[response]), int(predictions.offsets[response + 1])):
            overlaps = np.flatnonzero((starts < predictions.end[prediction]) & (ends > predictions.start[prediction]))
            yield prediction, (overlaps + first).tolist()


def _describe_pairs(pairs: Sequence[tuple[str, str]], snapshot: Snapshot) -> Iterator[NearMiss]:
    """Yield a near miss for each pair of canonical ids, (gold, predicted), with nearness and relatedness.

    Relatedness is None if the snapshot has no links between pages.
    """
    gold, predictions = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if snapshot.get_table("links") is not None and pairs:
        related = InLinks.from_snapshot(snapshot, [*gold, *predictions]).relatedness(gold, predictions).tolist()
    else:
        related = [float("nan")] * len(pairs)
    ids = list(dict.fromkeys([*gold, *predictions]))
    entities = EntityNeighbourhood(snapshot, ids)
    for gold_id, predicted_id, value in zip(gold, predictions, related, strict=True):
        yield NearMiss(
            gold_id, predicted_id, entities.nearness(gold_id, predicted_id), None if np.isnan(value) else value
        )
