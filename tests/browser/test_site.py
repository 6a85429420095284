"""The documentation as a site: built without a warning, complete on disk, and searched without a server."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.extras


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site; a link that leads nowhere, or a page that is not in the menu, is an error."""
    folder = tmp_path_factory.mktemp("documentation") / "site"
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env={"NO_MKDOCS_2_WARNING": "1", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return folder


def test_no_page_fetches_anything(site):
    pages = list(site.rglob("*.html"))
    assert pages
    for page in pages:
        content = page.read_text(encoding="utf-8")
        fetched = re.findall(r'(?:src|rel="stylesheet" href)="(https?://[^"]+)"', content)
        assert fetched == [], page


def test_the_site_has_the_schemas_that_its_pages_link_to(site):
    page = (site / "reference" / "json-outputs.html").read_text(encoding="utf-8")
    names = set(re.findall(r'href="\.\./schema/([\w.-]+)"', page))
    assert {"gold.schema.json", "result.schema.json"} <= names
    for name in names:
        source = ROOT / "src" / "karat" / "render" / "schema" / name
        assert (site / "schema" / name).read_bytes() == source.read_bytes()


def test_the_site_is_searched_from_disk(site, opened):
    with opened((site / "how-to" / "compare.html").as_uri(), said=["asks file:"]) as page:
        field = page.locator("input[name=query]")
        assert field.is_visible()
        page.wait_for_function("window.Worker.name === 'FrameWorker' && document.querySelector('iframe') !== null")
        field.click()
        field.press_sequentially("critical difference", delay=30)
        first = page.locator("a.md-search-result__link").first
        first.wait_for()
        assert first.get_attribute("href").endswith(".html")
        assert "critical difference" in page.locator(".md-search-result__list").inner_text().lower()
