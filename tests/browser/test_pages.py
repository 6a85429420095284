"""Every page as people see it: wide and narrow, light and dark, by keyboard, without a word on the console."""

from __future__ import annotations

import json

import pytest

from tests.browser import corpora
from tests.browser.conftest import with_pieces
from tests.conftest import ROOT

pytestmark = pytest.mark.extras

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"

PAGES = {
    "leaderboard": "leaderboard",
    "leaderboard-measures": "leaderboard?m=strong%3Amicro.p+strong%3Amicro.f1+weak%3Amicro.f1&hide=-",
    "leaderboard-errors": "leaderboard?show=errors",
    "leaderboard-types": "leaderboard?show=types",
    "leaderboard-mention-types": "leaderboard?show=types&label=mention_type&as=r",
    "leaderboard-duel": "leaderboard?duel=prior",
    "duel": "duel?one=prior&two=noisy",
    "errors": "errors",
    "cases": "cases?system=noisy&kind=wrong+link",
    "cases-part": "cases?system=noisy&label=mention_type&is=entity-named",
    "cases-missed": "cases?who=none",
    "cases-avoided": "cases?system=noisy&avoided=ner-fn",
    "documents": "text",
    "text": "text?doc=news-01",
    "card": "text?doc=news-01&at=150-156",
    "text-compact": "text?doc=news-02&at=0-9&mode=compact",
    "flips": "flips?one=prior&two=noisy&by=entity",
    "compare": "compare",
    "entities": "entities",
    "surfaces": "entities?show=surfaces",
    "confusions": "entities?show=confusions",
    "entity": "entity?entity=Q64",
    "mention": "mention?surface=Paris",
    "gold": "dataset",
    "profiles": "profiles?system=noisy&step=0",
    "curves": "curves",
    "figure-benchmarks": "figures",
    "figure-shaded": "figures?show=heat",
    "figure-problems": "figures?show=problems",
    "figure-text": "figures?show=text",
    "figure-verdicts": "figures?show=verdicts",
    "nothing": "nothing",
}

LOOKS = [("wide", "light"), ("wide", "dark"), ("narrow", "light"), ("narrow", "dark")]

SETTLED = """() => document.querySelector('main h1, main .missing') && !/Loading …/.test(document.body.innerText)
  && new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"""


def go(page, target: str) -> None:
    page.evaluate("target => { location.hash = '#/' + target }", target)
    page.wait_for_function(SETTLED)


def check_whole(page, *, axe: bool) -> None:
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"], "nothing scrolls sideways but tables in their frame"
    if axe:
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"]] == []


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_every_page_is_whole(demo, opened, shots, size, scheme):
    # What axe looks at depends on the colours and on the layout: two looks have both of each.
    axe = (size, scheme) in {("wide", "light"), ("narrow", "dark")}
    with opened(demo, size=size, scheme=scheme) as page:
        if axe:
            page.evaluate(AXE.read_text(encoding="utf-8"))
        for name, target in PAGES.items():
            go(page, target)
            page.screenshot(path=shots / f"{name}-{size}-{scheme}.png")
            try:
                check_whole(page, axe=axe)
            except AssertionError as problem:
                raise AssertionError(f"{name}: {problem}") from problem


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_the_page_of_a_paper_is_whole_without_any_dataset(karat_cli, opened, shots, tmp_path, size, scheme):
    path = tmp_path / "paper.html"
    karat_cli("reproduce", ROOT / "tests" / "render" / "paper_suite.py", "--data", ".", "--html", path)
    with opened(path.as_uri(), size=size, scheme=scheme) as page:
        page.wait_for_function(SETTLED)
        assert page.locator("nav a").all_inner_texts() == ["Papers"]
        assert "1 reproduced, 2 explained, 1 unexplained, 1 impossible" in page.locator("h1").inner_text()
        assert page.get_by_text("67.2% [67.7%] (2)").is_visible()
        width = page.locator("img.picture").evaluate("image => image.complete && image.naturalWidth")
        assert width == 680
        page.evaluate(AXE.read_text(encoding="utf-8"))
        check_whole(page, axe=True)
        page.screenshot(path=shots / f"papers-{size}-{scheme}.png", full_page=True)


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_bars_stand_under_their_words_in_every_script(scripts, opened, shots, size, scheme):
    with opened(scripts, size=size, scheme=scheme) as page:
        page.evaluate(AXE.read_text(encoding="utf-8"))
        for name, (text, mentions) in corpora.TEXTS.items():
            go(page, f"text?doc={name}")
            page.wait_for_selector(f".current:has-text('{name}') .region")
            shown = page.locator(".current .region").evaluate_all(
                "all => all.map(one => [...one.querySelectorAll('.letters')].map(part => part.textContent).join(''))"
            )
            assert shown == mentions
            parts = page.locator(".current .document :is(.letters, .section > span)").evaluate_all(
                "all => all.map(one => one.textContent).join('')"
            )
            assert parts == text
            right_to_left = name in {"arabic", "hebrew"}
            direction = page.locator(".current .document").evaluate("one => getComputedStyle(one).direction")
            assert direction == ("rtl" if right_to_left else "ltr")
            apart = page.locator(".current .column").evaluate_all(
                """all => all.map(one => { const word = one.querySelector('.letters').getBoundingClientRect();
                   const bar = one.querySelector('.track').getBoundingClientRect();
                   return Math.max(Math.abs(word.left - bar.left), Math.abs(word.right - bar.right)); })"""
            )
            assert max(apart) < 2, "each bar is as wide as its word, and below it"
            page.screenshot(path=shots / f"script-{name}-{size}-{scheme}.png")
            check_whole(page, axe=right_to_left and size == "wide")


