"""The suite of the BAT paper: its tables are whole, its values are computed, and missing files are named."""

from __future__ import annotations

import re
import shlex
import shutil
from collections import Counter
from pathlib import Path

import click
import pytest

from karat.cli.main import karat as command_line
from karat.model.errors import InputError
from karat.model.results.exhibit import Exhibit
from karat.model.spec.suite import Reproduction
from karat.protocols.papers.data_folder import PublishedData
from karat.protocols.suites.bat_2013 import published_tables, reproduce_bat_2013
from karat.protocols.suites.bat_2013.claims import build_entity_claims, build_measure_claims, build_setup_claims
from karat.protocols.suites.bat_2013.corpora import PaperCorpora, build_dataset_claims, build_table_3
from karat.protocols.suites.bat_2013.problems import build_figure_1, build_figure_2, build_table_1, build_table_2
from karat.protocols.suites.bat_2013.runs import METHODS
from karat.systems.claims import bat_2013 as printed
from karat.systems.linking.system import get_system
from tests.tools.paper_pages import check_pages

ORDER = (
    "Table 1, Figure 1, Section 2, Figure 2, Table 2, Table 3, Section 4, Section 5, Section 6, Figure 3, Table 4, "
    "Section 6.1.1, Figure 4, Table 5, Table 6, Figure 5, Table 7, Section 6.1.2, Table 8, Section 6.1.3, "
    "Section 6.1.4, Table 9, Table 10, Section 6.2, Table 11, Section 6.3, Table 12, Section 6.4, Figure 6"
)

