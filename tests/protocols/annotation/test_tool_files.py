"""Campaigns that go to an annotation tool and come back, and exports of tools that become campaigns."""

from __future__ import annotations

import json
import zipfile

import pytest

import karat
from karat import InputError, Label, Prediction, Response
from karat.data.load import load_annotations, load_annotators
from karat.model.document import Document
from karat.model.spec.annotations import AnnotatedCorpus, AnnotatedDocument, AnnotatorVersion, NotedLabels
from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit
from karat.protocols.annotation.gold import build_gold
from karat.protocols.annotation.store.imports import open_or_create
from karat.protocols.annotation.store.store import AnnotationStore
from karat.protocols.annotation.tool_files import build_annotated_corpus, count_unstored
from tests.protocols.annotation.projects import make_project, make_task, suggest
from tests.protocols.annotation.stored import decide_all, enter

pytestmark = pytest.mark.extras

ANN = Label(2, 5, "Q1", types=("PER",))
BOB = Label(10, 13, None, nil_cluster="Bob")
TEXT = "\U0001f600 Ann met Bob."
TOOLS = {"label-studio": "json", "inception": "zip", "inception-json": "zip"}


@pytest.fixture
def store(tmp_path):
    """A campaign: one document is adjudicated, one was skipped by an annotator and is in progress with another."""
    tasks = [make_task(0, TEXT, suggestions=suggest(ANN, Label(2, 5, "Q9"))), make_task(1, "Cy.", meta={"lang": "en"})]
    project = make_project(tasks, whitelist=("Q5",), prefill="all", sources=("prior",))
    store = AnnotationStore.create(str(tmp_path / "mine.sqlite"), project)
    anna, ben = enter(store, "anna"), enter(store, "ben")
    first, second = store.project.tasks
    for person, labels in ((anna, [ANN, BOB]), (ben, [ANN])):
        store.lease_document(person)
        edits = [LabelEdit(f"n{n}", AnnotatedLabel(label, "sure?" * n)) for n, label in enumerate(labels)]
        store.submit_change(person, first, "edit", 0, edits)
        store.finish(person, first, "finish")
        store.lease_document(person)
    store.skip(anna, second, "skip", "unclear")
    store.submit_change(ben, second, "edit", 0, [LabelEdit("n0", AnnotatedLabel(Label(0, 2, "Q2")))])
    workers = {worker: person for person, worker in store.get_workers().items()}
    assert decide_all(store, store.add_adjudicator("carla"), workers["anna"], "Bob is named") == 1
    yield store
    store.database.close()


def describe(store):
    """What a tool can hold of a campaign, by worker id."""
    return build_annotated_corpus(store.project, store.get_records(), None, store.get_workers())


@pytest.mark.parametrize("tool", TOOLS)
def test_a_campaign_comes_back_with_all_that_a_tool_holds(tool, store, karat_cli, tmp_path):
    path, new = tmp_path / f"out.{TOOLS[tool]}", tmp_path / "new.sqlite"
    ran = karat_cli("annotate", "export", store.database.label, "--out", path, "--to", tool, "--worker-ids")
    assert ran.code == 0, ran.err
    assert "not stored: changes with their times" in ran.err
    assert "reasons of adjudicators 1, systems behind suggestions 1, which stay in the project" in ran.err
    assert "2 documents (1 adjudicated)" in ran.err
    ran = karat_cli("annotate", "import", new, path)
    assert ran.code == 0, ran.err
    assert "finished documents of annotators 2" in ran.out
    assert "skipped documents 1" in ran.out
    assert "documents in progress 1" in ran.out
    assert "decisions of adjudicators 1" in ran.out
    again = AnnotationStore.open(str(new))
    mine, theirs = describe(store), describe(again)
    for item, other in zip(mine.documents, theirs.documents, strict=True):
        assert (other.document, other.gold, other.predictions) == (item.document, item.gold, item.predictions)
        assert sorted(other.versions, key=repr) == sorted(item.versions, key=repr)
    assert again.project.guidelines == store.project.guidelines
    assert again.options == store.options
    gold = [build_gold(s.project, s.get_records()) for s in (store, again)]
    assert gold[0].documents == gold[1].documents
    assert len(gold[0].documents) == 1
    again.database.close()


def test_pseudonyms_by_default(store, karat_cli, tmp_path):
    path = tmp_path / "out.json"
    assert karat_cli("annotate", "export", store.database.label, "--out", path, "--to", "label-studio").code == 0
    content = path.read_text()
    assert "anna" not in content
    assert all(person in content for person, worker in store.get_workers().items() if worker != "carla")


def test_the_folder_of_a_campaign_has_a_configuration(store, karat_cli, tmp_path):
    ran = karat_cli("annotate", "export", store.database.label, "--out", tmp_path / "ls", "--to", "label-studio")
    assert ran.code == 0, ran.err
    assert 'value="PER"' in (tmp_path / "ls" / "config.xml").read_text()
    annotated = load_annotations(str(tmp_path / "ls"))
    assert annotated is not None
    assert len(annotated.documents) == 2


