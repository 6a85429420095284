"""Ties of judges, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from karat.matching.facts.sentence import sentence_around
from karat.model.output.text_layout import format_count, wrap_text
from karat.protocols.verification.judgements import Decision
from karat.protocols.verification.overlay import CONTRADICTORY
from karat.protocols.verification.posthoc import TextLink
from karat.protocols.verification.ties import count_ties
from karat.render.tables import draw_text

if TYPE_CHECKING:
    from karat.protocols.verification.campaign import Campaign
    from karat.protocols.verification.judgements import Judgement
    from karat.protocols.verification.overlay import OverlayChange
    from karat.protocols.verification.ties import TiedLink


def render_ties(ties: Sequence[TiedLink], width: int | None = None) -> str:
    """Render the numbers of ties, and a table of them with sentence, votes, decision of the lead and effect.

    `width`: columns to wrap at; None does not wrap.
    """
    head = f"ties of judges: {count_ties(ties)}"
    if not ties:
        return head
    for_scores = count_ties(tie for tie in ties if tie.is_tied_in_source)
    for_overlay = count_ties(tie for tie in ties if tie.is_tied_overall)
    notes = [
        f"  in the scores of a source: {for_scores}",
        f"  in the overlay, with the judges of all sources: {for_overlay}",
    ]
    table = draw_text([_HEAD, *map(_build_row, ties)], range(7), width=width)
    return "\n".join([head, *notes, "", str(table)])


def render_contradictions(campaign: Campaign, contradictions: Sequence[OverlayChange], width: int | None = None) -> str:
    """Render the gold links of a campaign that judges remove and also accept, with the votes on the gold link."""
    count = format_count(len(contradictions), "gold link")
    head = f"{CONTRADICTORY}: judges remove {count}, but accept the same elsewhere; no change in the overlay"
    surfaces = {
        task.to_text_link(link): task.surface(link)
        for task in campaign.tasks
        if not task.is_control
        for link in task.links
    }
    rows = []
    for change in contradictions:
        link = TextLink(change.document, change.start, change.end, change.entity or "")
        votes = ", ".join(f"{decision} {count}" for decision, count in change.votes.items())
        rows.append([change.document, f"{change.start}-{change.end}", surfaces.get(link, ""), link.entity, votes])
    table = draw_text([["document", "span", "mention", "entity", "votes"], *rows], range(5), width=width)
    return f"{wrap_text(head, width)}\n\n{table}"


_HEAD = ["link", "document", "mention", "entity", "votes", "lead", "in"]


def _build_row(tie: TiedLink) -> list[str]:
    """Return the row of a tie."""
    votes = "; ".join(f"{source}: {_count_votes(group)}" for source, group in tie.judgements.items() if group)
    lead = "undecided" if tie.lead_decision is None else _describe_decision(tie.lead_decision)
    note = "" if tie.is_tied else " (no tie, without effect)"
    effects = ["scores"] * tie.is_tied_in_source + ["overlay"] * tie.is_tied_overall
    return [tie.name, tie.task.document, _mark_mention(tie), tie.link.entity, votes, lead + note, ", ".join(effects)]


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
