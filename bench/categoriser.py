"""How often the categoriser agrees with the three hand-categorised sets: the tables of docs/fine-grained.md.

`python bench/categoriser.py [--spacy MODEL]` prints them, `--write` puts them into the page, and `--check` says
whether the page is stale. Without --spacy only what needs no model is measured, and --write keeps what the page says
about one. The sets are looked for in ../shared, or in KARAT_SHARED.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from pathlib import Path

import karat
from karat.categorise.categorise import tagger_named
from karat.categorise.compared import Confusion, agreements
from karat.model.scheme import DIMENSIONS, title_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "fine-grained.md"
SETS = {"ACE2004": "ACE04", "VoxEL": "VoxEL", "KORE50": "KORE50"}
Measured = dict[str, dict[str, Confusion]]


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def measure(tagger: str) -> Measured:
    """By set and dimension, and for the three sets together."""
    folder = Path(os.environ.get("KARAT_SHARED", ROOT.parent / "shared")) / "data" / "finegrained" / "gold"
    tagging = tagger_named(tagger)
    found = {
        name: agreements(karat.load(folder / f"categorized{file}.ttl"), tagger=tagging) for name, file in SETS.items()
    }
    return {**found, "all": {name: together([one[name] for one in found.values()]) for name in DIMENSIONS}}


def together(agreed: list[Confusion]) -> Confusion:
    confusion: Counter[tuple[str, str | None]] = Counter()
    for one in agreed:
        confusion.update(one.confusion)
    return Confusion(agreed[0].dimension, confusion, sum(one.unclear for one in agreed))


def percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def most_frequent(agreed: Confusion) -> float:
    """The accuracy of giving every label the same leaf, the best one for that set."""
    by_hand: Counter[str] = Counter()
    for (gold, _), count in agreed.confusion.items():
        by_hand[gold] += count
    return max(by_hand.values()) / agreed.total


def rules(found: Measured) -> str:
    """Accuracies, and a confusion matrix of each dimension over the three sets."""
    rows = []
    for name, dimension in DIMENSIONS.items():
        each = [one[name] for one in found.values()]
        rows.append([dimension.title, *(percent(one.accuracy) for one in each)])
        if any(one.undecided for one in each):
            rows.append(["– undecided", *(percent(one.undecided / one.total) for one in each)])
            rows.append(["– right of those decided", *(percent(one.accuracy_of_decided) for one in each)])
        rows.append(["– always the most frequent leaf", *(percent(most_frequent(one)) for one in each)])
    return "\n\n".join([table(["dimension", *found], rows), *(confusion(found["all"][name]) for name in DIMENSIONS)])


def confusion(agreed: Confusion) -> str:
    leaves = DIMENSIONS[agreed.dimension].leaves
    found = [*leaves, *([None] if agreed.undecided else [])]
    head = [f"{DIMENSIONS[agreed.dimension].title}: by hand ↓, assigned →", *map(short, found)]
    return table(head, [[title_of(leaf), *(str(agreed.confusion[leaf, other]) for other in found)] for leaf in leaves])


def short(leaf: str | None) -> str:
    return "undecided" if leaf is None else leaf.partition(":")[2]


def spacy(found: Measured, tagger: str) -> str:
    """The part of speech with a model."""
    each = [one["pos"] for one in found.values()]
    head = [tagger, *found]
    return f"{table(head, [['Part of Speech', *(percent(one.accuracy) for one in each)]])}\n\n{confusion(each[-1])}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spacy", metavar="MODEL")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    blocks = {"rules": rules(measure("rules"))}
    if options.spacy:
        name = tagger_named(f"spacy:{options.spacy}").name
        blocks["spacy"] = spacy(measure(f"spacy:{options.spacy}"), name)
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
