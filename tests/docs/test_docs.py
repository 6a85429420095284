"""The documentation cannot lie: names are documented, what is shown is what happens; `make docs` checks the rest."""

from __future__ import annotations

import doctest
import inspect
import re
import shutil
import subprocess
import sys

import pytest

import karat
from karat.cli.main import COMMANDS
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_public_names_exist_are_few_and_documented():
    reference = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    assert sorted(karat.__all__) == sorted(set(karat.__all__)) == sorted(dir(karat))
    assert len(karat.__all__) <= 65
    for name in karat.__all__:
        value = getattr(karat, name)
        assert f"| `{name}` |" in reference
        assert not callable(value) or inspect.getdoc(value)
    with pytest.raises(AttributeError, match="nothing"):
        _ = karat.nothing


def test_every_command_has_help_and_is_documented(karat_cli):
    reference = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"## `karat {name}`" in reference
        assert karat_cli(name, "--help").code == 0


def test_readme_example_gives_what_it_shows(karat_cli, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    for name, content in re.findall(r"```json (\S+)\n(.*?)```", README, re.DOTALL):
        (tmp_path / name).write_text(content, encoding="utf-8")
    command, shown = re.search(r"\$ \.venv/bin/karat (.*?)\n(.*?)\n```", README, re.DOTALL).groups()
    ran = karat_cli(*command.split())
    assert (ran.code, ran.out.rstrip()) == (0, shown)


def test_readme_shows_the_table_of_the_demo(karat_cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = re.search(r"## What the demo prints\n\n```text\n(.*?)\n```", README, re.DOTALL)[1]
    assert karat_cli("demo").out.startswith(shown)


def test_readme_python_example_runs():
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert (failed, tried >= 6) == (0, True)


@pytest.mark.parametrize(("page", "n_examples"), [("papers", 6), ("from-hugging-face", 10)])
def test_the_examples_for_notebooks_run(page, n_examples):
    failed, tried = doctest.testfile(
        str(ROOT / "docs" / "how-to" / f"{page}.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert (failed, tried >= n_examples) == (0, True)


def test_the_page_about_spacy_has_examples_of_components_and_scores():
    """`test_site` runs them, once in a process: spaCy refuses to register a component twice."""
    page = (ROOT / "docs" / "how-to" / "from-spacy.md").read_text(encoding="utf-8")
    examples = [example.source for example in doctest.DocTestParser().get_examples(page)]
    assert len(examples) >= 25
    for name in ("load_run", "karat_linker", "karat_candidates", "nlp.pipe", "nlp.evaluate"):
        assert any(name in source for source in examples), name


def test_docstring_of_the_package_runs():
    failed, tried = doctest.testmod(karat)
    assert (failed, tried) == (0, 3)


def test_the_relation_of_the_contributing_page_works(karat_cli, tmp_path):
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    path = tmp_path / "near.py"
    path.write_text(re.search(r"```python\n(.*?)```", guide, re.DOTALL)[1], encoding="utf-8")
    ran = karat_cli("score", "demo", "demo/noisy", "--match", path, "--match", "strong,weak")
    assert ran.code == 0
    scores = dict(line.split() for line in ran.out.splitlines() if ":micro.f1 " in line and "[" not in line)
    near = float(scores[f"{path}:micro.f1"])
    assert float(scores["strong:micro.f1"]) < near < float(scores["weak:micro.f1"])


def test_readme_names_the_two_commands():
    assert "make demo" in README
    assert "make test" in README


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_no_row_of_a_table_is_apart_from_its_head():
    """An empty line ends a table, and what follows is text with bars."""
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for table in re.findall(r"(?:^[ ]*\|.*\n)+", text, re.MULTILINE):
            rows = table.splitlines()
            assert len(rows) > 1, f"{page.name}: {rows[0]}"
            assert re.fullmatch(r"[ ]*\|(?:\s*:?-+:?\s*\|)+\s*", rows[1]), f"{page.name}: {rows[0]}"


def test_the_stored_predictions_of_the_demo_can_be_made_again(tmp_path):
    inside = "src/karat/plugins/datasets/demo_data"
    shutil.copytree(ROOT / inside, tmp_path / inside)
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    for name in ("perfect", "prior", "noisy"):
        (tmp_path / inside / f"{name}.jsonl").unlink()
    subprocess.run([sys.executable, tmp_path / "tools" / "demo_predictions.py"], check=True, capture_output=True)
    for path in (ROOT / inside).iterdir():
        assert (tmp_path / inside / path.name).read_bytes() == path.read_bytes()


def test_no_page_sends_a_user_below_the_root():
    """Plugin authors of this repository read CONTRIBUTING.md, which may; pages for users name what the root has."""
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        code = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        assert not [
            line
            for block in code
            for line in block.splitlines()
            if re.search(r"(from|import) karat\.(?!plugins import)", line)
        ]
