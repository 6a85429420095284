"""Three tasks on ELEVANT's published outputs, by clicks alone from the front page of a fresh report."""

from __future__ import annotations

import re

import pytest

import karat
from tests.browser.test_pages import SETTLED
from tests.conftest import _karat

pytestmark = [pytest.mark.extras, pytest.mark.shared]

DATASETS = ("kore50", "wiki-fair")


@pytest.fixture(scope="module")
def elevant(shared):
    return shared / "elevant"


def list_files(elevant, dataset: str):
    return sorted((elevant / "results").glob(f"*/*.{dataset}.linked_articles.jsonl.gz"))


@pytest.fixture(scope="module")
def report(elevant, tmp_path_factory) -> str:
    """A report of all linkers on two datasets."""
    path = tmp_path_factory.mktemp("tasks") / "report.html"
    files = [file for dataset in DATASETS for file in list_files(elevant, dataset)]
    made = _karat("report", *files, "--kb", elevant / "kb", "--one-profile", "--resamples", 100, "--out", path)
    assert made.code == 0, made.err
    return path.as_uri()


class Clicker:
    """A user whose clicks are counted; the choice of an option counts as one."""

    def __init__(self, page) -> None:
        self.page, self.clicks = page, 0

    def click(self, target) -> None:
        target.click()
        self._settle()

    def choose(self, label: str, option: str) -> None:
        self.page.get_by_label(label).first.select_option(label=option)
        self._settle()

    def _settle(self) -> None:
        self.clicks += 1
        self.page.wait_for_function(SETTLED)


def test_the_best_system_for_rare_entities_and_five_of_its_errors_in_the_text(elevant, report, opened, shots):
    kb, scores = karat.open_kb(elevant / "kb"), {}
    for file in list_files(elevant, "wiki-fair"):
        if "oracle" not in file.parent.name:  # the report hides perfect systems
            gold, run = karat.load(file), karat.load_run(file)
            result = karat.evaluate(gold, run, kb=kb, by=["rarity"])
            scores[file.parent.name] = result.groups["rarity"]["strong"]["rare"].measures["micro.f1"]
    with opened(report) as page:
        user = Clicker(page)
        user.choose("slice by", "rarity")
        user.choose("dataset", "wiki-fair")
        user.click(page.locator("[aria-label=Leaderboard] thead a", has_text="rare"))
        system, score = re.match(
            r"(.+) has the best F1 in the group “rare” of wiki-fair: ([\d.]+)\.", page.locator("h1").inner_text()
        ).groups()
        assert score == f"{100 * max(scores.values()):.1f}"
        assert system.lower().startswith(max(scores, key=scores.get))
        row = page.locator("[aria-label=Leaderboard] tbody tr", has_text=system)
        user.click(row.get_by_role("link", name=f"errors: errors of {system}, rare"))
        user.click(page.locator("[aria-label=Cases] tbody a[href*='#/text?']").first)
        seen = [page.locator(".region.selected").get_attribute("href")]
        for _ in range(4):
            page.keyboard.press("n")
            page.wait_for_function(
                "before => document.querySelector('.region.selected')?.getAttribute('href') != before", arg=seen[-1]
            )
            seen.append(page.locator(".region.selected").get_attribute("href"))
        page.screenshot(path=shots / "task-rare.png")
    assert len(set(seen)) == 5
    assert user.clicks <= 6


def test_where_two_systems_disagree(elevant, report, opened, shots):
    (one,), (two,) = (
        [f for f in list_files(elevant, "kore50") if f.parent.name == name] for name in ("refined", "rel")
    )
    right = []
    for file in (one, two):
        table = karat.evaluate(karat.load(file), karat.load_run(file), kb=elevant / "kb").verdicts
        rows = (row for row in table.to_pylist() if row["view"] == "strong")
        right.append({row["gold"] for row in rows if row["gold"] is not None and row["matched_gold"]})
    with opened(report) as page:
        user = Clicker(page)
        user.click(page.get_by_role("link", name="compare ReFinED (AIDA)", exact=True))
        user.click(page.get_by_role("link", name="compare REL (2014) with ReFinED (AIDA)"))
        if "kore50" not in page.locator("h1").inner_text():
            user.choose("dataset", "kore50")
        page.screenshot(path=shots / "task-disagree.png", full_page=True)
        text = page.locator("main").inner_text()
        assert f"alone links {len(right[0] - right[1])} mentions correctly" in text
        assert re.search(rf"REL \(2014\) alone {len(right[1] - right[0])}\.", text)
        assert "both wrong, differently" in text
        assert page.locator("[aria-label=Documents] tbody tr").count() > 3
    assert user.clicks <= 3


def test_whether_one_system_is_significantly_better_than_another(elevant, report, opened):
    files = [f for f in list_files(elevant, "kore50") if "oracle" not in f.parent.name]
    (pair,) = [
        pair
        for pair in karat.compare(None, files, measure="strong:micro.f1", kb=elevant / "kb").datasets[0].pairs
        if {pair.system_a, pair.system_b} == {"refined__aida_", "baseline"}
    ]
    with opened(report) as page:
        user = Clicker(page)
        user.click(page.get_by_role("link", name="compare ReFinED (AIDA)", exact=True))
        user.click(page.get_by_role("link", name="compare Baseline with ReFinED (AIDA)"))
        headline = page.locator("h1").inner_text()
    assert headline.startswith(
        f"ReFinED (AIDA) − Baseline = +{100 * abs(pair.difference):.1f} linking F1 on kore50, 95 %"
    )
    assert headline.endswith("ReFinED (AIDA) is significantly better.")
    assert pair.corrected < 0.05
    assert user.clicks == 2
