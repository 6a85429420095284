"""Agreement of the categoriser with the three hand-categorised sets: the tables of docs/measurements/categoriser.md.

`python bench/categoriser.py [--spacy MODEL]` prints the tables, `--write` inserts them into the page, and `--check`
reports a stale page. Without --spacy only the rules are measured, and --write leaves the tables of a model unchanged.
The sets are searched in ../shared, or in KARAT_SHARED.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from pathlib import Path

import karat
from karat.data.categoriser.categorise import get_tagger
from karat.data.categoriser.confusion import Confusion, compare_categories
from karat.model.finegrained_scheme import DIMENSIONS, get_title

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "measurements" / "categoriser.md"
SETS = {"ACE2004": "ACE04", "VoxEL": "VoxEL", "KORE50": "KORE50"}
Confusions = dict[str, dict[str, Confusion]]
"""The confusion of assigned categories with those by hand, by set and dimension."""


def format_table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table whose columns after the first are aligned to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def measure_agreement(tagger: str) -> Confusions:
    """Categorise the three sets with a tagger; return the confusions by set and dimension, and those of `all` sets."""
    folder = Path(os.environ.get("KARAT_SHARED", ROOT.parent / "shared")) / "data" / "finegrained" / "gold"
    tagging = get_tagger(tagger)
    results = {
        name: compare_categories(karat.load(folder / f"categorized{file}.ttl"), tagger=tagging)
        for name, file in SETS.items()
    }
    return {
        **results,
        "all": {name: merge_confusions([result[name] for result in results.values()]) for name in DIMENSIONS},
    }


def merge_confusions(confusions: list[Confusion]) -> Confusion:
    """Return the sum of confusions of one dimension."""
    confusion: Counter[tuple[str, str | None]] = Counter()
    for item in confusions:
        confusion.update(item.confusion)
    return Confusion(confusions[0].dimension, confusion, sum(item.unclear for item in confusions))


def format_percent(value: float | None) -> str:
    """Return a share as a percentage, or a dash for None."""
    return "–" if value is None else f"{value:.1%}"


def most_frequent_accuracy(confusion: Confusion) -> float:
    """Return the accuracy of assigning the leaf that is most frequent by hand to every label."""
    by_hand: Counter[str] = Counter()
    for (gold, _), count in confusion.confusion.items():
        by_hand[gold] += count
    return max(by_hand.values()) / confusion.total


def format_rules_tables(results: Confusions) -> str:
    """Return Markdown: a table of accuracies by set, and a confusion matrix of each dimension over the three sets."""
    rows = []
    for name, dimension in DIMENSIONS.items():
        confusions = [result[name] for result in results.values()]
        rows.append([dimension.title, *(format_percent(item.accuracy) for item in confusions)])
        if any(item.undecided for item in confusions):
            rows.append(["– undecided", *(format_percent(item.undecided / item.total) for item in confusions)])
            rows.append(
                ["– right of those decided", *(format_percent(item.accuracy_of_decided) for item in confusions)]
            )
        rows.append(
            ["– always the most frequent leaf", *(format_percent(most_frequent_accuracy(item)) for item in confusions)]
        )
    return "\n\n".join(
        [format_table(["dimension", *results], rows), *(format_confusion(results["all"][name]) for name in DIMENSIONS)]
    )


def format_confusion(confusion: Confusion) -> str:
    """Return a confusion matrix as Markdown: leaves by hand in rows, assigned leaves in columns."""
    leaves = DIMENSIONS[confusion.dimension].leaves
    columns = [*leaves, *([None] if confusion.undecided else [])]
    head = [f"{DIMENSIONS[confusion.dimension].title}: by hand ↓, assigned →", *map(format_leaf, columns)]
    return format_table(
        head, [[get_title(leaf), *(str(confusion.confusion[leaf, other]) for other in columns)] for leaf in leaves]
    )


def format_leaf(leaf: str | None) -> str:
    """Return a leaf such as `form:Alias` without its dimension; None is `undecided`."""
    return "undecided" if leaf is None else leaf.partition(":")[2]


def format_spacy_tables(results: Confusions, tagger: str) -> str:
    """Return Markdown: accuracy and confusion matrix of the part of speech with a spaCy model named `tagger`."""
    confusions = [result["pos"] for result in results.values()]
    head = [tagger, *results]
    rows = [["Part of Speech", *(format_percent(item.accuracy) for item in confusions)]]
    return f"{format_table(head, rows)}\n\n{format_confusion(confusions[-1])}"


def main() -> None:
    """Measure, then print the tables, write them into the page, or check the page, as the command line requests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spacy", metavar="MODEL")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    blocks = {"rules": format_rules_tables(measure_agreement("rules"))}
    if options.spacy:
        name = get_tagger(f"spacy:{options.spacy}").name
        blocks["spacy"] = format_spacy_tables(measure_agreement(f"spacy:{options.spacy}"), name)
    page = PAGE.read_text(encoding="utf-8")
    fresh = page
    for name, block in blocks.items():
        begin, end = f"<!-- measured: {name} -->\n", "<!-- measured end -->"
        fresh = re.sub(f"({begin}).*?({end})", lambda m, b=block: f"{m[1]}\n{b}\n\n{m[2]}", fresh, flags=re.DOTALL)
    if options.check:
        if fresh != page:
            print(f"stale: {PAGE.relative_to(ROOT)}; run `python bench/categoriser.py --write`")
        sys.exit(fresh != page)
    if options.write:
        PAGE.write_text(fresh, encoding="utf-8")
    else:
        print("\n\n".join(blocks.values()))


if __name__ == "__main__":
    main()
