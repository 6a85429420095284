"""Overlays: what is changed, what is not, and scores before and after."""

from collections import Counter

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from karat import UNLINKED, Corpus, Document, InputError, Label, Prediction, Response, Run, UsageError
from karat.protocols.verification.auto_judging import judge_by_names, judge_by_program
from karat.protocols.verification.campaign_builder import build_campaign
from karat.protocols.verification.judgements import Decision, Judgement, effective_judgements, find_consensus
from karat.protocols.verification.measures import measure_campaign
from karat.protocols.verification.outcomes import PairAgreement
from karat.protocols.verification.overlay import (
    OverlayChange,
    apply_overlay,
    build_overlay,
    encode_overlay,
    read_overlay,
)
from karat.protocols.verification.posthoc import TextLink
from karat.render.verification.report import render_page

TEXT = "Anna saw Ulm and Bern and Chur and Rome."
PLACES = {"Anna": (0, 4), "Ulm": (9, 12), "Bern": (17, 21), "Chur": (26, 30), "Rome": (35, 39)}


def corpus(**links):
    return Corpus.from_documents(
        [Document("d", TEXT, tuple(Label(*PLACES[words], entity) for words, entity in links.items()))], name="toy"
    )


def run(name="s", **links):
    return Run.from_responses(
        [Response("d", tuple(Prediction(*PLACES[words], entity) for words, entity in links.items()))], name=name
    )


def judged(made, decisions, judge="anna", machine=None):
    """Records of one judge: by source and words, a decision or the entity that it becomes."""
    found = []
    for task in made.tasks:
        for place, link in enumerate(task.links):
            said = decisions.get((made.options.sources[task.source], task.surface(link)))
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
                    server_time="2026-01-01T00:00:00+00:00",
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


def test_a_link_modified_to_a_gold_label_changes_nothing():
    """Also if the judge writes the id as an address."""
    for entity in ("Q1", "http://www.wikidata.org/entity/Q1"):
        made = build_campaign(corpus(Anna="Q1"), [run(Anna="Q2")], name="toy", controls=0)
        overlay = build_overlay(made, judged(made, {("gold", "Anna"): V, ("s", "Anna"): entity}))
        assert (overlay.changes, overlay.header.undecided) == ((), {})


@pytest.fixture
def made(gold):
    return build_campaign(gold, [run(Anna="Q1", Ulm="Q9", Chur="Q4", Rome="Q5")], name="toy", controls=0)


DECISIONS = {
    ("gold", "Anna"): V,
    ("gold", "Ulm"): "Q9",
    ("gold", "Bern"): R,
    ("s", "Ulm"): V,
    ("s", "Chur"): V,
    ("s", "Rome"): "Q6",
}


def test_what_judges_say_becomes_changes_with_where_they_come_from(gold, made):
    overlay = build_overlay(made, judged(made, DECISIONS))
    assert [(one.action, one.entity, one.becomes, one.sources) for one in overlay.changes] == [
        ("relink", "Q2", "Q9", ("gold",)),
        ("remove", "Q3", None, ("gold",)),
        ("add", "Q4", None, ("s",)),
        ("add", "Q6", None, ("s",)),
    ]
    assert overlay.changes[0].votes == {"modify": 1}
    assert overlay.header.undecided == {}, "the link of the system is the relinked label"
    new = apply_overlay(gold, overlay)
    assert [(label.start, label.entity) for label in new.corpus["d"].labels] == [
        (0, "Q1"),
        (9, "Q9"),
        (26, "Q4"),
        (35, "Q6"),
    ]
    assert new.applied == {"relink": 1, "remove": 1, "add": 2}
    assert new.excluded == {}
    assert new.corpus.name == "toy~toy-1"
    assert new.corpus.digest != gold.digest


