"""Controls cannot be guessed: cheaters who know the source code, all but the secret, gain nothing."""

import secrets
from math import comb
from random import Random

import msgspec
import pytest

from karat.model.errors import UsageError
from karat.protocols.verification.campaign_builder import build_campaign
from karat.protocols.verification.judgements import Decision, Judgement
from karat.protocols.verification.measures import measure_campaign
from karat.protocols.verification.outcomes import evaluate_controls
from tests.protocols.verification.test_campaign import corpus, run
from tests.protocols.verification.test_store import judge_of, say

pytestmark = pytest.mark.extras

BATCH, JUDGES, DOCUMENTS, SECRET = 6, 120, 40, "5ec7e7" * 8


def campaign(secret=SECRET, **options):
    terms = {"name": "toy", "batch": BATCH, "judges": 10 * JUDGES, **options}
    return build_campaign(corpus(DOCUMENTS, 1), [run("one", documents=DOCUMENTS, sentences=1)], secret=secret, **terms)


def create(path, made, clock):
    from karat.protocols.verification.store.store import CampaignStore

    return CampaignStore.create(str(path / "toy.sqlite"), made, clock)


def answer(store, judge, task, *, wrong=False, round_=""):
    """The right answer to a task, or on a control a wrong one: all that a judge gets back."""
    replies = []
    for place, link in enumerate(task.links):
        decision = link.correct[-1] if link.correct and not wrong else Decision.VERIFY
        record = store.record_decision(judge, task, say(place, decision, id=f"{task.number}-{place}{round_}"))
        replies.append((record.id, record.decision.value, record.is_late, store.get_progress(judge)))
    return replies


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What each judge of a campaign sees, and at which position the control was. Random numbers are the same always."""
    from karat.protocols.verification.store.store import CampaignStore

    random, patch = Random("a run"), pytest.MonkeyPatch()
    patch.setattr(secrets, "token_hex", lambda n: random.randbytes(n).hex())
    store = CampaignStore.create(str(tmp_path_factory.mktemp("seen") / "toy.sqlite"), campaign())
    found = []
    for number in range(JUDGES):
        judge, tasks, controls = judge_of(store, f"w{number}"), [], []
        while (task := store.lease_task(judge)) is not None:
            controls.append(task.is_control)
            sent = (
                store.get_task_name(task),
                task.text,
                [(link.start - task.start, link.entity) for link in task.links],
            )
            tasks.append((*sent, answer(store, judge, task, wrong=number % 2 == 0)))
        found.append((judge, tasks, controls))
    patch.undo()
    yield found
    store.database.close()


def derived(secret, judge):
    from karat.protocols.campaigns.signatures import sign_message

    return Random(sign_message(secret, f"positions {judge}")).sample(range(BATCH), 1)[0]


def first(flags):
    return next((place for place, flag in enumerate(flags) if flag), 0)


def rebuilt(judge, tasks):
    """Who has the data, builds the campaign again, and looks for the controls of that one."""
    known = {
        (task.text, tuple(link.entity for link in task.links))
        for task in campaign(secret="of the cheater").tasks
        if task.is_control
    }
    return first((text, tuple(entity for _, entity in links)) in known for _, text, links, _ in tasks)


def repeated(judge, tasks):
    texts = [text for _, text, _, _ in tasks]
    return first(text in texts[:place] for place, text in enumerate(texts))


def unusual(values):
    return max(range(len(values)), key=lambda place: -values.count(values[place]))


CHEATERS = {
    "seed and pseudonym": lambda judge, tasks: Random(f"0 {judge}").sample(range(BATCH), 1)[0],
    "the code without the secret": lambda judge, tasks: derived("", judge),
    "the secret of another campaign": lambda judge, tasks: derived("5ec7e8" * 8, judge),
    "a record with the pseudonym": lambda judge, tasks: first(
        judge in id for _, _, _, replies in tasks for id, *_ in replies
    ),
    "the smallest record": lambda judge, tasks: min(range(BATCH), key=lambda place: tasks[place][3][0][0]),
    "the smallest name": lambda judge, tasks: min(range(BATCH), key=lambda place: tasks[place][0]),
    "an unusual number of links": lambda judge, tasks: unusual([len(links) for _, _, links, _ in tasks]),
    "a repeated passage": repeated,
    "an early code": lambda judge, tasks: first(
        any(progress.code for *_, progress in replies) for _, _, _, replies in tasks[:-1]
    ),
    "unusual progress": lambda judge, tasks: first(
        [progress.done for *_, progress in replies] != [place] * (len(replies) - 1) + [place + 1]
        for place, (_, _, _, replies) in enumerate(tasks)
    ),
    "late, or another reply": lambda judge, tasks: first(
        late or decision != "verify" for _, _, _, replies in tasks for _, decision, late, _ in replies[:1]
    ),
    "the campaign built again": rebuilt,
}


def chance_of(hits, n, p):
    """How likely as many hits, or more, are by chance."""
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(hits, n + 1))


def test_every_judge_gets_one_control_somewhere(seen):
    assert {sum(controls) for _, _, controls in seen} == {1}
    counts = [sum(controls[place] for _, _, controls in seen) for place in range(BATCH)]
    assert sum((count - JUDGES / BATCH) ** 2 / (JUDGES / BATCH) for count in counts) < 20.5  # chi-square, 0.1 %


@pytest.mark.parametrize("name", CHEATERS)
def test_a_cheater_finds_no_more_controls_than_by_chance(seen, name):
    if name == "late, or another reply":  # a careful judge decides by the text; who verifies all sees nothing
        seen = seen[::2]
    hits = sum(controls[min(CHEATERS[name](judge, tasks), BATCH - 1)] for judge, tasks, controls in seen)
    assert chance_of(hits, len(seen), 1 / BATCH) > 0.001, f"{hits} of {len(seen)}"


def test_who_knows_the_secret_finds_all(seen):
    """So that the cheaters above could succeed, if there were anything to find."""
    assert all(controls[derived(SECRET, judge)] for judge, _, controls in seen)


def test_a_failed_judge_sees_what_a_passed_one_sees(seen):
    def trace(tasks):
        return [[(decision, late, progress._replace(code=progress.code and len(progress.code)))
                 for _, decision, late, progress in replies] for _, _, _, replies in tasks]  # fmt: skip

    failed, passed = seen[0][1], seen[1][1]
    assert [[entry[1:] for entry in task] for task in trace(failed)] == [
        [entry[1:] for entry in task] for task in trace(passed)
    ]
    assert trace(failed)[-1][-1][-1].code == 10


def until_control(store, judge):
    while not (task := store.lease_task(judge)).is_control:
        answer(store, judge, task)
    return task


def test_the_first_complete_answer_to_a_control_counts_and_undo_does_not_lift_it(address, clock):
    from karat.protocols.verification.store.store import CampaignStore

    made = campaign()
    store = CampaignStore.create(address, made, clock)
    sly = judge_of(store, "sly")
    task = until_control(store, sly)
    for id, *_ in answer(store, sly, task, wrong=True):
        store.undo_record(sly, id)
    assert store.lease_task(sly) == task  # as any other task would be
    answer(store, sly, task, round_="again")
    while (task := store.lease_task(sly)) is not None:
        answer(store, sly, task)
    unsure = judge_of(store, "unsure")
    task = until_control(store, unsure)
    wrong = next(place for place, link in enumerate(task.links) if Decision.VERIFY not in link.correct)
    slip = store.record_decision(unsure, task, say(wrong, Decision.VERIFY, id="slip"))
    store.undo_record(unsure, slip.id)  # before the answer is complete
    answer(store, unsure, task)
    answer(store, unsure, task, wrong=True, round_="later")
    quality = {each.judge: each for each in measure_campaign(made, store.get_records(), resamples=0).judges}
    assert [quality[judge].control_result for judge in (sly, unsure)] == ["failed", "passed"]
    assert [quality[judge].controls - quality[judge].correct_controls for judge in (sly, unsure)] == [1, 0]
    assert {judge.worker: judge.control_result for judge in store.list_judges()} == {
        "sly": "failed",
        "unsure": "passed",
    }


def test_who_skips_all_controls_has_failed_and_who_skips_one_gets_another(tmp_path, clock):
    made = campaign()
    few = [task for task in made.tasks if task.is_control][:2]
    made = msgspec.structs.replace(made, tasks=(*(task for task in made.tasks if not task.is_control), *few))
    store = create(tmp_path, made, clock)
    judge, skipped = judge_of(store), []
    while (task := store.lease_task(judge)) is not None:
        if task.is_control:
            skipped.append(task.number)
            store.skip_task(judge, task, "unclear")
        else:
            answer(store, judge, task)
    assert sorted(skipped) == [task.number for task in few]
    assert store.get_progress(judge).code
    assert [each.control_result for each in measure_campaign(made, store.get_records(), resamples=0).judges] == [
        "failed"
    ]
    assert [each.control_result for each in store.list_judges()] == ["failed"]


def test_a_control_is_lost_like_any_other_task_while_others_work(tmp_path, clock):
    made = campaign(judges=1)
    store = create(tmp_path, made, clock)
    anna = judge_of(store)
    control = until_control(store, anna)
    clock.now += 1801
    assert store.lease_task(anna) == control  # nobody works
    ben = judge_of(store, "ben")
    while (task := store.lease_task(ben)) is not None:
        answer(store, ben, task)
    for name in "cdefghijklmnopqrst":
        other = judge_of(store, name)
        while (task := store.lease_task(other)) is not None:
            answer(store, other, task)
    clock.now += 1801
    assert store.lease_task(anna) != control


def work(store, judge, n_tasks):
    """Which of a judge's next tasks are controls; the judge stops after so many, or when there are no more."""
    flags = []
    while len(flags) < n_tasks and (task := store.lease_task(judge)) is not None:
        flags.append(task.is_control)
        answer(store, judge, task)
    return flags


