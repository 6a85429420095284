"""The command line as users use it."""

from __future__ import annotations

import gzip
import json

import pyarrow.parquet as pq
import pytest

import karat


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_demo_prints_the_table_the_signature_and_what_to_try(karat_cli):
    ran = karat_cli("demo")
    assert ran.code == 0
    assert [line.split()[:4] for line in ran.out.splitlines() if line.startswith("popular ")][:3] == [
        ["popular", "74.3", "54.2", "62.7"],
        ["popular", "74.3", "51.9", "61.1"],
        ["popular", "88.4", "68.3", "77.1"],
    ]
    assert "karat:" in ran.out
    assert "Try next" in ran.out
    assert ran.err == ""


def test_what_the_demo_suggests_works(karat_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    suggested = karat_cli("demo").out.partition("Try next:")[2].splitlines()
    commands = [line.split("   ")[0].split() for line in map(str.strip, suggested) if line]
    assert len(commands) >= 4
    for command in commands:
        if "gold.jsonl" not in command:
            ran = karat_cli(*command[1:])
            assert (ran.code, ran.err) == (0, "")


def test_the_result_file_says_what_the_table_says(karat_cli, tmp_path):
    out = tmp_path / "result.json"
    assert karat_cli("score", "demo", "demo/noisy", "--json", out, "--by", "types").code == 0
    result = karat.Result.from_json(out.read_bytes())
    expected = karat.evaluate(karat.load("demo"), karat.load_run("demo/noisy"), by=["types"])
    assert result.measures == expected.measures
    assert result.signature == expected.signature
    assert result["strong:micro.f1@types=PER"] == expected["strong:micro.f1@types=PER"]
    assert result.skipped["documents without predictions"] == 1
    assert result.to_json() == expected.to_json()


def test_several_results_are_one_object_per_line(karat_cli):
    ran = karat_cli("score", "demo", "demo", "--json", "-")
    assert ran.code == 0
    results = [karat.Result.from_json(line.encode()) for line in ran.out.splitlines()]
    assert [result.run for result in results] == ["perfect", "prior", "noisy"]


@pytest.mark.parametrize("name", ["cases.jsonl", "cases.jsonl.gz", "cases.parquet"])
def test_verdicts_sum_to_the_scores(name, karat_cli, tmp_path):
    path = tmp_path / name
    assert karat_cli("score", "demo", "demo", "--verdicts", path, "--view", "all").code == 0
    if name.endswith("parquet"):
        rows = pq.read_table(path).to_pylist()
    else:
        data = gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()
        rows = [json.loads(line) for line in data.splitlines()]
    for run in ("perfect", "prior", "noisy"):
        result = karat.evaluate(karat.load("demo"), karat.load_run(f"demo/{run}"))
        for view in result.views:
            own = [row for row in rows if row["run"] == run and row["view"] == view]
            counts = result.counts(view)
            assert sum(row["matched_prediction"] for row in own) == counts.matched_predictions
            assert sum(row["unmatched_prediction"] for row in own) == counts.unmatched_predictions
            assert sum(row["matched_gold"] for row in own) == counts.matched_gold
            assert sum(row["unmatched_gold"] for row in own) == counts.unmatched_gold


def test_verdicts_show_the_surface_text(karat_cli, tmp_path):
    path = tmp_path / "cases.jsonl"
    karat_cli("score", "demo", "demo/perfect", "--match", "strong", "--verdicts", path)
    corpus = karat.load("demo")
    for row in lines(path):
        if row["view"] == "strong" and "gold_start" in row:
            assert row["text"] == corpus[row["document"]].text[row["gold_start"] : row["gold_end"]]


def test_standard_input_and_files_score_alike(karat_cli, tmp_path):
    for suffix in (".jsonl", ".jsonl.zst", ".parquet"):
        path = tmp_path / f"gold{suffix}"
        karat.save(karat.load("demo"), path)
        piped = karat_cli("score", "-", "demo/noisy", stdin=path.read_bytes())
        named = karat_cli("score", path, "demo/noisy")
        assert piped == named
        assert piped.code == 0


def test_gold_as_predictions_is_a_second_annotator(karat_cli, tmp_path):
    karat.save(karat.load("demo"), tmp_path / "other.jsonl")
    ran = karat_cli("score", "demo", tmp_path / "other.jsonl", "--match", "strong")
    assert "strong:micro.f1           100.0" in ran.out


def test_unknown_documents_can_be_left_out_and_are_counted(karat_cli, tmp_path):
    path = tmp_path / "predictions.jsonl"
    path.write_text('{"id":"elsewhere","predictions":[{"start":0,"end":9,"entity":"Q1"}]}\n')
    ran = karat_cli("score", "demo", path, "--allow-unknown")
    assert ran.code == 0
    for said in ("documents without predictions: 50", "unknown documents: 1", "predictions in unknown documents: 1"):
        assert f"predictions: {said}\n" in ran.out


def test_pipes_are_read_once(karat_cli):
    import subprocess
    import sys

    folder = f"{karat.__path__[0]}/plugins/datasets/demo_data"
    command = f"{sys.executable} -m karat score <(cat {folder}/gold.jsonl) <(gzip -c {folder}/noisy.jsonl)"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, text=True)
    assert done.stdout == karat_cli("score", "demo", "demo/noisy").out


