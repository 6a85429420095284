"""Everything that is printed fits a terminal of 80 columns, and says how; more is used where there is more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat
from karat.cli.data import COMMANDS as DATA
from karat.cli.main import COMMANDS
from karat.cli.zelda import COMMANDS as ZELDA
from karat.data.publishing.registration import add_version, build_publication
from karat.model.output.text_layout import format_count, format_notes, format_table, wrap_signature, wrap_text
from tests.conftest import ROOT

LONG = "a-linker-with-a-rather-long-name-of-the-year"

PAGES = [
    ["demo"],
    ["score", "demo", "demo"],
    ["score", "demo", "demo", "--ci"],
    ["score", "demo", "demo", "--all", "--details", "--ci", "--plus-minus"],
    ["score", "demo", "demo", "--by", "types", "--by", "error", "--by", "category"],
    *(["score", "demo", "demo", "--profile", name] for name in ("gerbil", "bat", "elevant", "neleval", "finegrained")),
    ["score", "demo", "MANY", "--all"],
    ["compare", "--gold", "demo", "demo", "--details", "--by", "types", "--similarity"],
    ["compare", "--gold", "demo", "demo", "--sensitivity", "-m", "strong:micro.f1", "-m", "mention:micro.f1"],
    ["compare", "--gold", "demo", "MANY"],
    ["annotate", "plan", "demo", "--gold", "demo", "--difference", "0.05"],
    ["show", "demo", "demo", "--outcome", "wrong"],
    ["show", "demo", "MANY", "--flips", f"{LONG}-0,{LONG}-1"],
    ["scorecard", "--gold", "demo", "demo"],
    ["scorecard", "--gold", "demo", "MANY", "--details"],
    ["curve", "demo", "demo"],
    ["curve", "demo", "demo", "--over", "coverage"],
    ["curve", "demo", "MANY"],
    ["run", "oracle", "candidate-oracle", "--on", "demo", "--limit", "9"],
    ["systems"],
    ["systems", "show", "graph"],
    ["systems", "show", "luke"],
    ["systems", "stages", "popular", "--on", "demo"],
    ["why", "demo", "demo/noisy", "--reference-profile", "gerbil"],
    [
        "why",
        "demo",
        "demo/noisy",
        "--reference-profile",
        "neleval",
        "--reference-measure",
        "strong_link_match:micro.f1",
        "--details",
    ],
    ["agreement", "demo", "OTHER", "THIRD"],
    ["reproduce", "cases", "--data", "CASES"],
    ["explain", "strong:micro.f1"],
    ["explain", "gerbil"],
    ["explain", "assignment"],
    ["explain", "SIGNATURE"],
    ["kb", "show", "starter"],
    ["kb", "find", "Cambridge"],
    ["report", "--gold", "demo", "demo", "--out", "REPORT.html"],
    ["gate", "demo/noisy", "--baseline", "demo/prior", "--gold", "demo"],
    ["data", "list", "--all"],
    ["data", "show", "demo"],
    ["data", "stats", "demo", "OTHER", "THIRD"],
    ["data", "lint", "demo"],
    ["data", "categorise", "demo"],
    ["data", "convert", "demo", "OUT.jsonl"],
    ["data", "fetch", "demo"],
    ["data", "add", "demo", "--name", "yours"],
    ["data", "split", "mine", "--out", "parts", "--by", "types", "--training", "OTHER"],
    ["data", "sheet", "mine", "--out", "published"],
    ["data", "remove", "mine"],
    ["verify", "apply", "OVERLAY", "demo", "--out", "PATCHED.jsonl"],
    ["gate", "demo/noisy", "--baseline", "demo/prior", "--gold", "demo"],
    ["gate", "demo/noisy", "--baseline", "demo/prior", "--gold", "demo", "--profile", "gerbil", "--set", "prefixes=Q"],
    ["report", "--gold", "demo", "demo", "--to", "table"],
    ["report", "--gold", "demo", "demo", "--one-profile", "--resamples", "50", "--out", "report.html"],
    ["serve", "--help"],  # which would not end
    ["zelda", "score", "BED", "PREDICTED", "--train", "TRAIN", "--candidate-lists", "LISTS", "--details"],
    ["zelda", "recall", "BED", "--candidate-lists", "LISTS"],
    ["zelda", "candidates", "lists.parquet", "--text", "TRAIN"],
    ["zelda", "audit", "TRAIN", "BED", "--details"],
    ["zelda", "stats", "BED"],
    ["zelda", "sample", "TRAIN", "BED", "--out", "bed", "--threshold", "1"],
    ["zelda", "describe", "TRAIN", "said.jsonl", "--vocabulary", "VOCABULARY"],
]


@pytest.fixture
def given(tmp_path, monkeypatch):
    """Names for files that the pages are about."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    gold = karat.load("demo")
    many = []
    for number in range(7):
        many.append(f"{LONG}-{number}.jsonl")
        karat.save(karat.load_run("demo/noisy" if number % 2 else "demo/prior"), many[-1])
    for name in ("other", "third"):
        karat.save(gold, f"{name}.jsonl")
    head = {"layout": "karat-overlay/2", "name": "o", "version": 1, "dataset": "demo", "digest": gold.digest}
    Path("overlay.jsonl").write_text(
        json.dumps({**head, "judged_by": "people", "undecided": {}}) + "\n", encoding="utf-8"
    )
    bed(gold)
    add_version(build_publication("mine", {"all": gold}))
    signature = karat.evaluate(gold, karat.load_run("demo/noisy"), settings={"threshold": "oracle"}).signature
    return {
        "MANY": many,
        "OVERLAY": ["overlay.jsonl"],
        "OTHER": ["other.jsonl"],
        "THIRD": ["third.jsonl"],
        "CASES": [ROOT / "tests" / "protocols" / "reproduce" / "own_cases.json"],
        "SIGNATURE": [signature],
        "BED": ["tests"],
        "PREDICTED": ["predictions"],
        "TRAIN": ["other.jsonl"],
        "LISTS": ["lists.json"],
        "VOCABULARY": ["titles.txt"],
    }


