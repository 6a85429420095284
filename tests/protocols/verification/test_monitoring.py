"""The lead page of a campaign: each number equals its number of cases, and short times are detected."""

from datetime import UTC, datetime
from statistics import median

import pytest

from karat.protocols.campaigns.working_times import elapsed_seconds, hours_left, min_seconds, parse_time
from karat.protocols.verification.campaign_builder import build_campaign
from karat.protocols.verification.judgements import Decision
from karat.render.verification.report import render_page
from tests.protocols.verification.test_campaign import corpus, run

pytestmark = pytest.mark.extras


@pytest.fixture
def store(address, clock):
    from karat.protocols.verification.store.store import CampaignStore

    # The system equals the gold standard, so that links are shared and controls can be made of them.
    made = build_campaign(corpus(6), [run("one", documents=6)], name="toy", batch=6, judges=2)
    assert any(task.is_control for task in made.tasks)
    return CampaignStore.create(address, made, clock)


def enter(store, worker):
    # Tasks are planned by the order of entering, and random pseudonyms order those who enter at the same second.
    store.clock.now += 1
    return store.find_judge(store.start_session(store.create_invitation(worker), True))


def judge_tasks(store, clock, judge, *, gap=10.0, seconds=10.0, count=99, is_wrong=False):
    """Let a judge decide on tasks; `gap` is the time on the clock of the server, `seconds` what the page says."""
    from karat.protocols.verification.store.store import SubmittedDecision

    for number in range(count):
        task = store.lease_task(judge)
        if task is None:
            return
        for index, link in enumerate(task.links):
            clock.now += gap
            decision = link.correct[0] if link.correct and not is_wrong else Decision.VERIFY
            becomes = "QZ" if decision is Decision.MODIFY else None
            body = SubmittedDecision(f"{number}-{index}", index, decision, becomes, seconds=seconds)
            store.record_decision(judge, task, body)


def watch(store, clock):
    from karat.protocols.verification.monitoring import CampaignMonitor

    return CampaignMonitor(store.campaign, store.get_records(), datetime.fromtimestamp(clock.now, UTC))


def view(store, clock):
    from karat.web.campaigns.entities import EntityLookup
    from karat.web.judging.lead import CampaignView

    return CampaignView(store, EntityLookup(None)), datetime.fromtimestamp(clock.now, UTC)


def test_every_number_is_the_number_of_its_cases(store, clock):
    from karat.web.campaigns.lead import LeadQuery

    anna, ben, cleo = (enter(store, worker) for worker in ("anna", "ben", "cleo"))
    judge_tasks(store, clock, anna)
    judge_tasks(store, clock, ben, seconds=0.2)
    judge_tasks(store, clock, cleo, is_wrong=True)
    campaign_view, now = view(store, clock)
    overview = campaign_view.build_overview(now)
    figures = [figure for group in overview.groups for figure in group.figures]
    figures += [figure for row in overview.persons for figure in row.figures]
    n_checked = 0
    for figure in figures:
        counts = [(figure.value, figure.query)] if figure.format == "count" else []
        for value, query in [*counts, (figure.total, figure.total_query)]:
            if query is None or figure.title in ("Judges who failed", "Judgements still needed"):
                continue
            hours = float(query["hours"]) if "hours" in query else None
            found = campaign_view.find_cases(LeadQuery(query["show"], query.get("person"), hours, 0), now)
            assert found.total == value, (figure.title, query)
            n_checked += 1
    assert n_checked > 25
    assert {row.person for row in overview.persons} == {anna, ben, cleo}
    assert {row.worker for row in overview.access} == {"anna", "ben", "cleo"}


def test_controls_count_by_the_first_answer_and_those_who_fail_do_not_count(store, clock):
    anna, dan = enter(store, "anna"), enter(store, "dan")
    judge_tasks(store, clock, anna)
    judge_tasks(store, clock, dan, is_wrong=True)
    monitor = watch(store, clock)
    quality = monitor.qualities[dan]
    assert quality.control_result == "failed"
    controls, wrong = monitor.count_by_person("controls"), monitor.count_by_person("wrong-controls")
    assert (controls[dan], wrong[dan]) == (quality.controls, quality.controls - quality.correct_controls)
    assert wrong[anna] == 0
    assert monitor.count_by_person("excluded") == {dan: monitor.count_by_person("judgements")[dan]}
    assert all(len(case.people - {dan}) for case in monitor.find_cases("shared"))
    failing = monitor.find_cases("wrong-controls")[0].judgements[0].judgement
    store.undo_record(dan, failing.id)
    assert watch(store, clock).count_by_person("wrong-controls") == wrong, "the first answer counts"


