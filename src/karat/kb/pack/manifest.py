"""What a pack says about itself: where it comes from, of which day, under which licence, and what is in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from karat.errors import InputError, refuse_newer
from karat.storage.files import readable

MANIFEST = "manifest.json"
LAYOUT = "pack/1"


class PackSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a pack was made from: a name, its version or date, its licence, and the fingerprints of the files."""

    name: str
    version: str = ""
    licence: str = ""
    files: Mapping[str, str] = {}


class PackTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a pack: how many rows it has, and the fingerprint and the size of its file."""

    rows: int
    sha256: str
    size: int


class PackManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The first file of a pack.

    `date` is the day that the knowledge is of. `space` is the id space of its entities, and `titles` the one that ids
    without any sign of their space belong to (`enwiki`). A pack that is not `complete` says nothing about ids that it
    does not have. `popularity` says what popular entities were chosen by. `repairs` counts what was left out or mended
    while it was built, in words; `notes` are for people.
    """

    karat: str
    name: str
    date: str
    title: str = ""
    licence: str = ""
    space: str = ""
    titles: str = ""
    complete: bool = True
    anchor_counts: str = "none"
    popularity: str = "none"
    sources: tuple[PackSource, ...] = ()
    tables: Mapping[str, PackTable] = {}
    counts: Mapping[str, int] = {}
    repairs: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()
    digest: str = ""


def is_pack(folder: Path) -> bool:
    """Whether a folder holds a pack."""
    return (folder / MANIFEST).is_file()


def read_manifest(folder: Path) -> PackManifest:
    """The manifest of a pack, or an error that says what is wrong with it."""
    path = folder / MANIFEST
    where = readable(str(path))
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise InputError(
            where,
            found=f"nothing that can be read ({problem.strerror})",
            expected="the manifest of a pack",
            remedy="Check the path, or build the pack again",
        ) from None
    try:
        layout = msgspec.json.decode(data, type=_Layout).karat
        refuse_newer(where, layout, LAYOUT)
        return msgspec.json.decode(data, type=PackManifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(
            where, found=str(problem), expected=f"a manifest of layout {LAYOUT}", remedy="Build the pack again"
        ) from None


class _Layout(msgspec.Struct):
    karat: str