def test_an_overlay_survives_its_file_and_fits_its_gold_only(gold, made, tmp_path):
    overlay = build_overlay(made, judged(made, DECISIONS), version=3)
    path = tmp_path / "o.jsonl"
    path.write_bytes(b"".join(encode_overlay(overlay)))
    assert read_overlay(str(path)) == overlay
    with pytest.raises(InputError, match="a patch of toy@"):
        apply_overlay(corpus(Anna="Q1"), overlay)
    for broken in (b"", b"{}", b"no", path.read_bytes() + b'{"action": "no"}\n'):
        (tmp_path / "b.jsonl").write_bytes(broken)
        with pytest.raises(InputError, match=r"b\.jsonl:\d"):
            read_overlay(str(tmp_path / "b.jsonl"))
    (tmp_path / "n.jsonl").write_bytes(path.read_bytes().replace(b"overlay/2", b"overlay/3"))
    with pytest.raises(InputError, match="newer Karat"):
        read_overlay(str(tmp_path / "n.jsonl"))


def test_a_tie_changes_nothing_and_a_majority_over_all_sources_does(gold, made):
    one = judged(made, {("gold", "Anna"): R})
    other = judged(made, {("s", "Anna"): V}, "ben")
    assert build_overlay(made, one).changes[0].action == "remove"
    tied = build_overlay(made, one + other)
    assert tied.changes == ()
    assert tied.header.undecided == {"links without a majority": 1}


def test_gold_without_entity_is_relinked_and_other_hidden_gold_is_no_promise():
    labels = (
        Label(0, 4, None),
        Label(9, 12, UNLINKED),
        Label(17, 21, UNLINKED, kind="quantity"),
        Label(26, 39, None),
    )
    gold = Corpus.from_documents([Document("d", TEXT, labels)], name="toy")
    made = build_campaign(gold, [run(Anna="Q1", Ulm="Q2", Bern="Q3", Chur="Q4", Rome="Q5")], name="toy", controls=0)
    overlay = build_overlay(made, judged(made, {("s", words): V for words in PLACES}))
    assert [(one.action, one.start, one.entity, one.becomes) for one in overlay.changes] == [
        ("relink", 0, None, "Q1"),
        ("relink", 9, None, "Q2"),
    ]
    assert overlay.header.undecided == {"accepted links that overlap others": 3}
    new = apply_overlay(gold, overlay)
    assert [label.entity for label in new.corpus["d"].labels] == ["Q1", "Q2", UNLINKED, None]
    assert (new.applied, new.excluded) == ({"relink": 2}, {})


def test_of_two_links_for_one_nil_the_one_with_more_votes_is_taken():
    gold = Corpus.from_documents([Document("d", TEXT, (Label(0, 4, None),))], name="toy")
    runs = [run("s", Anna="Q1"), run("t", Anna="Q2"), run("u", Anna="Q2")]
    made = build_campaign(gold, runs, name="toy", controls=0)
    votes = judged(made, {("s", "Anna"): V, ("t", "Anna"): V}) + judged(made, {("u", "Anna"): V}, "ben")
    overlay = build_overlay(made, votes)
    assert [(one.action, one.becomes) for one in overlay.changes] == [("relink", "Q2")]
    assert overlay.header.undecided == {"accepted links that overlap others": 1}


def test_of_several_entities_with_equal_votes_for_a_mention_none_is_added():
    """Anna has one vote for Q1 and one for Q2; the order of their ids is no reason to add Q1."""
    runs = [run("s", Anna="Q1", Ulm="Q3"), run("t", Anna="Q2", Ulm="Q4")]
    made = build_campaign(corpus(Bern="Q5"), runs, name="toy", controls=0)
    url = "http://www.wikidata.org/entity/Q3"
    votes = judged(made, {("s", "Anna"): V, ("t", "Anna"): V, ("s", "Ulm"): V, ("t", "Ulm"): url})
    overlay = build_overlay(made, votes)
    assert len(overlay.changes) == 1, "two spellings of Q3 are one entity"
    assert overlay.header.undecided == {"accepted links on spans for which several entities have most votes": 2}


