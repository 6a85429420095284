"""The commands that create projects, report on them and export gold standards, as people use them."""

from __future__ import annotations

import json

import pytest

import karat
from karat import Label
from tests.render.test_schemas import schema_of

pytestmark = pytest.mark.extras

TEXTS = {"one": "Ann met Bob.", "two": "Bob left.\n\nAnn stayed.", "three": "Nothing here."}


@pytest.fixture
def texts(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def store(karat_cli, texts, tmp_path):
    """A project that two annotators finished, with one disagreement."""
    from karat.protocols.annotation.store.store import AnnotationStore
    from tests.protocols.annotation.stored import annotate_all, enter

    path = tmp_path / "mine.sqlite"
    assert karat_cli("annotate", "create", "mine", "--texts", texts, "--store", path).code == 0
    project = AnnotationStore.open(str(path))
    shared = {"one": [Label(0, 3, "Q1")], "two": [Label(0, 3, "Q2")]}
    annotate_all(project, enter(project, "anna"), {**shared, "one": [Label(0, 3, "Q1"), Label(8, 11, "Q2")]})
    annotate_all(project, enter(project, "ben"), shared)
    project.database.close()
    return path


def adjudicate(path, choice: str = "anna") -> None:
    from karat.protocols.annotation.store.store import AnnotationStore
    from tests.protocols.annotation.stored import decide_all

    project = AnnotationStore.open(str(path))
    workers = {worker: pseudonym for pseudonym, worker in project.get_workers().items()}
    assert decide_all(project, project.add_adjudicator("carla"), workers[choice], "Bob is named") == 1
    project.database.close()


def test_from_three_texts_to_a_gold_standard(karat_cli, store, tmp_path):
    ran = karat_cli("annotate", "report", store, "--json", tmp_path / "report.json", "--resamples", 50)
    assert ran.code == 0
    assert "mine: 3 documents, 2 annotators each, round 1" in ran.out
    assert "gold standard: 2 documents, 1 label (agreed regions 2, undecided regions 1" in " ".join(ran.out.split())
    report = json.loads((tmp_path / "report.json").read_text())
    schema_of("annotate report").validate(report)
    assert report["agreement"]["spans"]["value"] == pytest.approx(0.8)
    out = tmp_path / "gold.jsonl"
    ran = karat_cli("annotate", "export", store, "--out", out)
    assert (ran.code, ran.err.count("\n"), out.exists()) == (2, 1, False)
    assert "2 of 3 documents are adjudicated" in ran.err
    assert karat_cli("annotate", "round", store).code == 2
    adjudicate(store)
    ran = karat_cli("annotate", "export", store, "--out", out, "--resamples", 0)
    assert (ran.code, ran.out) == (0, "")
    gold = karat.load(out)
    assert [(document.id, len(document.labels)) for document in gold] == [("one", 2), ("three", 0), ("two", 1)]
    assert gold.metadata["agreement"].startswith("F1 of spans 0.800")
    assert gold.metadata["guidelines"].startswith("fair@")
    assert karat_cli("data", "lint", out, "--types", "fair").code == 0
    ran = karat_cli("annotate", "round", store, "--dry-run")
    assert "round 2 (not started)" in ran.out
    assert "1 documents to go over" in ran.out
    ran = karat_cli("annotate", "round", store)
    assert "round 2: " in ran.out


def test_one_annotator_is_exported_under_a_pseudonym(karat_cli, store, tmp_path):
    report = json.loads(karat_cli("annotate", "report", store, "--json", "-", "--resamples", 0).out)
    names = [record["annotator"] for record in report["annotators"]]
    for name in names:
        ran = karat_cli("annotate", "export", store, "--annotator", name, "--out", tmp_path / f"{name}.jsonl")
        assert ran.code == 0
    first, second = (tmp_path / f"{name}.jsonl" for name in names)
    ran = karat_cli("agreement", first, second)
    assert ran.code == 0
    assert "80.0" in ran.out
    assert karat_cli("annotate", "export", store, "--annotator", "anna", "--out", tmp_path / "anna.jsonl").code == 0
    assert (tmp_path / "anna.jsonl").read_bytes() in (first.read_bytes(), second.read_bytes())
    ran = karat_cli("annotate", "export", store, "--annotator", "nora", "--out", tmp_path / "x.jsonl")
    assert (ran.code, f"Pass one of {', '.join(sorted(names))}" in ran.err) == (2, True)


def test_losses_are_listed_before_anything_is_written(karat_cli, store, tmp_path):
    adjudicate(store)
    ran = karat_cli("annotate", "export", store)
    assert ran.code == 0
    assert "karat-jsonl" in ran.out
    assert "(holds everything)" in ran.out
    out = tmp_path / "gold.csv"
    ran = karat_cli("annotate", "export", store, "--out", out, "--to", "bat-csv")
    assert (ran.code, ran.err.count("\n"), out.exists()) == (2, 1, False)
    assert "cannot hold: meta of documents 3" in ran.err
    ran = karat_cli("annotate", "export", store, "--out", out, "--to", "bat-csv", "--allow-losses")
    assert (ran.code, out.exists()) == (0, True)
    assert "not stored: meta of documents 3" in ran.err
    ran = karat_cli("annotate", "export", store, "--out", tmp_path / "gold.ttl", "--allow-losses")
    assert (ran.code, "Add --base IRI" in ran.err) == (2, True)


def test_guidelines_are_versioned(karat_cli, store, tmp_path):
    assert karat_cli("annotate", "guidelines").out.split("@")[0] == "fair"
    text = karat_cli("annotate", "guidelines", "fair").out
    assert karat_cli("annotate", "guidelines", store).out == text
    (tmp_path / "mine.md").write_text(text + "\nMark all.\n", encoding="utf-8")
    ran = karat_cli("annotate", "guidelines", store, "--replace", tmp_path / "mine.md")
    assert (ran.code, "guidelines mine@" in ran.out) == (0, True)
    assert karat_cli("annotate", "guidelines", store).out.endswith("Mark all.\n")
    ran = karat_cli("annotate", "guidelines", store, "--all")
    assert ran.out.startswith("fair@")
    assert "mine@" in ran.out
    assert " since 20" in ran.out
    assert karat_cli("annotate", "guidelines", "fair", "--all").code == 2
    assert karat_cli("annotate", "guidelines", store, "--replace", "fare").code == 2


def test_suggestions_of_runs_and_systems(karat_cli, tmp_path):
    ran = karat_cli(
        *("annotate", "create", "demo", "--texts", "demo", "--predictions", "demo", "--prefill", "half"),
        *("--documents", 6, "--span", "paragraphs", "--store", tmp_path / "demo.sqlite"),
    )
    assert ran.code == 0
    assert "6 documents of 50" in ran.out
    assert "predictions in documents that were not drawn" in ran.out
    ran = karat_cli(
        *("annotate", "create", "system", "--texts", "demo", "--system", "popular", "--kb", "starter"),
        *("--documents", 2, "--store", tmp_path / "system.sqlite"),
    )
    assert ran.code == 0
    assert "suggestions: " in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--texts", "nowhere.txt"), "no such file"),
        (("--texts", "demo", "--documents", 51), "from 1 to 50"),
        (("--texts", "demo", "--span", "given"), "no evaluation span"),
        (("--texts", "demo", "--paragraphs", 2), "--paragraphs"),
        (("--texts", "demo", "--prefill", "half"), "needs suggestions"),
        (("--texts", "demo", "--guidelines", "fare"), "Did you mean 'fair'"),
        (("--texts", "demo", "--types", "nowhere.tsv"), "no such file"),
        (("--texts", "demo", "--consent", "nowhere.txt"), "no such file"),
        (("--texts", "demo", "--system", "oracle"), "needs gold labels"),
        (("--texts", "demo", "--system", "command:false"), "fails on every document"),
        (("--texts", "demo", "--kb", "nowhere"), "no snapshot of this name"),
        (("--texts", "demo", "--annotators", 0), "too small"),
        (("--texts", "a.txt", "b.txt"), "unexpected arguments: b.txt. Repeat --texts"),
        ((), "--texts"),
    ],
)
def test_bad_input_leaves_nothing_behind(karat_cli, tmp_path, arguments, message):
    ran = karat_cli("annotate", "create", "x", *arguments, "--store", tmp_path / "x.sqlite")
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert list(tmp_path.iterdir()) == []


