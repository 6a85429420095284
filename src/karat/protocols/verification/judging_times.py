"""Times that judgements take, as far as they can be true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from karat.protocols.campaigns.working_times import elapsed_seconds, min_seconds
from karat.protocols.verification.campaign import Campaign
from karat.protocols.verification.judgements import REQUIRED_DECISIONS, Decision, Judgement

_TIMED_DECISIONS: Final = (*REQUIRED_DECISIONS, Decision.ADD)


class JudgementTime(NamedTuple):
    """Time that a judgement took."""

    seconds: float | None = None
    """Seconds; None if unknown."""
    is_fast: bool = False
    """Whether the time is too short to be true."""


def collect_times(campaign: Campaign, records: Iterable[Judgement]) -> dict[str, JudgementTime]:
    """Return the time of each first decision on a link, by record id; `records` are oldest first.

    The page measures the time, but a page can be made to lie. No judgement takes longer than the time since the judge's
    previous record on the clock of the server, so the shorter of both counts. Automatic judges are believed.
    """
    tasks = {task.number: task for task in campaign.tasks}
    previous: dict[str, Judgement] = {}
    passages: set[tuple[str, str, int]] = set()
    links: set[tuple[str, int, int | None, int | None]] = set()
    times: dict[str, JudgementTime] = {}
    for record in records:
        if record.is_lead_decision:
            continue
        if record.machine is not None:
            times[record.id] = JudgementTime(record.seconds)
            continue
        task = tasks[record.task]
        passage = (record.judge, task.document, task.start)
        link = (record.judge, record.task, record.link, record.start)
        earlier = previous.get(record.judge)
        if record.decision in _TIMED_DECISIONS and link not in links:
            gap = None if earlier is None else elapsed_seconds(earlier.server_time, record.server_time)
            seconds = min((value for value in (record.seconds, gap) if value is not None), default=None)
            shortest = min_seconds(1, 0 if passage in passages else len(task.text))
            times[record.id] = JudgementTime(seconds, seconds is not None and seconds < shortest)
        previous[record.judge] = record
        passages.add(passage)
        links.add(link)
    return times


class JudgingTimes(NamedTuple):
    """Seconds per judgement."""

    n_timed: int
    """Number of timed judgements."""
    low: float | None
    """Lower quartile."""
    median: float | None
    """Median."""
    high: float | None
    """Upper quartile."""
    n_fast: int = 0
    """Number of judgements in a time too short to be true."""


def summarise_times(
    judgements: Mapping[tuple[int, int], Sequence[Judgement]], times: Mapping[str, JudgementTime]
) -> JudgingTimes:
    """Return the quartiles of the seconds per judgement; judgements without a time are ignored."""
    selected = [times.get(judgement.id, JudgementTime()) for group in judgements.values() for judgement in group]
    seconds = [time.seconds for time in selected if time.seconds is not None]
    if not seconds:
        return JudgingTimes(0, None, None, None)
    low, middle, high = np.quantile(seconds, [0.25, 0.5, 0.75]).tolist()
    return JudgingTimes(len(seconds), low, middle, high, sum(time.is_fast for time in selected))
