"""What judges found, as the client asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from karat.archive.archive import Archive
from karat.archive.shape import VerificationPiece
from karat.pages.judged.verification import VerificationFile
from karat.storage.addressed import ArchiveFiles
from karat.verification.posthoc import READINGS

KIND: Final = "verifications"


def keep(files: ArchiveFiles, found: VerificationFile) -> str:
    """Put what judges found into an archive."""
    return files.put(KIND, msgspec.json.encode(found))


def verifications(archive: Archive) -> Sequence[str]:
    """The reports in an archive, by their fingerprints; a single addition of results has none."""
    return archive.files.digests(KIND) if archive.at is None else ()


def verification(archive: Archive) -> VerificationPiece:
    """All campaigns; of several reports on one campaign by the same judges the last counts."""
    every = [
        msgspec.json.decode(archive.files.get(KIND, digest), type=VerificationFile) for digest in verifications(archive)
    ]
    last = {(one.campaign, one.dataset, one.judged_by): one for one in every}
    return VerificationPiece(list(last.values()), {name: reading.says for name, reading in READINGS.items()})
