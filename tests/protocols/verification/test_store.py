"""The store: leases, records, controls, pseudonyms, copies. On both kinds of database."""

import threading
from collections import Counter
from random import Random

import msgspec
import pytest

from karat import Corpus, Document, Label
from karat.model.errors import InputError, UsageError
from karat.protocols.verification.campaign_builder import build_campaign
from karat.protocols.verification.judgements import Decision
from karat.protocols.verification.measures import measure_campaign
from karat.protocols.verification.overlay import build_overlay
from karat.protocols.verification.surveys import build_survey
from tests.protocols.verification.test_campaign import corpus, run

pytestmark = pytest.mark.extras


def opened(address, made, clock):
    from karat.protocols.verification.store.store import CampaignStore

    return CampaignStore.create(address, made, clock)


def judge_of(store, worker="anna"):
    return store.find_judge(store.start_session(store.create_invitation(worker)))


def say(link, decision=Decision.VERIFY, becomes=None, id=None):
    from karat.protocols.verification.store.store import SubmittedDecision

    return SubmittedDecision(id=id or f"l{link}", link=link, decision=decision, becomes=becomes, seconds=2.5)


def all_of(store, judge, task, decision=Decision.VERIFY, round_=""):
    return [
        store.record_decision(judge, task, say(k, decision, id=f"{task.number}-{k}{round_}"))
        for k in range(len(task.links))
    ]


def finish(store, judges, choose):
    """Let judges take turns until there is nothing left."""
    waiting = list(judges)
    while waiting:
        for judge in list(waiting):
            task = store.lease_task(judge)
            if task is None:
                waiting.remove(judge)
                continue
            for place, link in enumerate(task.links):
                decision = choose(task, link)
                store.record_decision(
                    judge,
                    task,
                    say(place, decision, "QZ" if decision is Decision.MODIFY else None, f"{task.number}-{place}"),
                )


def test_consent_of_a_judge_who_comes_back_is_stored_with_its_first_time(address, made, clock):
    from sqlalchemy import select

    from karat.protocols.campaigns.tables import JUDGES

    store, times = opened(address, made, clock), []
    for has_consented in (False, True, True):
        store.start_session(store.create_invitation("anna", seconds=clock.now + 1000), has_consented)
        with store.database.open_read_transaction() as connection:
            times.append(connection.execute(select(JUDGES.c.consented)).scalar_one())
        clock.now += 60
    assert times == [None, "2027-01-15T08:01:00.000+00:00", "2027-01-15T08:01:00.000+00:00"]


def test_two_judges_never_hold_the_same_task_and_each_gets_all_that_is_left(address, made, clock):
    store = opened(address, made, clock)
    judges = [judge_of(store, name) for name in ("anna", "ben")]
    held = [store.lease_task(judge) for judge in judges]
    assert held[0].number != held[1].number
    assert store.lease_task(judges[0]) == held[0]  # until it is done
    all_of(store, judges[0], held[0])
    assert store.lease_task(judges[0]).number not in {task.number for task in held}


def test_a_lease_ends_and_a_late_prediction_is_kept_and_marked(address, made, clock):
    store = opened(address, made, clock)
    anna, ben = judge_of(store, "anna"), judge_of(store, "ben")
    task = store.lease_task(anna)
    clock.now += 1801
    assert store.lease_task(ben) == task
    assert store.record_decision(anna, task, say(0)).is_late
    assert store.lease_task(anna) != task  # it is ben's now
    assert not store.record_decision(ben, task, say(0)).is_late
    assert store.record_decision(anna, task, say(1)).is_late
    assert len(store.get_records()) == 3


def test_a_lease_that_nobody_wanted_goes_on(address, made, clock):
    store = opened(address, made, clock)
    anna = judge_of(store)
    task = store.lease_task(anna)
    clock.now += 1801
    assert store.lease_task(anna) == task
    assert not store.record_decision(anna, task, say(0)).is_late


def test_several_judges_get_the_same_task_where_that_is_asked_for(address, clock):
    made = build_campaign(corpus(1, 8), [], name="toy", judges=2)
    store = opened(address, made, clock)
    seen = Counter()
    finish(
        store,
        [judge_of(store, name) for name in "abc"],
        lambda task, link: seen.update([task.number]) or Decision.VERIFY,
    )
    links = {task.number: len(task.links) for task in made.tasks}
    assert seen == {number: 2 * count for number, count in links.items()}


