"""What judges say of a link, and what follows from what several of them say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Final, NamedTuple

import msgspec


class Decision(StrEnum):
    """What a judge did."""

    VERIFY = "verify"
    """Mention and link are appropriate."""
    MODIFY = "modify"
    """The mention is one, but another entity is meant: an error of linking."""
    REMOVE = "remove"
    """What is marked is no mention of an entity: an error of detection."""
    CHOOSE = "choose"
    """Which of the links that are proposed a mention should have; none of them is: do not annotate it."""
    ADD = "add"
    """A link is missing here."""
    SKIP = "skip"
    """No judgement on this task, for a reason."""
    UNDO = "undo"
    """An earlier record of the same judge does not hold."""


OUTCOMES: Final = (Decision.VERIFY, Decision.MODIFY, Decision.REMOVE)
"""The decisions that are about a link which was shown."""

ANSWERS: Final = (*OUTCOMES, Decision.CHOOSE)
"""The decisions that a task needs, one for each thing that it shows."""


class Judgement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One record: who decided what, on what was shown, and when. Records are added and never changed.

    `judge` is a random pseudonym. `link` is the place of the link in its task, and None where the whole task is meant;
    `surface`, `start`, `end` and `entity` are what was shown, or where a link is added. `becomes` is the entity that a
    link is modified to, or that is added; `chosen` are the links that a mention should have. `at` is the server's time
    and `client_time` the judge's, both in ISO 8601. `late` says that somebody else could have got the task already.
    `machine` names a judge that is no person.
    """

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    judge: str
    task: int
    decision: Decision
    at: str
    link: int | None = None
    surface: str = ""
    start: int | None = None
    end: int | None = None
    entity: str | None = None
    becomes: str | None = None
    chosen: tuple[str, ...] = ()
    reason: str | None = None
    seconds: float | None = None
    client_time: str | None = None
    late: bool = False
    undoes: str | None = None
    machine: str | None = None


def standing(records: Iterable[Judgement]) -> list[Judgement]:
    """The records that hold, in their order: those not undone, and of several of a judge on one link the last."""
    every = list(records)
    undone = {one.undoes for one in every if one.decision is Decision.UNDO}
    kept: dict[tuple[object, ...], Judgement] = {}
    for one in every:
        if one.decision is Decision.UNDO or one.id in undone:
            continue
        key = (one.judge, one.task, one.link, one.start, one.end)
        kept.pop(key, None)
        kept[key] = one
    return list(kept.values())


class Ruling(NamedTuple):
    """What judges together say of a link: the decision, the entity it becomes, and how many said what."""

    decision: Decision
    becomes: str | None
    votes: Mapping[str, int]


def together(said: Sequence[Judgement], judges: int = 1) -> Ruling | None:
    """What the first `judges` judgements say of a link, those in time first; None where there are none, or a tie.

    More than one judge decide by majority, and of those who modify the entity that most of them gave holds, the
    earlier one of equals.
    """
    counted = sorted((one for one in said if one.decision in OUTCOMES), key=lambda one: one.late)[:judges]
    votes = Counter(one.decision for one in counted)
    ranked = votes.most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    decision = ranked[0][0]
    chosen = Counter(one.becomes for one in counted if one.decision is Decision.MODIFY)
    becomes = counted[0].entity if decision is Decision.VERIFY else None
    if decision is Decision.MODIFY:
        becomes = chosen.most_common(1)[0][0]
    return Ruling(decision, becomes, {each.value: votes[each] for each in OUTCOMES if votes[each]})
