"""A made-up resource of the web client."""

from __future__ import annotations

from karat.model.output.json_files import JsonRecord
from karat.web.archive.archive import Archive
from karat.web.archive.resource import Resource


class NewRow(JsonRecord, frozen=True):
    """A system and the number of its results."""

    system: str
    results: int


class NewResource(JsonRecord, frozen=True):
    """`new-resource`: the number of results of each system."""

    rows: list[NewRow]


def _build(archive: Archive) -> NewResource:
    """Count the results of each system in `archive`."""
    systems = sorted({entry.system for entry in archive.entries})
    return NewResource([NewRow(system, sum(entry.system == system for entry in archive.entries)) for system in systems])


RESOURCE = Resource(NewResource, _build)