TIMINGS = {
    "one after another": lambda judges, done: judges[0],
    "in turns": lambda judges, done: judges[done % len(judges)],
    "two, then two": lambda judges, done: judges[done % min(2, len(judges))],
    "at random": lambda judges, done: Random(done).choice(judges),
}


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize(("judges", "batch", "people"), [(3, 23, 4), (2, 13, 5), (4, 12, 10)])
def test_as_many_people_as_a_campaign_needs_complete_it_in_any_order(tmp_path, clock, timing, judges, batch, people):
    """30 tasks: 90 judgements / 23 = 3.9; 60 / 13 = 4.6; 120 / 12 = 10."""
    made = build_campaign(corpus(10), [], name="toy", judges=judges, batch=batch, controls=0)
    assert (len(made.tasks), made.count_needed_people()) == (30, people)
    plans = [made.list_planned_tasks(person) for person in range(people)]
    assert set(Counter(number for plan in plans for number in plan).values()) == {judges}
    assert max(map(len, plans)) <= batch
    store = opened(str(tmp_path / "toy.sqlite"), made, clock)
    waiting = []
    for worker in range(people):
        clock.now += 1
        invitation = store.create_invitation(f"w{worker}", seconds=clock.now + 1000)
        waiting.append(store.find_judge(store.start_session(invitation, True)))
    n_done = 0
    while waiting:
        judge = TIMINGS[timing](waiting, n_done)
        task = store.lease_task(judge)
        if task is None:
            waiting.remove(judge)
            continue
        all_of(store, judge, task)
        n_done += 1
    assert n_done == 30 * judges


def test_people_who_may_do_a_few_tasks_of_a_survey_answer_different_ones(tmp_path, clock):
    """30 tasks by people with 10 each: the first three answer each task once."""
    from karat.protocols.verification.store.store import SubmittedDecision

    made = build_survey(corpus(10), [], name="toy", batch=10)
    assert (made.n_judgements, made.count_needed_people()) == (30, 3)
    store = opened(str(tmp_path / "toy.sqlite"), made, clock)
    answered = Counter()
    for worker in range(6):
        clock.now += 1
        invitation = store.create_invitation(f"w{worker}", seconds=clock.now + 1000)
        judge = store.find_judge(store.start_session(invitation, True))
        while (task := store.lease_task(judge)) is not None:
            answered[task.number] += 1
            for link in range(len(task.links)):
                choice = SubmittedDecision(id=f"{task.number}-{link}", link=link, decision=Decision.CHOOSE)
                store.record_decision(judge, task, choice)
    assert answered == dict.fromkeys(range(30), 2)


def test_judges_agree_on_an_entity_however_they_write_it_and_a_name_is_refused(tmp_path, clock):
    from karat.protocols.campaigns.participants import AccessDeniedError
    from karat.protocols.verification.ties import find_ties

    gold = Corpus.from_documents([Document("d", "Jobs left.", (Label(0, 4, "Q64"),))], name="toy")
    made = build_campaign(gold, [], name="toy", judges=2, controls=0)
    store = opened(str(tmp_path / "toy.sqlite"), made, clock)
    ids = {"https://en.wikipedia.org/wiki/Steve_Jobs": "Q19837", "Steve Jobs": "Q19837", "Q19837": "Q19837"}
    for worker, spelling in (("anna", "https://en.wikipedia.org/wiki/Steve_Jobs"), ("ben", "Q19837")):
        judge = judge_of(store, worker)
        task = store.lease_task(judge)
        with pytest.raises(AccessDeniedError, match="Steve Jobs is no entity"):
            store.record_decision(judge, task, say(0, Decision.MODIFY, "Steve Jobs"), ids)
        store.record_decision(judge, task, say(0, Decision.MODIFY, spelling), ids)
    assert find_ties(made, store.get_records()) == []
    (change,) = build_overlay(made, store.get_records()).changes
    assert (change.action, change.becomes) == ("relink", "Q19837")
    berlin = "http://dbpedia.org/resource/Berlin"
    verified = store.record_decision(judge, task, say(0, Decision.MODIFY, berlin, "v"), {berlin: "Q64"})
    assert verified.decision is Decision.VERIFY


