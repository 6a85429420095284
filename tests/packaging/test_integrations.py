"""Karat in other tools: pytest, pre-commit, GitHub, GitLab and Hugging Face's libraries, used as users do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

import karat
from karat.data.publishing.manifest import DatasetMetadata
from karat.data.publishing.registration import add_version, build_publication
from tests.conftest import ROOT

INTEGRATIONS = ROOT / "integrations"


@pytest.fixture
def programs(tmp_path):
    """An environment in which `karat` is this version."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "karat").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m karat "$@"\n', encoding="utf-8")
    (folder / "karat").chmod(0o755)
    return os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}


# pytest


def run_pytest(folder, text, programs):
    """Run a file of tests in a session that has loaded the plugin."""
    (folder / "test_linker.py").write_text(text, encoding="utf-8")
    is_installed = any(entry.name == "karat" for entry in entry_points(group="pytest11"))
    plugin = [] if is_installed else ["-p", "karat.integrations.pytest_gate"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, "test_linker.py"]
    done = subprocess.run(command, cwd=folder, env=programs, capture_output=True, check=False)
    return done.returncode, done.stdout.decode()


def test_the_entry_point_of_pytest_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"karat": "karat.integrations.pytest_gate"}


def test_the_fixture_passes_and_fails_with_numbers(tmp_path, programs):
    code, out = run_pytest(
        tmp_path,
        "def test_same(karat_gate):\n"
        '    assert karat_gate("demo", "demo/noisy", "demo/noisy", resamples=50).is_passed\n'
        "def test_worse(karat_gate):\n"
        '    karat_gate("demo", "demo/noisy", "demo/perfect", max_drop=0.01, resamples=50)\n'
        "def test_wrong(karat_gate):\n"
        '    karat_gate("demo", "missing.jsonl", "demo/prior")\n',
        programs,
    )
    assert code == 1
    assert "2 failed, 1 passed" in out
    assert "Gate closed: strong:micro.f1 dropped by more than 1 point on demo, at 95 %" in out
    assert re.search(r"demo +100\.0 +61\.7 +−38\.3", out)
    assert "karat_gate: missing.jsonl: found no such file" in out
    assert "Traceback" not in out


def test_the_fixture_takes_objects_and_results(tmp_path, programs):
    code, out = run_pytest(
        tmp_path,
        "import karat\n"
        "def test_objects(karat_gate):\n"
        '    gold = karat.load("demo")\n'
        '    new, old = (karat.load_run(name, corpus=gold) for name in ("demo/noisy", "demo/prior"))\n'
        "    first = karat_gate(gold, new, old, resamples=50)\n"
        "    second = karat_gate(None, karat.evaluate(gold, new), karat.evaluate(gold, old), resamples=50)\n"
        "    assert first.datasets == second.datasets\n",
        programs,
    )
    assert code == 0, out


def test_pytest_without_the_fixture_imports_nothing_heavy():
    asked = "import karat.integrations.pytest_gate, sys; print([m for m in ('numpy', 'pyarrow') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"


# pre-commit


def read_hook():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return hook


def test_the_hook_checks_gold_files_only():
    names = ["gold.jsonl", "data/gold.ttl", "data/gold-test.conll", "predictions.jsonl", "marigold.jsonl", "gold.py"]
    assert [name for name in names if re.search(read_hook()["files"], name)] == names[:3]


def test_the_hook_has_the_exit_codes_of_lint(tmp_path, karat_cli, monkeypatch):
    hook = read_hook()
    monkeypatch.chdir(tmp_path)
    program, *arguments = hook["entry"].split()
    assert (program, hook["language"]) == ("karat", "python")
    document = {"id": "d", "text": "Ada met Bob.", "labels": [{"start": 0, "end": 4, "entity": "Q1"}]}
    karat.save(karat.load("demo"), "gold.jsonl")
    (tmp_path / "gold-bad.jsonl").write_text(json.dumps(document) + "\n", encoding="utf-8")  # a span with a space
    (tmp_path / "gold-torn.jsonl").write_text('{"id": "d", ', encoding="utf-8")

    def run(*files):
        return karat_cli(*arguments, *hook["args"], *files)

    assert run("gold.jsonl").code == 0
    found = run("gold.jsonl", "gold-bad.jsonl")
    assert found.code == 1
    assert "gold-bad.jsonl\n" in found.out
    assert "white-space" in found.out
    assert run("gold-torn.jsonl").code == 2


