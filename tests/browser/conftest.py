"""A browser, and pages to look at: the demo, texts in other scripts, hostile names, much of everything."""

from __future__ import annotations

import base64
import gzip
import json
import os
import random
import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest

from karat.analysis.comparison.entries import entry_from_run, load_entries
from karat.evaluation.request import Request
from karat.storage.content_store import MemoryStore
from karat.web.archive.archive import Archive
from karat.web.archive.html import render_html
from karat.web.archive.submissions import ArchiveOptions, add_results
from tests.browser import corpora
from tests.conftest import ROOT
from tests.web.reports import pieces_in

SIZES = {"wide": (1280, 800), "narrow": (390, 844)}

_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def browser():
    """Chromium of the system: none is downloaded."""
    from playwright.sync_api import sync_playwright

    program = os.environ.get("KARAT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    assert program, "there is no Chromium. Install Debian's package chromium, or set KARAT_CHROMIUM."
    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=program, args=list(_QUIET))
        yield found
        found.close()


@pytest.fixture(scope="session")
def shots() -> Path:
    """Where screenshots are kept, to be looked at: a folder that git ignores."""
    folder = Path(os.environ.get("KARAT_SCREENSHOTS") or ROOT / "build" / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def opened(browser):
    """Open an address; whatever the page says on its console, or asks elsewhere, fails the test.

    `said` are parts of what it may say, and `confirms` are answers to its questions, in order; others are dismissed.
    """

    @contextmanager
    def at(
        address: str,
        *,
        size: str = "wide",
        scheme: str = "light",
        own: str = "",
        said: list[str] | None = None,
        confirms: tuple[bool, ...] = (),
    ):
        answers = iter(confirms)
        width, height = SIZES[size]
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        page = context.new_page()
        heard: list[str] = []

        def answer(dialog) -> None:
            heard.append(f"dialog {dialog.message}")
            (dialog.accept if next(answers, False) else dialog.dismiss)()

        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda problem: heard.append(str(problem)))
        page.on("dialog", answer)
        page.on("request", lambda asked: heard.extend(_foreign(asked.url, address, own)))
        page.goto(address)
        page.wait_for_selector("main :is(table, .document, figure, .missing, form)")
        yield page
        assert [line for line in heard if not any(word in line for word in said or ())] == []
        context.close()

    return at


def _foreign(url: str, address: str, own: str) -> list[str]:
    known = ("blob:", "data:", address.partition("#")[0], own or "\0")
    return [] if url.startswith(known) else [f"asks {url}"]


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """Write systems on datasets as one file, and say its address."""
    folder = tmp_path_factory.mktemp("reports")

    def made(name: str, found, filling: ArchiveOptions | None = None, **how: str) -> str:
        files = MemoryStore()
        add_results(files, found, Request.from_options(), filling or ArchiveOptions(resamples=50))
        path = folder / f"{name}.html"
        path.write_bytes(b"".join(render_html(Archive(files, **how))))
        return path.as_uri()

    return made


@pytest.fixture(scope="session")
def demo(report) -> str:
    filling = ArchiveOptions(("gerbil", "elevant"), ("gerbil",), 50)
    return report("demo", load_entries(["demo"], ["demo"]), filling)


def pieces_of(address: str) -> dict[str, object]:
    """What is inlined in a report, by name."""
    return pieces_in(Path(url2pathname(urlparse(address).path)).read_text(encoding="utf-8"))


def with_pieces(address: str, **pieces: object) -> str:
    """A report with other pieces, or without those that are None."""
    page = Path(url2pathname(urlparse(address).path)).read_text(encoding="utf-8")
    for name, piece in pieces.items():
        data = base64.b64encode(gzip.compress(json.dumps(piece).encode())).decode()
        own = "" if piece is None else f'<script type="application/octet-stream" id="resource:{name}">{data}</script>'
        page = re.sub(f'<script type="application/octet-stream" id="resource:{name}">[^<]*</script>', own, page)
    return page


@pytest.fixture(scope="session")
def broad(demo, tmp_path_factory) -> str:
    """A board of 50 systems on 50 datasets."""
    draw = random.Random(7).uniform
    board = pieces_in(with_pieces(demo))["leaderboard"]
    systems = [{"name": f"system-{number}", "title": f"System {number}"} for number in range(50)]
    datasets = [{**board["datasets"][0], "key": f"{number:012x}", "name": f"dataset {number}"} for number in range(50)]
    first = board["profiles"][0]
    value = [[draw(0.3, 0.9) for _ in systems] for _ in datasets]
    table = {
        "profile": first["name"],
        "measure": first["headline"],
        "value": value,
        "low": [[one - 0.05 for one in row] for row in value],
        "high": [[one + 0.05 for one in row] for row in value],
        "better_systems": [[None] * 50] * 50,
        "tested_systems": [[[]] * 50] * 50,
        "oracle": [False] * 50,
        "untested": [],
        "untested_reason": "",
        "direction": "high",
        "mean": [sum(row[system] for row in value) / 50 for system in range(50)],
    }
    changed = {"systems": systems, "datasets": datasets, "profiles": [first], "tables": [table], "notes": []}
    path = tmp_path_factory.mktemp("broad") / "broad.html"
    path.write_text(
        with_pieces(demo, leaderboard={**board, **changed, "averaged_datasets": list(range(50))}), encoding="utf-8"
    )
    return path.as_uri()


@pytest.fixture(scope="session")
def scripts(report) -> str:
    return report("scripts", [entry_from_run(*corpora.scripts())])


@pytest.fixture(scope="session")
def hostile(report) -> str:
    return report("hostile", [entry_from_run(*corpora.hostile())], title=corpora.ATTACK)


@pytest.fixture(scope="session")
def long(report) -> str:
    return report("long", [entry_from_run(*corpora.long())])
