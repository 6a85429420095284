"""Answers from what was read as labels, where a format writes both alike."""

from __future__ import annotations

from collections.abc import Iterable

from karat.model.document import Answer, Label


def as_answers(labels: Iterable[Label]) -> tuple[Answer, ...]:
    """An answer for each label, with all that an answer has of it."""
    return tuple(
        Answer(
            label.start,
            label.end,
            label.entity,
            same_as=label.same_as,
            types=label.types,
            nil_cluster=label.nil_cluster,
        )
        for label in labels
    )
