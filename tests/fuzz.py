"""Look for inputs from which something other than a `KaratError` escapes.

    python tests/fuzz.py --minutes 30           new inputs of all targets
    python tests/fuzz.py --inputs 20000         as many of each target, one target after the other
    python tests/fuzz.py --only backup          one target, or those whose name has this in it
    python tests/fuzz.py --seed S --number N    one input again, with its traceback

Each input depends on seed and number alone. An input from which something escaped is minimised and stored in
tests/fuzzing/cases, where it is a test from then on. The exit code is 1 where anything escaped.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)  # not this folder, whose `packaging` is another's name

from tests.fuzzing.child import minimise  # noqa: E402
from tests.fuzzing.harness import CASES, SECONDS, Outcome, store_case  # noqa: E402
from tests.fuzzing.samples import samples  # noqa: E402
from tests.fuzzing.targets import all_targets, child, make_case, tried  # noqa: E402


class Tally:
    """Inputs, those that got past the parser, and escapes, by target; all formats are one."""

    def __init__(self) -> None:
        self.inputs: Counter[str] = Counter()
        self.accepted: Counter[str] = Counter()
        self.escapes: Counter[str] = Counter()
        self.places: set[tuple[str, str]] = set()
        self.slowest = (0.0, "")

    def count(self, outcome: Outcome, key: str) -> bool:
        """Count an outcome; return whether it escaped from a place that is new."""
        target = "formats" if outcome.target in samples() else outcome.target
        self.inputs[target] += 1
        self.accepted[target] += outcome.is_accepted and outcome.escape is None
        self.slowest = max(self.slowest, (outcome.seconds, f"{key} {outcome.target}"))
        if outcome.escape is None:
            return False
        self.escapes[target] += 1
        place = (outcome.escape.place, outcome.escape.what.partition(":")[0])
        is_new = place not in self.places
        self.places.add(place)
        return is_new

    def __str__(self) -> str:
        rows = [f"{'target':24} {'inputs':>10} {'past the parser':>16} {'escapes':>8}"]
        for target, inputs in sorted(self.inputs.items()):
            share = self.accepted[target] / inputs
            rows.append(f"{target:24} {inputs:10,} {share:16.1%} {self.escapes[target]:8,}")
        total, escapes = self.inputs.total(), self.escapes.total()
        share = self.accepted.total() / max(total, 1)
        rows.append(f"{'all':24} {total:10,} {share:16.1%} {escapes:8,} from {len(self.places)} places")
        rows.append(f"the slowest took {self.slowest[0]:.1f} s ({self.slowest[1]})")
        return "\n".join(rows)


def main() -> int:
    """Try inputs until the time is over or the number reached; show each place of escapes once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="how long  [default: 1, or as --inputs needs]")
    parser.add_argument("--inputs", type=int, help="inputs of each target, one target after the other")
    parser.add_argument("--seed", default=str(time.time_ns()))
    parser.add_argument("--only", default="", help="targets whose name has this in it")
    parser.add_argument("--number", type=int, help="only this input")
    parser.add_argument("--from", type=int, default=0, dest="first", help="begin with this number")
    parser.add_argument("--cases", type=Path, default=CASES, help="folder for minimised inputs")
    parser.add_argument("--minimise", type=float, default=60, metavar="S", help="seconds to make an input smaller")
    parser.add_argument("--nice", action="store_true", help="run at the lowest priority")
    options = parser.parse_args()
    if options.nice and hasattr(os, "nice"):
        os.nice(19)
    if options.number is not None:
        escape = tried(options.seed, options.number, only=options.only, seconds=60).escape
        print(escape.details if escape else "nothing escaped")  # noqa: T201
        return int(escape is not None)
    tally = Tally()
    minutes = options.minutes or (1 if options.inputs is None else float("inf"))
    end = time.monotonic() + 60 * minutes
    if options.inputs is None:
        try_inputs(tally, options, options.only, None, end)
    else:
        others = [name for name in all_targets() if name not in samples() and options.only in name]
        for only in others:
            try_inputs(tally, options, only, options.inputs, end)
            print(tally, flush=True)  # noqa: T201
        for name in samples() if options.only in "formats" else ():
            try_inputs(tally, options, name, options.inputs // len(samples()) + 1, end)
    print(f"seed {options.seed}")  # noqa: T201
    print(tally)  # noqa: T201
    return int(bool(tally.places))


def try_inputs(tally: Tally, options: argparse.Namespace, only: str, inputs: int | None, end: float) -> None:
    """Try inputs of one target, or of those with `only` in the name, up to a number of inputs or until `end`."""
    number = options.first
    while time.monotonic() < end and (inputs is None or number < options.first + inputs):
        outcome = tried(options.seed, number, only=only, seconds=SECONDS)
        if tally.count(outcome, f"{options.seed}:{number}") and outcome.escape:
            case = make_case(options.seed, number, only)
            path = store_case(minimise(case, child(), budget=options.minimise), outcome.escape, options.cases)
            line = f"{outcome.escape.input}\n    {outcome.escape.place}  {outcome.escape.what}\n    {path}"
            print(line, flush=True)  # noqa: T201
        number += 1
        if number % 2000 == 0:
            print(f"{time.strftime('%H:%M:%S')}\n{tally}", flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
