"""Getting around: menu, keys, links that lead nowhere, waiting, wide tables and small screens."""

from __future__ import annotations

import pytest

from karat.analysis.comparison.entries import load_entries
from karat.evaluation.request import Request
from karat.storage.content_store import FolderStore
from karat.web.archive.submissions import ArchiveOptions, add_results
from tests.browser.test_pages import SETTLED, go
from tests.browser.test_viewer import served, settled

pytestmark = pytest.mark.extras

GOLD = '{"id": "a", "text": "Ada met Bo.", "labels": [{"start": 0, "end": 3, "entity": "Q1"}]}\n'
PREDICTIONS = '{"id": "a", "predictions": [{"start": 0, "end": 3, "entity": "Q1"}]}\n'


@pytest.fixture
def archive(tmp_path):
    """An archive with the demo, as a folder."""
    files = FolderStore.open_or_create(str(tmp_path / "archive"))
    add_results(files, load_entries(["demo"], ["demo"]), Request.from_options(), ArchiveOptions(resamples=20))
    return tmp_path / "archive"


def test_the_menu_has_five_groups_and_the_pages_of_the_current_one(demo, opened):
    with opened(demo) as page:
        assert page.locator("nav.groups a").all_inner_texts() == ["Results", "Errors", "Texts", "Data", "Method"]
        assert page.locator("nav.pages a").all_inner_texts() == ["Leaderboard", "Duel", "Compare", "Curves", "Figures"]
        page.locator("nav.groups a", has_text="Errors").click()
        page.wait_for_function(SETTLED)
        assert page.locator("nav.pages a").all_inner_texts() == ["Errors", "Cases", "Flips"]
        assert page.locator("nav [aria-current]").all_inner_texts() == ["Errors", "Errors"]


def test_on_a_phone_the_menu_is_one_line(demo, opened):
    with opened(demo, size="narrow") as page:
        assert page.locator("header").bounding_box()["height"] < 60
        page.get_by_label("Page", exact=True).select_option("flips")
        page.wait_for_url("**#/flips")


def test_a_click_on_the_text_of_an_option_chooses_it(demo, opened):
    with opened(demo) as page:
        page.locator("summary", has_text="measures").click()
        box = page.locator(".chooser li", has_text="Linking F1 (in-KB)").locator("input")
        assert not box.is_checked()
        page.locator(".chooser li span", has_text="Linking F1 (in-KB)").click()
        page.wait_for_url("**in-kb**")
        assert box.is_checked()
        assert page.locator(".chooser[open]").count() == 1, "the list stays open"
        page.locator("h1").click()
        assert page.locator(".chooser[open]").count() == 0


def test_measures_have_plain_names_with_their_codes(demo, opened):
    with opened(f"{demo}#/leaderboard?m=strong%5Bin-kb%5D%3Amicro.f1") as page:
        head = page.locator("thead th").nth(1)
        assert head.inner_text() == "Linking F1 (in-KB)\nstrong[in-kb]:micro.f1"
        sizes = [
            item.evaluate("one => parseFloat(getComputedStyle(one).fontSize)") for item in (head, head.locator("small"))
        ]
        assert sizes[1] < sizes[0]


def test_a_question_mark_lists_the_keys(demo, opened):
    with opened(f"{demo}#/text?doc=news-01&at=0-10") as page:
        page.wait_for_selector(".region.selected")
        page.keyboard.press("?")
        assert "next region" in page.locator("dialog").inner_text()
        before = page.url
        page.keyboard.press("n")
        assert page.url == before, "keys of the page do not act below the list"
        page.keyboard.press("Escape")
        assert not page.locator("dialog").is_visible()
        go(page, "cases")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.type") == "search"
        page.keyboard.press("?")
        assert not page.locator("dialog").is_visible(), "a question mark can be typed"


def test_a_long_text_is_one_tab_stop(long, opened):
    with opened(f"{long}#/text?doc=long") as page:
        page.wait_for_selector(".region")
        assert page.locator(".region").count() > 20
        assert page.locator(".region:not([tabindex='-1'])").count() == 1
        page.locator(".region").nth(7).click()
        page.wait_for_selector(".region.selected")
        assert page.locator(".region:not([tabindex='-1'])").evaluate_all(
            "all => all.map(one => one.matches('.selected'))"
        ) == [True]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("text?doc=nowhere", "This report has no document “nowhere” in demo."),
        ("leaderboard?dataset=nowhere", "This report has no dataset “nowhere”."),
        ("cases?system=nobody", "This report has no system “nobody”."),
        ("flips?one=a&two=b", "This report has no system “a” and no system “b”."),
        ("cases?error=nothing", "0 cases in the category “nothing”"),
        ("leaderboard?m=strong%3Amicro.f9", "This report has no measure “strong:micro.f9”."),
        ("elsewhere", "Page not found: “elsewhere”."),
    ],
)
def test_links_to_what_is_not_there_say_what_is_missing(demo, opened, target, message):
    with opened(demo) as page:
        go(page, target)
        assert page.locator("h1").inner_text().startswith(message)


