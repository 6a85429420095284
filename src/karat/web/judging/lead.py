"""A verification campaign as its lead sees it: progress, pace, controls, agreement, times and judges."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from statistics import median

import msgspec

from karat.protocols.campaigns.working_times import PACE_HOURS, TIME_RULE
from karat.protocols.verification.judgements import Decision
from karat.protocols.verification.monitoring import FILTERS, CampaignMonitor, JudgedCase, TimedJudgement
from karat.protocols.verification.outcomes import MIN_CORRECT
from karat.protocols.verification.store.store import CampaignStore, JudgeStatus
from karat.web.campaigns.entities import EntityLookup
from karat.web.campaigns.lead import LeadQuery, StateCache, build_pace, build_person_figures, person_query, select_page
from karat.web.campaigns.lead_payloads import (
    AccessRow,
    FigureGroup,
    LabelLine,
    LeadCase,
    LeadCaseList,
    LeadFigure,
    Overview,
    PersonRow,
    RecordLine,
)
from karat.web.campaigns.payloads import EntityPayload
from karat.web.server.request_checks import WebError

_WORDS = {
    Decision.VERIFY: "verified",
    Decision.MODIFY: "modified",
    Decision.REMOVE: "removed",
    Decision.CHOOSE: "answered",
    Decision.ADD: "added",
    Decision.SKIP: "skipped",
}
_TITLES = {
    "judgements": "Judgements",
    "timed": "Judgements with a known time",
    "untimed": "Judgements without a known time",
    "fast": "Judgements in a time too short to be true",
    "controls": "Decisions on controls",
    "wrong-controls": "Wrong decisions on controls",
    "excluded": "Judgements of judges who failed the controls, with those on controls",
    "untested": "Judgements of judges who had no control yet",
    "late": "Judgements after the lease had expired",
    "added": "Added links",
    "skipped": "Skipped tasks",
    "judged": "Judged links",
    "verified": "Verified links",
    "modified": "Modified links",
    "removed": "Removed links",
    "tied": "Links without a majority",
    "ties": "Ties of judges",
    "undecided-ties": "Undecided ties",
    "lead-decisions": "Ties that the lead decided",
    "open": "Open links",
    "shared": "Links with several judges",
    "agreed": "Links on which all judges agree",
    "disagreed": "Links on which judges disagree",
    "answered": "Mentions with answers",
    "unanswered": "Mentions without answers",
}


@dataclass(frozen=True)
class CampaignView:
    """A campaign for its lead."""

    store: CampaignStore
    entities: EntityLookup
    _cache: StateCache = field(default_factory=StateCache, repr=False)

    def _monitor(self, now: datetime) -> CampaignMonitor:
        """Return the state of the campaign; periods end at `now`, to the minute."""
        minute = now.replace(second=0, microsecond=0)
        state = (self.store.get_record_state(), minute)
        return self._cache.get(state, lambda: CampaignMonitor(self.store.campaign, self.store.get_records(), now))

    def build_overview(self, now: datetime) -> Overview:
        """Return all numbers of the campaign."""
        monitor = self._monitor(now)
        judges = self.store.list_judges(monitor.qualities)
        return Overview(
            people="judges",
            time=now.isoformat(timespec="seconds"),
            groups=tuple(self._build_groups(monitor, judges)),
            persons=self._build_persons(monitor, judges),
            access=tuple(map(_build_access, judges)),
        )

    def _build_groups(self, monitor: CampaignMonitor, judges: list[JudgeStatus]) -> list[FigureGroup]:
        """Return the numbers of the whole campaign."""
        is_survey = self.store.options.kind == "survey"
        groups = [_build_survey_progress(monitor) if is_survey else self._build_progress(monitor)]
        groups.append(
            build_pace(
                "Judgements",
                "judgements",
                lambda hours: len(monitor.find_cases("judgements", hours=hours)),
                None if is_survey else (monitor.n_needed, "open"),
                0 if is_survey else monitor.count_recent(PACE_HOURS),
            )
        )
        if not is_survey:
            groups += [self._build_controls(monitor, judges), _build_agreement(monitor), _build_ties(monitor)]
        groups.append(_build_times(monitor))
        return groups

    def _build_progress(self, monitor: CampaignMonitor) -> FigureGroup:
        """Return how many links are judged, and their outcomes."""
        options = self.store.options
        names = ["judged", "verified", "modified", "removed", *["tied"] * (options.judges > 1), "open"]
        counts = {name: len(monitor.find_cases(name)) for name in names}
        figures = [
            LeadFigure(
                title=_TITLES[name],
                value=count,
                total=monitor.n_links if name in ("judged", "open") else counts["judged"],
                query={"show": name} if count else None,
                total_query={"show": "judged"} if name not in ("judged", "open") and counts["judged"] else None,
            )
            for name, count in counts.items()
        ]
        if options.additions:
            figures.append(_count(monitor, "added"))
        needed = "1 judge" if options.judges == 1 else f"{options.judges} judges"
        return FigureGroup("Progress", tuple(figures), f"A link is judged after the decisions of {needed}.")

    def _build_controls(self, monitor: CampaignMonitor, judges: list[JudgeStatus]) -> FigureGroup:
        """Return how judges did on controls."""
        if not any(task.is_control for task in self.store.campaign.tasks):
            reason = "the campaign has no controls"
            return FigureGroup("Controls", (LeadFigure(title=_TITLES["wrong-controls"], value=None, reason=reason),))
        results = [judge.control_result for judge in judges]
        n_failed, n_tested = results.count("failed"), len(results) - results.count("not tested")
        n_controls, n_wrong = len(monitor.find_cases("controls")), len(monitor.find_cases("wrong-controls"))
        return FigureGroup(
            "Controls",
            (
                LeadFigure(
                    title=_TITLES["wrong-controls"],
                    value=n_wrong,
                    total=n_controls,
                    query={"show": "wrong-controls"} if n_wrong else None,
                    total_query={"show": "controls"} if n_controls else None,
                    is_alarm=n_wrong > 0,
                ),
                LeadFigure(
                    title="Judges who failed",
                    value=n_failed,
                    total=n_tested,
                    query={"show": "excluded"} if n_failed else None,
                    is_alarm=n_failed > 0,
                ),
                _count(monitor, "excluded"),
                _count(monitor, "untested"),
            ),
            f"Judges fail with less than {100 * MIN_CORRECT:g} % of correct decisions on controls. Their judgements do "
            "not count, and their tasks are offered again. Judgements before the first control count.",
        )

    def _build_persons(self, monitor: CampaignMonitor, judges: list[JudgeStatus]) -> tuple[PersonRow, ...]:
        """Return the work of each judge, by pseudonym."""
        names = ("judgements", "controls", "wrong-controls", "shared", "timed", "fast", "skipped")
        counts = {name: monitor.count_by_person(name) for name in names}
        seconds, last_times = monitor.collect_seconds(), monitor.last_times
        rows = []
        for judge in sorted(judges, key=lambda judge: judge.judge):
            person = judge.judge
            n_controls, n_wrong = counts["controls"][person], counts["wrong-controls"][person]
            n_judgements, n_skipped = counts["judgements"][person], counts["skipped"][person]
            rows.append(
                PersonRow(
                    person,
                    (
                        LeadFigure(
                            title="Judgements",
                            value=n_judgements,
                            query=person_query("judgements", person, n_judgements),
                        ),
                        LeadFigure(
                            title="Wrong on controls",
                            value=n_wrong,
                            total=n_controls,
                            query=person_query("wrong-controls", person, n_wrong),
                            total_query=person_query("controls", person, n_controls),
                            is_alarm=n_wrong > 0,
                        ),
                        LeadFigure(title="Controls", value=judge.control_result, format="text"),
                        *build_person_figures(
                            person,
                            counts,
                            seconds,
                            monitor.measure_agreement(person),
                            "no other judge whose judgements count has judged the same links",
                        ),
                        LeadFigure(title="Skipped", value=n_skipped, query=person_query("skipped", person, n_skipped)),
                        LeadFigure(
                            title="Last judgement",
                            value=last_times.get(person),
                            format="time",
                            reason="no judgement yet",
                        ),
                    ),
                    judge.is_revoked,
                )
            )
        return tuple(rows)

    def find_cases(self, query: LeadQuery, now: datetime) -> LeadCaseList:
        """Return some of the cases behind a number."""
        if query.show not in FILTERS:
            raise WebError("bad-request", f"unknown filter. Pass one of {', '.join(FILTERS)}.")
        cases = self._monitor(now).find_cases(query.show, query.person, query.hours)
        selected = select_page(cases, query.offset)
        ids = {id for case in selected for id in _list_entities(case)}
        entities = self.entities.get_entities(ids)
        n_excluded = sum(item.is_excluded for case in cases for item in case.judgements)
        has_other = query.show != "excluded" and n_excluded
        return LeadCaseList(
            f"{_TITLES[query.show]} ({n_excluded:,} of the decisions do not count)"
            if has_other
            else _TITLES[query.show],
            len(cases),
            sum(len(case.judgements) for case in cases),
            tuple(self._describe_case(case, entities, self._monitor(now)) for case in selected),
        )

    def _describe_case(
        self, case: JudgedCase, entities: dict[str, EntityPayload], monitor: CampaignMonitor
    ) -> LeadCase:
        """Return a case with its source, control and outcome, which judges never see."""
        task, link = case.task, None if case.link is None else case.task.links[case.link]
        start, end = (0, 0) if link is None else (link.start - task.start, link.end - task.start)
        added = case.judgements[0].judgement if case.judgements else None
        if link is None and added is not None and added.start is not None and added.end is not None:
            start, end = added.start - task.start, added.end - task.start
        notes = [f"source: {self.store.options.sources[task.source]}" if not task.is_control else "control"]
        if link is not None and link.correct:
            notes.append(f"correct: {' or '.join(link.correct)}")
        outcome = monitor.get_outcome(case)
        if outcome is not None and self.store.options.kind != "survey":
            decided = "no majority" if outcome.is_tied else "open"
            by_lead = " by the lead" * outcome.is_lead_decision
            notes.append(f"outcome: {decided if outcome.outcome is None else _WORDS[outcome.outcome]}{by_lead}")
            if link is not None and task.to_text_link(link) in monitor.ties:
                notes.append(f"to decide: karat verify ties --decide {task.number}:{case.link}=…")
        return LeadCase(
            task.document,
            task.text,
            start,
            end,
            None if link is None or not link.entity else entities[link.entity],
            tuple(notes),
            tuple(_describe_judgement(item, entities) for item in case.judgements),
        )


def _count(monitor: CampaignMonitor, name: str) -> LeadFigure:
    """Return the number of the cases of a filter."""
    count = len(monitor.find_cases(name))
    return LeadFigure(title=_TITLES[name], value=count, query={"show": name} if count else None)


def _build_survey_progress(monitor: CampaignMonitor) -> FigureGroup:
    """Return how many mentions of a survey have answers."""
    figures = tuple(
        msgspec.structs.replace(_count(monitor, name), total=monitor.n_links) for name in ("answered", "unanswered")
    )
    return FigureGroup("Progress", figures, "Everyone is asked about all mentions, so a survey has no end.")


def _build_agreement(monitor: CampaignMonitor) -> FigureGroup:
    """Return how far judges agree on the same links."""
    agreement = monitor.agreement
    reason = "no link has two judgements" if not agreement.items else "all judgements are the same"
    n_agreed = len(monitor.find_cases("agreed"))
    shared = {"show": "shared"} if agreement.items else None
    return FigureGroup(
        "Agreement",
        (
            LeadFigure(
                title=_TITLES["agreed"],
                value=n_agreed,
                total=agreement.items,
                query={"show": "agreed"} if n_agreed else None,
                total_query=shared,
            ),
            _count(monitor, "disagreed"),
            LeadFigure(title="Fleiss' kappa", value=agreement.kappa, format="number", query=shared, reason=reason),
            LeadFigure(
                title="Krippendorff's alpha", value=agreement.alpha, format="number", query=shared, reason=reason
            ),
        ),
        "Over links that two or more people judged, from any source. Judges who failed the controls do not count. "
        "Below, a judge's agreement with others is the mean share of equal decisions with each other judge who counts.",
    )


def _build_ties(monitor: CampaignMonitor) -> FigureGroup:
    """Return the ties of judges, each link once, and how many the lead has decided."""
    n_ties = len(monitor.find_cases("ties"))
    figures = tuple(
        msgspec.structs.replace(_count(monitor, name), total=n_ties, total_query={"show": "ties"} if n_ties else None)
        for name in ("lead-decisions", "undecided-ties")
    )
    return FigureGroup(
        "Ties",
        figures,
        "Each link once: judges of one source or of several sources are tied, also on the new entity. karat verify "
        "ties decides.",
    )


def _build_times(monitor: CampaignMonitor) -> FigureGroup:
    """Return how long judgements take, and how many take too short a time."""
    seconds = [value for values in monitor.collect_seconds().values() for value in values]
    n_fast = len(monitor.find_cases("fast"))
    return FigureGroup(
        "Times",
        (
            LeadFigure(
                title="Too short to be true",
                value=n_fast,
                total=len(seconds),
                query={"show": "fast"} if n_fast else None,
                total_query={"show": "timed"} if seconds else None,
                is_alarm=n_fast > 0,
            ),
            LeadFigure(
                title="Median seconds per judgement",
                value=median(seconds) if seconds else None,
                format="seconds",
                query={"show": "timed"} if seconds else None,
                reason="no time is known",
            ),
            _count(monitor, "untimed"),
            _count(monitor, "late"),
        ),
        f"{TIME_RULE} Times are as the page measured them, and never longer than the time since the judge's previous "
        "record. A decision that replaces an earlier one has no time.",
    )


def _build_access(judge: JudgeStatus) -> AccessRow:
    """Return who has access, with what the crowd platform needs."""
    return AccessRow(
        judge.worker,
        judge.judge if judge.worker is None else None,
        (
            LeadFigure(title="Tasks", value=judge.done),
            LeadFigure(title="Controls", value=judge.control_result, format="text"),
            LeadFigure(title="Code", value=judge.code, format="text"),
        ),
        judge.is_revoked,
    )


def _list_entities(case: JudgedCase) -> list[str]:
    """Return the ids of all entities of a case."""
    ids = [] if case.link is None else [case.task.links[case.link].entity]
    for item in case.judgements:
        ids += [item.judgement.becomes or "", *item.judgement.chosen]
    return [id for id in ids if id]


def _describe_judgement(item: TimedJudgement, entities: dict[str, EntityPayload]) -> RecordLine:
    """Return a judgement under the pseudonym of its judge."""
    judgement = item.judgement
    targets = [*([judgement.becomes] if judgement.becomes else []), *judgement.chosen]
    notes = [
        *(["too short"] if item.is_fast else []),
        *(["wrong"] if item.is_correct_control is False else []),
        *(["late"] if judgement.is_late else []),
        *(["does not count"] if item.is_excluded else []),
        *([f"reason: {judgement.reason}"] if judgement.reason else []),
    ]
    decision = _WORDS[judgement.decision]
    if judgement.decision is Decision.CHOOSE and not targets:
        decision = "do not annotate"
    return RecordLine(
        judgement.judge,
        judgement.server_time,
        decision,
        tuple(LabelLine(judgement.surface, entities[id]) for id in targets),
        item.seconds,
        tuple(notes),
    )
