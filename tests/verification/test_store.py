"""The store: leases, records, controls, pseudonyms, copies. On both kinds of database."""

import threading
from collections import Counter
from random import Random

import pytest

from karat.errors import InputError
from karat.verification.decisions import Decision
from karat.verification.making import campaign
from karat.verification.measures import verification
from tests.verification.test_campaign import corpus, run

pytestmark = pytest.mark.extras


def opened(address, made, clock):
    from karat.verification.store.store import CampaignStore

    return CampaignStore.create(address, made, clock)


def judge_of(store, worker="anna"):
    return store.who(store.enter(store.invitation(worker)))


def say(link, decision=Decision.VERIFY, becomes=None, id=None):
    from karat.verification.store.store import Said

    return Said(id=id or f"l{link}", link=link, decision=decision, becomes=becomes, seconds=2.5)


def all_of(store, judge, task, decision=Decision.VERIFY, round_=""):
    return [store.judge(judge, task, say(k, decision, id=f"{task.number}-{k}{round_}")) for k in range(len(task.links))]


def finish(store, judges, choose):
    """Let judges take turns until there is nothing left."""
    waiting = list(judges)
    while waiting:
        for judge in list(waiting):
            task = store.lease(judge)
            if task is None:
                waiting.remove(judge)
                continue
            for place, link in enumerate(task.links):
                decision = choose(task, link)
                store.judge(
                    judge,
                    task,
                    say(place, decision, "QZ" if decision is Decision.MODIFY else None, f"{task.number}-{place}"),
                )


def test_two_judges_never_hold_the_same_task_and_each_gets_all_that_is_left(address, made, clock):
    store = opened(address, made, clock)
    judges = [judge_of(store, name) for name in ("anna", "ben")]
    held = [store.lease(judge) for judge in judges]
    assert held[0].number != held[1].number
    assert store.lease(judges[0]) == held[0]  # until it is done
    all_of(store, judges[0], held[0])
    assert store.lease(judges[0]).number not in {task.number for task in held}


def test_a_lease_ends_and_a_late_answer_is_kept_and_marked(address, made, clock):
    store = opened(address, made, clock)
    anna, ben = judge_of(store, "anna"), judge_of(store, "ben")
    task = store.lease(anna)
    clock.now += 1801
    assert store.lease(ben) == task
    assert store.judge(anna, task, say(0)).late
    assert store.lease(anna) != task  # it is ben's now
    assert not store.judge(ben, task, say(0)).late
    assert store.judge(anna, task, say(1)).late
    assert len(store.records()) == 3


def test_a_lease_that_nobody_wanted_goes_on(address, made, clock):
    store = opened(address, made, clock)
    anna = judge_of(store)
    task = store.lease(anna)
    clock.now += 1801
    assert store.lease(anna) == task
    assert not store.judge(anna, task, say(0)).late


def test_several_judges_get_the_same_task_where_that_is_asked_for(address, clock):
    made = campaign(corpus(1, 8), [], name="toy", judges=2)
    store = opened(address, made, clock)
    seen = Counter()
    finish(
        store,
        [judge_of(store, name) for name in "abc"],
        lambda task, link: seen.update([task.number]) or Decision.VERIFY,
    )
    links = {task.number: len(task.links) for task in made.tasks}
    assert seen == {number: 2 * count for number, count in links.items()}


def test_sending_twice_is_once_and_undo_is_a_new_record(address, made, clock):
    store = opened(address, made, clock)
    anna = judge_of(store)
    task = store.lease(anna)
    first = store.judge(anna, task, say(0))
    assert store.judge(anna, task, say(0)) == first
    all_of(store, anna, task)
    assert store.progress(anna).done == 1
    last = store.records()[-1]
    assert store.undo(anna, last.id).undoes == last.id
    assert store.progress(anna).done == 0
    assert store.lease(anna) == task
    assert len(store.records()) == 1 + len(task.links) + 1
    store.judge(anna, task, say(len(task.links) - 1, Decision.REMOVE, id="again"))
    assert store.progress(anna).done == 1
    counts = verification(made, store.records(), resamples=0).sources[task.source].outcomes
    assert (counts.verify, counts.remove) == (len(task.links) - 1, 1)


def test_what_is_skipped_goes_to_somebody_else(address, made, clock):
    store = opened(address, made, clock)
    anna, ben = judge_of(store, "anna"), judge_of(store, "ben")
    task = store.lease(anna)
    assert store.skip(anna, task, "unclear").reason == "unclear"
    assert store.lease(anna) != task
    assert store.lease(ben) == task


