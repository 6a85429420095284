"""The upgrade promise: files of every release are read with the same figures, and no field or name disappears.

`python tools/release_files.py` writes the files of this release again, until it is made.
"""

from __future__ import annotations

import importlib
import json
import re
import shutil
import sys

import pyarrow.parquet as pq
import pytest

import karat
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
fields, release = importlib.import_module("layout_fields"), importlib.import_module("release_files")
sys.path.remove(str(ROOT / "tools"))

FOLDER = ROOT / "tests" / "fixtures" / "release"
RELEASES = sorted(path.name for path in FOLDER.iterdir())
REMEDY = "before the release run `python tools/release_files.py`; afterwards give the layout its next number"
PARTS = [
    pytest.param(False, id="base"),
    pytest.param(True, id="extras", marks=pytest.mark.extras),
]

UNWRITTEN = {
    "karat-fetch": "contains paths of the machine",
    "karat-judged-links": "links of a verification page in an archive; see tests/protocols/verification",
    "karat-reproduction": "needs the data of a paper",
}
"""Layouts of which no file is stored, and why."""


def list_steps(steps, has_extras):
    """Return the steps of one part: those that need the packages of extras, or all others."""
    return [step for step in steps if step.needs_extras == has_extras]


def find_changes(old, new):
    """Return what a new set of fields has lost; a field with another name or type is lost."""
    return sorted(set(old) - set(new))


def get_group(path):
    """Return what files have their fields in common: files of an archive are named by their content."""
    return str(path.parent) if path.parts[0] == "archive" and len(path.parts) > 2 else str(path)


def collect_fields(folder, steps):
    """Return the fields of all files that steps write, by file or, for an archive, by folder."""
    found = {}
    for step in steps:
        for path in release.list_files(folder, step):
            found.setdefault(get_group(path), set()).update(fields.list_fields(folder / path))
    return found


def read_content(path):
    """Return the content of a file without the version of Karat."""
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix == ".arrow":
        return None  # the same table as in the Parquet file, which is compared
    return release.hide_version(path.read_text(encoding="utf-8"))


def compare_contents(stored, fresh, steps, samenesses):
    """Assert that both folders have the same content, where steps promise that."""
    for step in steps:
        if step.sameness in samenesses:
            for path in release.list_files(stored, step):
                assert read_content(fresh / path) == read_content(stored / path), f"{path}; {REMEDY}"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """The files that this version writes, by whether the packages of extras are used."""
    folders = {}

    def write(has_extras):
        if has_extras not in folders:
            folders[has_extras] = tmp_path_factory.mktemp("fresh")
            release.run_steps([*release.WRITE, *release.READ], folders[has_extras], has_extras=has_extras)
        return folders[has_extras]

    return write


@pytest.mark.parametrize("has_extras", PARTS)
@pytest.mark.parametrize("version", RELEASES)
def test_no_field_of_a_release_is_lost(fresh, version, has_extras):
    steps = list_steps([*release.WRITE, *release.READ], has_extras)
    stored, written = collect_fields(FOLDER / version, steps), collect_fields(fresh(has_extras), steps)
    assert stored
    assert set(stored) <= set(written)
    changes = {name: find_changes(stored[name], written[name]) for name in stored}
    assert {name: lost for name, lost in changes.items() if lost} == {}, REMEDY
    if version == karat.__version__:  # the stored files have everything that this version writes
        added = {name: find_changes(written[name], stored.get(name, ())) for name in written}
        assert {name: new for name, new in added.items() if new} == {}, REMEDY


def test_files_of_this_release_have_what_this_version_computes(fresh):
    steps = list_steps([*release.WRITE, *release.READ], has_extras=False)
    compare_contents(FOLDER / karat.__version__, fresh(False), steps, {"always"})


@pytest.mark.parametrize("has_extras", PARTS)
@pytest.mark.parametrize("version", RELEASES)
def test_files_of_a_release_are_read_with_the_same_figures(tmp_path, version, has_extras):
    stored, folder = FOLDER / version, tmp_path / "release"
    shutil.copytree(stored, folder)
    steps = list_steps(release.READ, has_extras)
    for step in steps:
        for path in release.list_files(folder, step):
            (folder / path).unlink()
    release.run_steps(steps, folder, has_extras=has_extras)
    compare_contents(stored, folder, steps, {"always", "when read"})


STORED = FOLDER / karat.__version__
JSON_FILES = sorted(path.relative_to(STORED) for path in STORED.rglob("*.json*") if path.name != release.NAMES)


