"""Campaigns and surveys created in a notebook, with the defaults of each kind."""

from __future__ import annotations

import json

import pytest

import karat
from karat.model.errors import InputError, UsageError
from karat.protocols.verification.campaign import UNLIMITED_JUDGES
from karat.protocols.verification.campaign_builder import PRIORITIES
from karat.protocols.verification.creation import NewCampaign, create_campaign, lacks_controls
from karat.protocols.verification.guidelines import CONSENT, SURVEY_CONSENT

pytestmark = pytest.mark.extras


@pytest.fixture(scope="module")
def demo():
    return karat.load("demo"), [karat.load_run("demo/noisy"), karat.load_run("demo/prior")]


def test_each_kind_has_its_defaults(demo):
    campaign = create_campaign("c", *demo).options
    survey = create_campaign("s", *demo, NewCampaign(kind="survey")).options
    assert (campaign.kind, campaign.judges, campaign.batch, campaign.lease) == ("verify", 1, 20, 1800)
    assert (survey.kind, survey.judges, survey.batch) == ("survey", UNLIMITED_JUDGES, 0)
    assert (campaign.consent, survey.consent) == (CONSENT, SURVEY_CONSENT)


def test_a_campaign_without_controls_has_none(demo):
    options = NewCampaign(controls="none")
    campaign = create_campaign("c", *demo, options)
    assert not any(task.is_control for task in campaign.tasks)
    assert not lacks_controls(campaign, options)  # none were wanted


@pytest.mark.parametrize("priority", PRIORITIES)
@pytest.mark.parametrize("tasks_per_judge", [None, 0])
def test_controls_do_not_depend_on_the_limit_and_the_priority(demo, tasks_per_judge, priority):
    campaign = create_campaign("c", *demo, NewCampaign(tasks_per_judge=tasks_per_judge, priority=priority))
    controls = [task for task in campaign.tasks if task.is_control]
    passages = {(task.document, task.start) for task in campaign.tasks if not task.is_control}
    assert len(controls) > 5
    assert {(task.document, task.start) for task in controls} <= passages
    is_selective = priority in ("false-positives", "disagreements")
    untested = [link for task in controls for link in task.links if not link.correct]
    assert bool(untested) is not is_selective, "tasks that show only some links are short"
    assert campaign.options.controls == 1


def test_missing_controls_are_known(demo):
    corpus = karat.Corpus.from_documents([karat.Document("d", "Ada.", (karat.Label(0, 3, "Q1"),))])
    assert lacks_controls(create_campaign("c", corpus, []), NewCampaign())
    assert not lacks_controls(create_campaign("c", *demo), NewCampaign())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (NewCampaign(kind="survey", priority="disagreements"), "a survey has no controls"),
        (NewCampaign(kind="survey", controls="controls.jsonl"), "a survey has no controls"),
        (NewCampaign(judges=0), "too small"),
        (NewCampaign(lease=0), "too small"),
        (NewCampaign(passage_length=19), "too small"),
        (NewCampaign(tasks_per_judge=-1), "too small"),
    ],
)
def test_impossible_options_are_refused(demo, options, message):
    with pytest.raises(UsageError, match=message):
        create_campaign("c", *demo, options)


def test_files_replace_controls_and_texts(demo, tmp_path):
    link = {"start": 0, "end": 3, "entity": "Q1", "correct": ["verify"]}
    (tmp_path / "controls.jsonl").write_text(json.dumps({"text": "Ada Bob Cem", "links": [link]}) + "\n")
    (tmp_path / "consent.txt").write_text("I agree.")
    options = NewCampaign(controls=str(tmp_path / "controls.jsonl"), consent=str(tmp_path / "consent.txt"))
    campaign = create_campaign("c", *demo, options)
    assert {task.text for task in campaign.tasks if task.is_control} == {"Ada Bob Cem"}
    assert campaign.options.consent == "I agree."
    (tmp_path / "controls.jsonl").write_text("")
    with pytest.raises(InputError, match=r"controls\.jsonl: found no control task"):
        create_campaign("c", *demo, options)
    (tmp_path / "controls.jsonl").write_text("no JSON\n")
    with pytest.raises(InputError, match=r"controls\.jsonl:1"):
        create_campaign("c", *demo, options)
    for change, defect in (
        ({"correct": []}, r"no correct decision in links\[1\]"),
        ({"end": 12}, r"the span \[0, 12\) of links\[1\], but a text of 11 characters"),
    ):
        (tmp_path / "controls.jsonl").write_text(json.dumps({"text": "Ada Bob Cem", "links": [link, link | change]}))
        with pytest.raises(InputError, match=rf"controls\.jsonl:1: found {defect}"):
            create_campaign("c", *demo, options)


