"""Overlays: what is changed, what is not, and scores before and after."""

import pytest

from karat import Answer, Corpus, Document, InputError, Label, Reply, Run
from karat.verification.decisions import Decision, Judgement, standing, together
from karat.verification.machines import by_names, by_program
from karat.verification.making import campaign
from karat.verification.measures import verification
from karat.verification.overlay import overlay_of, patched, read_overlay, written
from karat.verification.posthoc import LinkAt

TEXT = "Anna saw Ulm and Bern and Chur and Rome."
PLACES = {"Anna": (0, 4), "Ulm": (9, 12), "Bern": (17, 21), "Chur": (26, 30), "Rome": (35, 39)}


def corpus(**links):
    return Corpus.of(
        [Document("d", TEXT, tuple(Label(*PLACES[words], entity) for words, entity in links.items()))], name="toy"
    )


def run(name="s", **links):
    return Run.of([Reply("d", tuple(Answer(*PLACES[words], entity) for words, entity in links.items()))], name=name)


def judged(made, decisions, judge="anna", machine=None):
    """Records of one judge: by source and words, a decision or the entity that it becomes."""
    found = []
    for task in made.tasks:
        for place, link in enumerate(task.links):
            said = decisions.get((made.terms.sources[task.source], task.surface(link)))
            if said is None:
                continue
            decision = said if isinstance(said, Decision) else Decision.MODIFY
            found.append(
                Judgement(
                    id=f"{judge}-{task.number}-{place}",
                    judge=judge,
                    task=task.number,
                    link=place,
                    decision=decision,
                    at="2026-01-01T00:00:00+00:00",
                    entity=link.entity,
                    surface=task.surface(link),
                    becomes=None if decision is said else said,
                    machine=machine,
                    seconds=3.0,
                )
            )
    return found


V, R = Decision.VERIFY, Decision.REMOVE


@pytest.fixture
def gold():
    return corpus(Anna="Q1", Ulm="Q2", Bern="Q3")


@pytest.fixture
def made(gold):
    return campaign(gold, [run(Anna="Q1", Ulm="Q9", Chur="Q4", Rome="Q5")], name="toy", controls=0)


DECISIONS = {
    ("gold", "Anna"): V,
    ("gold", "Ulm"): "Q9",
    ("gold", "Bern"): R,
    ("s", "Ulm"): V,
    ("s", "Chur"): V,
    ("s", "Rome"): "Q6",
}


def test_what_judges_say_becomes_changes_with_where_they_come_from(gold, made):
    overlay = overlay_of(made, judged(made, DECISIONS))
    assert [(one.action, one.entity, one.becomes, one.sources) for one in overlay.changes] == [
        ("relink", "Q2", "Q9", ("gold",)),
        ("remove", "Q3", None, ("gold",)),
        ("add", "Q4", None, ("s",)),
        ("add", "Q6", None, ("s",)),
    ]
    assert overlay.changes[0].votes == {"modify": 1}
    assert overlay.header.undecided == {"accepted links that overlap others": 1}
    new = patched(gold, overlay)
    assert [(label.start, label.entity) for label in new.corpus["d"].labels] == [
        (0, "Q1"),
        (9, "Q9"),
        (26, "Q4"),
        (35, "Q6"),
    ]
    assert new.done == {"relink": 1, "remove": 1, "add": 2}
    assert new.left_out == {}
    assert new.corpus.name == "toy~toy-1"
    assert new.corpus.digest != gold.digest


def test_an_overlay_survives_its_file_and_fits_its_gold_only(gold, made, tmp_path):
    overlay = overlay_of(made, judged(made, DECISIONS), version=3)
    path = tmp_path / "o.jsonl"
    path.write_bytes(b"".join(written(overlay)))
    assert read_overlay(str(path)) == overlay
    with pytest.raises(InputError, match="a patch of toy@"):
        patched(corpus(Anna="Q1"), overlay)
    for broken in (b"", b"{}", b"no", path.read_bytes() + b'{"action": "no"}\n'):
        (tmp_path / "b.jsonl").write_bytes(broken)
        with pytest.raises(InputError, match=r"b\.jsonl:\d"):
            read_overlay(str(tmp_path / "b.jsonl"))
    (tmp_path / "n.jsonl").write_bytes(path.read_bytes().replace(b"overlay/1", b"overlay/2"))
    with pytest.raises(InputError, match="newer Karat"):
        read_overlay(str(tmp_path / "n.jsonl"))


def test_a_tie_changes_nothing_and_a_majority_over_all_sources_does(gold, made):
    one = judged(made, {("gold", "Anna"): R})
    other = judged(made, {("s", "Anna"): V}, "ben")
    assert overlay_of(made, one).changes[0].action == "remove"
    tied = overlay_of(made, one + other)
    assert tied.changes == ()
    assert tied.header.undecided == {"links on which judges are divided": 1}


def test_alternatives_of_a_mention_go_together():
    labels = (
        Label(0, 4, "Q1", unit="u"),
        Label(0, 4, "Q8", unit="u"),
        Label(9, 12, "Q2", unit="v"),
        Label(9, 12, "Q7", unit="v"),
    )
    gold = Corpus.of([Document("d", TEXT, labels)], name="toy")
    made = campaign(gold, [], name="toy")
    new = patched(gold, overlay_of(made, judged(made, {("gold", "Anna"): R, ("gold", "Ulm"): "Q7"})))
    assert [label.entity for label in new.corpus["d"].labels] == ["Q7"]