def test_several_files_are_linted_in_one_call(tmp_path, karat_cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    karat.save(karat.load("demo"), "gold.jsonl")
    ran = karat_cli("data", "lint", "gold.jsonl", "demo", "--json", "-")
    first, second = map(json.loads, ran.out.splitlines())
    assert first["findings"] == second["findings"]
    refused = karat_cli("data", "lint", "gold.jsonl", "demo", "--fix", "fixed.jsonl")
    assert (refused.code, "Pass one file" in refused.err) == (2, True)


# GitHub and GitLab

CASES = [
    ({"new": "demo/noisy", "baseline": "demo/prior", "gold": "demo"}, 0, "Gate passed"),
    ({"new": "demo/noisy", "baseline": "demo/perfect", "gold": "demo", "max-drop": "0.01"}, 1, "Gate closed"),
    ({"new": "new.json", "baseline": "old.json", "measure": "weak:micro.f1"}, 0, "weak:micro.f1"),
    ({"new": "missing.jsonl", "baseline": "demo/prior", "gold": "demo"}, 2, "missing.jsonl"),
]


FEW_RESAMPLES = {"arguments": "--resamples 50"}


@pytest.fixture
def results(tmp_path, karat_cli):
    for name, run in (("new", "demo/noisy"), ("old", "demo/prior")):
        assert karat_cli("score", "demo", run, "--json", tmp_path / f"{name}.json").code == 0


@pytest.mark.parametrize(("inputs", "code", "shown"), CASES)
@pytest.mark.usefixtures("results")
def test_the_action_of_github_fails_with_the_gate(tmp_path, programs, inputs, code, shown):
    action = yaml.safe_load((INTEGRATIONS / "gate" / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    required = {name for name, field in action["inputs"].items() if field.get("required")}
    assert required <= inputs.keys() <= action["inputs"].keys()
    values = {name: field.get("default", "") for name, field in action["inputs"].items()} | inputs | FEW_RESAMPLES
    install, compare = action["runs"]["steps"]
    assert install["if"] == "inputs.requirement != ''"
    assert install["run"].startswith("python -m pip install")
    variables = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: values[match[1]], value)
        for name, value in compare["env"].items()
    }
    files = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", compare["run"]],
        cwd=tmp_path,
        env=programs | variables | files | {"RUNNER_TEMP": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert shown in (done.stdout + done.stderr).decode()
    if code < 2:
        assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text(encoding="utf-8").startswith("## Gate")
        output = (tmp_path / "GITHUB_OUTPUT").read_text(encoding="utf-8").strip().removeprefix("result=")
        assert json.loads(Path(output).read_text(encoding="utf-8"))["passed"] is (code == 0)


@pytest.mark.parametrize(("inputs", "code", "shown"), CASES)
@pytest.mark.usefixtures("results")
def test_the_template_of_gitlab_fails_with_the_gate(tmp_path, programs, inputs, code, shown):
    job = yaml.safe_load((INTEGRATIONS / "gitlab" / "gate.yml").read_text(encoding="utf-8"))[".karat-gate"]
    given = {f"GATE_{name.upper().replace('-', '_')}": value for name, value in (inputs | FEW_RESAMPLES).items()}
    assert given.keys() <= job["variables"].keys() | {"GATE_NEW", "GATE_BASELINE"}
    variables = job["variables"] | {"GATE_REQUIREMENT": ""} | given
    script = "\n".join(job["script"])
    done = subprocess.run(
        ["sh", "-e", "-c", script], cwd=tmp_path, env=programs | variables, capture_output=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert shown in (done.stdout + done.stderr).decode()
    assert (tmp_path / job["artifacts"]["paths"][0]).exists() is (code < 2)


# Hugging Face

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}


def run_python(code, folder, programs):
    """Run a program of a user's, in a process of its own and without network."""
    own = {"HF_HOME": str(folder / "home"), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=programs | OFFLINE | own, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().splitlines()


@pytest.mark.extras
def test_the_metric_of_evaluate_has_the_scores_of_karat(tmp_path, programs):
    code = f"""
import json, evaluate, karat
metric = evaluate.load({str(INTEGRATIONS / "evaluate" / "karat")!r})
gold, run = karat.load("demo"), karat.load_run("demo/noisy")
spans = lambda items: [{{"start": m.start, "end": m.end, "entity": m.entity}} for m in items]
plain = [d for d in gold if all(isinstance(m.entity, str | None) and not m.mention_id for m in d.labels)][:8]
predicted = {{response.id: [p for p in response.predictions if isinstance(p.entity, str | None)] for response in run}}
references, predictions = [spans(d.labels) for d in plain], [spans(predicted.get(d.id, ())) for d in plain]
texts = [d.text for d in plain]
for profile in ("karat", "gerbil"):
    scores = metric.compute(predictions=predictions, references=references, texts=texts, profile=profile,
                            measures=["weak:micro.f1"])
    result = karat.evaluate(
        [{{"id": str(n), "text": t, "labels": r}} for n, (t, r) in enumerate(zip(texts, references))],
        {{str(n): p for n, p in enumerate(predictions)}}, profile=profile, extra_measures=["weak:micro.f1"])
    expected = [result[f"strong:micro.{{name}}"] for name in ("p", "r", "f1")]
    assert [scores[name] for name in ("precision", "recall", "f1")] == expected, (scores, expected)
    assert scores["weak:micro.f1"] == result["weak:micro.f1"]
    assert scores["signature"] == str(result.signature) and scores["notes"] == [
        *result.notes, *(f"{{what}}: {{count}}" for what, count in result.skipped.items())]
    print(scores["f1"])
try:
    metric.compute(predictions=predictions, references=references, texts=texts[:3])
except karat.UsageError as error:
    assert "3 texts for 8 documents" in str(error)
else:
    raise AssertionError("three texts for eight documents")
mention = lambda start, entity: {{"start": start, "end": start + 3, "entity": entity}}
unmatched = metric.compute(predictions=[[mention(0, "Q1")]], references=[[mention(0, "Q1"), mention(8, "QUANTITY")]])
assert unmatched["notes"][-1].endswith("1 gold label cannot match any predicted id"), unmatched["notes"]
scored = [[mention(0, "Q1") | {{"score": 0.9}}, mention(8, "Q2") | {{"score": 0.1}}, mention(4, "Q3")]]
above = metric.compute(predictions=scored, references=[[mention(0, "Q1")]], settings={{"threshold": "0.5"}})
assert above["precision"] == 0.5, above
metric.add(prediction=scored[0], reference=[mention(0, "Q1")])
assert metric.compute()["precision"] == 1 / 3
for side, item in (("predictions", {{"label": "PER"}}), ("references", {{"score": 0.9}})):
    lists = {{"predictions": [[]], "references": [[]]}} | {{side: [[mention(0, "Q1") | item]]}}
    try:
        metric.compute(**lists)
    except karat.UsageError as error:
        assert f"{{side}}[0]: a mention has the keys start, end, entity, {{next(iter(item))}}" in str(error)
    else:
        raise AssertionError("another key")
blank = metric.compute(predictions=predictions, references=references)
assert not any("inside a word" in note for note in blank["notes"]), blank["notes"]
"""
    assert all(0 < float(line) <= 1 for line in run_python(code, tmp_path, programs))


@pytest.mark.extras
def test_the_library_datasets_loads_the_folder_for_the_hub(tmp_path, programs):
    karat.save(karat.load("demo"), tmp_path / "gold", format="hf-hub")
    karat.save(karat.load_run("demo/noisy"), tmp_path / "run", format="hf-hub")
    code = """
import datasets, karat
gold = karat.load(datasets.load_dataset("./gold", split="test"))
run = karat.load_run(datasets.load_dataset("./run", split="test"), corpus=gold)
print(gold.digest, karat.evaluate(gold, run)["strong:micro.f1"])
"""
    expected = karat.evaluate("demo", "demo/noisy")["strong:micro.f1"]
    assert run_python(code, tmp_path, programs)[-1] == f"{karat.load('demo').digest} {expected}"


def _add_splits(tmp_path, monkeypatch):
    """Add a dataset whose splits have different columns: only dev has types, and only test has tags."""
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    dev = karat.Document("d", "Ulm", (karat.Label(0, 3, "Q3012", types=("City",)),))
    test = karat.Document("t", "Ulm", (karat.Label(0, 3, "Q3012"),), tags=(karat.Tag("Q183"),))
    splits = {name: karat.Corpus.from_documents([item]) for name, item in (("dev", dev), ("test", test))}
    add_version(build_publication("mine", splits, DatasetMetadata(title="My dataset")))


def test_a_dataset_with_splits_is_one_folder_for_the_hub(tmp_path, monkeypatch, karat_cli):
    _add_splits(tmp_path, monkeypatch)
    ran = karat_cli("data", "convert", "mine", tmp_path / "hub", "--to", "hf-hub")
    assert (ran.code, "Not converted" in ran.err) == (0, False)
    assert "mine/dev: 1 document, 1 label to Hugging Face dataset for the Hub" in ran.err
    header = yaml.safe_load((tmp_path / "hub" / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert header["pretty_name"] == "My dataset"
    assert [item["split"] for item in header["configs"][0]["data_files"]] == ["dev", "test"]
    for split in ("dev", "test"):
        loaded = karat.load(tmp_path / "hub" / f"{split}.parquet", format="hf-hub")
        assert loaded.digest == karat.load(f"mine/{split}").digest


@pytest.mark.extras
def test_the_library_datasets_loads_all_splits(tmp_path, monkeypatch, programs, karat_cli):
    _add_splits(tmp_path, monkeypatch)
    assert karat_cli("data", "convert", "mine", tmp_path / "hub", "--to", "hf-hub").code == 0
    code = """
import datasets, karat
print(*(karat.load(split).digest for split in datasets.load_dataset("./hub").values()))
"""
    digests = [karat.load(f"mine/{split}").digest for split in ("dev", "test")]
    assert run_python(code, tmp_path, programs)[-1] == " ".join(digests)


def test_the_folder_for_the_hub_has_a_card_and_is_read_again(tmp_path):
    corpus = karat.load("demo")
    karat.save(corpus, tmp_path / "gold", format="hf-hub")
    assert karat.load(tmp_path / "gold").digest == corpus.digest
    header = yaml.safe_load((tmp_path / "gold" / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert header["configs"] == [{"config_name": "default", "data_files": [{"split": "test", "path": "test.parquet"}]}]
    assert (header["license"], header["language"]) == ("apache-2.0", "en")
    run = karat.load_run("demo/noisy")
    karat.save(run, tmp_path / "run", format="hf-hub")
    assert karat.load_run(tmp_path / "run").digest == run.digest
    (tmp_path / "gold" / "train.parquet").write_bytes((tmp_path / "gold" / "test.parquet").read_bytes())
    with pytest.raises(karat.InputError, match="several files"):
        karat.load(tmp_path / "gold")


def test_the_index_lists_every_schema_and_layout():
    folder = ROOT / "src" / "karat" / "render" / "schema"
    entries = json.loads((folder / "index.json").read_text(encoding="utf-8"))["schemas"]
    assert {entry["file"] for entry in entries} == {path.name for path in folder.glob("*.schema.json")}
    for entry in entries:
        text = (folder / entry["file"]).read_text(encoding="utf-8")
        assert json.loads(text)["title"] == entry["title"]
        assert entry["layout"] in text
