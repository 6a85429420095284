"""Inputs are used in a child process, so that one that ends its process is an escape with a name."""

from __future__ import annotations

import faulthandler
import os
import re
import signal
import warnings
from collections.abc import Mapping
from multiprocessing import get_context
from tempfile import TemporaryFile
from time import monotonic, process_time
from types import TracebackType
from typing import Any

from tests.fuzzing.harness import SECONDS, Case, Escape, Files, Outcome, Target, try_case

_GRACE = 30
"""Seconds that a child has to answer after its own limits: native code does not notice them."""
_REMEMBERED = 20
"""Inputs that are named where one ends the process only after others."""


class Child:
    """A process that uses one input after the other; the next input after its death gets a new one."""

    def __init__(self, targets: Mapping[str, Target]) -> None:
        self._targets = targets
        self._process: Any = None
        self._connection: Any = None
        self._log: Any = None
        self._keys: list[str] = []

    def __enter__(self) -> Child:
        return self

    def __exit__(self, kind: type | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def try_case(self, case: Case, *, seconds: float = SECONDS) -> Outcome:
        """Use an input under the limits; if the process dies, try the input alone and report its death."""
        if not hasattr(os, "fork"):
            return try_case(case, self._targets[case.target], seconds=seconds)
        answer = self._ask(case, seconds)
        if isinstance(answer, Outcome):
            return answer
        before = self._keys[-_REMEMBERED:-1]
        alone = self._ask(case, seconds)
        if isinstance(alone, Escape):
            return Outcome(case.target, True, alone)
        details = f"only after {', '.join(before)}\n{answer.details}"
        return Outcome(case.target, True, answer._replace(details=details))

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._connection.close()
            self._process.kill()
            self._process.join()
            self._log.close()
            self._process = None

    def _start(self) -> None:
        context = get_context("fork")
        self._connection, other = context.Pipe()
        self._log, self._keys = TemporaryFile(), []  # noqa: SIM115 open as long as the child is
        self._process = context.Process(target=self._answer, args=(other,), daemon=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # threads of this process do not live on in the child
            self._process.start()
        other.close()

    def _answer(self, connection: Any) -> None:
        """Use each input that comes; what native code and `faulthandler` write at the end goes to the log."""
        self._connection.close()
        for stream in (1, 2):
            os.dup2(self._log.fileno(), stream)
        faulthandler.enable(self._log, all_threads=False)
        while True:
            try:
                case, seconds = connection.recv()
            except EOFError:
                return
            began = process_time()
            outcome = try_case(case, self._targets[case.target], seconds=seconds)
            connection.send(outcome._replace(seconds=process_time() - began))

    def _ask(self, case: Case, seconds: float) -> Outcome | Escape:
        """The outcome of an input, or the escape that its death is."""
        if self._process is None:
            self._start()
        self._keys.append(case.key)
        try:
            self._connection.send((case, seconds))
            if self._connection.poll(12 * seconds + _GRACE if seconds else None):
                answer: Outcome = self._connection.recv()
                return answer
        except (EOFError, ConnectionError):
            self._process.join()
        else:
            self._process.kill()
            self._process.join()
            return self._bury(case, "TimeoutError: no answer, and none to signals")
        code = self._process.exitcode
        return self._bury(case, signal.Signals(-code).name if code < 0 else f"exit code {code}")

    def _bury(self, case: Case, what: str) -> Escape:
        self._log.seek(0)
        log = self._log.read().decode("utf-8", "replace")
        self.stop()
        frames = [(file.replace("\\", "/"), line) for file, line in re.findall(r'File "(.+?)", line (\d+)', log)]
        file, line = next((frame for frame in frames if "/karat/" in frame[0]), (frames or [("?", "0")])[0])
        place = f"{file.rpartition('/karat/')[2]}:{line}"
        return Escape(f"{case.key} {case.target}", f"{what}: {log[:200].strip()}", place, f"{what}\n{log}")


def minimise(case: Case, child: Child, *, budget: float = 60) -> Case:
    """The smallest input from which the same escapes that was found within `budget` seconds."""
    first = child.try_case(case).escape
    if first is None:
        return case
    wanted, end = (first.place, first.what.partition(":")[0]), monotonic() + budget

    def fails(files: Files) -> bool:
        escape = child.try_case(case._replace(files=files)).escape
        return escape is not None and (escape.place, escape.what.partition(":")[0]) == wanted

    files = dict(case.files)
    for name in list(files):
        fewer = {other: data for other, data in files.items() if other != name}
        if fewer and fails(fewer):
            files = fewer
            continue
        size = len(files[name])
        while size and monotonic() < end:
            start = 0
            while start < len(files[name]) and monotonic() < end:
                shorter = files | {name: files[name][:start] + files[name][start + size :]}
                if fails(shorter):
                    files = shorter
                else:
                    start += size
            size //= 2
    return case._replace(files=files)
