"""`karat reproduce finegrained-2019`: every table, figure and claim of the fine-grained paper."""

from __future__ import annotations

import re
import shutil
from collections import Counter

import pytest

from karat import Corpus, Document, InputError, Label
from karat.cli.main import COMMANDS
from karat.matching.weighting.membership import RATINGS
from karat.model.results.exhibit import count_statuses
from karat.protocols.suites import finegrained_2019
from karat.protocols.suites.finegrained_2019 import datasets, questionnaire, reproduce_finegrained, scores
from karat.protocols.suites.finegrained_2019.paper_data import GOLD_FILES, PaperData, system_files
from karat.protocols.suites.finegrained_2019.published_tables import (
    DIMENSION_SIZES,
    FIGURE_1,
    FIGURE_2,
    FIGURE_5,
    TABLE_1,
    TABLE_2,
)
from karat.systems.claims.finegrained_2019 import TABLE_3, parse_header, parse_rows
from tests.tools.paper_pages import check_pages

STATUSES = {
    "Figure 1": (0, 0, 0, 8),
    "Figure 2": (0, 0, 0, 38),
    "Table 1": (0, 0, 0, 11),
    "Section 2": (13, 3, 0, 3),
    "Figure 3": (4, 0, 0, 0),
    "Section 4": (10, 2, 1, 2),
    "Table 2": (85, 2, 0, 0),
    "Table 3": (436, 1, 0, 0),
    "Section 5": (8, 1, 0, 0),
    "Figure 4": (21, 1, 0, 0),
    "Section 6": (8, 1, 0, 0),
    "Figure 5": (6, 6, 0, 0),
    "Section 7": (3, 0, 0, 0),
}
"""Values that are reproduced, explained, unexplained and impossible."""


def statuses(exhibit):
    return tuple(count_statuses(exhibit.cells).values())


def find_cell(exhibit, row, column="claim"):
    (cell,) = (cell for cell in exhibit.cells if (cell.row, cell.column) == (row, column))
    return cell


@pytest.fixture(scope="module")
def outcome(shared):
    return reproduce_finegrained(str(shared))


def test_the_printed_tables_are_whole():
    tables = [list(parse_rows(printed)) for printed in (TABLE_2, TABLE_3, FIGURE_5)]
    assert [(len(rows), {len(cells) for _, cells in rows}) for rows in tables] == [(29, {3}), (23, {19}), (2, {6})]
    assert parse_header(TABLE_2) == list(GOLD_FILES)
    last, cells = tables[1][-1]
    assert (last, " ".join(cells[:4]), " ".join(cells[-3:])) == ("All", "4,231 0.77 0.11 0.19", "0.72 0.14 0.24")
    assert (len(FIGURE_1), len(FIGURE_2), sum(map(len, TABLE_1.values()))) == (8, 38, 11)


@pytest.mark.shared
def test_the_printed_tables_are_those_of_the_paper(shared):
    paper = (shared.parent / "papers" / "fine-grained.txt").read_text(encoding="utf-8")
    lines = set(paper.splitlines())
    for printed in (TABLE_2, TABLE_3):
        for row, cells in parse_rows(printed):
            assert "\t".join([row, *cells]) in lines
    for links in TABLE_1.values():
        for link, ratio in links.items():
            assert f"wiki:{link.replace(' ', '_')}\t{ratio}" in lines
    assert r"7 \times 5 \times 4 \times 6 = 840" in paper
    assert list(DIMENSION_SIZES.values()) == ["7", "5", "4", "6"]
    sentences = paper[paper.index("In an [interview]<sup>.19") : paper.index("Figure 2: The sentences")]
    ratios = re.findall(r"<sup>\.?(\d+)", sentences)
    assert Counter(ratios) == Counter(ratio.removeprefix(".") for ratio in FIGURE_2.values())


def test_the_ratios_are_those_that_the_membership_function_uses():
    for rating in RATINGS:
        mention, _, link = rating.mention.partition(": ")
        printed = TABLE_1[mention][link] if link else FIGURE_2[mention]
        assert float(printed) == rating.ratio


