"""The official figures of two runs of HIPE-2022 beside Karat's under the profile `hipe`.

A figure is equal if it is the same number after rounding to the three digits of the official files. Of 480 figures
there are six in each of 80 rows: P, R, F1 and TP, FP, FN, or P, R, F1 and their standard deviations over documents.
The rows of @3 and @5 and of the relaxed files are those of @1 here, since neither run ranks links.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import pytest

import karat

pytestmark = pytest.mark.shared
GOLD = "HIPE-2022-v2.1-ajmc-test-en.tsv.gz"
RUNS = ("team2_bundle1_ajmc_en_1", "team2_bundle1_ajmc_en_2")
PARTS = ("nerc_coarse", "nel", "nel_relaxed")
VIEWS = {
    ("NE", "strict"): "rt2kb/hipe-nerc-strict",
    ("NE", "fuzzy"): "rt2kb/hipe-nerc-fuzzy",
    ("NEL", "strict"): "hipe-nel-strict",
    ("NEL", "fuzzy"): "hipe-nel-fuzzy",
}
KINDS = ("date", "loc", "pers", "scope", "work")
COUNTS = {"TP": "matched_predictions", "FP": "unmatched_predictions", "FN": "unmatched_gold"}


class Figure(NamedTuple):
    """An official number and the name it has there."""

    column: str
    regime: str
    aggregate: str
    label: str
    name: str
    value: float


def official(folder, run):
    for part in PARTS:
        head, *rows = (folder / f"{run}_{part}.scores.tsv").read_text(encoding="utf-8").splitlines()
        names = head.split("\t")
        for row in rows:
            cells = dict(zip(names, row.split("\t"), strict=False))
            column, *words = cells["Evaluation"].split("-")
            regime = "strict" if "strict" in words else "fuzzy"
            aggregate = "micro" if "micro" in words else "macro"
            for name in names[3:]:
                if cells.get(name):
                    yield Figure(column, regime, aggregate, cells["Label"], name, float(cells[name]))


def own(result, figure):
    """The number that Karat gives for a figure, None where it has no such number."""
    view = VIEWS[figure.column, figure.regime]
    group = figure.label.lower()
    if figure.name in COUNTS:
        counts = result.counts(view) if group == "all" else result.groups["types"][view][group].counts
        return getattr(counts, COUNTS[figure.name])
    short = figure.name.lower().replace("_std", "-sd")
    name = f"{view}:{figure.aggregate}.{short}"
    value = result[name if group == "all" else f"{name}@types={group}"]
    return None if value is None else round(value, 3)


def compared(folder, format=None):
    """How many figures are equal and how many there are, by column, regime and kind."""
    equal, there = Counter(), Counter()
    gold = karat.load(folder / GOLD, format=format)
    for name in RUNS:
        run = karat.load_run(folder / f"{name}.tsv.gz", corpus=gold, format=format)
        views = [view for key, view in VIEWS.items() if format is None or key[0] == "NEL"]
        shorts = [f"{aggregate}.{short}" for aggregate in ("micro", "macro") for short in ("p", "r", "f1")]
        shorts += [f"macro.{short}-sd" for short in ("p", "r", "f1")]
        groups = [f"@types={kind}" for kind in KINDS] if format is None else []
        measures = [f"{view}:{short}" for view in views for short in shorts]
        measures += [f"{name}{group}" for name in measures for group in groups if name.startswith("rt2kb/")]
        result = karat.evaluate(gold, run, profile="hipe", measures=measures)
        for figure in official(folder, name):
            if VIEWS[figure.column, figure.regime] in views:
                kind = "sd" if figure.name.endswith("_std") else figure.aggregate
                key = (figure.column, figure.regime, kind, "all" if figure.label == "ALL" else "by type")
                there[key] += 1
                equal[key] += own(result, figure) == figure.value
    return equal, there


def test_all_official_figures_are_equal(shared):
    equal, there = compared(shared / "formats" / "hipe")
    assert (equal.total(), there.total()) == (480, 480)


def test_the_official_figures_do_not_come_from_runs_of_equal_links(shared):
    """Read so, not one figure of NEL is equal: these files were made after the scorer had been mended."""
    equal, there = compared(shared / "formats" / "hipe", "hipe-runs")
    assert (equal.total(), there.total()) == (0, 192)
