"""A project in a database: who gets which document, changes with revisions, and what is refused."""

import threading
from itertools import count
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from karat import InputError, Label
from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit, apply_changes
from tests.protocols.annotation.projects import make_project, make_task

pytestmark = pytest.mark.extras


def enter(store, worker):
    return store.find_judge(store.start_session(store.create_invitation(worker), True))


def edit(id, entity="Q1", start=0, end=7):
    return LabelEdit(id, AnnotatedLabel(Label(start, end, entity)))


steps = st.lists(
    st.tuples(
        st.sampled_from(["anna", "ben"]),
        st.sampled_from(["edit", "edit", "edit", "undo", "redo", "stale", "repeat", "finish"]),
        st.sampled_from(["n0", "n1", "s0"]),
        st.sampled_from([None, UNSET, "Q1", "Q2"]),
        st.sampled_from([0, 1]),  # two servers of one database
    ),
    max_size=15,
)


@given(steps)
def test_any_sequence_of_requests_gives_the_labels_that_were_acknowledged(sequence):
    """Compared with a list of all labels after each change, and a position in it for undo and redo."""
    from karat.protocols.annotation.store.checks import ChangeError
    from karat.protocols.annotation.store.store import AnnotationStore, RevisionError

    with TemporaryDirectory() as folder:
        servers = [AnnotationStore.create(f"{folder}/a.sqlite", make_project([make_task()]))]
        servers.append(AnnotationStore.open(f"{folder}/a.sqlite"))
        people = {worker: enter(servers[0], worker) for worker in ("anna", "ben")}
        task = servers[0].project.tasks[0]
        for person in people.values():
            assert servers[1].lease_document(person) == task
        history = {worker: [{}] for worker in people}
        position, revision, last, numbers = dict.fromkeys(people, 0), dict.fromkeys(people, 0), {}, count()
        n_records = 0
        for worker, kind, label, value, server in sequence:
            store, person, request = servers[server], people[worker], f"r{next(numbers)}"
            after = AnnotatedLabel(Label(0, 7, value)) if isinstance(value, str) else value
            change = (LabelEdit(label, after),)
            match kind:
                case "edit":
                    store.submit_change(person, task, request, revision[worker], change)
                    labels = apply_changes([], history[worker][position[worker]])
                    labels.pop(label, None)
                    labels |= {} if after is UNSET else {label: after}
                    history[worker] = [*history[worker][: position[worker] + 1], labels]
                    position[worker] += 1
                    last[worker] = (request, change)
                case "undo" | "redo":
                    move = -1 if kind == "undo" else 1
                    call = store.undo if kind == "undo" else store.redo
                    if not 0 <= position[worker] + move < len(history[worker]):
                        with pytest.raises(ChangeError, match="nothing to"):
                            call(person, task, request, revision[worker])
                        continue
                    call(person, task, request, revision[worker])
                    position[worker] += move
                case "stale":
                    with pytest.raises(RevisionError):
                        store.submit_change(person, task, request, revision[worker] + 1, change)
                    continue
                case "repeat":
                    if worker in last:
                        store.submit_change(person, task, last[worker][0], 0, last[worker][1])
                    continue
                case "finish":
                    store.finish(person, task, request)
                    assert store.reopen(person, task, f"{request}b").view.status == "open"
                    n_records += 2
                    continue
            revision[worker] += 1
            n_records += 1
        for store in (*servers, AnnotationStore.open(f"{folder}/a.sqlite")):
            for worker, person in people.items():
                view = store.get_document(person, task)
                assert view.state.labels == history[worker][position[worker]]
                assert view.state.labels == apply_changes(store.get_changes(task, person))
                assert view.state.revision == revision[worker]
            assert len(store.get_records()) == n_records
            store.database.close()
        for store in servers:
            store.database.close()


