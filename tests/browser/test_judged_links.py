"""The verification page: its legend, and the links that its numbers open."""

from __future__ import annotations

import pytest

from tests.browser.test_judging import demo, judged, whole

pytestmark = pytest.mark.extras


def verified_report(tmp_path):
    """Write a report of a judged campaign, and return its path with the results."""
    from karat.analysis.comparison.entries import load_entries
    from karat.evaluation.request import Request
    from karat.protocols.verification.measures import measure_campaign
    from karat.protocols.verification.store.store import CampaignStore
    from karat.storage.content_store import MemoryStore
    from karat.web.archive.archive import Archive
    from karat.web.archive.html import render_html
    from karat.web.archive.submissions import ArchiveOptions, add_results
    from karat.web.archive.verification import store_campaign

    store = CampaignStore.create(str(tmp_path / "demo.sqlite"), demo(controls=0, batch=60))
    judged(store, ("anna", "ben"))
    files = MemoryStore()
    add_results(files, load_entries(["demo"], ["demo"]), Request.from_options(), ArchiveOptions(resamples=20))
    verification = measure_campaign(store.campaign, store.get_records(), resamples=100)
    store_campaign(files, verification)
    store.database.close()
    path = tmp_path / "verified.html"
    path.write_bytes(b"".join(render_html(Archive(files))))
    return path, verification


@pytest.mark.parametrize(("size", "scheme"), [("wide", "light"), ("wide", "dark"), ("narrow", "light")])
def test_the_page_has_a_legend_and_its_numbers_open_their_links(tmp_path, opened, shots, size, scheme):
    path, verification = verified_report(tmp_path)
    with opened(f"{path.as_uri()}#/verification", size=size, scheme=scheme) as page:
        page.wait_for_selector("h1:has-text('Judges verified')")
        page.get_by_text("Legend of the tables", exact=True).click()
        assert "a linking error" in page.locator(".verification-legend").inner_text()
        whole(page, shots, f"verification-{size}-{scheme}")
        outcomes = page.get_by_role("region", name="Outcomes")
        prior = next(item for item in verification.sources[1:] if item.outcomes.modify)
        row = outcomes.get_by_role("row").filter(has_text=prior.source)
        row.locator("td[data-label=modified] a").click()
        page.wait_for_selector(f"h1:has-text('Modified links of {prior.source}')")
        assert page.locator("tbody tr").count() == min(100, prior.outcomes.modify)
        assert set(page.locator("td[data-label=outcome]").all_inner_texts()) == {"modified"}
        whole(page, shots, f"judged-links-{size}-{scheme}")
        page.locator("tbody th a").first.click()
        page.wait_for_selector("main .card, main .text, main article")
        assert "#/text" in page.url


def test_every_number_opens_as_many_links_as_it_says(tmp_path, opened):
    path, verification = verified_report(tmp_path)
    with opened(f"{path.as_uri()}#/verification?reading=code") as page:
        page.wait_for_selector("h1:has-text('Judges verified')")
        links = page.locator("main a[href^='#/judged-links']").evaluate_all(
            "links => links.map(link => [link.getAttribute('href'), link.textContent,"
            " link.closest('td').dataset.label])"
        )
        assert len(links) > 40
        for url, text, title in links:
            page.goto(f"{path.as_uri()}{url}")
            page.wait_for_selector("h1.summary b")
            total = page.locator("h1.summary b").last.inner_text()
            if title in (
                "links shown",
                "open",
                "tied",
                "verified",
                "modified",
                "removed",
                "union",
                "shared links",
                "links with several judgements",
            ):
                assert total == text, (url, title)
        for index, source in enumerate(verification.sources):
            counts = source.posthoc["code"].counts
            for show, expected in (("counted", counts.links), ("after", counts.correct)):
                page.goto(f"{path.as_uri()}#/judged-links?campaign=0&show={show}&source={index}&reading=code")
                page.wait_for_selector("h1.summary b")
                assert page.locator("h1.summary b").last.inner_text() == f"{expected:,}"
        missing = verification.missing_from_gold["code"].missing
        page.goto(f"{path.as_uri()}#/judged-links?campaign=0&show=missing&reading=code")
        page.wait_for_selector("h1:has-text('gold standard lacks')")
        assert page.locator("h1.summary b").last.inner_text() == f"{missing:,}"
