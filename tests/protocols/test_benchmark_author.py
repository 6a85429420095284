"""The whole way of a benchmark author: from texts to a published dataset that others install and score on.

Texts are annotated by two scripted annotators and adjudicated, the gold standard is registered, split and published,
two systems run on its test part, and somebody else gets the same scores from the published folder alone.
"""

from __future__ import annotations

import json

import pytest

import karat
from karat import Label
from karat.analysis.comparison.entries import read_results

pytestmark = pytest.mark.extras

N_DOCUMENTS = 16
SYSTEMS = ("popular", "graph")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "author"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def list_labels() -> dict[str, list[Label]]:
    """The links that the first annotator sees, by document: those of the demo, without parts and alternatives."""
    documents = list(karat.load("demo"))[:N_DOCUMENTS]
    return {
        document.id: [
            Label(label.start, label.end, label.entity)
            for label in document.labels
            if label.parent is None and label.mention_id is None and isinstance(label.entity, str)
        ]
        for document in documents
    }


def annotate(path) -> int:
    """Annotate all documents as two people who differ on every fifth mention, then adopt the first; count decisions."""
    from karat.protocols.annotation.store.store import AnnotationStore
    from tests.protocols.annotation.stored import annotate_all, decide_all, enter

    labels = list_labels()
    hasty = {name: [label for number, label in enumerate(group) if number % 5 != 4] for name, group in labels.items()}
    store = AnnotationStore.open(str(path))
    annotate_all(store, enter(store, "anna"), labels)
    annotate_all(store, enter(store, "ben"), hasty)
    workers = {worker: pseudonym for pseudonym, worker in store.get_workers().items()}
    n_decisions = decide_all(store, store.add_adjudicator("carla"), workers["anna"], "named in the text")
    store.database.close()
    return n_decisions


def score_test_part(run, out) -> dict[str, tuple[str, float | None]]:
    """Run both systems on the test part; return signature and F1 of linking by system."""
    run("run", *SYSTEMS, "--on", "mybench/test", "--out", out, "--json", f"{out}.json")
    predictions = sorted(str(path) for path in out.rglob("*.jsonl"))
    assert len(predictions) == len(SYSTEMS)
    run("score", "mybench/test", *predictions, "--json", f"{out}-scores.json")
    results = read_results(f"{out}-scores.json") or []
    return {result.run: (str(result.signature), result["strong[in-kb]:micro.f1"]) for result in results}


def test_a_benchmark_is_made_published_and_reproduced(home, karat_cli, monkeypatch):
    def run(*arguments: object) -> str:
        ran = karat_cli(*arguments)
        assert ran.code == 0, (arguments, ran.err)
        return str(ran.out)

    texts = home / "texts"
    texts.mkdir()
    for document in list(karat.load("demo"))[:N_DOCUMENTS]:
        (texts / f"{document.id}.txt").write_text(document.text, encoding="utf-8")

    # Annotate and adjudicate.
    run("annotate", "create", "mine", "--texts", texts, "--store", home / "mine.sqlite")
    assert annotate(home / "mine.sqlite") > 0
    run("annotate", "export", "mine.sqlite", "--out", "gold.jsonl", "--resamples", 0)
    for name in ("anna", "ben"):
        run("annotate", "export", "mine.sqlite", "--annotator", name, "--out", f"{name}.jsonl")
    gold = karat.load("gold.jsonl")
    labels = list_labels()
    assert {document.id: len(document.labels) for document in gold} == {
        name: len(group) for name, group in labels.items()
    }
    run("agreement", "anna.jsonl", "ben.jsonl")

    # Register, split, publish.
    run("data", "add", "gold.jsonl", "--name", "mybench", "--licence", "CC BY 4.0", "--language", "en")
    run(
        "data",
        "split",
        "mybench",
        "--out",
        "parts",
        "--parts",
        "dev=0.5,test=0.5",
        "--by",
        "entity-type",
        "--kb",
        "starter",
    )
    parts = [karat.load(f"parts/{name}.jsonl") for name in ("dev", "test")]
    assert sorted(id for part in parts for id in part.ids.to_pylist()) == sorted(labels)
    run("data", "add", "parts", "--name", "mybench", "--version", "2", "--changes", "Divided into dev and test.")
    sheet = ["data", "sheet", "mybench", "--out", "published", "--annotator", "anna.jsonl", "--annotator", "ben.jsonl"]
    run(*sheet)
    datasheet = (home / "published" / "datasheet.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in datasheet
    assert json.loads((home / "published" / "croissant.json").read_text())["conformsTo"]

    # Run, score, report.
    scores = score_test_part(run, home / "runs")
    assert set(scores) == set(SYSTEMS)
    assert all("mybench" in signature for signature, _ in scores.values())
    predictions = sorted((home / "runs").rglob("*.jsonl"))
    run("report", "--gold", "mybench/test", *predictions, "--out", "report.html")
    assert (home / "report.html").stat().st_size > 100_000
    assert "mybench" in run("report", "--gold", "mybench/test", *predictions, "--to", "md")

    # Somebody else installs the published folder and gets the same figures.
    monkeypatch.setenv("KARAT_HOME", str(home / "reader"))
    assert karat_cli("score", "mybench/test", *predictions).code == 2
    run("data", "add", "published")
    assert score_test_part(run, home / "again") == scores
    assert run("data", "show", "mybench")
