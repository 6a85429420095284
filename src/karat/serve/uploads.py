"""Uploads: gold and answers of anybody, read and scored in a process that can be killed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from karat.archive.archive import ArchiveAddition
from karat.archive.making import add
from karat.registry import names
from karat.serve.guard import WebError
from karat.storage.addressed import InFolder

_SUFFIX: Final = re.compile(r"(\.(?!py\b)[a-z0-9_]{1,20}){0,3}")
NAME: Final = r"[\w .()+,@~-]{1,80}"
"""What a system may be called."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What an upload may take: bytes of its files, seconds, and bytes of memory; and how many are scored at once."""

    size: int = 50_000_000
    seconds: float = 120.0
    memory: int = 4_000_000_000
    at_once: int = 2


def scored_into(
    archive: Path, gold: tuple[str, bytes], answers: tuple[str, bytes], system: str, like: str, bounds: Bounds
) -> str:
    """Score an upload into an archive, and say what the addition is called; it is there as a whole, or not at all.

    The process that reads it adds nothing: whoever kills it, or this one, leaves the archive as it was. Files
    get names that lead nowhere, and only profiles that are registered are taken: nothing that is given is a path.
    """
    if not re.fullmatch(NAME, system):
        raise WebError("bad-request", "the name of a system has letters, digits, spaces and ( ) + , @ ~ . - in it.")
    if like not in names("profiles"):
        raise WebError("bad-request", f"there is no profile of this name: {', '.join(names('profiles'))}.")
    if len(gold[1]) + len(answers[1]) > bounds.size:
        raise WebError("too-large", f"an upload has at most {bounds.size:,} bytes. Use karat report --archive.")
    with TemporaryDirectory(prefix="karat-upload-") as folder:
        sides = {}
        for side, (name, data) in {"gold": gold, "answers": answers}.items():
            sides[side] = Path(folder) / side / f"{_stem(name) or side}{_suffix(name)}"
            sides[side].parent.mkdir()
            sides[side].write_bytes(data)
        given = [str(archive.resolve()), str(sides["gold"]), f"{system}={sides['answers']}", like]
        printed = _run([sys.executable, "-m", "karat.serve.scoring", *given], folder, bounds)
    return add(InFolder.made(str(archive)), msgspec.json.decode(printed, type=ArchiveAddition))


def _stem(name: str) -> str:
    """What a file is called, as far as a name needs: it is what its dataset will be called."""
    return re.sub(r"[^\w-]+", "-", Path(name).name.partition(".")[0])[:60].strip("-")


def _suffix(name: str) -> str:
    """How a file ends, as far as that says how it is read."""
    _, dot, ends = Path(name).name.partition(".")
    ends = dot + ends
    if not _SUFFIX.fullmatch(ends.lower()):
        raise WebError("bad-request", "the file ends in a way that no format has. Rename it, such as gold.jsonl.")
    return ends.lower()


def _run(command: list[str], folder: str, bounds: Bounds) -> bytes:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=bounds.seconds,
            check=False,
            preexec_fn=_limited(bounds),  # sets limits only
        )
    except subprocess.TimeoutExpired:
        raise WebError("unusable", f"reading took longer than {bounds.seconds:g} seconds.") from None
    if done.returncode == 2:
        said = done.stderr.decode(errors="replace").strip()
        for side in ("gold", "answers"):
            said = said.replace(f"{folder}{os.sep}{side}{os.sep}", "")
        raise WebError("unusable", said.removeprefix("karat: "))
    if done.returncode:
        raise WebError("unusable", "the files took more memory than an upload may, or broke the reader.")
    return done.stdout


def _environment() -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "PATH", "LANG", "LC_"))}
    return {**kept, "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}


def _limited(bounds: Bounds) -> Callable[[], None] | None:
    if sys.platform == "win32":
        return None
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (bounds.memory, bounds.memory))
        resource.setrlimit(resource.RLIMIT_CPU, (int(bounds.seconds) + 1, int(bounds.seconds) + 1))

    return limit
