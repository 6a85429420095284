"""Decisions of judges on links, and the consensus of several judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Final, NamedTuple

import msgspec

from karat.model.errors import UsageError


class Decision(StrEnum):
    """A judge's decision."""

    VERIFY = "verify"
    """Mention and link are correct."""
    MODIFY = "modify"
    """The mention is correct, but means another entity: a linking error."""
    REMOVE = "remove"
    """The highlighted text is no mention of an entity: a detection error."""
    CHOOSE = "choose"
    """The judge chose among proposed links; choosing none means: do not annotate."""
    ADD = "add"
    """A link is missing here."""
    SKIP = "skip"
    """No judgement on this task, with a reason."""
    UNDO = "undo"
    """An earlier record of the same judge is withdrawn."""


OUTCOMES: Final = (Decision.VERIFY, Decision.MODIFY, Decision.REMOVE)
"""Decisions about a link that was shown."""

REQUIRED_DECISIONS: Final = (*OUTCOMES, Decision.CHOOSE)
"""Decisions that complete a task: one for each link that it shows."""


class Judgement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A record of one decision. Records are added and never changed."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    """Unique id."""
    judge: str
    """Random pseudonym of the judge."""
    task: int
    """Number of the task."""
    decision: Decision
    """Decision."""
    server_time: str
    """Time on the server, in ISO 8601."""
    link: int | None = None
    """Index of the link in the task; None if the record is about the whole task."""
    surface: str = ""
    """Text of the mention that was shown or added."""
    start: int | None = None
    """Start offset in the document."""
    end: int | None = None
    """End offset in the document."""
    entity: str | None = None
    """Entity that was shown."""
    becomes: str | None = None
    """Entity that a link is modified to, or that is added."""
    chosen: tuple[str, ...] = ()
    """Links that a mention should have, in a survey."""
    reason: str | None = None
    """Reason for skipping the task."""
    seconds: float | None = None
    """Time that the judge took."""
    client_time: str | None = None
    """Time on the judge's device, in ISO 8601."""
    is_late: bool = False
    """Whether the lease had expired, so that another judge could have got the task."""
    undone_id: str | None = None
    """Id of the record that is withdrawn."""
    machine: str | None = None
    """Name of an automatic judge; None for a person."""


def effective_judgements(records: Iterable[Judgement]) -> list[Judgement]:
    """Return the records that count, oldest first: not withdrawn, and not replaced by a later one.

    Records of the decision `undo` are dropped. Of several records of a judge on one link the last one counts.
    """
    all_records = list(records)
    undone_ids = {record.undone_id for record in all_records if record.decision is Decision.UNDO}
    latest: dict[tuple[object, ...], Judgement] = {}
    for record in all_records:
        if record.decision is Decision.UNDO or record.id in undone_ids:
            continue
        key = (record.judge, record.task, record.link, record.start, record.end)
        latest.pop(key, None)
        latest[key] = record
    return list(latest.values())


def check_auto_judge(records: Iterable[Judgement], name: str | None, where: str) -> None:
    """Raise `UsageError`, located at `where`, if no automatic judge is called `name`; None means people."""
    if name is not None and name not in {record.machine for record in records}:
        raise UsageError(f"{where}: no automatic judge {name}. Run karat verify auto-judge, or remove --auto-judge.")


class Consensus(NamedTuple):
    """The joint decision of judges on a link."""

    decision: Decision
    """Decision of the majority."""
    becomes: str | None
    """Entity after the decision; None if the link is removed."""
    votes: Mapping[str, int]
    """Number of judges by decision."""


def select_votes(judgements: Iterable[Judgement], judges: int) -> list[Judgement]:
    """Return the first `judges` judgements on one link that count: verify, modify or remove, those in time first."""
    votes = (judgement for judgement in judgements if judgement.decision in OUTCOMES)
    return sorted(votes, key=lambda judgement: judgement.is_late)[:judges]


def find_consensus(judgements: Sequence[Judgement], judges: int = 1) -> Consensus | None:
    """Return the majority decision of the first `judges` judgements on one link.

    None while there are fewer, and for a tie. If the majority modifies the link, its new entity is the most frequent
    one, the earlier of equals.
    """
    considered = select_votes(judgements, judges)
    if not considered or len(considered) < judges:
        return None
    votes = Counter(judgement.decision for judgement in considered)
    ranked = votes.most_common(2)
    if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
        return None
    decision = ranked[0][0]
    entities = Counter(judgement.becomes for judgement in considered if judgement.decision is Decision.MODIFY)
    becomes = considered[0].entity if decision is Decision.VERIFY else None
    if decision is Decision.MODIFY:
        becomes = entities.most_common(1)[0][0]
    return Consensus(decision, becomes, {outcome.value: votes[outcome] for outcome in OUTCOMES if votes[outcome]})