def test_a_folder_named_like_a_dataset_does_not_hide_it(karat_cli, tmp_path, monkeypatch):
    (tmp_path / "demo").mkdir()
    monkeypatch.chdir(tmp_path)
    assert karat_cli("demo").code == 0
    assert "a folder" in karat_cli("score", "./demo", "demo").err


@pytest.mark.parametrize("command", ["score", "show", "curve"])
def test_a_system_may_be_named_before_its_file(karat_cli, command):
    ran = karat_cli(command, "demo", "mine=demo/noisy")
    assert ran.code == 0, ran.err
    assert "mine" in ran.out
    assert "noisy" not in ran.out
    ran = karat_cli(command, "mine=demo", "demo/noisy")
    assert ran.code == 2


def test_tables_of_several_datasets_name_each(karat_cli, tmp_path):
    """A row may not show the score on another dataset than the heading names."""
    gold = karat.load("demo")
    documents = list(gold)[:5]
    karat.save(karat.Corpus.from_documents(documents, name="other"), tmp_path / "other.jsonl")
    karat_cli("score", "demo", "demo/noisy", "--json", tmp_path / "a.json")
    done = karat_cli("score", tmp_path / "other.jsonl", "demo/noisy", "--allow-unknown", "--json", tmp_path / "b.json")
    assert done.code == 0, done.err
    page = karat_cli("report", tmp_path / "a.json", tmp_path / "b.json", "--to", "table").out
    demo_page, other_page = page.split("other, 5 documents")
    assert demo_page.startswith("demo, 50 documents")
    headline = "linking with NIL: strong:micro.f1"
    for part in (demo_page, other_page):
        assert part.count(headline) == 1
        assert part.split(headline)[1].split("\n\n")[0].count("noisy") == 1


def test_runs_of_one_name_are_told_apart(karat_cli, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "predictions.jsonl").write_text('{"id": "news-01", "predictions": []}\n')
    ran = karat_cli("score", "demo", tmp_path / "a" / "predictions.jsonl", tmp_path / "b" / "predictions.jsonl")
    for name in ("a", "b"):
        assert f"\n{name} " in ran.out