def test_documents_are_offered_in_order_until_enough_annotators_have_them(address, project, clock):
    from karat.protocols.annotation.store.store import AnnotationStore

    store = AnnotationStore.create(address, project, clock)
    anna, ben, carl, dora = (enter(store, worker) for worker in ("anna", "ben", "carl", "dora"))
    first = store.lease_document(anna)
    assert (store.lease_document(anna), store.lease_document(ben)) == (first, first)
    second = store.lease_document(carl)
    assert second.number == 1
    store.skip(ben, first, "x", "too long")
    assert store.lease_document(dora) == first  # because ben does not annotate it
    with pytest.raises(store_errors().AccessDeniedError, match="other annotators"):
        store.reopen(ben, first, "y")
    store.revoke("dora")
    assert store.reopen(ben, first, "y").view.status == "open"
    store.restore_access("dora")
    clock.now += 60  # a new invitation
    again = enter(store, "dora")
    assert again == dora
    assert store.lease_document(dora) == second  # the first one is taken by now
    assert store.get_progress(dora) == (0, 2)


def store_errors():
    from karat.protocols.campaigns import participants

    return participants


def test_a_revoked_annotator_gets_the_document_back_if_nobody_else_has_it(address, project, clock):
    from karat.protocols.annotation.store.store import AnnotationStore

    store = AnnotationStore.create(address, project, clock)
    anna = enter(store, "anna")
    task = store.lease_document(anna)
    store.submit_change(anna, task, "x", 0, [edit("n1")])
    store.revoke("anna")
    with pytest.raises(store_errors().AccessDeniedError, match="not yours"):
        store.get_document(anna, task)
    store.restore_access("anna")
    clock.now += 60  # a new invitation
    assert store.lease_document(enter(store, "anna")) == task
    assert list(store.get_document(anna, task).state.labels) == ["n1"]


def test_guidelines_have_versions_and_changes_name_theirs(address, project, clock):
    from karat.protocols.annotation.store.store import AnnotationStore

    store = AnnotationStore.create(address, project, clock)
    server = AnnotationStore.open(address, clock)  # another process
    anna = enter(store, "anna")
    task = store.lease_document(anna)
    server.submit_change(anna, task, "x", 0, [edit("n1")])
    version = store.set_guidelines("fair", "Mark less.")
    assert store.set_guidelines("fair", "Mark less.") == version
    server.submit_change(anna, task, "y", 1, [edit("n2")])
    assert [change.guidelines for change in store.get_changes(task, anna)] == [0, 1]
    assert [item.text for item in server.project.guidelines] == ["Mark all.", "Mark less."]
    assert version.since
    assert version.version != server.project.guidelines[0].version


