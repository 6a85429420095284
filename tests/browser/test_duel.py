"""Two systems chosen on the leaderboard, slices whose numbers open their cases, and definitions by click and key."""

from __future__ import annotations

import re

import pytest

from karat.analysis.comparison.entries import entry_from_run, load_entries
from karat.web.archive.submissions import ArchiveOptions
from tests.browser import corpora
from tests.browser.conftest import pieces_of
from tests.browser.test_pages import AXE, SETTLED, check_whole, go

pytestmark = pytest.mark.extras


@pytest.fixture(scope="module")
def three(report) -> str:
    """One system far ahead, and two that are right equally often, but not in the same documents."""
    corpus, runs = corpora.three()
    return report("three", [entry_from_run(corpus, run) for run in runs], ArchiveOptions(resamples=50))


def find_pair(address: str, one: str, two: str) -> dict[str, float]:
    """The difference of two systems by F1 as the report has it."""
    pieces = pieces_of(address)
    names = [system["name"] for system in pieces["leaderboard"]["systems"]]
    table = next(table for table in pieces["pairs"]["tables"] if table["measure"] == "strong:micro.f1")
    systems = [names[index] for index in table["systems"]]
    pairs = [(a, b) for i, a in enumerate(systems) for b in systems[i + 1 :]]
    return {name: table[name][pairs.index((one, two))] for name in ("difference", "low", "high", "p", "corrected")}


def signed(value: float, plus: str = "") -> str:
    return f"{'−' if value < 0 else plus}{100 * abs(value):.1f}"


def test_two_clicks_tell_which_system_is_significantly_better(three, opened, shots):
    own = find_pair(three, "ahead", "near-a")
    with opened(three) as page:
        page.get_by_role("link", name="compare ahead", exact=True).click()
        page.get_by_role("link", name="compare near-a with ahead").click()
        page.wait_for_url("**/duel?**")
        page.wait_for_function(SETTLED)
        headline = page.locator("h1").inner_text()
        assert headline.startswith(
            f"ahead − near-a = {signed(own['difference'], '+')} linking F1 on three, "
            f"95 % interval [{signed(own['low'])}, {signed(own['high'])}], p "
        )
        assert headline.endswith("ahead is significantly better.")
        page.screenshot(path=shots / "duel-two-clicks.png", full_page=True)
        page.get_by_role("link", name="swap").click()
        page.wait_for_url("**one=near-a**")
        page.wait_for_function(SETTLED)
        other = page.locator("h1").inner_text()
        assert f"near-a − ahead = {signed(-own['difference'])} linking F1" in other
        assert f"[{signed(-own['high'])}, {signed(-own['low'])}]" in other
        go(page, "duel?one=near-a&two=near-b")
        assert page.locator("h1").inner_text().endswith("The difference is not significant.")
        assert page.locator("[aria-label=Differences] tbody tr").count() == 3


def test_every_number_of_a_duel_opens_its_mentions(demo, opened):
    with opened(f"{demo}#/duel?one=prior&two=noisy") as page:
        page.wait_for_function(SETTLED)
        bars = page.locator("[aria-label='Mentions by group'] tbody td a, .prose a[href*=side]").evaluate_all(
            "all => all.map(one => [one.textContent, one.getAttribute('href').slice(2)])"
        )
        documents = page.locator("[aria-label=Documents] td:nth-of-type(n+2) a").evaluate_all(
            "all => all.map(one => [one.textContent, one.getAttribute('href').slice(2)])"
        )
        assert any("side=both" in target for _, target in bars)
        assert documents
        flips = [link for link in [*bars, *documents[:6]] if "flips" in link[1]]
        for number, target in flips:
            go(page, target)
            heading = page.locator("main h2").last.inner_text()
            assert re.match(r"[\d,]+", heading)[0] == re.search(r"[\d,]+", number)[0]
            count = page.locator("[aria-label=Flips] tbody tr").count()
            assert count == min(100, int(re.search(r"\d+", number)[0]))
        go(page, "duel?one=prior&two=noisy")
        page.locator("[aria-label=Documents] tbody th a").first.click()
        page.wait_for_selector(".document")
        assert "tracks=prior%2Cnoisy" in page.url


