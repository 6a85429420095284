"""Writer of the hashed requirements in requirements/, from pyproject.toml, constraints.txt and a package index.

`python tools/lock.py --index ADDRESS` needs the packages of all extras (`make extras`), whose metadata name their
requirements. ADDRESS is a simple index, as `pip install --index-url` takes it. The files contain no address.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent

FILES = {"base": (), "all": ("all",)}
"""The extras in each hashed file, by the name of the file."""

ENVIRONMENTS = [
    {
        "sys_platform": sys_platform,
        "platform_system": system,
        "os_name": os_name,
        "platform_machine": machine,
        "python_version": version,
        "python_full_version": f"{version}.0",
    }
    for sys_platform, system, os_name, machine in (
        ("linux", "Linux", "posix", "x86_64"),
        ("linux", "Linux", "posix", "aarch64"),
        ("darwin", "Darwin", "posix", "arm64"),
        ("win32", "Windows", "nt", "AMD64"),
    )
    for version in ("3.11", "3.12", "3.13", "3.14")
]
"""The machines whose requirements the files contain; others may need more packages."""


class LockedRequirement(NamedTuple):
    """A pinned package of a hashed file, with the SHA-256 sums of its files and the packages that require it."""

    name: str
    version: str
    hashes: tuple[str, ...]
    required_by: tuple[str, ...]


def read_project() -> dict[str, object]:
    """Return the table `project` of pyproject.toml."""
    project: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def list_direct_requirements(project: Mapping[str, object], extras: Iterable[str]) -> list[Requirement]:
    """Return the requirements of `project` and of `extras`, with extras of Karat itself replaced by their contents."""
    dependencies, optional = project["dependencies"], project["optional-dependencies"]
    assert isinstance(dependencies, list)
    assert isinstance(optional, dict)
    requirements = [Requirement(text) for text in dependencies]
    pending, expanded = list(extras), set[str]()
    while pending:
        extra = pending.pop()
        if extra in expanded:
            continue
        expanded.add(extra)
        for requirement in map(Requirement, optional[extra]):
            if requirement.name == "karat":
                pending += requirement.extras
            else:
                requirements.append(requirement)
    return requirements


def read_pins() -> dict[str, str]:
    """Return the versions in constraints.txt by canonical name."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def find_requirements(direct: Iterable[Requirement]) -> dict[str, set[str]]:
    """Return the packages that `direct` requirements lead to on any machine, each with the packages that require it."""
    required_by: dict[str, set[str]] = {}
    pending = [("karat", requirement) for requirement in direct]
    visited = set[tuple[str, str]]()
    while pending:
        parent, requirement = pending.pop()
        name = canonicalize_name(requirement.name)
        required_by.setdefault(name, set()).add(parent)
        for extra in {"", *requirement.extras}:
            if (name, extra) in visited:
                continue
            visited.add((name, extra))
            pending += [(name, child) for child in _list_children(name, extra)]
    return required_by


def _list_children(name: str, extra: str) -> Iterator[Requirement]:
    """Yield what an installed package requires with `extra` ("" without any) on at least one machine."""
    try:
        texts = requires(name) or []
    except PackageNotFoundError:
        # Only on another system is it needed, and such packages (colorama) require nothing themselves.
        texts = []
    for requirement in map(Requirement, texts):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({**machine, "extra": extra}) for machine in ENVIRONMENTS):
            yield requirement


class _Links(HTMLParser):
    """The addresses of all links in a page of a simple index that are not withdrawn."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Store the address of a link."""
        attributes = dict(attrs)
        if tag == "a" and "data-yanked" not in attributes:
            self.addresses.append(attributes.get("href") or "")


def parse_hashes(page: str, version: str) -> tuple[str, ...]:
    """Return the sorted SHA-256 sums of all files of `version` that the `page` of a simple index lists."""
    links = _Links()
    links.feed(page)
    hashes = set()
    for address in links.addresses:
        match = re.search(r"([^/]+)#sha256=([0-9a-f]{64})$", address)
        if match and _parse_version(urllib.request.url2pathname(match[1])) == Version(version):
            hashes.add(match[2])
    return tuple(sorted(hashes))


def _parse_version(file_name: str) -> Version | None:
    """Return the version of a wheel or source archive by its name, None for other files."""
    try:
        return (parse_wheel_filename if file_name.endswith(".whl") else parse_sdist_filename)(file_name)[1]
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None


def fetch_hashes(index: str, name: str, version: str) -> tuple[str, ...]:
    """Ask the simple `index` for the SHA-256 sums of all files of `name` in `version`; none is an error."""
    request = urllib.request.Request(f"{index.rstrip('/')}/{name}/", headers={"Accept": "text/html"})
    with urllib.request.urlopen(request, timeout=60) as response:
        hashes = parse_hashes(response.read().decode(), version)
    if not hashes:
        sys.exit(f"{name}=={version}: the index lists no file. Change the version in constraints.txt.")
    return hashes


def format_lock(file_name: str, requirements: Iterable[LockedRequirement]) -> str:
    """Return the text of a hashed file: one requirement per line, with the packages that require it as a comment."""
    content = "karat" if file_name == "base" else f"karat[{file_name}]"
    lines = [
        f"# Packages of `{content}`, with the SHA-256 sums of their files. Written by tools/lock.py; do not edit.",
        f"# pip install --require-hashes --requirement requirements/{file_name}.txt",
    ]
    for requirement in requirements:
        lines.append(f"# required by {', '.join(requirement.required_by)}")
        hashes = " ".join(f"--hash=sha256:{value}" for value in requirement.hashes)
        lines.append(f"{requirement.name}=={requirement.version} {hashes}")
    return "\n".join(lines) + "\n"


def parse_lock(text: str) -> list[LockedRequirement]:
    """Return the requirements in the text of a hashed file."""
    pattern = r"^# required by (.+)\n([^\s=]+)==(\S+)((?: --hash=sha256:[0-9a-f]{64})+)$"
    return [
        LockedRequirement(name, version, tuple(re.findall(r"sha256:(\w+)", hashes)), tuple(parents.split(", ")))
        for parents, name, version, hashes in re.findall(pattern, text, re.MULTILINE)
    ]


def read_lock(file_name: str) -> list[LockedRequirement]:
    """Return the requirements of a hashed file in requirements/."""
    return parse_lock((ROOT / "requirements" / f"{file_name}.txt").read_text(encoding="utf-8"))


def main() -> None:
    """Write the hashed files."""
    parser = argparse.ArgumentParser(description="Write the hashed requirements in requirements/.")
    parser.add_argument("--index", required=True, help="Address of a simple package index.")
    index = parser.parse_args().index
    project, pins, hashes = read_project(), read_pins(), dict[str, tuple[str, ...]]()
    texts = {}
    for file_name, extras in FILES.items():
        required_by = find_requirements(list_direct_requirements(project, extras))
        if missing := sorted(set(required_by) - set(pins)):
            sys.exit(f"constraints.txt: no version of {', '.join(missing)}. Add NAME==VERSION lines.")
        for name in sorted(set(required_by) - set(hashes)):
            hashes[name] = fetch_hashes(index, name, pins[name])
        requirements = [
            LockedRequirement(name, pins[name], hashes[name], tuple(sorted(required_by[name])))
            for name in sorted(required_by)
        ]
        texts[file_name] = format_lock(file_name, requirements)
    for file_name, text in texts.items():
        (ROOT / "requirements" / f"{file_name}.txt").write_text(text, encoding="utf-8")
    print(f"{len(hashes)} packages, {sum(map(len, hashes.values()))} hashes")


if __name__ == "__main__":
    main()