TABLES = {
    name.removeprefix("TABLE_"): getattr(module, name)
    for module in (published_tables, printed)
    for name in dir(module)
    if name.startswith("TABLE_")
}


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def small_reproduction(shared, tmp_path_factory) -> Reproduction:
    """The paper from a folder of data with AQUAINT, MSNBC and Meij only."""
    folder = tmp_path_factory.mktemp("bat")
    for name in ("AQUAINT", "MSNBC", "meij"):
        shutil.copytree(shared / "bat" / name, folder / "bat" / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KARAT_HOME", str(folder / "home"))
        return reproduce_bat_2013(str(folder))


@pytest.fixture(scope="module")
def reproduction(shared, tmp_path_factory) -> Reproduction:
    """The paper from all data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KARAT_HOME", str(tmp_path_factory.mktemp("home")))
        return reproduce_bat_2013(str(shared))


def _statuses(exhibit: Exhibit) -> Counter[str]:
    return Counter(cell.status for cell in exhibit.cells)


def _find(reproduction: Reproduction, name: str) -> Exhibit:
    return next(exhibit for exhibit in reproduction.exhibits if exhibit.name == name)


@pytest.mark.shared
@pytest.mark.parametrize("number", ["3", "6", "7", "8", "9", "10", "11", "12"])
def test_the_numbers_of_a_table_are_those_of_the_paper_in_its_order(number, shared):
    text = (shared.parent / "papers" / "bat-framework.txt").read_text(encoding="utf-8")
    before_caption = text[: text.index(f"\nTable {number}:")]
    numbers = [cell for _, _, cell in printed.read_cells(TABLES[number]) if re.fullmatch(r"[\d./]+", cell)]
    in_paper = re.findall(r"(?<=\t)[\d./]*\d(?=\s)", before_caption)
    assert in_paper[-len(numbers) :] == numbers


@pytest.mark.shared
def test_table_5_has_all_rows_of_the_paper(shared):
    text = (shared.parent / "papers" / "bat-framework.txt").read_text(encoding="utf-8")
    rows = re.findall(r"([A-Z][\w .-]+)\t(\d\.\d{3})\t([\d.]+)\t([\d.]+)\t([\d.]+)", text[: text.index("\nTable 5:")])
    own: dict[str, list[str]] = {}
    for row, _, cell in printed.read_cells(printed.TABLE_5):
        own.setdefault(row, []).append(cell)
    assert [(row.partition(", ")[2], *cells) for row, cells in own.items()] == rows


def test_printed_tables_have_the_size_of_the_paper():
    sizes = {number: sum(1 for _ in printed.read_cells(table)) for number, table in TABLES.items()}
    assert sizes == {
        "1": 12, "2": 7, "3": 25, "4": 12, "5": 84, "6": 28, "7": 28, "8": 28, "9": 27, "10": 28, "11": 28, "12": 35,
    }  # fmt: skip


def test_the_problems_and_their_reductions_are_karats_tasks():
    assert _statuses(build_table_1()) == {"reproduced": 12}
    assert _statuses(build_figure_1()) == {"reproduced": 3}
    figure = build_figure_2(PaperCorpora(PublishedData(Path("nowhere")), {}, {}, has_aida_texts=False))
    assert _statuses(figure) == {"reproduced": 7}
    (plot,) = figure.plots
    assert plot.kind == "graph"
    assert set(plot.edges) == {
        ("Sa2W", "A2W"), ("Sa2W", "Sc2W"), ("Sc2W", "Rc2W"), ("Rc2W", "C2W"), ("A2W", "C2W"), ("A2W", "D2W"),
    }  # fmt: skip
    layers = {point.x: point.y for point in plot.series[0].points}
    assert layers == {"Sa2W": 0, "A2W": 1, "Sc2W": 1, "D2W": 2, "Rc2W": 2, "C2W": 3}


def test_systems_that_were_never_published_are_named():
    cells = {cell.row: cell for cell in build_table_2().cells}
    assert (cells["AIDA"].value, cells["AIDA"].status) == ("Sa2W, D2W", "reproduced")
    assert cells["CMNS"].status == cells["CSAW"].status == "impossible"
    assert cells["CMNS"].explanation is not None
    assert cells["CMNS"].explanation.missing_file == "CMNS (software)"
    assert cells["DBpedia Spotlight"].status == "explained"


def test_the_properties_of_similarity_hold_in_an_example():
    exhibit = build_measure_claims()
    assert _statuses(exhibit) == {"reproduced": 6}
    assert "give 0.750 and 0.667" in exhibit.notes[1]  # 2·0.75·0.75/1.5, and (2/3 + 2/3) / 2


def test_printed_scores_agree_with_each_other():
    assert [cell.value for cell in build_setup_claims().cells] == [
        "56 of 56 rows",
        "56 of 56 are multiples of 1/128",
    ]


def test_the_drop_from_mentions_to_entities_is_computed_from_the_printed_tables():
    cells = {cell.row: cell for cell in build_entity_claims().cells}
    drop = cells["Wikipedia Miner: drop of F1 from mentions to entities"]
    assert (drop.value, drop.status) == ("19.1 %", "reproduced")  # 70.0 − 50.9
    smallest = cells["The smallest drop"]
    assert (smallest.value, smallest.status) == ("AIDA-CocktailParty (3.0 %)", "explained")  # 58.7 − 55.7


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_table_3_needs_the_steps_of_bats_readers(shared):
    corpora = PaperCorpora.from_data(PublishedData(shared))
    exhibit = build_table_3(corpora)
    assert _statuses(exhibit) == {"reproduced": 21, "explained": 4}
    cells = {(cell.row, cell.column): cell for cell in exhibit.cells}
    assert cells["AIDA/CONLL", "Avg length"].value == "1039"  # 1039.94 with BAT's joining of tokens, 1067.30 without
    assert cells["MSNBC", "Num Anns"].value == "747"  # 755 without 8 NIL
    assert cells["IITB", "Num Anns"].status == "explained"  # the list of pages that BAT drops is lost
    assert _statuses(build_dataset_claims(corpora)) == {"reproduced": 8}


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_a_folder_without_some_files_gives_the_rest_and_names_the_missing_ones(small_reproduction):
    table = _find(small_reproduction, "Table 3")
    missing = {
        cell.row: cell.explanation.missing_file for cell in table.cells if cell.value is None and cell.explanation
    }
    assert missing == {"AIDA/CONLL": "zelda/conll/test_aida-b.conll", "IITB": "bat/iitb"}
    scores = _find(small_reproduction, "Table 5")
    assert {row[0] for row in scores.own_table[1:]} == {"AQUAINT", "MSNBC"}
    assert _find(small_reproduction, "Table 9").own_table == ()
    assert _find(small_reproduction, "Figure 4").plots == ()
    assert small_reproduction.statuses["unexplained"] == 0


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_methods_fill_the_rows_of_lost_systems_without_counting_as_reproduced(small_reproduction):
    table = _find(small_reproduction, "Table 5")
    assert _statuses(table) == {"impossible": 84}
    methods = {(row[0], row[2]): (row[1], row[-1]) for row in table.own_table[1:]}
    published = printed.read_numbers(printed.TABLE_5, "F1_mic")
    for dataset in ("AQUAINT", "MSNBC"):
        names = {name.partition(", ")[2].casefold() for name in published if name.startswith(dataset)}
        assert {annotator.casefold() for name, annotator in methods if name == dataset} == names | {"cmns"}
    assert methods["AQUAINT", "Wikipedia Miner"] == (
        "wikipedia-miner-method[substitute=popularity,min-probability=0]",
        "47.2",
    )
    assert methods["AQUAINT", "CMNS"][1] == "–"  # the paper does not test it
    assert any("never of the original system" in note for note in table.notes)
    assert any(re.match(r"AQUAINT: \d+ of 21 pairs of methods", note) for note in table.notes)


def test_every_method_in_the_tables_names_its_original():
    originals = {get_system(text).system.method_of for text in METHODS}
    assert originals == {"", "aida", "cmns", "dbpedia-spotlight", "illinois-wikifier", "tagme-api", "wikipedia-miner"}
    assert METHODS["popular"] == "AIDA-PriorityOnly"  # a part of AIDA's method, the prior


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_every_exhibit_is_listed_in_the_order_of_the_paper_with_commands_that_parse(small_reproduction):
    assert [exhibit.name for exhibit in small_reproduction.exhibits] == ORDER.split(", ")
    commands = {line for exhibit in small_reproduction.exhibits for line in exhibit.command.splitlines()}
    for line in commands:
        words = shlex.split(line)
        assert words[0] == "karat"
        command, arguments = command_line, words[1:]
        while isinstance(command, click.Group) and arguments:
            command, arguments = command.get_command(click.Context(command), arguments[0]), arguments[1:]
            assert command is not None, line
        command.make_context(line, arguments)  # raises for an unknown option or a missing argument


@pytest.mark.shared
@pytest.mark.extras
def test_the_whole_suite_leaves_nothing_unexplained(reproduction):
    assert reproduction.statuses == {"reproduced": 129, "explained": 10, "unexplained": 0, "impossible": 312}
    best = {row[:2]: row[4] for row in _find(reproduction, "Table 5").own_table}
    assert best["AIDA/CONLL", "rel"] == "83.4"
    assert best["AIDA/CONLL", "popular"] == "40.8"
    (curve,) = _find(reproduction, "Figure 4").plots
    assert {len(series.points) for series in curve.series} == {129}
    assert max(point.y or 0 for point in curve.series[0].points) == pytest.approx(40.8, abs=0.05)
    matrix = _find(reproduction, "Table 9").own_table
    assert all(row[number - 1] == "100/100" for number, row in enumerate(matrix) if number > 1)
    times = {row[0]: row for row in _find(reproduction, "Table 12").own_table}
    assert times["rel"][2] == "1478.93"  # 341.63 s for 231 documents
    assert len(_find(reproduction, "Figure 3").own_table) == 1 + 8 * 6


def test_a_folder_without_any_dataset_is_refused(tmp_path):
    with pytest.raises(InputError, match="bat/AQUAINT"):
        reproduce_bat_2013(str(tmp_path))


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_the_page_is_what_the_suite_computes(reproduction):
    check_pages("bat-2013", reproduction)
