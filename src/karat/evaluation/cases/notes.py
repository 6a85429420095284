"""Hints at mistakes that leave the numbers computable: said beside them, never acted on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.fitting import counted
from karat.kb.protocol import KB, Standing
from karat.kb.spelling import spelt
from karat.matching.read.pairing import Pairing
from karat.matching.read.reading import Reading
from karat.model.statistics import Statistics
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, Bools, Ints, Mentions
from karat.model.tables.digest import string_hashes
from karat.spec.choices.conventions import Ids

_FIRST = 10_000  # mentions that are looked at before all others
_USUAL = (Standing.UNCHANGED, Standing.MAPPED)
_LOOK_LIKE_NIL = ("nil", "<nil>", "none", "null", "nan", "unk", "<unk>", "--nme--", "not_in_kb")


class NoticedSide(NamedTuple):
    """What is noticed about the entities of gold labels or answers; it adds up over blocks.

    `example` is an id as written, where it may be told: the smallest, so that no order of documents or mentions
    chooses another. `ids` are fingerprints of the entities as they are read, kept as long as none was seen on both
    sides. `emerging` and `replaced` count mentions whose id the reading changes, `odd` those whose id looks like NIL,
    and `standings` those that the knowledge base moved, does not know or cannot tell.
    """

    example: str | None = None
    linked: int = 0
    ids: frozenset[int] = frozenset()
    emerging: int = 0
    replaced: int = 0
    odd: tuple[tuple[str, int], ...] = ()
    standings: tuple[tuple[str, int], ...] = ()

    def plus(self, other: NoticedSide, *, ids: bool) -> NoticedSide:
        """What is noticed about both together."""
        return NoticedSide(
            min((one for one in (self.example, other.example) if one is not None), default=None),
            self.linked + other.linked,
            self.ids | other.ids if ids else frozenset(),
            self.emerging + other.emerging,
            self.replaced + other.replaced,
            _together(self.odd, other.odd),
            _together(self.standings, other.standings),
        )


def _together(one: tuple[tuple[str, int], ...], other: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((Counter(dict(one)) + Counter(dict(other))).items()))


class Noticed(NamedTuple):
    """What is noticed about a corpus and a run, or about a block of them; `shared` if they have an entity in common.

    `scores` are the number of scores outside [0, 1], the lowest and the highest of them.
    """

    gold: NoticedSide = NoticedSide()
    answers: NoticedSide = NoticedSide()
    shared: bool = False
    scores: tuple[int, float, float] = (0, np.inf, -np.inf)

    def plus(self, other: Noticed) -> Noticed:
        """What is noticed about both together."""
        ids = [one.ids | two.ids for one, two in ((self.gold, other.gold), (self.answers, other.answers))]
        shared = self.shared or other.shared or not ids[0].isdisjoint(ids[1])
        (count, low, high), (more, lower, higher) = self.scores, other.scores
        return Noticed(
            self.gold.plus(other.gold, ids=not shared),
            self.answers.plus(other.answers, ids=not shared),
            shared,
            (count + more, min(low, lower), max(high, higher)),
        )


def notes(pairing: Pairing, views: Mapping[str, Statistics]) -> tuple[str, ...]:
    """What a user should look at before trusting the numbers."""
    return said(noticed(pairing), pairing.reading, views, from_labels=pairing.run.about.get("answers") == "labels")


def noticed(pairing: Pairing) -> Noticed:
    """What there is to notice."""
    shared = _shared(pairing)
    labels, answers, how = pairing.corpus.labels, pairing.run.answers, pairing.reading
    score = answers.score()
    outside = score[(score < 0) | (score > 1)]
    gold = pairing.of_gold("noticed", lambda: _side(labels, pairing.gold_entity, pairing.plain[0], how))
    answered = _side(answers, pairing.answer_entity, pairing.plain[1], how)
    return Noticed(
        _with_ids(gold, labels, pairing.gold_entity, pairing, shared=shared),
        _with_ids(answered, answers, pairing.answer_entity, pairing, shared=shared),
        shared,
        (len(outside), float(outside.min(initial=np.inf)), float(outside.max(initial=-np.inf))),
    )


def _shared(pairing: Pairing) -> bool:
    """Whether an entity is on both sides; mostly the first mentions show it."""
    for some in (_FIRST, None):
        known = np.zeros(len(pairing.names) + 2, np.bool_)
        known[pairing.gold_entity[:some]] = True
        known[-2:] = False  # NO_LINK and NIL
        if known[pairing.answer_entity[:some]].any():
            return True
    return False


def _with_ids(side: NoticedSide, mentions: Mentions, entity: Ints, pairing: Pairing, *, shared: bool) -> NoticedSide:
    """What is noticed, with the ids that are told where none is on both sides, or none in the knowledge base."""
    if shared and pairing.reading.prefixes is None:
        return side
    present = np.zeros(0, np.int32) if shared else np.unique(entity[entity >= 0])
    ids = string_hashes(pairing.names.take(pa.array(present))).tolist()
    return side._replace(example=_example(mentions), ids=frozenset(ids))


def _side(mentions: Mentions, entity: Ints, usual: Bools, how: Reading) -> NoticedSide:
    """What is noticed about one side, but for its ids."""
    return NoticedSide(
        None,
        int((entity >= 0).sum()),
        frozenset(),
        0 if how.prefixes is None else int(((entity == NIL) & (mentions.entity >= 0)).sum()),
        _replaced(mentions, how),
        tuple(_nil_as_text(mentions, usual)),
        _standings(mentions, how.kb),
    )


def _example(mentions: Mentions) -> str | None:
    """The smallest id in use."""
    named = np.zeros(len(mentions.names) + 2, np.bool_)
    named[mentions.entity] = True
    found: str | None = pc.min(mentions.names.filter(pa.array(named[:-2]))).as_py()  # without NO_LINK and NIL
    return found


def _replaced(mentions: Mentions, how: Reading) -> int:
    """How many ids the knowledge base replaced."""
    if how.kb is None:
        return 0
    ids, new = spelt(mentions.names, how.ids).to_pylist(), how.kb.canonical(mentions.names.to_pylist())
    moved = np.array([old != other for old, other in zip(ids, new, strict=True)] + [False, False])
    return int(moved[mentions.entity].sum())


def _standings(mentions: Mentions, kb: KB | None) -> tuple[tuple[str, int], ...]:
    """How many mentions have ids of each standing but the usual ones."""
    if kb is None:
        return ()
    uses = np.bincount(mentions.entity[mentions.entity >= 0], minlength=len(mentions.names)).tolist()
    found: Counter[str] = Counter()
    for standing, count in zip(kb.standings(mentions.names.to_pylist()), uses, strict=True):
        found[str(standing)] += count
    return tuple(sorted((name, count) for name, count in found.items() if count and name not in _USUAL))


def _nil_as_text(mentions: Mentions, usual: Bools) -> Iterator[tuple[str, int]]:
    rest = np.flatnonzero(~usual)
    ids = pc.utf8_lower(mentions.names.take(pa.array(rest)))
    alike = pc.is_in(ids, _look_like_nil()).to_numpy(zero_copy_only=False)
    for code in rest[alike].tolist():
        count = int((mentions.entity == code).sum())
        if count:
            yield str(mentions.names[code].as_py()), count


@cache
def _look_like_nil() -> Arrow:
    return pa.array(_LOOK_LIKE_NIL)


def said(
    found: Noticed, how: Reading, views: Mapping[str, Statistics], *, from_labels: bool = False, apart: bool = False
) -> tuple[str, ...]:
    """What was noticed, in words.

    `from_labels` says that gold labels are taken as answers, `apart` that it is said already which ids cannot meet.
    """
    return (
        *(["the file holds gold labels, which are taken as answers"] if from_labels else []),
        *([] if apart else _foreign_ids(found, how)),
        *_all_emerging(found.gold, how),
        *_emerging(found, how),
        *_resolved(found, how),
        *_odd_scores(*found.scores),
        *_odd_ids("gold labels", found.gold),
        *_odd_ids("answers", found.answers),
        *_shifted(views),
    )


def _foreign_ids(found: Noticed, how: Reading) -> Iterator[str]:
    gold, answers = found.gold, found.answers
    if gold.example and answers.example and gold.linked and not found.shared:
        yield (
            f"no entity id of the answers occurs in the gold standard (gold has {gold.example!r}, answers have "
            f"{answers.example!r})" + (": ids are compared as written" if how.ids is Ids.AS_WRITTEN else "")
        )


def _all_emerging(gold: NoticedSide, how: Reading) -> Iterator[str]:
    """Ids in a form that the prefixes do not know: then everything is an emerging entity and matches everything."""
    if how.prefixes is not None and gold.example and not gold.linked:
        yield (
            f"no gold id begins with a prefix of the knowledge base (one is {gold.example!r}), so that all of "
            "them are emerging entities and any two match: set prefixes to how your ids begin"
        )


def _emerging(found: Noticed, how: Reading) -> Iterator[str]:
    """How many ids are outside the knowledge base by their prefix."""
    gold, answers = found.gold.emerging, found.answers.emerging
    if how.prefixes is not None and (gold or answers):
        yield f"emerging entities by their prefix: {counted(gold, 'gold label')}, {counted(answers, 'answer')}"


def _resolved(found: Noticed, how: Reading) -> Iterator[str]:
    gold, answers = found.gold.replaced, found.answers.replaced
    if how.kb is not None:
        yield (
            f"{how.kb.name} replaced the ids of {counted(gold, 'gold label')} and {counted(answers, 'answer')}"
            + "".join(
                f"; of {what}: " + ", ".join(f"{name} {count}" for name, count in side.standings)
                for what, side in (("gold", found.gold), ("answers", found.answers))
                if side.standings
            )
        )


def _odd_scores(count: int, low: float, high: float) -> Iterator[str]:
    if count:
        yield f"{count} scores lie outside [0, 1] (from {low:g} to {high:g}): they are compared as they are"


def _odd_ids(what: str, side: NoticedSide) -> Iterator[str]:
    for name, count in side.odd:
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
