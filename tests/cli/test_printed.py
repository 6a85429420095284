"""What is printed is data, never code: terminals, LaTeX, Markdown, CSV and pictures; and pipes that end early."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.cli.data import COMMANDS as DATA
from karat.cli.main import COMMANDS
from karat.render.charts.curve_set import threshold_chart
from karat.render.charts.output import ENCODERS
from karat.render.tables import LAYOUTS

EVIL = "\x1b]0;owned\x07\x1b[31m\u202ered\x9b2J\rback\nline\u2028end"
SHOWN = r"\x1b]0;owned\x07\x1b[31m\u202ered\x9b2J\rback\nline\u2028end"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def evil(tmp_path):
    """A gold standard and a run in which every name wants to be obeyed."""
    gold = {
        "id": EVIL,
        "text": f"Ada {EVIL} Ulm",
        "labels": [
            {"start": 0, "end": 3, "entity": EVIL, "types": [EVIL], "categories": [EVIL]},
            {"start": 4, "end": 20, "entity": None},
        ],
        "meta": {"domain": EVIL},
    }
    predictions = {"id": EVIL, "predictions": [{"start": 0, "end": 3, "entity": f"other {EVIL}", "types": [EVIL]}]}
    folder = tmp_path / "in"
    folder.mkdir()
    names = [f"{start}\x1b[31m\x07 {EVIL[-12:]}" for start in ("gold", "mine", "yours")]
    (folder / f"{names[0]}.jsonl").write_text(json.dumps(gold) + "\n", encoding="utf-8")
    for name in names[1:]:
        (folder / f"{name}.jsonl").write_text(json.dumps(predictions) + "\n", encoding="utf-8")
    return [str(folder / f"{name}.jsonl") for name in names]


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "GOLD", "MINE", "--by", "entity", "--by", "types", "--by", "doc"],
        ["score", "GOLD", "MINE", "YOURS"],
        ["show", "GOLD", "MINE", "YOURS"],
        ["show", "GOLD", "MINE", "--type", EVIL, "--doc", EVIL, "--entity", EVIL],
        ["compare", "--gold", "GOLD", "MINE", "YOURS"],
        ["compare", "--gold", "GOLD", "MINE", "YOURS", "--markdown"],
        ["compare", "--gold", "GOLD", "MINE", "YOURS", "--latex"],
        ["why", "GOLD", "MINE", "--reference-profile", "gerbil"],
        ["data", "stats", "GOLD"],
        ["data", "stats", "GOLD", "--latex"],
        ["data", "lint", "GOLD"],
        ["data", "convert", "MINE", "OUT"],
        ["score", "GOLD", "MINE", "-m", f"strong:micro.f1@types={EVIL}"],
        ["score", "GOLD", "nothing\x1b[31m.jsonl"],
        ["score", "GOLD", "MINE", "--no-such\x1b[31m"],
        ["explain", f"strong:micro.f1@types={EVIL}"],
        ["explain", f"weak\x1b[31m{EVIL[:5]}"],
        ["data", "show", "aida\x1b[31m"],
    ],
    ids=lambda arguments: " ".join(arguments).encode("unicode_escape").decode()[:60],
)
def test_terminal_escapes_are_shown_and_not_obeyed(karat_cli, evil, arguments, tmp_path):
    places = dict(zip(("GOLD", "MINE", "YOURS"), evil, strict=True), OUT=str(tmp_path / "out.csv"))
    done = karat_cli(*(places.get(word, word) for word in arguments))
    assert OBEYED.search(done.out) is None
    assert OBEYED.search(done.err) is None
    assert re.search(r"(\\|textbackslash\{\})x1b", done.out + done.err)


def test_a_name_with_line_ends_stays_in_its_cell():
    for name, drawn in ((name, layout.draw([["", "a"], [EVIL, "1"]], {0})) for name, layout in LAYOUTS.items()):
        rows = [line for line in drawn.splitlines() if "owned" in line]
        assert len(rows) == 1, name
        assert OBEYED.search(drawn) is None


def test_json_on_a_terminal_is_data_too(karat_cli, evil):
    gold, mine, _ = evil
    out = karat_cli("score", gold, mine, "--by", "types", "--json", "-").out
    assert OBEYED.search(out) is None
    assert json.loads(out)["groups"]["types"]["strong"][EVIL]
    cases = karat_cli("show", gold, mine, "--jsonl", "-").out
    assert OBEYED.search(cases) is None
    assert json.loads(cases.splitlines()[0])["document"] == EVIL


def test_every_json_output_is_data_too(karat_cli, evil, tmp_path):
    gold, mine, _ = evil
    good = tmp_path / "good.jsonl"
    row = {"id": EVIL, "predictions": [{"start": 0, "end": 3, "entity": EVIL}]}
    good.write_text(json.dumps(row) + "\n", encoding="utf-8")
    for arguments in (
        ("compare", "--gold", gold, mine, good, "--flips", "-"),
        ("kb", "resolve", gold, "--json", "-"),
        ("kb", "near-misses", gold, mine, "--json", "-"),
        ("score", gold, mine, "--verdicts", "-"),
    ):
        done = karat_cli(*arguments)
        assert done.code == 0, done.err
        assert r"\u202e" in done.out, arguments
        assert OBEYED.search(done.out) is None, arguments


LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
}


@pytest.mark.parametrize("sign", LATEX)
def test_latex_has_no_commands_of_names(sign):
    drawn = LAYOUTS["latex"].draw([["a", "b"], [f"x{sign}y", "1"]], {0})
    assert f"x{LATEX[sign]}y & 1" in drawn
    assert all(line.startswith("% ") for line in LAYOUTS["latex"].join([f"x{sign}y\nz"]).splitlines())


def test_no_cell_becomes_an_option_of_the_row_before():
    drawn = LAYOUTS["latex"].draw([["a", "b"], ["[5cm]", "1"], ["*", "2"]], {0})
    assert "\n{}[5cm] & 1" in drawn
    assert "\n{}* & 2" in drawn


@pytest.mark.parametrize("name", ["`id`", "[x](javascript:1)", "![x](y)", "<img src=x>", "*a*", "_a_", "a|b", "a\\|b"])
def test_markdown_has_no_marks_of_names(name):
    drawn = LAYOUTS["markdown"].draw([["a", "b"], [name, "1"]], {0})
    cell = re.fullmatch(r"\| (.*) \| 1 \|", drawn.splitlines()[2])[1]
    assert re.search(r"(?<!\\)(\\\\)*[`\[\]*_|<>]", cell) is None
    unmarked = re.sub(r"\\(.)", r"\1", cell).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert unmarked == name


@pytest.mark.parametrize("name", ["# head", "- item", "1. item", "> quote", "=== x"])
def test_no_line_of_markdown_begins_with_a_mark(name):
    page = LAYOUTS["markdown"].join([f"{name}\n{name}"])
    assert all(re.match(r"\\|\d+\\|&gt;", line) for line in page.splitlines())


def test_prose_beside_tables_is_escaped_as_they_are(karat_cli, tmp_path):
    gold, mine, yours = (tmp_path / name for name in ("gold_%.jsonl", "mine_$&#.jsonl", "yours_\\x.jsonl"))
    gold.write_text('{"id":"1","text":"Ada","labels":[{"start":0,"end":3,"entity":"Q1"}]}\n')
    for run in (mine, yours):
        run.write_text('{"id":"1","predictions":[{"start":0,"end":3,"entity":"Q1"}]}\n')
    page = karat_cli("compare", "--gold", gold, mine, yours, "--latex").out
    typeset = "\n".join(line for line in page.splitlines() if not line.startswith("%"))
    assert re.search(r"(?<!\\)[%#_]", typeset) is None
    assert re.search(r"\\x\b", typeset) is None


FORMULAS = ("=1+1", "+1", "-1", "@A1", "\tx")


@pytest.mark.parametrize("name", FORMULAS)
def test_a_spreadsheet_finds_no_formula_in_a_name(karat_cli, tmp_path, name):
    gold, mine = tmp_path / "gold.jsonl", tmp_path / f"{name}.jsonl"
    gold.write_text('{"id":"1","text":"Ada","labels":[{"start":0,"end":3,"entity":"Q1"}]}\n')
    mine.write_text('{"id":"1","predictions":[{"start":0,"end":3,"entity":"Q1","score":-0.5}]}\n')
    done = karat_cli("curve", gold, mine, "--csv", "-")
    assert done.code == 0
    assert f'"\'{name}"' in done.out
    assert ",-0.5," in done.out, "numbers stay numbers"


@pytest.mark.extras
@pytest.mark.parametrize("suffix", [".html", ".svg", ".json"])
def test_no_name_is_code_in_a_picture(suffix):
    corpus = Corpus.from_documents([Document("1", "Ada", (Label(0, 3, "Q1"),))], name="gold</title>")
    run = Run.from_responses(
        [Response("1", (Prediction(0, 3, "Q1", score=0.5),))], name="</script><script>alert(1)//\x1b[31m\n"
    )
    spec = threshold_chart([karat.threshold_curve(corpus, run)])
    text = ENCODERS[suffix](spec).decode()
    assert "\x1b" not in text
    if suffix != ".json":
        assert "<script>alert" not in text
    assert "x1b[31m" in text


def test_every_command_prints_by_one_function():
    folder = Path(karat.__file__).parent / "cli"
    printing = [path.name for path in folder.rglob("*.py") if re.search(r"\bclick\.echo\(|\bprint\(", path.read_text())]
    assert printing == ["output.py"]


def _unread(*arguments: str, both: bool = False) -> tuple[int, bytes]:
    """The exit code and the messages of a command whose output nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "karat", *arguments],
            stdout=writing,
            stderr=writing if both else subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writing)
    return done.returncode, done.stderr or b""


@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "demo",
        "score demo demo/prior",
        "score demo demo/prior --json -",
        "data convert demo - --to karat-jsonl",
        "data list --json -",
        "explain gerbil",
    ],
)
def test_a_pipe_that_ends_early_ends_quietly(arguments):
    assert _unread(*arguments.split()) == (141, b"")


def test_an_error_that_nobody_reads_ends_quietly():
    assert _unread("score", "no-such-file", "nor-this", both=True)[0] == 141


@pytest.mark.parametrize("command", [*COMMANDS, *(f"data {name}" for name in DATA)])
def test_the_help_of_every_command_ends_quietly(command, karat_cli, monkeypatch):
    class Gone:
        encoding = "utf-8"

        def write(self, text):
            raise BrokenPipeError

        flush = close = lambda self: None

    from karat.cli import main

    monkeypatch.setattr(sys, "argv", ["karat", *command.split(), "--help"])
    monkeypatch.setattr(sys, "stdout", Gone())
    monkeypatch.setattr(main.os, "dup2", lambda *places: None)
    Gone.fileno = lambda self: 1
    with pytest.raises(SystemExit) as end:
        main.main()
    assert end.value.code == 141