def test_sending_twice_is_once_and_undo_is_a_new_record(address, made, clock):
    store = opened(address, made, clock)
    anna = judge_of(store)
    task = store.lease_task(anna)
    first = store.record_decision(anna, task, say(0))
    assert store.record_decision(anna, task, say(0)) == first
    all_of(store, anna, task)
    assert store.get_progress(anna).done == 1
    last = store.get_records()[-1]
    assert store.undo_record(anna, last.id).undone_id == last.id
    assert store.get_progress(anna).done == 0
    assert store.lease_task(anna) == task
    assert len(store.get_records()) == 1 + len(task.links) + 1
    store.record_decision(anna, task, say(len(task.links) - 1, Decision.REMOVE, id="again"))
    assert store.get_progress(anna).done == 1
    counts = measure_campaign(made, store.get_records(), resamples=0).sources[task.source].outcomes
    assert (counts.verify, counts.remove) == (len(task.links) - 1, 1)


def test_what_is_skipped_goes_to_somebody_else(address, made, clock):
    store = opened(address, made, clock)
    anna, ben = judge_of(store, "anna"), judge_of(store, "ben")
    task = store.lease_task(anna)
    assert store.skip_task(anna, task, "unclear").reason == "unclear"
    assert store.lease_task(anna) != task
    assert store.lease_task(ben) == task


def test_nobody_judges_undoes_or_enters_for_another(address, made, clock):
    from karat.protocols.campaigns.participants import AccessDeniedError

    store = opened(address, made, clock)
    anna, ben = judge_of(store, "anna"), judge_of(store, "ben")
    task = store.lease_task(anna)
    record = store.record_decision(anna, task, say(0))
    with pytest.raises(AccessDeniedError):
        store.record_decision(ben, task, say(0))
    with pytest.raises(AccessDeniedError):
        store.undo_record(ben, record.id)
    with pytest.raises(AccessDeniedError):
        store.get_task("0" * 24)
    for wrong in (say(99), say(0, Decision.MODIFY), say(0, Decision.VERIFY, "Q1"), say(0, Decision.SKIP)):
        with pytest.raises(AccessDeniedError):
            store.record_decision(anna, task, wrong)


def test_an_invitation_lets_one_in_once_and_sessions_end(address, made, clock):
    from karat.protocols.campaigns.participants import SESSION_SECONDS, AccessDeniedError

    store = opened(address, made, clock)
    invitation = store.create_invitation("anna")
    session = store.start_session(invitation)
    assert store.find_judge(session) is not None
    assert store.find_judge(session + "x") is None
    for wrong in (
        invitation,
        store.create_invitation("ben", -1),
        f"{invitation[:-1]}{'0' if invitation[-1] != '0' else '1'}",
        "",
        "x.y.z",
    ):
        with pytest.raises(AccessDeniedError):
            store.start_session(wrong)
    judge = store.find_judge(session)
    assert store.find_judge(store.start_session(store.create_invitation("anna", 1e6))) == judge  # the same person
    clock.now += SESSION_SECONDS + 1
    assert store.find_judge(session) is None
    with store.database.open_read_transaction() as connection:
        stored = str(
            [list(connection.exec_driver_sql(f"SELECT * FROM {name}")) for name in ("tokens", "judges", "records")]
        )
    assert session not in stored
    assert invitation not in stored
    assert "anna" not in stored


def test_who_is_forgotten_leaves_judgements_that_name_nobody(address, made, clock):
    store = opened(address, made, clock)
    anna = judge_of(store)
    store.record_decision(anna, store.lease_task(anna), say(0))
    assert store.get_workers() == {anna: "anna"}
    assert store.anonymise("anna")
    assert not store.anonymise("anna")
    assert store.get_workers() == {}
    assert [record.judge for record in store.get_records()] == [anna]