def test_an_existing_project_is_not_overwritten(karat_cli, store, texts):
    before = store.read_bytes()
    ran = karat_cli("annotate", "create", "mine", "--texts", texts, "--store", store)
    assert ran.code == 2
    assert store.read_bytes() == before


def test_plan(karat_cli, tmp_path):
    ran = karat_cli(
        "annotate", "plan", "demo", "--gold", "demo", "--difference", 0.05, "--json", tmp_path / "plan.json"
    )
    assert ran.code == 0
    assert "documents suffice for every pair" in " ".join(ran.out.split())
    schema_of("annotate plan").validate(json.loads((tmp_path / "plan.json").read_text()))
    ran = karat_cli("annotate", "plan", "demo", "--gold", "demo", "--difference", 2)
    assert (ran.code, ran.err.count("\n")) == (2, 1)


@pytest.mark.parametrize("command", ["report", "export", "round", "guidelines"])
def test_a_file_that_is_no_project(karat_cli, tmp_path, command):
    ran = karat_cli("annotate", command, tmp_path / "missing.sqlite")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert not (tmp_path / "missing.sqlite").exists()


def test_links_to_the_lead_page_are_created_listed_and_revoked(karat_cli, store):
    from karat.protocols.annotation.store.store import AnnotationStore

    ran = karat_cli("annotate", "invite", store, "lena", "--lead")
    token = ran.out.strip().rpartition("/")[2]
    opened = AnnotationStore.open(str(store))
    assert opened.is_lead_token(token)
    assert "lead page: lena, until 20" in karat_cli("annotate", "annotators", store).out
    assert karat_cli("annotate", "revoke", store, "lena").code == 0
    assert not opened.is_lead_token(token)
    assert karat_cli("annotate", "invite", store, "x", "--lead", "--adjudicator").code == 2
    opened.database.close()