def test_claims_about_the_responses_follow_from_the_ratios():
    claims = questionnaire.build_claims()
    assert statuses(claims) == STATUSES["Section 2"]
    common = find_cell(claims, "common entity with the highest ratio")
    assert (common.value, common.status) == ("gas (0.36)", "explained")  # gas is in the second sentence
    assert all(cell.is_from_paper for cell in claims.cells if cell.value is not None)
    shares = find_cell(claims, "ratios that are shares of 36 responses")
    assert (shares.value, shares.status) == ("45 of 49", "explained")  # not 0.77, three times, and not 0.12


def test_a_ratio_that_no_number_of_answers_gives_is_counted():
    assert questionnaire._count_shares(["0.5", "0.12"], 36) == "1 of 2"  # 4 of 36 is 0.11, 5 of 36 is 0.14
    assert questionnaire._count_shares(["0.5", "0.12"], 33) == "all"  # 4 of 33


def label(start, entity, categories):
    return Label(start, start + 1, entity, categories=tuple(categories.split()))


class OneCorpus:
    """Data of a paper with a unified dataset of one document: a mention with two links, and another mention."""

    unified = Corpus.from_documents(
        [
            Document(
                "d",
                "ab",
                (
                    label(0, "X", "form:Full pos:Verb overlap:None reference:Direct"),
                    label(0, "Y", "form:Alias pos:Verb overlap:None reference:Direct"),
                    label(1, "X", "form:Full pos:Verb overlap:None reference:Direct"),
                    label(1, "Y", "form:Full form:Short pos:Verb overlap:None reference:Related"),
                ),
            )
        ]
    )


def test_combinations_by_hand():
    """Full and Alias; a link with two forms is in none. Merged: Full+Alias, Full+Short, and Full+Short as Related."""
    assert scores._count_combinations(OneCorpus) == 2
    assert scores._count_combinations(OneCorpus, merges_forms=True) == 3
    assert [len(leaves) for leaves in scores._mention_leaves(OneCorpus)] == [5, 6]