def test_a_time_is_never_longer_than_the_clock_of_the_server_allows(store, clock):
    anna, ben, cleo = (enter(store, worker) for worker in ("anna", "ben", "cleo"))
    judge_tasks(store, clock, anna, gap=30.0, seconds=29.0)
    judge_tasks(store, clock, ben, gap=0.3, seconds=60.0)  # the page lies
    judge_tasks(store, clock, cleo, gap=30.0, seconds=0.3)
    fast, timed = watch(store, clock).count_by_person("fast"), watch(store, clock).count_by_person("timed")
    assert fast[anna] == 0
    assert fast[ben] == timed[ben] - 1, "nothing bounds the first one"
    assert fast[cleo] == timed[cleo] > 0


def test_the_report_and_the_lead_page_have_the_same_times(store, clock):
    from karat.protocols.verification.measures import measure_campaign

    for worker in ("anna", "ben", "cleo"):  # the page says 6 seconds, but the clock of the server moved 0.5
        judge_tasks(store, clock, enter(store, worker), gap=0.5, seconds=6.0)
    report, monitor = measure_campaign(store.campaign, store.get_records(), resamples=0), watch(store, clock)
    assert report.times.median == 0.5
    for quality in report.judges:
        assert quality.median_seconds == median(monitor.collect_seconds()[quality.judge]) == 0.5
    assert 0 < report.times.n_fast <= report.times.n_timed
    text = " ".join(render_page([report], details=True).split())
    assert f"too short to be true: {report.times.n_fast} of the {report.times.n_timed} known times" in text


def test_a_passage_is_read_once_and_a_decision_made_again_has_no_time(store, clock):
    from karat.protocols.verification.store.store import SubmittedDecision

    anna = enter(store, "anna")
    task = store.lease_task(anna)
    reading = len(task.text) / 100
    for index, seconds in ((0, reading + 0.5), (1, 1.5), (2, None)):
        clock.now += 100
        body = SubmittedDecision(f"a{index}", index, Decision.VERIFY, seconds=seconds)
        store.record_decision(anna, task, body)
    clock.now += 0.1
    store.record_decision(anna, task, SubmittedDecision("b", 1, Decision.REMOVE, seconds=0.1))
    monitor = watch(store, clock)
    times = {item.judgement.link: (item.seconds, item.is_fast) for item in monitor.judgements}
    assert times == {0: (reading + 0.5, True), 1: (None, False), 2: (100.0, False)}
    assert [case.link for case in monitor.find_cases("untimed")] == [1]


def test_pace_counts_periods_and_says_what_is_needed(store, clock):
    anna, ben = enter(store, "anna"), enter(store, "ben")
    judge_tasks(store, clock, anna, count=2)
    early = len(store.get_records())
    clock.now += 2 * 86400
    judge_tasks(store, clock, ben, count=2)
    monitor = watch(store, clock)
    late = len(store.get_records()) - early
    counts = [len(monitor.find_cases("judgements", hours=hours)) for hours in (1, 24, 24 * 7)]
    assert counts == [late, late, early + late]
    n_counting = sum(len(case.judgements) for case in monitor.find_cases("open"))
    assert monitor.n_needed == 2 * monitor.n_links - n_counting - 2 * len(monitor.find_cases("judged"))
    assert monitor.count_recent(24) <= late


def test_agreement_is_that_of_the_report(store, clock):
    from karat.protocols.verification.measures import measure_campaign

    for worker in ("anna", "ben", "cleo", "dora"):
        judge_tasks(store, clock, enter(store, worker))
    report = measure_campaign(store.campaign, store.get_records(), resamples=0)
    monitor = watch(store, clock)
    assert monitor.agreement == report.agreement
    assert report.agreement.items == len(monitor.find_cases("shared")) > 0
    assert report.agreement.observed == len(monitor.find_cases("agreed")) / len(monitor.find_cases("shared"))
    assert len(monitor.find_cases("open")) == report.n_open
    counts = [len(monitor.find_cases(name)) for name in ("verified", "modified", "removed")]
    assert counts == [sum(source.outcomes[index] for source in report.sources) for index in range(3)]


