"""The manifest of a snapshot: its sources, date, licence and tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from karat.model.errors import InputError, check_layout_version
from karat.model.json.decoder import JsonError, decode_json
from karat.storage.files import printable_path

MANIFEST = "manifest.json"
"""File name of the manifest."""
LAYOUT = "snapshot/2"
"""Layout of snapshots that this version writes."""
UNKNOWN_POPULARITY = "unknown without counts, links or population, except for names of one entity"
"""Criterion of popular entities in a snapshot without any frequency."""


class SnapshotSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A source of a snapshot."""

    name: str
    """Name of the source."""
    version: str = ""
    """Version or date of the source."""
    licence: str = ""
    """Licence of the source."""
    files: Mapping[str, str] = {}
    """SHA-256 of each file, by file name; empty text if not computed."""


class SnapshotTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a snapshot."""

    rows: int
    """Number of rows."""
    sha256: str
    """SHA-256 of the file."""
    size: int
    """Size of the file in bytes."""


class SnapshotManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The manifest of a snapshot, `manifest.json`."""

    karat: str
    """Layout of the snapshot."""
    name: str
    """Name in reports and signatures."""
    date: str
    """Day to which the content refers."""
    title: str = ""
    """Description in one line."""
    licence: str = ""
    """Licence of the content."""
    space: str = ""
    """Id space of the entities, such as `wikidata`; empty if unknown."""
    title_space: str = ""
    """Id space of bare titles, such as `enwiki`; empty if there is none."""
    complete: bool = True
    """Whether every entity is listed; otherwise a missing id may still be an entity."""
    anchor_counts: str = "none"
    """Source of the counts of aliases."""
    popularity: str = "none"
    """Criterion by which popular entities were selected."""
    sources: tuple[SnapshotSource, ...] = ()
    """Sources of the content."""
    tables: Mapping[str, SnapshotTable] = {}
    """Tables by name."""
    counts: Mapping[str, int] = {}
    """Row counts by table, and further counts of the builder."""
    repairs: Mapping[str, int] = {}
    """Number of skipped or corrected inputs, by description."""
    notes: tuple[str, ...] = ()
    """Remarks for readers."""
    digest: str = ""
    """Eight hexadecimal digits that identify the content of all tables."""


def is_snapshot(folder: Path) -> bool:
    """Return whether a folder holds a snapshot, which is the case if it has a manifest."""
    return (folder / MANIFEST).is_file()


def read_manifest(folder: Path) -> SnapshotManifest:
    """Read the manifest of a snapshot; raise `InputError` if it is missing, invalid or of another layout."""
    path = folder / MANIFEST
    where = printable_path(str(path))
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise InputError(
            where,
            actual=f"no readable file ({problem.strerror})",
            expected="the manifest of a snapshot",
            remedy="Check the path, or build the snapshot again",
        ) from None
    try:
        layout = decode_json(data, _Layout).karat
        check_layout_version(where, layout, LAYOUT)
        return decode_json(data, SnapshotManifest)
    except JsonError as problem:
        raise InputError(
            where, actual=str(problem), expected=f"a manifest of layout {LAYOUT}", remedy="Build the snapshot again"
        ) from None


class _Layout(msgspec.Struct):
    """The layout of a manifest, which is read first."""

    karat: str