def test_a_batch_has_one_control_and_who_fails_it_does_not_count(address, clock):
    made = build_campaign(corpus(8), [run("one", documents=8)], name="toy", batch=5)
    store = opened(address, made, clock)
    careful, careless = judge_of(store, "careful"), judge_of(store, "careless")
    seen = {careful: [], careless: []}

    def judged(judge, task):
        for place, link in enumerate(task.links):
            right = link.correct[-1] if judge != careless and link.correct else Decision.VERIFY
            store.record_decision(
                judge, task, say(place, right, "QZ" if right is Decision.MODIFY else None, f"{task.number}-{place}")
            )

    for judge in seen:
        while (task := store.lease_task(judge)) is not None:
            seen[judge].append(task)
            judged(judge, task)
    assert [sum(task.is_control for task in tasks) for tasks in seen.values()] == [1, 1]
    assert len(seen[careful]) == 5
    assert store.get_progress(careful).code
    assert store.get_progress(careful).code != store.get_progress(careless).code
    measured = measure_campaign(made, store.get_records(), resamples=0)
    assert {each.judge: each.control_result for each in measured.judges} == {careful: "passed", careless: "failed"}
    shown = sum(len(task.links) for task in seen[careful] if not task.is_control)
    assert sum(source.outcomes.total for source in measured.sources) == shown
    again = judge_of(store, "third")
    lost = {task.number for task in seen[careless] if not task.is_control}
    offered = set()
    while (task := store.lease_task(again)) is not None and len(offered) < 4:
        offered.add(task.number)
        judged(again, task)
    assert not lost or lost & offered  # what the careless one did is offered again


def test_all_measures_are_the_same_after_a_backup_in_either_kind_of_database(address, other_address, made, clock):
    from karat.protocols.campaigns.backups import dump_backup
    from karat.protocols.verification.store.backups import restore_backup

    store = opened(address, made, clock)
    random = Random(1)
    finish(
        store,
        [judge_of(store, name) for name in "abcdefgh"],
        lambda *_: random.choice([Decision.VERIFY, Decision.VERIFY, Decision.MODIFY, Decision.REMOVE]),
    )
    lines = list(dump_backup(store.database))
    copy = restore_backup(other_address, "backup.jsonl", lines)
    assert copy.campaign == made
    assert copy.get_records() == store.get_records()
    assert measure_campaign(copy.campaign, copy.get_records()) == measure_campaign(made, store.get_records())
    assert list(dump_backup(copy.database)) == lines
    judge = judge_of(copy, "new")  # and it goes on
    assert copy.lease_task(judge) is None or copy.record_decision(judge, copy.lease_task(judge), say(0))
    with pytest.raises(InputError, match="empty database"):
        restore_backup(other_address, "backup.jsonl", lines)


def test_a_backup_that_is_cut_off_after_any_line_is_refused_and_leaves_no_file(made, clock, tmp_path):
    from karat.protocols.campaigns.backups import dump_backup
    from karat.protocols.verification.store.backups import restore_backup

    store, target = opened(str(tmp_path / "a.sqlite"), made, clock), tmp_path / "b.sqlite"
    finish(store, [judge_of(store, "a")], lambda *_: Decision.VERIFY)
    lines = list(dump_backup(store.database))
    for length in range(len(lines)):
        with pytest.raises(InputError):
            restore_backup(str(target), "backup.jsonl", lines[:length])
        assert not target.exists()
    earlier = [b'{"layout": "karat-judging-backup/3"}\n', *lines[1:]]  # had the same rows, without their numbers
    assert restore_backup(str(target), "backup.jsonl", earlier).get_records() == store.get_records()


def test_an_export_taken_in_elsewhere_gives_the_same_measures_and_blocks_no_task_twice(
    address, other_address, made, clock, tmp_path
):
    from karat.protocols.verification.store.backups import export_judgements, import_judgements

    store, copy = opened(address, made, clock), opened(other_address, made, clock)
    finish(store, [judge_of(store, name) for name in "abcdefgh"], lambda *_: Decision.VERIFY)
    lines = list(export_judgements(store))
    count = len(store.get_records())
    assert import_judgements(copy, "e.jsonl", lines) == (count, 0)
    assert import_judgements(copy, "e.jsonl", lines) == (0, count)
    assert measure_campaign(made, copy.get_records()) == measure_campaign(made, store.get_records())
    assert copy.lease_task(judge_of(copy, "new")) is None
    other = opened(str(tmp_path / "beside.sqlite"), build_campaign(corpus(1), [], name="other"), clock)
    with pytest.raises(InputError, match="expected judgements on"):
        import_judgements(other, "e.jsonl", lines)


