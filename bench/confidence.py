"""Confidence intervals and tests: `python bench/confidence.py GOLD PREDICTIONS` prints Markdown.

`corpus.py` generates the files. Intervals are computed for twelve measures (micro P, R, F1 and macro F1 of three
relations) from 1,000 bootstrap samples of documents and compared with the time of matching. Both are the best of three
in one process. Tests compare the ten pairs of five systems on 1,000 documents, with 10,000 trials each.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from msgspec.structs import replace

from karat.data.load import load_gold_and_runs
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.evaluation.score_intervals import IntervalOptions, view_intervals
from karat.model.tables.columns import Floats
from karat.stats.samples.additive import AdditiveScore
from karat.stats.significance.paired import permutation_test

_RELATIONS = ("strong", "weak", "mention")
_SHORTS = ("micro.p", "micro.r", "micro.f1", "macro.f1")


def time_best(job: Callable[[], object], repeats: int = 3) -> float:
    """Run `job` `repeats` times and return the seconds of the fastest run."""
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        job()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def measure_intervals(gold: str, predictions: str) -> Iterator[str]:
    """Time matching and confidence intervals on two files; yield the head and rows of a Markdown table."""
    corpus, (run,) = load_gold_and_runs(gold, [predictions], text=False)
    evaluation = Evaluation.from_data(
        Request.from_options(measures=[f"{r}:{s}" for r in _RELATIONS for s in _SHORTS]), corpus, run
    )
    evaluation.inputs.pairing()
    # A block caches its judgements; a copy does not.
    matching = time_best(lambda: replace(evaluation.block, _verdicts={}).weights(_RELATIONS[0]))
    views = evaluation.views
    yield f"| {len(corpus):,} documents | seconds | of the matching | target |\n| --- | ---: | ---: | ---: |"
    yield f"| matching | {matching:.3f} | | |"
    goal = "<= 20 %" if len(corpus) >= 1_000_000 else "<= 20 % of a million"
    for method in ("percentile", "bca"):
        draw = IntervalOptions(1000, 0, method)
        # A view caches its counts; a copy does not.
        seconds = time_best(lambda draw=draw: [view_intervals(replace(views[r]), _SHORTS, draw) for r in _RELATIONS])
        yield f"| {method}, 1,000 samples | {seconds:.3f} | {100 * seconds / matching:.1f} % | {goal} |"


def measure_tests() -> Iterator[str]:
    """Time permutation tests for all pairs of five random systems; yield rows of the Markdown table."""
    rng = np.random.default_rng(0)
    chance = rng.beta(5, 2, 1000)
    systems = [AdditiveScore(_draw_system(rng, chance), _f1) for _ in range(5)]
    for swap in ("systems", "signs"):
        seconds = time_best(
            lambda swap=swap: [permutation_test(a, b, scheme=swap) for a, b in combinations(systems, 2)]
        )
        yield f"| 10 tests, 10,000 trials, swapping {swap} | {seconds:.3f} | | <= 1 s |"


def _draw_system(rng: np.random.Generator, chance: Floats) -> Floats:
    """Return the four weights of a random system on documents with 20 mentions, one row per document.

    `chance`: probability that a mention of the document is correct.
    """
    correct = rng.binomial(20, chance)
    return np.column_stack([correct, rng.binomial(20 - correct, 0.6), correct, 20 - correct]).astype(np.float64)


def _f1(sums: Floats) -> Floats:
    """Return the F1 of each row of summed weights."""
    return 2 * sums[:, 0] / (2 * sums[:, 0] + sums[:, 1] + sums[:, 3])


def main() -> None:
    """Measure the files that the command line names, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gold")
    parser.add_argument("predictions")
    options = parser.parse_args()
    for line in (*measure_intervals(options.gold, options.predictions), *measure_tests()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