def test_nobody_judges_undoes_or_enters_for_another(address, made, clock):
    from karat.verification.store.store import NotYoursError

    store = opened(address, made, clock)
    anna, ben = judge_of(store, "anna"), judge_of(store, "ben")
    task = store.lease(anna)
    record = store.judge(anna, task, say(0))
    with pytest.raises(NotYoursError):
        store.judge(ben, task, say(0))
    with pytest.raises(NotYoursError):
        store.undo(ben, record.id)
    with pytest.raises(NotYoursError):
        store.task("0" * 24)
    for wrong in (say(99), say(0, Decision.MODIFY), say(0, Decision.VERIFY, "Q1"), say(0, Decision.SKIP)):
        with pytest.raises(NotYoursError):
            store.judge(anna, task, wrong)


def test_an_invitation_lets_one_in_once_and_sessions_end(address, made, clock):
    from karat.verification.store.store import SESSION, NotYoursError

    store = opened(address, made, clock)
    invitation = store.invitation("anna")
    session = store.enter(invitation)
    assert store.who(session) is not None
    assert store.who(session + "x") is None
    for wrong in (
        invitation,
        store.invitation("ben", -1),
        f"{invitation[:-1]}{'0' if invitation[-1] != '0' else '1'}",
        "",
        "x.y.z",
    ):
        with pytest.raises(NotYoursError):
            store.enter(wrong)
    judge = store.who(session)
    assert store.who(store.enter(store.invitation("anna", 1e6))) == judge  # the same person
    clock.now += SESSION + 1
    assert store.who(session) is None
    with store.database.reading() as connection:
        stored = str(
            [list(connection.exec_driver_sql(f"SELECT * FROM {name}")) for name in ("tokens", "judges", "records")]
        )
    assert session not in stored
    assert invitation not in stored
    assert "anna" not in stored


def test_who_is_forgotten_leaves_judgements_that_name_nobody(address, made, clock):
    store = opened(address, made, clock)
    anna = judge_of(store)
    store.judge(anna, store.lease(anna), say(0))
    assert store.workers() == {anna: "anna"}
    assert store.forget("anna")
    assert not store.forget("anna")
    assert store.workers() == {}
    assert [record.judge for record in store.records()] == [anna]


def test_a_batch_has_one_control_and_who_fails_it_does_not_count(address, clock):
    made = campaign(corpus(8), [run("one", documents=8)], name="toy", batch=5)
    store = opened(address, made, clock)
    careful, careless = judge_of(store, "careful"), judge_of(store, "careless")
    seen = {careful: [], careless: []}

    def judged(judge, task):
        for place, link in enumerate(task.links):
            right = link.right[-1] if judge != careless and link.right else Decision.VERIFY
            store.judge(
                judge, task, say(place, right, "QZ" if right is Decision.MODIFY else None, f"{task.number}-{place}")
            )

    for judge in seen:
        while (task := store.lease(judge)) is not None:
            seen[judge].append(task)
            judged(judge, task)
    assert [sum(task.control for task in tasks) for tasks in seen.values()] == [1, 1]
    assert len(seen[careful]) == 5
    assert store.progress(careful).code
    assert store.progress(careful).code != store.progress(careless).code
    measured = verification(made, store.records(), resamples=0)
    assert {each.judge: each.passing for each in measured.judges} == {careful: "passed", careless: "failed"}
    shown = sum(len(task.links) for task in seen[careful] if not task.control)
    assert sum(source.outcomes.judged for source in measured.sources) == shown
    again = judge_of(store, "third")
    lost = {task.number for task in seen[careless] if not task.control}
    offered = set()
    while (task := store.lease(again)) is not None and len(offered) < 4:
        offered.add(task.number)
        judged(again, task)
    assert not lost or lost & offered  # what the careless one did is offered again


def test_all_measures_are_the_same_after_a_backup_in_either_kind_of_database(address, other_address, made, clock):
    from karat.verification.store.copies import backup, restored

    store = opened(address, made, clock)
    random = Random(1)
    finish(
        store,
        [judge_of(store, name) for name in "abcdefgh"],
        lambda *_: random.choice([Decision.VERIFY, Decision.VERIFY, Decision.MODIFY, Decision.REMOVE]),
    )
    lines = list(backup(store.database))
    copy = restored(other_address, "backup.jsonl", lines)
    assert copy.campaign == made
    assert copy.records() == store.records()
    assert verification(copy.campaign, copy.records()) == verification(made, store.records())
    assert list(backup(copy.database)) == lines
    judge = judge_of(copy, "new")  # and it goes on
    assert copy.lease(judge) is None or copy.judge(judge, copy.lease(judge), say(0))
    with pytest.raises(InputError, match="empty database"):
        restored(other_address, "backup.jsonl", lines)