def test_a_link_that_judges_remove_and_accept_stays_as_it_is_until_the_lead_removes_it():
    label = Label(*PLACES["Anna"], "Q1", optional=True, types=("PER",), name="Anna", mention_id="m")
    gold = Corpus.from_documents([Document("d", TEXT, (label,))], name="toy")
    made = build_campaign(gold, [run(Anna="Q2"), run("t", Anna="Q3")], name="toy", controls=0, judges=2)
    decisions = {("gold", "Anna"): R, ("s", "Anna"): "http://www.wikidata.org/entity/Q1", ("t", "Anna"): R}
    records = judged(made, decisions) + judged(made, decisions, "ben")
    overlay = build_overlay(made, records)
    assert (overlay.changes, overlay.header.undecided) == ((), {"contradictory judgements": 1})
    assert [(one.action, one.entity, one.votes) for one in overlay.contradictions] == [("remove", "Q1", {"remove": 2})]
    assert apply_overlay(gold, overlay).corpus["d"].labels == (label,)
    tied = judged(made, decisions) + judged(made, decisions | {("gold", "Anna"): V}, "ben")
    (removal,) = judged(made, {("gold", "Anna"): R}, "lead")
    lead = msgspec.structs.replace(removal, is_lead_decision=True)
    (change,) = build_overlay(made, [*tied, lead]).changes
    assert (change.action, change.entity) == ("remove", "Q1")


def test_a_judge_has_one_vote_on_a_link_of_several_sources():
    """One judge removes the link of two sources and verifies that of a third one; the last judgement counts."""
    made = build_campaign(
        corpus(Anna="Q1", Ulm="Q2"), [run("s", Anna="Q1"), run("t", Anna="Q1")], name="toy", controls=0
    )
    later = [
        msgspec.structs.replace(record, server_time="2026-01-02T00:00:00+00:00")
        for record in judged(made, {("gold", "Anna"): V})
    ]
    records = [*later, *judged(made, {("s", "Anna"): R, ("t", "Anna"): R})]
    assert build_overlay(made, records).changes == ()
    sooner = [msgspec.structs.replace(record, server_time="2025-01-01T00:00:00+00:00") for record in later]
    (change,) = build_overlay(made, [*records[1:], *sooner]).changes
    assert (change.action, change.votes) == ("remove", {"remove": 1})
    added = {"decision": Decision.ADD, "server_time": "", "start": 26, "end": 30, "becomes": "Q4", "judge": "anna"}
    (change,) = build_overlay(made, [Judgement(id=str(task), task=task, **added) for task in range(3)]).changes
    assert (change.action, change.votes) == ("add", {"add": 1})


spans = st.tuples(st.integers(0, 20), st.integers(1, 8)).map(lambda one: (one[0], one[0] + one[1]))
gold_labels = st.lists(
    st.builds(
        lambda span, entity, mention, parent: Label(*span, entity, mention_id=mention, parent=parent),
        spans,
        st.sampled_from(["Q1", "Q2", None, UNLINKED]),
        st.sampled_from([None, None, "u", "v"]),
        st.sampled_from([None, None, None, "u"]),
    ),
    max_size=6,
    unique_by=lambda label: (label.start, label.end, str(label.entity)),
)


@given(
    gold_labels,
    st.lists(st.tuples(spans, st.sampled_from(["Q1", "Q2", "Q3"])), max_size=6),
    st.sampled_from(["all", "false-positives", "disagreements"]),
    st.randoms(use_true_random=False),
)
def test_an_overlay_promises_what_is_applied_and_never_adds_what_it_removes(labels, predictions, priority, random):
    try:
        gold = Corpus.from_documents([Document("d", TEXT, tuple(labels))], name="toy")
    except InputError:
        assume(False)  # not a gold standard, such as a part of an unknown mention
    system = Run.from_responses(
        [Response("d", tuple(Prediction(*span, entity) for span, entity in predictions))], name="s"
    )
    try:
        made = build_campaign(gold, [system], name="toy", controls=0, priority=priority)
    except UsageError:
        assume(False)  # nothing to judge
    records = [
        Judgement(
            id=f"{task.number}-{place}",
            judge="anna",
            task=task.number,
            link=place,
            decision=(decision := random.choice([V, V, R, Decision.MODIFY])),
            server_time="",
            entity=link.entity,
            becomes=random.choice(["Q1", "Q2", "Q8"]) if decision is Decision.MODIFY else None,
        )
        for task in made.tasks
        for place, link in enumerate(task.links)
    ]
    overlay = build_overlay(made, records)
    removed, added = (
        {(change.start, change.end, change.entity) for change in overlay.changes if change.action == action}
        for action in ("remove", "add")
    )
    assert not removed & added
    patched = apply_overlay(gold, overlay)
    assert patched.excluded == {}
    assert patched.applied == Counter(change.action for change in overlay.changes)


