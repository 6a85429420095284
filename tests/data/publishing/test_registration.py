"""Datasets that users add have names, versions and splits as the built-in ones do."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

import karat
from karat import Corpus, Document, InputError, Label, UnknownNameError, UsageError
from karat.data.catalogue import describe_newer_version, list_datasets
from karat.data.publishing import registration
from karat.data.publishing.manifest import DatasetMetadata, read_added_manifest
from karat.data.publishing.registration import (
    SplitChange,
    add_version,
    build_publication,
    install_folder,
    remove_dataset,
)
from karat.render.data.publishing import render_addition
from karat.storage.content_store import FolderStore
from karat.web.archive.archive import Archive
from tests.strategies import pairs

ONE = Corpus.from_documents([Document("d", "Ulm is old.", (Label(0, 3, "Q3012"),))], name="one", licence="CC0")
TWO = Corpus.from_documents([Document("d", "Ulm is old.", (Label(0, 3, "Q1"),))], name="two")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "datasets"


def add(name="mine", corpus=ONE, **options):
    return add_version(build_publication(name, {"all": corpus}, **options))


def list_files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) if folder.exists() else []


@given(pairs())
def test_a_dataset_that_was_added_loads_as_the_same_corpus(pair):
    corpus = replace(pair[0], metadata={"title": "T", "language": "de", "note": "x"})
    add("drawn", corpus)
    loaded = karat.load("drawn")
    assert (loaded.name, loaded.digest, loaded.metadata) == ("drawn@1", corpus.digest, dict(corpus.metadata))
    assert list(loaded) == list(corpus)
    remove_dataset("drawn")


def test_names_versions_and_splits(home):
    add(metadata=DatasetMetadata(citation="Me 2026", licence="CC BY 4.0"))
    add_version(build_publication("mine", {"dev": ONE, "test": TWO}, version="2", changes="Two splits."))
    assert karat.load("mine@1").name == "mine@1"
    assert karat.load("mine@1").metadata["licence"] == "CC BY 4.0"
    assert karat.load("mine").name == karat.load("mine/test").name == "mine@2/test"
    assert karat.load("mine@2/dev").digest == ONE.digest
    assert "mine" in list_datasets()
    assert read_added_manifest("mine").versions["2"].metadata.citation == "Me 2026"
    with pytest.raises(UnknownNameError, match="unknown split"):
        karat.load("mine@2/tset")
    with pytest.raises(UnknownNameError, match="unknown version of mine '3'"):
        karat.load("mine@3")
    add_version(build_publication("mine", {"a": ONE, "b": TWO}, version="3"))
    with pytest.raises(UsageError, match=r"mine has several splits\. Name one: mine@3/a, mine@3/b"):
        karat.load("mine")


def test_a_missing_split_is_named(tmp_path):
    """Version 2 has the corrected test split only; version 3 joins both splits, so no document is missing."""
    dev, test = (Corpus.from_documents([Document(id, "Ulm is old.", (Label(0, 3, "Q3012"),))]) for id in "ab")
    add_version(build_publication("mine", {"dev": dev, "test": test}))
    second = add_version(build_publication("mine", {"test": test}, version="2"))
    assert second.missing_splits == ("dev",)
    page = render_addition(second)
    assert "this version does not have the documents of mine@1/dev" in page
    assert "karat data remove mine --version 2" in page
    assert "--split dev=mine@1/dev --split test=FILE" in page
    remove_dataset("mine", "2")
    joined = Corpus.from_documents([*dev, *test])
    assert add_version(build_publication("mine", {"all": joined}, version="3")).missing_splits == ()


def test_documents_that_change_their_split_are_named(tmp_path):
    """Version 2 moves `b` from dev to test; version 3 corrects a label of `b` and keeps it there."""
    a, b, c = (Document(id, "Ulm is old.", (Label(0, 3, "Q3012"),)) for id in "abc")
    corrected = Document("b", "Ulm is old.", (Label(0, 3, "Q1"),))
    corpus = Corpus.from_documents
    add_version(build_publication("mine", {"dev": corpus([a, b]), "test": corpus([c])}))
    moved = add_version(build_publication("mine", {"dev": corpus([a]), "test": corpus([b, c])}, version="2"))
    assert (moved.older, moved.split_changes) == ("1", (SplitChange("b", "dev", "test"),))
    warning = "1 document in another split than in mine@1, so its predictions do not fit: b (dev → test)"
    assert warning in render_addition(moved)
    kept = add_version(build_publication("mine", {"dev": corpus([a]), "test": corpus([corrected, c])}, version="3"))
    assert kept.split_changes == ()
    assert "warning" not in render_addition(kept)


def test_the_newest_version_is_the_largest_number_or_the_last_one():
    for version in ("2", "1.10", "1.9"):
        add(version=version)
    assert list(read_added_manifest("mine").versions) == ["1.9", "1.10", "2"]
    assert karat.load("mine").name == "mine@2"
    add(version="final")
    assert karat.load("mine").name == "mine@final"


def test_removal_leaves_nothing(home):
    add()
    add(version="2", corpus=TWO)
    assert remove_dataset("mine", "1") == ("1",)
    assert list_files(home) == ["mine", "mine/2", "mine/2/all.jsonl", "mine/dataset.json"]
    assert karat.load("mine").name == "mine@2"
    assert remove_dataset("mine", "2") == ("2",)
    assert list_files(home) == []
    add()
    (home / "mine" / "dataset.json").write_text("{}", encoding="utf-8")  # damaged, and still removable
    assert remove_dataset("mine") == ()
    assert list_files(home) == []
    with pytest.raises(UnknownNameError, match="unknown dataset 'mine'"):
        remove_dataset("mine")


def test_a_failure_leaves_the_catalogue_as_it_was(home, monkeypatch):
    add()
    before = list_files(home)

    def fail(*_):
        raise OSError(28, "No space left on device")

    for name in ("write_durably", "move_into_place"):
        with monkeypatch.context() as patch:
            patch.setattr(registration, name, fail)
            for dataset in ("mine", "new"):
                with pytest.raises(UsageError, match=r"cannot be written \(No space left on device"):
                    add(dataset, version="2")
        assert list_files(home) == before
    assert karat.load("mine").digest == ONE.digest


def test_concurrent_additions_all_arrive(home):
    errors = []

    def run(version):
        try:
            add(version=version)
        except UsageError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=run, args=[str(1 + number % 6)]) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(read_added_manifest("mine").versions) == ["1", "2", "3", "4", "5", "6"]
    assert len(errors) == 6
    assert all("exists, and a version never changes" in error for error in errors)
    assert not list(home.rglob(".*"))


def test_additions_of_several_processes_all_arrive(home, tmp_path):
    karat.save(ONE, tmp_path / "gold.jsonl")
    arguments = [sys.executable, "-m", "karat", "data", "add", str(tmp_path / "gold.jsonl"), "--name", "mine"]
    processes = [subprocess.Popen([*arguments, "--version", str(number)], stdout=-3) for number in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert sorted(read_added_manifest("mine").versions) == ["0", "1", "2"]


def test_a_published_folder_is_installed_elsewhere(home, tmp_path, monkeypatch):
    add()
    add(version="2", corpus=TWO)
    shutil.copytree(home / "mine", tmp_path / "copy")
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "other"))
    addition = install_folder(tmp_path / "copy")
    assert (addition.added, addition.present) == (("1", "2"), ())
    assert list_files(tmp_path / "other" / "datasets") == list_files(home)
    assert karat.load("mine@1").digest == ONE.digest
    assert install_folder(tmp_path / "copy").present == ("1", "2")
    assert install_folder(tmp_path / "copy", "yours").added == ("1", "2")
    assert karat.load("yours").name == "yours@2"
    remove_dataset("mine", "1")
    add(version="1", corpus=TWO)
    with pytest.raises(UsageError, match="mine@1 exists with other content than"):
        install_folder(tmp_path / "copy")


def test_each_version_is_published_in_its_own_folder_and_read_back_next_to_the_other(
    home, karat_cli, tmp_path, monkeypatch
):
    """Version 1 has one label, and version 2 two."""
    for version, labels in (("1", (Label(0, 5, "Q90"),)), ("2", (Label(0, 5, "Q90"), Label(11, 15, "Q456")))):
        corpus = Corpus.from_documents([Document("d", "Paris beat Lyon.", labels)])
        add_version(build_publication("mine", {"test": corpus}, version=version))
    assert karat_cli("data", "sheet", "mine", "--version", "1", "--out", tmp_path / "one").code == 0
    before = {path: path.read_bytes() for path in (tmp_path / "one").rglob("*") if path.is_file()}
    ran = karat_cli("data", "sheet", "mine", "--version", "2", "--out", tmp_path / "one")
    assert ran.code == 2
    message = " ".join(ran.err.split())
    assert "one contains mine@1, and a published version never changes. Name a new folder for each version." in message
    assert before == {path: path.read_bytes() for path in (tmp_path / "one").rglob("*") if path.is_file()}
    assert karat_cli("data", "sheet", "mine", "--version", "2", "--out", tmp_path / "two").code == 0
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "elsewhere"))
    with pytest.raises(InputError, match=r"a published dataset, with a dataset\.json.*karat data add"):
        karat.load(tmp_path / "one")
    for folder in ("two", "one"):
        assert karat_cli("data", "add", tmp_path / folder).code == 0
    assert [len(karat.load(f"mine@{version}").labels) for version in "12"] == [1, 2]
    assert len(karat.load("mine").labels) == 2, "the newest version, whatever the order of installation"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda manifest: manifest.update(layout="karat-published/9"), "written by a newer Karat"),
        (lambda manifest: manifest.update(name="../evil"), "'../evil' is not a valid dataset name"),
        (lambda manifest: manifest.update(versions={}), "there is no version"),
        (
            lambda manifest: manifest["versions"].update({"..": manifest["versions"]["1"]}),
            "'..' is not a valid version",
        ),
        (
            lambda manifest: manifest["versions"]["1"]["splits"]["all"]["file"].update(path="1/../../secret"),
            "'1/../../secret' is not a file of the folder '1'",
        ),
        (lambda manifest: manifest["versions"]["1"]["splits"]["all"]["file"].update(sha256="0"), "expected SHA-256 0"),
        (lambda manifest: manifest.update(surprise=1), "an invalid manifest"),
    ],
)
def test_a_folder_with_an_invalid_manifest_is_refused(change, message, home, tmp_path):
    add()
    shutil.move(home / "mine", tmp_path / "copy")
    manifest = json.loads((tmp_path / "copy" / "dataset.json").read_bytes())
    change(manifest)
    (tmp_path / "copy" / "dataset.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        install_folder(tmp_path / "copy")
    assert list_files(home) == []


def test_a_changed_file_is_not_loaded(home):
    add()
    (home / "mine" / "1" / "all.jsonl").write_text('{"id":"d","text":"Ulm is new."}\n', encoding="utf-8")
    with pytest.raises(InputError, match="Restore the file, or add its content as another version"):
        karat.load("mine")
    (home / "mine" / "1" / "all.jsonl").unlink()
    with pytest.raises(UsageError, match="a file is missing"):
        karat.load("mine")


def test_what_a_new_version_does_not_state_is_that_of_the_version_before(tmp_path, home):
    (tmp_path / "rules.md").write_text("Mark names.", encoding="utf-8")
    add(metadata=DatasetMetadata(title="Mine", creators=("A",)), guidelines=[str(tmp_path / "rules.md")])
    add(version="2", corpus=TWO, metadata=DatasetMetadata(title="Ours"))
    version = read_added_manifest("mine").versions["2"]
    assert (version.metadata.title, version.metadata.creators, version.metadata.licence) == ("Ours", ("A",), "CC0")
    assert (home / "mine" / version.guidelines[0].path).read_text(encoding="utf-8") == "Mark names."
    assert version.guidelines[0].path == "2/rules.md"


def test_a_new_version_has_the_stated_guidelines_and_agreement_of_the_version_before(karat_cli, tmp_path):
    stated = {"guidelines": "fair@1", "guidelines fair@1": "Mark names.", "agreement": "F1 0.9", "gold: documents": "1"}
    add(corpus=replace(ONE, metadata=stated))
    karat.save(TWO, tmp_path / "test.jsonl")
    ran = karat_cli("data", "add", "--name", "mine", "--version", "2", "--split", f"test={tmp_path / 'test.jsonl'}")
    assert ran.code == 0, ran.err
    (split,) = read_added_manifest("mine").versions["2"].splits.values()
    assert {key: split.metadata.get(key) for key in stated} == {**stated, "gold: documents": None}
    sheet = karat_cli("data", "sheet", "mine@2").out
    assert "fair@1" in sheet
    assert "agreement of annotators" not in sheet.split("## Unknown")[1]


def test_a_new_version_that_states_its_own_guidelines_keeps_them():
    add(corpus=replace(ONE, metadata={"guidelines": "fair@1", "agreement": "F1 0.9"}))
    add(corpus=replace(TWO, metadata={"guidelines": "mine@2"}), version="2")
    (split,) = read_added_manifest("mine").versions["2"].splits.values()
    assert (split.metadata["guidelines"], "agreement" in split.metadata) == ("mine@2", False)


def test_a_folder_of_parts_without_description_asks_for_splits(karat_cli, tmp_path):
    (tmp_path / "parts").mkdir()
    for name in ("dev", "test"):
        karat.save(ONE, tmp_path / "parts" / f"{name}.jsonl")
    ran = karat_cli("data", "add", tmp_path / "parts", "--name", "mine")
    assert ran.code == 2
    assert "--split train=FILE --split test=FILE" in ran.err


def test_the_name_of_a_later_plugin_is_an_error_and_not_another_dataset(home):
    add()
    shutil.move(home / "mine", home / "kore50")
    manifest = (home / "kore50" / "dataset.json").read_text(encoding="utf-8").replace('"mine"', '"kore50"')
    (home / "kore50" / "dataset.json").write_text(manifest, encoding="utf-8")
    with pytest.raises(UsageError, match="a dataset of Karat is called kore50, too"):
        karat.load("kore50")
    assert install_folder(home / "kore50", "mine").added == ("1",)
    assert remove_dataset("kore50") == ("1",)
    assert karat.load("mine").digest == ONE.digest


def test_results_on_an_older_version_say_so(karat_cli, tmp_path):
    demo = karat.load("demo")
    add("bench", demo)
    result = tmp_path / "result.json"
    assert karat_cli("score", "bench", "demo/prior", "demo/noisy", "--json", result).code == 0
    assert "newest" not in karat_cli("compare", result).out
    add("bench", demo, version="2")
    note = "made on bench@1; the newest is 2"
    assert note in karat_cli("compare", result, "--details").out
    assert note in karat_cli("score", "bench@1", "demo/prior").err
    assert "newest" not in karat_cli("score", "bench", "demo/prior").err
    assert karat_cli("report", result, "--archive", tmp_path / "archive").code == 0
    archive = Archive(FolderStore(tmp_path / "archive"))
    for entry in archive.all_entries.values():
        assert [text for text in archive.read_result(entry).notes if "newest" in text] == [note]
    remove_dataset("bench", "1")
    assert describe_newer_version("bench@1") == "made on bench@1, which was removed; the newest is 2"
    assert describe_newer_version("bench@2") is None
    assert describe_newer_version("bench@1/test+msnbc@cucerzan2007+gold") == (
        "made on bench@1, which was removed; the newest is 2; made on msnbc@cucerzan2007, which "
        "msnbc@guo2018 supersedes"
    )
    (tmp_path / "home" / "datasets" / "bench" / "dataset.json").write_text("{", encoding="utf-8")
    assert describe_newer_version("bench@2").startswith("made on bench@2, whose newest version is unknown (")
    assert karat_cli("compare", result).code == 0


def test_every_command_takes_the_name(karat_cli, tmp_path):
    add("bench", karat.load("demo"), metadata=DatasetMetadata(title="My bench"))
    assert "bench@1 " in karat_cli("data", "list").out
    assert "bench: My bench" in karat_cli("data", "show", "bench").out
    for arguments in (
        ["score", "bench", "demo/prior"],
        ["score", "bench", "bench"],
        ["compare", "--gold", "bench", "demo"],
        ["show", "bench", "demo/prior"],
        ["data", "stats", "bench"],
        ["data", "lint", "bench"],
        ["data", "fetch", "bench"],
        ["data", "convert", "bench@1", tmp_path / "out.jsonl"],
        ["data", "show", "bench", "--json", "-"],
        ["run", "oracle", "--on", "bench", "--out", tmp_path / "runs"],
    ):
        assert karat_cli(*arguments).code == 0, arguments
    assert karat.evaluate("bench", "demo/prior").corpus == "bench@1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "demo"], "the dataset needs a name"),
        (["add", "demo", "--name", "kore50"], "kore50 is the name of a dataset of Karat"),
        (["add", "demo", "--name", "My_Bench"], "'My_Bench' is not a valid dataset name"),
        (["add", "demo", "--name", "..", "--version", "1"], "'..' is not a valid dataset name"),
        (["add", "demo", "--name", "new", "--version", "../x"], "'../x' is not a valid version"),
        (["add", "demo", "--name", "mine"], "mine@1 exists, and a version never changes. Add another one, such as"),
        (["add", "nowhere.jsonl", "--name", "new"], "nowhere.jsonl"),
        (["add", "--name", "new"], "the data are missing, or named twice"),
        (["add", "demo", "--name", "new", "--split", "test=demo"], "the data are missing, or named twice"),
        (["add", "--name", "new", "--split", "test"], "write NAME=FILE"),
        (["add", "--name", "new", "--split", "a=demo", "--split", "a=demo"], "named twice"),
        (["add", "--name", "new", "--split", "A/b=demo"], "'A/b' is not a valid name of a split"),
        (["add", "demo", "--name", "new", "--published", "soon"], "write a date as YYYY-MM-DD"),
        (["add", "demo", "--name", "new", "--guidelines", "nowhere.md"], "nowhere.md"),
        (["add", "demo", "--name", "new", "--guidelines", ".hidden"], "'1/.hidden' is not a file of the folder '1'"),
        (["remove", "demo"], "demo is a dataset of Karat"),
        (["remove", "minne"], "Did you mean 'mine'"),
        (["remove", "mine", "--version", "2"], "unknown version of mine '2'"),
        (["remove", "mine/test"], "a split cannot be removed alone"),
        (["remove", "mine@1", "--version", "2"], "are two versions"),
    ],
)
def test_mistakes_are_named_and_leave_nothing(arguments, message, karat_cli, home, tmp_path, monkeypatch):
    add()
    before = list_files(home)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".hidden").touch()
    ran = karat_cli("data", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.startswith("karat: ")
    assert list_files(home) == before


def test_the_command_says_what_was_added_and_what_is_unknown(karat_cli, home, tmp_path):
    karat.save(ONE, tmp_path / "one.jsonl")
    ran = karat_cli("data", "add", "--name", "mine", "--split", f"test={tmp_path / 'one.jsonl'}", "--language", "en")
    assert ran.out == (
        f"mine@1: 1 document, 1 label, digest {ONE.digest}\n"
        "  unknown: title, description, domain, document type, knowledge base of the links, citation, address, date of "
        "publication, source of the texts, creators, biases by the authors, guidelines\n"
        f"in {home / 'mine'}\n"
    )
    assert karat_cli("data", "remove", "mine").out == "removed mine@1\n"
    assert karat_cli("score", "mine", "mine").code == 2


@pytest.mark.shared
@pytest.mark.parametrize("name", ["aida@elevant2024/testb", "hipe-ajmc-en", "meij", "msnbc", "voxel@rosales2019"])
def test_published_datasets_stay_the_same_when_they_are_added(name, shared, monkeypatch):
    monkeypatch.setenv("KARAT_DATA", str(shared))
    corpus = karat.load(name)
    add("copy", corpus)
    loaded = karat.load("copy")
    assert loaded.digest == corpus.digest
    assert list(loaded) == list(corpus)
