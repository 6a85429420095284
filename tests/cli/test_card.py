"""`karat scorecard`: averages worked by hand, what is left out, and cards that say what was put into the data."""

from __future__ import annotations

import json
import math

import msgspec
import pytest
from click.testing import CliRunner

import karat
from karat.analysis.comparison.entries import load_entries
from karat.analysis.comparison.grid import build_grid
from karat.analysis.comparison.scorecard.dataset_counts import count_documents
from karat.analysis.comparison.scorecard.scorecard import ScorecardOptions, build_scorecards
from karat.cli.scorecard import command
from karat.data.load import detect_inputs
from karat.evaluation.request import Request
from tests.analysis.comparison.contest import entry

TEXT = "Norse sailor Vega came home to Oslo."
LABELS = (
    (0, 5, "Q20", "Norway", "Q27096213"),
    (13, 17, "Q1", "Vega Lund", "Q215627"),
    (31, 35, "Q585", "Oslo", "Q27096213"),
)
RIGHT = {(start, end): entity for start, end, entity, *_ in LABELS}
NORSE, VEGA, OSLO = RIGHT


def predictions(*spans, **links):
    """Right links of some spans; keywords give others by the name of a span."""
    named = {"norse": NORSE, "vega": VEGA, "oslo": OSLO}
    return {span: RIGHT[span] for span in spans} | {named[name]: link for name, link in links.items()}


