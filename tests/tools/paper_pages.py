"""Pages of papers compared with what their suites compute."""

from __future__ import annotations

from tools.papers import PAGES, build_pages

from tests.conftest import ROOT


def check_pages(name, reproduction):
    """Assert that the page and the figures of a paper are those of its reproduction."""
    pages = dict(build_pages(name, reproduction))
    assert set(pages) == {PAGES / f"{name}.md", *(PAGES / "figures" / name).glob("*")}
    stale = [str(path.relative_to(ROOT)) for path, text in pages.items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run python tools/papers.py DIR"