def test_sentences_that_differ_by_an_added_letter_are_told():
    assert datasets._is_misspelt("wasaquiredbysony", "columbiawasacquiredbysonyin")
    assert not datasets._is_misspelt("wasaquiredbysony", "columbiawasboughtbysonyin")


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_every_exhibit_has_its_outcomes(outcome):
    assert {exhibit.name: statuses(exhibit) for exhibit in outcome.exhibits} == STATUSES
    assert outcome.statuses == {"reproduced": 594, "explained": 17, "unexplained": 1, "impossible": 62}
    assert {exhibit.name: len(exhibit.plots) for exhibit in outcome.exhibits if exhibit.plots} == {
        "Figure 2": 1,
        "Figure 3": 4,
        "Figure 4": 3,
        "Figure 5": 2,
    }


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_each_slip_has_evidence(outcome):
    exhibits = {exhibit.name: exhibit for exhibit in outcome.exhibits}
    expected = {
        ("Table 2", "Organisation", "ACE2004"): ("199", "202", "199"),
        ("Table 2", "Miscellany", "ACE2004"): ("2,352", "2,351", "2,352"),
        ("Table 3", "Full Mention", "A P"): ("0.78", "0.79", "0.78"),
        ("Section 5", "combinations with at least one annotation", "claim"): ("123", "99", "123"),
        ("Section 6", "best system at α = 0 in Figure 5", "claim"): (
            "DBpedia Spotlight",
            "AIDA",
            "DBpedia Spotlight",
        ),
        ("Figure 5", "AIDA", "F1* at α = 0"): ("0.651", "0.672", "0.651"),
    }
    for (name, row, column), values in expected.items():
        cell = find_cell(exhibits[name], row, column)
        assert (cell.published, cell.value, cell.explanation.value_if_changed) == values
        assert cell.status == "explained"


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_figures_are_drawn_from_the_curves(outcome):
    exhibits = {exhibit.name: exhibit for exhibit in outcome.exhibits}
    recall = exhibits["Figure 4"].plots[1]
    assert [series.name for series in recall.series][:2] == ["Babelfy (strict)", "Babelfy (relaxed)"]
    assert {len(series.points) for series in recall.series} == {99}
    assert recall.series[1].points[-1].y == pytest.approx(0.35, abs=0.005)
    text, program = exhibits["Figure 5"].plots
    assert [round(point.x, 1) for point in text.series[0].points] == [k / 10 for k in range(11)]
    assert [round(plot.series[4].points[0].y, 3) for plot in (text, program)] == [0.672, 0.651]


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_a_published_value_that_differs_is_not_explained(shared, monkeypatch):
    monkeypatch.setattr(scores, "TABLE_3", TABLE_3.replace("4,231 0.77 0.11", "4,231 0.77 0.12"))
    paper_scores = scores.PaperScores(PaperData(finegrained_2019.open_data(str(shared), *GOLD_FILES.values())))
    table = scores.build_table_3(paper_scores)
    assert [(cell.row, cell.column) for cell in table.cells if cell.status == "unexplained"] == [("All", "B_s R")]


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_what_a_missing_file_makes_impossible_is_named(shared, tmp_path):
    shutil.copytree(shared / "finegrained", tmp_path / "finegrained")
    (tmp_path / system_files("A")[2]).unlink()
    outcome = reproduce_finegrained(str(tmp_path))
    exhibits = {exhibit.name: exhibit for exhibit in outcome.exhibits}
    missing = [cell for cell in exhibits["Table 3"].cells if cell.status == "impossible"]
    assert {cell.column for cell in missing} == {"A P", "A R", "A F1"}
    assert {cell.explanation.missing_file for cell in missing} == {"finegrained/systems/AIDA_ACE.ttl"}
    assert statuses(exhibits["Table 2"]) == STATUSES["Table 2"]
    assert find_cell(exhibits["Section 4"], "documents of ACE2004 that are relabelled").explanation.missing_file == (
        "bat/ACE2004_Coref_Turking"
    )
    (tmp_path / GOLD_FILES["VoxEL"]).unlink()
    exhibits = {exhibit.name: exhibit for exhibit in reproduce_finegrained(str(tmp_path)).exhibits}
    assert statuses(exhibits["Table 2"]) == (56, 2, 0, 29)
    assert statuses(exhibits["Table 3"]) == (0, 0, 0, 437)
    assert all(cell.explanation.missing_file == GOLD_FILES["VoxEL"] for cell in exhibits["Table 3"].cells)


def test_a_folder_without_the_files(tmp_path):
    with pytest.raises(InputError, match="categorizedKORE50"):
        reproduce_finegrained(str(tmp_path))


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_the_command_lines_exist(outcome):
    for exhibit in outcome.exhibits:
        for line in exhibit.command.splitlines():
            program, name, *_ = line.split()
            assert program == "karat"
            assert name in COMMANDS


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_the_command_lines_give_the_values(shared, outcome, karat_cli):
    exhibits = {exhibit.name: exhibit for exhibit in outcome.exhibits}

    def run(line):
        ran = karat_cli(*line.replace("DIR", str(shared)).split()[1:])
        assert ran.code == 0, ran.err
        return ran.out

    table = run(exhibits["Table 3"].command)
    (row,) = (line.split() for line in table.splitlines() if line.startswith("All"))
    cells = [cell for cell in exhibits["Table 3"].cells if cell.row == "All"]
    assert row[1] == cells[0].value.replace(",", "")
    assert [round(float(text) / 100, 2) for text in row[2:]] == pytest.approx(
        [float(cell.value) for cell in cells[1:]], abs=0.0051
    )
    strict = run(exhibits["Figure 5"].command.splitlines()[0])
    (first,) = (line.split() for line in strict.splitlines() if line.startswith("0.0 "))
    ours = [cell.value for cell in exhibits["Figure 5"].cells if cell.column.endswith("= 0")]
    assert [float(text) for text in first[1:]] == [pytest.approx(100 * float(value)) for value in ours]


def test_options_of_another_suite(tmp_path, karat_cli):
    ran = karat_cli("reproduce", "finegrained-2019", "--data", tmp_path, "--kb", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "takes no --kb; these do: elevant" in ran.err


@pytest.mark.shared
@pytest.mark.extras  # the pictures
def test_the_page_is_what_the_suite_computes(outcome):
    check_pages("finegrained-2019", outcome)
