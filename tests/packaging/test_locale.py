"""A bare locale: the same files and figures, and no traceback whatever the terminal cannot show."""

from __future__ import annotations

import ast
import json
import os

import pytest

import karat
from tests.conftest import ROOT

BARE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}


def named(text: str) -> str:
    """A name as the system passes it, in whatever locale the tests themselves run."""
    return os.fsdecode(text.encode())


@pytest.fixture
def files(tmp_path):
    """Gold and predictions under names, and with names and texts, that ASCII does not have; the latter without a
    header."""
    folder = tmp_path / named("Übung")
    folder.mkdir()
    karat.save(karat.load("demo"), folder / named("göld.parquet"))
    karat.save(karat.load_run("demo/noisy"), folder / named("系统.jsonl"))
    lines = (folder / named("系统.jsonl")).read_bytes().splitlines(keepends=True)[1:]
    (folder / named("系统.jsonl")).write_bytes(b"".join(lines))
    return folder


def test_files_are_the_same(files, karat_cli, karat_process, tmp_path):
    sides = files / named("göld.parquet"), files / named("系统.jsonl")
    commands = (
        ("score", *sides, "--json", "-"),
        ("data", "convert", sides[0], "-", "--to", "karat-jsonl"),
        (
            "compare",
            "--gold",
            sides[0],
            f"{named('größer')}={sides[1]}",
            "demo/prior",
            "--resamples",
            20,
            "--json",
            "-",
        ),
    )
    for arguments in commands:
        usual, bare = karat_cli(*arguments), karat_process(*arguments, **BARE)
        assert (usual.code, bare.code) == (0, 0), bare.err
        assert bare.out == usual.out
    assert json.loads(karat_cli(*commands[0]).out)["run"] == "系统"
    target = tmp_path / named("größe.nif")
    assert (
        karat_process("data", "convert", sides[0], target, "--to", "nif", "--base", "https://a.org/", **BARE).code == 0
    )
    assert [document.text for document in karat.load(target)] == [document.text for document in karat.load("demo")]


@pytest.mark.parametrize(
    ("environment", "arguments"),
    [
        (BARE, ("score", "demo", "demo/noisy", "--by", "error")),
        (BARE, ("score", named("nirgendwo–ß"), "demo/noisy")),
        ({"PYTHONIOENCODING": "latin-1"}, ("score", "--help")),  # which has "…", as tables have dashes
        ({"PYTHONIOENCODING": "latin-1"}, ("data", "stats", "demo")),
    ],
)
def test_what_cannot_be_shown_is_no_error(karat_process, karat_cli, environment, arguments):
    ran = karat_process(*arguments, **environment)
    assert "Traceback" not in ran.err
    assert ran.code == karat_cli(*arguments).code


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes only there")
def test_a_file_name_that_is_no_text(tmp_path, karat_process):
    folder = os.fsencode(tmp_path)
    for name, data in ((b"gold-\xe4.jsonl", karat.load("demo")), (b"system-\xe4.jsonl", karat.load_run("demo/noisy"))):
        karat.save(data, tmp_path / "plain.jsonl")
        content = (tmp_path / "plain.jsonl").read_bytes()
        (tmp_path / os.fsdecode(name)).write_bytes(content.partition(b"\n")[2])
    sides = (os.fsdecode(folder + b"/" + name) for name in (b"gold-\xe4.jsonl", b"system-\xe4.jsonl"))
    ran = karat_process("score", *sides, "--json", tmp_path / "result.json")
    assert ran.code == 0, ran.err
    assert json.loads((tmp_path / "result.json").read_bytes())["run"] == r"system-\xe4"
    ran = karat_process("score", "demo", "demo/noisy", "--match", os.fsdecode(b"\xe4"))
    assert (ran.code, "Traceback" in ran.err) == (2, False)


def _in_the_encoding_of_the_locale(path):
    """Calls that read or write text and do not say in which encoding."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        owner = getattr(getattr(node.func, "value", None), "id", "")
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = {keyword.arg: getattr(keyword.value, "value", None) for keyword in node.keywords}
        modes = [given.get("mode"), *(value.value for value in node.args[:2] if isinstance(value, ast.Constant))]
        binary = any(isinstance(mode, str) and "b" in mode for mode in modes)
        # those of these owners open no text
        opens = (
            name == "open"
            and not binary
            and owner
            not in {"AnnotationStore", "CampaignStore", "Snapshot", "archive", "os", "tarfile", "opened", "opener"}
        )
        stores = owner in {"texts", "snapshot", "self"}  # objects of ours, which fix the encoding
        text = (
            opens
            or (name in {"read_text", "write_text"} and not stores)
            or (owner == "subprocess" and given.get("text") is True)
        )
        if text and "encoding" not in given:
            yield f"{path.relative_to(ROOT)}:{node.lineno}"


def test_files_name_their_encoding():
    paths = [path for folder in ("src", "tools", "bench") for path in (ROOT / folder).rglob("*.py")]
    assert [place for path in paths for place in _in_the_encoding_of_the_locale(path)] == []
