"""What became of every link that was shown, from the records of judges."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import median
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from karat.model.tables.columns import Longs
from karat.stats.agreement import all_the_same, cohen_kappa, fleiss_kappa, krippendorff_alpha
from karat.verification.campaign import Campaign, JudgingTask
from karat.verification.decisions import OUTCOMES, Decision, Judgement, standing, together
from karat.verification.posthoc import JudgedLink, LinkAt

Passing: TypeAlias = Literal["passed", "failed", "not tested"]


class JudgeQuality(NamedTuple):
    """How one judge did: control links judged rightly out of those judged, and what that says."""

    judge: str
    machine: str | None
    judgements: int
    controls: int
    right: int
    passing: Passing
    seconds: float | None


def control_passed(task: JudgingTask, said: Iterable[Judgement]) -> bool | None:
    """Whether a judge did all of a control task rightly; None while something of it is open."""
    decided = {one.link: one.decision for one in said}
    found = [decided.get(place) for place in range(len(task.links))]
    wrong = [one not in link.right for one, link in zip(found, task.links, strict=True) if one in OUTCOMES]
    if any(wrong):
        return False
    return None if len(wrong) < len(task.links) else True


def qualities(campaign: Campaign, records: Iterable[Judgement]) -> list[JudgeQuality]:
    """How each judge did, in the order in which they began; who fails one control task has failed."""
    tasks = {task.number: task for task in campaign.tasks}
    by_judge: dict[str, list[Judgement]] = defaultdict(list)
    for one in standing(records):
        by_judge[one.judge].append(one)
    return [_quality(judge, said, tasks) for judge, said in by_judge.items()]


def _quality(judge: str, said: Sequence[Judgement], tasks: Mapping[int, JudgingTask]) -> JudgeQuality:
    decided = [one for one in said if one.decision in OUTCOMES]
    tests: dict[int, list[Judgement]] = defaultdict(list)
    for one in decided:
        if tasks[one.task].control:
            tests[one.task].append(one)
    passed = [control_passed(tasks[number], own) for number, own in tests.items()]
    right = sum(one.decision in tasks[one.task].links[one.link or 0].right for own in tests.values() for one in own)
    passing: Passing = "failed" if False in passed else "passed" if True in passed else "not tested"
    times = [one.seconds for one in decided if one.seconds is not None]
    machine = said[0].machine
    controls = sum(map(len, tests.values()))
    return JudgeQuality(
        judge, machine, len(decided) - controls, controls, right, passing, median(times) if times else None
    )


class Selected(NamedTuple):
    """The judgements that count, how many do not, by why, and how many judges added which links."""

    said: Mapping[tuple[int, int], Sequence[Judgement]]
    left_out: Mapping[str, int]
    added: Mapping[LinkAt, int]


def selected(campaign: Campaign, records: Sequence[Judgement], machine: str | None = None) -> Selected:
    """The decisions on links, by task and place: those of people who did not fail a control, or of one machine.

    People and machines are never mixed.
    """
    failed = {each.judge for each in qualities(campaign, records) if each.passing == "failed"}
    controls = {task.number for task in campaign.tasks if task.control}
    said: dict[tuple[int, int], list[Judgement]] = defaultdict(list)
    left_out: Counter[str] = Counter()
    added: Counter[LinkAt] = Counter()
    documents = {task.number: task.document for task in campaign.tasks}
    live = standing(records)
    left_out["undone, or judged again"] = sum(one.decision is not Decision.UNDO for one in records) - len(live)
    for one in live:
        why = _why_not(one, machine, failed, controls)
        if why is not None:
            left_out[why] += 1
        elif one.decision is Decision.ADD:
            added[LinkAt(documents[one.task], one.start or 0, one.end or 0, one.becomes or "")] += 1
        elif one.link is not None:
            said[one.task, one.link].append(one)
    return Selected(said, {why: count for why, count in left_out.items() if count}, added)


def _why_not(one: Judgement, machine: str | None, failed: set[str], controls: set[int]) -> str | None:
    if one.machine != machine:
        return f"of the machine {one.machine}" if machine is None else "of other judges"
    if one.task in controls:
        return "on controls"
    if one.decision not in (*OUTCOMES, Decision.ADD):
        return "tasks skipped"
    return "of judges who failed a control" if one.judge in failed else None


def judged_links(campaign: Campaign, said: Mapping[tuple[int, int], Sequence[Judgement]]) -> list[JudgedLink]:
    """Every link that was shown, with what became of it."""
    found = []
    for task in campaign.tasks:
        if task.control:
            continue
        source = campaign.terms.sources[task.source]
        for place, link in enumerate(task.links):
            ruling = together(said.get((task.number, place), ()), campaign.terms.judges)
            outcome = () if ruling is None else (ruling.decision, ruling.becomes)
            found.append(JudgedLink(source, task.start, task.place(link), *outcome))
    return found


class PairAgreement(NamedTuple):
    """Two judges: links that both judged, the share of the same outcome, Cohen's kappa."""

    one: str
    two: str
    items: int
    same: float
    kappa: float | None


