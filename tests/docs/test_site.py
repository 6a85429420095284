"""The pages of the documentation: their files are written, their commands and code run and give what they show."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.docs.site_pages import (
    count_words,
    list_exempt_blocks,
    list_pages,
    needs_extras,
    read_blocks,
    shows,
    split_commands,
)

PAGES = list_pages()
RUNNABLE = [
    pytest.param(page, id=str(page.relative_to(ROOT / "docs")), marks=[pytest.mark.extras] * needs_extras(page))
    for page in PAGES
]
"""The pages; those that use the packages of extras, or show what these packages compute, are run where they are."""
MAX_WORDS = 45_000
MAX_EXCEPTIONS = 40
"""The most blocks that may be exempt: training, services and packages that the tests do not install."""


def page_id(page):
    return str(page.relative_to(ROOT / "docs"))


@pytest.mark.parametrize("page", RUNNABLE)
def test_a_page_does_what_it_shows(page, karat_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / ".karat"))
    names: dict[str, object] = {"__name__": "__main__"}
    for block in read_blocks(page):
        where = f"{page_id(page)}:{block.line}"
        if block.reason is not None:
            continue
        if block.file is not None:
            path = tmp_path / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.body, encoding="utf-8")
        elif block.kind == "console":
            commands = list(split_commands(block.body))
            assert commands, f"{where}: no line begins with `$ `"
            for command in commands:
                run_command(command, karat_cli, where)
        elif block.kind == "python" and ">>>" in block.body:
            example = doctest.DocTestParser().get_doctest(block.body, names, where, str(page), block.line)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
            messages: list[str] = []
            assert runner.run(example, out=messages.append, clear_globs=False).failed == 0, "".join(messages)
            names.update(example.globs)
        elif block.kind == "python":
            exec(compile(block.body, where, "exec"), names)


def run_command(command, karat_cli, where):
    """Run a command of a page; a comment `# exit code N` names another exit code than 0."""
    text, _, comment = command.text.partition("  #")
    code = re.search(r"exit code (\d)", comment)
    if text.startswith("karat ") and not re.search(r"[|><;*]", text):
        ran = karat_cli(*shlex.split(text)[1:])
        actual_code, output = ran.code, ran.out + ran.err
    else:
        python = f"{shlex.quote(sys.executable)} -m karat"
        script = re.sub(r"(^|[|;&] *)karat ", lambda match: f"{match[1]}{python} ", text)
        process = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
        actual_code, output = process.returncode, process.stdout + process.stderr
    assert actual_code == (int(code[1]) if code else 0), f"{where}: {text}\n{output}"
    if command.output:
        assert shows(command.output, output), f"{where}: {text}\nshown:\n{command.output}\n\nprinted:\n{output}"


def test_the_pages_are_short_enough(capsys):
    assert sum(map(count_words, PAGES)) <= MAX_WORDS


def test_few_blocks_are_exempt():
    exempt = list_exempt_blocks()
    assert len(exempt) <= MAX_EXCEPTIONS, "\n".join(exempt)


def test_every_block_of_code_is_a_file_or_run_or_exempt():
    for page in PAGES:
        for block in read_blocks(page):
            known = block.file or block.reason or block.kind in ("console", "python", "text", "json", "mermaid")
            assert known, f"{page_id(page)}:{block.line}: a block of {block.kind or 'no language'}"