def test_alternatives_of_a_mention_go_together():
    labels = (
        Label(0, 4, "Q1", mention_id="u"),
        Label(0, 4, "Q8", mention_id="u"),
        Label(9, 12, "Q2", mention_id="v"),
        Label(9, 12, "Q7", mention_id="v"),
    )
    gold = Corpus.from_documents([Document("d", TEXT, labels)], name="toy")
    made = build_campaign(gold, [], name="toy")
    new = apply_overlay(gold, build_overlay(made, judged(made, {("gold", "Anna"): R, ("gold", "Ulm"): "Q7"})))
    assert [label.entity for label in new.corpus["d"].labels] == ["Q7"]


def test_machines_are_never_mixed_with_people_and_stand_beside_them(made):
    people = judged(made, {("gold", "Anna"): V, ("gold", "Ulm"): R, ("gold", "Bern"): V})
    machine = judged(
        made, {("gold", "Anna"): V, ("gold", "Ulm"): V, ("gold", "Bern"): V, ("s", "Chur"): R}, "m", "rule"
    )
    both = measure_campaign(made, people + machine)
    assert both.sources[0].outcomes == (2, 0, 1, 0)
    assert both.sources[1].outcomes.total == 0
    assert both.excluded == {"of the automatic judge rule": 4}
    (beside,) = both.machines
    assert (beside.machine, beside.items, beside.observed) == ("rule", 3, pytest.approx(2 / 3))
    alone = measure_campaign(made, people + machine, machine="rule")
    assert alone.judged_by == "rule"
    assert alone.sources[0].outcomes == (3, 0, 0, 0)


def test_agreement_comes_from_the_same_link_of_several_sources(made):
    one = measure_campaign(made, judged(made, {("gold", "Anna"): V}) + judged(made, {("s", "Anna"): V}, "ben"))
    assert (one.agreement.items, one.agreement.observed, one.agreement.alpha) == (1, 1.0, None)
    same_judge = measure_campaign(made, judged(made, {("gold", "Anna"): V, ("s", "Anna"): R}))
    assert same_judge.agreement.items == 0
    assert one.times.median == 3.0
    (pair,) = one.agreement.pairs
    assert pair == PairAgreement("anna", "ben", items=1, observed=1.0, kappa=None)


def test_every_pair_of_judges_has_a_kappa_of_its_own(made):
    words = ("Anna", "Ulm", "Bern")
    said = {"anna": (V, R, V), "ben": (V, R, R), "cleo": (V, R, V)}
    records = [
        one
        for judge, own in said.items()
        for one in judged(made, {("gold", word): each for word, each in zip(words, own, strict=True)}, judge)
    ]
    agreement = measure_campaign(made, records).agreement
    found = {(pair.judge_a, pair.judge_b): (pair.items, pair.kappa) for pair in agreement.pairs}
    assert found["anna", "cleo"] == (3, 1.0)
    assert found["anna", "ben"] == found["ben", "cleo"] == (3, pytest.approx(0.4))
    # Fleiss: pairs agree in (1 + 1 + 1/3) / 3 = 7/9, by chance in (5/9)² + (4/9)² = 41/81
    assert agreement.kappa == pytest.approx((7 / 9 - 41 / 81) / (1 - 41 / 81))


