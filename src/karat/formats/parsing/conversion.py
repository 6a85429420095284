"""Conversion of labels to predictions, for formats that write both alike."""

from __future__ import annotations

from collections.abc import Iterable

from karat.model.document import Label, Prediction


def to_predictions(labels: Iterable[Label]) -> tuple[Prediction, ...]:
    """Return a prediction for each label, with span, entity, `same_as`, types and NIL cluster; drop other fields."""
    return tuple(
        Prediction(
            label.start,
            label.end,
            label.entity,
            same_as=label.same_as,
            types=label.types,
            nil_cluster=label.nil_cluster,
        )
        for label in labels
    )


def has_alternatives(labels: Iterable[Label]) -> bool:
    """Return whether labels have a `mention_id`, which predictions lack: several may then be one mention."""
    return any(label.mention_id is not None for label in labels)
