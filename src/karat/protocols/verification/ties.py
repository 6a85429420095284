"""Links on which judges are tied or contradict each other, and the decisions of the lead on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from karat.kb.ids.id_patterns import id_pattern
from karat.model.errors import UsageError
from karat.model.output.json_files import JsonRecord
from karat.model.output.text_layout import format_count
from karat.protocols.verification.campaign import Campaign, JudgingTask, TaskLink, is_plausible_id
from karat.protocols.verification.judgements import OUTCOMES, Decision, Judgement, find_tie, pool_votes, select_votes
from karat.protocols.verification.outcomes import select_judgements
from karat.protocols.verification.posthoc import TextLink


class TiedLink(NamedTuple):
    """A link on which judges are tied or contradict each other, or on which the lead decided."""

    task: JudgingTask
    """The first task whose judges are tied on the link; the first one that shows it if they are tied only together."""
    link_index: int
    """Index of the link in the task."""
    judgements: Mapping[str, Sequence[Judgement]]
    """Judgements that decide on the link, by source that has it: the first ones, as many as the campaign asks for."""
    is_tied_in_source: bool
    """Whether the judges of a source are tied on the link, which concerns its scores."""
    is_tied_overall: bool
    """Whether the judges of all sources together are tied, which concerns the overlay."""
    lead_decision: Judgement | None
    """Decision of the lead; None if undecided."""
    is_contradictory: bool = False
    """Whether judges remove the gold link, but accept it elsewhere, which concerns the overlay."""

    @property
    def is_tied(self) -> bool:
        """Whether the judges are tied."""
        return self.is_tied_in_source or self.is_tied_overall

    @property
    def needs_lead(self) -> bool:
        """Whether the judges are tied or contradict each other. If not, a decision of the lead has no effect."""
        return self.is_tied or self.is_contradictory

    @property
    def name(self) -> str:
        """Name by which the lead refers to the link."""
        return f"{self.task.number}:{self.link_index}"

    @property
    def link(self) -> TaskLink:
        """The link."""
        return self.task.links[self.link_index]


class TieCounts(JsonRecord, frozen=True):
    """Numbers of distinct links on which judges are tied, in their decisions or on the new entity."""

    links: int
    """Number of links."""
    decided: int
    """Number of those that the lead decided."""

    @property
    def undecided(self) -> int:
        """Number of links that the lead has not decided."""
        return self.links - self.decided

    def __str__(self) -> str:
        """Format the numbers for readers."""
        return f"{format_count(self.links, 'link')}, {self.decided:,} decided by the lead, {self.undecided:,} undecided"


def count_ties(ties: Iterable[TiedLink]) -> TieCounts:
    """Count ties; links on which judges are not tied (any more) do not count."""
    return count_decided(tie for tie in ties if tie.is_tied)


def count_decided(links: Iterable[TiedLink]) -> TieCounts:
    """Count links, and those of them that the lead decided."""
    decisions = [link.lead_decision for link in links]
    return TieCounts(len(decisions), sum(decision is not None for decision in decisions))


class LeadDecision(NamedTuple):
    """A decision of the lead on a tie or contradiction."""

    task: int
    """Number of a task that shows the link."""
    link_index: int
    """Index of the link in the task."""
    decision: Decision
    """Verify, modify or remove."""
    becomes: str | None
    """Entity that the link is modified to."""


def find_ties(
    campaign: Campaign, records: Sequence[Judgement], contradictions: Collection[TextLink] = ()
) -> list[TiedLink]:
    """Return the links on which people are tied or the lead decided, in the order of tasks, each link once.

    Judges can be tied on a link as one source shows it, which decides scores, or over all sources that have the link,
    which decides the overlay. `contradictions` are links to return too. Raise `UsageError` for a survey.
    """
    n_judges = campaign.options.judges
    selected = select_judgements(campaign.require_kind("verify"), records)
    ties = []
    for link, occurrences in _group_occurrences(campaign).items():
        groups = [
            select_votes(selected.judgements.get((task.number, index), ()), n_judges) for task, index in occurrences
        ]
        pooled = pool_votes(judgement for group in groups for judgement in group)
        has_enough = len(pooled) >= n_judges
        ties_in_source = [find_tie(group, n_judges) is not None for group in groups]
        is_tied_in_source = any(ties_in_source)
        is_tied_overall = has_enough and find_tie(pooled, len(pooled)) is not None
        sources = [campaign.options.sources[task.source] for task, _ in occurrences]
        judgements = dict(zip(sources, groups, strict=True))
        tie = TiedLink(
            *occurrences[ties_in_source.index(True) if is_tied_in_source else 0],
            judgements,
            is_tied_in_source,
            is_tied_overall,
            selected.lead_decisions.get(link),
            link in contradictions,
        )
        if tie.needs_lead or tie.lead_decision is not None:
            ties.append(tie)
    return ties


def _group_occurrences(campaign: Campaign) -> Mapping[TextLink, list[tuple[JudgingTask, int]]]:
    """Return the tasks that show each link outside controls, with the index of the link in the task."""
    occurrences: dict[TextLink, list[tuple[JudgingTask, int]]] = defaultdict(list)
    for task in campaign.tasks:
        for index, link in enumerate(() if task.is_control else task.links):
            occurrences[task.to_text_link(link)].append((task, index))
    return occurrences


def parse_decision(campaign: Campaign, ties: Sequence[TiedLink], text: str) -> LeadDecision:
    """Parse `TASK:LINK=DECISION`, in which DECISION is `verify`, `remove` or the id of another entity.

    Raise `UsageError` for another form, for a link that does not need the lead, and for an id that is written like no
    id of the campaign.
    """
    name, _, value = (part.strip() for part in text.partition("="))
    word = value.lower()
    if not value or word == Decision.MODIFY:
        raise UsageError(f"--decide {text}: no decision. Pass TASK:LINK=verify, =remove or =ENTITY, such as 12:0=Q64.")
    disputed = {tie.task.to_text_link(tie.link) for tie in ties if tie.needs_lead}
    occurrences = {
        f"{task.number}:{index}": (task, index) for task in campaign.tasks for index in range(len(task.links))
    }
    if name not in occurrences or _to_text_link(*occurrences[name]) not in disputed or occurrences[name][0].is_control:
        raise UsageError(
            f"--decide {text}: judges are not tied on a link {name}, and it is no listed contradiction. List ties and "
            f"contradictions: karat verify ties STORE."
        )
    task, index = occurrences[name]
    if value == task.links[index].entity:
        return LeadDecision(task.number, index, Decision.VERIFY, None)
    campaign_ids = {link.entity for other in campaign.tasks for link in other.links}
    judgements = [judgement for tie in ties for group in tie.judgements.values() for judgement in group]
    campaign_ids |= {judgement.becomes for judgement in judgements if judgement.becomes is not None}
    if value in campaign_ids:
        return LeadDecision(task.number, index, Decision.MODIFY, value)
    if word in OUTCOMES:
        return LeadDecision(task.number, index, Decision(word), None)
    if get_close_matches(word, OUTCOMES) or not is_plausible_id(value, set(map(id_pattern, campaign_ids))):
        raise UsageError(
            f"--decide {text}: {value} is no decision, and not written like the ids of this campaign, such as "
            f"{task.links[index].entity}. Pass verify, remove or the id of an entity."
        )
    return LeadDecision(task.number, index, Decision.MODIFY, value)


def _to_text_link(task: JudgingTask, index: int) -> TextLink:
    """Return the link at an index of a task."""
    return task.to_text_link(task.links[index])
