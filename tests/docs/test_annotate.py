"""The page about annotation: its commands exist, and its walk leads to a gold standard."""

from __future__ import annotations

import re
import shlex

import click
import msgspec
import pytest

import karat
from karat import Label
from karat.cli.annotate import COMMANDS, command
from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "how-to" / "annotate.md").read_text(encoding="utf-8")
LINES = [
    line.removeprefix("$ ").partition(" > ")[0]
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ karat ")
]


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("karat annotate ")])
def test_commands_and_options_exist(line):
    name, *arguments = shlex.split(line)[2:]
    known = command.get_command(click.Context(command), name)
    assert known is not None
    with known.make_context(name, arguments):
        pass


def test_commands_are_named():
    assert set(re.findall(r"karat annotate (\w+)", PAGE)) | set(re.findall(r"`(\w+)`", PAGE)) >= set(COMMANDS)


@pytest.mark.extras
def test_the_walk_leads_to_a_gold_standard(karat_cli, tmp_path, monkeypatch):
    from karat.protocols.annotation.store.store import AnnotationStore
    from tests.protocols.annotation.stored import annotate_all, decide_all, enter

    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts").mkdir()
    for name in ("council", "match", "museum"):
        (tmp_path / "texts" / f"{name}.txt").write_text("Ulm won against Berlin.", encoding="utf-8")
    lines = [line for line in LINES if line.endswith((".sqlite", "anna ben", "--adjudicator", "--kb starter"))][:3]
    for line in lines:
        assert karat_cli(*shlex.split(line)[1:]).code == 0, line
    store = AnnotationStore.open("mine.sqlite")
    ulm, berlin = Label(0, 3, "Q3012"), Label(16, 22, "Q64")
    anna, ben = enter(store, "anna"), enter(store, "ben")
    annotate_all(store, anna, {name: [ulm, berlin] for name in ("council", "match", "museum")})
    annotate_all(store, ben, {name: [ulm] for name in ("council", "match", "museum")})
    assert decide_all(store, store.add_adjudicator("carla"), anna) == 3
    store.database.close()
    for line in ("karat annotate report mine.sqlite", "karat annotate export mine.sqlite --out gold.jsonl"):
        assert line in LINES
        assert karat_cli(*shlex.split(line)[1:]).code == 0
    gold = karat.load("gold.jsonl")
    assert [document.labels for document in gold] == [(ulm, berlin)] * 3
    assert "F1 of spans 0.667" in gold.metadata["agreement"]


def test_the_documented_edit_is_one_that_the_server_reads():
    page = (ROOT / "docs" / "reference" / "servers.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"- An edit is `(.*?)`", page)
    edit = msgspec.json.decode(example, type=LabelEdit)
    assert edit == LabelEdit("a1", AnnotatedLabel(Label(0, 3, "Q42")))