def test_without_a_limit_one_in_twenty_tasks_is_a_control(tmp_path):
    from karat.protocols.verification.store.store import CampaignStore

    made = build_campaign(corpus(40), [run(name, documents=40) for name in ("one", "two")], name="toy", batch=0)
    store = CampaignStore.create(str(tmp_path / "toy.sqlite"), made)
    for number in range(3):
        flags = work(store, judge_of(store, f"w{number}"), 40)
        assert [sum(flags[:20]), sum(flags[20:])] == [1, 1]


def test_a_judge_who_finds_no_more_tasks_gets_a_control_last(tmp_path):
    """The campaign has fewer tasks than a batch, so that the position of the control may never come."""
    from karat.protocols.verification.store.store import CampaignStore

    made = build_campaign(corpus(2), [run(name, documents=2) for name in ("one", "two")], name="toy", judges=9)
    store = CampaignStore.create(str(tmp_path / "toy.sqlite"), made)
    flags = [work(store, judge_of(store, f"w{number}"), 99) for number in range(9)]
    assert {sum(judge_flags) for judge_flags in flags} == {1}
    assert {judge.control_result for judge in store.list_judges()} == {"passed"}
    for number in range(25):  # in blocks of 20 tasks, at least one of them has a control first with probability 72 %
        assert work(store, judge_of(store, f"late{number}"), 99) == [], "a judge without other tasks needs no control"


