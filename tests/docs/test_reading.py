"""The pages about reading predictions: they name all that is read, and the format of the contributing page works."""

from __future__ import annotations

import ast
import re

import pytest

from karat.formats.parsing.surfaces import entries
from karat.formats.parsing.surfaces.columns import ROLES
from tests.conftest import ROOT
from tests.docs.site_pages import list_pages, read_blocks, split_commands

MODELS = "docs/how-to/from-llm.md"
FORMATS = "docs/how-to/own-formats.md"
FILES = re.compile(r"^```\w+ (?:title=\"(.*?)\"|(\S+\.\w+))\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    def page(path):
        text = (ROOT / path).read_text(encoding="utf-8")
        for title, name, content in FILES.findall(text):
            file = tmp_path / (title or name)
            file.parent.mkdir(exist_ok=True)
            file.write_text(content, encoding="utf-8")
        return text

    monkeypatch.chdir(tmp_path)
    return page


@pytest.mark.parametrize(("path", "commands", "examples"), [(MODELS, 4, 6), (FORMATS, 1, 1)])
def test_the_pages_have_examples_that_are_run(path, commands, examples):
    """test_site.py runs them and compares what they print."""
    assert ROOT / path in list_pages()
    blocks = [block for block in read_blocks(ROOT / path) if block.reason is None]
    assert sum(len(list(split_commands(block.body))) for block in blocks if block.kind == "console") >= commands
    assert sum(block.body.count(">>> ") for block in blocks if block.kind == "python") >= examples


def test_the_page_about_models_names_every_field_and_every_count_that_is_read(in_folder):
    page = in_folder(MODELS)
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


def test_every_role_of_a_column_is_documented():
    page = (ROOT / FORMATS).read_text(encoding="utf-8")
    assert [role for role in ROLES if f"`{role}`" not in page] == []


def _list_messages(tree):
    """Strings of a module without docstrings of code; the docstring of a command is its help."""
    code = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
        if getattr(node, "name", "") != "command"
    }
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    commands = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "command"]
    yield from (ast.get_docstring(node) or "" for node in commands)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in code | notes:
            yield node.value


@pytest.mark.extras  # it takes long
def test_messages_name_pages_by_titles_that_exist():
    """An installed package has no docs folder, so that a path would lead nowhere."""
    titles = {path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for path in list_pages()}
    modules = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "src" / "karat").rglob("*.py")]
    messages = [" ".join(message.split()) for module in modules for message in _list_messages(module)]
    assert [message for message in messages if re.search(r"docs/\S+\.md", message)] == []
    named = {title for message in messages for title in re.findall(r"documentation page '(.*?)'", message)}
    assert len(named) > 5
    assert named <= titles


def test_the_format_of_the_contributing_page_works(karat_cli, in_folder, tmp_path):
    in_folder("CONTRIBUTING.md")
    in_folder(MODELS)
    (tmp_path / "predictions.bars").write_text("d1|0|12|Q7259\nd2|4|10|\n")
    (tmp_path / "broken.bars").write_text("d1|0|12\n")
    assert karat_cli("score", "gold.jsonl", "predictions.bars", "--predictions-format", "./bars.py").code == 0
    ran = karat_cli("score", "gold.jsonl", "broken.bars", "--predictions-format", "./bars.py")
    assert (ran.code, "broken.bars:1: found 3 cells" in ran.err) == (2, True)
