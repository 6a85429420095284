"""Ties of judges, and the decisions of the lead on them."""

import json
from datetime import UTC, datetime

import msgspec
import pytest

from karat.model.errors import InputError, UsageError
from karat.protocols.verification.campaign_builder import build_campaign
from karat.protocols.verification.judgements import Decision
from karat.protocols.verification.measures import measure_campaign
from karat.protocols.verification.monitoring import CampaignMonitor
from karat.protocols.verification.overlay import build_overlay, find_disputed_links
from karat.protocols.verification.ties import find_ties, parse_decision
from karat.render.verification.report import render_page, to_json
from karat.render.verification.ties import render_ties
from tests.protocols.verification.test_overlay import corpus, judged, run

pytestmark = pytest.mark.extras

V, R = Decision.VERIFY, Decision.REMOVE
GOLD = {("gold", "Anna"): V, ("gold", "Ulm"): V, ("gold", "Bern"): R}
SYSTEM = {("s", "Anna"): V, ("s", "Ulm"): R, ("s", "Chur"): V}


def create_store(folder, made, name="toy"):
    from karat.protocols.verification.store.store import CampaignStore

    return CampaignStore.create(str(folder / f"{name}.sqlite"), made)


@pytest.fixture
def store(tmp_path):
    """A campaign with two judges per link, who are tied on Bern (gold) and Chur (system)."""
    gold = corpus(Anna="Q1", Ulm="Q2", Bern="Q3")
    made = build_campaign(gold, [run(Anna="Q1", Ulm="Q9", Chur="Q4")], name="toy", controls=0, judges=2)
    store = create_store(tmp_path, made)
    others = GOLD | SYSTEM | {("gold", "Bern"): V, ("s", "Chur"): "Q5"}
    store.import_records(judged(made, GOLD | SYSTEM) + judged(made, others, "ben"))
    return store


def find_names(store):
    return {tie.task.surface(tie.link): tie.name for tie in find_ties(store.campaign, store.get_records())}


def decide(store, **decisions):
    names, ties = find_names(store), find_ties(store.campaign, store.get_records())
    texts = [f"{names[surface]}={decision}" for surface, decision in decisions.items()]
    store.record_lead_decisions([parse_decision(store.campaign, ties, text) for text in texts])


def test_ties_are_listed_with_votes_until_the_lead_decides(store):
    ties = find_ties(store.campaign, store.get_records())
    assert {tie.task.surface(tie.link) for tie in ties if tie.is_tied} == {"Bern", "Chur"}
    page = render_ties(ties)
    assert page.startswith("ties of judges: 2 links, 0 decided by the lead, 2 undecided\n")
    assert "[Bern]" in page
    assert "s: verify 1, modify to Q5 1" in page
    decide(store, Bern="remove")
    page = render_ties(find_ties(store.campaign, store.get_records()))
    assert page.startswith("ties of judges: 2 links, 1 decided by the lead, 1 undecided\n")


def test_a_decision_of_the_lead_settles_the_outcome_and_is_no_vote(store):
    before = measure_campaign(store.campaign, store.get_records())
    assert (before.ties.links, before.ties.decided) == (2, 0)
    decide(store, Bern="remove")
    after = measure_campaign(store.campaign, store.get_records())
    gold = after.sources[0]
    assert (gold.outcomes, gold.n_tied, gold.n_lead_decisions) == ((2, 0, 1, 0), 0, 1)
    assert gold.posthoc["paper"].precision == 2 / 3
    assert (after.agreement, after.judges, after.excluded) == (before.agreement, before.judges, before.excluded)
    assert "ties of judges: 2 links, 1 decided by the lead, 1 undecided (decide them: karat verify ties)" in " ".join(
        render_page([after]).split()
    )
    (written,) = map(json.loads, to_json([after]).splitlines())
    assert [(source["tied"], source["lead_decisions"]) for source in written["sources"]] == [(0, 1), (1, 0)]
    assert [judge.judge for judge in store.list_judges()] == ["anna", "ben"]


def test_the_last_decision_of_the_lead_counts_in_the_overlay(store):
    assert build_overlay(store.campaign, store.get_records()).header.undecided["links without a majority"] == 2
    decide(store, Bern="verify", Chur="Q6")
    decide(store, Bern="remove")
    overlay = build_overlay(store.campaign, store.get_records())
    assert overlay.header.lead_decisions == 2
    assert "links without a majority" not in overlay.header.undecided
    changes = {(change.action, change.entity): change.votes for change in overlay.changes}
    assert changes == {
        ("add", "Q6"): {"verify": 1, "modify": 1, "lead": 1},
        ("remove", "Q3"): {"verify": 1, "remove": 1, "lead": 1},
    }


