"""Evaluate files of linked articles as ELEVANT does: `python bench/elevant.py REPEAT FILE…` prints a line for each.

Processor time, since that is how ELEVANT's own evaluator was measured. A text is tokenised once, and apart; what is
repeated, and of which the best is taken, is everything between loaded files and ELEVANT's own layout of all figures.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import karat
from karat.data.load import load_both
from karat.facts import words
from karat.kb.folder import read_kb
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.registry import get
from karat.reports.elevant.layout import layout
from karat.spec.report import Report
from shared import Evaluated

_FORMAT = "elevant-linked"


def evaluated(path: Path, kb: KB, repeat: int) -> Evaluated:
    """What one file takes."""
    begin = time.process_time()
    corpus, [run] = load_both(str(path), [str(path)], gold_format=_FORMAT, answers_format=_FORMAT)
    loaded = time.process_time()
    words.counts(texts(corpus))
    tokenised = time.process_time()
    taken = []
    for _ in range(repeat):
        before = time.process_time()
        figures(corpus, run, kb)
        taken.append(time.process_time() - before)
    items = len(corpus.labels) + len(run.answers)
    return Evaluated(path.name, len(corpus), items, loaded - begin, tokenised - loaded, taken[0], min(taken))


def figures(corpus: Corpus, run: Run, kb: KB) -> None:
    """All of ELEVANT's figures."""
    needs = get("reports", "elevant", Report)
    layout(karat.evaluate(corpus, run, like="elevant", kb=kb, measures=needs.measures, by=needs.by))


def texts(corpus: Corpus) -> list[str]:
    """What is evaluated of each document, the only part in which words are counted."""
    whole: list[str] = corpus.table.column("text").to_pylist()
    if "evaluation_span" not in corpus.table.column_names:
        return whole
    spans = corpus.table.column("evaluation_span").to_pylist()
    return [text if span is None else text[slice(*span)] for text, span in zip(whole, spans, strict=True)]


def main() -> None:
    """Measure the files that the arguments name."""
    repeat, paths = int(sys.argv[1]), list(map(Path, sys.argv[2:]))
    kb = read_kb(str(paths[0].parents[2] / "kb"))
    words.counts(["What is lazy is imported"])
    figures(karat.load("demo"), karat.load_run("demo/noisy"), kb)
    for path in paths:
        print(json.dumps(evaluated(path, kb, repeat)), flush=True)


if __name__ == "__main__":
    main()
