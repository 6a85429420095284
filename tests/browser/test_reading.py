"""The text page: all documents in one scroll, names in the margin, reasons, compact text and figures of passages."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from karat.analysis.comparison.entries import entry_from_run
from tests.browser import corpora
from tests.browser.test_pages import AXE, check_whole, go

pytestmark = pytest.mark.extras


@pytest.fixture(scope="module")
def parts(report) -> str:
    return report("reading-parts", [entry_from_run(*corpora.parts())])


@pytest.fixture(scope="module")
def three(report) -> str:
    """Forty short documents."""
    corpus, runs = corpora.three()
    return report("reading-three", [entry_from_run(corpus, run) for run in runs])


def wait_for_selection(page, doc: str, at: str) -> None:
    page.wait_for_url(f"**doc={doc}**at={at}**")
    page.wait_for_selector(f".region.selected[href*='at={at}']")


def test_the_next_region_of_the_last_one_is_in_the_next_document(three, opened):
    with opened(f"{three}#/text?doc=d0") as page:
        page.wait_for_selector(".current .region")
        for at in ("0-3", "4-7", "8-11", "12-15"):
            page.keyboard.press("n")
            wait_for_selection(page, "d0", at)
        page.keyboard.press("n")
        wait_for_selection(page, "d1", "0-3")
        page.keyboard.press("p")
        wait_for_selection(page, "d0", "12-15")
        # Arrow keys move the focus between regions, which are a single stop of the Tab key.
        page.wait_for_function("() => document.activeElement.matches('.region.selected')")
        page.keyboard.press("ArrowRight")
        wait_for_selection(page, "d1", "0-3")
        assert page.locator(".region[tabindex='0']").count() == 1
        assert page.locator(".region").count() > 4


def test_documents_are_rendered_as_they_are_needed(three, opened):
    with opened(f"{three}#/text?doc=d0") as page:
        page.wait_for_selector(".current .region")
        assert page.locator(".part").count() == 40
        assert 1 < page.locator(".part .document").count() < 40
        page.mouse.move(400, 500)
        page.mouse.wheel(0, 2_000)
        page.wait_for_function("() => !/doc=d0(&|$)/.test(location.hash)")
        last = page.locator(".part").last
        page.locator(".tracks select").first.select_option("d39")
        page.wait_for_url("**doc=d39**")
        last.locator(".region").first.wait_for()
        page.wait_for_function(
            """() => { const part = document.querySelector('.current'), bar = document.querySelector('.tracks');
              return part.dataset.doc === '39'
                && Math.abs(part.getBoundingClientRect().top - bar.getBoundingClientRect().bottom) < 3; }"""
        )
        assert page.locator(".part .document").count() < 40, "documents far away are not laid out"


def test_only_the_current_document_is_printed(three, opened):
    with opened(f"{three}#/text?doc=d7") as page:
        page.wait_for_selector(".current .region")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert [part.is_visible() for part in page.locator(".part").all()] == [doc == 7 for doc in range(40)]
        assert page.url.endswith("doc=d7")


def test_an_unknown_document_is_named(three, opened):
    with opened(f"{three}#/text?doc=d99") as page:
        assert "This report has no document “d99” in three." in page.locator("main").inner_text()


def test_names_stand_beside_their_tracks(three, opened):
    with opened(f"{three}#/text?doc=d0") as page:
        page.wait_for_selector(".current .region")
        names = page.locator(".current .column").first.evaluate(
            "one => ['::before', '::after'].map(part => getComputedStyle(one, part).content)"
        )
        assert names == ['"\\a ahead\\a near-a\\a near-b\\a "', '"gold"']
        heights = page.locator(".current .region").first.evaluate(
            """one => [getComputedStyle(one.querySelector('.column'), '::before').lineHeight,
              ...[...one.querySelectorAll('.track')].map(track => `${track.getBoundingClientRect().height}px`)]"""
        )
        assert set(heights) == {"11px"}


def test_a_name_cannot_leave_its_margin(hostile, opened):
    with opened(f"{hostile}#/text?doc=javascript%3Aalert(1)") as page:
        page.wait_for_selector(".current .region")
        content = page.locator(".current .column").first.evaluate("one => getComputedStyle(one, '::before').content")
        assert "<svg onload=alert(1)>" in content


def test_gold_has_a_colour_of_its_own(parts, opened):
    with opened(f"{parts}#/text?doc=a") as page:
        page.wait_for_selector(".region")
        colours = page.locator(".track .b:is(.label, .correct, .link, .span, .missed)").evaluate_all(
            "all => all.map(one => [one.classList[1], getComputedStyle(one).getPropertyValue('--c')])"
        )
        gold = {colour for kind, colour in colours if kind == "label"}
        assert len(gold) == 1
        assert gold.isdisjoint(colour for kind, colour in colours if kind != "label")


def test_cases_say_why(parts, opened):
    with opened(f"{parts}#/text?doc=a&at=0-15") as page:
        page.wait_for_selector(".card .predictions")
        assert "correct: all its parts are correct" in page.locator(".card").inner_text()
        title = page.locator(".region.selected i.b.correct").first.get_attribute("title")
        assert title == "parts: correct: all its parts are correct"
        gold = page.locator(".region.selected .column").first.locator(".track.gold .b.label")
        assert gold.count() == 2, "a part is in a row of its own"


def test_bars_have_no_seams(scripts, opened):
    with opened(f"{scripts}#/text?doc=nested") as page:
        page.wait_for_selector(".current .region")
        gaps = page.locator(".current .track.gold").evaluate_all(
            """tracks => tracks.slice(1).flatMap((track, index) => [...track.children].flatMap((bar, level) => {
              const before = tracks[index].children[level];
              return bar.classList.contains('label') && !bar.classList.contains('s')
                ? [bar.getBoundingClientRect().left - before.getBoundingClientRect().right] : []; }))"""
        )
        assert len(gaps) >= 4
        assert max(gaps) < 0, "parts of a bar overlap"


@pytest.mark.parametrize(("size", "scheme"), [("wide", "light"), ("narrow", "dark")])
def test_compact_text_has_tracks_below_the_selected_line_only(demo, opened, shots, size, scheme):
    with opened(f"{demo}#/text?doc=news-01&mode=compact", size=size, scheme=scheme) as page:
        page.wait_for_selector(".current .region")
        assert page.locator(".track").count() == 0
        shares = page.locator(".letters.shaded").evaluate_all("all => all.map(one => one.style.cssText)")
        assert {"--share: 0.000;", "--share: 0.500;", "--share: 1.000;"} == set(shares)
        height = page.locator(".current .document").evaluate("one => one.offsetHeight")
        page.keyboard.press("n")
        page.wait_for_selector(".region.selected .track")
        tops = page.locator(".region.open").evaluate_all(
            "all => all.map(one => Math.round(one.querySelector('.letters').getBoundingClientRect().top))"
        )
        assert len(set(tops)) == 1
        assert page.locator(".current .region.open").count() < page.locator(".current .region").count()
        assert page.locator(".current .document").evaluate("one => one.offsetHeight") > height
        page.screenshot(path=shots / f"compact-line-{size}-{scheme}.png")
        page.evaluate(AXE.read_text(encoding="utf-8"))
        check_whole(page, axe=True)


def test_a_passage_is_saved_as_a_figure(scripts, opened, shots):
    with opened(f"{scripts}#/text?doc=nested&at=0-25") as page:
        for doc, at in (("nested", "0-25"), ("arabic", "4-8"), ("chinese", "0-2")):
            go(page, f"text?doc={doc}&at={at}")
            page.wait_for_selector(f".current .region.selected[href*='at={at}']")
            for name in ("SVG", "PNG"):
                with page.expect_download() as saved:
                    page.locator(".card").get_by_role("button", name=name).click()
                target = shots / f"passage-{doc}.{name.lower()}"
                saved.value.save_as(target)
            assert target.read_bytes().startswith(b"\x89PNG")
        figure = read_figure(shots / "passage-nested.svg")
        assert " ".join(" ".join(figure).split()).startswith("University of London City is not one.")
        assert {"gold", "half", "scripts: nested"} <= set(figure)
        # Selected text is a passage of its own.
        go(page, "text?doc=arabic&at=4-8")
        page.evaluate(
            """() => { const words = document.querySelector('.part[data-doc="0"] .section > span').firstChild;
              getSelection().setBaseAndExtent(words, 0, words, 3); }"""
        )
        with page.expect_download() as saved:
            page.locator(".card").get_by_role("button", name="SVG").click()
        saved.value.save_as(shots / "passage-selected.svg")
        assert read_figure(shots / "passage-selected.svg")[0] == "زار"
        assert "مصر" not in " ".join(read_figure(shots / "passage-selected.svg"))


def read_figure(path: Path) -> list[str]:
    """The texts of a figure, which names no other file."""
    source = path.read_text(encoding="utf-8")
    assert "http" not in source.replace("http://www.w3.org/2000/svg", "")
    return [element.text or "" for element in ElementTree.fromstring(source).iter("{http://www.w3.org/2000/svg}text")]