def test_agreement_with_others_is_the_mean_over_pairs_also_for_judges_who_failed(store, clock):
    from karat.protocols.verification.measures import measure_campaign
    from karat.protocols.verification.outcomes import last_decisions, select_judgements
    from karat.web.campaigns.lead import LeadQuery

    # The campaign needs 15 people; the last of 17 gets the tasks of the second, dan.
    people = {}
    for worker in ("anna", "dan", "ben", "cleo", *map(str, range(13))):
        clock.now += 1
        people[worker] = enter(store, worker)
    for worker, person in people.items():
        judge_tasks(store, clock, person, is_wrong=worker == "dan")
    monitor = watch(store, clock)
    report = measure_campaign(store.campaign, store.get_records(), resamples=0)
    counted = last_decisions(store.campaign, select_judgements(store.campaign, store.get_records()).judgements)
    for worker in ("anna", "ben", "cleo"):
        person = people[worker]
        shares = [pair.observed for pair in report.agreement.pairs if person in (pair.judge_a, pair.judge_b)]
        n_shared = monitor.count_by_person("shared")[person]
        assert monitor.measure_agreement(person) == (sum(shares) / len(shares) if shares else None, n_shared)
    assert monitor.qualities[people["dan"]].control_result == "failed"
    assert people["dan"] not in {judge for decisions in counted.values() for judge in decisions}
    share, n_shared = monitor.measure_agreement(people["dan"])
    assert share == 1.0, "all judges verify all links outside controls"
    assert n_shared > 0
    campaign_view, now = view(store, clock)
    rows = {row.person: row.figures for row in campaign_view.build_overview(now).persons}
    assert {figure.title: figure.value for figure in rows[people["dan"]]}["Agrees with others"] == 1.0
    listed = campaign_view.find_cases(LeadQuery("judged", None, None, 0), now)
    n_excluded = sum(item.is_excluded for case in monitor.find_cases("judged") for item in case.judgements)
    assert listed.title == f"Judged links ({n_excluded} of the decisions do not count)"
    assert n_excluded > 0


def test_lead_tokens_are_stored_as_hashes_and_end_with_access(store, clock):
    token = store.create_lead_token("carla")
    assert store.is_lead_token(token)
    assert not store.is_lead_token(store.start_session(store.create_invitation("anna"), True))
    assert store.find_judge(token) is None
    assert [judge.worker for judge in store.list_judges()] == ["anna"], "a lead is no judge"
    (lead,) = store.list_leads()
    assert store.get_workers()[lead] == "carla"
    other = store.create_lead_token("carla")
    assert store.revoke("carla")
    assert not store.is_lead_token(token)
    assert not store.is_lead_token(other)
    assert store.list_leads() == {}
    with pytest.raises(Exception, match="revoked"):
        store.create_lead_token("carla")
    store.restore_access("carla")
    assert store.is_lead_token(store.create_lead_token("carla"))
    store.anonymise("carla")
    assert store.list_leads() == {}
    token = store.create_lead_token("dora", 60)
    clock.now += 61
    assert not store.is_lead_token(token)


def test_lead_tokens_are_part_of_a_backup(store, tmp_path, clock):
    from karat.protocols.campaigns.backups import dump_backup
    from karat.protocols.verification.store.backups import restore_backup
    from karat.protocols.verification.store.store import CampaignStore

    token = store.create_lead_token("carla")
    lines = b"".join(dump_backup(store.database)).splitlines(keepends=True)
    restored = restore_backup(str(tmp_path / "restored.sqlite"), "backup", lines)
    assert token not in b"".join(lines).decode()
    assert CampaignStore(restored.database, clock).is_lead_token(token)


def test_times_of_the_server_are_compared():
    assert elapsed_seconds("2026-01-01T00:00:00+00:00", "2026-01-01T00:00:01.500+00:00") == 1.5
    assert elapsed_seconds("2026-01-01T00:00:01+00:00", "2026-01-01T00:00:00Z") is None
    assert elapsed_seconds("no time", "no time") is None
    assert parse_time("no time") < parse_time("2026-01-01T00:00:00")
    assert min_seconds(2, 300) == 5.0
    assert [hours_left(0, 0), hours_left(5, 0), hours_left(48, 24)] == [0.0, None, 48.0]
