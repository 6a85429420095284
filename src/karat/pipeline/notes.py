"""Hints at mistakes that leave the numbers computable: said beside them, never acted on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from karat.matching.pairing import Pairing
from karat.model.columns import NIL, Mentions
from karat.model.statistics import Statistics

_LOOK_LIKE_NIL = ("nil", "<nil>", "none", "null", "nan", "unk", "<unk>", "--nme--", "not_in_kb")


def notes(pairing: Pairing, views: Mapping[str, Statistics]) -> tuple[str, ...]:
    """What a user should look at before trusting the numbers."""
    labels, answers = pairing.corpus.labels, pairing.run.answers
    return (
        *_taken_from_labels(pairing),
        *_foreign_ids(pairing),
        *_all_emerging(pairing),
        *_emerging(pairing),
        *_resolved(pairing),
        *_odd_scores(pairing),
        *_nil_as_text("gold labels", labels),
        *_nil_as_text("answers", answers),
        *_shifted(views),
    )


def _taken_from_labels(pairing: Pairing) -> Iterator[str]:
    if pairing.run.about.get("answers") == "labels":
        yield "the file holds gold labels, which are taken as answers"


def _foreign_ids(pairing: Pairing) -> Iterator[str]:
    gold, answers = pairing.corpus.labels.names, pairing.run.answers.names
    known = np.zeros(len(pairing.names) + 2, np.bool_)
    known[pairing.gold_entity] = True
    known[-2:] = False  # NO_LINK and NIL
    if len(gold) and len(answers) and known.any() and not known[pairing.answer_entity].any():
        yield (
            f"no entity id of the answers occurs in the gold standard (gold has {gold[0].as_py()!r}, answers have "
            f"{answers[0].as_py()!r})" + ("" if pairing.reading.renames else ": ids are compared as written")
        )


def _all_emerging(pairing: Pairing) -> Iterator[str]:
    """Ids in a form that the prefixes do not know: then everything is an emerging entity and matches everything."""
    if (
        pairing.reading.prefixes is not None
        and len(pairing.corpus.labels.names)
        and not (pairing.gold_entity >= 0).any()
    ):
        first = pairing.corpus.labels.names[0].as_py()
        yield (
            f"no gold id begins with a prefix of the knowledge base (the first is {first!r}), so that all of them are "
            "emerging entities and any two match: set prefixes to how your ids begin"
        )


def _emerging(pairing: Pairing) -> Iterator[str]:
    """How many ids are outside the knowledge base by their prefix."""
    if pairing.reading.prefixes is not None:
        gold = int(((pairing.gold_entity == NIL) & (pairing.corpus.labels.entity >= 0)).sum())
        answers = int(((pairing.answer_entity == NIL) & (pairing.run.answers.entity >= 0)).sum())
        if gold or answers:
            yield f"emerging entities by their prefix: {gold} gold labels, {answers} answers"


def _resolved(pairing: Pairing) -> Iterator[str]:
    """How many ids the knowledge base replaced."""
    kb = pairing.reading.kb
    if kb is not None:
        counts = []
        for items in (pairing.corpus.labels, pairing.run.answers):
            ids = items.names.to_pylist()
            moved = np.array([old != new for old, new in zip(ids, kb.canonical(ids), strict=True)] + [False, False])
            counts.append(int(moved[items.entity].sum()))
        yield f"{kb.name} replaced the ids of {counts[0]} gold labels and {counts[1]} answers"


def _odd_scores(pairing: Pairing) -> Iterator[str]:
    score = pairing.run.answers.score()
    outside = score[(score < 0) | (score > 1)]
    if len(outside):
        yield (
            f"{len(outside)} scores lie outside [0, 1] (from {outside.min():g} to {outside.max():g}): they are "
            "compared as they are"
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