class JudgeAgreement(NamedTuple):
    """How far judges agree on the same link, from whatever source it was shown; None where it is not defined.

    `items` are links that two or more judged. `alpha` is Krippendorff's, `kappa` that of Fleiss over the first two
    judgements of each, which need not be those of the same two judges; `pairs` are those who judged the same link.
    """

    items: int
    same: float | None
    kappa: float | None
    alpha: float | None
    pairs: tuple[PairAgreement, ...] = ()


def agreement(campaign: Campaign, said: Mapping[tuple[int, int], Sequence[Judgement]]) -> JudgeAgreement:
    """Agreement between judges: of the same link, a judge counts once, with the first judgement."""
    judged = [own for own in _by_link(campaign, said).values() if len(own) > 1]
    rows = [list(own.values()) for own in judged]
    if not rows:
        return JudgeAgreement(0, None, None, None)
    codes = np.full((max(map(len, rows)), len(rows)), -1, np.int64)
    for column, own in enumerate(rows):
        codes[: len(own), column] = own
    same, kappa, alpha = map(_defined, (all_the_same(codes), fleiss_kappa(codes[:2]), krippendorff_alpha(codes)))
    return JudgeAgreement(len(rows), same, kappa, alpha, tuple(_pairs(judged)))


def _pairs(judged: Iterable[Mapping[str, int]]) -> Iterator[PairAgreement]:
    """Every two judges who judged the same links."""
    both: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for own in judged:
        for one, two in combinations(sorted(own), 2):
            both[one, two].append((own[one], own[two]))
    for (one, two), found in sorted(both.items()):
        codes: Longs = np.array(found, np.int64).T
        yield PairAgreement(one, two, len(found), float((codes[0] == codes[1]).mean()), _defined(cohen_kappa(codes)))


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _by_link(campaign: Campaign, said: Mapping[tuple[int, int], Sequence[Judgement]]) -> dict[LinkAt, dict[str, int]]:
    """What each judge said first of each link."""
    tasks = {task.number: task for task in campaign.tasks}
    found: dict[LinkAt, dict[str, int]] = defaultdict(dict)
    for (number, place), own in said.items():
        link = tasks[number].place(tasks[number].links[place])
        for one in own:
            found[link].setdefault(one.judge, OUTCOMES.index(one.decision))
    return found


class MachineAgreement(NamedTuple):
    """A machine beside people: links that both have an outcome for, the share of the same outcome, Cohen's kappa."""

    machine: str
    items: int
    same: float | None
    kappa: float | None


def beside_people(machine: str, people: Sequence[JudgedLink], own: Sequence[JudgedLink]) -> MachineAgreement:
    """How far a machine agrees with people, link by link."""
    both = [
        (OUTCOMES.index(one.outcome), OUTCOMES.index(two.outcome))
        for one, two in zip(people, own, strict=True)
        if one.outcome is not None and two.outcome is not None
    ]
    if not both:
        return MachineAgreement(machine, 0, None, None)
    codes: Longs = np.array(both, np.int64).T
    return MachineAgreement(machine, len(both), float((codes[0] == codes[1]).mean()), _defined(cohen_kappa(codes)))


class JudgingTimes(NamedTuple):
    """Seconds per judgement: how many were timed, and the quartiles."""

    timed: int
    low: float | None
    median: float | None
    high: float | None


def times(said: Mapping[tuple[int, int], Sequence[Judgement]]) -> JudgingTimes:
    """How long judgements took."""
    found = [one.seconds for own in said.values() for one in own if one.seconds is not None]
    if not found:
        return JudgingTimes(0, None, None, None)
    low, middle, high = np.quantile(found, [0.25, 0.5, 0.75]).tolist()
    return JudgingTimes(len(found), low, middle, high)