def test_judgements_of_another_campaign_on_the_same_gold_standard_are_refused(tmp_path, clock):
    """With another seed, the same numbers are other tasks; each record is compared with its task too."""
    from karat.protocols.verification.store.backups import export_judgements, import_judgements

    campaigns = [build_campaign(corpus(3), [run("one", documents=3)], name="toy", controls=0, seed=n) for n in (1, 2)]
    store, other = (opened(str(tmp_path / f"{n}.sqlite"), made, clock) for n, made in enumerate(campaigns))
    finish(store, [judge_of(store, "anna")], lambda *_: Decision.VERIFY)
    head, *lines = export_judgements(store)
    with pytest.raises(InputError, match="judgements of the campaign toy with other tasks"):
        import_judgements(other, "e.jsonl", [head, *lines])
    earlier_head = {key: value for key, value in msgspec.json.decode(head).items() if key != "campaign_digest"}
    with pytest.raises(InputError, match=r"e.jsonl:\d+: found a (mention or entity|judgement on another)"):
        import_judgements(other, "e.jsonl", [msgspec.json.encode(earlier_head), *lines])
    record = msgspec.json.decode(lines[0])
    for change in ({"surface": "X"}, {"entity": "Q0"}, {"start": 99}, {"source": "other"}, {"document": "other"}):
        with pytest.raises(InputError, match="expected judgements of the same campaign"):
            import_judgements(store, "e.jsonl", [head, msgspec.json.encode(record | change)])
    assert other.get_records() == []


def test_a_database_without_campaign_is_refused(address, tmp_path):
    from karat.protocols.verification.store.store import CampaignStore
    from karat.storage.database import open_database

    open_database(address, create=True)
    if "://" not in address:
        (tmp_path / "text.sqlite").write_text("no database at all, but long enough to look at it " * 20)
        with pytest.raises(InputError, match=r"a file that is no database; .*NAME\.sqlite of karat verify create"):
            CampaignStore.open(str(tmp_path / "text.sqlite"))
        with pytest.raises(InputError, match="no such file"):
            CampaignStore.open(str(tmp_path / "none.sqlite"))
        with pytest.raises(InputError, match=r"no such file.* Pass .*text\.sqlite"):
            CampaignStore.open(str(tmp_path / "text"))
        with pytest.raises(UsageError, match="there is no folder 'nowhere'"):
            open_database("nowhere/a.sqlite", create=True)
        return
    with pytest.raises(InputError, match="no campaign"):
        CampaignStore.open(address)


def test_judges_at_once_hold_each_task_once(address, made, clock):
    store = opened(address, made, clock)
    judges = [judge_of(store, f"w{k}") for k in range(8)]
    seen, problems = Counter(), []

    def work(judge):
        try:
            while (task := store.lease_task(judge)) is not None:
                seen[task.number] += 1
                all_of(store, judge, task)
        except Exception as problem:  # noqa: BLE001  # shown below
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(judge,)) for judge in judges]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert seen == {task.number: 1 for task in made.tasks}
    assert len(store.get_records()) == sum(len(task.links) for task in made.tasks)


def test_what_is_written_together_fails_alone(address, made, clock):
    """Those who wait share one transaction; whoever fails leaves nothing, and harms no other."""
    from sqlalchemy import insert, select

    from karat.protocols.campaigns.tables import PROPERTIES

    database = opened(address, made, clock).database
    begun, go = threading.Event(), threading.Event()
    found, problems = [], []

    def work(key, fails=False, waits=False):
        def write(connection):
            connection.execute(insert(PROPERTIES).values(key=key, value="x"))
            if waits:
                begun.set()
                go.wait(10)
            if fails:
                raise RuntimeError(key)
            return key

        try:
            found.append(database.run_write(write))
        except RuntimeError as problem:
            problems.append(str(problem))

    first = threading.Thread(target=work, args=("first", False, True))
    first.start()
    begun.wait(10)
    others = [threading.Thread(target=work, args=(f"k{n}", n == 1)) for n in range(3)]
    for thread in others:
        thread.start()
    while len(database._pending) < 3:
        pass
    go.set()
    for thread in (first, *others):
        thread.join()
    assert (sorted(found), problems) == (["first", "k0", "k2"], ["k1"])
    with database.open_read_transaction() as connection:
        keys = set(connection.execute(select(PROPERTIES.c.key)).scalars())
    assert {"first", "k0", "k2"} <= keys
    assert "k1" not in keys


