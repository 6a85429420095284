"""Relatedness by shared in-links, on graphs worked by hand."""

from __future__ import annotations

import math
import subprocess
import sys
import time

import numpy as np
import pytest

from karat.kb.relatedness import InLinks
from tests.conftest import ROOT

GRAPH = {"a": "pqrs", "b": "qrst", "c": "t", "d": "xyz", "e": "p"}
LINKS = InLinks.from_pairs(
    [t for t, s in GRAPH.items() for _ in s], [s for each in GRAPH.values() for s in each], size=100
)


def test_the_formula_worked_by_hand():
    found = LINKS.relatedness(["a", "b", "a", "a", "a", "c", "nobody"], ["b", "c", "d", "e", "a", "e", "a"])
    expected = [
        1 - (math.log(4) - math.log(3)) / (math.log(100) - math.log(4)),  # q, r, s of four and four
        1 - (math.log(4) - math.log(1)) / (math.log(100) - math.log(1)),  # t of four and one
        0.0,
        1 - (math.log(4) - math.log(1)) / (math.log(100) - math.log(1)),
        1.0,
        0.0,
    ]
    assert found[:6] == pytest.approx(expected)
    assert np.isnan(found[6])


def test_it_is_symmetric_and_between_0_and_1():
    ids = list(GRAPH)
    one, other = zip(*[(a, b) for a in ids for b in ids], strict=True)
    found = LINKS.relatedness(one, other)
    assert found == pytest.approx(LINKS.relatedness(other, one))
    assert ((found >= 0) & (found <= 1)).all()


def test_as_sets_would_have_it():
    draw = np.random.default_rng(0)
    targets, sources = draw.integers(0, 60, 900).astype(str), draw.integers(0, 80, 900).astype(str)
    links = InLinks.from_pairs(targets.tolist(), sources.tolist(), size=80)
    sets = {t: {s for u, s in zip(targets, sources, strict=True) if u == t} for t in set(targets)}
    pairs = [(a, b) for a in sets for b in sets if a < b]
    found = links.relatedness([a for a, _ in pairs], [b for _, b in pairs])
    for (a, b), value in zip(pairs, found, strict=True):
        both, few, many = len(sets[a] & sets[b]), *sorted((len(sets[a]), len(sets[b])))
        by_hand = 0.0 if not both else 1 - (math.log(many) - math.log(both)) / (math.log(80) - math.log(few))
        assert value == pytest.approx(min(max(by_hand, 0.0), 1.0))


def test_millions_of_pairs_a_minute():
    """Slow machines are forgiven; a loop over pairs would not be."""
    draw = np.random.default_rng(1)
    targets, sources = (draw.integers(0, most, 200_000).astype(str) for most in (7_000, 50_000))
    links = InLinks.from_pairs(targets, sources, 50_000)
    one, other = (draw.integers(0, 7_000, 200_000).astype(str).tolist() for _ in range(2))
    start = time.process_time()
    links.relatedness(one, other)
    assert time.process_time() - start < 12


@pytest.mark.shared
@pytest.mark.parametrize("name", ["353", "411"])
def test_people_agree_with_the_graph_where_it_has_both(shared, name):
    """The starter snapshot resolves the titles of the published sets, of which it lacks most, as documented."""
    root = shared / "bat" / f"wikipediaSimilarity{name}"
    done = subprocess.run(
        [sys.executable, ROOT / "bench" / "relatedness.py", root / f"wikipediaSimilarity{name}.csv"],
        check=True,
        capture_output=True,
        text=True,
    )
    _, pairs, covered, correlation = done.stdout.splitlines()[-1].split()
    assert int(pairs) > 300
    assert float(correlation) > 0.2
    said = " ".join((ROOT / "docs" / "how-to" / "knowledge-bases.md").read_text(encoding="utf-8").split())
    assert f"{float(correlation):.2f} ({name}: {covered} pairs)" in said