def test_worker_ids_are_for_tools_only(store, karat_cli, tmp_path):
    ran = karat_cli("annotate", "export", store.database.label, "--out", tmp_path / "x.jsonl", "--worker-ids")
    assert ran.code == 2
    assert "--worker-ids is for files of annotation tools" in ran.err


def team(*versions, gold=None, predictions=None, text="Ann met Bob."):
    item = AnnotatedDocument(Document("d", text), versions, gold, predictions or {}, "export.json: task 1")
    return AnnotatedCorpus("team", (item,))


def version(name, *labels, status="done"):
    return AnnotatorVersion(name, NotedLabels(labels), status)


def test_an_export_becomes_a_campaign_to_adjudicate(tmp_path):
    target = str(tmp_path / "new.sqlite")
    predictions = {"sys": Response("d", (Prediction(0, 3, "Q1"), Prediction(8, 11, "Q3")))}
    annotated = team(version("anna", Label(0, 3, "Q1")), version("ben", Label(0, 3, "Q2")), predictions=predictions)
    counts = open_or_create(target, annotated, name="new")
    assert counts == {"finished documents of annotators": 2, "labels": 2, "annotators": 2}
    store = AnnotationStore.open(target)
    assert (store.options.name, store.options.annotators, store.options.prefill) == ("new", 2, "all")
    (task,) = store.project.tasks
    assert [(s.id, s.label.entity, s.sources) for s in task.suggestions] == [
        ("s0", "Q1", ("sys",)),
        ("s1", "Q3", ("sys",)),
    ]
    assert store.get_adjudicated(task).n_open == 1
    assert {s for _, s in store.list_states().items()} == {"done"}
    assert count_unstored(store.project, store.get_records())[
        "changes with their times (the file has the current labels)"
    ]
    store.database.close()
    with pytest.raises(InputError, match="d, anna: found labels that the project already has"):
        open_or_create(target, annotated)
    more = open_or_create(target, team(version("carla", Label(0, 3, "Q2"))))
    assert more == {"finished documents of annotators": 1, "labels": 1, "annotators": 1}


def test_adjudicated_labels_become_decisions_and_what_cannot_is_counted(tmp_path):
    gold = NotedLabels((Label(0, 3, "Q5"), Label(8, 11, "Q3")), {})
    annotated = team(version("anna", Label(0, 3, "Q1")), version("ben", Label(0, 3, "Q2")), gold=gold)
    counts = open_or_create(str(tmp_path / "new.sqlite"), annotated)
    assert counts["decisions of adjudicators"] == 1
    assert counts["adjudicated labels where no annotator marked anything (not imported)"] == 1
    store = AnnotationStore.open(str(tmp_path / "new.sqlite"))
    (document,) = build_gold(store.project, store.get_records()).documents
    assert document.labels == (Label(0, 3, "Q5"),)
    store.database.close()


@pytest.mark.parametrize(
    ("annotated", "message"),
    [
        (team(version("anna", Label(0, 3, "Q" * 3000))), "has an empty or very long text"),
        (
            team(version("anna", Label(0, 3, "Q1")), text="Another text."),
            "'d', which the project has with another text",
        ),
    ],
)
def test_nothing_is_stored_if_something_cannot_be(annotated, message, tmp_path):
    target = str(tmp_path / "new.sqlite")
    if "another" in message:
        open_or_create(target, team())
    with pytest.raises(InputError, match=message):
        open_or_create(target, annotated)
    if "another" in message:
        store = AnnotationStore.open(target)
        assert store.get_records() == []
        store.database.close()
    else:
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["gold.jsonl", "brat"])
def test_any_gold_standard_has_the_labels_of_an_annotator_with_a_name(name, karat_cli, tmp_path):
    label = Label(0, 3, "Q1", types=("PER",))
    corpus = karat.Corpus.from_documents([Document("d", "Ann met Bob.", (label,))])
    karat.save(corpus, tmp_path / name, format="brat" if name == "brat" else None)
    store = tmp_path / "new.sqlite"
    ran = karat_cli("annotate", "import", store, tmp_path / name)
    assert ran.code == 2
    assert "Pass --annotator NAME" in ran.err
    assert not store.exists()
    for annotator in ("anna", "ben"):
        ran = karat_cli("annotate", "import", store, tmp_path / name, "--annotator", annotator)
        assert ran.code == 0, ran.err
    out = tmp_path / "out.jsonl"
    assert karat_cli("annotate", "export", store, "--out", out).code == 0
    gold = karat.load(out)
    assert [document.labels for document in gold] == [(label,)]
    assert gold.name == "new"  # after the project, not the file, which is often called like the annotator
    assert gold.metadata["annotators-per-document"] == "2"
    assert gold.metadata["evaluation-spans"] == "document"
    assert "guidelines" not in gold.metadata  # nobody knows them