def test_fleiss_kappa_uses_every_judgement_on_a_link_of_several_sources():
    """Anna and Ulm are links of both sources, judged twice for one and once for the other; Bern is judged twice."""
    made = build_campaign(
        corpus(Anna="Q1", Ulm="Q2", Bern="Q3"), [run(Anna="Q1", Ulm="Q2")], name="toy", controls=0, judges=2
    )
    gold = {("gold", "Anna"): V, ("gold", "Ulm"): V, ("gold", "Bern"): V}
    records = judged(made, gold) + judged(made, gold | {("gold", "Bern"): R}, "ben")
    records += judged(made, {("s", "Anna"): R, ("s", "Ulm"): V}, "cleo")
    found = measure_campaign(made, records)
    assert (found.agreement.items, found.agreement.judgements) == (3, 8)
    # Pairs agree in 1/3, 1 and 0, on average 4/9; by chance in (6/8)² + (2/8)² = 5/8.
    assert found.agreement.kappa == pytest.approx((4 / 9 - 5 / 8) / (1 - 5 / 8))
    judgements = "8 judgements, the last of each judge on a link"
    note = f"agreement on 3 links that two or more judged ({judgements}): all agree on 33.3 %"
    assert note in " ".join(render_page([found]).split())


def test_of_several_judgements_of_one_judge_on_a_link_the_last_in_time_counts_for_agreement():
    """Anna is a link of both sources; the later judgement counts, whichever task has the lower number."""
    for first, last in (("gold", "s"), ("s", "gold")):
        made = build_campaign(corpus(Anna="Q1"), [run(Anna="Q1")], name="toy", controls=0, judges=2)
        late = [
            msgspec.structs.replace(record, server_time="2026-01-02T00:00:00+00:00")
            for record in judged(made, {(last, "Anna"): R})
        ]
        records = [*late, *judged(made, {(first, "Anna"): V}), *judged(made, {("gold", "Anna"): R}, "ben")]
        agreement = measure_campaign(made, records).agreement
        assert (agreement.items, agreement.judgements, agreement.observed) == (1, 2, 1.0)


def test_links_that_judges_add_are_counted_and_taken_up(gold, made):
    added = {
        "task": 0,
        "decision": Decision.ADD,
        "server_time": "",
        "start": 26,
        "end": 30,
        "becomes": "Q4",
        "surface": "Chur",
    }
    records = [Judgement(id=f"{judge}-1", judge=judge, **added) for judge in ("anna", "ben")]
    assert measure_campaign(made, records).n_additions == 1
    (change,) = build_overlay(made, records).changes
    assert (change.action, change.entity, change.votes) == ("add", "Q4", {"add": 2})


def test_links_modified_to_the_same_one_are_one_addition_or_one_link_that_overlaps():
    made = build_campaign(corpus(Bern="Q3"), [run("s", Anna="Q1", Bern="Q7"), run("t", Anna="Q2", Bern="Q8")],
                          name="toy", controls=0)  # fmt: skip
    decisions = {(source, word): "Q9" for source in "st" for word in ("Anna", "Bern")}
    overlay = build_overlay(made, judged(made, {("gold", "Bern"): V} | decisions))
    assert [(change.action, change.entity) for change in overlay.changes] == [("add", "Q9")]
    assert overlay.header.undecided == {"accepted links that overlap others": 1}


def test_a_program_may_decide_nothing_on_a_link(made, tmp_path):
    program = tmp_path / "judge.py"
    program.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    n = len(json.loads(line)['links'])\n"
        "    print(json.dumps({'decisions': [None, {'decision': None}, *[{'decision': 'verify'}] * n][:n]}))\n"
    )
    found = judge_by_program([task for task in made.tasks if len(task.links) > 2], f"python3 {program}", None, 60)
    assert [decision.decision for decision in found[0][:3]] == [None, None, V]


def test_a_program_names_entities_like_those_of_the_campaign(made):
    program = (
        "python3 -c \"import json, sys; [print(json.dumps({'decisions': [{'decision': 'modify', 'becomes': 'Paris'} "
        "for _ in json.loads(line)['links']]})) for line in sys.stdin]\""
    )
    with pytest.raises(InputError, match="found the entity Paris; expected an id written like Q"):
        judge_by_program(made.tasks, program, None, 60)


