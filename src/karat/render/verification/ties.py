"""Ties of judges, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from karat.matching.facts.sentence import sentence_around
from karat.model.output.text_layout import format_count
from karat.protocols.verification.judgements import Decision
from karat.render.tables import draw_text

if TYPE_CHECKING:
    from karat.protocols.verification.judgements import Judgement
    from karat.protocols.verification.ties import TiedLink


def render_ties(ties: Sequence[TiedLink], width: int | None = None) -> str:
    """Render the numbers of ties, and a table of them with sentence, votes and the decision of the lead.

    `width`: columns to wrap at; None does not wrap.
    """
    tied = [tie for tie in ties if tie.is_tied]
    n_decided = sum(tie.lead_decision is not None for tie in tied)
    head = (
        f"ties of judges: {format_count(len(tied), 'link')}, {n_decided:,} decided by the lead, "
        f"{len(tied) - n_decided:,} undecided"
    )
    if not ties:
        return head
    return f"{head}\n\n{draw_text([_HEAD, *map(_build_row, ties)], range(6), width=width)}"


_HEAD = ["link", "document", "mention", "entity", "votes", "lead"]


def _build_row(tie: TiedLink) -> list[str]:
    """Return the row of a tie."""
    votes = "; ".join(f"{source}: {_count_votes(group)}" for source, group in tie.judgements.items() if group)
    lead = "undecided" if tie.lead_decision is None else _describe_decision(tie.lead_decision)
    note = "" if tie.is_tied else " (no tie, without effect)"
    return [tie.name, tie.task.document, _mark_mention(tie), tie.link.entity, votes, lead + note]


def _count_votes(judgements: Iterable[Judgement]) -> str:
    """Return the number of judges by decision."""
    counts = Counter(map(_describe_decision, judgements))
    return ", ".join(f"{decision} {count}" for decision, count in counts.items())


def _describe_decision(judgement: Judgement) -> str:
    """Return a decision, with the new entity of a modified link."""
    if judgement.decision is Decision.MODIFY:
        return f"modify to {judgement.becomes}"
    return judgement.decision.value


def _mark_mention(tie: TiedLink) -> str:
    """Return the sentence of a link with the mention in brackets."""
    start, end = tie.link.start - tie.task.start, tie.link.end - tie.task.start
    sentence = sentence_around(tie.task.text, start, end)
    text, start, end = sentence.text, sentence.start, sentence.end
    return f"{text[:start]}[{text[start:end]}]{text[end:]}"