def test_a_survey_takes_settings_among_what_is_proposed_only(address, clock):
    from karat.protocols.campaigns.participants import AccessDeniedError
    from karat.protocols.verification.store.store import SubmittedDecision
    from karat.protocols.verification.surveys import build_survey, summarise_survey

    store = opened(address, build_survey(corpus(1, 2), [], name="asked"), clock)
    judge = judge_of(store)
    task = store.lease_task(judge)
    proposed = task.links[0].options[0].entity
    for wrong in (
        SubmittedDecision("a", 0, Decision.VERIFY),
        SubmittedDecision("b", 0, Decision.CHOOSE, chosen=("QX",)),
        SubmittedDecision("c", 0, Decision.ADD, "Q1", start=0, end=2),
    ):
        with pytest.raises(AccessDeniedError):
            store.record_decision(judge, task, wrong)
    for place in range(len(task.links)):
        store.record_decision(
            judge,
            task,
            SubmittedDecision(f"l{place}", place, Decision.CHOOSE, chosen=(proposed,) if place == 0 else ()),
        )
    assert store.lease_task(judge) is None
    assert store.get_progress(judge, nothing_left=True).code
    assert [one.ratio for one in summarise_survey(store.campaign, store.get_records()).passages[0].mentions][:2] == [
        1.0,
        0.0,
    ]


def test_who_is_revoked_is_out_at_once_and_the_judgements_stay(address, made, clock):
    from karat.protocols.campaigns.participants import AccessDeniedError

    store = opened(address, made, clock)
    session, spare = store.start_session(store.create_invitation("anna")), store.create_invitation("anna", 1e6)
    anna, ben = store.find_judge(session), judge_of(store, "ben")
    done, held = store.lease_task(anna), None
    all_of(store, anna, done)
    held = store.lease_task(anna)
    before = measure_campaign(made, store.get_records(), resamples=0)
    assert store.revoke("anna")
    assert store.find_judge(session) is None
    for _ in range(2):  # an invitation that was not used yet is no way around
        with pytest.raises(AccessDeniedError, match="revoked"):
            store.start_session(spare)
    assert measure_campaign(made, store.get_records(), resamples=0) == before
    assert store.get_workers()[anna] == "anna"
    assert {judge.worker: judge.is_revoked for judge in store.list_judges()} == {"anna": True, "ben": False}
    offered = []
    while (task := store.lease_task(ben)) is not None:
        offered.append(task)
        all_of(store, ben, task)
    assert held in offered  # what anna held is free at once
    assert done not in offered
    assert not store.revoke("carla")  # never entered, and will not
    with pytest.raises(AccessDeniedError, match="revoked"):
        store.start_session(store.create_invitation("carla"))
    assert store.restore_access("anna")
    assert not store.restore_access("anna")
    assert store.find_judge(store.start_session(spare)) == anna


def test_an_invitation_whose_answer_never_arrived_works_again_and_its_session_does_not(address, made, clock):
    from karat.protocols.campaigns.participants import AccessDeniedError

    store = opened(address, made, clock)
    invitation = store.create_invitation("anna")
    lost = store.start_session(invitation)  # the server dies before the cookie is sent
    session = store.start_session(invitation)
    assert store.find_judge(lost) is None
    assert store.find_judge(session) is not None
    with pytest.raises(AccessDeniedError, match="already used"):
        store.start_session(invitation)
    assert [judge.worker for judge in store.list_judges()] == ["anna"]


def test_an_export_says_what_each_judgement_is_about(tmp_path, clock):
    from karat.protocols.verification.store.backups import export_judgements, import_judgements

    made = build_campaign(corpus(6), [run("one", documents=6)], name="toy", batch=6)
    store = opened(str(tmp_path / "toy.sqlite"), made, clock)
    finish(store, [judge_of(store, name) for name in "ab"], lambda *_: Decision.VERIFY)
    lines = list(export_judgements(store))
    tasks = {task.number: task for task in made.tasks}
    records = [msgspec.json.decode(line) for line in lines[1:]]
    assert any(record.get("is_control") for record in records)
    for record in records:
        task = tasks[record["task"]]
        assert record["document"] == task.document
        assert record.get("source") == (None if task.is_control else made.options.sources[task.source])
        assert record.get("is_control", False) == task.is_control
    new_fields = ("document", "source", "is_control")
    earlier = [
        msgspec.json.encode({key: value for key, value in record.items() if key not in new_fields})
        for record in records
    ]
    copy = opened(str(tmp_path / "copy.sqlite"), made, clock)
    assert import_judgements(copy, "e.jsonl", [lines[0], *earlier]) == (len(records), 0), "without the new fields"
