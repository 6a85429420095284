"""docs/papers: each page is what its suite computes from the published data."""

from __future__ import annotations

import pytest
from tools.papers import PAGES, build_pages, list_papers

from karat.model.registry import get_plugin
from karat.model.spec.suite import Suite
from tests.conftest import ROOT


def test_every_paper_has_a_page_and_every_page_a_paper():
    assert {path.stem for path in PAGES.glob("*.md")} == {"README", *list_papers()}
    assert {"bat-2013", "fair-2023", "finegrained-2019", "posthoc-2021", "zelda-2023"} <= set(list_papers())


@pytest.mark.shared
@pytest.mark.extras  # the suites take a minute or two
@pytest.mark.parametrize("name", [name for name in list_papers() if name != "conventions"])  # it takes minutes
def test_the_page_of_a_paper_is_what_its_suite_computes(name, shared):
    reproduction = get_plugin("suites", name, Suite).run(str(shared), None)
    pages = dict(build_pages(name, reproduction))
    figures = PAGES / "figures" / name
    assert set(pages) == {PAGES / f"{name}.md", *figures.glob("*")}
    stale = [str(path.relative_to(ROOT)) for path, text in pages.items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run python tools/papers.py DIR"
