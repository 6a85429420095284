"""`karat score` on folders of Parquet."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import karat
from tests.plugins.engines.conftest import quick_engines
from tests.plugins.engines.parts import write_parts


def test_folders_are_scored_piece_by_piece(karat_cli, tmp_path):
    write_parts(karat.load("demo"), tmp_path / "gold", 3)
    write_parts(karat.load_run("demo/noisy"), tmp_path / "predictions", 2)
    ran = karat_cli("score", tmp_path / "gold", tmp_path / "predictions", "--json", "-")
    plain = karat_cli("score", tmp_path / "gold.parquet", tmp_path / "predictions.parquet", "--json", "-")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out) == json.loads(plain.out)
    asked = karat_cli("score", tmp_path / "gold.parquet", tmp_path / "predictions.parquet", "--engine", "local")
    assert asked.out == karat_cli("score", tmp_path / "gold", tmp_path / "predictions").out


@pytest.fixture
def halves(tmp_path):
    """The demo corpus divided into one to tune on and one to score, with a run on both."""
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    for name, half in (("dev", list(corpus)[:20]), ("gold", list(corpus)[20:])):
        write_parts(karat.Corpus.from_documents(half, name=name), tmp_path / name, 3)
    write_parts(run, tmp_path / "predictions", 4, order=np.random.default_rng(3).permutation(len(run)))
    return tmp_path


@quick_engines
def test_verdicts_are_written(karat_cli, halves, engine, small_blocks):
    write_parts(karat.load("demo"), halves / "whole", 3)
    for suffix in ("jsonl", "parquet"):
        written = halves / f"here.{suffix}", halves / f"there.{suffix}"
        options = "--by", "mention-type", "--verdicts"
        karat_cli("score", halves / "whole", halves / "predictions", "--engine", engine, *options, written[0])
        karat_cli("score", halves / "whole.parquet", halves / "predictions.parquet", *options, written[1])
    # The predictions of the folder are in another order: where each is in its file differs. A block does not know what
    # labels of other blocks call an entity: predictions have the names of the knowledge base.
    lines = [(halves / f"{name}.jsonl").read_text().splitlines() for name in WRITTEN]
    rows = [[{**json.loads(line), "prediction": 0, "prediction_name": ""} for line in own] for own in lines]
    assert rows[0] == rows[1]
    tables = [
        pq.read_table(halves / f"{name}.parquet").drop_columns(["prediction", "prediction_name"]) for name in WRITTEN
    ]
    assert tables[0].equals(tables[1], check_metadata=True)


WRITTEN = "here", "there"


@quick_engines
def test_a_threshold_is_tuned(karat_cli, halves, engine, small_blocks):
    def scored(suffix, *options):
        sides = halves / f"gold{suffix}", halves / f"predictions{suffix}"
        return karat_cli("score", *sides, "--json", "-", "--tune-on", halves / f"dev{suffix}", *options)

    ran, plain = scored("", "--engine", engine), scored(".parquet")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out) == json.loads(plain.out)
    assert "tuned on dev@" in json.loads(ran.out)["signature"]
    asked = "--engine", engine, "--tune-predictions", halves / "predictions", "--allow-unknown"
    assert json.loads(scored("", *asked).out)["signature"] == json.loads(ran.out)["signature"]
    same = karat_cli("score", halves / "dev", halves / "predictions", "--tune-on", halves / "dev", "--allow-unknown")
    assert same.err == "karat: --tune-on is the scored data, so the threshold is an oracle.\n"


def test_what_needs_memory_is_refused(karat_cli, halves):
    sides, cases = (halves / "gold", halves / "predictions"), halves / "cases.jsonl"
    ran = karat_cli("score", *sides, "--profile", "elevant", "--layout", "elevant", "--verdicts", cases)
    assert ran.code == 2
    assert ran.err.startswith("karat: the cases of elevant need gold and predictions in memory")
    assert "unknown engine 'abacus'" in karat_cli("score", *sides, "--engine", "abacus").err
    assert not cases.exists()
