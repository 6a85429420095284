"""Ids as people have them, from the command line: what is said of them, and what helps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SPELLINGS = ("Q{}", "wd:Q{}", "q{}", "http://www.wikidata.org/entity/Q{}", "https://www.wikidata.org/wiki/Q{}")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """120 predictions on the right spans: 60 right items in several spellings, 32 right pages, 28 invented items."""
    monkeypatch.chdir(tmp_path)
    text = " ".join(f"name-{n:03}" for n in range(120))
    spans = [{"start": 9 * n, "end": 9 * n + 8} for n in range(120)]
    given = [SPELLINGS[n % 5].format(1000 + n) for n in range(60)]
    given += [f"http://en.m.wikipedia.org/wiki/page_{1000 + n}" for n in range(60, 92)]
    given += [f"Q{900_000_000 + n}" for n in range(92, 120)]
    gold = [{**span, "entity": f"Q{1000 + n}"} for n, span in enumerate(spans)]
    predictions = [{**span, "entity": id} for span, id in zip(spans, given, strict=True)]
    (tmp_path / "gold.jsonl").write_text(json.dumps({"id": "d", "text": text, "labels": gold}))
    (tmp_path / "mixed.jsonl").write_text(json.dumps({"id": "d", "predictions": predictions}))
    (tmp_path / "right.jsonl").write_text(json.dumps({"id": "d", "predictions": gold}))
    (tmp_path / "kb").mkdir()
    pages = [f"Q{1000 + n}\thttps://en.wikipedia.org/wiki/Page_{1000 + n}\n" for n in range(120)]
    (tmp_path / "kb" / "same_as.tsv").write_text("".join(pages))
    (tmp_path / "kb" / "entities.tsv").write_text("".join(f"Q{1000 + n}\n" for n in range(120)))
    return tmp_path


def score(karat_cli, *arguments):
    ran = karat_cli("score", "gold.jsonl", "mixed.jsonl", *arguments, "--json", "result.json")
    assert ran.code == 0
    result = json.loads(Path("result.json").read_text(encoding="utf-8"))
    return ran.out, round(100 * result["measures"]["strong:micro.f1"], 1), result["id_health"]


def test_mixed_schemes_and_invented_ids_are_said(folder, karat_cli):
    page, f1, health = score(karat_cli)
    assert f1 == 50.0
    assert (
        "ids: gold QID 120; predictions QID 88, Wikipedia en 32; 32 predictions cannot match any gold id: try --kb DIR"
        in page
    )
    assert "48 ids in several spellings" in page
    assert (health["unmatchable"], len(health["spellings"])) == (32, 48)
    page, f1, health = score(karat_cli, "--kb", "kb")  # does as the line says
    assert f1 == 76.7
    assert "28 predictions unknown to kb" in page
    assert (health.get("unmatchable", 0), health["unknown_predictions"], health["unknown_gold"]) == (0, 28, 0)
    page, f1, health = score(karat_cli, "--set", "ids=as-written")
    assert f1 == 10.0
    assert "80 predictions cannot match any gold id: try --set ids=normalised" in page


def test_merged_ids_are_listed_on_request(folder, karat_cli):
    ran = karat_cli("score", "gold.jsonl", "mixed.jsonl", "--merged-ids")
    assert "mixed: Q1001 is written Q1001, wd:Q1001" in ran.out
    assert "is written" not in karat_cli("score", "gold.jsonl", "mixed.jsonl").out


def test_http_is_https(folder, karat_cli):
    for name, web in (("gold", "http"), ("mixed", "https")):
        row = {"start": 0, "end": 6, "entity": f"{web}://en.wikipedia.org/wiki/Berlin"}
        document = (
            {"id": "d", "text": "Berlin", "labels": [row]} if name == "gold" else {"id": "d", "predictions": [row]}
        )
        (folder / f"{name}.jsonl").write_text(json.dumps(document))
    assert score(karat_cli)[1] == 100.0


@pytest.mark.parametrize("command", [("compare", "--gold", "gold.jsonl"), ("scorecard", "--gold", "gold.jsonl")])
def test_comparisons_and_cards_say_it_too(command, folder, karat_cli):
    ran = karat_cli(*command, "right.jsonl", "mixed.jsonl", "--kb", "kb", "--json", "all.json")
    assert ran.code == 0, ran.err
    assert "mixed: ids: gold QID 120; predictions QID 88, Wikipedia en 32; 28 predictions unknown to kb" in ran.out
    assert "right: ids: QID on both sides" in ran.out
    health = json.loads((folder / "all.json").read_text(encoding="utf-8"))["id_health"]
    assert (health["mixed"]["unknown_predictions"], health["right"]["unknown_predictions"]) == (28, 0)


def test_all_is_well_in_one_line(folder, karat_cli):
    (folder / "again.jsonl").write_bytes((folder / "right.jsonl").read_bytes())
    ran = karat_cli("compare", "--gold", "gold.jsonl", "right.jsonl", "again.jsonl", "--kb", "kb")
    assert [line for line in ran.out.splitlines() if "ids: " in line] == ["ids: QID on both sides"]
