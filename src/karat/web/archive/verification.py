"""The results of verification campaigns in an archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from karat.model.corpus import DataName
from karat.protocols.verification.measures import Verification
from karat.protocols.verification.posthoc import VARIANTS
from karat.render.verification.judged_links import JudgedLinksFile, build_links_file
from karat.render.verification.report import VerificationFile, build_file
from karat.storage.content_store import ContentStore, content_digest
from karat.web.archive.archive import Archive, read_stored_file
from karat.web.archive.shape import CampaignLinks, JudgedLinksResource, VerificationResource

KIND: Final = "verifications"
LINKS_KIND: Final = "judged-links"


def store_campaign(files: ContentStore, verification: Verification) -> str:
    """Store the results of a verification campaign with the links behind them; return the hash of the results."""
    report = build_file(verification)
    digest = content_digest(msgspec.json.encode(report))
    files.put(LINKS_KIND, msgspec.json.encode(build_links_file(verification, digest)))
    return store_verification(files, report)  # last, so that its links are there when it appears


def store_verification(files: ContentStore, verification: VerificationFile) -> str:
    """Store the results of a verification campaign and return their content hash."""
    return files.put(KIND, msgspec.json.encode(verification))


def list_verifications(archive: Archive) -> Sequence[str]:
    """Return the content hashes of verification results; none if the archive is restricted to one submission."""
    return archive.files.list_digests(KIND) if archive.submission is None else ()


def build_verification(archive: Archive) -> VerificationResource:
    """Build the results of all campaigns; the last report per campaign, dataset and judges counts."""
    reports, links = _read_latest(archive), _read_links(archive)
    return VerificationResource(
        list(reports.values()),
        {name: reading.description for name, reading in VARIANTS.items()},
        [digest in links for digest in reports],
    )


def build_judged_links(archive: Archive) -> JudgedLinksResource:
    """Build the links behind the results of all campaigns, in the order of `build_verification`."""
    links = _read_links(archive)
    keys = {DataName.parse(entry.data).digest: key for key, entry in reversed(archive.datasets.items())}
    return JudgedLinksResource(
        [
            None if (file := links.get(digest)) is None else CampaignLinks(file, keys.get(file.data[:8]))
            for digest in _read_latest(archive)
        ]
    )


def has_judged_links(archive: Archive) -> bool:
    """Return whether the archive has the links behind the results of any campaign."""
    return bool(list_verifications(archive)) and bool(archive.files.list_digests(LINKS_KIND))


def _read_latest(archive: Archive) -> dict[str, VerificationFile]:
    """Return the last report per campaign, dataset and judges, by content hash."""
    reports = {
        digest: read_stored_file(archive, KIND, digest, VerificationFile) for digest in list_verifications(archive)
    }
    latest = {(report.campaign, report.dataset, report.judged_by): digest for digest, report in reports.items()}
    return {digest: reports[digest] for digest in latest.values()}


def _read_links(archive: Archive) -> dict[str, JudgedLinksFile]:
    """Return the links behind reports, by content hash of the report."""
    files = [
        read_stored_file(archive, LINKS_KIND, digest, JudgedLinksFile)
        for digest in archive.files.list_digests(LINKS_KIND)
    ]
    return {file.verification: file for file in files}
