"""Measures of a campaign: what an unfinished campaign shows, several judges per link, and automatic judges."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.protocols.verification.campaign_builder import build_campaign
from karat.protocols.verification.judgements import Decision
from karat.protocols.verification.measures import measure_campaign
from karat.protocols.verification.outcomes import auto_judge_batches
from karat.protocols.verification.overlay import build_overlay
from karat.protocols.verification.posthoc import MissingShare
from karat.render.verification.report import render_page, to_json
from tests.protocols.verification import test_campaign
from tests.protocols.verification.test_overlay import corpus, judged, run

V, R = Decision.VERIFY, Decision.REMOVE
GOLD = {("gold", "Anna"): V, ("gold", "Ulm"): V, ("gold", "Bern"): R}
SYSTEM = {("s", "Anna"): V, ("s", "Ulm"): R, ("s", "Chur"): V}


def campaign(judges=1):
    gold = corpus(Anna="Q1", Ulm="Q2", Bern="Q3")
    return build_campaign(gold, [run(Anna="Q1", Ulm="Q9", Chur="Q4")], name="toy", controls=0, judges=judges)


def test_recall_is_not_shown_while_links_are_open():
    """Two of three gold links are verified: 66.7 % of an unfinished union, which says nothing."""
    found = measure_campaign(campaign(), judged(campaign(), GOLD))
    assert found.n_open == 3
    for source in found.sources:
        for scores in source.posthoc.values():
            assert (scores.recall, scores.f1, scores.intervals.recall) == (None, None, None)
    assert found.sources[0].posthoc["paper"].precision == pytest.approx(2 / 3)
    assert found.sources[0].original["weak"].recall == 1.0  # against the original gold standard nothing is open
    text = render_page([found])
    assert text.startswith("toy: toy, 1 document, judged by people, 3 of 6 links judged (50.0 %)\n")
    assert "No recall after verification: 3 of 6 links are open" in text
    assert "in passages where every link has an outcome (0 of 1)" in text
    assert "so far" in text
    (written,) = map(json.loads, to_json([found]).splitlines())
    assert (written["links_shown"], written["open"]) == (6, 3)
    assert written["recall_undefined"].startswith("3 of 6 links are open")
    assert written["sources"][0]["posthoc"]["paper"]["recall"] is None


def test_recall_is_shown_once_all_links_are_judged():
    found = measure_campaign(campaign(), judged(campaign(), GOLD | SYSTEM))
    gold, system = found.sources
    assert (gold.posthoc["paper"].recall, system.posthoc["paper"].recall) == (2 / 3, 2 / 3)  # Anna, Ulm, Chur
    assert found.recall_reason is None
    text = render_page([found])
    assert "judged by people, all 6 links judged\n" in text
    assert "so far" not in text


def test_the_union_shown_is_the_one_divided_by():
    """Anna (0-4) as Q1, and as Q7 by another judge: two distinct links, one of which counts as coded."""
    made = build_campaign(corpus(Anna="Q1", Ulm="Q2"), [run(Anna="Q7")], name="toy", controls=0)
    found = measure_campaign(made, judged(made, {("gold", "Anna"): V, ("gold", "Ulm"): V, ("s", "Anna"): V}))
    assert {name: scores.counts.union for name, scores in found.sources[0].posthoc.items()} == {"paper": 3, "code": 2}
    assert found.missing_from_gold["code"] == MissingShare(missing=0, union=3, share=0)
    text = " ".join(render_page([found]).split())
    union = "3 links by paper, 2 links by code (3 accepted, but overlapping ones count once)."
    assert f"Recall divides by the union: {union}" in text
    assert "missing from the gold: 0 of 3 distinct links accepted by code (0.0 %)" in text


def test_a_link_is_open_until_all_its_judges_have_judged_it():
    made = campaign(judges=3)
    records = []
    for n_judges, judge in enumerate(("anna", "ben"), 1):
        records += judged(made, GOLD | SYSTEM, judge)
        found = measure_campaign(made, records)
        assert found.n_open == 6, f"{n_judges} of three judges"
        assert build_overlay(made, records).changes == ()
        assert build_overlay(made, records).header.undecided == {"links that need more judges": 5}  # Anna is shared
    found = measure_campaign(made, records + judged(made, GOLD | SYSTEM, "cleo"))
    assert (found.n_open, found.sources[0].outcomes) == (0, (2, 0, 1, 0))
    assert found.sources[0].posthoc["paper"].recall == 2 / 3


def test_a_tie_is_judged_and_not_open():
    made = campaign(judges=2)
    records = judged(made, GOLD | SYSTEM) + judged(made, GOLD | SYSTEM | {("gold", "Bern"): V}, "ben")
    found = measure_campaign(made, records)
    assert (found.n_open, found.sources[0].n_tied, found.sources[0].outcomes) == (0, 1, (2, 0, 0, 1))
    assert found.sources[0].posthoc["paper"].recall is not None
    assert "in passages where every link has an outcome (0 of 1; not those with ties)" in " ".join(
        render_page([found]).split()
    )
    (written,) = map(json.loads, to_json([found]).splitlines())
    assert (written["sources"][0]["tied"], written["sources"][0]["open"]) == (1, 0)


def test_one_judgement_of_an_automatic_judge_decides_whatever_people_need():
    made = campaign(judges=3)
    found = measure_campaign(made, judged(made, GOLD | SYSTEM, "m", "rule"), machine="rule")
    assert found.n_open == 0
    assert [change.action for change in build_overlay(made, judged(made, GOLD, "m", "rule"), machine="rule").changes]


@pytest.mark.parametrize("priority", ["false-positives", "disagreements"])
def test_scores_of_whole_sources_are_undefined_if_the_priority_shows_only_some_links(priority):
    """Against the gold links shown, of which there may be none, every system would have a precision of 0."""
    gold = corpus(Anna="Q1", Ulm="Q2", Bern="Q3")
    made = build_campaign(gold, [run(Anna="Q1", Ulm="Q9", Chur="Q4")], name="toy", controls=0, priority=priority)
    found = measure_campaign(made, judged(made, GOLD | SYSTEM))
    assert found.n_open == 0
    for source in found.sources:
        for scores in (*source.original.values(), *source.posthoc.values()):
            assert (scores.precision, scores.recall, scores.f1, *scores.intervals) == (None,) * 5
        assert source.overlaps == {}
    assert found.sources[1].outcomes.rate == 1 / 2  # of the links shown
    assert found.pairs == ()  # both sources have Anna, but hidden links are in no count of shared links
    assert found.missing_from_gold == {}
    n_hidden = {"false-positives": 4, "disagreements": 2}[priority]
    reason = f"the priority {priority} does not show {n_hidden} of 6 links"
    assert found.scores_reason == found.recall_reason == reason
    text = " ".join(render_page([found], details=True).split())
    assert f"No precision, recall and pairs of sources: {reason}" in text
    assert "before" not in text
    assert "shared" not in text
    (written,) = map(json.loads, to_json([found]).splitlines())
    assert (written["scores_undefined"], written["recall_undefined"]) == (reason, reason)


def with_controls(controls=1, batch=4, documents=6):
    return build_campaign(
        test_campaign.corpus(documents),
        [test_campaign.run("one", documents=documents), test_campaign.run("two", documents=documents)],
        name="toy",
        batch=batch,
        controls=controls,
    )


@given(st.integers(1, 3), st.integers(4, 30), st.text(max_size=5))
def test_batches_of_an_automatic_judge_divide_all_tasks_and_share_no_control(controls, batch, machine):
    made = with_controls(controls, batch, documents=3)
    batches = auto_judge_batches(made, machine)
    assert batches == auto_judge_batches(made, machine)
    numbers = [number for one in batches for number in one.tasks]
    assert sorted(numbers) == [task.number for task in made.tasks if not task.is_control]
    drawn = [number for one in batches for number in one.controls]
    assert len(drawn) == len(set(drawn)) == controls * len(batches)
    assert set(drawn) <= {task.number for task in made.tasks if task.is_control}


def automatic(made, wrong=frozenset()):
    """Records of an automatic judge that is right on all controls but those with these numbers."""
    from karat.protocols.verification.judgements import Judgement

    records = []
    for task in made.tasks:
        tested = [place for place, link in enumerate(task.links) if link.correct]
        for place, link in enumerate(task.links):
            decision = R if link.correct and V not in link.correct else V
            if task.number in wrong and place == tested[0]:
                decision = V if decision is R else R
            records.append(
                Judgement(
                    id=f"m-{task.number}-{place}",
                    judge="m",
                    task=task.number,
                    link=place,
                    decision=decision,
                    server_time="",
                    entity=link.entity,
                    machine="rule",
                )
            )
    return records


def test_one_slip_of_an_automatic_judge_discards_one_batch():
    made = with_controls()
    batches = auto_judge_batches(made, "rule")
    assert len(batches) > 5
    (control,) = batches[0].controls
    lost = sum(len(task.links) for task in made.tasks if task.number in batches[0].tasks)
    found = measure_campaign(made, automatic(made, {control}), machine="rule", resamples=0)
    assert found.excluded["in batches with failed controls"] == found.n_open == lost < found.links_shown / 5
    (quality,) = found.judges
    assert (quality.control_result, quality.batches, quality.failed_batches) == ("partly failed", len(batches), 1)
    assert (quality.controls - quality.correct_controls, quality.controls) == (1, 3 * len(batches))
    assert f"partly failed (1 of {len(batches)} batches)" in render_page([found], details=True)


def test_a_slip_on_a_control_that_was_not_drawn_is_not_looked_at():
    made = with_controls(batch=30)
    drawn = {number for one in auto_judge_batches(made, "rule") for number in one.controls}
    others = {task.number for task in made.tasks if task.is_control} - drawn
    assert others
    found = measure_campaign(made, automatic(made, others), machine="rule", resamples=0)
    assert (found.n_open, found.judges[0].control_result) == (0, "passed")


def test_an_automatic_judge_that_fails_everywhere_does_not_count():
    made = with_controls()
    controls = {task.number for task in made.tasks if task.is_control}
    found = measure_campaign(made, automatic(made, controls), machine="rule", resamples=0)
    assert (found.n_open, found.judges[0].control_result) == (found.links_shown, "failed")
