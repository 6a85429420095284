"""Every page as people see it: wide and narrow, light and dark, by keyboard, without a word on the console."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.browser import corpora
from tests.conftest import ROOT

pytestmark = pytest.mark.extras

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"

PAGES = {
    "board": "board",
    "errors": "errors",
    "cases": "cases?system=noisy&kind=wrong+link",
    "documents": "text",
    "text": "text?doc=d01",
    "flips": "flips?one=prior&two=noisy",
    "agreement": "compare",
    "entities": "entities",
    "confusions": "entities?show=confusions",
    "gold": "dataset",
    "conventions": "conventions?system=noisy&step=0",
    "curves": "curves",
}


@pytest.fixture(scope="module")
def first(demo, opened):
    """The id of a document of the demo."""
    with opened(f"{demo}#/text") as page:
        return page.locator("main table tbody a").first.get_attribute("href").partition("doc=")[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["wide", "narrow"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole(demo, opened, shots, first, name, size, scheme):
    with opened(f"{demo}#/{PAGES[name].replace('doc=d01', f'doc={first}')}", size=size, scheme=scheme) as page:
        page.wait_for_timeout(100)
        page.screenshot(path=shots / f"{name}-{size}-{scheme}.png")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= page.viewport_size["width"], "nothing scrolls sideways but tables in their frame"
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"]] == []


def test_a_report_opens_in_less_than_a_second(demo, opened):
    with opened(demo) as page:
        page.wait_for_timeout(500)  # what was painted is noted a little later
        assert page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") < 1000


def test_numbers_open_their_cases_and_cases_their_text(demo, opened):
    with opened(demo) as page:
        page.locator("tbody tr", has_text="noisy").locator("td a").first.click()
        page.wait_for_selector("text=cases of noisy")
        page.locator("tbody a.plain").first.click()
        page.wait_for_selector(".document .spot.selected")
        assert "at=" in page.url
        assert page.locator(".card h2").count()


def test_what_is_in_the_address_is_shown_again(demo, opened):
    with opened(demo) as page:
        page.get_by_label("under the conventions of").select_option("gerbil")
        page.wait_for_url("**profile=gerbil**")
        address, shown = page.url, page.locator("main").inner_text()
    with opened(address) as page:
        assert page.locator("main").inner_text() == shown


def test_places_are_walked_through_by_keyboard(demo, opened, first):
    with opened(f"{demo}#/text?doc={first}") as page:
        page.wait_for_selector(".spot")
        for _ in range(2):
            page.keyboard.press("n")
        at = page.locator(".spot.selected").get_attribute("href")
        page.keyboard.press("p")
        assert page.locator(".spot.selected").get_attribute("href") != at
        assert page.evaluate("document.activeElement.className").startswith("spot")
        page.keyboard.press("Escape")
        assert page.locator(".spot.selected").count() == 0


def test_tables_are_copied(demo, opened):
    with opened(demo) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        for name, begins in {"TSV": "system\t", "Markdown": "| system |", "LaTeX": "\\begin{tabular}"}.items():
            page.get_by_role("button", name=name).first.click()
            page.wait_for_selector(f"text={name} copied")
            assert page.evaluate("navigator.clipboard.readText()").startswith(begins)


@pytest.mark.parametrize("name", corpora.TEXTS)
def test_bars_stand_under_their_words_in_every_script(scripts, opened, shots, name):
    text, mentions = corpora.TEXTS[name]
    with opened(f"{scripts}#/text?doc={name}") as page:
        page.wait_for_selector(".spot")
        shown = page.locator(".spot").evaluate_all(
            "all => all.map(one => [...one.querySelectorAll('.letters')].map(part => part.textContent).join(''))"
        )
        assert shown == mentions
        parts = page.locator(".document :is(.letters, .section > span)").evaluate_all(
            "all => all.map(one => one.textContent).join('')"
        )
        assert parts == text
        direction = page.locator(".document").evaluate("one => getComputedStyle(one).direction")
        assert direction == ("rtl" if name == "arabic" else "ltr")
        page.screenshot(path=shots / f"script-{name}.png")


def test_hostile_texts_ids_and_names_are_text(hostile, opened):
    attack = json.dumps(corpora.ATTACK)
    with opened(hostile) as page:
        assert corpora.ATTACK in page.locator("header").inner_text()
        for target in ("cases", "text", "entities", "dataset", "flips", "compare", "conventions", "errors", "nothing"):
            page.evaluate(f"location.hash = '#/{target}?find=' + encodeURIComponent('')")
            page.wait_for_timeout(150)
        page.evaluate(f"location.hash = '#/text?doc=' + encodeURIComponent({attack}) + '&at=0-5'")
        page.wait_for_selector(".card h2")
        page.evaluate(f"location.hash = '#/entity?entity=' + encodeURIComponent({attack})")
        page.wait_for_selector("h1")
        links = page.locator("a[target=_blank]").evaluate_all("all => all.map(one => one.href)")
        assert links == []
        assert page.locator("main img, main svg[onload]").count() == 0


def test_the_viewer_shows_the_same_as_the_report(demo, opened, tmp_path, karat_cli):
    archive = tmp_path / "archive"
    made = ("--gold", "demo", "demo", "--archive", archive, "--resamples", "50", "--out", tmp_path / "demo.html")
    assert karat_cli("report", *made, "--one-profile").code == 0
    command = [sys.executable, "-m", "karat", "serve", str(archive), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().split()[0]
            for page in ("board", "errors", "compare", "entities", "flips"):
                with opened(f"{address}#/{page}", own=address) as served:
                    shown = served.locator("main").inner_text()
                with opened(f"{(tmp_path / 'demo.html').as_uri()}#/{page}") as stored:
                    assert stored.locator("main").inner_text() == shown
        finally:
            server.terminate()


def test_an_empty_server_says_how_to_fill_it(opened, tmp_path):
    command = [
        sys.executable,
        "-m",
        "karat",
        "serve",
        str(tmp_path / "new"),
        "--port",
        "0",
        "--uploads",
        "--token",
        "x",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().split()[0]
            with opened(address, own=address, said=["422"]) as page:
                assert "the archive is empty" in page.locator("main").inner_text()
                assert page.locator("form").count() == 1
        finally:
            server.terminate()


def test_a_long_text_scrolls_smoothly(long, opened):
    with opened(f"{long}#/text?doc=long") as page:
        page.wait_for_selector(".spot")
        times = page.evaluate(
            """async () => {
              const times = [];
              let last = performance.now();
              for (let step = 0; step < 120; step++) {
                scrollBy(0, 300);
                await new Promise(requestAnimationFrame);
                times.push(performance.now() - last);
                last = performance.now();
              }
              return times.sort((a, b) => a - b);
            }"""
        )
        assert times[len(times) // 2] < 50, times
        assert page.locator(".spot").count() < 5_000, "sections far away are not laid out"