def test_judgements_of_judges_without_a_control_are_counted_in_the_report(tmp_path):
    from karat.protocols.verification.measures import measure_campaign
    from karat.protocols.verification.store.store import CampaignStore
    from karat.render.verification.report import render_page

    store = CampaignStore.create(str(tmp_path / "toy.sqlite"), campaign())
    n_tasks = {"w0": 99, "w1": 1}
    flags = {worker: work(store, judge_of(store, worker), n) for worker, n in n_tasks.items()}
    while any(flags["w1"]):  # a judge who begins with the control
        worker = f"w{len(flags)}"
        flags[worker] = flags["w1"] = work(store, judge_of(store, worker), 1)
    found = measure_campaign(store.campaign, store.get_records())
    counts = {item.control_result: item.judgements for item in found.judges}
    total = sum(item.judgements for item in found.judges)
    note = f"judgements of judges whom no control tested: {counts['not tested']} of {total}; they count"
    assert note in " ".join(render_page([found]).split())


def test_a_large_batch_has_a_control_in_each_block_of_at_most_twenty_tasks(tmp_path):
    """50 tasks are blocks of 16, 17 and 17."""
    from karat.protocols.verification.store.store import CampaignStore

    made = build_campaign(corpus(40), [run(name, documents=40) for name in ("one", "two")], name="toy", batch=50)
    assert [len(block) for block in made.options.list_blocks(0)] == [16, 17, 17]
    assert (made.n_judgements, made.count_needed_people()) == (360, 8)  # 47 of each person
    with pytest.raises(
        UsageError, match=r"360 judgements need 8 people .* Find more people, or raise --tasks-per-judge to 95"
    ):
        made.require_people(4)  # 90 judgements of each, and 5 controls in blocks of 19
    store = CampaignStore.create(str(tmp_path / "toy.sqlite"), made)
    flags = work(store, judge_of(store), 99)
    assert [sum(flags[:16]), sum(flags[16:33]), sum(flags[33:50])] == [1, 1, 1]
    assert len(flags) == 50


