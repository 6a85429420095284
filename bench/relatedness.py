"""Agreement of link-based relatedness with people: its correlation on published pairs of Wikipedia titles.

    python bench/relatedness.py wikipediaSimilarity353.csv wikipediaSimilarity411.csv [--kb NAME]

Pairs of a title with itself are excluded, and so are pairs that the snapshot does not cover.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from karat.kb.catalogue import open_snapshot
from karat.kb.relatedness import InLinks


def main() -> None:
    """Print a line for each file: number of pairs, number of covered pairs, and Pearson correlation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--kb", default="starter")
    options = parser.parse_args()
    snapshot = open_snapshot(options.kb)
    print(f"{snapshot.name}@{snapshot.digest}")
    print("file  pairs  covered  correlation")
    for path in options.files:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["titleA"] != row["titleB"]]
        first_ids, second_ids = (
            snapshot.canonical_ids([f"enwiki:{row[title]}" for row in rows]) for title in ("titleA", "titleB")
        )
        relatedness = InLinks.from_snapshot(snapshot, [*first_ids, *second_ids]).relatedness(first_ids, second_ids)
        covered = ~np.isnan(relatedness)
        people = np.array([float(row["relatedness"]) for row in rows])
        correlation = np.corrcoef(relatedness[covered], people[covered])[0, 1]
        print(f"{path.stem}  {len(rows)}  {covered.sum()}  {correlation:.3f}")


if __name__ == "__main__":
    main()
