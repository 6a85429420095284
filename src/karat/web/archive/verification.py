"""The results of verification campaigns in an archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from karat.protocols.verification.posthoc import VARIANTS
from karat.render.verification.report import VerificationFile
from karat.storage.content_store import ContentStore
from karat.web.archive.archive import Archive, read_stored_file
from karat.web.archive.shape import VerificationResource

KIND: Final = "verifications"


def store_verification(files: ContentStore, verification: VerificationFile) -> str:
    """Store the results of a verification campaign and return their content hash."""
    return files.put(KIND, msgspec.json.encode(verification))


def list_verifications(archive: Archive) -> Sequence[str]:
    """Return the content hashes of verification results; none if the archive is restricted to one submission."""
    return archive.files.list_digests(KIND) if archive.submission is None else ()


def build_verification(archive: Archive) -> VerificationResource:
    """Build the results of all campaigns; the last report per campaign, dataset and judges counts."""
    reports = [read_stored_file(archive, KIND, digest, VerificationFile) for digest in list_verifications(archive)]
    latest = {(report.campaign, report.dataset, report.judged_by): report for report in reports}
    return VerificationResource(
        list(latest.values()), {name: reading.description for name, reading in VARIANTS.items()}
    )
