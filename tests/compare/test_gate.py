"""`karat gate`: closed only where the interval says so."""

from __future__ import annotations

import json

import pytest

import karat
from karat.comparison.entries import entry_between
from karat.comparison.gate import gate
from karat.errors import UsageError


def versions(old_right, new_right, documents=40):
    """A corpus of one mention per document, and two runs that get so many of them."""
    docs = [karat.Document(f"d{n:02d}", "Ada was here.", (karat.Label(0, 3, "Q1"),)) for n in range(documents)]
    corpus = karat.Corpus.of(docs, name="tiny")

    def run(right):
        links = ["Q1" if n < right else "Q2" for n in range(documents)]
        replies = [karat.Reply(doc.id, (karat.Answer(0, 3, link),)) for doc, link in zip(docs, links, strict=True)]
        return entry_between(corpus, karat.Run.of(replies, name="system"))

    return [run(new_right)], [run(old_right)]


def test_a_sure_drop_closes():
    found = gate(*versions(36, 10), max_drop=0.1)
    (own,) = found.datasets
    assert not found.passed
    assert (own.old, own.new, own.state) == (0.9, 0.25, "dropped")
    assert own.high < -0.1
    assert own.difference == pytest.approx(-0.65)


def test_a_drop_that_chance_explains_passes_and_is_said():
    found = gate(*versions(36, 35), max_drop=0.0)
    assert found.passed
    assert found.datasets[0].state == "open"


def test_what_may_be_lost_may_be_lost():
    found = gate(*versions(36, 30), max_drop=0.5)
    assert found.passed
    assert found.datasets[0].state == "holds"


def test_a_gain_passes():
    found = gate(*versions(10, 36))
    assert found.passed
    assert len(found.won()) == 26
    assert found.lost() == ()


def test_one_document_tells_nothing():
    found = gate(*versions(1, 0, documents=1))
    assert found.passed
    assert found.datasets[0].state == "open"
    assert found.datasets[0].reason


def test_flips_say_who_got_what():
    found = gate(*versions(3, 2, documents=4))
    (flip,) = found.flips
    assert (flip.document, flip.text, flip.gold, flip.got, flip.instead) == ("d02", "Ada", "Q1", "old", "Q2")


@pytest.mark.parametrize("asked", [{"max_drop": -0.1}, {"max_drop": 5}, {"confidence": 1.0}, {"confidence": 0.2}])
def test_what_makes_no_sense_is_refused(asked):
    with pytest.raises(UsageError):
        gate(*versions(3, 2), **asked)


def test_the_command_fails_and_writes(karat_cli, tmp_path):
    out = tmp_path / "gate.json"
    arguments = ("--baseline", "demo/perfect", "--gold", "demo", "--max-drop", "0.02", "--resamples", "100")
    done = karat_cli("gate", "demo/prior", *arguments, "--markdown", "--json", out)
    assert done.code == 1
    assert done.out.startswith("## Gate closed")
    assert "<summary>Lost: " in done.out
    assert json.loads(out.read_bytes())["passed"] is False
    assert karat_cli("gate", "demo/prior", "--baseline", "demo/prior", "--gold", "demo").code == 0


def test_results_have_a_gate_but_no_flips(karat_cli, tmp_path):
    for name in ("perfect", "noisy"):
        assert karat_cli("score", "demo", f"demo/{name}", "--json", tmp_path / f"{name}.json").code == 0
    done = karat_cli("gate", tmp_path / "noisy.json", "--baseline", tmp_path / "perfect.json")
    assert done.code == 1
    assert "Give gold and answers" in done.out