def test_permanent_links_that_are_dead_say_so(archive, opened):
    with served(str(archive)) as address, opened(f"{address}at/{'0' * 32}/", own=address, said=["404"]) as page:
        assert f"The archive has no submission {'0' * 32}." in page.locator("h1").inner_text()
        page.get_by_role("link", name="Start page").click()
        page.wait_for_selector("main table")


def test_a_page_says_at_once_what_it_waits_for(archive, opened):
    with served(str(archive)) as address, opened(address, own=address) as page:
        held = []
        page.route("**/api/resources/leaderboard", lambda request: held.append(request))
        page.reload(wait_until="commit")
        page.wait_for_selector("text=Loading … scores and significance tests")
        page.wait_for_selector("text=(2 s). The server computes this once")
        held[0].continue_()
        page.wait_for_selector("main table")
        page.unroute_all()


def test_uploads_are_described_visible_and_permanent(archive, opened, tmp_path, shots):
    (tmp_path / "gold.jsonl").write_text(GOLD)
    (tmp_path / "predictions.jsonl").write_text(PREDICTIONS)
    with (
        served(str(archive), "--uploads", "--token", "x") as address,
        opened(f"{address}#/upload", own=address, said=["404"]) as page,
    ):
        page.get_by_label("gold standard").set_input_files(tmp_path / "gold.jsonl")
        page.get_by_label("predictions").set_input_files(tmp_path / "predictions.jsonl")
        page.get_by_label("system name").fill("mine")
        page.get_by_label("description").fill("A linker of ours.")
        page.get_by_label("date of the system").fill("2026-01-31")
        page.get_by_label("profile").select_option("gerbil")
        page.get_by_label("knowledge base").select_option("starter")
        page.get_by_label("server token").fill("x")
        page.get_by_role("button", name="Score").click()
        page.wait_for_selector("progress")
        page.screenshot(path=shots / "upload-progress.png")
        link = page.get_by_role("link", name="View results")
        link.wait_for()
        assert page.locator("progress").count() == 0
        page.get_by_role("link", name="the whole archive").click()
        page.wait_for_selector("main table")
        assert "mine" in settled(page), "a perfect upload is not hidden"
        page.go_back()
        page.goto(f"{address}#/leaderboard?hide=-")
        page.wait_for_selector("summary:has-text('Descriptions of systems')")
        page.locator("summary", has_text="Descriptions of systems").click()
        assert "mine (2026-01-31): A linker of ours." in page.locator("main").inner_text()


def test_the_link_to_an_upload_opens_its_permanent_address(archive, opened, tmp_path):
    (tmp_path / "gold.jsonl").write_text(GOLD)
    (tmp_path / "predictions.jsonl").write_text(PREDICTIONS)
    with (
        served(str(archive), "--uploads", "--token", "x") as address,
        opened(f"{address}#/upload", own=address, said=["404"]) as page,
    ):
        page.get_by_label("gold standard").set_input_files(tmp_path / "gold.jsonl")
        page.get_by_label("predictions").set_input_files(tmp_path / "predictions.jsonl")
        page.get_by_label("system name").fill("ours")
        page.get_by_label("server token").fill("x")
        page.get_by_role("button", name="Score").click()
        page.get_by_role("link", name="View results").click()
        page.wait_for_url("**/at/*/")
        page.wait_for_selector("main table")
        assert page.locator("tbody th").all_inner_texts() == ["ours hide"]


def test_headers_and_first_columns_stay_visible(broad, demo, opened, shots):
    with opened(broad) as page:
        frame = page.locator(".table-frame.scrolling")
        frame.evaluate("one => one.scrollTo(1500, 900)")
        page.screenshot(path=shots / "fifty-by-fifty-scrolled.png")
        box = frame.bounding_box()
        corner = page.locator("thead th").first.bounding_box()
        assert abs(corner["x"] - box["x"]) < 2
        assert abs(corner["y"] - box["y"]) < 2
        name = page.locator("tbody th").nth(30).bounding_box()
        assert abs(name["x"] - box["x"]) < 2
    with opened(f"{demo}#/cases") as page:
        page.wait_for_function(SETTLED)
        assert page.locator(".table-frame.scrolling").count() == 0, "a table that fits scrolls with the page"
        page.evaluate("scrollTo(0, 1500)")
        assert abs(page.locator("thead").bounding_box()["y"]) < 2


def test_on_a_phone_every_column_can_be_chosen(broad, opened, shots):
    with opened(broad, size="narrow") as page:
        row = page.locator("tbody tr").first
        assert row.locator("td:visible").count() == 2, "the mean and the chosen dataset"
        page.get_by_label("column").select_option("dataset 33")
        page.wait_for_url("**column=dataset+33**")
        assert row.locator("td:visible").last.get_attribute("data-label") == "dataset 33"
        page.screenshot(path=shots / "fifty-by-fifty-narrow.png")
