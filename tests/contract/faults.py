"""What is wrong with a measure or a format, in words: a plugin keeps its contract if there is nothing to say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

import karat
from karat import Answer, Corpus, Document, Label, Reply, Run
from karat.errors import KaratError
from karat.model.statistics import Statistics
from karat.spec.choices.empty import EMPTY
from karat.spec.format import Format
from karat.spec.measure import UNDEFINED, Measure
from karat.stats.ranking import Ranking
from karat.storage.files import Source

NOTHING_TO_FIND = "the document has nothing to find"
ROWS = Statistics(np.array(list(product((0.0, 1.0, 2.5), repeat=4))))
"""Matched and unmatched answers, matched and unmatched gold: everything that can be empty, is, beside all else."""

RANKING = Ranking(
    4,
    document=np.array([0, 0, 1, 3]),
    gain=np.array([0.0, 1.0, 0.0, 0.0]),
    gold_document=np.array([0, 1, 1]),
    gold_gain=np.array([1.0, 1.0, 2.0]),
)
"""One is found, two are missed; of the last two documents one has no answer either."""


def of_measure(measure: Measure) -> list[str]:
    """What a measure says and does not do."""
    found = [f"it has no {word}" for word in ("title", "formula", "undefined") if not getattr(measure, word)]
    ways = {"values": _values, "derive": _derived, "ranked": _ranked, "scored": _scored}
    given = [way for way in ways if getattr(measure, way) is not None]
    if len(given) != 1:
        return [*found, f"it is made in {len(given)} of four ways ({', '.join(ways)}), not in one"]
    return [*found, *ways[given[0]](measure)]


def _values(measure: Measure) -> Iterator[str]:
    lacking = measure.undefined_where or UNDEFINED.get(measure.undefined)
    if lacking is None:
        known = "; ".join(UNDEFINED)
        yield f"nobody can test {measure.undefined!r}: say it as one of {known}, or give undefined_where"
        return
    for rule, level, empty in ((name, *each) for name, own in EMPTY.items() for each in own.levels().items()):
        values = measure.values(ROWS, empty)
        if np.shape(values) != (len(ROWS),):
            yield f"{len(ROWS)} rows of statistics give values of shape {np.shape(values)}"
            return
        wrong = ~(np.isnan(values) | ((values >= 0) & (values <= 1)))
        if wrong.any():
            yield f"empty={rule}, {level}: {values[wrong][0]} is no share, of {_row(wrong)}"
    values, said = measure.values(ROWS, EMPTY["fair"].totals), lacking(ROWS)
    for mask, does in ((np.isnan(values) & ~said, "NaN where that is not so"), (~np.isnan(values) & said, "a value")):
        if mask.any():
            yield f"it says that it is undefined where {measure.undefined}, and gives {does}: of {_row(mask)}"


def _row(mask: np.ndarray) -> str:
    names = ("matched answers", "unmatched answers", "matched gold", "unmatched gold")
    return ", ".join(
        f"{name} {value:g}" for name, value in zip(names, ROWS.weights[np.argmax(mask)].tolist(), strict=True)
    )


def _ranked(measure: Measure) -> Iterator[str]:
    if measure.undefined != NOTHING_TO_FIND:
        yield f"nobody can test {measure.undefined!r} of ranked answers: say {NOTHING_TO_FIND!r}"
    values = measure.ranked(RANKING, None if measure.cutoff == "none" else 2)
    empty = RANKING.gold == 0
    if np.shape(values) != (4,):
        yield f"4 documents give values of shape {np.shape(values)}"
    elif (np.isnan(values) != empty).any():
        yield f"it says that it is undefined where {measure.undefined}, and gives {values.tolist()}: that is {empty}"


def _scored(measure: Measure) -> Iterator[str]:
    none = measure.scored(np.zeros(0), np.zeros(0))
    if none is not None:
        yield f"it says that it is undefined where {measure.undefined}, and gives {none} for no answer"
    for score, right in (([0.5], [1.0]), ([0.9, 0.2, 0.2], [0.0, 1.0, 0.5]), ([0.0, 1.0], [0.0, 0.0])):
        value = measure.scored(np.array(score), np.array(right))
        if value is None or not math.isfinite(value):
            yield f"it gives {value} for scores {score}, of which right are {right}, and not undefined"


def _derived(measure: Measure) -> Iterator[str]:
    for what, view in _views():
        value, _, reason = measure.derive(view)
        if value is not None and not math.isfinite(value):
            yield f"it gives {value} of {what}, which is no number: it is None with a reason"
        elif (value is None) != (reason is not None):
            yield f"it gives {value} of {what} with the reason {reason!r}: None has one, and nothing else has"


def _views():
    """Views of a strong match with detection, in which one side or another has nothing."""
    mentions = (Label(0, 3, "Q1"), Label(8, 11, "Q2"))
    right = (Answer(0, 3, "Q1"), Answer(8, 11, "Q3"))
    for what, labels, answers in (
        ("two mentions and answers", mentions, right),
        ("mentions without answers", mentions, ()),
        ("answers without mentions", (), right),
        ("nothing", (), ()),
    ):
        sides = Corpus.of([Document("d", "Ada met Bob.", labels)]), Run.of([Reply("d", answers)])
        result = karat.evaluate(*sides, measures=["strong:accuracy", "strong:micro.f1"])
        yield what, result.evaluation.views["strong"]


def of_format(known: Format, folder: Path) -> list[str]:
    """What a format says and does not do, as far as a sample shows; what it writes is tried elsewhere."""
    reads = known.read_corpus or known.read_run
    if known.sample is None:
        writes = known.write_corpus is not None or known.write_run is not None
        return [] if writes or reads is None else ["it has no sample of its own, so that nothing tries its reader"]
    if reads is None:
        return ["it has a sample and reads nothing"]
    for name, content in known.sample.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="")
    return list(_read(known, Source(str(folder / known.sample.given))))


def _read(known: Format, source: Source) -> Iterator[str]:
    sample = known.sample
    try:
        found = known.read_corpus(source, True) if known.read_corpus is not None else known.read_run(source)
    except KaratError as problem:
        yield f"it does not read its own sample: {problem}"
        return
    sides = found.labels if isinstance(found, Corpus) else found.answers
    counted, said = (len(found), len(sides)), (sample.documents, sample.mentions)
    if counted != said:
        yield f"its sample has {said} documents and mentions, as it says, and it reads {counted}"
    if not len(sides) and not any(document.tags for document in found):
        yield "its sample has nothing to score"