def linked(folder, system, benchmark, responses, labels=LABELS, text=TEXT):
    """Linked articles with the same text over and over."""
    path = folder / f"{system}.{benchmark}.linked_articles.jsonl"
    gold = [
        {"id": number, "span": [start, end], "entity_id": entity, "name": name, "type": kind}
        for number, (start, end, entity, name, kind) in enumerate(labels)
    ]
    by = {"recognized_by": system, "linked_by": system, "candidates": []}
    lines = []
    for number, response in enumerate(responses):
        found = [{"span": span, "id": entity, **by} for span, entity in response.items()]
        document = {"id": number, "title": benchmark, "text": f"{text}{' ' * number}", "labels": gold}
        lines.append(json.dumps({**document, "entity_mentions": found}) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def two(tmp_path):
    """Two systems on two benchmarks.

    On `bay` (two documents, six mentions) `keen` is right throughout. `dull` is right twice, links Vega wrong once and
    a sailor once, and misses three: P 2/4, R 2/6, F1 0.4; it detects three of six and one that is none: P 3/4, R 3/6,
    F1 0.6; of the three it detects two are right.
    On `fjord` (one document, three mentions) `keen` finds one, right: P 1, R 1/3, F1 0.5, the same for detection.
    `dull` finds two and one of them right: P 1/2, R 1/3, F1 0.4, detection P 1, R 2/3, F1 0.8, accuracy 1/2.
    """
    everything = predictions(NORSE, VEGA, OSLO)
    return [
        linked(tmp_path, "keen", "bay", [everything, everything]),
        linked(tmp_path, "dull", "bay", [predictions(NORSE, vega="Q9") | {(6, 12): "Q45"}, predictions(OSLO)]),
        linked(tmp_path, "keen", "fjord", [predictions(VEGA)], text="So, " + TEXT[4:]),
        linked(tmp_path, "dull", "fjord", [predictions(OSLO, vega="Q9")], text="So, " + TEXT[4:]),
    ]


def page(*arguments):
    """What the command prints, without starting Python anew."""
    ran = CliRunner().invoke(command, [*map(str, arguments)], catch_exceptions=False)
    assert (ran.exit_code, ran.stderr) == (0, "")
    return ran.stdout


def report(*arguments, permutations=99):
    return msgspec.json.decode(page("--json", "-", "--permutations", permutations, "--resamples", 50, *arguments))


def means(found, figure):
    return {card["system"]: card["averages"][figure]["value"] for card in found["systems"]}


def figure(found, name):
    return next(each for each in found["figures"] if each["name"] == name)


def test_averages_by_hand(two):
    found = report(*two)
    assert found["datasets"] == ["bay", "fjord"]
    assert means(found, "f1") == pytest.approx({"keen": (1 + 0.5) / 2, "dull": (0.4 + 0.4) / 2})
    assert means(found, "ner-f1") == pytest.approx({"keen": (1 + 0.5) / 2, "dull": (0.6 + 0.8) / 2})
    assert means(found, "accuracy") == pytest.approx({"keen": 1, "dull": (2 / 3 + 1 / 2) / 2})
    # Mean numbers of errors, and mean rates.
    assert means(found, "ner-fn") == {"keen": (0 + 2) / 2, "dull": (3 + 1) / 2}
    assert means(found, "ner-fp") == {"keen": 0, "dull": (1 + 0) / 2}
    assert means(found, "ner-fp-lowercased") == {"keen": 0, "dull": 0.5}
    assert means(found, "disambiguation-partial-name") == {"keen": 0, "dull": 1}
    differences = {card["system"]: card["differences"] for card in found["systems"]}
    assert differences["keen"]["f1"]["value"] == pytest.approx(0.75 - 0.4)
    # Per mention, of six and of three: (-3/6 + 1/3) / 2.
    assert differences["keen"]["ner-fn"]["value"] == pytest.approx(-1 / 12)
    assert differences["dull"]["ner-fn"]["value"] == pytest.approx(1 / 12)


def test_what_is_averaged_is_what_score_says(two):
    found = report(*two, "--profile", "elevant-paper")
    results = {}
    for path in two:
        corpus, (run,) = detect_inputs(str(path), ()).load()
        results[run.name, corpus.name] = karat.evaluate(corpus, run, profile="elevant-paper", by=["error"])
    for name in ("f1", "disambiguation-partial-name"):
        measure = figure(found, name)["measure"]
        for system, value in means(found, name).items():
            own = [results[system, benchmark].score(measure).value for benchmark in figure(found, name)["datasets"]]
            assert value == pytest.approx(sum(own) / len(own))


def test_a_benchmark_that_a_system_lacks_is_left_out_and_said(two):
    found = report(*two[:3])
    assert found["datasets"] == ["bay"]
    assert found["excluded"] == {"fjord": "no predictions of dull"}
    assert means(found, "f1") == pytest.approx({"keen": 1, "dull": 0.4})
    assert "excluded: fjord (no predictions of dull)" in page(*two[:3])


def test_another_gold_standard_of_the_same_name_is_not_the_same_benchmark(two, tmp_path):
    (tmp_path / "more").mkdir()
    other = linked(tmp_path / "more", "dull", "fjord", [predictions(OSLO)], labels=LABELS[1:])
    found = report(*two[:3], other)
    assert found["excluded"] == {"fjord": "labels or texts differ between files"}


def test_the_order_of_documents_may_differ(two, tmp_path):
    before = report(*two)
    lines = two[1].read_text(encoding="utf-8").splitlines(keepends=True)
    two[1].write_text("".join(reversed(lines)), encoding="utf-8")
    assert report(*two) == before


def test_a_rate_that_one_system_lacks_is_averaged_for_none(two):
    """On `fjord` keen detects no mention that is no partial name: Oslo, which dull finds, is not compared."""
    found = report(*two, "--profile", "elevant", "--view", "strong[in-kb]")
    other = figure(found, "disambiguation-other")
    assert (other["datasets"], other["excluded"]) == (["bay"], {"fjord": "no case (keen)"})
    hyperlinks = figure(found, "hyperlink")
    assert hyperlinks["datasets"] == []
    assert {card["averages"]["hyperlink"]["reason"] for card in found["systems"]} == {"no dataset counts"}
    assert "no average of" in page(*two)


@pytest.fixture
def facts(tmp_path):
    folder = tmp_path / "facts"
    folder.mkdir()
    (folder / "demonyms.txt").write_text("Norse\n", encoding="utf-8")
    (folder / "popular.tsv").write_text("Norse\tQ20\nVega\tQ9\nOslo\tQ585\n", encoding="utf-8")
    (folder / "entities.tsv").write_text(
        "Q20\tNorway\tQ27096213\nQ585\tOslo\tQ27096213\nQ9\tVega\t\n", encoding="utf-8"
    )
    return folder


def test_demonyms_count_where_there_are_enough(tmp_path, facts):
    """One mention in three on `bay`, none on `dock`; NIL is no linked mention."""
    nil = ((6, 12, "<NIL>", "Unknown", "OTHER"),)
    everything = predictions(NORSE, VEGA, OSLO)
    paths = [
        linked(tmp_path, system, benchmark, [everything], labels=labels)
        for system in ("keen", "dull")
        for benchmark, labels in (("bay", LABELS + nil), ("dock", LABELS[1:] + nil))
    ]
    found = report(*paths, "--kb", facts)
    demonyms = figure(found, "disambiguation-demonym")
    assert (demonyms["datasets"], demonyms["excluded"]) == (["bay"], {"dock": "0.0 % of 2 linked mentions"})
    assert figure(found, "disambiguation-partial-name")["datasets"] == ["bay", "dock"]
    over = {
        share: figure(report(*paths, "--kb", facts, "--min-share", share), "disambiguation-demonym")
        for share in (0, 0.33, 0.34)
    }
    assert {share: each["datasets"] for share, each in over.items()} == {0: ["bay"], 0.33: ["bay"], 0.34: []}
    assert over[0]["excluded"] == {"dock": "no case"}
    assert over[0.34]["excluded"]["bay"] == "33.3 % of 3 linked mentions"


def test_without_facts_no_share_can_be_told(two):
    without = figure(report(*two, "--profile", "elevant"), "disambiguation-demonym")["excluded"]
    assert without == dict.fromkeys(("bay", "fjord"), "needs --kb with demonyms.txt")


def fleet(folder, documents=40):
    """Three systems that find everything, and link Vega right always, in every second document, and never."""
    wrong = {"steady": lambda number: False, "mixed": lambda number: number % 2, "shaky": lambda number: True}
    for system, fails in wrong.items():
        responses = [
            predictions(NORSE, OSLO, vega="Q9" if fails(number) else "Q1")
            | ({(6, 12): "Q45"} if system == "mixed" else {})
            for number in range(documents)
        ]
        yield linked(folder, system, "bay", responses)


def test_cards_say_what_is_in_the_data(tmp_path, karat_cli):
    paths = list(fleet(tmp_path))
    ran = karat_cli("scorecard", *paths)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == page(*paths)
    steady, mixed, shaky = (
        next(line for line in ran.out.splitlines() if line.startswith(f"{system}:"))
        for system in ("steady", "mixed", "shaky")
    )
    # All wrong links are of partial names: 0, 50 and 100 % of them, 0, 1/6 and 1/3 of all links.
    assert "disambiguation accuracy 100.0 (+25.0 points)" in steady
    assert steady.endswith(
        "strong on partial names (−75.0 points); few spurious mentions (−16.7 per 100), "
        "spurious lowercased mentions (−16.7 per 100)"
    )
    assert shaky.endswith(
        "few spurious mentions (−16.7 per 100), spurious lowercased mentions (−16.7 per 100); "
        "weak on partial names (+75.0 points)"
    )
    assert mixed.endswith("; many spurious mentions (+33.3 per 100), spurious lowercased mentions (+33.3 per 100)")
    assert "disambiguation accuracy 83.3;" in mixed
    assert "too few cases to judge (under 20): " in ran.out


def test_details_agree_with_the_file_and_intervals_hold_the_difference(tmp_path, karat_cli):
    paths = list(fleet(tmp_path))
    out = tmp_path / "cards.json"
    shown = page(*paths, "--details", "--json", out)
    found = msgspec.json.decode(out.read_bytes())
    shaky = next(card for card in found["systems"] if card["system"] == "shaky")["differences"]
    own = shaky["disambiguation-partial-name"]
    assert own["verdict"] == "weakness"
    assert own["low"] <= own["value"] <= own["high"]
    # The smallest p-value there is, times as many tests as are left at its turn.
    tests = [each for card in found["systems"] for each in card["differences"].values() if each["p"] is not None]
    assert own["p"] == 1 / 10_001
    assert own["corrected"] == pytest.approx(len(tests) / 10_001)
    assert "weakness" in next(line for line in shown.splitlines()[::-1] if line.startswith("Partial names"))


def test_too_few_cases_and_tiny_effects_are_no_strengths(tmp_path):
    paths = list(fleet(tmp_path, documents=19))
    assert "partial names" in page(*paths).partition("too few cases to judge (under 20): ")[2]
    paths = list(fleet(tmp_path, documents=40))
    assert "strong on" not in page(*paths, "--min-effect", 80)
    assert "strong on" not in page(*paths, "--alpha", 0.001)


def test_two_systems_are_one_test(tmp_path):
    steady, _, shaky = fleet(tmp_path)
    found = report(steady, shaky, permutations=9999)
    one, two = (card["differences"] for card in found["systems"])
    tested = [name for name, each in one.items() if each["p"] is not None]
    assert one["accuracy"]["value"] == -two["accuracy"]["value"]
    assert one["accuracy"]["corrected"] == two["accuracy"]["corrected"] <= len(tested) / 10_000


def test_seeds_repeat_and_stand_in_the_signature(tmp_path):
    paths = list(fleet(tmp_path))
    one, again, other = (page(*paths, "--json", "-", "--seed", seed) for seed in (7, 7, 8))
    assert one == again != other
    assert "|seed:7" in one


def test_one_system_has_averages_and_nothing_to_compare_with(two, karat_cli):
    shown = page(two[0], two[2])
    assert "keen: overall F1 75.0, NER F1 75.0, disambiguation accuracy 100.0\n" in shown
    assert "A scorecard compares systems; pass at least two." in shown


def test_one_gold_standard_and_predictions_to_it(karat_cli):
    shown = page("--gold", "demo", "demo", "--profile", "karat", "--view", "strong", "--permutations", 999)
    scores = karat_cli("score", "demo", "demo").out
    linking = scores.partition("strong:micro.f1\n")[2].splitlines()[1:4]
    row = next(line for line in shown.splitlines() if line.startswith("Overall F1"))
    assert row.split()[3:] == sorted((line.split()[3] for line in linking), key=float, reverse=True)
    assert "no errors: perfect" in shown


def test_benchmarks_with_the_same_texts_are_said(tmp_path):
    everything = predictions(NORSE, VEGA, OSLO)
    paths = [
        linked(tmp_path, system, name, [everything] * 3) for system in ("keen", "dull") for name in ("bay", "dock")
    ]
    assert "texts in common: bay and dock 3." in page(*paths)


def test_too_few_permutations_are_said(two, karat_cli):
    shown = page(*two, "--permutations", 19, "--min-cases", 0)
    assert "tests with 19 permutations may find nothing at alpha 0.05" in shown


def test_tables_for_papers(tmp_path):
    paths = list(fleet(tmp_path))
    markdown = page(*paths, "--markdown")
    assert "| scores in percent | over | steady | mixed | shaky |\n| :--- | ---: | ---: | ---: | ---: |" in markdown
    assert "| steady | 100.0 (+" in markdown
    assert "strong on partial names (−75.0 points)" in markdown
    latex = page(*paths, "--latex")
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 4
    assert r"strong on partial names ($-$75.0 points)" in latex


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl"),
        (["demo"], "demo does not contain both gold labels and predictions. Pass the gold standard with --gold"),
        (
            ["--gold", "demo", "demo", "--view", "mention"],
            "a scorecard needs a view of linked spans, and mention is not",
        ),
        (["--gold", "demo", "demo", "--alpha", "5"], "alpha is 5.0. Give a number between 0 and 1"),
        (["--gold", "demo", "demo", "--permutations", "0"], "too few draws"),
        (["--gold", "demo", "demo", "--profile", "karat", "--set", "threshold=oracle"], "at a fixed threshold"),
        (["--gold", "demo", "demo", "--set", "seed=x"], "seed is 'x'"),
    ],
    ids=["no file", "no predictions", "no links", "no level", "no draws", "oracle", "no seed"],
)
def test_bad_input_is_one_message(arguments, said, karat_cli, tmp_path):
    out = tmp_path / "out.json"
    ran = karat_cli("scorecard", *arguments, "--json", out)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert not out.exists()


