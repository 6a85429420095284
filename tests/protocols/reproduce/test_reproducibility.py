"""Ratings of reproducibility in the words of the fair evaluation."""

from __future__ import annotations

import re

import pytest

from karat.protocols.papers.reproducibility import RATINGS, ResultGap, rate_reproducibility
from karat.protocols.suites.fair_2023.published_tables import STATED_GAPS
from karat.systems.claims.fair_2023 import TABLE_1
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("points", "word"),
    [
        ([], "problematic"),
        ([0.0], "very good"),
        ([1.0, -1.0, 30.0], "very good"),  # more than half are within one point
        ([1.0, 1.1], "mediocre"),  # half is not more than half
        ([None, 0.7], "mediocre"),
        ([10.0], "mediocre"),
        ([10.1, None], "poor"),
        ([-18.7], "poor"),
    ],
)
def test_the_first_rating_whose_condition_holds_applies(points, word):
    assert rate_reproducibility([ResultGap(value) for value in points]).word == word


def test_figures_that_are_not_those_of_the_paper_are_good_at_best():
    assert rate_reproducibility([ResultGap(0.1), ResultGap(0.1, is_from_paper=False)]).word == "good"
    assert rate_reproducibility([ResultGap(5.0, is_from_paper=False)]).word == "mediocre"


def test_the_thresholds_give_the_words_of_table_1():
    words = {system: rate_reproducibility(gaps).word for system, gaps in STATED_GAPS.items()}
    assert words == {system: cells[-1] for system, cells in TABLE_1.items() if system != "Baseline"}
    assert set(words.values()) == {rating.word for rating in RATINGS}


def test_the_documentation_lists_all_ratings():
    page = (ROOT / "docs" / "how-to" / "reproduce.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (very good|good|mediocre|poor|problematic) \| .+ \|$", page, re.MULTILINE)
    assert sorted(rows) == sorted(rating.word for rating in RATINGS)


def test_every_rating_states_its_condition():
    assert all(rating.description and not rating.description.endswith(".") for rating in RATINGS)
