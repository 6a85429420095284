"""`karat compare`: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

import karat
from karat.cli.compare import command
from karat.model.errors import KaratError
from tests.analysis.comparison import contest

QUICK = ("--permutations", 200, "--resamples", 30)
DATASETS = {
    "bay": {"keen": ["++", "+x"], "dull": ["+x", "x."]},
    "fjord": {"keen": ["+."] * 3, "dull": ["++"] * 3},
}
"""On bay keen has 3 of 4; dull 1 right, 2 wrong, 1 missed: P 1/3, R 1/4, F1 2/7. On fjord keen finds half, dull all."""


def page(*arguments):
    """What the command prints, without starting Python anew."""
    ran = CliRunner().invoke(command, [*map(str, QUICK), *map(str, arguments)], catch_exceptions=False)
    assert (ran.exit_code, ran.stderr) == (0, "")
    return ran.stdout


def report(*arguments):
    return json.loads(page(*arguments, "--json", "-"))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The gold standards, the predictions and the results."""
    monkeypatch.chdir(tmp_path)
    for name, documents in DATASETS.items():
        data = contest.corpus(name, *[2] * len(documents["keen"]))
        karat.save(data, f"{name}.jsonl")
        for system, signs in documents.items():
            run = contest.run(system, *signs, seconds=0.01)
            karat.save(run, f"{system}-{name}.jsonl")
            karat.save(karat.evaluate(data, run), f"{system}-{name}.json")
    return tmp_path


def results(*names):
    return [f"{system}-{name}.json" for name in names for system in ("keen", "dull")]


def test_the_page_of_several_datasets(files):
    out = page(*results("bay", "fjord"), "--developed-on", "keen=bay")
    lines = out.splitlines()
    assert lines[0].startswith(
        "2 systems on bay, fjord: profile karat, strong:micro.f1 (linking with NIL), in percent, 95 % "
    )
    assert lines[2].split() == ["dataset", "documents", "mentions", "detectable", "keen", "dull"]  # the better first
    assert re.search(r"^bay +2 +4 +\S+ +75\.0 ±\S+ \(1\) +28\.6 ±\S+ \(1\)", out, re.MULTILINE)
    assert re.search(r"^fjord +3 +6 +\S+ +66\.7 ±0\.0 \(1\) +100\.0 ±0\.0 \(1\)", out, re.MULTILINE)
    assert re.search(r"^mean of 2, unweighted +70\.8 ±\S+ +64\.3 ±\S+$", out, re.MULTILINE)
    assert re.search(r"^mean of 2, by mentions +70\.0 ±\S+ +71\.4 ±\S+$", out, re.MULTILINE)
    assert re.search(r"^mean rank +1\.50 +1\.50$", out, re.MULTILINE)
    assert "2 tests: 200 permutations of paired documents (outputs swapped), p ≤ 0.05 after correction by Holm" in out
    assert re.search(r"^keen − dull +\+6\.5 ", out, re.MULTILINE)
    assert "overfitting of keen: 75.0 on bay, 66.7 on average over 1 other: index +8.3" in out
    assert lines[-1].startswith("karat:")
    assert "data:bay@" in lines[-1]


def test_predictions_are_looked_at_mention_by_mention(files):
    out = page("--gold", "bay.jsonl", "keen-bay.jsonl", "dull-bay.jsonl", "--by", "types", "--flips", "flips.jsonl")
    # Keen detects 4 and links 3 right, dull detects 3 and links 1 right; of these three keen has two or three right.
    assert re.search(r"^keen +100\.0 +75\.0 +100\.0$", out, re.MULTILINE)
    assert re.search(r"^dull +75\.0 +33\.3 +33\.3$", out, re.MULTILINE)
    assert re.search(r"^keen / dull +2 +2 +0 +0 +0\.5000$", out, re.MULTILINE)
    assert re.search(r"^keen only, not dull +2 +1 +1$", out, re.MULTILINE)
    assert re.search(r"^keen +10$", out, re.MULTILINE)  # milliseconds
    flips = [json.loads(line) for line in (files / "flips.jsonl").read_text().splitlines()]
    assert [(line["document"], line["start"], line["correct"]) for line in flips] == [
        ("d00", 5, ["keen"]),
        ("d01", 0, ["keen"]),
    ]


