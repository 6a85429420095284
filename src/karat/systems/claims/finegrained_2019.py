"""Table 3 of the fine-grained paper (Rosales-Méndez, Hogan and Poblete 2019) as printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from karat.model.finegrained_scheme import LEAVES, get_title
from karat.model.spec.system import Claim

_TITLE_WIDTH = 20
"""Width of a row's title; its cells follow."""

TABLE_3 = """\
                       |A| B_s            B_r            T              D              A              F
Full Mention           766 0.93 0.46 0.61 0.75 0.53 0.62 0.82 0.59 0.69 0.84 0.57 0.68 0.78 0.57 0.66 0.82 0.55 0.65
Short Mention          497 0.44 0.16 0.23 0.37 0.24 0.29 0.54 0.44 0.48 0.5  0.3  0.37 0.5  0.36 0.42 0.39 0.28 0.33
Extended Mention         9 1.0  0.56 0.71 0.83 0.56 0.67 1.0  0.44 0.62 1.0  0.44 0.62 1.0  0.44 0.62 0.8  0.44 0.57
Alias                  112 0.56 0.16 0.25 0.33 0.21 0.25 0.52 0.32 0.4  0.67 0.38 0.48 0.6  0.29 0.4  0.55 0.29 0.38
Numeric/Temporal       404 0.45 0.01 0.02 0.82 0.24 0.37 0.14 0.03 0.05 0    0.0  0.0  0    0.0  0.0  0    0.0  0.0
Common Form          2,452 0.21 0.0  0.01 0.66 0.33 0.44 0.49 0.28 0.35 0.88 0.04 0.08 0.43 0.0  0.0  0.56 0.0  0.01
Pro-form               153 0    0.0  0.0  0    0.0  0.0  0.0  0.0  0.0  0    0.0  0.0  0    0.0  0.0  0    0.0  0.0
Singular Noun        2,623 0.79 0.17 0.28 0.73 0.45 0.56 0.62 0.38 0.47 0.87 0.24 0.38 0.79 0.2  0.32 0.74 0.19 0.31
Plural Noun            746 0.33 0.01 0.02 0.61 0.33 0.43 0.56 0.28 0.37 0.83 0.03 0.06 0.7  0.03 0.07 0.66 0.04 0.07
Adjective              516 0.77 0.02 0.04 0.26 0.07 0.11 0.56 0.24 0.34 0.65 0.14 0.23 0.72 0.21 0.32 0.6  0.14 0.22
Verb                   334 0    0.0  0.0  0.86 0.02 0.04 0.37 0.17 0.23 1.0  0.0  0.01 0    0.0  0.0  0    0.0  0.0
Adverb                  12 0    0.0  0.0  0    0.0  0.0  0.56 0.42 0.48 0    0.0  0.0  0    0.0  0.0  0    0.0  0.0
Non-Overlapping      2,871 0.75 0.12 0.2  0.67 0.33 0.45 0.58 0.38 0.46 0.84 0.19 0.32 0.78 0.19 0.3  0.71 0.17 0.27
Maximal Overlap        464 0.87 0.17 0.29 0.85 0.36 0.5  0.73 0.34 0.46 0.89 0.19 0.32 0.84 0.08 0.15 0.84 0.12 0.22
Intermediate Overlap    71 0.76 0.18 0.3  0.71 0.52 0.6  0.57 0.3  0.39 0.56 0.13 0.21 0.54 0.1  0.17 0.78 0.1  0.17
Minimal Overlap        825 0.82 0.04 0.09 0.61 0.37 0.46 0.5  0.15 0.23 0.8  0.09 0.17 0.72 0.09 0.16 0.66 0.06 0.12
Direct               3,106 0.79 0.13 0.23 0.71 0.43 0.53 0.63 0.38 0.47 0.83 0.21 0.33 0.76 0.19 0.3  0.7  0.17 0.27
Anaphoric              153 0    0.0  0.0  0    0.0  0.0  0.0  0.0  0.0  0    0.0  0.0  0    0.0  0.0  0    0.0  0.0
Metaphoric              69 0.0  0.0  0.0  0.57 0.29 0.38 0.43 0.35 0.38 0.91 0.14 0.25 0    0.0  0.0  0    0.0  0.0
Metonymic               73 0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0  0.0
Related                829 0.64 0.06 0.11 0.36 0.14 0.2  0.39 0.24 0.3  0.76 0.1  0.18 0.81 0.08 0.15 0.83 0.09 0.16
Descriptive            189 0.33 0.01 0.01 0.44 0.02 0.04 0.16 0.02 0.03 0.6  0.02 0.03 0    0.0  0.0  0.6  0.02 0.03
All                  4,231 0.77 0.11 0.19 0.67 0.35 0.46 0.59 0.33 0.42 0.84 0.17 0.29 0.77 0.16 0.26 0.72 0.14 0.24
"""
"""Mentions, and precision, recall and F1 of six systems."""

NAMES: Final = {
    "B_s": "Babelfy (strict)",
    "B_r": "Babelfy (relaxed)",
    "T": "TagME",
    "D": "DBpedia Spotlight",
    "A": "AIDA",
    "F": "FREME",
}
"""The names of the systems in the paper's captions, by abbreviation."""

MEASURES: Final = {"P": "micro.p", "R": "micro.r", "F1": "micro.f1"}
"""The measures of the three columns of each system."""

_DATASETS: Final = ("kore50@rosales2019", "voxel@rosales2019", "ace2004@rosales2019")


def parse_rows(printed: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the title and the cells of each row of a `printed` table, without its header."""
    for line in printed.splitlines()[1:]:
        yield line[:_TITLE_WIDTH].strip(), line[_TITLE_WIDTH:].split()


def parse_header(printed: str) -> list[str]:
    """Return the titles of the columns of a `printed` table."""
    return printed.splitlines()[0].split()


def find_category(row: str) -> str | None:
    """Return the category with this row title in Table 3; None for the row of all mentions."""
    return next((leaf for leaf in LEAVES if get_title(leaf) == row), None)


def list_finegrained_claims(*systems: str) -> tuple[Claim, ...]:
    """Return the scores that Table 3 reports about a system, by the abbreviations of its variants there."""
    columns = [(system, short) for system in NAMES for short in MEASURES]
    return tuple(
        Claim(
            datasets=_DATASETS,
            is_pooled=True,
            measure=f"strong:{MEASURES[short]}{'' if category is None else f'@category={category}'}",
            value=float(text),
            is_fraction=True,
            decimals=2,
            is_detail=category is not None,
            source="Rosales-Méndez et al. 2019, Table 3",
            variant=NAMES[system],
            task="d2kb",
            profile="finegrained",
            settings={"empty": "zero"},  # the paper prints undefined scores as 0
        )
        for row, (_, *texts) in parse_rows(TABLE_3)
        for category in [find_category(row)]
        for (system, short), text in zip(columns, texts, strict=True)
        if system in systems
    )
