"""A plugin, a command or a page needs the files that CONTRIBUTING.md names, and nothing else.

The folder `additions` has one of each kind. They are added to a copy of the tree, in which the generators and the
tests that go through all plugins are run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.conftest import ROOT

ADDITIONS = Path(__file__).with_name("additions")
PYTHON = sorted(path.relative_to(ADDITIONS).as_posix() for path in ADDITIONS.rglob("*.py"))
NAMES = [Path(path).stem.replace("_", "-") for path in PYTHON]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PLUGIN_FILES = re.findall(r"^\| [a-z ]+ \| `(\S+/NAME\.py)` \|", GUIDE, re.MULTILINE)
WHOLE_LISTS = ("test_every_format_has_a_sample", "test_every_category_of", "test_no_folder", "test_no_two_classes")
"""Tests of lists of all plugins that have no test of their own for each plugin."""
CONTRACT_TESTS = (
    "contract",
    "data/lint",
    "formats/test_on_error.py",
    "fuzzing/test_fuzz.py",
    "golden/test_elevant_layout.py",
    "plugins/datasets/test_registry.py",
    "plugins/engines/test_engines.py::test_engines_are_described",
    "systems/test_systems.py",
)
"""Tests of `make test`; all others that go through plugins are run by `make test-all`."""
GENERATE = "import generate; generate.update_readme = lambda text: text; generate.main()"
"""Generate everything but the examples in the README, which take longest and name no addition."""
COMMAND_LINE = '    "new-command": "Print a word, for a test.",\n'


def add_to_copy(folder: Path) -> Path:
    """Copy the tree to `folder`, add all additions and the line of the command, and return `folder`."""
    for name in ("src", "tests", "tools", "docs", "requirements", "web"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("node_modules", "demo.html"))
    for path in (*ROOT.glob("*.md"), ROOT / "CITATION.cff", ROOT / "pyproject.toml"):
        shutil.copy2(path, folder)
    shutil.copytree(ADDITIONS, folder, dirs_exist_ok=True)
    commands = folder / "src" / "karat" / "cli" / "main.py"
    text = commands.read_text(encoding="utf-8")
    commands.write_text(text.replace("COMMANDS = {\n", f"COMMANDS = {{\n{COMMAND_LINE}"), encoding="utf-8")
    return folder


def run_in(folder: Path, *command: str, **environment: str) -> str:
    """Run a command in a copy of the tree and return its output; the test fails if the command does."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(folder / "tools")]), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


def test_every_kind_of_plugin_is_added_with_the_file_that_the_guide_names():
    added = {path.replace(Path(path).name, "NAME.py").removeprefix("src/karat/") for path in PYTHON}
    assert len(PLUGIN_FILES) == 14
    assert added == {*PLUGIN_FILES, "cli/NAME.py", "web/archive/resources/NAME.py"}
    assert len(PYTHON) == len(added)


def test_the_files_of_commands_and_pages_are_those_that_the_guide_names():
    for name in ("src/karat/cli/NAME.py", "cli/main.py", "web/src/pages/NAME.tsx", "web/archive/resources/NAME.py"):
        assert f"{name}`" in GUIDE


@pytest.mark.extras  # it takes long
def test_generators_commands_and_contract_tests_need_no_other_file(tmp_path):
    tree = add_to_copy(tmp_path)
    _generate(tree)
    pages = "".join(path.read_text(encoding="utf-8") for path in (tree / "docs").rglob("*.md"))
    for kind in ("format", "relation", "measure", "clustering", "profile", "facet", "category", "dataset", "step"):
        assert f"new-{kind}`" in pages
    assert "| `new-rule` |" in pages
    assert "| `new-suite` |" in pages
    assert "new-command" in run_in(tree, sys.executable, "-m", "karat", "--help")
    assert run_in(tree, sys.executable, "-m", "karat", "new-command") == "new\n"
    report = _run_tests(tree, [tree / "tests" / path for path in CONTRACT_TESTS])
    assert {name for name in NAMES if name not in report} == {"new-command"}
    assert all(name in report for name in WHOLE_LISTS)


@pytest.mark.extras
def test_no_test_that_goes_through_all_plugins_needs_another_file(tmp_path):
    tree = add_to_copy(tmp_path)
    _generate(tree)
    tests = [
        path
        for path in sorted((tree / "tests").rglob("test_*.py"))
        if re.search(r"list_plugins\(|quick_engines", path.read_text(encoding="utf-8"))
    ]
    _run_tests(tree, tests)


@pytest.mark.extras
def test_a_page_is_built_from_its_file_and_its_data_is_in_the_report(tmp_path):
    tree = add_to_copy(tmp_path)
    client = tree / "src" / "karat" / "web" / "archive" / "bundle" / "client.js"
    assert "New page" not in client.read_text(encoding="utf-8")
    (tree / "web" / "node_modules").symlink_to(ROOT / "web" / "node_modules")
    _generate(tree)
    for script in ("check", "build"):
        run_in(tree, "npm", "--prefix", "web", "run", "--silent", script)
    run_in(tree, sys.executable, "-m", "karat", "score", "demo", "demo/prior", "--html", "report.html")
    report = (tree / "report.html").read_text(encoding="utf-8")
    assert "New page" in report
    assert 'id="resource:new-resource"' in report


def _generate(tree: Path) -> None:
    """Run the generators in a copy of the tree, and check that the client has the types of the new resource."""
    run_in(tree, sys.executable, "-c", GENERATE)
    shape = (tree / "web" / "src" / "shape.ts").read_text(encoding="utf-8")
    assert "export interface NewRow" in shape
    assert '"new-resource": NewResource;' in shape


def _run_tests(tree: Path, paths: Iterable[Path]) -> str:
    """Run the tests in `paths` that are about the additions or about whole lists, and return their report."""
    chosen = " or ".join([*NAMES, *WHOLE_LISTS])
    options = ("-q", "-n0", "-rA", "-p", "no:cacheprovider", "-m", "not extras and not shared", "-k", chosen)
    return run_in(tree, sys.executable, "-m", "pytest", *options, *map(str, paths), KARAT_EXTRAS="")