def test_an_export_taken_in_elsewhere_gives_the_same_measures_and_blocks_no_task_twice(
    address, other_address, made, clock, tmp_path
):
    from karat.verification.store.copies import exported, imported

    store, copy = opened(address, made, clock), opened(other_address, made, clock)
    finish(store, [judge_of(store, name) for name in "abcdefgh"], lambda *_: Decision.VERIFY)
    lines = list(exported(store))
    count = len(store.records())
    assert imported(copy, "e.jsonl", lines) == (count, 0)
    assert imported(copy, "e.jsonl", lines) == (0, count)
    assert verification(made, copy.records()) == verification(made, store.records())
    assert copy.lease(judge_of(copy, "new")) is None
    other = opened(str(tmp_path / "beside.sqlite"), campaign(corpus(1), [], name="other"), clock)
    with pytest.raises(InputError, match="expected those on"):
        imported(other, "e.jsonl", lines)


def test_a_database_without_campaign_is_refused(address, tmp_path):
    from karat.storage.database import open_database
    from karat.verification.store.store import CampaignStore

    open_database(address, create=True)
    if "://" not in address:
        (tmp_path / "text.sqlite").write_text("no database at all, but long enough to look at it " * 20)
        with pytest.raises(InputError, match=r"no campaign|cannot be opened"):
            CampaignStore.open(str(tmp_path / "text.sqlite"))
        with pytest.raises(InputError, match="nothing"):
            CampaignStore.open(str(tmp_path / "none.sqlite"))
        return
    with pytest.raises(InputError, match="no campaign"):
        CampaignStore.open(address)


def test_judges_at_once_hold_each_task_once(address, made, clock):
    store = opened(address, made, clock)
    judges = [judge_of(store, f"w{k}") for k in range(8)]
    seen, problems = Counter(), []

    def work(judge):
        try:
            while (task := store.lease(judge)) is not None:
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
    assert len(store.records()) == sum(len(task.links) for task in made.tasks)


def test_what_is_written_together_fails_alone(address, made, clock):
    """Those who wait share one transaction; whoever fails leaves nothing, and harms no other."""
    from sqlalchemy import insert, select

    from karat.verification.store.tables import ABOUT

    database = opened(address, made, clock).database
    begun, go = threading.Event(), threading.Event()
    found, problems = [], []

    def work(key, fails=False, waits=False):
        def write(connection):
            connection.execute(insert(ABOUT).values(key=key, value="x"))
            if waits:
                begun.set()
                go.wait(10)
            if fails:
                raise RuntimeError(key)
            return key

        try:
            found.append(database.written(write))
        except RuntimeError as problem:
            problems.append(str(problem))

    first = threading.Thread(target=work, args=("first", False, True))
    first.start()
    begun.wait(10)
    others = [threading.Thread(target=work, args=(f"k{n}", n == 1)) for n in range(3)]
    for thread in others:
        thread.start()
    while len(database._waiting) < 3:
        pass
    go.set()
    for thread in (first, *others):
        thread.join()
    assert (sorted(found), problems) == (["first", "k0", "k2"], ["k1"])
    with database.reading() as connection:
        keys = set(connection.execute(select(ABOUT.c.key)).scalars())
    assert {"first", "k0", "k2"} <= keys
    assert "k1" not in keys


def test_a_survey_takes_choices_among_what_is_proposed_only(address, clock):
    from karat.verification.store.store import NotYoursError, Said
    from karat.verification.surveys import survey, survey_campaign

    store = opened(address, survey_campaign(corpus(1, 2), [], name="asked"), clock)
    judge = judge_of(store)
    task = store.lease(judge)
    proposed = task.links[0].options[0].entity
    for wrong in (
        Said("a", 0, Decision.VERIFY),
        Said("b", 0, Decision.CHOOSE, chosen=("QX",)),
        Said("c", 0, Decision.ADD, "Q1", start=0, end=2),
    ):
        with pytest.raises(NotYoursError):
            store.judge(judge, task, wrong)
    for place in range(len(task.links)):
        store.judge(judge, task, Said(f"l{place}", place, Decision.CHOOSE, chosen=(proposed,) if place == 0 else ()))
    assert store.lease(judge) is None
    assert store.progress(judge, nothing_left=True).code
    assert [one.ratio for one in survey(store.campaign, store.records()).passages[0].mentions][:2] == [1.0, 0.0]
