"""Questionnaire of the fine-grained paper: which mentions 36 authors of entity linking papers would annotate.

The ratios are from Figure 2 of the paper, or from Table 1 for mentions with several links. The paper does not print
the categories of the mentions; they follow its text and the annotation practice of its datasets.
"""

from __future__ import annotations

from typing import NamedTuple


class QuestionnaireRating(NamedTuple):
    """A mention of the questionnaire with its categories and the share of authors who would annotate it."""

    mention: str
    """Text of the mention, followed by the link if several links were offered."""
    categories: frozenset[str]
    """Categories of the mention."""
    ratio: float
    """Share of the authors in favour."""


def _build_rating(mention: str, leaves: str, ratio: float) -> QuestionnaireRating:
    """Create a rating; `leaves` has the categories for form, part of speech, overlap and reference, in this order."""
    dimensions = ("form", "pos", "overlap", "reference")
    return QuestionnaireRating(mention, frozenset(map(":".join, zip(dimensions, leaves.split(), strict=True))), ratio)


RATINGS = (
    _build_rating("interview", "CommonForm NounSingular None Direct", 0.19),
    _build_rating("Martin Bashir", "Full NounSingular None Direct", 1.0),
    _build_rating("2003", "NumericTemporal NounSingular None Direct", 0.28),
    _build_rating("documentary", "CommonForm NounSingular None Direct", 0.28),
    _build_rating("Living with Michael Jackson", "Full NounSingular Maximal Direct", 0.97),
    _build_rating("Michael Jackson", "Full NounSingular Minimal Direct", 0.75),
    _build_rating("King", "CommonForm NounSingular Minimal Metaphoric", 0.08),
    _build_rating("Pop", "CommonForm NounSingular Minimal Direct", 0.33),
    _build_rating("King of Pop", "Alias NounSingular Maximal Direct", 0.94),
    _build_rating("recalled", "CommonForm Verb None Direct", 0.06),
    _build_rating("Joe", "Short NounSingular None Direct", 1.0),
    _build_rating("sat", "CommonForm Verb None Direct", 0.08),
    _build_rating("white", "CommonForm Adjective None Direct", 0.11),
    _build_rating("belt", "CommonForm NounSingular None Direct", 0.14),
    _build_rating("hand", "CommonForm NounSingular None Direct", 0.14),
    _build_rating("he", "ProForm NounSingular Minimal Anaphoric", 0.56),
    _build_rating("his", "ProForm Adjective Minimal Anaphoric", 0.39),
    _build_rating("four", "NumericTemporal NounPlural Minimal Direct", 0.08),
    _build_rating("siblings", "CommonForm NounPlural Minimal Direct", 0.14),
    _build_rating("he and his four siblings", "CommonForm NounPlural Maximal Descriptive", 0.50),
    _build_rating("rehearsed", "CommonForm Verb None Direct", 0.08),
    _build_rating("Russian: Russia", "Full Adjective None Direct", 0.61),
    _build_rating("Russian: Russians", "Full Adjective None Direct", 0.11),
    _build_rating("Russian: Russian language", "Short Adjective None Direct", 0.08),
    _build_rating("daily", "CommonForm NounSingular None Related", 0.14),
    _build_rating("Kommersant", "Full NounSingular None Direct", 0.97),
    _build_rating("reports", "CommonForm Verb None Direct", 0.06),
    _build_rating("Moscow: Government of Russia", "Alias NounSingular None Metonymic", 0.77),
    _build_rating("Moscow: Moscow", "Full NounSingular None Related", 0.36),
    _build_rating("supply", "CommonForm Verb None Direct", 0.06),
    _build_rating("Greeks: Greece", "Full NounPlural None Direct", 0.77),
    _build_rating("Greeks: Greeks", "Full NounPlural None Direct", 0.36),
    _build_rating("gas", "CommonForm NounSingular None Direct", 0.36),
    _build_rating("rock", "CommonForm NounSingular Minimal Metaphoric", 0.0),
    _build_rating("prices", "CommonForm NounPlural Minimal Direct", 0.19),
    _build_rating("rock bottom prices", "CommonForm NounPlural Maximal Related", 0.28),
    _build_rating("Tsipras", "Short NounSingular None Direct", 0.92),
    _build_rating("prepares", "CommonForm Verb None Direct", 0.03),
    _build_rating("meet", "CommonForm Verb None Direct", 0.06),
    _build_rating("Russian (President): Russia", "Full Adjective Minimal Direct", 0.42),
    _build_rating("Russian (President): Russians", "Full Adjective Minimal Direct", 0.19),
    _build_rating("President", "Full NounSingular Minimal Direct", 0.12),
    _build_rating("Russian President: Vladimir Putin", "CommonForm NounSingular Maximal Descriptive", 0.77),
    _build_rating("Russian President: President of Russia", "Alias NounSingular Maximal Direct", 0.61),
)
