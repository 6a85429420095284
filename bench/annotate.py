"""Delay between a key press and the screen on the annotation page, for a long text with many labels.

    python bench/annotate.py --characters 100000 --labels 2000

`karat annotate serve` runs in a process of its own and stores every change. Chromium (KARAT_CHROMIUM, or the one on the
path) is driven by Playwright without a window. A delay is the time from the key event to the end of the first frame
after the page has changed. The report has the median, the 95th percentile and the maximum in milliseconds.
The last two lines include the server: candidates of a search, and the confirmation that a change is on disk.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from karat import Label
from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit
from karat.protocols.annotation.project import AnnotationTask, Guidelines, Project, ProjectOptions, Suggestion
from karat.protocols.annotation.store.store import AnnotationStore

NAMES = {"Berlin": "Q64", "Paris": "Q90", "Moscow": "Q649", "Germany": "Q183", "Albert Einstein": "Q937"}
WORDS = ("the", "of", "city", "in", "a", "and", "visited", "was", "river", "old", "famous", "left", "never", "came")
SUGGESTED = "Cambridge"
SPAN = "library"

OBSERVER = """
  window.delays = [];
  let start = null;
  addEventListener("keydown", (event) => { start = event.timeStamp; }, true);
  new MutationObserver(() => {
    if (start === null) return;
    const pressed = start;
    start = null;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.delays.push(performance.now() - pressed);
      port2.postMessage(null);
    });
  }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
"""


CONFIRMATIONS = """
  performance.getEntriesByType("resource")
    .filter(({ name }) => name.endsWith("/changes") || name.endsWith("/undo"))
    .map(({ duration }) => duration)
"""


class Text(NamedTuple):
    """A text with the spans of its labels and suggestions."""

    text: str
    labels: list[Label]
    suggestions: list[Label]


def make_text(characters: int, n_labels: int, n_suggestions: int, paragraph: int) -> Text:
    """Make a text of about `characters` characters in paragraphs, with labels and suggestions spread over it.

    Every tenth label contains a nested one.
    """
    draw = random.Random(1)
    parts: list[str] = []
    labels: list[Label] = []
    suggestions: list[Label] = []
    offset = line = 0
    while offset < characters or len(labels) < n_labels:
        progress = offset / characters
        if len(labels) < n_labels * progress:
            word = draw.choice(list(NAMES))
            labels.append(Label(offset, offset + len(word), NAMES[word]))
            if len(labels) % 10 == 1 and len(labels) < n_labels:
                labels.append(Label(offset, offset + 3, "Q64"))
        elif len(suggestions) < n_suggestions * progress:
            word = SUGGESTED
            suggestions.append(Label(offset, offset + len(word), "Q350"))
        else:
            word = SPAN if draw.random() < 0.05 else draw.choice(WORDS)
        separator = "\n" if offset - line > paragraph else " "
        parts += word, separator
        offset += len(word) + 1
        line = offset if separator == "\n" else line
    return Text("".join(parts), labels, suggestions)


def create_store(path: Path, text: Text) -> AnnotationStore:
    """Store a project with one document, whose labels an annotator has made already."""
    suggestions = tuple(Suggestion(f"s{number}", label) for number, label in enumerate(text.suggestions))
    task = AnnotationTask(0, "long", text.text, 0, len(text.text), suggestions)
    options = ProjectOptions(name="Long", documents=1, annotators=1, prefill="all")
    store = AnnotationStore.create(str(path), Project(options, (task,), (Guidelines("none", "Mark all."),), "secret"))
    person = store.find_judge(store.start_session(store.create_invitation("anna", 60.0), True))
    assert person is not None
    assert store.lease_document(person) is not None
    edits = [LabelEdit(f"l{number}", AnnotatedLabel(label)) for number, label in enumerate(text.labels)]
    store.submit_change(person, task, "labels", 0, edits)
    return store


@contextmanager
def serve(path: Path) -> Iterator[str]:
    """Run `karat annotate serve` and yield its address."""
    command = [sys.executable, "-m", "karat", "annotate", "serve", str(path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as server:
        try:
            assert server.stdout is not None
            line = next(line for line in server.stdout if "http://" in line)
            yield line[line.index("http://") :].split()[0].rstrip("/.")
        finally:
            server.terminate()


def measure(page: Any, name: str, keys: Sequence[str], repetitions: int) -> None:  # noqa: ANN401  # of Playwright
    """Press keys again and again, and print the delays of the first key."""
    delays = []
    for _ in range(repetitions):
        for index, key in enumerate(keys):
            n_delays = page.evaluate("delays.length")
            page.keyboard.press(key)
            page.wait_for_function("count => delays.length > count", arg=n_delays)
            if index == 0:
                delays.append(page.evaluate(f"delays[{n_delays}]"))
        page.wait_for_timeout(20)
    report(name, delays)


def measure_candidates(page: Any, repetitions: int) -> None:  # noqa: ANN401  # of Playwright
    """Mark new spans, and print the delays until the search has answered with candidates."""
    delays = []
    for _ in range(repetitions):
        page.keyboard.press("Shift+ArrowRight")
        pressed = page.evaluate("performance.now()")
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=combobox]:focus")
        page.wait_for_selector(".search [role=status]:not(:has-text('Searching'))", state="attached")
        delays.append(page.evaluate("performance.now()") - pressed)
        page.keyboard.press("Escape")
        page.keyboard.press("ArrowRight")
    report("candidates from the server", delays)


def report(name: str, delays: list[float]) -> None:
    """Print the median, the 95th percentile and the maximum of some delays."""
    delays.sort()
    high = delays[min(len(delays) - 1, int(len(delays) * 0.95))]
    print(f"{name:<28} median {statistics.median(delays):6.1f} ms  95 % {high:6.1f} ms  max {delays[-1]:6.1f} ms")


def main() -> None:
    """Make the text, serve it, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--characters", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=2000)
    parser.add_argument("--paragraph", type=int, default=700, help="characters of a paragraph")
    parser.add_argument("--repetitions", type=int, default=60)
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    program = os.environ.get("KARAT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    text = make_text(options.characters, options.labels, 2 * options.repetitions, options.paragraph)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "long.sqlite"
        store = create_store(path, text)
        invitation = store.create_invitation("anna")
        with serve(path) as address:
            browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"{address}/#/join/{invitation}")
            page.click("button[type=submit]")
            page.wait_for_selector("main.documents button:focus")
            page.evaluate("window.opened = performance.now()")
            page.keyboard.press("Enter")
            page.wait_for_selector(".annotated:focus")
            seconds = page.evaluate("(performance.now() - window.opened) / 1000")
            print(f"{len(text.text):,} characters, {len(text.labels):,} labels; the page opened in {seconds:.1f} s")
            page.wait_for_timeout(1500)
            page.evaluate(OBSERVER)
            n = options.repetitions
            measure(page, "accept a suggestion", ["Enter"], n)
            measure(page, "undo", ["u"], n)
            measure(page, "next mention", ["n"], n)
            measure(page, "next word", ["ArrowRight"], n)
            measure(page, "extend the span", ["Shift+ArrowRight", "ArrowRight"], n)
            measure(page, "mark a span (candidates)", ["Enter", "Escape", "ArrowRight"], n)
            measure(page, "label a span (quantity)", ["q", "ArrowRight"], n)
            measure_candidates(page, n)
            page.wait_for_selector(".save-state:text-is('saved')")
            report("confirmation of a change", page.evaluate(CONFIRMATIONS))
            browser.close()


if __name__ == "__main__":
    main()