def test_a_system_compared_with_itself_is_compared_with_another(demo, opened):
    with opened(f"{demo}#/duel?one=prior&two=prior") as page:
        page.wait_for_function(SETTLED)
        assert "prior − noisy" in page.locator("h1").inner_text()


def test_a_slice_shows_score_interval_and_counts_that_open_their_cases(demo, opened):
    with opened(demo) as page:
        page.get_by_label("slice by").select_option("mention_type")
        page.wait_for_url("**label=mention_type**")
        page.wait_for_function(SETTLED)
        assert "has the best F1 in the group “entity” of demo" in page.locator("h1").inner_text()
        cell = page.locator("tbody tr", has_text="noisy").locator("td").first
        assert re.fullmatch(r"[\d.]+\s*\[[\d.]+, [\d.]+\]\s*\d+ of \d+ · errors", cell.inner_text())
        found, total = map(int, re.search(r"(\d+) of (\d+)", cell.inner_text()).groups())
        targets = cell.locator("a").evaluate_all("all => all.map(one => one.getAttribute('href').slice(2))")
        go(page, targets[1])
        assert page.locator("h1 b").inner_text() == str(found)
        go(page, targets[2])
        assert set(page.locator("tbody .kind").all_inner_texts()) <= {"wrong link", "wrong span", "missed", "spurious"}
        assert int(page.locator("h1 b").inner_text()) >= total - found, "missed mentions are included"


def test_errors_and_avoided_errors_open_as_many_cases_as_they_say(demo, opened):
    with opened(f"{demo}#/leaderboard?show=errors") as page:
        page.wait_for_function(SETTLED)
        row = page.locator("tbody tr", has_text="noisy")
        cells = row.locator("td").evaluate_all(
            "all => all.map(one => [one.innerText, [...one.querySelectorAll('a')]"
            ".map(link => link.getAttribute('href').slice(2))])"
        )
        checked = 0
        for text, targets in cells:
            counts = re.search(r"(\d+) of (\d+)", text)
            if counts is None or len(targets) < 3:
                continue
            errors, total = map(int, counts.groups())
            for target, count in ((targets[1], errors), (targets[2], total - errors)):
                go(page, target)
                assert page.locator("h1 b").inner_text().replace(",", "") == str(count)
            checked += 1
        assert checked > 2


@pytest.mark.parametrize(("size", "scheme"), [("wide", "dark"), ("narrow", "light")])
def test_definitions_open_by_click_and_by_key(demo, opened, shots, size, scheme):
    with opened(f"{demo}#/leaderboard?show=errors", size=size, scheme=scheme) as page:
        page.wait_for_function(SETTLED)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        if size == "narrow":
            go(page, "errors")
        button = page.get_by_label("definition of Wrong links").first
        button.click()
        card = page.get_by_role("dialog", name="Wrong links")
        assert card.is_visible()
        assert "Predictions" in card.inner_text()
        assert "→" in card.inner_text()
        page.screenshot(path=shots / f"definition-{size}-{scheme}.png")
        check_whole(page, axe=True)
        page.keyboard.press("Escape")
        assert card.is_hidden()
        button.focus()
        page.keyboard.press("Enter")
        assert card.is_visible()
        card.get_by_role("button", name="close").click()
        assert card.is_hidden()
        go(page, "leaderboard?show=types&label=rarity")
        page.get_by_label("definition of Rarity").click()
        assert "Memphis" in page.get_by_role("dialog", name="Rarity").inner_text()


def test_one_dataset_of_several_is_selected_for_a_facet_that_only_it_has(report, opened):
    corpus, run = corpora.scripts()
    address = report(
        "two", [*load_entries(["demo"], ["demo"]), entry_from_run(corpus, run)], ArchiveOptions(resamples=20)
    )
    with opened(address) as page:
        page.get_by_label("slice by").select_option("types")
        page.wait_for_url("**label=types**")
        page.wait_for_function(SETTLED)
        assert "of demo:" in page.locator("h1").inner_text()
        page.get_by_label("slice by").select_option("")
        page.wait_for_function(SETTLED)
        assert page.get_by_label("view").is_visible()