def test_nested_and_crossing_mentions_take_rows_of_their_own(scripts, opened):
    with opened(f"{scripts}#/text?doc=nested") as page:
        page.wait_for_selector(".current .region")
        gold = page.locator(".current .region .column").first.locator(".track.gold .b")
        assert gold.count() == 3


def test_a_report_opens_in_less_than_a_second(demo, opened):
    with opened(demo) as page:
        assert work(page, lambda: (page.reload(), page.wait_for_selector("main table"))) < 1


def work(page, act) -> float:
    """The seconds that a page computes for something, on its own thread: others on this machine do not count."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        found = session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in found if one["name"] == "TaskDuration")

    before = spent()
    act()
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return spent() - before


def test_fifty_systems_on_fifty_datasets_in_less_than_a_second(broad, opened, shots):
    with opened(broad) as page:
        assert page.locator("tbody tr").count() == 50
        assert page.locator("tbody td").count() == 50 * 51
        page.screenshot(path=shots / "fifty-by-fifty.png")
        opening = work(page, lambda: (page.reload(), page.wait_for_selector("main table")))
        sorting = work(page, lambda: page.locator("thead a").nth(5).click())
        (shots / "fifty-by-fifty.txt").write_text(f"opened in {opening:.2f} s, sorted in {sorting:.2f} s\n")
        assert opening < 1
        assert sorting < 1
        assert page.locator("th[aria-sort=descending]").count() == 1


def test_numbers_open_their_cases_and_cases_their_text(demo, opened):
    with opened(demo) as page:
        page.locator("tbody tr", has_text="noisy").locator("td a").first.click()
        page.wait_for_selector("text=cases of noisy")
        page.locator("tbody a.plain").first.click()
        page.wait_for_selector(".document .region.selected")
        assert "at=" in page.url
        assert page.locator(".card h2").count()


def test_numbers_open_as_many_cases_as_they_say(demo, opened):
    with opened(f"{demo}#/compare") as page:
        page.wait_for_function(SETTLED)
        links = page.locator("h1 a, [aria-label=Agreement] tr td:last-child a").evaluate_all(
            "all => all.map(one => [one.textContent, one.getAttribute('href').slice(2)])"
        )
        assert len(links) == 5
        for number, target in links:
            go(page, target)
            assert page.locator("h1 b").inner_text() == number
        go(page, "leaderboard?show=types&label=mention_type&as=r")
        named = page.locator("thead th", has_text="entity-named").inner_text().split()
        page.locator("tbody tr", has_text="noisy").locator("td:nth-of-type(2) a").first.click()
        page.wait_for_selector("text=(mention types)")
        counts = page.locator("h1 a", has_text="correct").inner_text().split()
        assert (named[-1].isdigit(), counts[0].isdigit()) == (True, True)
        assert int(counts[0]) <= int(named[-1])


def test_a_card_says_what_an_entity_is(demo, opened):
    with opened(f"{demo}#/text?doc=news-01&at=82-88") as page:
        page.wait_for_selector(".card section")
        assert "city" in page.locator(".card section").inner_text()


def test_what_is_in_the_address_is_shown_again(demo, opened):
    with opened(demo) as page:
        page.get_by_label("profile").select_option("gerbil")
        page.wait_for_url("**profile=gerbil**")
        page.locator("summary", has_text="measures").click()
        page.locator(".chooser input[type=search]").fill("^weak.*f1$")
        page.get_by_role("button", name="only these").click()
        page.wait_for_url("**m=weak**")
        page.wait_for_function(SETTLED)
        page.keyboard.press("Escape")
        page.locator("tr", has_text="noisy").get_by_role("link", name="hide").click()
        page.wait_for_url("**hide=**noisy**")
        page.wait_for_function(SETTLED)
        address, shown = page.url, page.locator("main").inner_text()
    with opened(address) as page:
        assert page.locator("main").inner_text() == shown
        page.get_by_role("link", name="Errors").click()
        page.wait_for_function(SETTLED)
        assert "hide=" in page.url, "who is hidden stays hidden on every page"


def test_pages_are_used_by_keyboard_alone(demo, opened):
    with opened(demo) as page:
        tab_to(page, "a.skip")
        page.keyboard.press("Enter")
        tab_to(page, ".chooser summary")
        page.keyboard.press("Enter")
        tab_to(page, ".chooser input[type=checkbox]")
        page.keyboard.press("Space")
        page.wait_for_url("**m=**")
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
        tab_to(page, "tbody td a")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=cases of")
        tab_to(page, "tbody a.plain")
        page.keyboard.press("Enter")
        page.wait_for_selector(".region.selected")
        at = page.locator(".region.selected").get_attribute("href")
        page.keyboard.press("n")
        page.wait_for_function(
            "at => (document.querySelector('.region.selected')?.getAttribute('href') ?? at) !== at", arg=at
        )
        page.keyboard.press("p")
        page.wait_for_function("at => document.querySelector('.region.selected')?.getAttribute('href') === at", arg=at)
        assert page.evaluate("document.activeElement.className").startswith("region")
        page.keyboard.press("Escape")
        page.wait_for_function("!document.querySelector('.region.selected')")


def tab_to(page, selector: str) -> None:
    """Press the key until something of this kind has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} is not reached by the keyboard")