def test_result_files_share_document_ids_but_their_texts_are_unknown(tmp_path, monkeypatch, karat_cli):
    """The datasets `first` and `second` both have the documents d0 and d1, `third` has others."""
    monkeypatch.chdir(tmp_path)
    for name, ids in (("first", ("d0", "d1")), ("second", ("d0", "d1", "d2")), ("third", ("e0", "e1"))):
        corpus = karat.Corpus.from_documents(
            [karat.Document(id, "Ulm", (karat.Label(0, 3, "Q3012"),)) for id in ids], name=name
        )
        for system in ("keen", "dull"):
            run = karat.Run.from_responses([karat.Response(id) for id in ids], name=system)
            karat.save(karat.evaluate(corpus, run), f"{system}-{name}.json")
    pages = [
        karat_cli("compare", *(f"{system}-{name}.json" for name in names for system in ("keen", "dull")))
        for names in (("first", "second"), ("first", "third"))
    ]
    shared, apart = (page.out.replace("\n  ", " ") for page in pages)
    assert "document ids in common: first and second 2. Result files contain no texts" in shared
    assert "result files contain no texts, so it is unknown if datasets have texts in common" in apart


def test_all_of_it_as_json(files):
    found = report(*results("bay", "fjord"), "--developed-on", "dull=fjord")
    assert found["layout"] == "karat-comparison/2"
    assert found["averaged_datasets"] == ["bay", "fjord"]
    bay, _ = found["datasets"]
    assert bay["scores"]["keen"]["value"] == 0.75
    assert bay["pairs"][0]["difference"] == pytest.approx(3 / 4 - 2 / 7)
    assert {"p", "corrected", "effect", "detectable", "low", "high"} <= bay["pairs"][0].keys()
    assert found["means"]["keen"]["unweighted"]["value"] == pytest.approx((3 / 4 + 2 / 3) / 2)
    assert found["means"]["keen"]["weighted"]["value"] == pytest.approx((4 * 3 / 4 + 6 * 2 / 3) / 10)
    assert found["ranks"]["means"] == {"dull": 1.5, "keen": 1.5}
    assert found["overfitting"][0]["index"]["value"] == pytest.approx(1 - 2 / 7)
    assert found["options"]["correction"] == "holm"
    assert found["signature"].startswith("karat:")
    assert (found["similarity"], found["sensitivity"]) == ([], None)


def test_systems_without_a_common_dataset_have_no_tests_and_no_mean(files):
    """The page had "0 tests" and a table of the mean of 0 datasets."""
    out = page("keen-bay.json", "dull-fjord.json")
    assert "No dataset has predictions of two systems, so no difference is tested." in out
    assert "±: half the width" in out
    assert not re.search("0 tests|rank|mean of 0", out)


def test_every_pair_on_every_dataset(files):
    out = page(*results("bay", "fjord"), "--details")
    assert re.search(r"^bay +difference +low +high +p +corrected +effect +detectable$", out, re.MULTILINE)
    assert len(re.findall(r"^keen − dull ", out, re.MULTILINE)) == 3  # the mean, bay and fjord


def test_the_paired_bootstrap_is_an_option(files):
    out = page(*results("bay", "fjord"), "--test", "bootstrap")
    assert "2 tests: 200 samples of paired documents (paired bootstrap), p ≤ 0.05" in out
    assert "with fewer than 50 documents the bootstrap finds differences too often: bay, fjord" in out
    assert report(*results("bay", "fjord"), "--test", "bootstrap")["options"]["test"] == "bootstrap"
    assert report(*results("bay", "fjord"))["options"]["test"] == "permutation"


def test_similarity_is_an_option(files):
    given = ("--gold", "bay.jsonl", "keen-bay.jsonl", "dull-bay.jsonl")
    assert "similarity in percent" not in page(*given)
    out = page(*given, "--similarity", "--match", "strong")
    # Both say Q0 in the first document, and Q900 twice at different places: 2 of 7 predictions.
    assert re.search(r"^strong: similarity in percent, macro/micro +dull\nkeen +\S+/28\.6$", out, re.MULTILINE)
    assert "of 4 gold mentions 3 are found by at least one system (75.0 %" in out
    several = page("--gold", "bay.jsonl", "--gold", "other.jsonl", *_other(files), "--match", "strong")
    assert "2 datasets together" in several


def _other(folder):
    """A second gold standard with ids of its own, so that predictions find their way."""
    for name in ("keen", "dull"):
        run = karat.Run.from_responses([karat.Response("z", (karat.Prediction(0, 4, "Q0"),))], name=name)
        karat.save(run, f"{name}-other.jsonl")
    labels = (karat.Label(0, 4, "Q0"),)
    karat.save(karat.Corpus.from_documents([karat.Document("z", "other", labels)], name="other"), "other.jsonl")
    return [f"{system}-{name}.jsonl" for name in ("bay", "other") for system in ("keen", "dull")]


