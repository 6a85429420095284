"""The pages about reading predictions: their files are written, their commands run, their Python gives what it
shows."""

from __future__ import annotations

import doctest
import re
import shlex

import pytest

from karat.formats.parsing.surfaces import entries
from karat.formats.parsing.surfaces.columns import ROLES
from tests.conftest import ROOT

FILES = re.compile(r"^```\w+ (\S+\.\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMANDS = re.compile(r"^```console( refused)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    def page(path):
        text = (ROOT / path).read_text(encoding="utf-8")
        for name, content in FILES.findall(text):
            (tmp_path / name).write_text(content, encoding="utf-8")
        return text

    monkeypatch.chdir(tmp_path)
    return page


def commands(page):
    for refused, block in COMMANDS.findall(page):
        for line in block.splitlines():
            yield 2 if refused else 0, shlex.split(line)[1:]


@pytest.mark.parametrize(("path", "least"), [("docs/llm.md", 4), ("docs/formats.md", 1)])
def test_commands_of_the_page_run(karat_cli, in_folder, path, least):
    found = list(commands(in_folder(path)))
    assert len(found) >= least
    for code, arguments in found:
        assert karat_cli(*arguments).code == code, arguments


def test_python_of_the_page_about_models_gives_what_it_shows(in_folder):
    page = in_folder("docs/llm.md")
    example = doctest.DocTestParser().get_doctest(page, {}, "llm.md", None, 0)
    assert len(example.examples) >= 6
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_page_about_models_names_every_field_and_every_count_that_is_read(in_folder):
    page = in_folder("docs/llm.md")
    known = (
        entries.TEXT_NAMES,
        entries.ID_NAMES,
        entries.LINK_NAMES,
        entries.START_NAMES,
        entries.END_NAMES,
        entries.TYPE_NAMES,
        entries.SCORE_NAMES,
    )
    for names in (*known, entries.LEFT_CONTEXT_NAMES, entries.RIGHT_CONTEXT_NAMES, entries.LIST_NAMES):
        assert [name for name in names if f"`{name}`" not in page] == []


def test_every_role_of_a_column_is_documented(in_folder):
    assert [role for role in ROLES if f"`{role}`" not in in_folder("docs/formats.md")] == []


def test_the_format_of_the_contributing_page_works(karat_cli, in_folder, tmp_path):
    in_folder("CONTRIBUTING.md")
    in_folder("docs/llm.md")
    (tmp_path / "predictions.bars").write_text("d1|0|12|Q7259\nd2|4|10|\n")
    (tmp_path / "broken.bars").write_text("d1|0|12\n")
    assert karat_cli("score", "gold.jsonl", "predictions.bars", "--predictions-format", "./bars.py").code == 0
    ran = karat_cli("score", "gold.jsonl", "broken.bars", "--predictions-format", "./bars.py")
    assert (ran.code, "broken.bars:1: found 3 cells" in ran.err) == (2, True)
