"""`karat reproduce posthoc-2021`: the table, figures and claims of the posthoc paper, from logged counts."""

from __future__ import annotations

import re

import numpy as np
import pytest

from karat import InputError
from karat.cli.main import COMMANDS
from karat.model.results.exhibit import count_statuses
from karat.protocols.suites.posthoc_2021 import claims, dataset_counts, figures, reproduce_posthoc
from karat.protocols.suites.posthoc_2021.intervals import fits_level, is_plausible_end, is_plausible_interval
from karat.protocols.suites.posthoc_2021.published_tables import (
    LOGGED_TABLE_1,
    OUTCOMES,
    SOURCES,
    TABLE_1,
    TABLE_1_COLUMNS,
    UNION_KINDS,
    parse_after,
    parse_groups,
)
from karat.systems.claims.posthoc_2021 import BEFORE, parse_rows
from tests.protocols.verification.figures import BEFORE_F1, DATASETS, POSTHOC, RATES, SHOWN, TRIPLES
from tests.tools.paper_pages import check_pages

STATUSES = {
    "Figure 1": (0, 0, 0, 0),
    "Table 1": (73, 5, 0, 2),
    "Main Contributions": (2, 2, 0, 0),
    "Figure 2": (0, 0, 0, 0),
    "Data collection": (1, 1, 0, 5),
    "Verification Union": (1, 0, 0, 0),
    "Figure 3": (80, 48, 0, 0),
    "Posthoc Verification Results": (6, 1, 1, 1),
    "Figure 4": (75, 0, 0, 0),
    "Error Analysis of the Ground Truth": (1, 1, 0, 0),
}
"""Values that are reproduced, explained, unexplained and impossible."""


def statuses(exhibit):
    return tuple(count_statuses(exhibit.cells).values())


def find_cell(exhibit, row, column="claim"):
    (cell,) = (cell for cell in exhibit.cells if (cell.row, cell.column) == (row, column))
    return cell


@pytest.fixture(scope="module")
def outcome(shared):
    return reproduce_posthoc(str(shared))


@pytest.mark.shared
def test_the_printed_table_is_that_of_the_paper(shared):
    paper = (shared.parent / "papers" / "posthoc-verification.txt").read_text(encoding="utf-8")
    for dataset, cells in parse_rows(TABLE_1):
        assert len(cells) == len(TABLE_1_COLUMNS) == 10
        assert re.search(rf"{dataset} {' '.join(map(re.escape, cells))}\n", paper)


def test_the_log_differs_from_the_table_in_one_cell():
    differences = [
        (dataset, column, printed, logged)
        for (dataset, cells), (_, logged_cells) in zip(parse_rows(TABLE_1), parse_rows(LOGGED_TABLE_1), strict=True)
        for column, printed, logged in zip(TABLE_1_COLUMNS, cells, logged_cells, strict=True)
        if printed.removesuffix("*") != logged
    ]
    assert differences == [("CLUEWEB", "Annotations REL", "23114", "23113")]


def test_the_logged_counts_are_those_of_the_other_tests():
    assert figures.DATASETS == DATASETS
    outcomes = parse_groups(OUTCOMES, 3)
    for dataset in DATASETS:
        assert tuple(outcomes[dataset]) == TRIPLES[dataset]
        assert tuple(figures.count_shown(dataset, source) for source in SOURCES) == SHOWN[dataset]
        for source, rate in zip(SOURCES, RATES[dataset], strict=True):
            assert f"{figures.outcome_counts()[dataset, source].rate:.4f}".removeprefix("0") == rate
        for system, f1 in zip(SOURCES[1:], BEFORE_F1[dataset], strict=True):
            assert f"{figures.counts_before(dataset, system).f1:.3f}".removeprefix("0") == f1
        size, *scores = POSTHOC[dataset]
        for source, printed in zip(SOURCES, scores, strict=True):
            counts = figures.counts_after(dataset, source)
            assert counts.union == size
            assert tuple(f"{value:.3f}".removeprefix("0") for value in (counts.precision, counts.recall)) == printed


def test_scores_by_hand():
    """ACE2004: 184 of 1,352 links of E2E match the 256 of the ground truth; later 102 of 106, of a union of 273."""
    before = figures.counts_before("ACE2004", "E2E")
    assert (before, before.precision, before.recall) == ((184, 1352, 256), 184 / 1352, 184 / 256)
    assert figures.counts_after("ACE2004", "GT") == (102, 106, 273)


