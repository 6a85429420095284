"""Uploads: gold and predictions from users, read and scored in a process that can be killed."""

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

from karat.model.json.decoder import decode_json
from karat.model.registry import list_plugins
from karat.storage.content_store import FolderStore
from karat.web.archive.archive import ArchiveSubmission
from karat.web.archive.submissions import write_submission
from karat.web.server.request_checks import WebError

_SUFFIX: Final = re.compile(r"(\.(?!py\b)[a-z0-9_]{1,20}){0,3}")
NAME: Final = r"[\w .()+,@~-]{1,80}"
"""Pattern of system names."""


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """Limits of an upload: bytes of both files, seconds of scoring, bytes of memory, and uploads scored at once."""

    size: int = 50_000_000
    seconds: float = 120.0
    memory: int = 4_000_000_000
    at_once: int = 2


def score_upload(
    archive: Path,
    gold: tuple[str, bytes],
    predictions: tuple[str, bytes],
    system: str,
    profile: str,
    limits: UploadLimits,
) -> str:
    """Score an upload into an archive and return the submission's name; it is added completely or not at all.

    `gold` and `predictions` are file names and contents, as uploaded. Raises `WebError` for invalid input.
    The scoring process submits nothing itself, so killing it leaves the archive unchanged. Files get safe names, and
    only registered profiles are accepted, so no input is used as a path.
    """
    if not re.fullmatch(NAME, system):
        raise WebError("bad-request", "invalid system name. Use letters, digits, spaces and ( ) + , @ ~ . - only.")
    if profile not in list_plugins("profiles"):
        raise WebError("bad-request", f"unknown profile. Use one of {', '.join(list_plugins('profiles'))}.")
    if len(gold[1]) + len(predictions[1]) > limits.size:
        raise WebError("too-large", f"the upload exceeds {limits.size:,} bytes. Use `karat report --archive`.")
    with TemporaryDirectory(prefix="karat-upload-") as folder:
        sides = {}
        for side, (name, data) in {"gold": gold, "predictions": predictions}.items():
            sides[side] = Path(folder) / side / f"{_make_safe_stem(name) or side}{_check_suffix(name)}"
            sides[side].parent.mkdir()
            sides[side].write_bytes(data)
        arguments = [str(archive.resolve()), str(sides["gold"]), f"{system}={sides['predictions']}", profile]
        output = _run_scoring([sys.executable, "-m", "karat.web.server.scoring", *arguments], folder, limits)
    return write_submission(FolderStore.open_or_create(str(archive)), decode_json(output, ArchiveSubmission))


def _make_safe_stem(name: str) -> str:
    """Return the stem of a file name with unsafe characters replaced, for the dataset's name; it may be empty."""
    return re.sub(r"[^\w-]+", "-", Path(name).name.partition(".")[0])[:60].strip("-")


def _check_suffix(name: str) -> str:
    """Return the lower-case suffix of a file name, such as `.jsonl.gz`; raise `WebError` if no format could have it."""
    _, dot, suffix = Path(name).name.partition(".")
    suffix = dot + suffix
    if not _SUFFIX.fullmatch(suffix.lower()):
        raise WebError("bad-request", "no format has this file suffix. Rename the file, such as gold.jsonl.")
    return suffix.lower()


def _run_scoring(command: list[str], folder: str, limits: UploadLimits) -> bytes:
    """Run the scoring process in `folder` under the limits; return its output, or raise `WebError` with its error."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=_build_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limits.seconds,
            check=False,
            preexec_fn=_make_limiter(limits),  # sets limits only
        )
    except subprocess.TimeoutExpired:
        raise WebError("unusable", f"scoring took longer than {limits.seconds:g} seconds. Upload less.") from None
    if done.returncode == 2:
        message = done.stderr.decode(errors="replace").strip()
        for side in ("gold", "predictions"):
            message = message.replace(f"{folder}{os.sep}{side}{os.sep}", "")
        raise WebError("unusable", message.removeprefix("karat: "))
    if done.returncode:
        raise WebError("unusable", "scoring exceeded the memory limit or crashed. Upload less, or check the files.")
    return done.stdout


def _build_environment() -> Mapping[str, str]:
    """Return the environment variables of the scoring process, only those of Python, paths and languages."""
    variables = {
        name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "PATH", "LANG", "LC_"))
    }
    return {**variables, "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}


def _make_limiter(limits: UploadLimits) -> Callable[[], None] | None:
    """Return a function that limits memory and CPU time of the process that calls it; None on Windows."""
    if sys.platform == "win32":
        return None
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
        resource.setrlimit(resource.RLIMIT_CPU, (int(limits.seconds) + 1, int(limits.seconds) + 1))

    return limit
