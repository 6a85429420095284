"""How relatedness by links agrees with people: its correlation on published pairs of Wikipedia's titles.

    python bench/relatedness.py wikipediaSimilarity353.csv wikipediaSimilarity411.csv [--kb NAME]

Pairs of one title with itself are left out, and so are those of which the pack cannot say how related they are.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from karat.kb.opened import open_pack
from karat.kb.relatedness import InLinks


def main() -> None:
    """Print a line for each file: pairs, those covered, and the correlation (Pearson)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--kb", default="starter")
    given = parser.parse_args()
    pack = open_pack(given.kb)
    print(f"{pack.name}@{pack.digest}")
    print("file  pairs  covered  correlation")
    for path in given.files:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["titleA"] != row["titleB"]]
        one, other = (pack.canonical([f"enwiki:{row[title]}" for row in rows]) for title in ("titleA", "titleB"))
        found = InLinks.about(pack, [*one, *other]).relatedness(one, other)
        covered = ~np.isnan(found)
        people = np.array([float(row["relatedness"]) for row in rows])
        correlation = np.corrcoef(found[covered], people[covered])[0, 1]
        print(f"{path.stem}  {len(rows)}  {covered.sum()}  {correlation:.3f}")


if __name__ == "__main__":
    main()