def test_records_that_hold_are_the_last_ones_not_undone():
    def record(id, link=0, decision=V, **more):
        return Judgement(id=id, judge="a", task=0, link=link, decision=decision, server_time="", **more)

    records = [record("1"), record("2", decision=R), record("3", 1), record("4", 1, Decision.UNDO, undone_id="3")]
    assert [one.id for one in effective_judgements(records)] == ["2"]
    late = [record("1", is_late=True), record("2", decision=R)]
    assert find_consensus(late).decision is R
    assert find_consensus(late, 2) is None
    assert find_consensus([]) is None


def test_a_rule_judges_by_the_names_of_a_knowledge_base(made):
    class Names:
        def canonical_ids(self, ids):
            return list(ids)

        def names(self, ids):
            return ["Anna" if one == "Q1" else None for one in ids]

        def aliases(self, ids):
            return [frozenset(["Ulm"]) if one == "Q2" else None for one in ids]

        def popular_entities(self, words):
            return [{"Ulm": frozenset(["Q2"]), "Bern": frozenset(["Q70"])}.get(one) for one in words]

    (task,) = (task for task in made.tasks if task.source == 0)
    (said,) = judge_by_names([task], Names())
    assert [(one.decision, one.becomes) for one in said] == [(V, None), (V, None), (Decision.MODIFY, "Q70")]
    (other,) = (task for task in made.tasks if task.source == 1)
    assert [one.decision for one in judge_by_names([other], Names())[0]] == [V, Decision.MODIFY, None, None]


def test_a_program_judges_by_lines_and_is_refused_where_they_are_wrong(made, tmp_path):
    import sys

    def program(body):
        path = tmp_path / "judge.py"
        path.write_text(f"import json, sys\nfor line in sys.stdin:\n    task = json.loads(line)\n    {body}\n")
        return f"{sys.executable} {path}"

    each = "{'decision': 'verify' if x['surface'] == 'Anna' else 'remove'}"
    say = f"print(json.dumps({{'decisions': [{each} for x in task['links']]}}))"
    found = judge_by_program(made.tasks, program(say), None, 60)
    assert [len(own) for own in found] == [len(task.links) for task in made.tasks]
    assert {one.decision for own in found for one in own} == {V, R}
    for body in ("print('{}')", "pass", "print(json.dumps({'decisions': []}))", say.replace("remove", "modify")):
        with pytest.raises(InputError, match="Correct the program"):
            judge_by_program(made.tasks, program(body), None, 60)


def test_a_link_in_a_text_overlaps_what_shares_a_character():
    assert TextLink("d", 0, 2, "Q1").overlaps(TextLink("d", 1, 3, "Q2"))
    assert not TextLink("d", 0, 2, "Q1").overlaps(TextLink("d", 2, 3, "Q2"))


def test_a_fragment_tells_which_label_is_relinked():
    """Two alternatives are two fragments of one page; the decision is about the second one."""
    page = "https://en.wikipedia.org/wiki/List_of_Jedi"
    labels = [
        Label(0, 4, f"{page}#Kit_Fisto", mention_id="m"),
        Label(0, 4, f"{page}#Plo_Koon", mention_id="m"),
    ]
    gold = Corpus.from_documents([Document("d", TEXT, labels)], name="toy")
    made = build_campaign(gold, [run(Anna=f"{page}#Plo_Koon")], name="c")
    change = OverlayChange("relink", "d", 0, 4, f"{page}#Plo_Koon", becomes="Q1")
    overlay = build_overlay(made, [])._replace(changes=(change,))
    assert [label.entity for label in apply_overlay(gold, overlay).corpus["d"].labels] == [f"{page}#Kit_Fisto", "Q1"]


def test_gold_that_is_nil_by_its_id_can_be_relinked():
    gold = corpus(Anna="http://aksw.org/notInWiki/Anna", Ulm="Q1")
    made = build_campaign(gold, [run(Anna="Q2", Ulm="Q1")], name="c")
    overlay = build_overlay(made, judged(made, {("s", "Anna"): V}))
    assert [change.action for change in overlay.changes] == ["relink"]
    assert [label.entity for label in apply_overlay(gold, overlay).corpus["d"].labels] == ["Q2", "Q1"]
