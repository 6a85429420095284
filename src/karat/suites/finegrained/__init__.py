"""Karat's figures beside those of the fine-grained paper: Tables 2 and 3, and the end points of Figure 5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from karat.curves.alpha import alpha_curve
from karat.data.load import load, load_run
from karat.data.pool import collide, pooled, pooled_run
from karat.evaluation.evaluation import evaluate
from karat.model.corpus import Corpus
from karat.model.result import Result
from karat.model.run import Run
from karat.model.scheme import LEAVES, title_of
from karat.spec.suite import Conformance, Discrepancy, Suite, summed
from karat.suites.finegrained.printed import FIGURE_5, TABLE_2, TABLE_3, TITLE

_GOLD = {"KORE50": "KORE50", "VoxEL": "VoxEL", "ACE2004": "ACE04"}
_SYSTEMS = {
    "B_s": "BABELFYs",
    "B_r": "BABELFYr",
    "T": "TAGME",
    "D": "DBpediaSpotlight",
    "A": "AIDA",
    "F": "FREMENER",
}
_READINGS = {"links as written": "nif-categorised-literal", "links decoded": "nif-categorised"}
"""What the authors read, and what Turtle says."""

_TYPES = ("Person", "Organisation", "Place", "Miscellany")
_PRF = {"P": "micro.p", "R": "micro.r", "F1": "micro.f1"}
_NIL = "the paper leaves out the 3 organisations that are NIL, though it counts NIL persons and places"
_TYPE = "the file has no type for Executive_director"
_ESCAPE = "an escape in a link of AIDA is decoded, as Turtle says, and then the link is right"
_WHY = {
    ("Table 2", "Organisation, ACE2004", "199", "202"): _NIL,
    ("Table 2", "Miscellany, ACE2004", "2352", "2351"): _TYPE,
    ("Table 3, links decoded", "Full Mention, A, P", "0.78", "0.79"): _ESCAPE,
}
"""Differences that are known, and their reasons."""


class _Figure(NamedTuple):
    """A printed figure and the one computed for it, both as printed."""

    name: str
    printed: str
    found: str


def conform_finegrained(path: str) -> Conformance:
    """Compare with a folder that has the gold standards in `gold` and the answers in `systems`, as published."""
    folder = Path(path)
    corpora = {name: load(folder / "gold" / f"categorized{file}.ttl") for name, file in _GOLD.items()}
    whole = pooled(list(corpora.values()))
    runs = {how: _runs(folder / "systems", format, list(corpora.values())) for how, format in _READINGS.items()}
    compared = {"Table 2": list(_table_2(corpora))}
    known: dict[str, Result] = {}  # answers without escapes in links are the same in both readings
    for how, own in runs.items():
        results = {}
        for system, run in own.items():
            if run.digest not in known:
                known[run.digest] = evaluate(whole, run, like="finegrained", by=["category"])
            results[system] = known[run.digest]
        if "Table 3, sizes" not in compared:
            compared["Table 3, sizes"] = list(_sizes(results))
        compared[f"Table 3, {how}"] = list(_table_3(results))
    compared["Figure 5"] = list(_figure_5(whole, runs["links as written"]))
    differences = tuple(
        Discrepancy("", table, figure.name, figure.found, figure.printed, _WHY.get((table, *figure)))
        for table, figures in compared.items()
        for figure in figures
        if figure.printed != figure.found
    )
    lost = Counter(difference.group for difference in differences)
    tables = {table: (len(figures), len(figures) - lost[table]) for table, figures in compared.items()}
    return Conformance(
        experiments=1, equal_experiments=int(not differences), groups=summed([tables]), differences=differences
    )


def _runs(folder: Path, format: str, corpora: Sequence[Corpus]) -> dict[str, Run]:
    """The answers of each system to all corpora; the files say ACE where the gold standard says ACE04."""
    return {
        system: pooled_run(
            [load_run(folder / f"{file}_{name.removesuffix('04')}.ttl", format=format) for name in _GOLD.values()],
            numbered=collide(corpora),
        )
        for system, file in _SYSTEMS.items()
    }


def _rows(printed: str) -> Iterator[tuple[str, list[str]]]:
    """The rows of a printed table below its head, each with its title and its cells."""
    for line in printed.splitlines()[1:]:
        yield line[:TITLE].strip(), line[TITLE:].replace(",", "").split()


def _table_2(corpora: Mapping[str, Corpus]) -> Iterator[_Figure]:
    counts = {name: _counted(corpus) for name, corpus in corpora.items()}
    columns = TABLE_2.splitlines()[0].split()
    for row, cells in _rows(TABLE_2):
        for name, printed in zip(columns, cells, strict=True):
            yield _Figure(f"{row}, {name}", printed, str(counts[name][row] or "–"))


def _counted(corpus: Corpus) -> dict[str, int]:
    labels = [label for document in corpus for label in document.labels]
    categories = Counter(category for label in labels for category in label.categories)
    types = Counter(kind for label in labels for kind in label.types)
    return {
        "Documents": len(corpus),
        "Sentences": sum(len(document.meta["sentences"].split()) for document in corpus),
        "Annotations": len(labels),
        **{title_of(leaf, counted=True): categories[leaf] for leaf in LEAVES},
        **{kind: types[kind] for kind in _TYPES},
    }


def _sizes(results: Mapping[str, Result]) -> Iterator[_Figure]:
    result = next(iter(results.values()))
    for row, cells in _rows(TABLE_3):
        leaf = _leaf(row)
        counts = result.counts("strong") if leaf is None else result.by["category"]["strong"][leaf].counts
        assert counts is not None, "parts of the data have counts"
        yield _Figure(row, cells[0], f"{counts.matched_gold + counts.unmatched_gold:.0f}")


def _table_3(results: Mapping[str, Result]) -> Iterator[_Figure]:
    for row, cells in _rows(TABLE_3):
        leaf = _leaf(row)
        printed = iter(cells[1:])
        for system, result in results.items():
            group = None if leaf is None else result.by["category"]["strong"][leaf]
            for name, short in _PRF.items():
                value = result[f"strong:{short}"] if group is None else group.measures[short]
                yield _Figure(f"{row}, {system}, {name}", next(printed), "0" if value is None else str(round(value, 2)))


def _leaf(row: str) -> str | None:
    """The category that a row of Table 3 is about; none where it is about all."""
    return next((leaf for leaf in LEAVES if title_of(leaf) == row), None)


def _figure_5(corpus: Corpus, runs: Mapping[str, Run]) -> Iterator[_Figure]:
    known = {}
    for row, cells in _rows(FIGURE_5):
        preset, alpha = row.split()
        for (system, run), printed in zip(runs.items(), cells, strict=True):
            if (preset, system) not in known:
                known[preset, system] = alpha_curve(corpus, run, preset=preset)
            value = known[preset, system].values("micro.f1", np.array([float(alpha)]))[0]
            yield _Figure(f"{preset}, alpha {alpha}, {system}", printed, f"{value:.3f}")


SUITE = Suite(
    title="The fine-grained paper",
    says="What the paper prints: Tables 2 and 3, and the end points of Figure 5. PATH is a folder with its datasets in "
    "gold and the answers that it evaluates in systems.",
    run=lambda path, _: conform_finegrained(path),
    expected="printed",
)
