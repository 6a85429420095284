"""Plain titles of measures."""

from __future__ import annotations

import pytest

from karat.model.profile_signatures import get_profile
from karat.model.registry import list_plugins
from karat.web.archive.measure_titles import describe_measure


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("strong[in-kb]:micro.f1", "Linking F1 (in-KB)"),
        ("strong:micro.p", "Linking precision"),
        ("strong[nil]:macro.r", "Linking macro recall (NIL)"),
        ("weak:micro.f1", "Linking F1 (overlapping spans)"),
        ("mention:micro.f1", "Detection F1"),
        ("strong:macro.f1-of-means", "Linking F1 of means"),
        ("strong[in-kb]:accuracy", "Disambiguation accuracy (in-KB)"),
        ("d2kb/strong[gold-in-kb]:micro.f1", "Linking F1 (gold in KB, disambiguation)"),
        ("strong:micro.r@types=PER", "Linking recall (types PER)"),
        ("entity:macro.p@5", "Document entity macro precision at 5"),
        ("strong_link_match:micro.f1", "strong_link_match F1"),
        ("related>=0.7:micro.f1", "Linking F1 (related entities)"),
        ("unheard-of:micro.unheard-of", "Unheard-of micro.unheard-of"),
        ("./mine.py:micro.f1", "./mine.py F1"),
        ("no measure", "no measure"),
    ],
)
def test_titles_are_plain(name, title):
    assert describe_measure(name) == title


@pytest.mark.parametrize("profile", list_plugins("profiles"))
def test_measures_of_a_profile_have_different_titles(profile):
    measures = get_profile(profile).measures
    assert len({describe_measure(name) for name in measures}) == len(measures)