def test_an_automatic_judge_decides_by_names_or_a_program(demo, tmp_path):
    from karat.protocols.verification.auto_judging import judge_campaign
    from karat.protocols.verification.store.store import CampaignStore

    store = CampaignStore.create(str(tmp_path / "c.sqlite"), create_campaign("c", *demo))
    with pytest.raises(UsageError, match="Pass --kb or --program"):
        judge_campaign(store, label="nothing")
    judged = judge_campaign(store, label="names", kb=karat.open_kb("starter"))
    assert 0 < judged.decided <= judged.links
    assert len([record for record in store.get_records() if record.machine == "names"]) == judged.decided
    repeated = judge_campaign(store, label="names", kb=karat.open_kb("starter"))
    assert (repeated.decided, repeated.repeated) == (0, judged.decided)
    store.database.close()


@pytest.mark.parametrize("field", ["consent", "guidelines"])
def test_an_empty_text_for_judges_is_refused(demo, tmp_path, field):
    empty = tmp_path / "empty.txt"
    empty.write_text(" \n")
    with pytest.raises(InputError, match="an empty file"):
        create_campaign("c", *demo, NewCampaign(**{field: str(empty)}))


def test_judges_search_the_knowledge_base_of_the_campaign(karat_cli, tmp_path, monkeypatch):
    """The folder of tables becomes a temporary snapshot, so that its names are shown and found."""
    from karat.cli.verify import serve
    from karat.protocols.verification.store.store import CampaignStore
    from karat.web.judging import app

    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "entities.tsv").write_text("Q64\tThe capital of the tables\n")
    monkeypatch.chdir(tmp_path)
    create = ("verify", "create", "toy", "--gold", "demo", "--predictions", "demo/prior", "--kb", "tables")
    assert karat_cli(*create).code == 0
    store = CampaignStore.open("toy.sqlite")
    assert store.options.kb_location == str(folder)
    configs = []
    monkeypatch.setattr(serve, "serve_campaign", lambda *_: None)
    monkeypatch.setattr(app, "create_app", configs.append)
    assert karat_cli("verify", "serve", "toy.sqlite").code == 0
    assert karat_cli("verify", "serve", "toy.sqlite", "--kb", "starter").code == 0
    assert [config.snapshot.name for config in configs] == ["tables", "starter"]
    snapshot = configs[0].snapshot
    assert snapshot.names(["Q64"]) == ["The capital of the tables"]
    assert [match.id for match in snapshot.name_index.find_by_prefix("The capital", 5)] == ["Q64"]


def test_an_archive_with_a_report_of_judges_only_is_shown(karat_cli, tmp_path, monkeypatch):
    from karat.storage.content_store import FolderStore
    from karat.web.archive.archive import Archive
    from karat.web.archive.leaderboard import build_leaderboard
    from karat.web.archive.resource import build_resource, list_resources

    monkeypatch.chdir(tmp_path)
    assert karat_cli("verify", "create", "toy", "--gold", "demo", "--predictions", "demo/prior").code == 0
    assert karat_cli("verify", "report", "toy.sqlite", "--archive", "archive", "--resamples", "0").code == 0
    archive = Archive(FolderStore.open_or_create("archive"))
    assert build_leaderboard(archive).has_verification
    assert "verification" in list_resources(archive)
    assert b'"campaign":"toy"' in build_resource(archive, "verification")
