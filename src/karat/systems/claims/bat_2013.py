"""Tables 5 to 8, 10 and 11 of the BAT paper as printed, with columns separated by two or more spaces.

The name of a dataset stands in the first row of its block; in the paper it also has the mean length of the documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from karat.model.spec.system import Claim

_COLUMNS = re.compile(r" {2,}")

TABLE_5 = """
Annotator                       Best t  F1_mic  P_mic  R_mic
AIDA/CONLL, AIDA-Local          0.000   45.8    72.8   33.4
AIDA/CONLL, AIDA-CocktailParty  0.000   46.7    74.1   34.0
AIDA/CONLL, AIDA-PriorityOnly   0.000   39.8    63.3   29.1
AIDA/CONLL, DBPedia Spotlight   0.086   35.2    31.2   40.4
AIDA/CONLL, Illinois Wikifier   0.523   54.0    56.0   52.1
AIDA/CONLL, TagMe 2             0.258   58.3    61.4   55.5
AIDA/CONLL, Wikipedia Miner     0.570   49.7    46.9   52.8
AQUAINT, AIDA-Local             0.000   22.2    37.0   15.8
AQUAINT, AIDA-CocktailParty     0.000   21.2    35.4   15.1
AQUAINT, AIDA-PriorityOnly      0.000   22.0    36.8   15.7
AQUAINT, DBPedia Spotlight      0.078   27.6    20.1   44.0
AQUAINT, Illinois Wikifier      0.523   34.2    29.0   41.7
AQUAINT, TagMe 2                0.188   50.7    45.9   56.7
AQUAINT, Wikipedia Miner        0.570   47.2    37.8   62.9
MSNBC, AIDA-Local               0.000   47.2    74.3   34.6
MSNBC, AIDA-CocktailParty       0.000   47.4    74.6   34.8
MSNBC, AIDA-PriorityOnly        0.000   35.2    55.1   25.8
MSNBC, DBPedia Spotlight        0.070   33.5    31.8   35.2
MSNBC, Illinois Wikifier        0.477   40.8    34.1   50.9
MSNBC, TagMe 2                  0.188   51.6    48.5   55.0
MSNBC, Wikipedia Miner          0.758   46.0    54.9   39.5
"""

TABLE_6 = """
Annotator                       Best t  F1_mic  P_mic  R_mic
AIDA/CONLL, AIDA-Local          0.000   45.6    72.4   33.2
AIDA/CONLL, AIDA-CocktailParty  0.000   46.4    73.7   33.9
AIDA/CONLL, AIDA-PriorityOnly   0.000   39.6    62.9   28.9
AIDA/CONLL, DBPedia Spotlight   0.086   33.9    30.0   38.9
AIDA/CONLL, Illinois Wikifier   0.523   50.7    48.7   52.9
AIDA/CONLL, TagMe 2             0.289   56.7    62.1   52.1
AIDA/CONLL, Wikipedia Miner     0.586   46.0    40.1   53.9
"""

TABLE_7 = """
Annotator                       Best t  F1_mic  P_mic  R_mic
AIDA/CONLL, AIDA-Local          0.000   58.7    93.3   42.8
AIDA/CONLL, AIDA-CocktailParty  0.000   58.7    93.3   42.8
AIDA/CONLL, AIDA-PriorityOnly   0.000   58.7    93.3   42.8
AIDA/CONLL, DBPedia Spotlight   0.086   50.4    44.5   57.9
AIDA/CONLL, Illinois Wikifier   0.367   68.5    60.5   78.9
AIDA/CONLL, TagMe 2             0.203   74.6    72.1   77.3
AIDA/CONLL, Wikipedia Miner     0.477   70.0    63.1   78.7
"""

TABLE_8 = """
Annotator                       Best t  F1_mic  P_mic  R_mic
AIDA/CONLL, AIDA-Local          0.000   55.3    77.6   43.0
AIDA/CONLL, AIDA-CocktailParty  0.000   55.7    79.8   42.7
AIDA/CONLL, AIDA-PriorityOnly   0.000   47.7    65.8   37.4
AIDA/CONLL, DBPedia Spotlight   0.117   35.9    37.6   34.4
AIDA/CONLL, Illinois Wikifier   0.523   56.6    53.5   60.2
AIDA/CONLL, TagMe 2             0.336   65.6    68.8   62.7
AIDA/CONLL, Wikipedia Miner     0.586   50.9    47.1   55.3
"""

TABLE_10 = """
Annotator                 Best t  F1_mic  P_mic  R_mic
Meij, AIDA-Local          0.000   23.6    53.0   15.1
Meij, AIDA-CocktailParty  0.000   23.0    51.7   14.8
Meij, AIDA-PriorityOnly   0.469   26.8    73.5   16.4
Meij, DBPedia Spotlight   0.102   33.1    29.7   37.4
Meij, Illinois Wikifier   0.406   41.7    51.0   35.3
Meij, TagMe 2             0.133   45.3    43.8   46.9
Meij, Wikipedia Miner     0.289   47.9    48.4   47.3
"""

TABLE_11 = """
Annotator                 Best t  F1_mic  P_mic  R_mic
IITB, AIDA-Local          0.000   7.7     66.3   4.1
IITB, AIDA-CocktailParty  0.000   7.6     65.7   4.1
IITB, AIDA-PriorityOnly   0.000   7.5     63.6   4.0
IITB, DBpedia Spotlight   0.023   48.0    46.2   50.0
IITB, Illinois Wikifier   0.438   44.3    58.0   35.9
IITB, TagMe 2             0.102   43.6    45.2   42.0
IITB, Wikipedia Miner     0.219   52.2    56.8   48.2
"""

SCORE_TABLES = {
    "Table 5": TABLE_5,
    "Table 6": TABLE_6,
    "Table 7": TABLE_7,
    "Table 8": TABLE_8,
    "Table 10": TABLE_10,
    "Table 11": TABLE_11,
}
"""The tables with thresholds and scores, by name."""

EMPTY = "–"
"""A place of Table 9 that the paper leaves blank."""

_MEASURES: Final = {"F1_mic": "micro.f1", "P_mic": "micro.p", "R_mic": "micro.r"}

RELATIONS: Final = {
    "Table 5": "weak",
    "Table 6": "strong",
    "Table 7": "mention-weak",
    "Table 8": "entity",
    "Table 10": "entity",
    "Table 11": "weak",
}
"""The match relation of each table."""

_DATASETS: Final = {
    "AIDA/CONLL": "aida@bat2013/testb",
    "AQUAINT": "aquaint@milne2008",
    "MSNBC": "msnbc@bat2013",
    "IITB": "iitb@bat2013",
    "Meij": "meij@bat2013",
}


def read_header(table: str) -> list[str]:
    """Return the columns of a printed table, without the column of row names."""
    return _COLUMNS.split(table.strip().splitlines()[0])[1:]


def read_cells(table: str) -> Iterator[tuple[str, str, str]]:
    """Yield row, column and printed text of each cell of a table, without blank places."""
    columns = read_header(table)
    for line in table.strip().splitlines()[1:]:
        row, *texts = _COLUMNS.split(line.strip())
        for column, text in zip(columns, texts, strict=True):
            if text != EMPTY:
                yield row, column, text


def read_numbers(table: str, column: str) -> dict[str, float]:
    """Return the numbers of a column of a printed table, by row."""
    return {row: float(text) for row, name, text in read_cells(table) if name == column}


def list_bat_claims(*names: str) -> tuple[Claim, ...]:
    """Return the scores that the tables report about a system, by the names of its variants there."""
    return tuple(
        Claim(
            datasets=(_DATASETS[dataset],),
            measure=f"{RELATIONS[table]}:{_MEASURES[column]}",
            value=float(text),
            source=f"Cornolti et al. 2013, {table}",
            variant=variant,
            task="c2kb" if dataset == "Meij" else "a2kb",
            profile="bat-paper",
        )
        for table, printed in SCORE_TABLES.items()
        for row, column, text in read_cells(printed)
        for dataset, _, variant in [row.partition(", ")]
        if variant in names and column in _MEASURES
    )


def list_quoted_claims() -> tuple[Claim, ...]:
    """Return the scores of AIDA for given mentions, from its own paper, that Section 6.1.1 quotes."""
    return tuple(
        Claim(
            datasets=(_DATASETS["AIDA/CONLL"],),
            measure=f"strong:{average}.p",
            value=value,
            is_fraction=True,
            decimals=3,
            source="Hoffart et al. 2011, quoted in Cornolti et al. 2013, Section 6.1.1",
            variant="AIDA",
            task="d2kb",
            profile="bat-paper",
            settings={"threshold": "none"},
        )
        for average, value in (("macro", 0.816), ("micro", 0.825))
    )
