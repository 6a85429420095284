"""docs/papers: every paper has a page, and the commands on it work; tests of the suites compare the pages."""

from __future__ import annotations

import re
import shlex
import subprocess

import click
import pytest
from tools.papers import PAGES, list_papers

from karat.cli.main import karat as command_line

PAPERS = [name for name in list_papers() if name != "conventions"]  # conventions takes minutes
NOT_RUN = re.compile(
    r"karat reproduce|CAMPAIGN"  # the suites themselves; campaigns of the reader
    r"|(aquaint|msnbc|updated|iitb)\.jsonl|predictions/(AQUAINT|MSNBC|msnbc-updated|iitb)/"  # as AIDA's commands
    r"|lists[2-5]\.parquet"  # as the first lists
    r"|run popular graph"  # nine test sets
)
"""Commands that take long, or that others of the same form stand for."""


def list_commands(name):
    """Return the distinct command lines on the page of a paper, in its order."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    return list(dict.fromkeys(re.findall(r"^    (karat .*)$", text, re.MULTILINE)))


def expand(line, folder):
    """Return the arguments that a shell passes for a command line whose DIR is `folder`."""
    line = line.replace("DIR/", f"{shlex.quote(str(folder))}/")
    shell = subprocess.run(["bash", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True)
    program, *arguments = shell.stdout.splitlines()
    assert program == "karat"
    return arguments


def test_every_paper_has_a_page_and_every_page_a_paper():
    assert {path.stem for path in PAGES.glob("*.md")} == {"README", *list_papers()}
    assert {"bat-2013", "fair-2023", "finegrained-2019", "posthoc-2021", "zelda-2023"} <= set(list_papers())


@pytest.mark.parametrize("name", list_papers())
def test_the_index_has_the_summary_line_of_each_page(name):
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    summary = re.search(r"^\d+ reproduced.*? impossible", page, re.MULTILINE)
    [row] = [line for line in (PAGES / "README.md").read_text(encoding="utf-8").splitlines() if f"({name}.md)" in line]
    assert row.endswith(f" | {'a finding' if summary is None else summary[0]} |")


@pytest.mark.parametrize("name", list_papers())
def test_every_command_of_a_page_can_be_parsed(name):
    commands = list_commands(name)
    assert commands
    for line in commands:
        command, context, arguments = command_line, None, shlex.split(line)[1:]
        while isinstance(command, click.Group) and arguments:
            with click.Context(command, parent=context) as context:
                _, command, arguments = command.resolve_command(context, arguments)
        with command.make_context(command.name, arguments, parent=context) as parsed:
            assert not parsed.args


@pytest.mark.shared
@pytest.mark.extras  # some hundred commands
@pytest.mark.parametrize("name", PAPERS)
def test_the_commands_of_a_page_run(name, shared, karat_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    failed = {}
    for line in list_commands(name):
        if NOT_RUN.search(line) is None:
            ran = karat_cli(*expand(line, shared))
            if ran.code or not (ran.out or ran.err):
                failed[line] = ran.err[-300:]
    assert failed == {}
