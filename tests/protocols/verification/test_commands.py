"""The commands, as people use them."""

import json
import sys

import pytest

import karat
from karat.protocols.verification.campaign_builder import build_campaign
from karat.protocols.verification.judgements import Decision
from karat.protocols.verification.overlay import build_overlay, describe_rank_changes, encode_overlay
from tests.protocols.verification.test_overlay import judged
from tests.render.test_schemas import schema_of


def write_overlay(path):
    """An overlay over the demo: the first links of gold are removed."""
    gold = karat.load("demo")
    made = build_campaign(gold, [], name="demo")
    first = {task.surface(link) for task in made.tasks[:3] for link in task.links}
    overlay = build_overlay(made, judged(made, {("gold", words): Decision.REMOVE for words in first}))
    path.write_bytes(b"".join(encode_overlay(overlay)))
    return len(overlay.changes)


def test_scores_are_shown_before_and_after_an_overlay(karat_cli, tmp_path):
    changes = write_overlay(tmp_path / "o.jsonl")
    assert changes > 5
    ran = karat_cli("score", "demo", "demo/prior", "--overlay", tmp_path / "o.jsonl", "--json", tmp_path / "r.json")
    assert ran.code == 0
    before, after = ran.out.split("demo~demo-1, 50 documents")
    assert before.startswith("demo, 50 documents")
    ran = karat_cli("verify", "apply", tmp_path / "o.jsonl", "demo", "--out", tmp_path / "new.jsonl")
    assert ran.out == f"remove {changes}\n"
    alone = karat_cli("score", tmp_path / "new.jsonl", "demo/prior").out
    assert alone.splitlines()[2:6] == after.splitlines()[2:6]
    signature = next(line for line in after.splitlines() if line.startswith("karat:"))
    assert karat_cli("explain", signature).code == 0
    corpora = [json.loads(line)["corpus"] for line in (tmp_path / "r.json").read_text().splitlines()]
    assert len(corpora) == 2


def test_an_overlay_says_which_ranks_it_changes(karat_cli, tmp_path):
    write_overlay(tmp_path / "o.jsonl")
    ran = karat_cli("score", "demo", "demo/prior", "demo/noisy", "--overlay", tmp_path / "o.jsonl")
    assert ran.out.splitlines()[-1].startswith("ranks by strong[in-kb]:micro.f1 after the overlay: ")


def test_ranks_of_chosen_measures_are_those_by_f1_if_it_is_among_them(karat_cli, tmp_path):
    write_overlay(tmp_path / "o.jsonl")
    score = ("score", "demo", "demo/prior", "demo/noisy", "--overlay", tmp_path / "o.jsonl", "--measure")
    assert karat_cli(*score, "strong").out.splitlines()[-1].startswith("ranks by strong:micro.f1 after the overlay: ")
    assert karat_cli(*score, "weak:micro.p").out.splitlines()[-1].startswith("ranks by weak:micro.p after")


def test_ranks_count_the_better_systems():
    high, low = (karat.evaluate("demo", f"demo/{name}") for name in ("prior", "noisy"))
    names = [f"{result.run}" for result in (high, low)]
    assert describe_rank_changes([high, low], [high, low]).endswith(": unchanged")
    assert describe_rank_changes([high, low], [low, high]).endswith(f": {names[0]} 1 → 2, {names[1]} 2 → 1")
    assert describe_rank_changes([high], [low]) == ""


def test_swapped_files_are_recognised(karat_cli, tmp_path):
    changes = write_overlay(tmp_path / "o.jsonl")
    karat.save(karat.load("demo"), tmp_path / "gold.jsonl")
    ran = karat_cli("verify", "apply", tmp_path / "gold.jsonl", tmp_path / "o.jsonl", "--out", tmp_path / "new.jsonl")
    assert (ran.code, ran.out) == (0, f"remove {changes}\n")
    assert "o.jsonl is the overlay" in ran.err


