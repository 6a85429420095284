"""The fine-grained paper's questionnaire: which share of 36 authors of papers on entity linking would annotate what.

Ratios are those of its Figure 2, and of its Table 1 where several links were offered. The categories of the mentions
are not printed there; they follow the paper's text and the habits of its datasets.
"""

from __future__ import annotations

from typing import NamedTuple


class Rated(NamedTuple):
    """A mention with the link it was offered with, where there were several; its categories; the share in favour."""

    mention: str
    categories: frozenset[str]
    ratio: float


def _rated(mention: str, leaves: str, ratio: float) -> Rated:
    dimensions = ("form", "pos", "overlap", "reference")
    return Rated(mention, frozenset(map(":".join, zip(dimensions, leaves.split(), strict=True))), ratio)


RATED = (
    _rated("interview", "CommonForm NounSingular None Direct", 0.19),
    _rated("Martin Bashir", "Full NounSingular None Direct", 1.0),
    _rated("2003", "NumericTemporal NounSingular None Direct", 0.28),
    _rated("documentary", "CommonForm NounSingular None Direct", 0.28),
    _rated("Living with Michael Jackson", "Full NounSingular Maximal Direct", 0.97),
    _rated("Michael Jackson", "Full NounSingular Minimal Direct", 0.75),
    _rated("King", "CommonForm NounSingular Minimal Metaphoric", 0.08),
    _rated("Pop", "CommonForm NounSingular Minimal Direct", 0.33),
    _rated("King of Pop", "Alias NounSingular Maximal Direct", 0.94),
    _rated("recalled", "CommonForm Verb None Direct", 0.06),
    _rated("Joe", "Short NounSingular None Direct", 1.0),
    _rated("sat", "CommonForm Verb None Direct", 0.08),
    _rated("white", "CommonForm Adjective None Direct", 0.11),
    _rated("belt", "CommonForm NounSingular None Direct", 0.14),
    _rated("hand", "CommonForm NounSingular None Direct", 0.14),
    _rated("he", "ProForm NounSingular Minimal Anaphoric", 0.56),
    _rated("his", "ProForm Adjective Minimal Anaphoric", 0.39),
    _rated("four", "NumericTemporal NounPlural Minimal Direct", 0.08),
    _rated("siblings", "CommonForm NounPlural Minimal Direct", 0.14),
    _rated("he and his four siblings", "CommonForm NounPlural Maximal Descriptive", 0.50),
    _rated("rehearsed", "CommonForm Verb None Direct", 0.08),
    _rated("Russian: Russia", "Full Adjective None Direct", 0.61),
    _rated("Russian: Russians", "Full Adjective None Direct", 0.11),
    _rated("Russian: Russian language", "Short Adjective None Direct", 0.08),
    _rated("daily", "CommonForm NounSingular None Related", 0.14),
    _rated("Kommersant", "Full NounSingular None Direct", 0.97),
    _rated("reports", "CommonForm Verb None Direct", 0.06),
    _rated("Moscow: Government of Russia", "Alias NounSingular None Metonymic", 0.77),
    _rated("Moscow: Moscow", "Full NounSingular None Related", 0.36),
    _rated("supply", "CommonForm Verb None Direct", 0.06),
    _rated("Greeks: Greece", "Full NounPlural None Direct", 0.77),
    _rated("Greeks: Greeks", "Full NounPlural None Direct", 0.36),
    _rated("gas", "CommonForm NounSingular None Direct", 0.36),
    _rated("rock", "CommonForm NounSingular Minimal Metaphoric", 0.0),
    _rated("prices", "CommonForm NounPlural Minimal Direct", 0.19),
    _rated("rock bottom prices", "CommonForm NounPlural Maximal Related", 0.28),
    _rated("Tsipras", "Short NounSingular None Direct", 0.92),
    _rated("prepares", "CommonForm Verb None Direct", 0.03),
    _rated("meet", "CommonForm Verb None Direct", 0.06),
    _rated("Russian (President): Russia", "Full Adjective Minimal Direct", 0.42),
    _rated("Russian (President): Russians", "Full Adjective Minimal Direct", 0.19),
    _rated("President", "Full NounSingular Minimal Direct", 0.12),
    _rated("Russian President: Vladimir Putin", "CommonForm NounSingular Maximal Descriptive", 0.77),
    _rated("Russian President: President of Russia", "Alias NounSingular Maximal Direct", 0.61),
)