def test_a_score_that_does_not_fit_the_counts_is_unexplained(monkeypatch):
    monkeypatch.setattr(figures, "BEFORE", BEFORE.replace("0.136095 0.718750", "0.136095 0.728750"))
    figure = figures.build_figure_3()
    assert [(cell.row, cell.column) for cell in figure.cells if cell.status == "unexplained"] == [
        ("ACE2004, E2E", "precision before"),
        ("ACE2004, E2E", "recall before"),
    ]


def test_all_logged_intervals_are_of_90_percent():
    for (dataset, source), row in parse_after().items():
        counts = figures.counts_after(dataset, source)
        for _, bounds, whole in figures.list_bounds(row, counts):
            assert fits_level(bounds, counts.correct, whole, 0.9, 0.95)
            assert not fits_level(bounds, counts.correct, whole, 0.95, 0.9)
    level = find_cell(claims.build_results(), "confidence level of the error bars")
    assert (level.published, level.value, level.status) == ("95 %", "90 %", "explained")


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_the_ends_of_random_intervals_fit_their_level(confidence):
    """Intervals as the program of the paper makes them: sorted shares of 1,000 samples, cut at both ends."""
    rng = np.random.default_rng(3)
    tail = round(500 * (1 - confidence))
    for part, whole in ((102, 106), (1326, 1377), (3282, 5594)):
        sample = np.sort(rng.binomial(whole, part / whole, 1000)) / whole
        bounds = (float(sample[tail]), float(sample[1000 - tail]))
        assert is_plausible_interval(bounds, part, whole, confidence)
        assert fits_level(bounds, part, whole, confidence, 0.99)


def test_an_end_by_hand():
    """Of two annotations with one right, a quarter of the samples has none right, half of them one, a quarter two."""
    assert is_plausible_end(0.0, 1, 2, 100)
    assert not is_plausible_end(0.0, 1, 2, 400)
    assert is_plausible_end(0.5, 1, 2, 400)
    assert is_plausible_end(1.0, 1, 2, 900)
    assert is_plausible_end(1.0, 2, 2, 0)  # all samples are the same
    assert not is_plausible_end(0.5, 2, 2, 0)


def test_claims_follow_from_the_counts():
    contributions = claims.build_contributions()
    missing = find_cell(contributions, "verified links that are missing from the ground truth")
    assert (missing.value, missing.status) == ("9.4 % to 65.7 %", "reproduced")
    results = claims.build_results()
    rel = find_cell(results, "verification rate of REL above that of the ground truth")
    assert (rel.value, rel.explanation.value_if_changed, rel.status) == ("on 0 of 8", "on 1 of 8", "unexplained")
    both = find_cell(contributions, "verification rate of the EL models above that of the ground truth")
    assert (both.value, both.explanation.value_if_changed, both.status) == (
        "on 7 of 16",
        "on most datasets",  # 9 of 16 by the scores of Figure 3
        "explained",
    )
    consistent = find_cell(claims.build_error_analysis(), "E2E consistently outperforms the ground truth (Figure 4)")
    assert (consistent.value, consistent.explanation.value_if_changed) == ("on 7 of 8", "on all datasets")
    recall = find_cell(results, "recall of E2E and REL before verification, compared with after")
    assert recall.value == "lower on 13 of 16, not for E2E on AIDA-train, E2E on AIDA-A, E2E on AIDA-B"
    assert find_cell(results, "verification rate of E2E above that of the ground truth").value == "on 7 of 8"
    collection = claims.build_collection()
    assert find_cell(collection, "annotations in all").status == "reproduced"
    shown = find_cell(collection, "verified annotations in Table 1, in all")
    assert (shown.published, shown.value, shown.explanation.value_if_changed) == ("167,190", "146,938", "167,190")


def test_a_share_of_missing_links_that_does_not_round_to_the_claim_is_unexplained(monkeypatch):
    monkeypatch.setattr(claims, "UNION_KINDS", UNION_KINDS.replace("557", "1557"))
    assert statuses(claims.build_contributions()) == (1, 2, 1, 0)


