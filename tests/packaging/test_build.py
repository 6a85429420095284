"""What a release consists of: archives that anyone can build again, and that work in empty environments."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from time import perf_counter

import pytest

import karat
from tests.conftest import ROOT
from tests.packaging.build import build, copy_project, find_python

pytestmark = pytest.mark.extras  # packages are fetched

MEGABYTES = 10
"""What each archive may take."""
VERSIONS = ("3.11", "3.12", "3.13")

GOLD = {"id": "d", "text": "Ada met Bob in Rome.", "labels": [[0, 3, "Q1"], [8, 11, "Q2"], [15, 19, "Q220"]]}
PREDICTED = [[0, 3, "Q1"], [8, 11, "Q3"]]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """Wheel and source archive of the project."""
    source = copy_project(tmp_path_factory.mktemp("build") / "karat")
    return build(source, sdist=False), build(source, sdist=True)


def test_two_builds_at_other_times_and_places_give_one_digest(archives, tmp_path):
    source = copy_project(tmp_path / "another place" / "project")
    for path in source.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(0o700 if path.is_dir() else 0o600)
    build(source, sdist=True)  # a build that leaves its files behind
    again = build(source, sdist=False, TZ="Asia/Tokyo"), build(source, sdist=True, TZ="Asia/Tokyo")
    assert [path.name for path in again] == [path.name for path in archives]
    assert [digest(path) for path in again] == [digest(path) for path in archives]


def test_a_build_with_another_date_differs(archives, tmp_path):
    source = copy_project(tmp_path / "project")
    wheel = build(source, sdist=False, SOURCE_DATE_EPOCH="1700000000")
    assert digest(wheel) != digest(archives[0])
    assert {entry.date_time for entry in zipfile.ZipFile(wheel).infolist()} == {(2023, 11, 14, 22, 13, 20)}


def test_a_wheel_built_from_the_source_archive_is_the_same(archives, tmp_path):
    wheel, sdist = archives
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    assert digest(build(source, sdist=False)) == digest(wheel)


def test_archives_are_small_and_complete(archives):
    wheel, sdist = archives
    assert [path for path in archives if path.stat().st_size > MEGABYTES * 1_000_000] == []
    page = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    assert f"less than {MEGABYTES} MB" in page
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        assert {(member.uid, member.uname, member.mtime) for member in archive} == {(0, "", 315532800)}
    assert {"CHANGELOG.md", "CITATION.cff", "SECURITY.md", "LICENSE", "integrations/gate/action.yml"} <= names
    assert zipfile.ZipFile(wheel).namelist()[-1].endswith(".dist-info/RECORD")


def test_the_version_is_in_one_place(archives):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "karat.version.__version__"}
    assert [path.name.split("-")[1].removesuffix(".tar.gz") for path in archives] == [karat.__version__] * 2


@pytest.fixture(scope="module")
def python(request, archives, tmp_path_factory):
    """The interpreter of an empty environment into which the wheel was installed."""
    found = find_python(request.param)
    if found is None:
        pytest.skip(f"no Python {request.param} on this machine")
    folder = tmp_path_factory.mktemp(f"python{request.param}")
    subprocess.run([found, "-m", "venv", "--without-pip", folder], check=True)
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [sys.executable, "-m", "pip", "--quiet", "--python", inside, "install", "--constraint"]
    subprocess.run([*pip, ROOT / "constraints.txt", archives[0]], check=True)
    return inside


@pytest.mark.parametrize("python", VERSIONS, indirect=True)
def test_the_wheel_scores_a_file_in_an_empty_environment(python, tmp_path, karat_cli):
    for name, key, rows in (("gold", "labels", GOLD["labels"]), ("predictions", "predictions", PREDICTED)):
        mentions = [dict(zip(("start", "end", "entity"), row, strict=True)) for row in rows]
        line = {"id": "d", key: mentions} | ({"text": GOLD["text"]} if key == "labels" else {})
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    program = python.with_name("karat")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KARAT_"))}
    arguments = ["score", "gold.jsonl", "predictions.jsonl", "--json", "-"]
    started = perf_counter()
    done = subprocess.run([program, *arguments], cwd=tmp_path, env=environment, capture_output=True, check=False)
    sys.stderr.write(f"first score after {perf_counter() - started:.2f} s\n")
    assert (done.returncode, done.stderr) == (0, b"")
    result = json.loads(done.stdout)
    scores = [result["measures"][f"strong:micro.{name}"] for name in ("p", "r", "f1")]
    assert scores == pytest.approx([1 / 2, 1 / 3, 2 / 5])
    installed = subprocess.run([python, "-m", "karat", "--version"], capture_output=True, check=True, env=environment)
    assert karat.__version__ in installed.stdout.decode()