def test_likely_mistakes_are_hinted_at(karat_cli, tmp_path):

    def write_shifted(path, start, end):
        path.write_text(
            "\n".join(
                json.dumps(
                    {
                        "id": d.id,
                        "predictions": [
                            {"start": x.start + start, "end": x.end + end, "entity": x.entity}
                            for x in d.labels
                            if x.entity and x.end - x.start > 2
                        ],
                    }
                )
                for d in karat.load("demo")
                if d.id.startswith("news")
            )
        )

    shifted, foreign, text = tmp_path / "shifted.jsonl", tmp_path / "foreign.jsonl", tmp_path / "text.jsonl"
    foreign.write_text('{"id":"news-01","predictions":[{"start":0,"end":10,"entity":"http://example.org/Q48525"}]}')
    text.write_text('{"id":"news-01","predictions":[{"start":0,"end":10,"entity":"NIL"}]}')
    write_shifted(shifted, 1, -1)  # as no kind of offsets has it
    assert "begin or end inside a word or with white space" in " ".join(karat_cli("score", "demo", shifted).out.split())
    write_shifted(shifted, 0, 1)
    assert "ends one too large" in " ".join(karat_cli("score", "demo", shifted).out.split())
    assert "1 prediction cannot match any gold id" in karat_cli("score", "demo", foreign).out
    assert "NIL is written as null" in karat_cli("score", "demo", text).out


def test_help_names_every_command(karat_cli):
    ran = karat_cli("--help")
    assert ran.code == 0
    assert all(command in ran.out for command in ("demo", "explain", "score"))
    assert karat_cli("--version").out.strip() == f"karat, version {karat.__version__}"


def test_a_reader_that_leaves_early_is_no_error(tmp_path):
    import subprocess
    import sys

    command = f"{sys.executable} -m karat score demo demo --json - | head -c 10"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True)
    assert b"Traceback" not in done.stderr


def test_importing_is_light():
    import subprocess
    import sys

    code = "import karat, karat.cli.main, sys; print(*sorted({'numpy', 'pyarrow', 'msgspec'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b""


# --- files that hold gold labels and predictions together

_TEXT = "Ada met Bob in Ulm."


def linked(path, *mentions, labels=((0, 3, "Q1"), (15, 18, "Q3"))):
    """An ELEVANT file of one document."""
    gold = [{"id": row, "span": [start, end], "entity_id": id} for row, (start, end, id) in enumerate(labels)]
    by = {"recognized_by": "x", "linked_by": "x", "candidates": []}
    found = [{"span": [start, end], "id": id, **by} for start, end, id in mentions]
    path.write_text(json.dumps({"id": 1, "title": "", "text": _TEXT, "labels": gold, "entity_mentions": found}) + "\n")
    return path


def test_a_file_with_both_may_be_given_once_or_twice_or_piped(karat_cli, tmp_path):
    path = linked(tmp_path / "one.ships.linked_articles.jsonl", (0, 3, "Q1"))
    once = karat_cli("score", path, "--json", "-")
    assert (once.code, once.err) == (0, "")
    result = karat.Result.from_json(once.out.encode())
    assert (result.corpus, result.run, result["strong:micro.r"]) == ("ships", "one", 0.5)
    assert karat_cli("score", path, path, "--json", "-") == once
    forced = karat_cli("score", path, "--json", "-", "--predictions-format", "elevant-linked")
    assert forced == once
    piped = karat_cli("score", "-", "--json", "-", stdin=gzip.compress(path.read_bytes()))
    assert karat.Result.from_json(piped.out.encode()).measures == result.measures


