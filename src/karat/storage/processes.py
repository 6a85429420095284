"""Child processes that run user commands in a clean environment, with limits on time and output."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Final

from karat.model.errors import InputError, ResponseError, shorten
from karat.model.limits import get_limit
from karat.stats.timing import get_peak_memory

_INHERITED_VARIABLES: Final = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "USERPROFILE",
)
_MAX_QUOTED: Final = 320  # characters of standard error in a message
_KEPT_ERRORS: Final = 1 << 14  # bytes of standard error, for tracebacks that are longer than a message
_GRACE: Final = 5.0  # seconds for a command to end after its input ends


def make_environment(variables: Sequence[str] = ()) -> dict[str, str]:
    """Return the environment of a command: standard variables for paths and locale, and `variables`.

    Variables that are not set in this process are dropped.
    """
    return {name: os.environ[name] for name in (*_INHERITED_VARIABLES, *variables) if name in os.environ}


class EndedError(ResponseError):
    """A command that ended instead of responding."""


class ChildProcess:
    """A running command. It exchanges lines, or (with `reads_all`) takes its whole input before it responds.

    `variables` names the environment variables that it gets besides the standard ones. Raise `InputError` if it cannot
    be started.
    """

    def __init__(self, command: Sequence[str], variables: Sequence[str] = (), *, reads_all: bool = False) -> None:
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=make_environment(variables),
                start_new_session=sys.platform != "win32",  # so that its children can be killed with it
            )
        except (OSError, ValueError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else str(problem)
            raise InputError(
                command[0] if command else "no command",
                actual=f"a command that cannot be started ({reason})",
                expected="a program",
                remedy="Check its path, and whether it may be executed",
            ) from None
        self.name = os.path.basename(command[0])  # noqa: PTH119  # a path of any platform
        self._output: queue.Queue[bytes] = queue.Queue()
        self._error_output = b""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._threads = [
            threading.Thread(target=self._read_output, args=(self._process.stdout, reads_all), daemon=True),
            threading.Thread(target=self._read_errors, args=(self._process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def send_line(self, line: bytes, timeout: float) -> bytes:
        """Send a line (without line feed) and return the line that the command writes in response, with line feed.

        Raise `EndedError` if the command ends, and `ResponseError` after `timeout` seconds or for too long a response.
        """
        return self._exchange(line + b"\n", timeout, close_input=False)

    def send_all(self, data: bytes, timeout: float) -> bytes:
        """Send the whole input, wait for the command to end, and return its whole output.

        Raise `ResponseError` if it fails, does not respond or end within `timeout` seconds, or writes too much.
        """
        end = time.monotonic() + timeout
        output = self._exchange(data, timeout, close_input=True)
        try:
            status = self._process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise ResponseError(f"{self.name}: no end within {timeout:g} seconds") from None
        if status:
            raise ResponseError(self._format_failure(f"exit code {status}"))
        return output

    def _exchange(self, data: bytes, timeout: float, *, close_input: bool) -> bytes:
        """Write `data` to the command and return its next line, or with `close_input` its whole output.

        Raise `ResponseError` if there is no response in time, and `EndedError` if the command ends without one.
        """
        writer = threading.Thread(target=self._write_input, args=(data, close_input), daemon=True)
        writer.start()  # a command may write before it has read everything
        try:
            output = self._output.get(timeout=timeout)
        except queue.Empty:
            raise ResponseError(f"{self.name}: no response within {timeout:g} seconds") from None
        if len(output) > get_limit("response"):
            raise ResponseError(
                f"{self.name}: a response of more than {get_limit('response'):,} bytes", is_retryable=False
            )
        if not close_input and not output.endswith(b"\n"):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            raise EndedError(self._format_failure("it ended without a response"))
        return output

    def take_waiting_lines(self) -> list[bytes]:
        """Return the lines that the command has written and nobody has read, without waiting for more."""
        lines = []
        with suppress(queue.Empty):
            while True:
                lines.append(self._output.get_nowait())
        if b"" in lines:  # the end of the output, which the next exchange has to see
            self._output.put(b"")
        return [line for line in lines if line]

    @property
    def peak_memory(self) -> int:
        """Peak memory in bytes so far; 0 if the system does not report it."""
        return get_peak_memory(self._process.pid)

    def stop(self, *, kill: bool = False) -> None:
        """End the input so that the command ends, and kill it after five seconds or (`kill`) at once.

        The command has ended when this returns. Killing includes its children, except on Windows.
        """
        with suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        if not kill:
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

    def _write_input(self, data: bytes, close: bool) -> None:
        """Write data to the command, and close its input if `close` is set; a command that has ended is ignored."""
        pipe = self._process.stdin
        with suppress(OSError, ValueError):  # it has ended; its output explains why
            if pipe is not None:
                pipe.write(data)
                pipe.flush()
                if close:
                    pipe.close()

    def _read_output(self, pipe: IO[bytes], whole: bool) -> None:
        """Put each line of the output into the queue, and empty bytes at its end; with `whole`, put all as one item."""
        with suppress(OSError, ValueError):
            if whole:
                self._output.put(pipe.read(get_limit("response") + 1))
                return
            while line := pipe.readline(get_limit("response") + 1):
                self._output.put(line)
        self._output.put(b"")

    def _read_errors(self, pipe: IO[bytes]) -> None:
        """Read standard error to its end, and keep its last bytes."""
        with suppress(OSError, ValueError):
            while part := pipe.read1(4096):  # type: ignore[attr-defined]  # it is buffered
                self._error_output = (self._error_output + part)[-_KEPT_ERRORS:]

    def _format_failure(self, reason: str) -> str:
        """Format a message with the name of the command, the reason and the end of its standard error."""
        self._threads[1].join(0.5)
        error_text = _shorten_errors(self._error_output.decode("utf-8", "replace"))
        return f"{self.name}: {reason}{f' ({error_text})' if error_text else ''}"


def _shorten_errors(text: str) -> str:
    """Return the end of standard error in one line; of a Python traceback, only the exception, with its beginning."""
    lines = text.rstrip().splitlines()
    if any(line.lstrip().startswith('File "') for line in lines):
        last_indented = max(index for index, line in enumerate(lines) if line[:1].isspace())
        exception = lines[last_indented + 1 :] or lines[-1:]
        return shorten(" ".join(" ".join(exception).split()), _MAX_QUOTED)
    return " ".join(" ".join(lines).split())[-_MAX_QUOTED:]
