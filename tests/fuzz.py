"""Look for inputs from which something other than a `KaratError` escapes.

    python tests/fuzz.py --minutes 30           new inputs each time
    python tests/fuzz.py --seed S --number N    one input again, with its traceback

Each input depends on seed and number alone. The exit code is 1 where anything escaped.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)  # not this folder, whose `packaging` is another's name

from tests.fuzzing.targets import Escape, tried  # noqa: E402


def main() -> int:
    """Try inputs until the time is over; each place from which something escaped is shown once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", default=str(time.time_ns()))
    parser.add_argument("--only", default="", help="samples and other targets whose name has this in it")
    parser.add_argument("--number", type=int, help="only this input")
    parser.add_argument("--from", type=int, default=0, dest="first", help="begin with this number")
    options = parser.parse_args()
    faulthandler.enable()
    if options.number is not None:
        escape = tried(options.seed, options.number, only=options.only, seconds=60)
        print(escape.details if escape else "nothing escaped")  # noqa: T201
        return int(escape is not None)
    end = time.monotonic() + 60 * options.minutes
    number, found = options.first, list[Escape]()
    known: set[tuple[str, str]] = set()
    slowest = (0.0, 0)
    while time.monotonic() < end:
        began = time.monotonic()
        escape = tried(options.seed, number, only=options.only, seconds=30)
        slowest = max(slowest, (time.monotonic() - began, number))
        if escape is not None:
            found.append(escape)
            if (escape.place, escape.what.split(":")[0]) not in known:
                known.add((escape.place, escape.what.split(":")[0]))
                print(f"{escape.input}\n    {escape.place}  {escape.what}", flush=True)  # noqa: T201
        number += 1
    inputs = number - options.first
    print(f"seed {options.seed}: {inputs:,} inputs, {len(found)} escapes from {len(known)} places")  # noqa: T201
    print(f"the slowest took {slowest[0]:.1f} s (number {slowest[1]})")  # noqa: T201
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