def test_several_files_with_both_are_scored_against_the_same_gold(karat_cli, tmp_path):
    one = linked(tmp_path / "one.ships.linked_articles.jsonl", (0, 3, "Q1"))
    two = linked(tmp_path / "two.ships.linked_articles.jsonl", (0, 3, "Q1"), (15, 18, "Q3"))
    ran = karat_cli("score", one, two, "--json", "-")
    results = [karat.Result.from_json(line.encode()) for line in ran.out.splitlines()]
    assert [(result.run, result["strong:micro.r"]) for result in results] == [("one", 0.5), ("two", 1.0)]
    for order, names in (((one, two, one), ["two", "one"]), ((one, one, two), ["one", "two"])):
        shown = karat_cli("score", *order, "--json", "-").out.splitlines()
        assert [karat.Result.from_json(line.encode()).run for line in shown] == names
    other = linked(tmp_path / "three.ships.linked_articles.jsonl", (0, 3, "Q1"), labels=((8, 11, "Q2"),))
    ran = karat_cli("score", one, two, other)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert f"{other} has other gold labels or texts than {one} (ships@" in ran.err
    gold = tmp_path / "gold.jsonl"
    karat.save(karat.load(one), gold)
    assert karat_cli("score", gold, one, other).code == 0  # whatever gold labels the second has


def test_where_some_files_hold_predictions_only_the_first_is_the_gold(karat_cli, tmp_path):
    one = linked(tmp_path / "one.ships.linked_articles.jsonl", (0, 3, "Q1"))
    (tmp_path / "mine.jsonl").write_text('{"id":"1","predictions":[]}')
    ran = karat_cli("score", one, tmp_path / "mine.jsonl", "--json", "-")
    assert karat.Result.from_json(ran.out.encode()).run == "mine"


def test_a_missing_file_is_asked_for_with_the_running_command(karat_cli, tmp_path):
    gold = tmp_path / "gold.jsonl"
    karat.save(karat.load("demo"), gold)
    for command, *options in (("why", "--reference-profile", "gerbil"), ("show",)):
        assert f"Pass them after it: karat {command} {gold} PREDICTIONS" in karat_cli(command, gold, *options).err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("gold.jsonl", "has no predictions. Pass them after it: karat score {} PREDICTIONS\n"),
        ("predictions.jsonl", "has no gold labels. Pass the gold standard before it: karat score GOLD {}\n"),
        (
            "demo",
            "has no predictions. Pass them after it: karat score demo PREDICTIONS; to score its stored predictions: ",
        ),
        ("demo/prior", "has no gold labels. Pass the gold standard before it: karat score GOLD demo/prior\n"),
        ("ships.benchmark.jsonl", "has no predictions."),
        ("bare.linked_articles.jsonl", "has no gold labels."),
        ("missing.jsonl", "Check the path"),
    ],
)
def test_one_argument_that_is_not_both_is_refused(given, said, karat_cli, tmp_path):
    gold = karat.load("demo")
    karat.save(gold, tmp_path / "gold.jsonl")
    karat.save(karat.load_run("demo/prior"), tmp_path / "predictions.jsonl")
    karat.save(gold, tmp_path / "ships.benchmark.jsonl", format="elevant")
    karat.save(karat.load_run("demo/prior"), tmp_path / "bare.linked_articles.jsonl", format="elevant-linked")
    name = given if given.startswith("demo") else tmp_path / given
    ran = karat_cli("score", name)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said.format(name) in ran.err


def test_standard_input_can_be_converted(karat_cli, tmp_path):
    karat.save(karat.load("demo"), tmp_path / "gold.jsonl")
    ran = karat_cli("data", "convert", "-", tmp_path / "again.jsonl", stdin=(tmp_path / "gold.jsonl").read_bytes())
    assert (ran.code, ran.err) == (0, "-: 50 documents, 327 labels to Karat JSONL\n")
    assert list(karat.load(tmp_path / "again.jsonl")) == list(karat.load("demo"))


# --- predictions that are dropped


