"""The process that scores an upload: `python -m karat.web.server.scoring JOB`, with a `UploadJob` as JSON.

It prints a `ScoringMessage` per line: its progress, and at the end the submission.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from karat.analysis.comparison.entries import load_entries
from karat.evaluation.request import Request
from karat.model.errors import KaratError
from karat.model.json.decoder import decode_json
from karat.model.output.progress import Advance, report_progress_to
from karat.model.registry import list_plugins
from karat.storage.content_store import FolderStore
from karat.web.archive.archive import ArchiveSubmission
from karat.web.archive.submissions import ArchiveOptions, UploadDetails, score_entries
from karat.web.server.progress import UploadProgress

_INTERVAL: Final = 0.1  # seconds between two messages about one task


class UploadJob(msgspec.Struct, frozen=True):
    """An upload to score; all paths and names are checked."""

    archive: str
    gold: str
    predictions: str
    """`SYSTEM=FILE`."""
    profile: str
    kb: str | None
    details: UploadDetails


class ScoringMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of output: progress, or the submission at the end."""

    progress: UploadProgress | None = None
    submission: ArchiveSubmission | None = None


def main(job: UploadJob) -> int:
    """Score an upload, store its files in the archive and print the submission, without submitting it.

    Returns the exit code: 0, or 2 with the error on standard error.
    """
    try:
        options = ArchiveOptions(tuple(list_plugins("profiles")), upload=job.details)
        with report_progress_to(_report):
            submission = score_entries(
                FolderStore.open_or_create(job.archive),
                list(load_entries([job.predictions], [job.gold])),
                Request.from_options(profile=job.profile, kb=job.kb),
                options,
            )
    except KaratError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    _print(ScoringMessage(submission=submission))
    return 0


@contextmanager
def _report(description: str, total: int | None) -> Iterator[Advance]:
    """Print the progress of a task when it starts and while it runs."""
    done, last = 0, time.monotonic()
    _print(ScoringMessage(UploadProgress(description, done, total)))

    def advance(amount: int) -> None:
        nonlocal done, last
        done += amount
        if time.monotonic() - last >= _INTERVAL:
            last = time.monotonic()
            _print(ScoringMessage(UploadProgress(description, done, total)))

    yield advance


def _print(message: ScoringMessage) -> None:
    """Print a message as a line of JSON, at once."""
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(decode_json(sys.argv[1].encode(), UploadJob)))
