"""Commands of the user's, in a clean environment: with bounds on time and on what they say."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Final

from karat.errors import FailedError, InputError
from karat.limits import most
from karat.stats.timing import peak_of

_KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "USERPROFILE")
_TAIL: Final = 400  # bytes of what a command complains that are shown
_GRACE: Final = 5.0  # seconds that a command has to end when its input ends


def clean_environment(passed: Sequence[str] = ()) -> dict[str, str]:
    """What a command gets of our environment: where things are, how text is written, and what is passed on purpose."""
    return {name: os.environ[name] for name in (*_KEPT, *passed) if name in os.environ}


class Child:
    """A command that runs: lines or all of its input go in, lines or all of its output come out."""

    def __init__(self, command: Sequence[str], passed: Sequence[str] = (), *, whole: bool = False) -> None:
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=clean_environment(passed),
                start_new_session=sys.platform != "win32",  # so that what it starts can be ended with it
            )
        except (OSError, ValueError) as problem:
            said = problem.strerror if isinstance(problem, OSError) else str(problem)
            raise InputError(
                command[0] if command else "no command",
                found=f"a command that cannot be started ({said})",
                expected="a program",
                remedy="Check its path, and whether it may be executed",
            ) from None
        self.name = os.path.basename(command[0])  # noqa: PTH119  # of any platform's path
        self._said: queue.Queue[bytes] = queue.Queue()
        self._complaints = b""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._threads = [
            threading.Thread(target=self._listen, args=(self._process.stdout, whole), daemon=True),
            threading.Thread(target=self._complain, args=(self._process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def ask(self, line: bytes, timeout: float) -> bytes:
        """The line that is answered to a line."""
        return self._reply(line + b"\n", timeout, close=False)

    def answer_to(self, data: bytes, timeout: float) -> bytes:
        """All that is said to all of the input, after which the command has to end well."""
        said = self._reply(data, timeout, close=True)
        try:
            status = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise FailedError(f"{self.name}: no end within {timeout:g} seconds") from None
        if status:
            raise FailedError(self._failed(f"exit code {status}"))
        return said

    def _reply(self, data: bytes, timeout: float, *, close: bool) -> bytes:
        writer = threading.Thread(target=self._write, args=(data, close), daemon=True)
        writer.start()  # a command may answer before it has read everything
        try:
            said = self._said.get(timeout=timeout)
        except queue.Empty:
            raise FailedError(f"{self.name}: no answer within {timeout:g} seconds") from None
        if len(said) > most("reply"):
            raise FailedError(f"{self.name}: an answer of more than {most('reply'):,} bytes", again=False)
        if not close and not said.endswith(b"\n"):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            raise FailedError(self._failed("it ended without an answer"))
        return said

    @property
    def peak(self) -> int:
        """The most memory that it held so far, 0 where the system does not say."""
        return peak_of(self._process.pid)

    def end(self, *, now: bool = False) -> None:
        """Let it end, or end it; it has ended and is counted when this returns."""
        with suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        if not now:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
        if self._process.poll() is None:
            with suppress(OSError):
                if sys.platform == "win32":
                    self._process.kill()
                else:
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for thread in self._threads:
            thread.join(1.0)
        for pipe in (self._process.stdout, self._process.stderr):
            with suppress(OSError, ValueError):
                if pipe is not None:
                    pipe.close()

    def _write(self, data: bytes, close: bool) -> None:
        pipe = self._process.stdin
        with suppress(OSError, ValueError):  # it has ended; what it said instead tells why
            if pipe is not None:
                pipe.write(data)
                pipe.flush()
                if close:
                    pipe.close()

    def _listen(self, pipe: IO[bytes], whole: bool) -> None:
        with suppress(OSError, ValueError):
            if whole:
                self._said.put(pipe.read(most("reply") + 1))
                return
            while line := pipe.readline(most("reply") + 1):
                self._said.put(line)
        self._said.put(b"")

    def _complain(self, pipe: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while part := pipe.read1(4096):  # type: ignore[attr-defined]  # it is buffered
                self._complaints = (self._complaints + part)[-_TAIL:]

    def _failed(self, how: str) -> str:
        self._threads[1].join(0.5)
        said = " ".join(self._complaints.decode("utf-8", "replace").split())
        return f"{self.name}: {how}{f' ({said})' if said else ''}"
