"""`karat score` on folders of Parquet."""

from __future__ import annotations

import json

import karat
from tests.engines.parts import write_parts


def test_folders_are_scored_piece_by_piece(karat_cli, tmp_path):
    write_parts(karat.load("demo"), tmp_path / "gold", 3)
    write_parts(karat.load_run("demo/noisy"), tmp_path / "answers", 2)
    ran = karat_cli("score", tmp_path / "gold", tmp_path / "answers", "--json", "-")
    plain = karat_cli("score", tmp_path / "gold.parquet", tmp_path / "answers.parquet", "--json", "-")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out) == json.loads(plain.out)
    asked = karat_cli("score", tmp_path / "gold.parquet", tmp_path / "answers.parquet", "--engine", "local")
    assert asked.out == karat_cli("score", tmp_path / "gold", tmp_path / "answers").out


def test_what_needs_memory_is_refused(karat_cli, tmp_path):
    for folder, data in (("gold", karat.load("demo")), ("answers", karat.load_run("demo/noisy"))):
        write_parts(data, tmp_path / folder, 2)
    sides = tmp_path / "gold", tmp_path / "answers"
    for option, value in (("--verdicts", tmp_path / "cases.jsonl"), ("--tune-on", "demo")):
        ran = karat_cli("score", *sides, option, value)
        assert ran.code == 2
        assert ran.err.startswith(f"karat: {option} needs both sides in memory")
    assert "unknown engine 'abacus'" in karat_cli("score", *sides, "--engine", "abacus").err
    assert not (tmp_path / "cases.jsonl").exists()
