"""Build backend: setuptools, with archives that depend on nothing but the files of the project.

Two builds give the same bytes, whenever and wherever they are made: entries are sorted, have one date and one mode, and
belong to nobody. SOURCE_DATE_EPOCH sets another date.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_FIRST_DATE = 315532800
"""1980-01-01, the first date that a zip archive can have."""
_FILE_MODE, _FOLDER_MODE = 0o644, 0o755
_REGULAR_FILE = 0o100000


def build_wheel(folder: str, config_settings: Any = None, metadata_folder: str | None = None) -> str:  # noqa: ANN401
    """Build the wheel in `folder` and return its name."""
    name: str = build_meta.build_wheel(folder, config_settings, metadata_folder)
    _rewrite_wheel(Path(folder, name))
    return name


def build_sdist(folder: str, config_settings: Any = None) -> str:  # noqa: ANN401
    """Build the source archive in `folder` and return its name."""
    name: str = build_meta.build_sdist(folder, config_settings)
    _rewrite_sdist(Path(folder, name))
    return name


def _get_date() -> int:
    """Return the date of all entries, in seconds since 1970."""
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", _FIRST_DATE)), _FIRST_DATE)


def _rewrite_wheel(path: Path) -> None:
    """Write a zip archive again, with sorted entries of one date and one mode; RECORD is last, as wheels want it."""
    with zipfile.ZipFile(path) as archive:
        names = sorted(archive.namelist(), key=lambda name: (".dist-info/" in name, name.endswith("/RECORD"), name))
        contents = {name: archive.read(name) for name in names if not name.endswith("/")}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, time.gmtime(_get_date())[:6])
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (_REGULAR_FILE | _FILE_MODE) << 16
            archive.writestr(entry, content)
    path.write_bytes(buffer.getvalue())


def _rewrite_sdist(path: Path) -> None:
    """Write a compressed tar archive again, with sorted entries of one date, one mode and no owner."""
    with tarfile.open(path) as archive:
        entries = {}
        for member in archive.getmembers():
            content = archive.extractfile(member)
            entries[member.name] = None if content is None else content.read()
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=_get_date()) as compressed,
        tarfile.open(mode="w", fileobj=compressed, format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(entries):
            content = entries[name]
            entry = tarfile.TarInfo(name)
            entry.mtime, entry.mode = _get_date(), _FILE_MODE if content is not None else _FOLDER_MODE
            entry.type, entry.size = (tarfile.DIRTYPE, 0) if content is None else (tarfile.REGTYPE, len(content))
            archive.addfile(entry, None if content is None else io.BytesIO(content))
    path.write_bytes(buffer.getvalue())
