"""`karat reproduce finegrained`: the figures that the fine-grained paper prints."""

from __future__ import annotations

import pytest

from karat import InputError
from karat.protocols.suites import finegrained
from karat.protocols.suites.finegrained import reproduce_finegrained
from karat.protocols.suites.finegrained.published_tables import FIGURE_5, TABLE_2, TABLE_3

SIZES = {
    "Table 2": (87, 85),
    "Table 3, sizes": (23, 23),
    "Table 3, links as written": (414, 414),
    "Table 3, links decoded": (414, 413),
    "Figure 5": (24, 24),
}


def test_the_printed_tables_are_whole():
    tables = [list(finegrained._table_rows(printed)) for printed in (TABLE_2, TABLE_3, FIGURE_5)]
    assert [(len(rows), {len(cells) for _, cells in rows}) for rows in tables] == [(29, {3}), (23, {19}), (4, {6})]
    assert tables[1][0][0] == "Full Mention"
    last, cells = tables[1][-1]
    assert (last, " ".join(cells[:4]), " ".join(cells[-3:])) == ("All", "4231 0.77 0.11 0.19", "0.72 0.14 0.24")
    assert [row for row, _ in tables[2]] == ["strict 0", "strict-code 0", "strict 1", "strict-code 1"]


@pytest.mark.shared
def test_the_printed_tables_are_those_of_the_paper(shared):
    paper = (shared.parent / "papers" / "fine-grained.txt").read_text(encoding="utf-8")
    lines = {line.replace(",", "") for line in paper.splitlines()}
    for printed in (TABLE_2, TABLE_3):
        for row, cells in finegrained._table_rows(printed):
            assert "\t".join([row, *cells]) in lines


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_all_figures_are_equal_but_three_that_are_explained(shared, karat_cli):
    found = reproduce_finegrained(str(shared / "finegrained"))
    assert {name: (table.figures, table.equal_figures) for name, table in found.groups.items()} == SIZES
    assert (found.figures, found.n_equal) == (962, 959)
    assert [(d.figure, d.expected, d.value) for d in found.differences] == [
        ("Organisation, ACE2004", "199", "202"),
        ("Miscellany, ACE2004", "2352", "2351"),
        ("Full Mention, A, P", "0.78", "0.79"),
    ]
    assert all(difference.reason for difference in found.differences)
    ran = karat_cli("reproduce", "finegrained", "--data", shared / "finegrained")
    assert (ran.code, ran.out.splitlines()[-1]) == (1, "COMPARED 962 EQUAL 959")
    assert "not explained" not in ran.out


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_a_figure_that_differs_is_listed_and_not_explained(shared, karat_cli, monkeypatch):
    monkeypatch.setattr(finegrained, "TABLE_3", TABLE_3.replace("4,231 0.77 0.11", "4,231 0.77 0.12"))
    found = reproduce_finegrained(str(shared / "finegrained"))
    assert found.n_equal == 957
    assert [(d.group, d.figure, d.reason) for d in found.differences if d.reason is None] == [
        ("Table 3, links as written", "All, B_s, R", None),
        ("Table 3, links decoded", "All, B_s, R", None),
    ]


def test_a_folder_without_the_files(tmp_path):
    with pytest.raises(InputError, match="categorizedKORE50"):
        reproduce_finegrained(str(tmp_path))


def test_options_of_another_suite(tmp_path, karat_cli):
    ran = karat_cli("reproduce", "finegrained", "--data", tmp_path, "--kb", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "takes no --kb; these do: elevant" in ran.err