@pytest.mark.extras
def test_the_number_of_people_that_a_campaign_needs_is_stated(karat_cli, tmp_path):
    store = tmp_path / "c.sqlite"
    made = karat_cli("verify", "create", "c", "--gold", "demo", "--judges", "3", "--store", store)
    # 50 tasks for three judges each; one of a judge's 20 tasks is a control: 150 / 19, rounded up.
    assert "150 judgements need 8 people with 20 tasks each" in made.out
    wrong = karat_cli("verify", "overlay", store, "--auto-judge", "nobody", "--out", tmp_path / "o.jsonl")
    assert (wrong.code, "no automatic judge nobody decided on a link. Run" in wrong.err) == (2, True)
    assert not (tmp_path / "o.jsonl").exists()
    invited = karat_cli("verify", "invite", store, *"abcdefg")
    assert "need 8 people with 20 tasks each; 7 entered or are invited now" in invited.err
    assert karat_cli("verify", "invite", store, *"abcdefgh").err == ""


@pytest.mark.extras
def test_people_without_access_or_name_are_not_invited_and_slips_are_named(karat_cli, tmp_path):
    store = tmp_path / "c.sqlite"
    assert karat_cli("verify", "create", "c", "--gold", "demo", "--store", store).code == 0
    assert karat_cli("verify", "revoke", store, "eva").code == 0
    ran = karat_cli("verify", "invite", store, "anna", "eva")
    assert (ran.code, ran.out) == (2, "")
    assert f"the access of eva was revoked. Restore it first: karat verify revoke --lift {store} eva" in ran.err
    assert karat_cli("verify", "revoke", "--lift", store, "eva").code == 0
    assert "eva: http://" in karat_cli("verify", "invite", store, "anna", "eva").out
    twice = karat_cli("verify", "report", store, store).err
    assert f"{store} and {store} are the same campaign" in twice
    ran = karat_cli("verify", "create", "d", "--gold", "demo", "--controls", "0")
    assert (ran.code, "none for no controls" in ran.err) == (2, True)
    ran = karat_cli("verify", "revoke", store, "ana")
    assert "ana never entered, and cannot enter now. If the name is wrong, lift this: karat verify revoke" in ran.out
    assert "ana" not in karat_cli("verify", "judges", store).out
    for command in ("invite", "revoke"):
        ran = karat_cli("verify", command, store, "")
        assert (ran.code, "name is empty" in ran.err) == (2, True)


@pytest.mark.extras
def test_too_few_controls_for_the_tasks_of_a_judge_are_reported(karat_cli, tmp_path):
    link = '{"text": "Ulm", "links": [{"start": 0, "end": 3, "entity": "Q3012", "correct": ["verify"]}]}'
    (tmp_path / "controls.jsonl").write_text(link)
    options = ("--controls", tmp_path / "controls.jsonl", "--store")
    ran = karat_cli("verify", "create", "c", "--gold", "demo", *options, tmp_path / "a", "--tasks-per-judge", "45")
    assert "1 control instead of 3 in the 45 tasks that a judge may do" in ran.err
    assert karat_cli("verify", "create", "c", "--gold", "demo", *options, tmp_path / "b").err == ""


def test_an_overlay_of_something_else_is_refused(karat_cli, tmp_path):
    write_overlay(tmp_path / "o.jsonl")
    karat.save(
        karat.Corpus.from_documents([karat.Document("d", "Ulm.", (karat.Label(0, 3, "Q1"),))]), tmp_path / "g.jsonl"
    )
    ran = karat_cli("score", tmp_path / "g.jsonl", tmp_path / "g.jsonl", "--overlay", tmp_path / "o.jsonl")
    assert (ran.code, "a patch of demo@" in ran.err) == (2, True)
    ran = karat_cli(
        "score", "demo", "demo/prior", "--overlay", tmp_path / "o.jsonl", "--verdicts", tmp_path / "v.jsonl"
    )
    assert (ran.code, "karat verify apply" in ran.err) == (2, True)