def test_a_system_twice_on_a_benchmark_and_nothing_in_common_are_refused(two, tmp_path, karat_cli):
    assert "keen has two entries for bay" in karat_cli("scorecard", two[0], two[0]).err
    assert (
        "no dataset has predictions of all systems (bay: no predictions of dull; fjord: no predictions of keen)"
        in karat_cli("scorecard", two[0], two[3]).err
    )


SYSTEMS = ("refined", "genre", "ambiverse")
BENCHMARKS = ("kore50", "msnbc-updated", "news-fair-no-coref")
COUNTED = {
    "ner-fn": ("ner_fn", "all"),
    "ner-fn-lowercased": ("ner_fn", "lowercased"),
    "ner-fn-partially-included": ("ner_fn", "partially_included"),
    "ner-fp": ("ner_fp", "all"),
    "ner-fp-lowercased": ("ner_fp", "lowercased"),
    "ner-fp-groundtruth-unknown": ("ner_fp", "groundtruth_unknown"),
    "ner-fp-wrong-span": ("ner_fp", "wrong_span"),
}


def published(folder):
    found = []
    for name in BENCHMARKS:
        (path,) = folder.glob(f"*.{name}.eval_results.json")
        found.append(json.loads(path.read_text(encoding="utf-8"))["IGNORED"])
    return found