def rename_a_field(value, name):
    """Return a JSON value in which the key `name` has another name everywhere."""
    if isinstance(value, dict):
        return {f"{key}_renamed" if key == name else key: rename_a_field(item, name) for key, item in value.items()}
    return [rename_a_field(item, name) for item in value] if isinstance(value, list) else value


def list_keys(value):
    """Yield all keys of a JSON value that lead to something."""
    for key, item in value.items() if isinstance(value, dict) else ():
        if set(fields.list_json_fields(item, "x")):
            yield key
        yield from list_keys(item)
    for item in value if isinstance(value, list) else ():
        yield from list_keys(item)


@pytest.mark.parametrize(
    "path", ["result.json", "gold.jsonl", "noisy.jsonl", "read/gate.json", "snapshot/manifest.json"]
)
def test_the_check_notices_each_field_with_another_name(path):
    text = (STORED / path).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()] if path.endswith("l") else [json.loads(text)]
    before = set(fields.list_json_fields(lines, ""))
    names = set(list_keys(lines))
    assert len(names) > 5
    for name in names:
        assert find_changes(before, set(fields.list_json_fields(rename_a_field(lines, name), ""))), name


def test_the_check_notices_a_field_of_another_type_in_every_file():
    for path in JSON_FILES:
        stored = fields.list_fields(STORED / path)
        if not stored:
            continue
        field = min(stored)
        name, _, kind = field.rpartition(": ")
        changed = stored - {field} | {f"{name}: {'text' if kind == 'number' else 'number'}"}
        assert find_changes(stored, changed) == [field]


@pytest.mark.parametrize(
    ("path", "old", "new", "arguments"),
    [
        (
            "result.json",
            '"measures"',
            '"figures"',
            "compare result.json other.json --json read/comparison-of-results.json",
        ),
        ("gold.jsonl", '"labels"', '"gold_labels"', "agreement gold.jsonl second.jsonl --json read/agreement.json"),
        ("noisy.jsonl", '"start"', '"begin"', "score gold.jsonl noisy.jsonl --json read/scores.json"),
        ("snapshot/manifest.json", '"karat"', '"layout"', "kb show ./snapshot --json read/snapshot.json"),
    ],
)
def test_a_renamed_field_is_not_read_in_silence(tmp_path, path, old, new, arguments):
    folder = tmp_path / "release"
    shutil.copytree(STORED, folder)
    text = (folder / path).read_text(encoding="utf-8")
    assert old in text
    (folder / path).write_text(text.replace(old, new), encoding="utf-8")
    step = release.ReleaseStep((), arguments)
    with pytest.raises(karat.KaratError):
        release.run_steps([step], folder, has_extras=False)


def test_a_figure_that_changes_is_noticed(tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(STORED, folder)
    text = (folder / "gold.jsonl").read_text(encoding="utf-8")
    (folder / "gold.jsonl").write_text(re.sub(r'"entity":"Q\d+"', '"entity":"Q1"', text, count=1), encoding="utf-8")
    (step,) = [step for step in release.READ if step.outputs == ("read/gate.json",)]
    release.run_steps([step], folder, has_extras=False)
    with pytest.raises(AssertionError, match="gate"):
        compare_contents(STORED, folder, [step], {"always"})


def test_the_stored_files_are_small_and_name_no_place_of_a_machine():
    files = [path for path in STORED.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1_000_000
    assert [path for path in files if re.search(rb"/(tmp|home|root|work)/", path.read_bytes())] == []


def test_a_file_of_every_layout_is_stored():
    literal = re.compile(rb'"((?:karat-[a-z-]+|gold|predictions|snapshot)/\d+)"')
    source = {layout for path in (ROOT / "src").rglob("*.py") for layout in literal.findall(path.read_bytes())}
    stored = b"".join(path.read_bytes() for path in STORED.rglob("*") if path.is_file())
    missing = {layout.decode() for layout in source if layout not in stored}
    earlier = {"karat-judging/1", "karat-judging/2", "karat-verification/1"}  # tests/protocols/verification/layouts
    assert {layout.partition("/")[0] for layout in missing - earlier} == set(UNWRITTEN)


@pytest.mark.parametrize("version", RELEASES)
def test_no_public_name_and_no_parameter_is_lost(version):
    stored = json.loads((FOLDER / version / release.NAMES).read_text(encoding="utf-8"))
    names = release.list_names()
    assert stored.keys() - names.keys() == set(), REMEDY
    if version == karat.__version__:
        assert names == stored, REMEDY
    for name, description in stored.items():
        parameters = {word.strip("*=() ") for word in description.partition("(")[2].split(", ")}
        assert parameters <= {word.strip("*=() ") for word in names[name].partition("(")[2].split(", ")}, name