def test_tables_are_copied_and_saved(demo, opened, shots):
    with opened(demo) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        for name, begins in {"TSV": "system\t", "Markdown": "| system |", "LaTeX": "\\begin{tabular}"}.items():
            page.get_by_role("button", name=name).first.click()
            page.wait_for_selector(f"text={name} copied")
            assert page.evaluate("navigator.clipboard.readText()").startswith(begins)
        for name, begins in {"SVG": b"<svg", "PNG": b"\x89PNG"}.items():
            with page.expect_download() as saved:
                page.get_by_role("button", name=name).first.click()
            target = shots / f"saved.{name.lower()}"
            saved.value.save_as(target)
            assert target.read_bytes().startswith(begins)
        go(page, "curves")
        with page.expect_download() as saved:
            page.get_by_role("button", name="PNG").first.click()
        saved.value.save_as(shots / "saved-chart.png")


def test_hostile_texts_ids_names_and_addresses_are_text(hostile, opened):
    attack = json.dumps(corpora.ATTACK)
    asked = (
        "doc",
        "at",
        "entity",
        "surface",
        "system",
        "error",
        "type",
        "label",
        "is",
        "who",
        "find",
        "hide",
        "tracks",
        "sort",
        "m",
        "show",
    )
    with opened(hostile) as page:
        assert corpora.ATTACK in page.locator("header").inner_text()
        for target in dict.fromkeys(own.partition("?")[0] for own in PAGES.values()):
            go(page, target)
            page.evaluate(f"location.hash = '#/{target}?doc=' + encodeURIComponent({attack}) + '&at=0-5'")
            page.wait_for_function(SETTLED)
            query = "&".join(f"{name}=' + encodeURIComponent({attack}) + '" for name in asked)
            page.evaluate(f"location.hash = '#/{target}?{query}'")
            page.wait_for_function(SETTLED)
            query = f"entity=' + encodeURIComponent({attack}) + '&surface=' + encodeURIComponent({attack}) + '"
            page.evaluate(f"location.hash = '#/{target}?{query}'")
            page.wait_for_function(SETTLED)
            assert page.locator("main img, main svg[onload], main script").count() == 0
            links = page.locator("a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
            assert [link for link in links if not link.startswith("#/")] == []


def test_addresses_that_ask_for_what_is_not_there_are_answered(demo, opened):
    asked = (
        "dataset doc at entity surface system error type label is who as kind find sort m show by value side one two"
    )
    query = "&".join(f"{name}=nowhere" for name in [*asked.split(), "step", "theirs", "rule"])
    with opened(demo) as page:
        for target in dict.fromkeys(own.partition("?")[0] for own in PAGES.values()):
            go(page, f"{target}?{query}")
            assert "Cannot show this page" not in page.locator("main").inner_text(), target


def test_what_is_missing_says_so(demo, opened, tmp_path):
    path = tmp_path / "partial.html"
    path.write_text(with_pieces(demo, errors=None), encoding="utf-8")
    with opened(f"{path.as_uri()}#/errors") as page:
        assert "does not contain errors" in page.locator("main").inner_text()


def test_pages_print_without_controls(demo, opened, shots):
    with opened(f"{demo}#/text?doc=news-01&at=150-156") as page:
        page.wait_for_selector(".region")
        page.emulate_media(media="print")
        assert not page.locator("nav").is_visible()
        assert not page.locator(".bar").first.is_visible()
        page.screenshot(path=shots / "printed.png")


def test_all_of_a_long_text_is_printed(long, opened):
    with opened(f"{long}#/text?doc=long") as page:
        page.wait_for_selector(".region")
        assert page.locator(".region").count() < 2_500
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator(".region").count() == 2_500


def test_a_long_text_scrolls_smoothly(long, opened, shots):
    with opened(f"{long}#/text?doc=long") as page:
        page.wait_for_selector(".region")
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
        middle, late = times[len(times) // 2], times[int(len(times) * 0.95)]
        (shots / "frame-times.txt").write_text(f"median {middle:.1f} ms, 95th percentile {late:.1f} ms\n")
        assert middle < 50, times
        assert page.locator(".region").count() < 5_000, "sections far away are not laid out"