def test_judges_of_two_sources_can_be_tied_on_one_link(tmp_path):
    made = build_campaign(corpus(Anna="Q1"), [run(Anna="Q1")], name="toy", controls=0)
    store = create_store(tmp_path, made)
    store.import_records(judged(made, {("gold", "Anna"): R}) + judged(made, {("s", "Anna"): V}, "ben"))
    decide(store, Anna="remove")
    records = store.get_records()
    assert [change.action for change in build_overlay(made, records).changes] == ["remove"]
    found = measure_campaign(made, records)  # each source has one judge, so that nobody is tied there
    assert (found.sources[0].n_lead_decisions, found.sources[1].outcomes.verify) == (0, 1)


def test_a_tie_is_named_by_a_task_whose_judges_are_tied(tmp_path):
    for tied, other in (("gold", "s"), ("s", "gold")):
        made = build_campaign(corpus(Anna="Q1"), [run(Anna="Q1")], name="toy", controls=0, judges=2)
        store = create_store(tmp_path, made, tied)
        votes = {(tied, "Anna"): V, (other, "Anna"): V}
        store.import_records(judged(made, votes) + judged(made, votes | {(tied, "Anna"): R}, "ben"))
        (tie,) = find_ties(made, store.get_records())
        assert made.get_source(tie.task) == tied


def test_a_tie_over_all_sources_shows_the_last_vote_of_each_judge(tmp_path):
    """Of four votes three verify, but Ben verified only the link of one source, and removed it last: it is 1 to 1."""
    made = build_campaign(corpus(Anna="Q1"), [run(Anna="Q1")], name="toy", controls=0, judges=2)
    store = create_store(tmp_path, made)
    (last,) = judged(made, {("s", "Anna"): R}, "ben")
    store.import_records(
        judged(made, {("gold", "Anna"): V, ("s", "Anna"): V})
        + judged(made, {("gold", "Anna"): V}, "ben")
        + [msgspec.structs.replace(last, server_time="2026-01-02T00:00:00+00:00")]
    )
    page = " ".join(render_ties(find_ties(made, store.get_records())).split())
    assert "gold: verify 2; s: verify 1, remove 1; last vote of each judge: verify 1, remove 1" in page


def test_a_new_entity_without_majority_is_a_tie_that_the_lead_can_decide(tmp_path):
    made = build_campaign(corpus(Anna="Q1"), [], name="toy", controls=0, judges=2)
    store = create_store(tmp_path, made)
    store.import_records(judged(made, {("gold", "Anna"): "Q5"}) + judged(made, {("gold", "Anna"): "Q6"}, "ben"))
    assert measure_campaign(made, store.get_records()).sources[0].outcomes == (0, 1, 0, 0)
    decide(store, Anna="Q6")
    (change,) = build_overlay(made, store.get_records()).changes
    assert (change.action, change.becomes) == ("relink", "Q6")


def test_every_command_counts_ties_by_the_same_rule(tmp_path):
    """One source is tied on Anna, one on the new entity of Ulm, and both sources together on Bern."""
    links = {"Anna": "Q1", "Ulm": "Q2", "Bern": "Q3"}
    made = build_campaign(corpus(**links), [run(**links)], name="toy", controls=0, judges=2)
    store = create_store(tmp_path, made)
    gold = {("gold", "Anna"): V, ("gold", "Ulm"): "Q5", ("gold", "Bern"): V}
    system = {("s", "Anna"): V, ("s", "Ulm"): V, ("s", "Bern"): R}
    records = judged(made, gold) + judged(made, gold | {("gold", "Anna"): R, ("gold", "Ulm"): "Q6"}, "ben")
    store.import_records(records + judged(made, system, "cleo") + judged(made, system, "dora"))

    def read():
        records, now = store.get_records(), datetime(2026, 1, 2, tzinfo=UTC)
        report, monitor = measure_campaign(made, records), CampaignMonitor(made, records, now)
        header = build_overlay(made, records).header
        return (
            [(tie.is_tied_in_source, tie.is_tied_overall) for tie in find_ties(made, records)],
            (report.ties.decided, report.ties.undecided),
            tuple(len(monitor.find_cases(name)) for name in ("lead-decisions", "undecided-ties")),
            (header.lead_decisions, header.undecided.get("links without a majority", 0)),
        )

    # Overall Anna is verified by 3 of 4. Ulm is verified by 2 and modified by 2, Bern verified by 2 and removed by 2.
    kinds, *before = read()
    assert sorted(kinds) == [(False, True), (True, False), (True, True)]
    assert before == [(0, 3), (0, 3), (0, 2)]
    page = render_ties(find_ties(made, store.get_records()))
    assert page.splitlines()[:3] == [
        "ties of judges: 3 links, 0 decided by the lead, 3 undecided",
        "  in the scores of a source: 2 links, 0 decided by the lead, 2 undecided",
        "  in the overlay, with the judges of all sources: 2 links, 0 decided by the lead, 2 undecided",
    ]
    decide(store, Anna="verify", Ulm="Q6")
    assert read()[1:] == ((2, 1), (2, 1), (1, 1))
    decide(store, Bern="verify")
    assert read()[1:] == ((3, 0), (3, 0), (2, 0))