def test_of_two_windows_that_send_at_once_one_is_told_to_load_again(address, project, clock):
    from karat.protocols.annotation.store.store import AnnotationStore, RevisionError

    servers = [AnnotationStore.create(address, project, clock), AnnotationStore.open(address, clock)]
    anna, outcomes = enter(servers[0], "anna"), []
    task = servers[0].lease_document(anna)

    def work(number):
        for revision in range(10):
            try:
                servers[number % 2].submit_change(anna, task, f"w{number}-{revision}", revision, [edit(f"n{number}")])
                outcomes.append((revision, "stored"))
            except RevisionError:
                outcomes.append((revision, "stale"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored = [revision for revision, outcome in outcomes if outcome == "stored"]
    assert sorted(stored) == [*range(len(stored))]  # each revision once
    for store in servers:
        assert store.get_document(anna, task).state.revision == len(stored) == len(store.get_records())


def test_many_annotators_at_once_lose_nothing(address, clock):
    from karat.protocols.annotation.store.store import AnnotationStore

    store = AnnotationStore.create(address, make_project([make_task()], annotators=8), clock)
    people, problems = [enter(store, f"w{number}") for number in range(8)], []
    task = store.lease_document(people[0])

    def work(person):
        try:
            assert store.lease_document(person) == task
            for revision in range(12):
                store.submit_change(person, task, f"c{revision}", revision, [edit(f"n{revision}", f"Q{revision + 1}")])
        except Exception as problem:  # noqa: BLE001  # raised below
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert all(len(store.get_document(person, task).state.labels) == 12 for person in people)


def test_all_is_the_same_after_a_backup_in_either_kind_of_database(store, other_address):
    from karat.protocols.annotation.store.backups import restore_backup
    from karat.protocols.campaigns.backups import dump_backup

    adjudicate(store)
    lines = list(dump_backup(store.database))
    copy = restore_backup(other_address, "backup.jsonl", lines)
    assert copy.project == store.project
    assert copy.get_records() == store.get_records()
    assert copy.list_annotators() == store.list_annotators()
    assert list(dump_backup(copy.database)) == lines
    new = enter(copy, "new")  # and it goes on
    copy.submit_change(new, copy.lease_document(new), "x", 0, [edit("n1", start=0, end=3)])
    with pytest.raises(InputError, match="empty database"):
        restore_backup(other_address, "backup.jsonl", lines)


def adjudicate(store):
    """Let two annotators disagree, one of them undo, and an adjudicator decide."""
    anna, ben = enter(store, "anna"), enter(store, "ben")
    carla = store.add_adjudicator("carla")
    task = store.lease_document(anna)
    store.lease_document(ben)
    store.submit_change(anna, task, "x", 0, [edit("n1")])
    store.submit_change(anna, task, "y", 1, [edit("n2", "Q2")])
    store.undo(anna, task, "z", 2)
    store.submit_change(ben, task, "x", 0, [edit("n1", "Q3")])
    store.finish(anna, task, "f")
    store.finish(ben, task, "f")
    (region,) = store.get_adjudicated(task).regions
    store.decide(carla, task, "d", region.region.digest, ben, reason="named so")
    return anna, ben, task


def test_a_second_round_gives_all_the_adjudicated_labels_and_can_start_once(store):
    from karat.protocols.annotation.store.checks import ChangeError

    anna, ben, task = adjudicate(store)
    plan = store.start_round()
    assert plan.counts == {"documents to go over": 1, "documents that too few annotators finished": 2}
    for person in (anna, ben):
        view = store.get_document(person, task)
        assert view.status == "open"
        assert [item.label.entity for item in view.state.current_labels.values()] == ["Q3"]
        assert (view.state.done, view.state.undone) == ((), ())
    assert store.round == 2
    with pytest.raises(ChangeError, match="no document"):
        store.start_round()
    store.submit_change(anna, task, "again", store.get_document(anna, task).state.revision, [edit("n9", "Q9", 9, 19)])
    assert store.get_changes(task, anna)[-1].round == 2


def test_a_backup_that_is_cut_off_after_any_line_is_refused_and_leaves_no_file(tmp_path, project, clock):
    from karat.protocols.annotation.store.backups import restore_backup
    from karat.protocols.annotation.store.store import AnnotationStore
    from karat.protocols.campaigns.backups import dump_backup

    store, target = AnnotationStore.create(str(tmp_path / "a.sqlite"), project, clock), tmp_path / "b.sqlite"
    adjudicate(store)
    lines = list(dump_backup(store.database))
    for length in range(len(lines)):
        with pytest.raises(InputError):
            restore_backup(str(target), "backup.jsonl", lines[:length])
        assert not target.exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('\\"kind\\":\\"undo\\"', '\\"kind\\":\\"redo\\"'),
        ('\\"undone_id\\":\\"', '\\"undone_id\\":\\"0'),
        ('\\"end\\":7,', '\\"end\\":7000,'),
        ('\\"start\\":0,\\"end\\":67', '\\"start\\":0,\\"end\\":6700'),
        ('\\"record\\":\\"change\\"', '\\"record\\":\\"joke\\"'),
        ('\\"kind\\":\\"annotate\\"', '\\"kind\\":\\"verify\\"'),
        ('"key":"round","value":"1"', '"key":"round","value":"one"'),
        ('"key":"guidelines"', '"key":"guide"'),
        ('"state":"done"', '"state":"gone"'),
    ],
)
def test_a_damaged_backup_is_refused_in_one_line(tmp_path, project, clock, old, new):
    from karat.protocols.annotation.store.backups import restore_backup
    from karat.protocols.annotation.store.store import AnnotationStore
    from karat.protocols.campaigns.backups import dump_backup

    store, target = AnnotationStore.create(str(tmp_path / "a.sqlite"), project, clock), tmp_path / "b.sqlite"
    adjudicate(store)
    text = b"".join(dump_backup(store.database)).decode()
    assert old in text
    with pytest.raises(InputError) as caught:
        restore_backup(str(target), "backup.jsonl", text.replace(old, new, 1).encode().splitlines(keepends=True))
    assert "\n" not in str(caught.value)
    assert not target.exists()


