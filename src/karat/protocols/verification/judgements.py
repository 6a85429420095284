"""Decisions of judges on links, and the consensus of several judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from karat.model.errors import UsageError
from karat.protocols.campaigns.working_times import parse_time


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


Tie: TypeAlias = Literal["decision", "entity"]
"""A tie of judges: in their decisions, or, if the majority modifies a link, in its new entity."""

PEOPLE: Final = "people"
"""Name of human judges in reports and overlays, where automatic judges have their own names."""

LEAD: Final = "lead"
"""Pseudonym of the lead in records that decide ties and contradictions."""

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
    is_lead_decision: bool = False
    """Whether the lead decided a tie or contradiction. Such a record is no vote and counts only for one of these."""


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
    """Raise `UsageError`, located at `where`, if no automatic judge `name` decided on a link; None means people."""
    judges = {record.machine for record in records if record.machine is not None}
    if name is not None and name not in judges:
        others = f"; only {' and '.join(sorted(judges))} did" if judges else ""
        raise UsageError(
            f"{where}: no automatic judge {name} decided on a link{others}. Run karat verify auto-judge, or "
            f"{'pass another' if judges else 'remove'} --auto-judge."
        )


class Consensus(NamedTuple):
    """The joint decision of judges on a link, or that of the lead on a tie or contradiction."""

    decision: Decision
    """Decision of the majority or of the lead."""
    becomes: str | None
    """Entity after the decision; None if the link is removed, or if an undecided tie leaves its new entity open."""
    votes: Mapping[str, int]
    """Number of judgements by decision; `lead` is 1 if the lead decided."""

    @property
    def is_lead_decision(self) -> bool:
        """Whether the lead decided."""
        return LEAD in self.votes


def select_votes(judgements: Iterable[Judgement], judges: int) -> list[Judgement]:
    """Return the first `judges` judgements on one link that count: verify, modify or remove, those in time first."""
    votes = (judgement for judgement in judgements if judgement.decision in OUTCOMES)
    return sorted(votes, key=lambda judgement: judgement.is_late)[:judges]


def pool_votes(votes: Iterable[Judgement]) -> list[Judgement]:
    """Return the last judgement of each judge among the `votes` on one link as all sources show it."""
    ordered = sorted(votes, key=lambda judgement: parse_time(judgement.server_time))
    return list({judgement.judge: judgement for judgement in ordered}.values())


def find_consensus(
    judgements: Sequence[Judgement], judges: int = 1, lead_decision: Judgement | None = None
) -> Consensus | None:
    """Return the majority decision of the first `judges` judgements on one link; for a tie, `lead_decision`.

    None while there are fewer judgements, and for a tie that the lead has not decided. If the majority modifies the
    link, its new entity is the most frequent one; of equally frequent ones none, unless the lead decides.
    """
    considered = select_votes(judgements, judges)
    if not considered or len(considered) < judges:
        return None
    counts = Counter(judgement.decision for judgement in considered)
    votes = {outcome.value: counts[outcome] for outcome in OUTCOMES if counts[outcome]}
    tie = find_tie(judgements, judges)
    if tie is not None and lead_decision is not None:
        return follow_lead(lead_decision, votes)
    if tie == "decision":
        return None
    decision = counts.most_common(1)[0][0]
    if tie == "entity":
        return Consensus(decision, None, votes)
    entities = Counter(_get_entity(judgement) for judgement in considered if judgement.decision is decision)
    return Consensus(decision, entities.most_common(1)[0][0], votes)


def follow_lead(lead_decision: Judgement, votes: Mapping[str, int]) -> Consensus:
    """Return the decision of the lead on a link, with the votes of judges by decision."""
    return Consensus(lead_decision.decision, _get_entity(lead_decision), {**votes, LEAD: 1})


def find_tie(judgements: Iterable[Judgement], judges: int) -> Tie | None:
    """Return in what the first `judges` judgements on one link are tied; None if they are not, or not all there."""
    considered = select_votes(judgements, judges)
    if not considered or len(considered) < judges:
        return None
    decisions = Counter(judgement.decision for judgement in considered)
    if _has_tie(decisions):
        return "decision"
    is_modified = decisions.most_common(1)[0][0] is Decision.MODIFY
    entities = Counter(judgement.becomes for judgement in considered if judgement.decision is Decision.MODIFY)
    return "entity" if is_modified and _has_tie(entities) else None


def _has_tie(counts: Counter[Any]) -> bool:
    """Return whether two or more values are the most frequent ones."""
    ranked = counts.most_common(2)
    return len(ranked) == 2 and ranked[0][1] == ranked[1][1]


def _get_entity(judgement: Judgement) -> str | None:
    """Return the entity of a link after a judgement; None if the link is removed."""
    if judgement.decision is Decision.VERIFY:
        return judgement.entity
    return judgement.becomes if judgement.decision is Decision.MODIFY else None
