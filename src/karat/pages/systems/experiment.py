"""An experiment in the shape of BAT's tables 5 to 12: best thresholds and scores, likeness of systems, and times."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from karat.comparison.similarity import Similarity, similarity
from karat.pages.tables import aligned
from karat.running.experiment import Experiment, Performed
from karat.signing import short


def experiment_page(experiment: Experiment, done: Sequence[Performed], width: int | None = None) -> str:
    """A table for each relation, one for the likeness of systems where it is asked for, and one of times."""
    head = [f"{experiment.title}\n{'=' * len(experiment.title)}"] if experiment.title else []
    blocks = [*head, *(_scores(view, done, width) for view in _views(done)), *_likeness(experiment, done, width)]
    return "\n\n".join([*blocks, _times(experiment, done, width), *_signatures(done)]) + "\n"


def _views(done: Sequence[Performed]) -> list[str]:
    """What scores are of: each relation as a whole."""
    ending = ":micro.f1"
    shown = dict.fromkeys(
        name for one in done for name in one.result.shown if name.endswith(ending) and "[" not in name
    )
    return [name.removesuffix(ending) for name in shown]


def _scores(view: str, done: Sequence[Performed], width: int | None) -> str:
    """As BAT's tables 5 to 8, 10 and 11: dataset, system, threshold, micro F1, precision and recall."""
    rows: list[Sequence[str]] = [["dataset", "system", "t", "F1 micro", "P micro", "R micro"]]
    for one in done:
        result, first = one.result, rows[-1][0] == "dataset" or _label(one) not in [row[0] for row in rows]
        threshold = result.thresholds.get(view)
        scores = [result[f"{view}:micro.{name}"] if _has(one, view, name) else None for name in ("f1", "p", "r")]
        cut = "–" if threshold is None else f"{threshold:.3f}"
        shown = ["–" if score is None else f"{100 * score:.1f}" for score in scores]
        rows.append([_label(one) if first else "", one.ran.system, cut, *shown])
    return f"{view}, in percent\n{aligned(rows, (0, 1), width)}"


def _has(one: Performed, view: str, name: str) -> bool:
    return f"{view}:micro.{name}" in one.result.measures


def _label(one: Performed) -> str:
    lengths = [len(text) for text in one.corpus.table.column("text").to_pylist()]
    return f"{one.corpus.name} ({sum(lengths) / max(1, len(lengths)):.0f} characters on average)"


def _likeness(experiment: Experiment, done: Sequence[Performed], width: int | None) -> list[str]:
    """As BAT's table 9: the macro likeness of all pairs, above each system's threshold."""
    blocks = []
    for dataset in experiment.datasets if experiment.similarity else ():
        own = [one for one in done if one.dataset == dataset]
        if len(own) < 2:
            continue
        found = similarity(
            own[0].corpus,
            [one.ran.run for one in own],
            match=",".join(experiment.similarity),
            like=experiment.like,
            best=experiment.threshold if (experiment.threshold or "").startswith("oracle") else None,
        )
        blocks += [_matrix(found, relation, own[0].corpus.name, width) for relation in experiment.similarity]
    return blocks


def _matrix(found: Similarity, relation: str, corpus: str, width: int | None) -> str:
    shares = {frozenset((pair.one, pair.two)): pair.macro.value for pair in found.likeness if pair.relation == relation}
    names = list(dict.fromkeys(name for one, two in combinations(found.runs, 2) for name in (one, two)))
    rows = [["", *names]]
    for one in names:
        cells = ["100.0" if one == two else _percent(shares.get(frozenset((one, two)))) for two in names]
        rows.append([one, *cells])
    return f"likeness by {relation} on {corpus}, macro, in percent\n{aligned(rows, (0,), width)}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _times(experiment: Experiment, done: Sequence[Performed], width: int | None) -> str:
    """As BAT's table 12: the mean milliseconds for a document, by system and dataset."""
    systems = list(dict.fromkeys(one.ran.system for one in done))
    corpora = list(dict.fromkeys(one.corpus.name for one in done))
    found = {(one.ran.system, one.corpus.name): one.ran.times for one in done}
    rows = [["ms per document", *corpora]]
    for system in systems:
        times = [found.get((system, corpus)) for corpus in corpora]
        rows.append([system, *("–" if time is None else f"{1000 * time.mean:,.4g}" for time in times)])
    return str(aligned(rows, (0,), width))


def _signatures(done: Sequence[Performed]) -> list[str]:
    return ["\n".join(dict.fromkeys(str(short(one.result.signature)) for one in done))]
