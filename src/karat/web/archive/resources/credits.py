"""The credits of predictions under several rules."""

from __future__ import annotations

from karat.model.errors import UsageError
from karat.web.archive.archive import Archive
from karat.web.archive.resource import Resource
from karat.web.archive.shape import CreditsResource, CreditTrack


def build_credits(archive: Archive, key: str) -> CreditsResource:
    """Build the credit of each prediction on the dataset `key` under several rules; raise if there are no cases."""
    systems = archive.systems
    entries = sorted(archive.get_entries(key), key=lambda entry: systems.index(entry.system))
    files = [(entry, file) for entry in entries if (file := archive.read_credits(entry)) is not None]
    if not files:
        raise UsageError("the archive has results but no cases. Pass gold and predictions to `karat report`.")
    tracks = [CreditTrack(systems.index(entry.system), file.credits) for entry, file in files]
    return CreditsResource(archive.datasets[key].dataset, files[0][1].rules, tracks)


RESOURCE = Resource(
    CreditsResource,
    build_credits,
    is_per_dataset=True,
    is_available=lambda archive, key: any(entry.credits for entry in archive.get_entries(key)),
)