def mean(values):
    return math.fsum(values) / len(values)


@pytest.mark.shared
def test_averages_of_real_systems_are_those_of_elevants_own_figures(shared):
    results = shared / "elevant" / "results"
    files = []
    for system in SYSTEMS:
        for name in BENCHMARKS:
            (path,) = (results / system).glob(f"*.{name}.linked_articles.jsonl.gz")
            files.append(str(path))
    request = Request.from_options(profile="elevant", kb=shared / "elevant" / "kb")
    found = build_scorecards(
        load_entries(files), request, ScorecardOptions(resamples=200, permutations=1999), view="strong[in-kb]"
    )
    assert found.datasets == BENCHMARKS
    # Table 4's rule: demonyms are rare in all three, metonyms in none (14 of MSNBC's 653 linked mentions).
    assert found.datasets_by_figure["disambiguation-demonym"] == ()
    assert found.datasets_by_figure["disambiguation-metonymy"] == BENCHMARKS
    by_name = {next(name for name in SYSTEMS if card.system.startswith(name)): card for card in found.scorecards}
    for system, card in by_name.items():
        theirs = published(results / system)
        errors = [each["error_categories"] for each in theirs]
        links = [each["wrong_disambiguation"]["all"] for each in errors]
        averages = {name: average.value for name, average in card.averages.items()}
        assert averages["f1"] == pytest.approx(mean([each["mention_types"]["all"]["f1"] for each in theirs]))
        assert averages["ner-f1"] == pytest.approx(mean([each["ner"]["f1"] for each in errors]))
        assert averages["accuracy"] == pytest.approx(mean([1 - each["errors"] / each["total"] for each in links]))
        for name, (group, key) in COUNTED.items():
            assert averages[name] == pytest.approx(mean([each[group][key]["errors"] for each in errors]))
    # As Table 1 says: very good overall results; sacrifices recall of detection.
    refined, genre = by_name["refined"], by_name["genre"]
    assert refined.differences["f1"].verdict == "strength"
    assert genre.differences["ner-fn"].verdict == "weakness"


@pytest.mark.both
def test_statistics_of_documents_sum_to_the_result():
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    result = karat.evaluate(corpus, run, by=["error"], measures=["strong:micro.f1", "mention:micro.f1"])
    request = Request.from_options(extra_measures=["mention:micro.f1"], needs_stages=True)
    table = build_grid([entry(corpus, run)], request, "strong:micro.f1", min_systems=1)
    found = count_documents(table.cells["demo"]["noisy"], "strong")
    for view, weights in (("strong", found.links), ("mention", found.detection)):
        assert weights.sum(axis=0).tolist() == list(msgspec.structs.astuple(result.counts(view)))
    for name, group in result.groups["error"]["strong"].items():
        assert found.categories[name].errors.sum() == group.errors
        assert found.categories[name].undecided == group.undecided
