"""Ties and contradictions of judges, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from karat.matching.facts.sentence import sentence_around
from karat.model.output.text_layout import wrap_text
from karat.protocols.verification.judgements import Decision, pool_votes
from karat.protocols.verification.overlay import CONTRADICTORY
from karat.protocols.verification.ties import count_decided, count_ties
from karat.render.tables import draw_text

if TYPE_CHECKING:
    from karat.protocols.verification.judgements import Judgement
    from karat.protocols.verification.ties import TiedLink


def render_ties(ties: Sequence[TiedLink], width: int | None = None) -> str:
    """Render the numbers of ties and contradictions, and a table with sentence, votes, decision of the lead and effect.

    `width`: columns to wrap at; None does not wrap.
    """
    lines = [f"ties of judges: {count_ties(ties)}"]
    if any(tie.is_tied for tie in ties):
        lines += [
            f"  in the scores of a source: {count_ties(tie for tie in ties if tie.is_tied_in_source)}",
            "  in the overlay, with the judges of all sources: "
            f"{count_ties(tie for tie in ties if tie.is_tied_overall)}",
        ]
    contradictions = [tie for tie in ties if tie.is_contradictory]
    if contradictions:
        head = f"{CONTRADICTORY} (judges remove a gold link, but accept the same elsewhere)"
        lines.append(wrap_text(f"{head}: {count_decided(contradictions)}", width))
    if ties:
        lines += ["", str(draw_text([_HEAD, *map(_build_row, ties)], range(7), width=width))]
    return "\n".join(lines)


_HEAD = ["link", "document", "mention", "entity", "votes", "lead", "in"]


def _build_row(tie: TiedLink) -> list[str]:
    """Return the row of a tie."""
    groups = {source: group for source, group in tie.judgements.items() if group}
    if len(groups) > 1:
        groups["last vote of each judge"] = pool_votes(vote for group in tie.judgements.values() for vote in group)
    votes = "; ".join(f"{source}: {_count_votes(group)}" for source, group in groups.items())
    lead = "undecided" if tie.lead_decision is None else _describe_decision(tie.lead_decision)
    note = "" if tie.needs_lead else " (no tie, without effect)"
    effects = ["scores"] * tie.is_tied_in_source + ["overlay"] * (tie.is_tied_overall or tie.is_contradictory)
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