def test_one_slip_in_many_controls_is_no_failure_and_who_verifies_everything_fails():
    made = build_campaign(corpus(40), [run("one", documents=40)], name="toy", batch=0)
    tasks = {task.number: task for task in made.tasks}
    controls = [task for task in made.tasks if task.is_control][:4]

    def records(n_wrong, n_controls):
        """The first decision of so many controls is wrong."""
        found = {}
        for number, task in enumerate(controls[:n_controls]):
            decisions = [link.correct[0] if link.correct else Decision.VERIFY for link in task.links]
            if number < n_wrong:
                tested = next(place for place, link in enumerate(task.links) if link.correct)
                decisions[tested] = Decision.REMOVE if decisions[tested] is Decision.VERIFY else Decision.VERIFY
            found[task.number] = [
                Judgement(id=f"{number}-{place}", judge="a", task=task.number, link=place, decision=decision,
                          server_time="")
                for place, decision in enumerate(decisions)
            ]  # fmt: skip
        return found

    # Each control tests three decisions: 2 of 3, 5 of 6, 4 of 6, 11 of 12, 9 of 12 and 8 of 12 are correct.
    cases = {(1, 1): "failed", (1, 2): "passed", (2, 2): "failed", (1, 4): "passed", (3, 4): "passed", (4, 4): "failed"}
    assert {case: evaluate_controls(tasks, records(*case)) for case in cases} == cases
    assert evaluate_controls(tasks, {}) == "not tested"


def test_who_has_failed_gets_no_tasks_after_the_second_block(tmp_path):
    from karat.protocols.verification.store.store import CampaignStore

    made = build_campaign(corpus(40), [run(name, documents=40) for name in ("one", "two")], name="toy", batch=0)
    store = CampaignStore.create(str(tmp_path / "toy.sqlite"), made)
    judge, flags = judge_of(store), []
    while (task := store.lease_task(judge)) is not None:
        flags.append(task.is_control)
        answer(store, judge, task, wrong=True)
    assert (len(flags), sum(flags)) == (40, 2)
    assert store.has_no_task(judge)
    assert store.get_progress(judge, nothing_left=store.has_no_task(judge)).code, "as for everyone who has finished"
    careful = judge_of(store, "careful")
    assert len(work(store, careful, 60)) == 60
    assert not store.has_no_task(careful)
