"""What takes longer than a second says so, on a terminal and nowhere else."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time

import pytest

from karat.cli.progress import ProgressLine
from karat.model.output.progress import track_progress


def test_the_innermost_work_is_shown_and_taken_away_again():
    stream = io.StringIO()
    with ProgressLine(stream, delay=0.0).watch(), track_progress("reading gold"):
        time.sleep(0.25)
        with track_progress("scoring \x1b[31m", 4) as advance:
            advance(3)
            time.sleep(0.25)
    drawn = [line for line in stream.getvalue().split("\r") if line.strip()]
    assert drawn[0].startswith("reading gold: 0 s")
    assert r"[###############-----] scoring \x1b[31m: 3 of 4" in drawn
    assert stream.getvalue().endswith("\r")


def test_the_outermost_counted_work_has_a_bar_beside_the_innermost():
    stream = io.StringIO()
    with ProgressLine(stream, delay=0.0).watch(), track_progress("scoring", 2) as advance:
        advance(1)
        with track_progress("resampling strong"):
            time.sleep(0.25)
    assert "[##########----------] scoring: 1 of 2 · resampling strong: 0 s" in stream.getvalue().split("\r")


def test_quick_work_is_not_shown():
    stream = io.StringIO()
    with ProgressLine(stream, delay=60.0).watch(), track_progress("reading gold"):
        time.sleep(0.25)
    assert stream.getvalue() == ""


def test_work_that_nobody_watches_costs_nothing():
    with track_progress("reading") as advance:
        advance(1)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.extras  # it takes long
def test_a_terminal_is_told_and_a_file_is_not():
    import pty

    command = [sys.executable, "-m", "karat", "compare", "--gold", "demo", "demo", "--sensitivity"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as ran:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # what Linux says where the other side is closed
                break
            if not part:
                break
            shown += part
    os.close(ours)
    assert ran.returncode == 0
    assert b"ranking systems" in shown
    assert subprocess.run(command, capture_output=True, check=True).stderr == b""
