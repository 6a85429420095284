"""Completion in shells: the script of Bash is run, and what it asks for is answered without heavy imports."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from karat.cli.completion.names import _KINDS, _NAMES
from karat.cli.completion.shells import build_script
from karat.cli.main import COMPLETION_VARIABLE, karat
from karat.model.registry import list_plugins
from tests.conftest import ROOT

BASH = shutil.which("bash")


def complete(line, folder=ROOT):
    """Return what Bash offers at the end of a line, by the script that users install."""
    asked = f"""
        {build_script("bash", COMPLETION_VARIABLE)}
        karat() {{ "{sys.executable}" -m karat "$@"; }}
        COMP_LINE=$1 COMP_POINT=${{#1}}
        _karat_completion karat
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run([BASH, "-c", asked, "bash", line], capture_output=True, check=True, cwd=folder)
    return done.stdout.decode().split()


@pytest.mark.skipif(BASH is None, reason="no bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("karat sco", ["score", "scorecard"]),
        ("karat data li", ["lint", "list"]),
        ("karat score demo x --profi", ["--profile"]),
        ("karat score demo x --profile gerb", ["gerbil"]),
        ("karat score demo x -m stro", ["strong:"]),
        ("karat score demo x -m strong:micro.f", ["micro.f1"]),  # Bash completes what follows the colon
        ("karat score demo x --set nil=dro", ["dropped"]),
        ("karat run tagm", ["tagme", "tagme-api"]),
        ("karat run tagme --on aqu", ["aquaint"]),
        ("karat data show aqu", ["aquaint"]),
        ("karat explain ner-fp-wr", ["ner-fp-wrong-span"]),
        ("karat completion f", ["fish"]),
        ("karat nothing x", []),
    ],
)
def test_bash_offers_commands_options_and_names(line, expected):
    assert [word for word in complete(line) if "_" not in word] == expected  # neleval's names have underscores


@pytest.mark.skipif(BASH is None, reason="no bash")
def test_files_and_names_are_offered_together(tmp_path):
    (tmp_path / "aquarium.jsonl").touch()
    assert complete("karat score aqua", tmp_path) == ["aquarium.jsonl", "aquaint"]
    assert complete("karat score demo aqua", tmp_path) == ["aquarium.jsonl"]
    assert complete("karat data show aqua", tmp_path) == ["aquaint"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script_and_gets_answers(karat_cli, shell):
    ran = karat_cli("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert f"{COMPLETION_VARIABLE}={shell}_complete" in ran.out
    words = {"bash": ("karat run tagm", ""), "zsh": ("karat run tagm", "2"), "fish": ("karat run tagm", "tagm")}[shell]
    asked = {COMPLETION_VARIABLE: f"{shell}_complete", "COMP_WORDS": words[0], "COMP_CWORD": words[1]}
    done = subprocess.run([sys.executable, "-m", "karat"], env=os.environ | asked, capture_output=True, check=True)
    assert "tagme-api" in done.stdout.decode()
    assert done.stderr == b""


@pytest.mark.parametrize("line", ["karat score demo x -m strong:mi", "karat run tagme --set nil=", "karat run t"])
def test_completion_imports_neither_numpy_nor_arrow(line):
    asked = os.environ | {COMPLETION_VARIABLE: "bash_complete", "COMP_WORDS": line}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "karat"], env=asked, capture_output=True, check=True
    )
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert "karat.cli.completion.names" in modules
    assert modules & {"numpy", "pyarrow", "httpx", "torch"} == set()


def test_the_table_names_groups_of_plugins_and_parameters_that_exist():
    for kind in _KINDS.values():
        assert kind in _NAMES or list_plugins(kind)
    for key in _KINDS:
        *path, name = key.split()
        command = karat
        for word in path[1:]:
            command = command.get_command(None, word)
        if path:
            names = {max(item.opts, key=len) for item in command.params} | {
                item.name.upper() for item in command.params
            }
            assert name in names, key
