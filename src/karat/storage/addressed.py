"""Immutable files named by their content: in memory for one report, in a folder for a viewer."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, Protocol

from karat.errors import InputError, UsageError, refuse_newer

KINDS: Final = {
    "additions": ".json",
    "entries": ".json",
    "results": ".json",
    "verdicts": ".parquet",
    "credits": ".json",
    "texts": ".jsonl",
    "curves": ".jsonl",
    "reasons": ".json",
    "verifications": ".json",
}
"""The folders of an archive, each with how its files end."""

LAYOUT: Final = "karat-archive/1"
"""How the folder of an archive is laid out."""

_ABOUT: Final = "archive.json"

_DIGEST: Final = re.compile(r"[0-9a-f]{32}")


class ArchiveFiles(Protocol):
    """Where the files of an archive lie. A file is never changed: what it holds is what it is called."""

    def put(self, kind: str, data: bytes) -> str:
        """Keep some bytes, and say what they are called from now on."""

    def get(self, kind: str, digest: str) -> bytes:
        """What was kept under a name."""

    def digests(self, kind: str) -> Sequence[str]:
        """The names of all files of a kind."""

    def path(self, kind: str, digest: str) -> Path | None:
        """Where a file lies, for who reads only parts of it; None where it lies nowhere."""


def digest_of(data: bytes) -> str:
    """What bytes are called: the first half of their SHA-256."""
    return hashlib.sha256(data).hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class InMemory:
    """Files that are gone with the program."""

    kept: dict[tuple[str, str], bytes] = field(default_factory=dict, repr=False)

    def put(self, kind: str, data: bytes) -> str:
        """Keep some bytes."""
        digest = digest_of(data)
        self.kept[kind, digest] = data
        return digest

    def get(self, kind: str, digest: str) -> bytes:
        """What was kept under a name."""
        return self.kept[kind, digest]

    def digests(self, kind: str) -> list[str]:
        """The names of all files of a kind, in the order in which they came."""
        return [digest for own, digest in self.kept if own == kind]

    def path(self, kind: str, digest: str) -> None:
        """Nowhere."""


@dataclass(frozen=True)
class InFolder:
    """Files in a folder. Each is written beside its place and renamed, so that two writers cannot harm each other."""

    root: Path

    @classmethod
    def made(cls, path: str) -> InFolder:
        """A folder that is created where there is none."""
        root = Path(path)
        if root.exists() and not root.is_dir():
            raise UsageError(f"{path} is a file. Name the folder of an archive, or one that is not there yet.")
        found = next(root.iterdir(), None) if root.exists() else None
        if found is not None and not is_archive(path):
            raise UsageError(f"{path} is no archive, and not empty. Name another folder.")
        if found is None:
            (root / "entries").mkdir(parents=True, exist_ok=True)
            _write(root / _ABOUT, json.dumps({"layout": LAYOUT}).encode() + b"\n")
        made = cls(root)
        made._check()
        return made

    def _check(self) -> None:
        """Refuse the layout of a newer Karat; without the file it is the first."""
        place = self.root / _ABOUT
        if not place.exists():
            return
        try:
            said = json.loads(place.read_bytes())["layout"]
        except (OSError, ValueError, TypeError, KeyError):
            said = ""
        refuse_newer(str(place), str(said), LAYOUT)
        if said != LAYOUT:
            raise InputError(
                str(place),
                found="no layout of an archive",
                expected=LAYOUT,
                remedy="Name the folder of an archive, or make the archive anew",
            )

    def put(self, kind: str, data: bytes) -> str:
        """Keep some bytes; those that are there already are not written again."""
        digest = digest_of(data)
        target = self._place(kind, digest)
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            _write(target, data)
        return digest

    def get(self, kind: str, digest: str) -> bytes:
        """What was kept under a name, if nobody changed it since."""
        place = self._place(kind, digest)
        try:
            data = place.read_bytes()
        except OSError:
            data = b""
        if digest_of(data) != digest:
            raise InputError(
                str(place),
                found="no file, or not the bytes that it is named after",
                expected="the file as it was written",
                remedy="Copy it again from where the archive was made, or make the archive anew",
            )
        return data

    def digests(self, kind: str) -> list[str]:
        """The names of all files of a kind, the oldest first."""
        return [path.stem for path in sorted(self._files(kind), key=lambda path: (path.stat().st_mtime_ns, path.name))]

    def path(self, kind: str, digest: str) -> Path:
        """Where a file lies."""
        return self._place(kind, digest)

    def _files(self, kind: str) -> Iterator[Path]:
        folder = self.root / kind
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.suffix == KINDS[kind] and _DIGEST.fullmatch(path.stem):
                yield path

    def _place(self, kind: str, digest: str) -> Path:
        if kind not in KINDS or not _DIGEST.fullmatch(digest):
            raise UsageError(f"{kind}/{digest} is no file of an archive. Name one by its kind and its fingerprint.")
        return self.root / kind / f"{digest}{KINDS[kind]}"


def _write(target: Path, data: bytes) -> None:
    """Beside its place first, and renamed when all of it is on the disk."""
    with NamedTemporaryFile(dir=target.parent, prefix=f".{target.stem}.", suffix=".part", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            file.close()  # which Windows wants before a file is renamed
            Path(file.name).replace(target)
        finally:
            Path(file.name).unlink(missing_ok=True)


def is_archive(path: str) -> bool:
    """Whether a path is that of an archive."""
    return (Path(path) / "entries").is_dir()
