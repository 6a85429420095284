"""Hints at mistakes that leave the numbers computable: said beside them, never acted on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from karat.matching.pairing import Pairing
from karat.model.columns import Mentions
from karat.model.statistics import Statistics

_LOOK_LIKE_NIL = ("nil", "<nil>", "none", "null", "nan", "unk", "<unk>", "--nme--", "not_in_kb")


def notes(pairing: Pairing, views: Mapping[str, Statistics]) -> tuple[str, ...]:
    """What a user should look at before trusting the numbers."""
    labels, answers = pairing.corpus.labels, pairing.run.answers
    return (
        *_taken_from_labels(pairing),
        *_foreign_ids(pairing),
        *_nil_as_text("gold labels", labels),
        *_nil_as_text("answers", answers),
        *_shifted(views),
    )


def _taken_from_labels(pairing: Pairing) -> Iterator[str]:
    if pairing.run.about.get("answers") == "labels":
        yield "the file holds gold labels, which are taken as answers"


def _foreign_ids(pairing: Pairing) -> Iterator[str]:
    gold, answers = pairing.corpus.labels.names, pairing.run.answers.names
    if len(gold) and len(answers) and not np.isin(pairing.answer_entity, pairing.gold_entity[pairing.gold_entity >= 0]).any():
        yield (
            f"no entity id of the answers occurs in the gold standard (gold has {gold[0].as_py()!r}, answers have "
            f"{answers[0].as_py()!r}): ids are compared as written"
        )


def _nil_as_text(what: str, mentions: Mentions) -> Iterator[str]:
    for code, name in enumerate(mentions.names.to_pylist() if len(mentions.names) < 100_000 else ()):
        if name.lower() in _LOOK_LIKE_NIL:
            count = int((mentions.entity == code).sum())
            yield f"{count} {what} are linked to the id {name!r}, which is an entity like any other: NIL is null"


def _shifted(views: Mapping[str, Statistics]) -> Iterator[str]:
    """Overlap nearly everywhere but hardly an equal span: offsets are counted in another way."""
    if "strong" in views and "weak" in views:
        strong, weak = float(views["strong"].matched_gold.sum()), float(views["weak"].matched_gold.sum())
        if weak >= 10 and weak > 0.3 * float(views["weak"].answers.sum()) and strong < 0.1 * weak:
            yield (
                "answers overlap mentions but hardly ever have their span: offsets may be in bytes or UTF-16 units, or "
                "ends inclusive, where Karat counts code points and half-open spans"
            )
