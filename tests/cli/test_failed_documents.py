"""Which documents a system failed on, and why, is said wherever its predictions are read."""

from __future__ import annotations

import json

import pytest

LIST_MISSING, EMPTY = "no list of predictions in the answer", "the answer is empty"


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """Answers of which t0 to t39 have no list, t40 is empty and t41 is good."""
    monkeypatch.chdir(tmp_path)
    label = {"start": 0, "end": 6, "entity": "Q64"}
    said = ["I cannot."] * 40 + ["", '[{"mention": "Berlin", "qid": "Q64"}]']
    golds = [{"id": f"t{number}", "text": "Berlin is old.", "labels": [label]} for number in range(42)]
    records = [{"id": f"t{number}", "response": text} for number, text in enumerate(said)]
    for name, rows in (("gold.jsonl", golds), ("answers.jsonl", records)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_note_names_failed_documents_by_error_and_all_with_details(answers, karat_cli):
    short = karat_cli("score", "gold.jsonl", "answers.jsonl")
    assert "answers: failed documents: 41" in short.out
    assert f"answers: failed: {LIST_MISSING} (t0, t1, t2, " in " ".join(short.out.split())
    assert "--details shows all" in short.out
    assert "t25," not in short.out
    detailed = " ".join(karat_cli("score", "gold.jsonl", "answers.jsonl", "--details").out.split())
    assert all(f"t{number}" in detailed for number in range(41))
    assert f"{EMPTY} (t40)" in detailed


def test_failed_and_missing_documents_are_named_before_what_was_repaired(answers, karat_cli, tmp_path):
    entries = [
        {"mention": "berlin", "qid": "unknown", "start": 0, "end": 6, "confidence": "high", "note": ""},
        {"mention": "Paris", "link": "[[Paris]]"},
        {"mention": "is", "candidates": [{"qid": "Q1"}]},
        {"qid": "Q2"},
    ]
    records = [{"id": "t0", "response": "None."}, {"id": "t1", "response": json.dumps(entries)}]
    records[1]["response"] = "[]\n" + records[1]["response"]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in records), encoding="utf-8")
    out = karat_cli("score", "gold.jsonl", "answers.jsonl").out
    notes = [line for line in out.split("\n") if line.startswith("answers: ") or "more note" in line]
    assert notes[:3] == [
        "answers: documents without predictions: 40",
        "answers: failed documents: 1",
        f"answers: failed: {LIST_MISSING} (t0)",
    ]
    assert "more note" in notes[-1]
    compared = " ".join(karat_cli("compare", "--gold", "gold.jsonl", "answers.jsonl", "B=answers.jsonl").out.split())
    assert compared.index(f"failed: {LIST_MISSING} (t0)") < compared.index("invented mentions")


def test_results_as_json_name_all_failed_documents(answers, karat_cli):
    result = json.loads(karat_cli("score", "gold.jsonl", "answers.jsonl", "--json", "-").out)
    names = ", ".join(f"t{number}" for number in range(40))
    assert f"failed: {LIST_MISSING} ({names}); {EMPTY} (t40)" in result["notes"]


def test_a_conversion_counts_failed_documents(answers, karat_cli):
    ran = karat_cli("data", "convert", "answers.jsonl", "out.jsonl", "--gold", "gold.jsonl")
    assert ran.code == 0
    assert f"failed documents: 41: {LIST_MISSING} (t0, t1, t2, t3, t4, … and 35 more); {EMPTY} (t40)" in ran.err
    assert "failed: " in karat_cli("score", "gold.jsonl", "out.jsonl").out
