"""Outcomes of all links from the records of judges, with the quality and agreement of judges."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil
from random import Random
from statistics import median
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from karat.model.errors import UsageError
from karat.model.output.json_files import JsonRecord
from karat.model.tables.columns import Longs
from karat.protocols.campaigns.working_times import parse_time
from karat.protocols.verification.campaign import Campaign, JudgingTask
from karat.protocols.verification.judgements import (
    OUTCOMES,
    Decision,
    Judgement,
    effective_judgements,
    find_consensus,
    find_tie,
)
from karat.protocols.verification.judging_times import JudgementTime, collect_times
from karat.protocols.verification.posthoc import JudgedLink, TextLink
from karat.stats.agreement import cohen_kappa, fleiss_kappa, full_agreement, krippendorff_alpha

ControlResult: TypeAlias = Literal["passed", "failed", "partly failed", "not tested"]
"""Result of a judge's control tasks; an automatic judge partly fails if it fails in some of its batches."""

MIN_CORRECT: Final = 0.75
"""Share of the tested decisions on controls that must be correct. Who verifies every link has at most two thirds."""


class JudgeQuality(JsonRecord, frozen=True):
    """Performance of one judge."""

    judge: str
    """Pseudonym of the judge."""
    machine: str | None
    """Name of an automatic judge; None for a person."""
    judgements: int
    """Number of judgements outside controls."""
    controls: int
    """Number of judged control links whose correct decision is known."""
    correct_controls: int
    """Number of control links judged correctly."""
    control_result: ControlResult
    """Result of the control tasks."""
    median_seconds: float | None
    """Median time per judgement."""
    batches: int = 1
    """Number of batches, each with its controls. A person has one batch, an automatic judge as many as it needs."""
    failed_batches: int = 0
    """Number of batches with a failed control; their judgements do not count."""


class JudgingBatch(NamedTuple):
    """Tasks that are judged together, and the controls among them."""

    tasks: frozenset[int]
    """Numbers of the tasks, without controls."""
    controls: frozenset[int]
    """Numbers of the control tasks."""