def test_a_new_entity_without_majority_changes_nothing_until_the_lead_decides(tmp_path):
    made = build_campaign(corpus(Anna="Q1"), [], name="toy", controls=0, judges=2)
    store = create_store(tmp_path, made)
    store.import_records(judged(made, {("gold", "Anna"): "Q5"}) + judged(made, {("gold", "Anna"): "Q6"}, "ben"))
    overlay = build_overlay(made, store.get_records())
    assert (overlay.changes, dict(overlay.header.undecided)) == ((), {"links without a majority": 1})
    decide(store, Anna="Q6")
    assert [change.becomes for change in build_overlay(made, store.get_records()).changes] == ["Q6"]


def test_the_entity_of_an_undecided_tie_is_not_accepted(tmp_path):
    """Two of three judges modify Bern, each to another entity: neither is in the union, and the passage is left out."""
    made = build_campaign(corpus(Anna="Q1"), [run(Bern="Q3")], name="toy", controls=0, judges=3)
    store = create_store(tmp_path, made)
    for judge, bern in (("anna", "Q5"), ("ben", "Q6"), ("cleo", V)):
        store.import_records(judged(made, {("gold", "Anna"): V, ("s", "Bern"): bern}, judge))
    before = measure_campaign(made, store.get_records())
    assert before.sources[1].outcomes == (0, 1, 0, 0)
    assert [before.sources[0].posthoc[name].counts.union for name in ("paper", "code")] == [1, 0]
    assert before.missing_from_gold["code"].missing == 0
    assert "(0 of 1; not those with ties)" in " ".join(render_page([before]).split())
    decide(store, Bern="Q6")
    after = measure_campaign(made, store.get_records())
    assert (after.sources[0].posthoc["code"].counts, after.missing_from_gold["code"].missing) == ((1, 1, 2), 1)


def test_further_judgements_on_a_link_decide_nothing_in_any_command(tmp_path):
    """The first two judgements on Bern are equal, so that those of two more judges make no tie."""
    made = build_campaign(corpus(Anna="Q1"), [run(Bern="Q3")], name="toy", controls=0, judges=2)
    store = create_store(tmp_path, made)
    for judge, decision in (("anna", V), ("ben", V), ("cleo", R), ("dora", R)):
        store.import_records(judged(made, {("s", "Bern"): decision}, judge))
    records = store.get_records()
    assert measure_campaign(made, records).sources[1].outcomes == (1, 0, 0, 0)
    assert find_ties(made, records) == []
    (change,) = build_overlay(made, records).changes
    assert (change.action, change.votes) == ("add", {"verify": 2})


def test_a_decision_has_no_effect_once_judges_are_no_longer_tied(store):
    decide(store, Bern="verify")
    bern = next(record for record in store.get_records() if record.judge == "ben" and record.surface == "Bern")
    store.undo_record("ben", bern.id)
    found = measure_campaign(store.campaign, store.get_records())
    assert (found.ties.links, found.ties.decided, found.n_open) == (1, 0, 1)
    assert "verify (no tie, without effect)" in render_ties(find_ties(store.campaign, store.get_records()))


