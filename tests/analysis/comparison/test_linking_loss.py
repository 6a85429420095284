"""What systems lose between mentions and links, worked by hand."""

from __future__ import annotations

import json

import pytest

import karat
from karat.analysis.comparison.compare import ComparisonExtras, compare
from karat.analysis.comparison.options import ComparisonOptions
from karat.model.errors import UsageError
from tests.analysis.comparison import contest

QUICK = ComparisonOptions(resamples=40, permutations=100)


def dropped(entries, measure=None):
    return compare(entries, options=QUICK, extras=ComparisonExtras(linking_loss=True), measure=measure).linking_loss


def test_the_drop_by_hand():
    """Keen finds two of four mentions, both right. Dull finds all four, half of them wrong, and one where none is.

    Keen: P 1, R 1/2 on both levels. Dull: mentions P 4/5, R 1; links P 2/5, R 1/2.
    """
    found = dropped(contest.entries(bay={"keen": ["+.", "+."], "dull": ["+x", "+xf"]}))
    assert (found.mentions, found.links) == ("mention:micro.f1", "strong:micro.f1")
    keen, dull = found.mean["keen"], found.mean["dull"]
    assert (keen.mentions, keen.links, keen.loss.value) == pytest.approx((2 / 3, 2 / 3, 0))
    assert (dull.mentions, dull.links) == pytest.approx((8 / 9, 4 / 9))
    assert dull.loss.value == pytest.approx(4 / 9)
    assert found.datasets["bay"] == found.mean


def test_the_interval_is_of_the_drop_itself():
    """In every document of dull one of two is linked wrong: F1 of mentions 1, of links 1/2, whatever is drawn."""
    found = dropped(contest.entries(bay={"keen": ["++"] * 4, "dull": ["+x"] * 4}))
    dull = found.mean["dull"].loss
    assert (dull.value, dull.low, dull.high) == (0.5, 0.5, 0.5)


def test_datasets_count_alike():
    found = dropped(
        contest.entries(
            bay={"keen": ["++", "++"], "dull": ["+x", "+x"]},
            fjord={"keen": ["++++", "++++"], "dull": ["+++x", "+++x"]},
        )
    )
    assert found.datasets["fjord"]["dull"].loss.value == pytest.approx(1 / 4)
    assert found.mean["dull"].loss.value == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert found.mean["dull"].mentions == 1


def test_entities_are_beside_mentions_that_overlap():
    found = dropped(contest.entries(bay={"keen": ["++", "++"], "dull": ["+x", "+x"]}), "entity:micro.f1")
    assert found.mentions == "mention-weak:micro.f1"
    # Of the two entities of a document dull names one, and another one: P 1/2, R 1/2.
    assert (found.mean["dull"].mentions, found.mean["dull"].links) == (1, 0.5)


def test_a_measure_of_mentions_has_no_level_below():
    with pytest.raises(UsageError, match="no detection view"):
        dropped(contest.entries(bay={"keen": ["++"], "dull": ["+x"]}), "mention:micro.f1")


def test_the_command_prints_and_writes_it(karat_cli, tmp_path):
    gold = contest.corpus("bay", 2, 2)
    karat.save(gold, tmp_path / "bay.jsonl")
    for name, signs in {"keen": "++", "dull": "+x"}.items():
        karat.save(contest.run(name, signs, signs), tmp_path / f"{name}.jsonl")
    given = [
        "compare",
        "--gold",
        tmp_path / "bay.jsonl",
        tmp_path / "keen.jsonl",
        tmp_path / "dull.jsonl",
        "--linking-loss",
    ]
    ran = karat_cli(*given)
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["keen", "100.0", "100.0", "0.0", "[0.0,", "0.0]"] in lines
    assert ["dull", "100.0", "50.0", "50.0", "[50.0,", "50.0]"] in lines
    written = json.loads(karat_cli(*given, "--json", "-").out)
    assert written["linking_loss"]["mean"]["dull"]["loss"]["value"] == 0.5
    assert json.loads(karat_cli(*given[:-1], "--json", "-").out)["linking_loss"] is None
