"""Suites of papers on a folder of data that lacks a subfolder: they name what is missing and compute the rest."""

from __future__ import annotations

import pytest

from karat import InputError
from karat.model.registry import get_plugin
from karat.model.spec.suite import Suite
from karat.protocols.papers.data_folder import list_missing_files

UNEXPLAINED = {
    "posthoc-2021": {"verification rate of REL above that of the ground truth"},
    "finegrained-2019": {"annotations with precisely one leaf of each dimension"},
    "zelda-2023": {"the smallest entity vocabulary"},
}
"""The claims that stay unexplained with all data."""


def run_without(suite, shared, target, *removed):
    """Run a suite on a folder with links to all shared data but the subfolders `removed`."""
    for path in shared.iterdir():
        if path.name not in removed:
            (target / path.name).symlink_to(path)
    return get_plugin("suites", suite, Suite).run(str(target), None)


def check_without(suite, reproduction, *removed):
    """Assert that missing files are named, and that no value becomes wrong without them."""
    missing = [f"the folder of data has no {name}" for name in list_missing_files(reproduction.exhibits)]
    texts = " ".join([*missing, *(note for exhibit in reproduction.exhibits for note in exhibit.notes)])
    for folder in removed:
        assert f"the folder of data has no {folder}/" in texts
    unexplained = {cell.row for cell in reproduction.cells if cell.status == "unexplained"}
    assert unexplained <= UNEXPLAINED.get(suite, set())
    assert reproduction.statuses["reproduced"] > 0


@pytest.mark.shared
@pytest.mark.parametrize("removed", ["bat", "elevant", "formats", "zelda"])
def test_the_posthoc_paper_without_a_folder(removed, shared, tmp_path):
    check_without("posthoc-2021", run_without("posthoc-2021", shared, tmp_path, removed), removed)


@pytest.mark.shared
@pytest.mark.extras  # the suites take long
@pytest.mark.parametrize(
    ("suite", "removed"),
    [
        ("finegrained-2019", ["bat", "elevant"]),
        ("fair-2023", ["bat", "zelda"]),
        ("zelda-2023", ["elevant"]),
        ("bat-2013", ["elevant", "formats"]),
        ("bat-2013", ["bat"]),
    ],
)
def test_a_paper_without_folders(suite, removed, shared, tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    (tmp_path / "data").mkdir()
    check_without(suite, run_without(suite, shared, tmp_path / "data", *removed), *removed)


@pytest.mark.shared
@pytest.mark.parametrize(("suite", "needed"), [("finegrained-2019", "finegrained"), ("zelda-2023", "zelda")])
def test_a_paper_without_its_own_folder_is_refused(suite, needed, shared, tmp_path):
    with pytest.raises(InputError, match=f"a folder with {needed}/"):
        run_without(suite, shared, tmp_path, needed)