def test_decisions_of_the_lead_are_exported_and_imported(store, tmp_path):
    from karat.protocols.verification.store.backups import export_judgements, import_judgements

    decide(store, Bern="remove")
    copy = create_store(tmp_path, store.campaign, "copy")
    lines = list(export_judgements(store))
    assert import_judgements(copy, "copy", lines) == (13, 0)
    assert measure_campaign(copy.campaign, copy.get_records()).ties.decided == 1
    assert [judge.judge for judge in copy.list_judges()] == ["anna", "ben"]
    forged = [line.replace(b'"decision":"remove"', b'"decision":"skip"') for line in lines if b"is_lead" in line]
    with pytest.raises(InputError, match="a decision of the lead that is not about a link"):
        import_judgements(copy, "copy", [lines[0], *forged])


@pytest.mark.parametrize("decision", ["", "modify"])
def test_a_decision_needs_a_value(store, decision):
    with pytest.raises(UsageError, match="no decision"):
        decide(store, Bern=decision)


@pytest.mark.parametrize("typo", ["verfy", "removed", "Brad", "Berlin", "64", "q"])
def test_a_typo_is_no_entity(store, typo):
    with pytest.raises(UsageError, match=f"{typo} is no decision, and not written like the ids of this campaign"):
        decide(store, Bern=typo)


@pytest.mark.parametrize("typo", ["Paris", "64", "q", "Q 64"])
def test_a_judge_cannot_enter_such_a_typo_either(store, typo):
    from karat.protocols.campaigns.participants import AccessDeniedError
    from karat.protocols.verification.store.store import SubmittedDecision

    judge = store.find_judge(store.start_session(store.create_invitation("cleo"), True))
    task = store.campaign.tasks[0]
    for submitted in (SubmittedDecision("1", 0, Decision.MODIFY, typo), SubmittedDecision("2", -1, Decision.ADD, typo)):
        with pytest.raises(AccessDeniedError, match=f"{typo} is no entity"):
            store.record_decision(judge, task, submitted)
    with pytest.raises(AccessDeniedError, match="unknown task"):  # the entity is accepted
        store.record_decision(judge, task, SubmittedDecision("1", 0, Decision.MODIFY, "Q99"))


@pytest.mark.parametrize(
    ("value", "decision", "becomes"),
    [
        ("REMOVE", Decision.REMOVE, None),
        ("Verify", Decision.VERIFY, None),
        ("Q3", Decision.VERIFY, None),
        ("Q99", Decision.MODIFY, "Q99"),
        ("https://www.wikidata.org/wiki/Q99", Decision.MODIFY, "https://www.wikidata.org/wiki/Q99"),
    ],
)
def test_a_decision_is_a_word_in_any_case_or_an_id_like_those_of_the_campaign(store, value, decision, becomes):
    ties = find_ties(store.campaign, store.get_records())
    parsed = parse_decision(store.campaign, ties, f"{find_names(store)['Bern']}={value}")
    assert (parsed.decision, parsed.becomes) == (decision, becomes)


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz"])
def test_a_campaign_with_decisions_of_the_lead_is_restored_from_its_backup(
    store, karat_cli, tmp_path, other_address, suffix
):
    decide(store, Bern="remove")
    report = render_page([measure_campaign(store.campaign, store.get_records())])
    backup = str(tmp_path / f"backup.{suffix}")
    assert karat_cli("verify", "backup", store.database.label, "--out", backup).code == 0
    assert karat_cli("verify", "restore", backup, other_address).code == 0
    restored = type(store).open(other_address)
    assert render_page([measure_campaign(restored.campaign, restored.get_records())]) == report


def test_a_judgement_of_nobody_is_still_refused(store):
    from karat.protocols.campaigns.backups import dump_backup
    from karat.protocols.verification.store.backups import restore_backup

    decide(store, Bern="remove")
    lines = list(dump_backup(store.database))
    forged = [
        line.replace(b'"judge":"lead"', b'"judge":"nobody"').replace(b'\\"lead\\"', b'\\"nobody\\"') for line in lines
    ]
    with pytest.raises(InputError, match="a record of an unknown participant"):
        restore_backup("sqlite://", "backup", forged)
    forged = [line.replace(b',\\"is_lead_decision\\":true', b"") for line in lines]
    assert forged != lines
    with pytest.raises(InputError, match="a decision of the lead by somebody else, or a judgement by the lead"):
        restore_backup("sqlite://", "backup", forged)