DOCCANO = {
    "anna.jsonl": '{"id": 7, "text": "Ann met Bob.", "label": [[0, 3, "PER"]], "Comments": []}\n',
    "ben.jsonl": '{"id": 7, "text": "Ann met Bob.", "label": [[0, 3, "LOC"], [8, 11, "PER"]], "Comments": []}\n',
}


def write_doccano(path, files=DOCCANO):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_doccano_names_annotators_by_the_files_of_its_zip_file(karat_cli, tmp_path):
    ran = karat_cli("annotate", "import", tmp_path / "new.sqlite", write_doccano(tmp_path / "export.zip"))
    assert ran.code == 0, ran.err
    assert "1 document, finished documents of annotators 2, labels 3, annotators 2" in ran.out
    assert [corpus.name for corpus in load_annotators(str(tmp_path / "export.zip"))] == ["anna", "ben"]


def test_doccano_files_are_imported_one_after_another_or_as_a_folder(karat_cli, tmp_path):
    folder = tmp_path / "unpacked"
    folder.mkdir()
    for name, content in DOCCANO.items():
        (folder / name).write_text(content)
        ran = karat_cli(
            "annotate", "import", tmp_path / "new.sqlite", folder / name, "--annotator", name.removesuffix(".jsonl")
        )
        assert ran.code == 0, ran.err
    store = AnnotationStore.open(str(tmp_path / "new.sqlite"))
    assert sorted(store.get_workers().values()) == ["anna", "ben"]
    store.database.close()
    ran = karat_cli("annotate", "import", tmp_path / "second.sqlite", folder, "--from", "doccano")
    assert "annotators 2" in ran.out


def test_files_that_name_their_document_are_paired_by_its_text(karat_cli, tmp_path):
    for name, columns in (("anna", "Ada\tB-PER\tQ7259"), ("ben", "Ada\tB-PER\tQ1")):
        (tmp_path / f"{name}.tsv").write_text(f"token\ttag\tid\n{columns}\nmet\tO\t_\n", encoding="utf-8")
        ran = karat_cli("annotate", "import", tmp_path / "new.sqlite", tmp_path / f"{name}.tsv", "--annotator", name)
        assert ran.code == 0, ran.err
    assert "documents paired by their text, since their ids differ 1, finished documents of annotators 1" in ran.out
    store = AnnotationStore.open(str(tmp_path / "new.sqlite"))
    assert [task.document for task in store.project.tasks] == ["anna.tsv"]
    store.database.close()


def test_a_second_file_without_annotator_is_refused_with_the_option(karat_cli, tmp_path):
    path = tmp_path / "anna.jsonl"
    path.write_text(DOCCANO["anna.jsonl"])
    assert karat_cli("annotate", "import", tmp_path / "new.sqlite", path).code == 0
    ran = karat_cli("annotate", "import", tmp_path / "new.sqlite", path)
    assert (ran.code, "--annotator NAME" in ran.err) == (2, True)
    archive = write_doccano(tmp_path / "export.zip")
    ran = karat_cli("annotate", "import", tmp_path / "x.sqlite", archive, "--annotator", "anna")
    assert (ran.code, "Remove --annotator" in ran.err) == (2, True)


@pytest.mark.parametrize("files", [{"anna.jsonl": ""}, {"config.json": "{}"}])
def test_an_export_without_documents_leaves_no_project(files, karat_cli, tmp_path):
    ran = karat_cli("annotate", "import", tmp_path / "new.sqlite", write_doccano(tmp_path / "export.zip", files))
    assert ran.code == 2
    assert "no document" in ran.err
    assert not (tmp_path / "new.sqlite").exists()


def test_doccano_files_of_different_texts_are_refused(karat_cli, tmp_path):
    files = {**DOCCANO, "ben.jsonl": DOCCANO["ben.jsonl"].replace("Bob", "Tim")}
    ran = karat_cli("annotate", "import", tmp_path / "new.sqlite", write_doccano(tmp_path / "export.zip", files))
    assert (ran.code, "another text of the document '7'" in ran.err) == (2, True)


def test_texts_and_suggestions_of_a_new_campaign_come_from_an_export(karat_cli, tmp_path):
    path, store = tmp_path / "export.json", tmp_path / "new.sqlite"
    region = {"id": "a", "from_name": "label", "to_name": "text", "type": "labels"}
    result = [{**region, "value": {"start": 0, "end": 3, "labels": ["PER"]}}]
    annotations = [{"completed_by": n, "result": result[: n - 1]} for n in (1, 2)]
    task = {"id": 1, "data": {"text": "Ann met Bob."}, "annotations": annotations}
    path.write_text(json.dumps([{**task, "predictions": [{"model_version": "m", "result": result}]}]))
    ran = karat_cli("annotate", "create", "new", "--texts", path, "--predictions", path, "--store", store)
    assert ran.code == 0, ran.err
    assert "1 document of 1, 12 characters to annotate, 1 suggestion" in ran.out