def auto_judge_batches(campaign: Campaign, machine: str) -> list[JudgingBatch]:
    """Divide all tasks into batches, each with controls of its own, drawn at random.

    So an automatic judge is tested like the people who would do the same tasks, but a failed control discards only one
    batch. Batches are as large as the blocks of people, or larger if there are too few controls, because one decision
    cannot test two batches. The draw depends on the seed of the campaign and the name of the judge (`machine`). Without
    controls there is one batch.
    """
    options = campaign.options
    controls = [task.number for task in campaign.tasks if task.is_control]
    tasks = [task.number for task in campaign.tasks if not task.is_control]
    if not controls or not options.controls:
        return [JudgingBatch(frozenset(tasks), frozenset())]
    n_controls = min(options.controls, len(controls))
    size = max(1, options.block_size - options.controls)
    n_batches = max(1, min(ceil(len(tasks) / size), len(controls) // n_controls))
    drawn = Random(f"{options.seed} {machine}").sample(controls, n_batches * n_controls)
    return [
        JudgingBatch(frozenset(tasks[index::n_batches]), frozenset(drawn[index::n_batches]))
        for index in range(n_batches)
    ]


def first_answer(task: JudgingTask, records: Iterable[Judgement]) -> dict[int, Judgement] | None:
    """Return a judge's judgements by link index when they covered all links of a task first; None if they never did.

    `records` are all records of one judge on this task, oldest first. What the judge withdraws or changes after that
    moment has no influence.
    """
    answer: dict[int, Judgement] = {}
    for record in records:
        if record.decision is Decision.UNDO:
            answer = {link: judgement for link, judgement in answer.items() if judgement.id != record.undone_id}
        elif record.decision in OUTCOMES and record.link is not None:
            answer[record.link] = record
        if len(answer) == len(task.links):
            return answer
    return None


def control_answer(task: JudgingTask, records: Sequence[Judgement]) -> dict[int, Judgement]:
    """Return the judgements of one judge that count on a control task, by link index.

    They are the first complete answer, or the present one as long as there is none.
    """
    answer = first_answer(task, records)
    return _latest_answer(records) if answer is None else answer


def evaluate_controls(tasks: Mapping[int, JudgingTask], records: Mapping[int, Sequence[Judgement]]) -> ControlResult:
    """Return whether a judge passes the controls: not if less than `MIN_CORRECT` of the tested decisions are correct.

    On each control, the first complete answer decides, or the present one as long as there is none. A judge without a
    complete answer is not tested. `tasks` are keyed by number, `records` are all records of the judge on each control.
    """
    decisions = [
        judgement.decision in tasks[number].links[index].correct
        for number, group in records.items()
        for index, judgement in control_answer(tasks[number], group).items()
        if tasks[number].links[index].correct
    ]
    if decisions and sum(decisions) < MIN_CORRECT * len(decisions):
        return "failed"
    has_answer = any(first_answer(tasks[number], group) is not None for number, group in records.items())
    return "passed" if has_answer else "not tested"


def _latest_answer(records: Iterable[Judgement]) -> dict[int, Judgement]:
    """Return the judgements by link index that a judge has made on a task and not withdrawn."""
    effective = effective_judgements(records)
    return {r.link: r for r in effective if r.link is not None and r.decision in OUTCOMES}


def has_skipped_controls(campaign: Campaign, records: Iterable[Judgement]) -> bool:
    """Return whether one judge skipped every control of a campaign, and so escaped all tests.

    `records` are the effective judgements of the judge.
    """
    controls = {task.number for task in campaign.tasks if task.is_control}
    skipped = {record.task for record in records if record.decision is Decision.SKIP}
    return bool(controls) and controls <= skipped


class _TestedJudge(NamedTuple):
    """A judge with the effective judgements, the decisions on controls, and the result of each batch."""

    judge: str
    judgements: Sequence[Judgement]
    control_answers: Mapping[int, Mapping[int, Judgement]]
    """Judgements that count on controls: by task number, then by link index."""
    results: Sequence[tuple[JudgingBatch, ControlResult]]

    @property
    def failed_tasks(self) -> frozenset[int]:
        """Numbers of the tasks of all failed batches."""
        return frozenset[int]().union(*(batch.tasks for batch, result in self.results if result == "failed"))


def _test_judges(campaign: Campaign, records: Iterable[Judgement]) -> list[_TestedJudge]:
    """Test each judge, including automatic ones, by the controls, in the order of their first effective judgement.

    The tasks of a person are one batch.
    """
    tasks = {task.number: task for task in campaign.tasks}
    all_records = [record for record in records if not record.is_lead_decision]
    by_judge: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in effective_judgements(all_records):
        by_judge[judgement.judge].append(judgement)
    by_control: dict[str, dict[int, list[Judgement]]] = defaultdict(lambda: defaultdict(list))
    for record in all_records:
        if tasks[record.task].is_control:
            by_control[record.judge][record.task].append(record)
    tested = []
    for judge, judgements in by_judge.items():
        machine, controls = judgements[0].machine, by_control[judge]
        other_tasks = frozenset(judgement.task for judgement in judgements if judgement.task not in controls)
        batches = (
            [JudgingBatch(other_tasks, frozenset(controls))]
            if machine is None
            else auto_judge_batches(campaign, machine)
        )
        results = [
            (batch, evaluate_controls(tasks, {n: controls[n] for n in sorted(batch.controls) if n in controls}))
            for batch in batches
        ]
        if machine is None and has_skipped_controls(campaign, judgements):
            results = [(batch, "failed") for batch in batches]
        answers = {number: control_answer(tasks[number], group) for number, group in controls.items()}
        tested.append(_TestedJudge(judge, judgements, answers, results))
    return tested


def judge_qualities(campaign: Campaign, records: Iterable[Judgement]) -> list[JudgeQuality]:
    """Measure each judge, including automatic ones, in the order of their first judgement that still counts.

    A person with too many wrong decisions on controls, or who skipped all of them, has failed. An automatic judge has
    failed if it failed in all batches with a result.
    """
    tasks, all_records = {task.number: task for task in campaign.tasks}, list(records)
    times = collect_times(campaign, all_records)
    return [_measure_quality(tested, tasks, times) for tested in _test_judges(campaign, all_records)]


def _measure_quality(
    tested: _TestedJudge, tasks: Mapping[int, JudgingTask], times: Mapping[str, JudgementTime]
) -> JudgeQuality:
    """Measure one judge; `tasks` has all tasks of the campaign by number, `times` those of judgements by record id."""
    decided = [judgement for judgement in tested.judgements if judgement.decision in OUTCOMES]
    sampled = frozenset[int]().union(*(batch.controls for batch, _ in tested.results))
    outcomes = [
        judgement.decision in tasks[number].links[index].correct
        for number in sampled
        for index, judgement in tested.control_answers.get(number, {}).items()
        if tasks[number].links[index].correct
    ]
    results = [result for _, result in tested.results]
    defined = set(results) - {"not tested"}
    all_seconds = [times.get(judgement.id, JudgementTime()).seconds for judgement in decided]
    seconds = [value for value in all_seconds if value is not None]
    return JudgeQuality(
        tested.judge,
        tested.judgements[0].machine,
        sum(not tasks[judgement.task].is_control for judgement in decided),
        len(outcomes),
        sum(outcomes),
        "not tested" if not defined else "partly failed" if len(defined) == 2 else defined.pop(),
        median(seconds) if seconds else None,
        len(results),
        results.count("failed"),
    )


DISCARDED: Final = "in batches with failed controls"
"""Why judgements of an automatic judge are excluded that are in a batch with a failed control."""


class SelectedJudgements(NamedTuple):
    """Judgements that count for the measures, those excluded, and added links."""

    judgements: Mapping[tuple[int, int], Sequence[Judgement]]
    """Judgements by task number and link index."""
    excluded: Mapping[str, int]
    """Number of excluded judgements by reason."""
    additions: Mapping[TextLink, int]
    """Number of judges by added link."""
    lead_decisions: Mapping[TextLink, Judgement]
    """Decisions of the lead on ties, by link; none for an automatic judge."""


def select_judgements(
    campaign: Campaign, records: Sequence[Judgement], machine: str | None = None
) -> SelectedJudgements:
    """Select the judgements of people who did not fail a control, or those of one automatic judge (`machine`).

    People and automatic judges are never mixed. Withdrawn judgements, those on controls and skipped tasks are excluded.
    Of an automatic judge, the batches with a failed control are excluded; see `auto_judge_batches`.
    """
    failed = {tested.judge: tested.failed_tasks for tested in _test_judges(campaign, records)}
    controls = {task.number for task in campaign.tasks if task.is_control}
    judgements: dict[tuple[int, int], list[Judgement]] = defaultdict(list)
    excluded: Counter[str] = Counter()
    added: dict[TextLink, set[str]] = defaultdict(set)
    tasks = {task.number: task for task in campaign.tasks}
    votes = [record for record in records if not record.is_lead_decision]
    effective = effective_judgements(votes)
    excluded["undone, or judged again"] = sum(record.decision is not Decision.UNDO for record in votes) - len(effective)
    for judgement in effective:
        reason = _exclusion_reason(judgement, machine, failed, controls)
        if reason is not None:
            excluded[reason] += 1
        elif judgement.decision is Decision.ADD:
            location = TextLink(
                tasks[judgement.task].document, judgement.start or 0, judgement.end or 0, judgement.becomes or ""
            )
            added[location].add(judgement.judge)
        elif judgement.link is not None:
            judgements[judgement.task, judgement.link].append(judgement)
    counts = {reason: count for reason, count in excluded.items() if count}
    additions = {location: len(judges) for location, judges in added.items()}
    lead_decisions = {} if machine else _find_lead_decisions(records, tasks)
    return SelectedJudgements(judgements, counts, additions, lead_decisions)


def require_judgements(campaign: Campaign, records: Sequence[Judgement], machine: str | None, where: str) -> None:
    """Raise `UsageError`, located at `where`, with the reasons if no judgement counts; also for a survey.

    `machine` names the automatic judge whose judgements count; None means people.
    """
    selected = select_judgements(campaign.require_kind("verify"), records, machine)
    if selected.judgements or selected.additions:
        return
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in selected.excluded.items())
    machines = sorted({record.machine for record in records if record.machine not in (None, machine)})
    advice = f"Pass --auto-judge {shlex.quote(machines[0])}, or let" if machines and machine is None else "Let"
    raise UsageError(f"{where}: no judgement counts{f' ({reasons})' * bool(reasons)}. {advice} people judge.")


def _find_lead_decisions(records: Iterable[Judgement], tasks: Mapping[int, JudgingTask]) -> dict[TextLink, Judgement]:
    """Return the last decision of the lead on each link; `tasks` has all tasks of the campaign by number."""
    return {
        tasks[record.task].to_text_link(tasks[record.task].links[record.link]): record
        for record in records
        if record.is_lead_decision and record.link is not None
    }


def _exclusion_reason(
    judgement: Judgement, machine: str | None, failed: Mapping[str, frozenset[int]], controls: set[int]
) -> str | None:
    """Return why a judgement does not count; None if it counts.

    `failed` has by judge the numbers of the tasks in failed batches, `controls` the numbers of the control tasks.
    """
    if judgement.machine != machine:
        return f"of the automatic judge {judgement.machine}" if machine is None else "of other judges"
    if judgement.task in controls:
        return "on controls"
    if judgement.decision not in (*OUTCOMES, Decision.ADD):
        return "tasks skipped"
    if judgement.task not in failed[judgement.judge]:
        return None
    return "of judges who failed the controls" if machine is None else DISCARDED


def collect_judged_links(
    campaign: Campaign, selected: SelectedJudgements, *, judges: int | None = None
) -> list[JudgedLink]:
    """Return every link that was shown outside controls, with its majority outcome; None as outcome if undecided.

    A link is open until `judges` have judged it (default: as many as the campaign asks for). An outcome before that
    would favour links on which the first judges happen to agree. If they are tied, the decision of the lead counts.
    """
    links = []
    required = campaign.options.judges if judges is None else judges
    for task in campaign.tasks:
        if task.is_control:
            continue
        source = campaign.options.sources[task.source]
        for index, link in enumerate(task.links):
            text_link, link_judgements = task.to_text_link(link), selected.judgements.get((task.number, index), ())
            consensus = find_consensus(link_judgements, required, selected.lead_decisions.get(text_link))
            judged_link = JudgedLink(source, task.start, text_link)
            if consensus is None:
                links.append(judged_link._replace(is_tied=find_tie(link_judgements, required) == "decision"))
            else:
                links.append(
                    judged_link._replace(
                        outcome=consensus.decision,
                        becomes=consensus.becomes,
                        is_lead_decision=consensus.is_lead_decision
                        and find_tie(link_judgements, required) == "decision",
                    )
                )
    return links


class PairAgreement(JsonRecord, frozen=True):
    """Agreement of two judges."""

    judge_a: str
    """First judge."""
    judge_b: str
    """Second judge."""
    items: int
    """Number of links that both judged."""
    observed: float
    """Share of links with the same outcome."""
    kappa: float | None
    """Cohen's kappa; None if undefined."""


class JudgeAgreement(JsonRecord, frozen=True):
    """Agreement of all judges on the same links, from any source, or of an automatic judge with people."""

    items: int
    """Number of links that two or more judges judged, or both the automatic judge and people."""
    observed: float | None
    """Share of links on which all judges agree; None if undefined."""
    kappa: float | None
    """Fleiss' kappa over all judgements on these links; Cohen's kappa for an automatic judge."""
    alpha: float | None
    """Krippendorff's alpha; None for an automatic judge."""
    machine: str | None = None
    """Name of the automatic judge that is compared with people, if any."""
    pairs: tuple[PairAgreement, ...] = ()
    """Agreement of each pair of judges with common links."""
    judgements: int | None = None
    """Number of judgements on the links, the last one of each judge per link; None for an automatic judge."""


def judge_agreement(campaign: Campaign, judgements: Mapping[tuple[int, int], Sequence[Judgement]]) -> JudgeAgreement:
    """Measure the agreement of judges on the links that two or more of them judged.

    `judgements` are keyed by task number and link index. A link that several sources share is one link; a judge counts
    once for it, with the last judgement.
    """
    decisions_by_link = [decisions for decisions in last_decisions(campaign, judgements).values() if len(decisions) > 1]
    rows = [list(decisions.values()) for decisions in decisions_by_link]
    if not rows:
        return JudgeAgreement(0, None, None, None)
    codes = np.full((max(map(len, rows)), len(rows)), -1, np.int64)
    for column, decisions in enumerate(rows):
        codes[: len(decisions), column] = decisions
    observed, kappa, alpha = map(_nan_to_none, (full_agreement(codes), fleiss_kappa(codes), krippendorff_alpha(codes)))
    pairs = tuple(pair_agreements(decisions_by_link))
    return JudgeAgreement(len(rows), observed, kappa, alpha, pairs=pairs, judgements=sum(map(len, rows)))


def pair_agreements(decisions_by_link: Iterable[Mapping[str, int]]) -> Iterator[PairAgreement]:
    """Yield the agreement of each pair of judges with common links, sorted by their names.

    Each mapping is one link: from judge to decision, as an index into `OUTCOMES`.
    """
    decision_pairs: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for decisions in decisions_by_link:
        for judge_a, judge_b in combinations(sorted(decisions), 2):
            decision_pairs[judge_a, judge_b].append((decisions[judge_a], decisions[judge_b]))
    for (judge_a, judge_b), pairs in sorted(decision_pairs.items()):
        codes: Longs = np.array(pairs, np.int64).T
        yield PairAgreement(
            judge_a, judge_b, len(pairs), float((codes[0] == codes[1]).mean()), _nan_to_none(cohen_kappa(codes))
        )


def mean_agreement(judge: str, pairs: Iterable[PairAgreement]) -> float | None:
    """Return the mean share of equal decisions of a judge with each other judge; None without common links."""
    shares = [pair.observed for pair in pairs if judge in (pair.judge_a, pair.judge_b)]
    return sum(shares) / len(shares) if shares else None


def _nan_to_none(value: float) -> float | None:
    """Return the value as a float; None for NaN."""
    return None if np.isnan(value) else float(value)


def last_decisions(
    campaign: Campaign, judgements: Mapping[tuple[int, int], Sequence[Judgement]]
) -> dict[TextLink, dict[str, int]]:
    """Return the last decision of each judge on each link, as an index into `OUTCOMES`: by link, then by judge.

    A judge can see a link several times, once for each source that has it. The numbers of tasks are random, so the time
    decides, as for a judgement that is corrected.
    """
    tasks = {task.number: task for task in campaign.tasks}
    decisions: dict[TextLink, dict[str, int]] = defaultdict(dict)
    timed = [(key, judgement) for key, link_judgements in judgements.items() for judgement in link_judgements]
    for (number, index), judgement in sorted(timed, key=lambda item: parse_time(item[1].server_time)):
        link = tasks[number].to_text_link(tasks[number].links[index])
        decisions[link][judgement.judge] = OUTCOMES.index(judgement.decision)
    return decisions


def agreement_with_people(
    machine: str, people: Sequence[JudgedLink], automatic: Sequence[JudgedLink]
) -> JudgeAgreement:
    """Measure the agreement of an automatic judge with people, on the links that both decided.

    `people` and `automatic` have the same links in the same order.
    """
    pairs = [
        (OUTCOMES.index(a.outcome), OUTCOMES.index(b.outcome))
        for a, b in zip(people, automatic, strict=True)
        if a.outcome is not None and b.outcome is not None
    ]
    if not pairs:
        return JudgeAgreement(0, None, None, None, machine)
    codes: Longs = np.array(pairs, np.int64).T
    observed = float((codes[0] == codes[1]).mean())
    return JudgeAgreement(len(pairs), observed, _nan_to_none(cohen_kappa(codes)), None, machine)
