"""Uploads: gold and predictions from users, read and scored in a process that can be killed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Event, Timer
from typing import Final

import msgspec

from karat.kb.catalogue import STARTER, get_snapshots_folder, list_snapshot_names
from karat.model.errors import UsageError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.registry import list_plugins
from karat.storage.content_store import FolderStore
from karat.web.archive.archive import ArchiveSubmission
from karat.web.archive.submissions import UploadDetails, write_submission
from karat.web.server.progress import UploadProgress
from karat.web.server.request_checks import WebError
from karat.web.server.scoring import ScoringMessage, UploadJob

_SUFFIX: Final = re.compile(r"(\.(?!py\b)[a-z0-9_]{1,20}){0,3}")
NAME: Final = r"[\w .()+,@~-]{1,80}"
"""Pattern of system names."""
MAX_DESCRIPTION: Final = 1000
"""Maximum length of the description of a system."""


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """Limits of an upload: bytes of both files, seconds of scoring, bytes of memory, and uploads scored at once."""

    size: int = 50_000_000
    seconds: float = 120.0
    memory: int = 4_000_000_000
    at_once: int = 2


@dataclass(frozen=True, slots=True)
class Upload:
    """Gold standard and predictions as uploaded, both with file name and content, and how to score them."""

    gold: tuple[str, bytes]
    predictions: tuple[str, bytes]
    system: str
    profile: str = "karat"
    kb: str = ""
    """Name of a knowledge base of the server; empty for none."""
    description: str = ""
    date: str = ""
    """Date of the system, such as 2026-01-31; empty if unknown."""


def list_knowledge_bases(folders: Iterable[str] = ()) -> dict[str, str]:
    """Return the knowledge bases that uploads may name, each with its path: all snapshots and the given `folders`.

    Raise `UsageError` for a folder that does not exist, or for two of one name.
    """
    paths = {STARTER: STARTER} | {name: str(get_snapshots_folder() / name) for name in list_snapshot_names()}
    for folder in folders:
        if folder in paths:
            continue
        path = Path(folder).resolve()
        if not path.is_dir():
            raise UsageError(f"{folder}: no such knowledge base. Pass a folder, or one of {', '.join(paths)}.")
        if path.name in paths:
            raise UsageError(f"{folder}: there is another knowledge base named {path.name}. Rename the folder.")
        paths[path.name] = str(path)
    return paths


def score_upload(
    archive: Path,
    upload: Upload,
    knowledge_bases: Mapping[str, str],
    limits: UploadLimits,
    report: Callable[[UploadProgress], None] = lambda progress: None,
) -> str:
    """Score an upload into an archive and return the submission's name; it is added completely or not at all.

    `knowledge_bases` are paths by name, and `report` gets the progress. Raises `WebError` for invalid input.
    The scoring process submits nothing itself, so killing it leaves the archive unchanged. Files get safe names, and
    only registered profiles and knowledge bases are accepted, so no input is used as a path.
    """
    _check_upload(upload, knowledge_bases, limits)
    with TemporaryDirectory(prefix="karat-upload-") as folder:
        sides = {}
        for side, (name, data) in {"gold": upload.gold, "predictions": upload.predictions}.items():
            sides[side] = Path(folder) / side / f"{_make_safe_stem(name) or side}{_check_suffix(name)}"
            sides[side].parent.mkdir()
            sides[side].write_bytes(data)
        job = UploadJob(
            str(archive.resolve()),
            str(sides["gold"]),
            f"{upload.system}={sides['predictions']}",
            upload.profile,
            knowledge_bases[upload.kb] if upload.kb else None,
            UploadDetails(upload.description.strip() or None, upload.date or None),
        )
        submission = _run_scoring(job, folder, limits, report)
    return write_submission(FolderStore.open_or_create(str(archive)), submission)


def _check_upload(upload: Upload, knowledge_bases: Mapping[str, str], limits: UploadLimits) -> None:
    """Raise `WebError` if a name, the date or the size of an upload is not accepted."""
    if not re.fullmatch(NAME, upload.system):
        raise WebError("bad-request", "invalid system name. Use letters, digits, spaces and ( ) + , @ ~ . - only.")
    if upload.profile not in list_plugins("profiles"):
        raise WebError("bad-request", f"unknown profile. Use one of {', '.join(list_plugins('profiles'))}.")
    if upload.kb and upload.kb not in knowledge_bases:
        raise WebError("bad-request", f"unknown knowledge base. Use one of {', '.join(knowledge_bases) or 'none'}.")
    if len(upload.description) > MAX_DESCRIPTION:
        raise WebError("bad-request", f"the description exceeds {MAX_DESCRIPTION} characters. Shorten it.")
    if upload.date and not _is_date(upload.date):
        raise WebError("bad-request", "the date is invalid. Write it as YEAR-MONTH-DAY, such as 2026-01-31.")
    if len(upload.gold[1]) + len(upload.predictions[1]) > limits.size:
        raise WebError("too-large", f"the upload exceeds {limits.size:,} bytes. Use `karat report --archive`.")


def _is_date(text: str) -> bool:
    """Return whether a text is a date such as 2026-01-31."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


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


def _run_scoring(
    job: UploadJob, folder: str, limits: UploadLimits, report: Callable[[UploadProgress], None]
) -> ArchiveSubmission:
    """Run the scoring process in `folder` under the limits; return its submission, or raise `WebError` with its error.

    `report` gets the progress, without the folder of the files.
    """
    command = [sys.executable, "-m", "karat.web.server.scoring", msgspec.json.encode(job).decode()]
    submission, has_timed_out = None, Event()
    with (
        TemporaryFile(dir=folder) as errors,
        subprocess.Popen(
            command,
            cwd=folder,
            env=_build_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            preexec_fn=_make_limiter(limits),  # sets limits only
        ) as process,
    ):

        def stop() -> None:
            has_timed_out.set()
            process.kill()

        timer = Timer(limits.seconds, stop)
        timer.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                message = _decode_message(line)
                submission = message.submission or submission
                if message.progress is not None:
                    text = _hide_folder(message.progress.description, folder)
                    report(msgspec.structs.replace(message.progress, description=text))
            process.wait()
        finally:
            timer.cancel()
            process.kill()  # has no effect on one that has ended
        errors.seek(0)
        error = _hide_folder(errors.read().decode(errors="replace").strip(), folder).removeprefix("karat: ")
    if submission is not None and process.returncode == 0:
        return submission
    if has_timed_out.is_set():
        raise WebError("unusable", f"scoring took longer than {limits.seconds:g} seconds. Upload less.")
    if process.returncode == 2:
        raise WebError("unusable", error)
    raise WebError("unusable", "scoring exceeded the memory limit or crashed. Upload less, or check the files.")


def _decode_message(line: bytes) -> ScoringMessage:
    """Decode a line of the scoring process; an empty message if it was killed within the line."""
    try:
        return decode_json(line, ScoringMessage)
    except JsonError:
        return ScoringMessage()


def _hide_folder(text: str, folder: str) -> str:
    """Return a message without the folder of the uploaded files."""
    for side in ("gold", "predictions"):
        text = text.replace(f"{folder}{os.sep}{side}{os.sep}", "")
    return text


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
