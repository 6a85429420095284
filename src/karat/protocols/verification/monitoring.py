"""A campaign while it runs, as its lead sees it: every number, and the judgements behind it.

Numbers are counts of cases that a filter selects, so that each number has exactly the cases that it opens.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final, NamedTuple

from karat.protocols.campaigns.working_times import parse_time
from karat.protocols.verification.campaign import Campaign, JudgingTask
from karat.protocols.verification.judgements import (
    OUTCOMES,
    REQUIRED_DECISIONS,
    Decision,
    Judgement,
    effective_judgements,
    select_votes,
)
from karat.protocols.verification.judging_times import JudgementTime, collect_times
from karat.protocols.verification.outcomes import (
    JudgeAgreement,
    JudgeQuality,
    SelectedJudgements,
    collect_judged_links,
    control_answer,
    judge_agreement,
    judge_qualities,
    last_decisions,
    mean_agreement,
    pair_agreements,
    select_judgements,
)
from karat.protocols.verification.posthoc import JudgedLink, TextLink
from karat.protocols.verification.ties import TiedLink, find_ties


class TimedJudgement(NamedTuple):
    """A judgement of a person that counts for the person, with what the lead should know about it."""

    judgement: Judgement
    """The judgement; not withdrawn, and not replaced by a later one."""
    seconds: float | None
    """Time that the judge took; None if unknown."""
    is_fast: bool
    """Whether the time is too short to be true."""
    is_correct_control: bool | None
    """Whether a decision on a control is correct; None if it tests nothing."""
    is_excluded: bool
    """Whether the judgement does not count, because the judge failed the controls."""
    is_untested: bool = False
    """Whether the judgement counts though no control has tested the judge yet."""


class JudgedCase(NamedTuple):
    """A link with judgements on it; a task without link for judgements on the whole task."""

    task: JudgingTask
    """The task."""
    link: int | None
    """Index of the link; None for a skipped task or an added link."""
    judgements: tuple[TimedJudgement, ...]
    """The judgements that a filter selects, oldest first."""

    @property
    def people(self) -> set[str]:
        """Pseudonyms of the judges."""
        return {item.judgement.judge for item in self.judgements}


@dataclass(frozen=True)
class CampaignMonitor:
    """The state of a campaign at one moment, from all records; automatic judges are not part of it.

    `now` is the time for which periods are counted.
    """

    campaign: Campaign
    records: Sequence[Judgement]
    now: datetime

    @cached_property
    def _tasks(self) -> dict[int, JudgingTask]:
        """Tasks by number."""
        return {task.number: task for task in self.campaign.tasks}

    @cached_property
    def _people_records(self) -> list[Judgement]:
        """All records of people, oldest first."""
        return [record for record in self.records if record.machine is None and not record.is_lead_decision]

    @cached_property
    def qualities(self) -> Mapping[str, JudgeQuality]:
        """Performance of each person who judged, by pseudonym."""
        return {quality.judge: quality for quality in judge_qualities(self.campaign, self._people_records)}

    @cached_property
    def judgements(self) -> tuple[TimedJudgement, ...]:
        """All judgements of people that are not withdrawn, oldest first."""
        times, controls = self._times, self._control_results
        results = {name: quality.control_result for name, quality in self.qualities.items()}
        return tuple(
            TimedJudgement(
                judgement,
                *times.get(judgement.id, JudgementTime()),
                controls.get(judgement.id),
                results[judgement.judge] == "failed",
                results[judgement.judge] == "not tested",
            )
            for judgement in effective_judgements(self._people_records)
        )

    @cached_property
    def _times(self) -> dict[str, JudgementTime]:
        """Time of each first decision on a link, by record id."""
        return collect_times(self.campaign, self._people_records)

    @cached_property
    def _control_results(self) -> dict[str, bool]:
        """Whether each decision that tests a judge is correct, by record id."""
        by_control: dict[tuple[str, int], list[Judgement]] = defaultdict(list)
        for record in self._people_records:
            if self._tasks[record.task].is_control:
                by_control[record.judge, record.task].append(record)
        results = {}
        for (_, number), records in by_control.items():
            task = self._tasks[number]
            for index, judgement in control_answer(task, records).items():
                if task.links[index].correct:
                    results[judgement.id] = judgement.decision in task.links[index].correct
        return results

    @cached_property
    def _control_judgements(self) -> tuple[TimedJudgement, ...]:
        """The judgements that test judges, oldest first, also if they were withdrawn after the first answer."""
        results = self._control_results
        return tuple(
            TimedJudgement(record, *self._times.get(record.id, JudgementTime()), results[record.id], is_excluded=False)
            for record in self._people_records
            if record.id in results
        )

    @cached_property
    def _selection(self) -> SelectedJudgements:
        """Judgements that count for the measures, and decisions of the lead; none in a survey."""
        is_survey = self.campaign.options.kind == "survey"
        return select_judgements(self.campaign, [] if is_survey else self.records)

    @property
    def _selected(self) -> Mapping[tuple[int, int], Sequence[Judgement]]:
        """Judgements that count for the measures, by task number and link index."""
        return self._selection.judgements

    @cached_property
    def _outcomes(self) -> dict[tuple[int, int], JudgedLink]:
        """Links that were shown outside controls, with their outcome, by task number and link index."""
        keys = [
            (task.number, index)
            for task in self.campaign.tasks
            if not task.is_control
            for index in range(len(task.links))
        ]
        return dict(zip(keys, collect_judged_links(self.campaign, self._selection), strict=True))

    @property
    def n_links(self) -> int:
        """Number of links, or of mentions in a survey, that were shown outside controls."""
        return len(self._outcomes)

    @cached_property
    def agreement(self) -> JudgeAgreement:
        """Agreement of the judges on links that two or more of them judged."""
        return judge_agreement(self.campaign, self._selected)

    @cached_property
    def _shared_decisions(self) -> dict[TextLink, dict[str, int]]:
        """Decisions of judges by link, then by judge, on the links that two or more judged."""
        decisions = last_decisions(self.campaign, self._selected)
        return {link: by_judge for link, by_judge in decisions.items() if len(by_judge) > 1}

    @cached_property
    def _all_decisions(self) -> dict[TextLink, dict[str, int]]:
        """Decisions of all judges by link, then by judge, also of those who failed the controls."""
        judgements: dict[tuple[int, int], list[Judgement]] = defaultdict(list)
        for item in self.judgements:
            number, link = item.judgement.task, item.judgement.link
            if item.judgement.decision in OUTCOMES and link is not None and not self._tasks[number].is_control:
                judgements[number, link].append(item.judgement)
        return last_decisions(self.campaign, judgements)

    def measure_agreement(self, person: str) -> tuple[float | None, int]:
        """Return the mean agreement of a judge with each other judge who counts, and the number of their links."""
        counting = {name for name, quality in self.qualities.items() if quality.control_result != "failed"} | {person}
        shared = []
        for by_judge in self._all_decisions.values():
            decisions = {judge: by_judge[judge] for judge in by_judge.keys() & counting} if person in by_judge else {}
            if len(decisions) > 1:
                shared.append(decisions)
        return mean_agreement(person, pair_agreements(shared)), len(shared)

    @property
    def n_needed(self) -> int:
        """Number of judgements that are still needed."""
        required = self.campaign.options.judges
        return sum(
            max(0, required - len(select_votes(self._selected.get(key, ()), required))) for key in self._outcomes
        )

    def count_recent(self, hours: float) -> int:
        """Count the judgements of the last hours that count for the measures."""
        return sum(
            self._is_recent(judgement, hours) for judgements in self._selected.values() for judgement in judgements
        )

    def _is_recent(self, judgement: Judgement, hours: float) -> bool:
        """Return whether a judgement was made in the last hours."""
        return parse_time(judgement.server_time) > self.now - timedelta(hours=hours)

    def collect_seconds(self) -> dict[str, list[float]]:
        """Return the known times of judgements by person."""
        seconds: dict[str, list[float]] = defaultdict(list)
        for item in self.judgements:
            if item.seconds is not None:
                seconds[item.judgement.judge].append(item.seconds)
        return seconds

    @property
    def last_times(self) -> dict[str, str]:
        """Time of the last record of each person."""
        return {record.judge: record.server_time for record in self._people_records}

    # Filters.

    def find_cases(self, name: str, person: str | None = None, hours: float | None = None) -> list[JudgedCase]:
        """Return the cases behind a number: those of the filter `name`, of one person and of the last hours.

        Filters of links (`LINK_FILTERS`) return a case for each link, filters of judgements (`JUDGEMENT_FILTERS`) one
        for each judgement. Raise `KeyError` for an unknown filter.
        """
        return [
            case
            for case in self._select_cases(name)
            if (person is None or person in case.people)
            and (hours is None or any(self._is_recent(item.judgement, hours) for item in case.judgements))
        ]

    def count_by_person(self, name: str) -> Counter[str]:
        """Count the cases of a filter by person; a case with judgements of several people counts for each."""
        return Counter(person for case in self._select_cases(name) for person in case.people)

    @cached_property
    def _cases_by_filter(self) -> dict[str, list[JudgedCase]]:
        """Cases of the filters that were used, because many numbers of the page share a filter."""
        return {}

    def _select_cases(self, name: str) -> list[JudgedCase]:
        """Return all cases of a filter."""
        if name not in self._cases_by_filter:
            self._cases_by_filter[name] = self._apply_filter(name)
        return self._cases_by_filter[name]

    def _apply_filter(self, name: str) -> list[JudgedCase]:
        """Find all cases of a filter."""
        if name in JUDGEMENT_FILTERS:
            source = self._control_judgements if name in _CONTROL_FILTERS else self.judgements
            if name == "added":  # as in the report
                source = tuple(item for item in source if not self._tasks[item.judgement.task].is_control)
            return [
                JudgedCase(self._tasks[item.judgement.task], item.judgement.link, (item,))
                for item in source
                if JUDGEMENT_FILTERS[name](item)
            ]
        if name in TIE_FILTERS:
            return self._find_ties(TIE_FILTERS[name])
        if name in _SHARED_FILTERS:
            return self._find_shared(LINK_FILTERS[name])
        if name in _ANSWER_FILTERS:
            return [case for case in self._find_links(lambda _: True) if bool(case.judgements) == (name == "answered")]
        return self._find_links(LINK_FILTERS[name])

    @cached_property
    def _by_link(self) -> dict[tuple[int, int | None], tuple[TimedJudgement, ...]]:
        """Judgements by task number and link index."""
        groups: dict[tuple[int, int | None], list[TimedJudgement]] = defaultdict(list)
        for item in self.judgements:
            groups[item.judgement.task, item.judgement.link].append(item)
        return {key: tuple(group) for key, group in groups.items()}

    def _find_links(self, is_selected: Callable[[JudgedLink], bool]) -> list[JudgedCase]:
        """Return the links whose outcome a filter selects, with their judgements."""
        return [
            JudgedCase(self._tasks[key[0]], key[1], self._by_link.get(key, ()))
            for key, link in self._outcomes.items()
            if is_selected(link)
        ]

    def _find_shared(self, is_selected: Callable[[Mapping[str, int]], bool]) -> list[JudgedCase]:
        """Return the links that two or more judged, whose decisions by judge a filter selects.

        A link that several sources share is one case, with the judgements on it for any source.
        """
        cases: dict[TextLink, JudgedCase] = {}
        for number, index in self._selected:
            task = self._tasks[number]
            link = task.to_text_link(task.links[index])
            if link in self._shared_decisions and is_selected(self._shared_decisions[link]):
                earlier = cases[link].judgements if link in cases else ()
                added = tuple(item for item in self._by_link[number, index] if not item.is_excluded)
                cases[link] = JudgedCase(task, index, (*earlier, *added))
        return list(cases.values())

    @cached_property
    def ties(self) -> dict[TextLink, TiedLink]:
        """Ties of judges by link, as `karat verify ties` lists them; none in a survey."""
        if self.campaign.options.kind == "survey":
            return {}
        ties = find_ties(self.campaign, self.records)
        return {tie.task.to_text_link(tie.link): tie for tie in ties if tie.is_tied}

    def _find_ties(self, is_selected: Callable[[TiedLink], bool]) -> list[JudgedCase]:
        """Return the ties that a filter selects, each link once, with the judgements on it for any source."""
        by_id = {item.judgement.id: item for item in self.judgements}
        return [
            JudgedCase(
                tie.task,
                tie.link_index,
                tuple(by_id[judgement.id] for group in tie.judgements.values() for judgement in group),
            )
            for tie in self.ties.values()
            if is_selected(tie)
        ]

    def get_outcome(self, case: JudgedCase) -> JudgedLink | None:
        """Return the link of a case with its outcome; None for a control or a whole task."""
        return None if case.link is None else self._outcomes.get((case.task.number, case.link))


JUDGEMENT_FILTERS: Final[Mapping[str, Callable[[TimedJudgement], bool]]] = {
    "judgements": lambda item: item.judgement.decision in REQUIRED_DECISIONS,
    "timed": lambda item: item.seconds is not None,
    "untimed": lambda item: item.seconds is None and item.judgement.decision in REQUIRED_DECISIONS,
    "fast": lambda item: item.is_fast,
    "controls": lambda item: True,
    "wrong-controls": lambda item: item.is_correct_control is False,
    "excluded": lambda item: item.is_excluded and item.judgement.decision in REQUIRED_DECISIONS,
    "untested": lambda item: item.is_untested and item.judgement.decision in REQUIRED_DECISIONS,
    "late": lambda item: item.judgement.is_late and item.judgement.decision in REQUIRED_DECISIONS,
    "added": lambda item: item.judgement.decision is Decision.ADD and not item.is_excluded,
    "skipped": lambda item: item.judgement.decision is Decision.SKIP,
}
"""Filters of judgements by name."""

_CONTROL_FILTERS: Final = ("controls", "wrong-controls")
_ANSWER_FILTERS: Final = ("answered", "unanswered")
_SHARED_FILTERS: Final = ("shared", "agreed", "disagreed")

LINK_FILTERS: Final[Mapping[str, Callable[..., bool]]] = {
    "judged": lambda link: link.outcome is not None or link.is_tied,
    "verified": lambda link: link.outcome is Decision.VERIFY,
    "modified": lambda link: link.outcome is Decision.MODIFY,
    "removed": lambda link: link.outcome is Decision.REMOVE,
    "tied": lambda link: link.is_tied,
    "open": lambda link: link.outcome is None and not link.is_tied,
    "shared": lambda decisions: True,
    "agreed": lambda decisions: len({*decisions.values()}) == 1,
    "disagreed": lambda decisions: len({*decisions.values()}) > 1,
}
"""Filters of links by name: by outcome, and by agreement of several judges."""

TIE_FILTERS: Final[Mapping[str, Callable[[TiedLink], bool]]] = {
    "ties": lambda tie: True,
    "undecided-ties": lambda tie: tie.lead_decision is None,
    "lead-decisions": lambda tie: tie.lead_decision is not None,
}
"""Filters of ties by name. They include ties on the new entity and those of judges of several sources."""

FILTERS: Final = (*JUDGEMENT_FILTERS, *LINK_FILTERS, *TIE_FILTERS, *_ANSWER_FILTERS)
"""Names of all filters. `answered` and `unanswered` are for mentions of surveys, which have no outcome."""