def test_outcomes_that_do_not_fit_the_files_of_judgements_are_unexplained(monkeypatch):
    monkeypatch.setattr(figures, "OUTCOMES", OUTCOMES.replace("239   8    2", "238   8    2"))
    figure = figures.build_figure_4()
    assert [(cell.row, cell.column) for cell in figure.cells if cell.status == "unexplained"] == [
        ("ACE2004, GT", "verify"),
        ("ACE2004, GT", "edit"),
        ("all", "verify"),
    ]


@pytest.mark.shared
def test_every_exhibit_has_its_outcomes(outcome):
    assert {exhibit.name: statuses(exhibit) for exhibit in outcome.exhibits} == STATUSES
    assert outcome.statuses == {"reproduced": 239, "explained": 58, "unexplained": 1, "impossible": 8}


@pytest.mark.shared
def test_counts_of_datasets_are_made_from_their_files(outcome):
    table = next(exhibit for exhibit in outcome.exhibits if exhibit.name == "Table 1")
    values = {(cell.row, cell.column): cell.value for cell in table.cells}
    assert [values[name, "Docs"] for name in ("AIDA-B", "ACE2004", "MSNBC")] == ["231", "57", "20"]
    assert [values[name, "Annotations GT"] for name in ("AIDA-B", "ACE2004", "AQUAINT")] == ["4485", "257", "727"]
    slip = find_cell(table, "CLUEWEB", "Annotations REL")
    assert (slip.published, slip.value, slip.status) == ("23114", "23113", "explained")
    assert "167,432 of the text, and with the printed cell to 167,433" in slip.explanation.text
    edition = find_cell(table, "CLUEWEB", "Annotations GT")
    assert edition.explanation.missing_file == "wned-datasets/clueweb"


@pytest.mark.shared
def test_figures_have_all_sources_and_intervals(outcome):
    figure_3 = next(exhibit for exhibit in outcome.exhibits if exhibit.name == "Figure 3")
    assert [len(plot.series) for plot in figure_3.plots] == [2, 3, 2, 3]
    points = [point for plot in figure_3.plots for series in plot.series for point in series.points]
    assert len(points) == 80
    assert all(point.interval.low < point.y < point.interval.high for point in points)
    figure_4 = next(exhibit for exhibit in outcome.exhibits if exhibit.name == "Figure 4")
    assert [plot.title for plot in figure_4.plots] == ["Verified links", "Modified links", "Removed links"]
    shares = [[series.points[0].y for series in plot.series] for plot in figure_4.plots]
    assert np.sum(shares, axis=0) == pytest.approx([100, 100, 100])


@pytest.mark.shared
def test_a_file_that_is_missing_is_named(shared, tmp_path):
    (tmp_path / "bat").mkdir()
    (tmp_path / "bat" / "AQUAINT").symlink_to(shared / "bat" / "AQUAINT")
    outcome = reproduce_posthoc(str(tmp_path))
    table = next(exhibit for exhibit in outcome.exhibits if exhibit.name == "Table 1")
    assert statuses(table) == (65, 1, 0, 14)
    cell = find_cell(table, "MSNBC", "Docs")
    assert (cell.value, cell.explanation.missing_file) == (None, "formats/wned/msnbc")


def test_a_folder_without_the_files(tmp_path):
    with pytest.raises(InputError, match=r"bat/AQUAINT"):
        reproduce_posthoc(str(tmp_path))


@pytest.mark.shared
def test_the_command_lines_exist(outcome):
    for exhibit in outcome.exhibits:
        for line in exhibit.command.splitlines():
            program, name, *_ = line.split()
            assert program == "karat"
            assert name in COMMANDS


def test_a_dataset_of_another_size_is_unexplained_unless_its_edition_differs():
    cells = [
        dataset_counts._check_dataset(None, dataset, "Docs", published, value)
        for dataset, published, value in (("MSNBC", "20", "19"), ("MSNBC", "20*", "20"), ("CLUEWEB", "320", "319"))
    ]
    assert [cell.status for cell in cells] == ["unexplained", "reproduced", "explained"]


@pytest.mark.shared
@pytest.mark.extras  # the pictures
def test_the_page_is_what_the_suite_computes(outcome):
    check_pages("posthoc-2021", outcome)