def test_the_map_of_winners(files):
    found = report("--gold", "bay.jsonl", "keen-bay.jsonl", "dull-bay.jsonl", "--sensitivity")["sensitivity"]
    assert found["evaluations"] > 2 * len({lead["profile"] for lead in found["leaders"]})
    strong = next(lead for lead in found["leaders"] if (lead["profile"], lead["relation"]) == ("karat", "strong"))
    assert (strong["leaders"], strong["score"]["value"]) == (["keen"], 0.75)
    out = page("--gold", "bay.jsonl", "keen-bay.jsonl", "dull-bay.jsonl", "--sensitivity")
    assert f"{found['evaluations']:,} evaluations" in out
    assert re.search(r"^karat, strong +keen +75\.0", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        ("--markdown", r"\| bay \| 2 \| 4 \| \S+ \| \*\*75\.0 ±"),
        ("--latex", r"bay & 2 & 4 & \S+ & \\textbf\{75\.0 \$\\pm\$"),
    ],
)
def test_tables_for_papers(files, layout, said):
    assert re.search(said, page(*results("bay", "fjord"), layout))


def test_flips_by_error_have_the_titles_of_categories(karat_cli):
    ran = karat_cli("compare", "--gold", "demo", "demo/prior", "demo/noisy", "--by", "error", "--resamples", "10")
    assert "Demonyms" in ran.out
    assert "disambiguation-demonym" not in ran.out


@pytest.mark.extras
def test_charts_are_written(files):
    page(*_both_datasets(files), "--ranks", "r.svg", "--heatmap", "h.svg", "--runtimes", "t.svg")
    for name in "rht":
        assert "keen" in (files / f"{name}.svg").read_text(encoding="utf-8")


def _both_datasets(folder):
    """Two gold standards whose documents have ids of their own, with times of all systems."""
    files = ["--gold", "bay.jsonl", "--gold", "lake.jsonl"]
    documents = [karat.Document(f"l{number}", f"lake {number}", (karat.Label(0, 4, "Q0"),)) for number in range(2)]
    karat.save(karat.Corpus.from_documents(documents, name="lake"), "lake.jsonl")
    for system, entity in (("keen", "Q0"), ("dull", "Q1")):
        responses = [karat.Response(f"l{n}", (karat.Prediction(0, 4, entity),), seconds=0.02) for n in range(2)]
        karat.save(karat.Run.from_responses(responses, name=system), f"{system}-lake.jsonl")
        files += [f"{system}-bay.jsonl", f"{system}-lake.jsonl"]
    return files


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["keen-bay.json"], "there is only 'keen'"),
        (["keen-bay.json", "dull-bay.json", "--developed-on", "keen"], "write SYSTEM=DATASET"),
        (["keen-bay.json", "dull-bay.json", "--developed-on", "kene=bay"], "Did you mean 'keen'"),
        (["keen-bay.json", "dull-bay.json", "--flips", "out.jsonl"], "result files contain none"),
        (["keen-bay.json", "dull-bay.json", "--similarity"], "result files contain none"),
        (["keen-bay.json", "dull-bay.json", "--sensitivity"], "result files contain none"),
        (["keen-bay.json", "dull-bay.json", "--profile", "bat"], "is a result and cannot be rescored"),
        (["keen-bay.json", "dull-bay.json", "-m", "strong:micro.f2"], "Did you mean 'micro.f1'"),
        (["keen-bay.json", "dull-bay.json", "--correction", "none"], "unknown correction 'none'"),
        (["keen-bay.json", "dull-bay.json", "--alpha", "95"], "alpha is 95"),
        (["keen-bay.json", "dull-bay.json", "--set", "seed=first"], "seed is 'first'"),
        (["keen-bay.json", "dull-bay.json", "--json", "dull-bay.json"], "would be overwritten"),
        (["keen-bay.jsonl", "dull-bay.jsonl"], "Pass the gold standard with --gold"),
        (["--gold", "bay.jsonl", "keen-bay.jsonl", "dull-bay.jsonl", "--by", "typse"], "Did you mean 'types'"),
        pytest.param(
            ["--gold", "bay.jsonl", "keen-bay.jsonl", "dull-bay.jsonl", "--json", "out.json", "--ranks", "r.svg"],
            "ranks need",
            marks=pytest.mark.extras,
        ),
        (["--gold", "bay.jsonl", "keen-bay.jsonl", "dull-bay.jsonl", "--ranks", "r.gif"], "charts are written as"),
    ],
)
def test_requests_that_make_no_sense(files, arguments, said):
    before = {path: path.read_bytes() for path in files.iterdir()}
    with pytest.raises(KaratError, match=re.escape(said)):
        page(*arguments)
    assert {path: path.read_bytes() for path in files.iterdir()} == before


def test_the_command_as_users_call_it(files, karat_cli):
    ran = karat_cli("compare", "keen-bay.json", "nobody.json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "karat: nobody.json: found no such file; expected a readable file. Check the path.\n"
