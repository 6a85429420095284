"""Immutable files named by their content hash: in memory for one report, in a folder for an archive."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from karat.model.errors import InputError, UsageError, check_layout_version
from karat.model.json.decoder import JsonError, decode_json
from karat.storage.atomic_writing import flush_folder, remove_leftovers, write_durably

SUFFIX_BY_KIND: Final = {
    "submissions": ".json",
    "entries": ".json",
    "results": ".json",
    "verdicts": ".parquet",
    "credits": ".json",
    "texts": ".jsonl",
    "curves": ".jsonl",
    "reasons": ".json",
    "verifications": ".json",
    "judged-links": ".json",
    "reproductions": ".json",
}
"""Kinds of files in an archive, which name its folders, with their file suffixes."""

LAYOUT: Final = "karat-archive/2"
"""Layout of the archive folder."""

_LAYOUT_FILE: Final = "archive.json"

_DIGEST: Final = re.compile(r"[0-9a-f]{32}")


class ContentStore(Protocol):
    """The interface of an archive's files. A file never changes, for its name is the hash of its content.

    `kind` is a key of `SUFFIX_BY_KIND`, `digest` the result of `content_digest`.
    """

    def put(self, kind: str, data: bytes) -> str:
        """Store some bytes; return their digest."""

    def get(self, kind: str, digest: str) -> bytes:
        """Return the bytes with a digest; raise an error if there are none."""

    def list_digests(self, kind: str) -> Sequence[str]:
        """Return the digests of all files of a kind, oldest first."""

    def get_path(self, kind: str, digest: str) -> Path | None:
        """Return the path of a file, for partial reads; None if it is not on disk."""


def content_digest(data: bytes) -> str:
    """Return the digest of some bytes: the first half of their SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class MemoryStore:
    """A content store in memory."""

    files: dict[tuple[str, str], bytes] = field(default_factory=dict, repr=False)
    """Content by kind and digest."""

    def put(self, kind: str, data: bytes) -> str:
        """Store some bytes; return their digest."""
        digest = content_digest(data)
        self.files[kind, digest] = data
        return digest

    def get(self, kind: str, digest: str) -> bytes:
        """Return the bytes with a digest; raise `KeyError` if there are none."""
        return self.files[kind, digest]

    def list_digests(self, kind: str) -> list[str]:
        """Return the digests of all files of a kind, oldest first."""
        return [digest for file_kind, digest in self.files if file_kind == kind]

    def get_path(self, kind: str, digest: str) -> None:
        """Return None: the files are not on disk."""


@dataclass(frozen=True)
class FolderStore:
    """A content store in a folder.

    Each file is written under a temporary name and renamed, so that writers cannot interfere.
    """

    root: Path
    """Folder of the archive."""

    @classmethod
    def open_or_create(cls, path: str) -> FolderStore:
        """Open the archive in a folder, or create it if the folder is missing or empty.

        Raise `UsageError` if the path is something else, and `InputError` if the layout is unknown.
        """
        root = Path(path)
        if root.exists() and not root.is_dir():
            raise UsageError(f"{path} is a file. Name an archive folder, or a new folder.")
        first_entry = next(root.iterdir(), None) if root.exists() else None
        if first_entry is not None and not is_archive(path):
            raise UsageError(f"{path} is not an archive and not empty. Name another folder.")
        if first_entry is None:
            (root / "entries").mkdir(parents=True, exist_ok=True)
            write_durably(root / _LAYOUT_FILE, json.dumps({"layout": LAYOUT}).encode() + b"\n")
        store = cls(root)
        store._check_layout()
        for folder in (root, *(root / kind for kind in SUFFIX_BY_KIND)):
            remove_leftovers(folder)
        return store

    def _check_layout(self) -> None:
        """Raise `InputError` if the layout is of a newer Karat or invalid; a missing layout file is accepted."""
        layout_path = self.root / _LAYOUT_FILE
        if not layout_path.exists():
            return
        try:
            layout = decode_json(layout_path.read_bytes(), dict[str, object])["layout"]
        except (OSError, JsonError, KeyError):
            layout = ""
        check_layout_version(str(layout_path), str(layout), LAYOUT)
        if layout != LAYOUT:
            raise InputError(
                str(layout_path),
                actual="an invalid archive layout",
                expected=LAYOUT,
                remedy="Name an archive folder, or create the archive again",
            )

    def put(self, kind: str, data: bytes) -> str:
        """Store some bytes unless they exist already; return their digest."""
        digest = content_digest(data)
        target = self.get_path(kind, digest)
        if not target.exists():
            if not target.parent.is_dir():
                target.parent.mkdir(exist_ok=True)
                flush_folder(self.root)
            write_durably(target, data)
        return digest

    def get(self, kind: str, digest: str) -> bytes:
        """Return the bytes with a digest; raise `InputError` if the file is missing or was changed."""
        path = self.get_path(kind, digest)
        try:
            data = path.read_bytes()
        except OSError:
            data = b""
        if content_digest(data) != digest:
            raise InputError(
                str(path),
                actual="a missing file, or content that does not match its name",
                expected="the unchanged file",
                remedy="Copy the file again from the original archive, or create the archive again",
            )
        return data

    def list_digests(self, kind: str) -> list[str]:
        """Return the digests of all files of a kind, oldest first by modification time."""
        return [
            path.stem
            for path in sorted(self._iterate_files(kind), key=lambda path: (path.stat().st_mtime_ns, path.name))
        ]

    def _iterate_files(self, kind: str) -> Iterator[Path]:
        """Yield the paths of all files of a kind whose names are digests."""
        folder = self.root / kind
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.suffix == SUFFIX_BY_KIND[kind] and _DIGEST.fullmatch(path.stem):
                yield path

    def get_path(self, kind: str, digest: str) -> Path:
        """Return the path of a file, whether or not it exists; raise `UsageError` for an invalid kind or digest."""
        if kind not in SUFFIX_BY_KIND or not _DIGEST.fullmatch(digest):
            raise UsageError(f"{kind}/{digest} is not a file of an archive. Name it by its kind and digest.")
        return self.root / kind / f"{digest}{SUFFIX_BY_KIND[kind]}"


def is_archive(path: str) -> bool:
    """Return whether a path is an archive folder: it has the subfolder `entries`."""
    return (Path(path) / "entries").is_dir()
