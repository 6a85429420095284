"""What pages claim agrees with the scores: significance among the systems shown, and a bar for every counted case."""

from __future__ import annotations

from collections import Counter

import pytest

from karat.analysis.comparison.entries import entry_from_run, load_entries
from karat.web.archive.submissions import ArchiveOptions
from tests.browser import corpora
from tests.browser.conftest import pieces_of, with_pieces
from tests.browser.test_pages import go

pytestmark = pytest.mark.extras

KIND_CLASSES = {"correct": "correct", "wrong link": "link", "wrong span": "span", "missed": "missed"}


@pytest.fixture(scope="module")
def three(report) -> str:
    """One system far ahead, and two that are right equally often, but not in the same documents."""
    corpus, runs = corpora.three()
    return report("three", [entry_from_run(corpus, run) for run in runs])


def test_a_search_makes_no_false_significance(three, opened, shots):
    with opened(three) as page:
        headline = page.locator("h1").inner_text()
        assert headline == (
            "ahead has the best linking F1 on three: 99.4. It is significantly better than all other systems."
        )
        go(page, "leaderboard?find=near")
        page.screenshot(path=shots / "leaderboard-search.png")
        headline = page.locator("h1").inner_text()
        assert headline.startswith("near-a has the best linking F1 of the 2 systems shown on three: ")
        assert headline.endswith("It is not significantly better than near-b.")
        rows = page.locator("tbody tr")
        assert ["≈" in text for text in rows.all_inner_texts()] == [False, True]
        assert "Bold: best score of the 2 systems shown" in page.locator("main").inner_text()
        go(page, "leaderboard?find=near-b")
        assert page.locator("h1").inner_text().startswith("near-b scores ")
        assert page.locator("td.best").count() == 0, "a system alone is not the best of anything"


def test_a_system_that_was_scored_otherwise_is_named(three, opened, tmp_path):
    leaderboard = pieces_of(three)["leaderboard"]
    table = next(item for item in leaderboard["tables"] if item["measure"] == "strong:micro.f1")
    table["better_systems"][0] = [[], [0], None]
    table["tested_systems"][0] = [[1], [0], []]
    table["untested"] = [{"dataset": 0, "systems": [2], "reason": "ids is as-written, not normalised"}]
    path = tmp_path / "changed.html"
    path.write_text(with_pieces(three, leaderboard=leaderboard), encoding="utf-8")
    with opened(path.as_uri()) as page:
        headline = page.locator("h1").inner_text()
        assert headline.endswith("It is significantly better than near-a. Not tested: near-b.")
        rows = {row.locator("th").inner_text().split()[0]: row for row in page.locator("table.sheet tbody tr").all()}
        marked = {
            name: "?" in row.locator("td[data-label^='Linking F1']").first.inner_text() for name, row in rows.items()
        }
        assert marked == {"ahead": False, "near-a": False, "near-b": True}  # not tested is not significantly worse
        legend = page.locator("p.quiet.prose").first.inner_text()
        assert "?: the difference from a better score was not tested." in legend
        assert "No mark: another system is significantly better." in legend
        page.locator("summary", has_text="Differences that were not tested").click()
        assert "near-b on three: ids is as-written, not normalised" in page.locator("main").inner_text()


def count_bars(page, documents: list[str], track: int) -> Counter[str]:
    """Count the bars of a track in all documents by kind; a bar of several columns is counted where it starts."""
    counts: Counter[str] = Counter()
    for document in documents:
        go(page, f"text?doc={document}")
        page.wait_for_selector(".document")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        for kind, name in KIND_CLASSES.items():
            counts[kind] += page.locator(f'.track[data-track="{track}"] i.b.{name}.s').count()
    return counts


def check_bars(address: str, page) -> Counter[str]:
    """Compare the bars of every system with its scores; return the bars of the first one."""
    pieces = pieces_of(address)
    leaderboard = pieces["leaderboard"]
    (dataset,) = leaderboard["datasets"]
    cases = pieces[f"cases/{dataset['key']}"]
    documents = [document["id"] for document in cases["documents"]]
    bars = [count_bars(page, documents, number) for number in range(len(cases["tracks"]))]
    for counts, track in zip(bars, cases["tracks"], strict=True):
        correct, _, missed = next(note["counts"] for note in leaderboard["notes"] if note["system"] == track["system"])
        assert counts["correct"] == correct
        assert counts["missed"] + counts["wrong link"] == missed
    return bars[0]


def test_every_counted_case_has_a_bar(report, opened):
    # The alternative by parts is right as a whole, and a miss lies below a prediction of another span.
    address = report("parts", [entry_from_run(*corpora.parts())])
    with opened(address) as page:
        assert check_bars(address, page) == {"correct": 2, "wrong link": 0, "wrong span": 1, "missed": 1}


@pytest.mark.shared
def test_every_counted_case_of_wiki_fair_has_a_bar(shared, report, opened):
    file = shared / "elevant/results/refined/refined__aida_.wiki-fair.linked_articles.jsonl.gz"
    address = report("wiki-fair", load_entries([str(file)], []), ArchiveOptions(resamples=10))
    with opened(address) as page:
        assert check_bars(address, page)["correct"] == 642


@pytest.mark.shared
def test_categories_that_do_not_apply_are_undefined(shared, report, opened):
    file = shared / "elevant/results/rel/rel__2014_.kore50.linked_articles.jsonl.gz"
    address = report("rel", load_entries([str(file)], []), ArchiveOptions(resamples=10))
    with opened(address) as page:
        go(page, "errors")
        text = page.locator("main").inner_text()
        assert "(the system never has several candidates): Wrong choice among candidates, Missing candidates." in text
        assert page.locator("tbody tr", has_text="Missing candidates").count() == 0
