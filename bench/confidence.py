"""Measure intervals and tests: `python bench/confidence.py GOLD ANSWERS` prints Markdown.

The files are made by `corpus.py`. Intervals are those of twelve measures (micro P, R, F1 and macro F1 of
three relations) from 1,000 samples of documents, beside the matching that they follow; both are the best of three
in one process. Tests are the ten pairs of five systems on 1,000 documents, with 10,000 trials each.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from msgspec.structs import replace

from karat.data.load import load_both
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.intervals import Draw, view_intervals
from karat.evaluation.request import Request
from karat.model.tables.columns import Floats
from karat.stats.samples.additive import Additive
from karat.stats.tests.paired import permutation_test

_RELATIONS = ("strong", "weak", "mention")
_SHORTS = ("micro.p", "micro.r", "micro.f1", "macro.f1")


def best(job: Callable[[], object], repeat: int = 3) -> float:
    """Seconds of the best repetition."""
    taken = []
    for _ in range(repeat):
        begin = time.perf_counter()
        job()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def intervals(gold: str, answers: str) -> Iterator[str]:
    """Intervals beside matching."""
    corpus, (run,) = load_both(gold, [answers], text=False)
    found = Evaluation.of(Request.of(measures=[f"{r}:{s}" for r in _RELATIONS for s in _SHORTS]), corpus, run)
    found.sides.pairing()
    # A block keeps what it has judged; a copy does not.
    matching = best(lambda: replace(found.block, _cases={}).weights(_RELATIONS[0]))
    views = found.views
    yield f"| {len(corpus):,} documents | seconds | of the matching | target |\n| --- | ---: | ---: | ---: |"
    yield f"| matching | {matching:.3f} | | |"
    goal = "<= 20 %" if len(corpus) >= 1_000_000 else "<= 20 % of a million"
    for method in ("percentile", "bca"):
        draw = Draw(1000, 0, method)
        # A view keeps what it has counted; a copy does not.
        seconds = best(lambda draw=draw: [view_intervals(replace(views[r]), _SHORTS, draw) for r in _RELATIONS])
        yield f"| {method}, 1,000 samples | {seconds:.3f} | {100 * seconds / matching:.1f} % | {goal} |"


def tests() -> Iterator[str]:
    """All pairs of five systems on the same documents."""
    rng = np.random.default_rng(0)
    chance = rng.beta(5, 2, 1000)
    systems = [Additive(_system(rng, chance), _f1) for _ in range(5)]
    for swap in ("systems", "signs"):
        seconds = best(lambda swap=swap: [permutation_test(a, b, swap=swap) for a, b in combinations(systems, 2)])
        yield f"| 10 tests, 10,000 trials, swapping {swap} | {seconds:.3f} | | <= 1 s |"


def _system(rng: np.random.Generator, chance: Floats) -> Floats:
    right = rng.binomial(20, chance)
    return np.column_stack([right, rng.binomial(20 - right, 0.6), right, 20 - right]).astype(np.float64)


def _f1(sums: Floats) -> Floats:
    return 2 * sums[:, 0] / (2 * sums[:, 0] + sums[:, 1] + sums[:, 3])


def main() -> None:
    """Measure what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gold")
    parser.add_argument("answers")
    given = parser.parse_args()
    for line in (*intervals(given.gold, given.answers), *tests()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
