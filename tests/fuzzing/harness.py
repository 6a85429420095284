"""One input: made from a key, used under limits, and stored if anything escapes."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import sys
import traceback
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from karat import InputError, KaratError, KaratWarning
from tests.conftest import _karat

Files = dict[str, bytes]

LONGEST = 4000
"""Characters of a message: unknown formats list all that are known."""

MEMORY_FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where files are written: in memory if possible, because campaigns wait for the disk at every judgement."""

CASES = Path(__file__).with_name("cases")
"""Minimised inputs from which something escaped once; each is a test."""


class Target(NamedTuple):
    """What is fuzzed: both functions get a source of random numbers that begins with the same key."""

    share: float
    """How often it is tried, relative to the others."""
    make: Callable[[Random], Files]
    """Make broken files."""
    use: Callable[[Path, Random], bool]
    """Use the files in a folder; return whether they got past the parser."""


class Escape(NamedTuple):
    """What should not have come of an input."""

    input: str
    what: str
    place: str
    details: str


class Outcome(NamedTuple):
    """What came of an input: its target, whether it got past the parser, what escaped, and its processor seconds."""

    target: str
    is_accepted: bool
    escape: Escape | None
    seconds: float = 0.0


class Case(NamedTuple):
    """An input that can be stored: the target, the key of its random numbers, and the files."""

    target: str
    key: str
    files: Files

    def to_json(self) -> str:
        """Write it as JSON; bytes that are no UTF-8 in base64."""
        files = {name: _to_text(data) for name, data in self.files.items()}
        return json.dumps({"target": self.target, "key": self.key, "files": files}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Case:
        """Read what `to_json` wrote."""
        fields = json.loads(text)
        files = {name: _from_text(content) for name, content in fields["files"].items()}
        return cls(fields["target"], fields["key"], files)


def _to_text(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _from_text(content: str | dict[str, str]) -> bytes:
    return content.encode() if isinstance(content, str) else base64.b64decode(content["base64"])


# --- what may come of an input: a result, or one `KaratError` that is fit to be read


class FaultError(Exception):
    """An outcome that is no exception, and still wrong."""


def message_fault(message: str) -> str | None:
    """What is wrong with a message: more than one line, control characters, no UTF-8, or too long."""
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in message):
        return "control characters in a message"
    if len(message) > LONGEST:
        return f"a message of {len(message)} characters"
    return None


def check_message(problem: KaratError) -> None:
    fault = message_fault(str(problem))
    if fault is not None:
        raise FaultError(f"{fault}: {str(problem)[:300]!r}") from problem
    if isinstance(problem, InputError) and not all((problem.where, problem.actual, problem.expected, problem.remedy)):
        raise FaultError(f"a message without one of its parts: {problem}") from problem


def attempt(act: Callable[[], object]) -> object:
    """What comes of `act`; None where it raises an error of ours."""
    try:
        return act()
    except KaratError as problem:
        check_message(problem)
        return None


_NOTE = re.compile(r": warning: |: [0-9,]+$")
"""What may come before an error: a warning, or how many items were skipped or changed."""


def command(*arguments: object) -> bool:
    """Call the command line; whether it did what it was asked for."""
    ran = _karat(*arguments)
    if ran.code not in (0, 1, 2) or "Traceback" in ran.err or "out of memory" in ran.err:
        raise FaultError(f"exit code {ran.code}: {ran.err[:300]!r}")
    for line in ran.err.split("\n") if ran.code == 2 else ():
        if (fault := message_fault(line)) is not None:
            raise FaultError(f"{fault}: {ran.err[:300]!r}")
    *notes, _ = ran.err.removesuffix("\n").split("\n")
    if ran.code == 2 and ran.err.startswith("karat: ") and any(_NOTE.search(line) is None for line in notes):
        raise FaultError(f"more than one line: {ran.err[:300]!r}")
    return ran.code != 2


@contextmanager
def written(files: Files) -> Iterator[Path]:
    with TemporaryDirectory(prefix="karat-fuzz-", dir=MEMORY_FOLDER) as folder:
        for name, data in files.items():
            path = Path(folder) / name
            with suppress(OSError):  # a name that this file system cannot hold
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        yield Path(folder)


# --- limits


SECONDS = 10.0
"""Processor seconds that an input may take."""
BYTES = 1 << 30
"""Bytes by which the process may grow for an input."""


@contextmanager
def limit(seconds: float, max_bytes: int = 0) -> Iterator[None]:
    """An input that takes too long or too much is an escape too; only where the system can stop it."""
    if not seconds or sys.platform == "win32":
        yield
        return
    import resource

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {seconds:g} seconds")

    pairs = [(signal.SIGPROF, signal.ITIMER_PROF, seconds), (signal.SIGALRM, signal.ITIMER_REAL, 12 * seconds)]
    before = [signal.signal(number, late) for number, _, _ in pairs]
    limits = resource.getrlimit(resource.RLIMIT_AS)
    statistics = Path("/proc/self/statm")
    if max_bytes and statistics.exists():
        size = int(statistics.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + max_bytes, limits[1]))
    for _, timer, duration in pairs:
        signal.setitimer(timer, duration)
    try:
        yield
    finally:
        for _, timer, _ in pairs:
            signal.setitimer(timer, 0)
        resource.setrlimit(resource.RLIMIT_AS, limits)
        for (number, _, _), handler in zip(pairs, before, strict=True):
            signal.signal(number, handler)


# --- one input


def try_case(case: Case, target: Target, *, seconds: float = 0) -> Outcome:
    """Use an input under the limits, and say what came of it."""
    label = f"{case.key} {case.target}"
    try:
        with written(case.files) as folder, warnings.catch_warnings(), limit(seconds, BYTES):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", KaratWarning)  # scores of broken data mislead
            return Outcome(case.target, target.use(folder, Random(case.key)), None)
    except KaratError as problem:  # of what was already read
        return Outcome(case.target, True, _escape(label, "an error late", problem))
    except Exception as problem:  # noqa: BLE001 that is what is looked for
        return Outcome(case.target, True, _escape(label, type(problem).__name__, problem))


def _escape(input: str, what: str, problem: Exception) -> Escape:
    frames = traceback.extract_tb(problem.__traceback__)
    ours = [frame for frame in frames if "/karat/" in frame.filename.replace("\\", "/")] or list(frames)
    place = f"{ours[-1].filename.replace(chr(92), '/').rpartition('/karat/')[2]}:{ours[-1].lineno}"
    return Escape(input, f"{what}: {str(problem)[:200]}", place, "".join(traceback.format_exception(problem)))


def store_case(case: Case, escape: Escape, folder: Path = CASES) -> Path:
    """Write a case to a file named by its target and where it escaped."""
    folder.mkdir(exist_ok=True, parents=True)
    stem = re.sub(r"[^a-z0-9]+", "-", f"{case.target} {escape.place} {escape.what.partition(':')[0]}".lower()).strip(
        "-"
    )
    path = folder / f"{stem[:90]}.json"
    path.write_text(case.to_json(), encoding="utf-8")
    return path
