"""Screenshots for the README: pages of the demo report in Chromium."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from playwright.sync_api import sync_playwright

from karat.cli.main import karat

FIGURES = Path(__file__).resolve().parent.parent / "docs" / "figures"
PICTURES = {"board": ("leaderboard?hide=-", 440), "text": ("text?doc=news-05&at=70-76", 430)}
"""The page and its visible height in pixels, by name of the picture."""


def main() -> None:
    """Build the demo report, open its pages in Chromium and write the screenshots to docs/figures."""
    program = shutil.which("chromium")
    assert program, "there is no Chromium. Install Debian's package chromium."
    with TemporaryDirectory() as folder, sync_playwright() as driver:
        out = Path(folder) / "demo.html"
        with patch.object(sys, "argv", ["karat"]):
            karat(["report", "--gold", "demo", "demo", "--out", str(out)], standalone_mode=False)
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for name, (page, height) in PICTURES.items():
            browser_page = browser.new_page(viewport={"width": 1100, "height": height})
            browser_page.goto(f"{out.as_uri()}#/{page}")
            browser_page.wait_for_selector("main :is(table, .document)")
            browser_page.wait_for_timeout(300)
            browser_page.screenshot(path=FIGURES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