def test_machines_are_never_mixed_with_people_and_stand_beside_them(made):
    people = judged(made, {("gold", "Anna"): V, ("gold", "Ulm"): R, ("gold", "Bern"): V})
    machine = judged(
        made, {("gold", "Anna"): V, ("gold", "Ulm"): V, ("gold", "Bern"): V, ("s", "Chur"): R}, "m", "rule"
    )
    both = verification(made, people + machine)
    assert both.sources[0].outcomes == (2, 0, 1, 0)
    assert both.sources[1].outcomes.judged == 0
    assert both.left_out == {"of the machine rule": 4}
    (beside,) = both.machines
    assert (beside.machine, beside.items, beside.same) == ("rule", 3, pytest.approx(2 / 3))
    alone = verification(made, people + machine, machine="rule")
    assert alone.judged_by == "rule"
    assert alone.sources[0].outcomes == (3, 0, 0, 0)


def test_agreement_comes_from_the_same_link_of_several_sources(made):
    one = verification(made, judged(made, {("gold", "Anna"): V}) + judged(made, {("s", "Anna"): V}, "ben"))
    assert (one.agreement.items, one.agreement.same, one.agreement.alpha) == (1, 1.0, None)
    same_judge = verification(made, judged(made, {("gold", "Anna"): V, ("s", "Anna"): R}))
    assert same_judge.agreement.items == 0
    assert one.times.median == 3.0
    (pair,) = one.agreement.pairs
    assert pair == ("anna", "ben", 1, 1.0, None)


def test_every_pair_of_judges_has_a_kappa_of_its_own(made):
    words = ("Anna", "Ulm", "Bern")
    said = {"anna": (V, R, V), "ben": (V, R, R), "cleo": (V, R, V)}
    records = [
        one
        for judge, own in said.items()
        for one in judged(made, {("gold", word): each for word, each in zip(words, own, strict=True)}, judge)
    ]
    found = {(pair.one, pair.two): (pair.items, pair.kappa) for pair in verification(made, records).agreement.pairs}
    assert found["anna", "cleo"] == (3, 1.0)
    assert found["anna", "ben"] == found["ben", "cleo"] == (3, pytest.approx(0.4))


def test_links_that_judges_add_are_counted_and_taken_up(gold, made):
    added = {"task": 0, "decision": Decision.ADD, "at": "", "start": 26, "end": 30, "becomes": "Q4", "surface": "Chur"}
    records = [Judgement(id=f"{judge}-1", judge=judge, **added) for judge in ("anna", "ben")]
    assert verification(made, records).added == 1
    (change,) = overlay_of(made, records).changes
    assert (change.action, change.entity, change.votes) == ("add", "Q4", {"add": 2})


def test_records_that_hold_are_the_last_ones_not_undone():
    def record(id, link=0, decision=V, **more):
        return Judgement(id=id, judge="a", task=0, link=link, decision=decision, at="", **more)

    records = [record("1"), record("2", decision=R), record("3", 1), record("4", 1, Decision.UNDO, undoes="3")]
    assert [one.id for one in standing(records)] == ["2"]
    late = [record("1", late=True), record("2", decision=R)]
    assert together(late).decision is R
    assert together(late, 2) is None
    assert together([]) is None


def test_a_rule_judges_by_the_names_of_a_knowledge_base(made):
    class Names:
        def canonical(self, ids):
            return list(ids)

        def names(self, ids):
            return ["Anna" if one == "Q1" else None for one in ids]

        def aliases(self, ids):
            return [frozenset(["Ulm"]) if one == "Q2" else None for one in ids]

        def popular(self, words):
            return [{"Ulm": frozenset(["Q2"]), "Bern": frozenset(["Q70"])}.get(one) for one in words]

    (task,) = (task for task in made.tasks if task.source == 0)
    (said,) = by_names([task], Names())
    assert [(one.decision, one.becomes) for one in said] == [(V, None), (V, None), (Decision.MODIFY, "Q70")]
    (other,) = (task for task in made.tasks if task.source == 1)
    assert [one.decision for one in by_names([other], Names())[0]] == [V, Decision.MODIFY, None, None]


def test_a_program_judges_by_lines_and_is_refused_where_they_are_wrong(made, tmp_path):
    import sys

    def program(body):
        path = tmp_path / "judge.py"
        path.write_text(f"import json, sys\nfor line in sys.stdin:\n    task = json.loads(line)\n    {body}\n")
        return f"{sys.executable} {path}"

    each = "{'decision': 'verify' if x['surface'] == 'Anna' else 'remove'}"
    say = f"print(json.dumps({{'decisions': [{each} for x in task['links']]}}))"
    found = by_program(made.tasks, program(say), None, 60)
    assert [len(own) for own in found] == [len(task.links) for task in made.tasks]
    assert {one.decision for own in found for one in own} == {V, R}
    for body in ("print('{}')", "pass", "print(json.dumps({'decisions': []}))", say.replace("remove", "modify")):
        with pytest.raises(InputError, match="Correct the program"):
            by_program(made.tasks, program(body), None, 60)


def test_a_link_in_a_text_overlaps_what_shares_a_character():
    assert LinkAt("d", 0, 2, "Q1").overlaps(LinkAt("d", 1, 3, "Q2"))
    assert not LinkAt("d", 0, 2, "Q1").overlaps(LinkAt("d", 2, 3, "Q2"))
