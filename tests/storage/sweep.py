"""Commands with a fault at every call that changes a file: the old or the new state is there, and the next run works.

python -m tests.storage.sweep [--source SRC] [--faults ENOSPC,kill] [NAME…]
"""

import argparse
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from tests.storage.tracer import ERRORS, FAULTS, Tracer

REFUSED = 2


class Scenario(NamedTuple):
    """A command, what is there before it, and what it makes.

    `prepare` fills a folder and may return a server to close. `observe` returns what users find in the folder, which
    is the same for the same outcome; it fails if something there is not whole. `is_once`: the command does not replace
    what it made.
    """

    command: Callable[[Path], list[str]]
    prepare: Callable[[Path], object]
    observe: Callable[[Path], object]
    is_once: bool = False


class Fault(NamedTuple):
    """A fault and what came of it; `complaints` are empty if all is well."""

    kind: str
    number: int
    call: str
    code: int
    complaints: tuple[str, ...]


def sweep(scenario, folder, tracer, kinds=FAULTS, step=1):
    """Run a command with a fault at every call (or every `step`-th), for each kind of fault: what came of each."""
    template, work = folder / "template", folder / "work"
    template.mkdir(parents=True)
    with ExitStack() as stack:
        with redirect_stdout(StringIO()):
            server = scenario.prepare(template)
        if hasattr(server, "__enter__"):
            stack.enter_context(server)
        run = _Runner(scenario, template, work, tracer)
        run.reset()
        old = run.observe()
        first = run.run()
        assert first.code == 0, first.errors
        new, leftovers = run.observe(), run.list_hidden()
        assert new != old, "the command changes nothing"
        assert not leftovers, leftovers
        return [fault for kind in kinds for fault in run.sweep_kind(kind, old, new, step)]


class _Runner:
    """A scenario in its folder."""

    def __init__(self, scenario, template, work, tracer):
        self._scenario, self._template, self._work, self._tracer = scenario, template, work, tracer

    def reset(self):
        shutil.rmtree(self._work, ignore_errors=True)
        shutil.copytree(self._template, self._work, symlinks=True)

    def run(self, fault=None, number=0):
        home, scratch = self._work / "home", self._work / "scratch"
        scratch.mkdir(exist_ok=True)
        environment = {"KARAT_HOME": str(home), "TMPDIR": str(scratch)}
        return self._tracer.run(self._scenario.command(self._work), self._work, fault, number, **environment)

    def observe(self):
        return self._scenario.observe(self._work)

    def list_hidden(self, *, scratch=True):
        """What a command may not leave behind: hidden files, and anything in the folder for temporary files."""
        return sorted(
            str(path.relative_to(self._work))
            for path in self._work.rglob("*")
            if path.name.startswith(".") or (scratch and "scratch" in path.relative_to(self._work).parts[:-1])
        )

    def sweep_kind(self, kind, old, new, step):
        number = 1
        while True:
            self.reset()
            result = self.run(kind, number)
            if result.call is None:
                assert result.code == 0, result.errors
                return
            yield Fault(kind, number, result.call, result.code, tuple(self._check(kind, result, old, new)))
            number += step

    def _is_between(self, state, result, old, new):
        """Return whether a campaign has records that are due, and all that were acknowledged."""
        if not result.output.startswith(("acknowledged", "refused")) or state is None:
            return False
        acknowledged = {line.split()[1] for line in result.output.splitlines() if line.startswith("acknowledged")}
        return state[0] == new[0] and {*old[1]} | acknowledged <= {*state[1]} <= {*new[1]}

    def _check(self, kind, result, old, new):
        """Say what is wrong after a fault, and after the next run."""
        errors = result.errors
        if kind in ERRORS or kind == "short":
            if result.code not in (0, REFUSED):
                yield f"exit code {result.code}: {errors[-300:]}"
            if "Traceback" in errors:
                yield "a traceback"
            problems = [line for line in errors.splitlines() if line.startswith("karat: ")]
            if (result.code == REFUSED and len(errors.splitlines()) != 1) or (result.code == REFUSED and not problems):
                yield f"not one message: {errors[-300:]}"
            if self.list_hidden():
                yield f"left behind: {self.list_hidden()}"
        state = None
        try:
            state = self.observe()
        except Exception as problem:  # noqa: BLE001  # whatever is wrong there
            yield f"not whole: {type(problem).__name__}: {problem}"
        else:
            if result.code == 0 and state != new:
                yield "success without the new state"
            if state not in (old, new) and not self._is_between(state, result, old, new):
                yield "neither the old nor the new state"
        again = self.run()
        is_refused = self._scenario.is_once and state == new and again.code == REFUSED
        if again.code != 0:
            if not is_refused:
                yield f"the next run fails: {again.errors[-300:]}"
            return
        if self.observe() != new:
            yield "another state after the next run"
        if leftovers := self.list_hidden(scratch=False):  # the system empties its folder for temporary files
            yield f"left behind after the next run: {leftovers}"
        if "refused" in again.output:
            yield "the next run meets an error"


def describe(faults):
    """Count faults and complaints by kind."""
    counts = Counter(fault.kind for fault in faults)
    bad = Counter(fault.kind for fault in faults if fault.complaints)
    return ", ".join(f"{kind} {counts[kind]} ({bad[kind]} bad)" for kind in counts)


def main():
    from tests.storage.scenarios import SCENARIOS

    options = argparse.ArgumentParser()
    options.add_argument("--source")
    options.add_argument("--faults", default=",".join(FAULTS))
    options.add_argument("--step", type=int, default=1)
    options.add_argument("--verbose", action="store_true")
    options.add_argument("names", nargs="*")
    given = options.parse_args()
    tracer, n_bad = Tracer(given.source), 0
    for name in given.names or SCENARIOS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                faults = sweep(SCENARIOS[name], Path(folder), tracer, given.faults.split(","), given.step)
            except AssertionError as problem:
                print(f"{name}: {problem}", flush=True)  # noqa: T201
                n_bad += 1
                continue
        bad = [fault for fault in faults if fault.complaints]
        n_bad += len(bad)
        print(f"{name}: {len(faults)} faults, {len(bad)} bad; {describe(faults)}", flush=True)  # noqa: T201  # a program
        kinds = {}
        for fault in bad:
            kinds.setdefault(fault.complaints[0][:40] + fault.call.split("/")[-1][:12], fault)
        for fault in bad if given.verbose else kinds.values():
            print("  ", fault, flush=True)  # noqa: T201
    tracer.close()
    raise SystemExit(n_bad > 0)


if __name__ == "__main__":
    main()
