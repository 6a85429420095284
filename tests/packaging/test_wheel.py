"""The wheel, installed with nothing but what it asks for, far from the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT, Ran
from tests.packaging.build import copy_project

# Not in `make test`, since packages have to be fetched.
pytestmark = pytest.mark.extras

MEGABYTES = 310
"""What the base install may take, without the installer itself."""


class Installed(NamedTuple):
    wheels: Path
    environment: Path
    folder: Path

    def program(self, name: str) -> Path:
        return self.environment / ("Scripts" if os.name == "nt" else "bin") / name

    def karat(self, *arguments: object) -> Ran:
        return self.run("karat", *arguments)

    def run(self, name: str, *arguments: object) -> Ran:
        """Run an installed program, which knows nothing of the checkout."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KARAT_"))}
        done = subprocess.run(
            [self.program(name), *map(str, arguments)],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    source = copy_project(folder / "source")
    venv.create(folder / "environment", with_pip=False)
    found = Installed(folder / "wheels", folder / "environment", tmp_path_factory.mktemp("elsewhere"))
    pip = (sys.executable, "-m", "pip", "--quiet", "--python", found.program("python"))
    # As docs/how-to/install.md has it for a machine without network, with the versions of this environment.
    within = "--constraint", ROOT / "constraints.txt"
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", found.wheels, source], check=True)
    subprocess.run(
        [*pip, "download", *within, "--dest", found.wheels, "--find-links", found.wheels, "karat"], check=True
    )
    subprocess.run([*pip, "install", "--no-index", "--find-links", found.wheels, "karat"], check=True)
    return found


def test_everything_is_in_the_wheel(installed):
    package = ROOT / "src" / "karat"
    ours = {path.relative_to(package.parent).as_posix() for path in package.rglob("*") if path.is_file()}
    ours = {name for name in ours if "__pycache__" not in name}
    (wheel,) = installed.wheels.glob("karat-*.whl")
    shipped = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert shipped == ours
    assert {
        "karat/karat.cdx.json",
        "karat/py.typed",
        "karat/render/schema/result.schema.json",
        "karat/plugins/datasets/demo_data/gold.jsonl",
    } <= shipped


def test_it_is_small(installed):
    size = sum(path.lstat().st_size for path in installed.environment.rglob("*") if path.is_file())
    assert size < MEGABYTES * 1_000_000
    page = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    assert f"less than {MEGABYTES} MB" in page


def test_it_works_anywhere(installed, karat_cli):
    where = installed.run("python", "-c", "import karat; print(karat.__file__)").out.strip()
    assert Path(where).is_relative_to(installed.environment)
    for arguments in (("demo",), ("score", "demo", "demo/noisy", "--json", "-"), ("data", "list")):
        ran = installed.karat(*arguments)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out == karat_cli(*arguments).out


def _torn(folder):
    """Gold and predictions whose clusters compete: each shares one mention with each."""
    for name, items, entities in (("gold", "labels", "AABB"), ("predictions", "predictions", "ABAB")):
        spans = [{"start": n, "end": n + 1, "entity": entity} for n, entity in enumerate(entities)]
        line = {"id": "d", items: spans} | ({"text": "wxyz"} if name == "gold" else {})
        (folder / f"{name}.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    return "gold.jsonl", "predictions.jsonl"


WITHOUT = {
    "plots": [
        ("curve", "demo", "demo/noisy", "--plot", "x.svg"),
        ("curve", "demo", "demo/noisy", "--calibration", "x.json"),
        ("curve", "demo", "demo/noisy", "--over", "alpha", "--plot", "x.svg"),
        ("curve", "demo", "demo/noisy", "--over", "categories", "--plot", "x.svg"),
        *(("compare", "--gold", "demo", "demo/noisy", "demo/prior", o, "x.svg") for o in ("--ranks", "--heatmap")),
        ("compare", "--gold", "demo", "demo/noisy", "demo/prior", "--runtimes", "x.svg"),
    ],
    "serve": [("serve", "archive")],
    "verify": [("verify", "report", "campaign.db")],
    "postgresql": [],  # what it is for needs `verify` first
    "services": [("run", "http:http://127.0.0.1:9/", "--on", "demo", "--yes")],
    "duckdb": [("score", "demo", "demo/noisy", "--engine", "duckdb")],
    "embed": [("systems", "stages", "embed")],
    "inception": [("data", "convert", "demo", "x.zip", "--to", "inception")],
    "spark": [("score", "demo", "demo/noisy", "--engine", "spark")],
    "clusters": [("score", "gold.jsonl", "predictions.jsonl", "-m", "ceaf-mention:micro.f1")],
    "spacy": [
        ("data", "convert", "demo", "x.spacy"),
        ("data", "convert", "in.spacy", "x.jsonl", "--from", "spacy-docbin", "--as", "gold"),
        ("score", "in.spacy", "demo/noisy", "--gold-format", "spacy-docbin"),
        ("data", "categorise", "demo", "--tagger", "spacy"),
    ],
    "genre": [("train", "genre", "--train", "demo", "--model", "x", "--out", "y")],
    "train": [("train", "fevry", "--train", "demo", "--out", "x"), ("run", "fevry:x", "--on", "demo")],
}
"""Commands that need an extra, by its name."""


def test_every_extra_is_asked_for_somewhere_and_documented():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras) - {"all", "dev", "docs"} == set(WITHOUT)
    page = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in page for name in WITHOUT)


@pytest.mark.parametrize(("extra", "arguments"), [(extra, each) for extra, every in WITHOUT.items() for each in every])
def test_one_line_says_what_to_install(installed, extra, arguments):
    _torn(installed.folder)
    (installed.folder / "in.spacy").write_bytes(b"\x78\x9c")
    before = sorted(installed.folder.iterdir())
    ran = installed.karat(*arguments)
    assert (ran.code, ran.out) == (2, ""), ran.err
    assert ran.err.count("\n") == 1
    assert f"pip install 'karat[{extra}]'" in ran.err
    assert sorted(installed.folder.iterdir()) == before


def test_words_that_nobody_counts_are_said(installed):
    ran = installed.karat("score", "demo", "demo/noisy", "--profile", "elevant", "--by", "error")
    assert (ran.code, ran.err) == (0, "")
    assert "pip install 'karat[spacy]'" in ran.out
