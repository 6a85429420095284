"""The pages of `karat serve` in a browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.browser.test_pages import AXE, check_whole

pytestmark = pytest.mark.extras


@contextmanager
def served(*options: str) -> Iterator[str]:
    """The address of a viewer of its own."""
    command = [sys.executable, "-m", "karat", "serve", *options, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().split()[0]
        finally:
            server.terminate()


def settled(page) -> str:
    """What a page says when everything is there; the viewer evaluates no words, so that nothing is waited for in it."""
    before = None
    for _ in range(100):
        page.wait_for_timeout(60)
        shown = page.locator("main").inner_text()
        if shown == before and "Loading …" not in shown:
            return shown
        before = shown
    raise AssertionError(f"this stays: {before}")


def test_the_viewer_shows_the_same_as_the_report(opened, tmp_path, karat_cli):
    archive = tmp_path / "archive"
    made = ("--gold", "demo", "demo", "--archive", archive, "--resamples", "50", "--out", tmp_path / "demo.html")
    assert karat_cli("report", *made, "--one-profile").code == 0
    with (
        served(str(archive)) as address,
        opened(address, own=address) as viewer,
        opened((tmp_path / "demo.html").as_uri()) as report,
    ):
        for target in (
            "leaderboard",
            "errors",
            "compare",
            "entities",
            "flips",
            "figures?show=problems",
            "text?doc=news-01",
        ):
            shown = []
            for page in (viewer, report):
                page.evaluate("target => { location.hash = '#/' + target }", target)
                shown.append(settled(page))
            assert shown[0] == shown[1]


def test_an_empty_viewer_is_filled_by_an_upload(opened, tmp_path, shots):
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id": "a", "text": "Ada met Bo.", "labels": [{"start": 0, "end": 3, "entity": "Q1"}]}\n')
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text('{"id": "a", "predictions": [{"start": 0, "end": 3, "entity": "Q1"}]}\n')
    with (
        served(str(tmp_path / "new"), "--uploads", "--token", "x") as address,
        opened(address, own=address, said=["422", "401", "403"]) as page,
    ):
        assert "the archive is empty" in page.locator("main").inner_text()
        page.evaluate(AXE.read_text(encoding="utf-8"))
        check_whole(page, axe=True)
        wide = page.viewport_size
        page.set_viewport_size({"width": 390, "height": 844})
        page.emulate_media(color_scheme="dark")
        check_whole(page, axe=True)
        page.screenshot(path=shots / "upload-narrow-dark.png")
        page.set_viewport_size(wide)
        page.emulate_media(color_scheme="light")
        page.get_by_label("gold standard").set_input_files(gold)
        page.get_by_label("predictions").set_input_files(predictions)
        page.get_by_label("system name").fill("mine")
        page.get_by_label("server token").fill("wrong")
        page.get_by_role("button", name="Score").click()
        page.wait_for_selector("[role=status] .missing")
        page.screenshot(path=shots / "upload-refused.png")
        page.get_by_label("server token").fill("x")
        page.get_by_role("button", name="Score").click()
        page.get_by_role("link", name="View results").click()
        page.wait_for_selector("main table")
        page.screenshot(path=shots / "uploaded.png")
        assert "mine" in page.locator("main").inner_text()