def test_each_group_of_commands_names_the_other_one_for_its_stores(karat_cli, tmp_path, project, monkeypatch):
    from karat.protocols.annotation.store.store import AnnotationStore

    monkeypatch.chdir(tmp_path)
    AnnotationStore.create("a.sqlite", project).database.close()
    assert karat_cli("verify", "create", "v", "--gold", "demo").code == 0
    assert karat_cli("annotate", "backup", "a.sqlite", "--out", "a.jsonl").code == 0
    assert karat_cli("verify", "backup", "v.sqlite", "--out", "v.jsonl").code == 0
    for command, right in (
        (("verify", "report", "a.sqlite"), "karat annotate"),
        (("verify", "migrate", "a.sqlite"), "karat annotate"),
        (("verify", "restore", "a.jsonl", "new.sqlite"), "karat annotate"),
        (("annotate", "annotators", "v.sqlite"), "karat verify"),
        (("annotate", "restore", "v.jsonl", "new.sqlite"), "karat verify"),
    ):
        ran = karat_cli(*command)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert f"Use {right} in place of" in ran.err
    assert not (tmp_path / "new.sqlite").exists()


def test_people_and_copies_by_commands(karat_cli, tmp_path, project, monkeypatch):
    from karat.protocols.annotation.store.store import AnnotationStore

    monkeypatch.chdir(tmp_path)
    store = AnnotationStore.create("a.sqlite", project)
    adjudicate(store)
    links = karat_cli("annotate", "invite", "a.sqlite", "dan", "--url", "https://x.example/").out
    assert links.startswith("dan: https://x.example/#/join/")
    assert karat_cli("annotate", "invite", "a.sqlite", "dan", "--days", "0").code == 2
    assert karat_cli("annotate", "invite", "a.sqlite", "eve", "--adjudicator").err == ""
    again = karat_cli("annotate", "invite", "a.sqlite", "eve", "eve")
    assert (again.out.count("eve: "), "eve is an adjudicator and gets no documents" in again.err) == (1, True)
    rows = karat_cli("annotate", "annotators", "a.sqlite").out.splitlines()
    assert [row.split()[0] for row in rows] == ["worker", "anna", "ben", "carla", "eve"]
    assert [row.split()[2] for row in rows[1:]] == ["annotator", "annotator", "adjudicator", "adjudicator"]
    shown = karat_cli("annotate", "history", "a.sqlite", "d0").out
    assert "Chatham → Q1" in shown
    assert "named so" in shown
    assert "Q2" not in karat_cli("annotate", "history", "a.sqlite", "d0", "--label", "n1").out
    assert karat_cli("annotate", "history", "a.sqlite", "d9").code == 2
    assert "may enter again" not in karat_cli("annotate", "revoke", "a.sqlite", "anna").out
    assert karat_cli("annotate", "revoke", "a.sqlite", "anna", "--lift").out == "anna may enter again\n"
    assert karat_cli("annotate", "anonymise", "a.sqlite", "anna").out == "anna is anonymised\n"
    assert karat_cli("annotate", "anonymise", "a.sqlite", "anna").code == 2
    assert karat_cli("annotate", "backup", "a.sqlite", "--out", "b.jsonl.gz").code == 0
    assert karat_cli("annotate", "restore", "b.jsonl.gz", "b.sqlite").out == "b.sqlite: small, 7 records\n"
    assert karat_cli("annotate", "annotators", "missing.sqlite").err.endswith("karat annotate create NAME ….\n")


def test_a_name_may_contain_whatever_people_write(store):
    anna = enter(store, "änna 🏰")
    assert store.get_workers()[anna] == "änna 🏰"
    task = store.lease_document(anna)
    strange = msgspec.structs.replace(Label(0, 7), nil_cluster="\x00 \u202e🏰")
    store.submit_change(anna, task, "x", 0, [LabelEdit("n1", AnnotatedLabel(strange, "<b>\x00</b>"))])
    (label,) = store.get_document(anna, task).state.current_labels.values()
    assert label == AnnotatedLabel(strange, "<b>\x00</b>")