def bed(gold):
    """Test sets with predictions, candidate lists and a vocabulary."""
    for folder, content in (("tests", gold), ("predictions", karat.load_run("demo/noisy"))):
        Path(folder).mkdir()
        karat.save(content, f"{folder}/a-test-set-with-a-long-name.jsonl")
    linked = [
        (document.text[label.start : label.end], label.entity)
        for document in gold
        for label in document.labels
        if isinstance(label.entity, str)
    ]
    lists = {surface: {entity: 2, "Q1": 1} for surface, entity in linked}
    Path("lists.json").write_text(json.dumps(lists), encoding="utf-8")
    Path("titles.txt").write_text("\n".join(entity for _, entity in linked), encoding="utf-8")


@pytest.mark.extras  # clusterings need SciPy, and all pages together take a minute
@pytest.mark.parametrize("arguments", PAGES, ids=" ".join)
def test_no_line_is_longer_than_the_terminal(arguments, given, karat_cli):
    ran = karat_cli(*(part for argument in arguments for part in given.get(argument, [argument])))
    assert ran.code in (0, 1), ran.err
    paths = (str(karat.__path__[0]), str(Path.cwd()))  # of one's own machine, and never broken
    lines = [line for line in (ran.out + ran.err).splitlines() if not any(path in line for path in paths)]
    assert [line for line in lines if len(line) > 80] == []


def test_every_command_is_among_the_pages():
    assert {arguments[0] for arguments in PAGES} == set(COMMANDS) - {
        "completion",
        "serve-nif",
        "train",
    }  # one prints a script, one does not end, and one takes PyTorch
    assert {arguments[1] for arguments in PAGES if arguments[0] == "data"} == set(DATA)
    assert {arguments[1] for arguments in PAGES if arguments[0] == "zelda"} == set(ZELDA)