def test_dropped_predictions_are_in_the_signature_and_counted(karat_cli, tmp_path):
    gold, predictions = tmp_path / "gold.parquet", tmp_path / "predictions.jsonl"
    karat.save(karat.load(linked(tmp_path / "x", (0, 3, "Q1"))), gold)
    rows = [{"start": 4, "end": 7, "entity": "Q9"}, {"start": 0, "end": 3, "entity": "Q1", "score": 0.2}]
    predictions.write_text(json.dumps({"id": "1", "predictions": rows}) + "\n")
    plain = karat_cli("score", gold, predictions, "--json", "-")
    assert "drop:none" in str(karat.Result.from_json(plain.out.encode()).signature)
    ran = karat_cli(
        "score", gold, predictions, "--drop-predictions", "lowercase", "--drop-predictions", "score<0.1", "--json", "-"
    )
    assert (ran.code, ran.err) == (0, "")
    result = karat.Result.from_json(ran.out.encode())
    assert result.signature["drop"] == "lowercase,score<0.1"
    assert (result["strong:micro.p"], result["strong:micro.r"]) == (1.0, 0.5)
    assert result.skipped["predictions dropped by lowercase"] == 1
    assert karat_cli("score", gold, predictions, "--set", "drop=lowercase,score<0.1", "--json", "-").out == ran.out


@pytest.mark.parametrize("rule", ["lower", "", "type:"])
def test_rules_that_do_not_exist_are_refused(rule, karat_cli):
    ran = karat_cli("score", "demo", "demo", "--drop-predictions", rule)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "lowercase: " in ran.err


def test_names_need_a_knowledge_base(karat_cli):
    ran = karat_cli("score", "demo", "demo", "--drop-predictions", "non-named")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "--kb" in ran.err


@pytest.mark.parametrize(
    "options",
    [
        ("--resamples", "500"),
        ("--resamples", "1000"),  # the default, but asked for
        ("--confidence", "0.9"),
        ("--ci-method", "bca"),
        ("--ci-unit", "cases"),
        ("--jackknife-groups", "20"),
        ("--plus-minus",),
    ],
)
def test_options_of_intervals_need_intervals(karat_cli, options):
    refused = karat_cli("score", "demo", "demo/noisy", *options)
    assert refused.code == 2
    assert f"{options[0]} has no effect without --ci. Add --ci" in refused.err
    assert karat_cli("score", "demo", "demo/noisy", "--ci", *options).code == 0


def test_intervals_of_no_samples_are_refused(karat_cli):
    refused = karat_cli("score", "demo", "demo/noisy", "--ci", "--resamples", "0")
    assert refused.code == 2
    assert "--resamples is 0" in refused.err


def test_the_headline_of_zelda_is_accuracy(karat_cli, tmp_path):
    """Of 303 gold mentions, prior links 141 correctly: an accuracy of 46.5 %, whatever its precision."""
    shown = karat_cli("score", "demo", "demo/prior", "--profile", "zelda", "--json", tmp_path / "a.json").out
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    start = lines.index("accuracy: strong:micro.r")
    assert lines[start + 1 : start + 3] == ["accuracy gold predictions correct", "prior 46.5 303 183 141"]
    assert json.loads((tmp_path / "a.json").read_bytes())["headline"] == {"accuracy": "strong:micro.r"}
    compared = karat_cli("compare", "--gold", "demo", "demo/prior", "demo/noisy", "--profile", "zelda").out
    assert "strong:micro.r" in compared
    assert "strong:micro.f1" not in compared


def test_a_measure_of_a_group_is_shown_without_the_table_of_its_facet(karat_cli):
    measure = "strong:micro.f1@types=PER"
    for options in ((), ("--ci",), ("--markdown",)):
        ran = karat_cli("score", "demo", "demo/noisy", "-m", measure, *options)
        assert measure in ran.out
        assert "by types" not in ran.out
    assert "by types" in karat_cli("score", "demo", "demo/noisy", "-m", measure, "--by", "types").out


def test_one_file_of_both_sides_is_explained(karat_cli, tmp_path):
    one = linked(tmp_path / "one.ships.linked_articles.jsonl", (0, 3, "Q1"))
    ran = karat_cli("why", one, "--reference-profile", "elevant")
    assert ran.code == 0
    assert "one on ships" in ran.out