def test_without_the_extra_one_line_says_what_installs_it(karat_cli, monkeypatch, tmp_path):
    for name in [name for name in sys.modules if name.startswith("karat.protocols.verification.store")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    ran = karat_cli("verify", "report", tmp_path / "x.sqlite")
    assert (ran.code, ran.err) == (2, "karat: karat verify needs SQLAlchemy: pip install 'karat[verify]'\n")


@pytest.mark.extras
def test_a_campaign_from_new_to_overlay(karat_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    made = karat_cli(
        "verify", "create", "demo", "--gold", "demo", "--predictions", "demo/prior", "--predictions", "demo/noisy"
    )
    assert (made.code, made.out.splitlines()[0]) == (0, "demo.sqlite: 147 tasks, 18 controls")
    links = karat_cli("verify", "invite", "demo.sqlite", "anna", "ben").out.splitlines()
    assert [line.split(": ")[0] for line in links] == ["anna", "ben"]
    assert all("/#/join/" in line for line in links)
    assert "links judged" in karat_cli("verify", "auto-judge", "demo.sqlite", "--kb", "starter", "--name", "rule").out
    report = karat_cli("verify", "report", "demo.sqlite", "--auto-judge", "rule", "--details", "--json", "r.jsonl")
    assert report.code == 0, report.err
    assert "judged by rule" in report.out
    assert [line for line in report.out.splitlines() if len(line) > 80] == []
    written_report = json.loads((tmp_path / "r.jsonl").read_text())
    schema_of("verify report").validate(written_report)
    assert written_report["judged_by"] == "rule"
    assert karat_cli("verify", "backup", "demo.sqlite", "--out", "b.jsonl.gz").code == 0
    assert karat_cli("verify", "restore", "b.jsonl.gz", "copy.sqlite").code == 0
    assert karat_cli("verify", "report", "copy.sqlite", "--auto-judge", "rule", "--details").out == report.out
    assert karat_cli("verify", "export", "demo.sqlite", "--out", "e.jsonl").code == 0
    assert "already present" in karat_cli("verify", "import", "copy.sqlite", "e.jsonl").out
    patch = karat_cli("verify", "overlay", "demo.sqlite", "--auto-judge", "rule", "--out", "o.jsonl")
    assert patch.out.startswith("add ")
    assert karat_cli("score", "demo", "demo/prior", "--overlay", "o.jsonl").code == 0
    assert karat_cli("verify", "anonymise", "demo.sqlite", "nobody").code == 2
    again = karat_cli("verify", "create", "demo", "--gold", "demo")
    assert (again.code, "an empty database" in again.err) == (2, True)
    assert karat_cli("verify", "report", "demo.sqlite", "--auto-judge", "rule", "--archive", "pages").code == 0
    assert len(list((tmp_path / "pages" / "verifications").iterdir())) == 1
    assert [(pair["source_a"], pair["source_b"]) for pair in written_report["pairs"]] == [
        ("gold", "prior"),
        ("gold", "noisy"),
        ("prior", "noisy"),
    ]
    assert "gold + prior" in report.out
    drawn = karat_cli("verify", "report", "demo.sqlite", "--auto-judge", "rule", "--figures", "figures")
    assert (drawn.code, drawn.err) == (0, "figures: 7 figures\n")
    assert sorted(path.name for path in (tmp_path / "figures").iterdir())[:2] == ["modified.svg", "precision-after.svg"]


@pytest.mark.extras
def test_an_overlay_needs_judgements_that_count(karat_cli, tmp_path, monkeypatch):
    """The program removes all links, so that it fails every control and all its judgements are discarded."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "remove.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        '    print(json.dumps({"decisions": [{"decision": "remove"}] * len(json.loads(line)["links"])}))\n'
    )
    create = ("verify", "create", "demo.sqlite", "--gold", "demo", "--predictions", "demo/prior")
    assert karat_cli(*create).out.startswith("demo.sqlite: ")
    overlay = ("verify", "overlay", "demo.sqlite", "--out", "o.jsonl")
    assert "demo.sqlite: no judgement counts. Let people judge." in karat_cli(*overlay).err
    judge = karat_cli("verify", "auto-judge", "demo.sqlite", "--program", f"{sys.executable} remove.py", "--name", "rm")
    assert judge.out.endswith(" of them in controls; 455 do not count, in batches with failed controls\n")
    ran = karat_cli(*overlay)
    assert (ran.code, (tmp_path / "o.jsonl").exists()) == (2, False)
    assert "no judgement counts (" in ran.err
    assert "of the automatic judge rm). Pass --auto-judge rm, or let people judge." in ran.err
    ran = karat_cli(*overlay, "--auto-judge", "rm")
    assert (ran.code, "455 in batches with failed controls" in ran.err) == (2, True)
    report = " ".join(karat_cli("verify", "report", "demo.sqlite", "--resamples", "0").out.split())
    assert "machine rm and people: no link has judgements of both that count" in report


@pytest.mark.extras
def test_a_program_reads_the_names_that_judges_see(karat_cli, tmp_path, monkeypatch):
    """The starter snapshot has the name of Q3012 that judges see by default, and the table another one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "entities.tsv").write_text("Q3012\tThe town of the tables\n")
    gold = karat.Corpus.from_documents([karat.Document("d", "Ulm is old.", (karat.Label(0, 3, "Q3012"),))])
    karat.save(gold, "gold.jsonl")
    (tmp_path / "judge.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    names = [link['name'] for link in json.loads(line)['links']]\n"
        "    print(*names, file=open('names.txt', 'a'))\n"
        '    print(json.dumps({"decisions": [{"decision": "verify"} for _ in names]}))\n'
    )
    judge = ("verify", "auto-judge", "ulm.sqlite", "--program", f"{sys.executable} judge.py", "--name")
    assert karat_cli("verify", "create", "ulm", "--gold", "gold.jsonl", "--controls", "none").code == 0
    assert karat_cli(*judge, "a").out == "a: 1 of 1 links judged\n"
    assert karat_cli(*judge, "b", "--kb", "tables").code == 0
    create = ("verify", "create", "own", "--gold", "gold.jsonl", "--controls", "none", "--kb", "tables")
    assert karat_cli(*create).code == 0
    assert karat_cli("verify", "auto-judge", "own.sqlite", *judge[3:], "c").code == 0
    assert (tmp_path / "names.txt").read_text().splitlines() == ["Ulm", *["The town of the tables"] * 2]
    by_names = karat_cli("verify", "auto-judge", "ulm.sqlite", "--kb", tmp_path / "tables")
    assert by_names.out.startswith("names of tables: "), "the path would get into reports and exports"
    ran = karat_cli(*judge, "a")
    assert ran.out == "a: 0 of 1 links judged\n"
    assert "a: 1 link keeps the decision of an earlier run. For new decisions, pass another --name." in ran.err
    ran = karat_cli("verify", "report", "ulm.sqlite", "--auto-judge", "c")
    assert "no automatic judge c decided on a link; only a and b did. Run" in ran.err


@pytest.mark.extras
def test_a_survey_from_new_to_weights(karat_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = karat_cli("verify", "create", "wanted", "--gold", "demo", "--kind", "survey")
    assert (made.code, made.out.splitlines()[0]) == (0, "wanted.sqlite: 50 tasks, 0 controls")
    assert made.err == ""
    gold = karat.Corpus.from_documents([karat.Document("d", "Ulm.", (karat.Label(0, 3, "Q1"),))])
    karat.save(gold, "plain.jsonl")
    plain = karat_cli("verify", "create", "plain", "--gold", "plain.jsonl", "--kind", "survey")
    assert (plain.code, "no link has categories, and weights of a survey are by category" in plain.err) == (0, True)
    shown = karat_cli("verify", "survey", "wanted.sqlite", "--json", "s.jsonl")
    assert (shown.code, "wanted: demo, 0 people" in shown.out) == (0, True)
    schema_of("verify survey").validate(json.loads((tmp_path / "s.jsonl").read_text()))
    for command in (["report"], ["auto-judge", "--kb", "starter"], ["overlay", "--out", "o.jsonl"]):
        ran = karat_cli("verify", command[0], "wanted.sqlite", *command[1:])
        assert (ran.code, "karat verify survey" in ran.err) == (2, True)
    ran = karat_cli("verify", "survey", "wanted.sqlite", "--membership", "w.toml")
    assert (ran.code, "wanted: no link with categories has an answer. Let people answer" in ran.err) == (2, True)
    ran = karat_cli("verify", "survey", "plain.sqlite", "--membership", "w.toml")
    assert (ran.code, "plain: no link has categories" in ran.err, "karat data categorise" in ran.err) == (2, True, True)
    ran = karat_cli("verify", "create", "x", "--gold", "demo", "--kind", "survey", "--allow-additions")
    assert (ran.code, "Remove these options" in ran.err) == (2, True)


@pytest.mark.extras
def test_links_to_the_lead_page_are_created_listed_and_revoked(karat_cli, tmp_path):
    from karat.protocols.verification.store.store import CampaignStore

    path = str(tmp_path / "demo.sqlite")
    store = CampaignStore.create(path, build_campaign(karat.load("demo"), [], name="demo"))
    ran = karat_cli("verify", "invite", path, "carla", "--lead", "--url", "https://example.org/")
    link, token = ran.out.strip().rsplit("/", 1)
    assert (link, ran.err) == ("carla: https://example.org/#/lead", "")
    assert store.is_lead_token(token)
    assert "lead page: carla, until 20" in karat_cli("verify", "judges", path).out
    assert karat_cli("verify", "revoke", path, "carla").code == 0
    assert not store.is_lead_token(token)
    ran = karat_cli("verify", "invite", path, "carla", "--lead")
    assert (ran.code, "revoke --lift" in ran.err) == (2, True)
    assert karat_cli("verify", "invite", path, "ben", "--lead", "--days", "0").code == 2
    store.start_session(store.create_invitation("anna"), True)
    ran = karat_cli("verify", "invite", path, "anna", "--lead")
    assert "anna is a judge" in ran.err
    store.database.close()


@pytest.mark.extras
def test_a_campaign_that_the_people_cannot_judge_is_refused_with_the_numbers(karat_cli, tmp_path):
    store = tmp_path / "few.sqlite"
    create = ("verify", "create", "few", "--gold", "demo", "--predictions", "demo/prior", "--store", store)
    ran = karat_cli(*create, "--people", "4")
    assert (ran.code, store.exists()) == (2, False)
    assert "100 judgements need 6 people with 20 tasks each, but --people is 4" in ran.err
    assert "raise --tasks-per-judge to 27" in ran.err  # 25 judgements, and 2 controls in blocks of 13 and 14
    ran = karat_cli(*create, "--people", "2", "--judges", "3")
    assert (ran.code, store.exists()) == (2, False)
    assert "3 people judge each link, but --people is 2" in ran.err
    assert karat_cli(*create, "--people", "4", "--tasks-per-judge", "26").code == 2
    assert karat_cli(*create, "--people", "4", "--tasks-per-judge", "27").code == 0


@pytest.mark.extras
def test_a_survey_that_the_people_cannot_answer_is_refused_with_the_numbers(karat_cli, tmp_path):
    """50 tasks: at least once each, or five times with --judges 5, which are 250 / 10 people."""
    store = tmp_path / "few.sqlite"
    create = ("verify", "create", "few", "--gold", "demo", "--kind", "survey", "--store", store)
    for options, message in {
        (
            "--people",
            "3",
            "--tasks-per-judge",
            "10",
        ): "50 judgements need 5 people with 10 tasks each, but --people is 3",
        ("--people", "24", "--judges", "5", "--tasks-per-judge", "10"): "250 judgements need 25 people",
        ("--people", "3", "--judges", "5"): "5 people judge each link, but --people is 3",
    }.items():
        ran = karat_cli(*create, *options)
        assert (ran.code, store.exists(), message in ran.err) == (2, False, True), ran.err
    ran = karat_cli(*create, "--people", "5", "--tasks-per-judge", "10")
    assert (ran.code, "50 judgements need 5 people with 10 tasks each" in ran.out) == (0, True)