@pytest.mark.parametrize("name", [*COMMANDS, *(f"data {name}" for name in DATA), *(f"zelda {name}" for name in ZELDA)])
def test_no_line_of_the_help_is_longer(name, karat_cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert [line for line in karat_cli(*name.split(), "--help").out.splitlines() if len(line) > 80] == []


def test_a_wider_terminal_is_used(karat_cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    narrow = karat_cli("compare", "--gold", "demo", "demo").out
    monkeypatch.setenv("COLUMNS", "200")
    wide = karat_cli("compare", "--gold", "demo", "demo").out
    assert len(wide.splitlines()) < len(narrow.splitlines())
    assert max(map(len, wide.splitlines())) > 80
    monkeypatch.setenv("COLUMNS", "20")
    assert karat_cli("compare", "--gold", "demo", "demo").out == narrow


def test_what_is_too_wide_goes_into_blocks_that_say_their_rows():
    rows = [["", *"abcdef"], ["one", *["10.0"] * 6], ["two", *["20.0"] * 6]]
    assert format_table(rows, width=26).split("\n\n") == [
        "        a     b     c\none  10.0  10.0  10.0\ntwo  20.0  20.0  20.0",
        "        d     e     f\none  10.0  10.0  10.0\ntwo  20.0  20.0  20.0",
    ]


def test_names_wrap_and_numbers_do_not():
    rows = [["a system", "F1"], ["one two three four five six", "68.7 [61.0, 70.0]"]]
    drawn = format_table(rows, width=30)
    assert "68.7 [61.0, 70.0]" in drawn
    assert max(map(len, drawn.split("\n"))) <= 30
    assert drawn.replace("68.7 [61.0, 70.0]", "").split() == [
        "a",
        "system",
        "F1",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
    ]


def test_a_long_address_is_divided_behind_a_separator_and_does_not_divide_its_table():
    head = ["", "precision", "recall", "F1", "gold"]
    rows = [head, ["nif:http://127.0.0.1:9124/nif", "100.0", "33.3", "50.0", "3"]]
    assert format_table(rows, width=57, block_starts=(4,)).split("\n") == [
        "                            precision  recall    F1  gold",
        "nif:http://127.0.0.1:9124/      100.0    33.3  50.0     3",
        "  nif",
    ]
    assert format_table(rows, width=48, block_starts=(4,)).split("\n") == [
        "                   precision  recall    F1  gold",
        "nif:http://            100.0    33.3  50.0     3",
        "  127.0.0.1:9124/",
        "  nif",
    ]


def test_notes_are_wrapped_and_never_cut_and_the_first_eight_are_shown():
    notes = ["short", "a long note " * 10, *(f"note {number}" for number in range(9))]
    few = format_notes(notes, 40, details=False).split("\n")
    assert few[0] == "short"
    assert "".join("".join(few[1:5]).split()) == "".join(notes[1].split())
    assert few[-1] == "… and 3 more notes: --details shows all"
    assert max(map(len, few)) <= 40
    every = format_notes(notes, 40, details=True)
    assert [line.strip() for line in every.split("\n")][-1] == "note 8"
    assert "".join(every.split()) == "".join("".join(notes).split())


def test_prose_wraps_between_words_only():
    assert wrap_text("see https://example.org/" + "x" * 90, 80).split() == ["see", "https://example.org/" + "x" * 90]
    assert wrap_signature("a:1|b:2|c:3", 8) == "a:1|b:2|\nc:3"
    assert [format_count(number, "test") for number in (0, 1, 2, 1000)] == [
        "0 tests",
        "1 test",
        "2 tests",
        "1,000 tests",
    ]


def test_several_measures_are_compared_at_once(given, karat_cli, tmp_path):
    both, one = tmp_path / "both.json", tmp_path / "one.json"
    common = ["compare", "--gold", "demo", "demo/prior", "demo/noisy", "--permutations", "99"]
    ran = karat_cli(*common, "-m", "strong:micro.f1", "-m", "mention:micro.f1", "--json", both)
    assert (ran.code, ran.out.count("2 systems on demo")) == (0, 2)
    assert karat_cli(*common, "-m", "mention:micro.f1", "--json", one).code == 0
    found = [json.loads(line) for line in both.read_text(encoding="utf-8").splitlines()]
    assert [each["measure"] for each in found] == ["strong:micro.f1", "mention:micro.f1"]
    assert found[1] == json.loads(one.read_text(encoding="utf-8"))
    refused = karat_cli(*common, "-m", "strong:micro.f1", "-m", "mention:micro.f1", "--flips", "flips.jsonl")
    assert (refused.code, "Pass -m once" in refused.err) == (2, True)


@pytest.mark.extras  # it takes long
def test_one_seed_gives_one_interval_and_one_p_value(given, karat_cli, tmp_path):
    """`score`, `compare` and `card` say the same of the same systems, whatever stands beside them."""
    paths = [tmp_path / f"{name}.json" for name in ("score", "compare", "all", "card")]
    two, seed = ["demo/prior", "demo/noisy"], ["--seed", "7"]
    ran = [
        karat_cli("score", "demo", *two, "--ci", *seed, "--json", paths[0]),
        karat_cli("compare", "--gold", "demo", *two, *seed, "--sensitivity", "--json", paths[1]),
        karat_cli("compare", "--gold", "demo", "demo", *seed, "--json", paths[2]),
        karat_cli("scorecard", "--gold", "demo", *two, *seed, "--json", paths[3]),
    ]
    assert [each.code for each in ran] == [0] * 4
    assert all("profile karat, " in each.out.splitlines()[0] for each in ran)
    results = {one["run"]: one for one in map(json.loads, paths[0].read_text(encoding="utf-8").splitlines())}
    pair, three, cards = (json.loads(path.read_text(encoding="utf-8")) for path in paths[1:])
    for name, result in results.items():
        for found in (pair, three):
            score = found["datasets"][0]["scores"][name]
            assert [score["low"], score["high"]] == result["intervals"]["strong:micro.f1"]
    tests = [
        next(p for p in found["datasets"][0]["pairs"] if {p["system_a"], p["system_b"]} == {"noisy", "prior"})
        for found in (pair, three)
    ]
    differences = {one["system"]: one["differences"]["f1"] for one in cards["systems"]}
    assert tests[0]["p"] == tests[1]["p"] == differences["prior"]["p"] == differences["noisy"]["p"]
    assert differences["noisy"]["low"] == pytest.approx(tests[0]["low"])
    assert differences["noisy"]["high"] == pytest.approx(tests[0]["high"])
    leads = pair["sensitivity"]["leaders"]
    lead = next(
        one for one in leads if [one[k] for k in ("profile", "relation", "threshold")] == ["karat", "strong", "none"]
    )
    assert [lead["margin"]["low"], lead["margin"]["high"]] == pytest.approx([tests[0]["low"], tests[0]["high"]])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["scroe"], "Did you mean 'score'"),
        (["lint"], "Did you mean 'data lint'"),
        (["data", "lnt"], "Did you mean 'lint'"),
        (["score", "demo", "demo", "-m", "F1"], "Did you mean 'strong:micro.f1' or 'mention:micro.f1'?"),
        (["score", "demo", "demo", "-m", "f1"], "Did you mean 'strong:micro.f1' or 'mention:micro.f1'?"),
        (["score", "demo", "demo", "-m", "macro precision"], "Did you mean 'strong:macro.p'"),
        (["compare", "--gold", "demo", "demo", "-m", "strong:f1"], "Did you mean 'macro.f1' or 'micro.f1'"),
        (["curve", "demo", "demo", "-m", "F1"], "Did you mean 'macro.f1' or 'micro.f1'?"),
        (["explain", "gerbl"], "Did you mean 'gerbil' or 'oracle-gerbil'?"),
        (["score", "demo", "demo", "--profile", "gebril"], "Did you mean 'gerbil'?"),
        (["score", "demo", "demo", "--profil", "gerbil"], "'--profile'"),
    ],
)
def test_near_names_are_offered(arguments, said, karat_cli):
    ran = karat_cli(*arguments)
    assert ran.code == 2
    assert said in ran.err
