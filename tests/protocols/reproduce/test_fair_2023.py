"""`karat reproduce fair-2023`: the tables, the figure and the claims of the fair evaluation."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from karat import InputError
from karat.cli.main import karat as karat_command
from karat.model.results.exhibit import count_statuses
from karat.protocols.papers.data_folder import PublishedData
from karat.protocols.suites.fair_2023 import reproduce_fair
from karat.protocols.suites.fair_2023.benchmark_changes import format_percent
from karat.protocols.suites.fair_2023.measurements import BENCHMARKS, SYSTEMS, Measurements, get_benchmark_path
from karat.protocols.suites.fair_2023.published_tables import (
    TABLE_2,
    TABLE_2_COLUMNS,
    TABLE_3,
    TABLE_3_COLUMNS,
    TABLE_4,
    TABLE_4_COLUMNS,
    WHITELIST,
)
from karat.protocols.suites.fair_2023.sections import SECTIONS
from karat.systems.claims.fair_2023 import TABLE_1, TABLE_1_COLUMNS
from tests.tools.paper_pages import check_pages

TABLES = (
    (TABLE_1, TABLE_1_COLUMNS),
    (TABLE_2, TABLE_2_COLUMNS),
    (TABLE_3, TABLE_3_COLUMNS),
    (TABLE_4, TABLE_4_COLUMNS),
)

STATUSES = {  # reproduced, explained, unexplained, impossible
    "Section 1.2": (3, 0, 0, 0),
    "Table 1": (18, 11, 0, 6),
    "Figure 1": (1, 4, 0, 2),
    "Section 4": (13, 0, 0, 2),
    "Table 2": (9, 1, 0, 0),
    "Section 5": (5, 0, 0, 1),
    "Table 3": (41, 14, 0, 0),
    "Table 4": (22, 23, 0, 18),
    "Section 6.1": (9, 0, 0, 5),
    "Section 6.2": (8, 0, 0, 2),
    "Section 6.3": (7, 1, 0, 2),
    "Section 6.4": (10, 1, 0, 0),
    "Section 7": (2, 0, 0, 0),
    "Section A.1": (2, 1, 0, 0),
    "Section A.2.1": (7, 0, 0, 3),
    "Section A.2.2": (9, 0, 0, 7),
    "Section A.2.3": (4, 4, 0, 2),
    "Section A.2.4": (1, 0, 0, 6),
    "Section A.4": (1, 0, 0, 0),
}
DATES = {"REL": "2024/08/28", "Baseline": "2024/09/11"}


def commands():
    """All command lines that the sections name."""
    return sorted({line for section in SECTIONS for line in section.command.splitlines()})


def expand(line, folder):
    """Return the arguments that a shell passes for a command line whose DIR is `folder`."""
    line = line.replace("DIR/", f"{shlex.quote(str(folder))}/")
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert words[0] == "karat"
    return words[1:]


@pytest.fixture(scope="module")
def reproduction(shared):
    return reproduce_fair(str(shared))


@pytest.fixture(scope="module")
def cells(reproduction):
    return {(e.name, c.row, c.column): c for e in reproduction.exhibits for c in e.cells}


def test_the_printed_tables_are_whole():
    assert [(len(table), {len(row) for row in table.values()}) for table, _ in TABLES] == [
        (7, {5}),
        (5, {2}),
        (5, {11}),
        (7, {9}),
    ]
    assert all(len(columns) == len(row) for table, columns in TABLES for row in table.values())
    assert len(WHITELIST) == 31


@pytest.mark.shared
def test_the_printed_tables_are_those_of_the_paper(shared):
    paper = (shared.parent / "papers" / "fair-evaluation.txt").read_text(encoding="utf-8")
    lines = set(paper.splitlines())
    for table, _ in TABLES:
        for row, texts in table.items():
            assert "\t".join([row, *texts]) in lines
    assert all(f"({name})" in paper for name in WHITELIST)


@pytest.mark.shared
def test_claims_quote_the_paper(shared):
    paper = (shared.parent / "papers" / "fair-evaluation.txt").read_text(encoding="utf-8")
    words = " ".join(paper.replace("“", '"').replace("”", '"').replace("*", "").split()).replace("- ", "")
    assert "a more similar performance on our benchmarks than on existing benchmarks" in words
    assert "8.5% worse than that of the best system (ReFinED)" in words
    assert "24 out of 28 partial name mentions" in words


@pytest.mark.parametrize(
    ("number", "total", "text"), [(90, 144, "63%"), (1, 200, "1%"), (0, 3, "0%"), (440, 1034, "43%"), (3, 3, "100%")]
)
def test_shares_are_rounded_with_halves_up(number, total, text):
    assert format_percent(number, total) == text


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_every_figure_is_reproduced_explained_or_impossible(reproduction):
    found = {e.name: tuple(count_statuses(e.cells).values()) for e in reproduction.exhibits}
    assert found == STATUSES
    assert list(found) == list(STATUSES)  # in the order of the paper
    assert reproduction.statuses["unexplained"] == 0


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_scores_are_means_over_the_benchmarks(reproduction, cells):
    [figure] = [e for e in reproduction.exhibits if e.name == "Figure 1"]
    [plot] = figure.plots
    heights = {series.name: [point.y for point in series.points] for series in plot.series}
    assert list(heights) == list(SYSTEMS)
    assert [round(height, 1) for height in heights["REL"]] == [83.0, 63.7, 76.6, 56.4, 56.3]
    assert sum(heights["REL"]) / 5 == pytest.approx(67.2, abs=0.05)
    rel = cells["Table 1", "REL", "Overall F1"]
    assert (rel.published, rel.value, rel.status) == ("67.7%", "67.2%", "explained")
    assert DATES["REL"] in rel.explanation.text
    assert rel.explanation.missing_file.startswith("elevant/results/rel")
    assert heights["TagMe"] == [None] * 5
    refined = [cells["Table 1", "ReFinED", column].value for column in TABLE_1_COLUMNS[:3]]
    assert refined == ["73.3%", "82.7%", "89.1%"]


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_a_pronoun_explains_one_mention_in_three_tables(cells):
    explained = {
        ("Table 2", "Coreference", "Wiki-Fair"): ("282", "281"),
        ("Table 3", "Wiki-Fair", "mentions"): ("1034", "1035"),
        ("Table 4", "ReFinED", "NER false negatives, lower-cased"): ("39.4", "39.6"),
        ("Table 4", "REL", "NER false negatives, lower-cased"): ("42.2", "42.4"),
        ("Table 4", "Ambiverse", "NER false negatives, lower-cased"): ("43.2", "43.4"),
    }
    for key, (value, changed) in explained.items():
        cell = cells[key]
        assert (cell.value, cell.explanation.value_if_changed, cell.status) == (value, changed, "explained")
        assert "“we”" in cell.explanation.text


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_what_is_undecided_gives_bounds(cells):
    values = {column: cells["Table 3", "KORE50", column].value for column in TABLE_3_COLUMNS}
    assert [values[column] for column in ("mentions", "NIL", "person", "metonym", "partial", "rare")] == [
        "144",
        "1%",
        "53%",
        "3–10%",  # 5 to 15 of 144
        "60–62%",  # 86 to 89
        "10–17%",  # 15 to 25
    ]
    partial = cells["Table 3", "KORE50", "partial"]
    assert (partial.published, partial.explanation.value_if_changed) == ("63%", "63%")  # 90 of 144 uncorrected spans
    rate = cells["Table 4", "Baseline", "Disambiguation error rate, metonym"]
    assert (rate.value, rate.status) == ("100.0%", "reproduced")  # the prior never links a metonym correctly
    assert cells["Table 4", "ReFinED", "Disambiguation error rate, partial name"].value == "16.1–17.3%"


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_the_rule_of_two_percent_selects_the_benchmarks_of_the_paper(reproduction):
    [table] = [e for e in reproduction.exhibits if e.name == "Table 4"]
    assert "demonyms is averaged over AIDA-CoNLL and Wiki-Fair," in table.notes[0]
    assert "metonyms is averaged over AIDA-CoNLL, KORE50, MSNBC and News-Fair," in table.notes[1]


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_the_overfitting_index_is_that_of_compare(shared, cells, karat_cli):
    value = cells["Section 7", "overfitting to the home benchmark", "claim"].value
    assert "GENRE 14.7, Ambiverse 11.7, REL 11.0, ReFinED 6.1" in value
    [line] = next(section.command for section in SECTIONS if section.name == "Section 7").splitlines()
    ran = karat_cli(*expand(line, shared), "--resamples", "10", "--permutations", "10")
    assert ran.code == 0
    text = " ".join(ran.out.split())
    for index in ("refined__aida_, rel__2014_, genre__yago_, baseline +11.7", "relative to ambiverse, baseline +14.7"):
        assert index in text


@pytest.mark.shared
@pytest.mark.parametrize("line", commands())
def test_every_command_can_be_parsed_and_its_files_exist(line, shared):
    arguments = expand(line, shared)
    command = karat_command
    while hasattr(command, "get_command"):
        command = command.get_command(None, arguments.pop(0))
    with command.make_context(command.name, arguments) as context:
        assert not context.args
    assert not [argument for argument in arguments if "*" in argument]


def test_a_folder_without_the_data_is_refused(tmp_path):
    with pytest.raises(InputError, match="elevant/results or elevant/benchmarks"):
        reproduce_fair(str(tmp_path))


@pytest.mark.shared
def test_what_the_files_do_not_allow_falls_away_and_the_rest_is_computed(shared, tmp_path):
    benchmarks = tmp_path / "elevant" / "benchmarks"
    benchmarks.mkdir(parents=True)
    for name in ("kore50", "news-fair"):
        path = shared / get_benchmark_path(name)
        (benchmarks / path.name).symlink_to(path)
    found = {(e.name, c.row, c.column): c for e in reproduce_fair(str(tmp_path)).exhibits for c in e.cells}
    assert found["Table 2", "All", "News-Fair"].status == "reproduced"
    missing = found["Table 2", "All", "Wiki-Fair"]
    assert (missing.status, missing.explanation.missing_file) == ("impossible", get_benchmark_path("wiki-fair"))
    assert found["Table 3", "KORE50", "mentions"].status == "reproduced"
    assert found["Table 3", "KORE50", "rare"].explanation.missing_file == "elevant/kb"
    assert found["Table 3", "MSNBC", "NIL"].explanation.missing_file == get_benchmark_path("msnbc-updated")
    no_output = found["Table 1", "REL", "NER F1"]
    assert no_output.explanation.missing_file.startswith("elevant/results/rel/rel__2014_.aida-conll-test.")
    assert found["Table 1", "REL", "Reproducibility"].status == "reproduced"
    person = found["Table 3", "KORE50", "person"]
    assert person.status == "unexplained"  # without its metadata nobody knows the age of the file


@pytest.mark.shared
def test_a_difference_is_explained_by_later_outputs_only_if_they_are_later(shared, tmp_path):
    results = tmp_path / "elevant" / "results" / "rel"
    results.mkdir(parents=True)
    stem = "rel__2014_.kore50"
    source = shared / "elevant" / "results" / "rel"
    (results / f"{stem}.linked_articles.jsonl.gz").symlink_to(source / f"{stem}.linked_articles.jsonl.gz")
    metadata = results / f"{stem}.metadata.json"
    for stamp, is_later in (("2024/08/28 13:26", True), ("2023/05/01 10:00", False)):
        metadata.write_text(f'{{"timestamp": "{stamp}"}}', encoding="utf-8")
        scores = Measurements(PublishedData(tmp_path))
        assert (scores.explain_later_output(["REL"]) is not None) == is_later
        assert scores.find_missing("REL", ["KORE50"]) is None
        assert scores.find_missing("REL") == (
            f"elevant/results/rel/rel__2014_.{BENCHMARKS['AIDA-CoNLL']}.linked_articles.jsonl.gz"
        )
    metadata.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"metadata\.json"):
        _ = Measurements(PublishedData(tmp_path)).benchmarks


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_the_page_is_what_the_suite_computes(reproduction):
    check_pages("fair-2023", reproduction)