def test_only_ties_can_be_decided(store):
    ties = find_ties(store.campaign, store.get_records())
    for name in ("99:0", "0:99", "Bern", ""):
        with pytest.raises(UsageError, match="judges are not tied"):
            parse_decision(store.campaign, ties, f"{name}=verify")


def test_the_lead_page_shows_ties_and_decisions(store):
    decide(store, Bern="remove")
    monitor = CampaignMonitor(store.campaign, store.get_records(), datetime(2026, 1, 2, tzinfo=UTC))
    names = ("tied", "ties", "undecided-ties", "lead-decisions", "removed", "judgements", "untested")
    assert [len(monitor.find_cases(name)) for name in names] == [1, 2, 1, 1, 2, 12, 12]
    assert set(monitor.qualities) == {"anna", "ben"}


def test_the_command_lists_and_decides(store, karat_cli):
    path, names = store.database.label, find_names(store)
    done = karat_cli("verify", "ties", path, "--decide", f"{names['Bern']}=remove")
    assert done.code == 0
    assert "2 links, 1 decided by the lead, 1 undecided" in done.out
    done = karat_cli("verify", "ties", path, "--decide", f"{names['Chur']}=verify", "--decide", "99:0=verify")
    assert done.code == 2
    assert measure_campaign(store.campaign, store.get_records()).ties.decided == 1, "nothing is half stored"


@pytest.fixture
def contradictory_store(tmp_path):
    """A campaign whose judge removes Anna (Q1) of the gold standard, but modifies that of the system to Q1."""
    made = build_campaign(corpus(Anna="Q1", Ulm="Q2"), [run(Anna="Q2")], name="toy", controls=0)
    store = create_store(tmp_path, made)
    store.import_records(judged(made, {("gold", "Anna"): R, ("gold", "Ulm"): V, ("s", "Anna"): "Q1"}))
    return store


@pytest.mark.parametrize(
    ("decision", "changes"),
    [
        ("verify", []),
        ("remove", [("remove", None, {"remove": 1, "lead": 1})]),
        ("Q7", [("relink", "Q7", {"remove": 1, "lead": 1})]),
    ],
)
def test_the_lead_decides_a_gold_link_that_judges_remove_and_accept(contradictory_store, karat_cli, decision, changes):
    store = contradictory_store
    address, out = store.database.label, store.database.label + ".overlay"
    done = karat_cli("verify", "ties", address)
    assert "1 link, 0 decided by the lead, 1 undecided" in " ".join(done.out.split())
    assert "[Anna]" in done.out
    assert "ties of judges: 0 links" in done.out
    name = next(line.split()[0] for line in done.out.splitlines() if "[Anna]" in line)
    scores = measure_campaign(store.campaign, store.get_records())
    done = karat_cli("verify", "ties", address, "--decide", f"{name}={decision}")
    assert "1 link, 1 decided by the lead, 0 undecided" in " ".join(done.out.split())
    assert "without effect" not in done.out
    overlay = build_overlay(store.campaign, store.get_records())
    assert [(change.action, change.becomes, change.votes) for change in overlay.changes] == changes
    assert (dict(overlay.header.undecided), overlay.header.decided_contradictions) == ({}, 1)
    assert overlay.header.lead_decisions == 0, "the judges were not tied"
    after = measure_campaign(store.campaign, store.get_records())
    assert (after.sources, after.ties) == (scores.sources, scores.ties), "a contradiction concerns the overlay only"
    done = karat_cli("verify", "overlay", address, "--out", out)
    assert "contradictory judgements: 1 link, 1 decided by the lead, 0 undecided" in done.out


def test_a_new_decision_on_a_contradiction_replaces_the_earlier_one(contradictory_store):
    store = contradictory_store
    for decision, n_changes in (("remove", 1), ("verify", 0)):
        (disputed,) = find_disputed_links(store.campaign, store.get_records())
        store.record_lead_decisions([parse_decision(store.campaign, [disputed], f"{disputed.name}={decision}")])
        assert len(build_overlay(store.campaign, store.get_records()).changes) == n_changes


def test_an_undecided_contradiction_is_counted_once_by_the_overlay_command(contradictory_store, karat_cli):
    address = contradictory_store.database.label
    done = karat_cli("verify", "overlay", address, "--out", f"{address}.overlay")
    assert done.out.count("contradictory judgements") == 1
    assert "contradictory judgements: 1 link, 0 decided by the lead, 1 undecided" in done.out
