"""The process that scores an upload.

`python -m karat.web.server.scoring ARCHIVE GOLD SYSTEM=PREDICTIONS PROFILE`
"""

from __future__ import annotations

import sys

import msgspec

from karat.analysis.comparison.entries import load_entries
from karat.evaluation.request import Request
from karat.model.errors import KaratError
from karat.model.registry import list_plugins
from karat.storage.content_store import FolderStore
from karat.web.archive.submissions import ArchiveOptions, score_entries


def main(archive: str, gold: str, predictions: str, profile: str) -> int:
    """Score an upload, store its files in the archive and print the submission as JSON, without submitting it.

    `predictions` is `SYSTEM=FILE`. Returns the exit code: 0, or 2 with the error on standard error.
    """
    try:
        options = ArchiveOptions(tuple(list_plugins("profiles")))
        submission = score_entries(
            FolderStore.open_or_create(archive),
            load_entries([predictions], [gold]),
            Request.from_options(profile=profile),
            options,
        )
    except KaratError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    sys.stdout.buffer.write(msgspec.json.encode(submission))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
