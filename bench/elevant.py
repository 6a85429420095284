"""Evaluation of linked articles as ELEVANT does it: `python bench/elevant.py REPEAT FILE…` prints a line for each file.

Times are processor times, as in the measurement of ELEVANT's own evaluator. Each text is tokenised once, and this is
timed separately. The repeated part reaches from loaded files to ELEVANT's layout of all figures; the best counts.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import karat
from karat.data.load import load_gold_and_runs
from karat.kb.protocol import KB
from karat.kb.tsv_folder import load_tsv_folder
from karat.matching.facts import word_counts
from karat.model.corpus import Corpus
from karat.model.registry import get_plugin
from karat.model.run import Run
from karat.model.spec.report import Report
from karat.plugins.reports.elevant.layout import build_layout
from shared import EvaluationCost

_FORMAT = "elevant-linked"


def measure_file(path: Path, kb: KB, repeats: int) -> EvaluationCost:
    """Load and tokenise a file of linked articles, evaluate it `repeats` times, and return the processor seconds."""
    begin = time.process_time()
    corpus, [run] = load_gold_and_runs(str(path), [str(path)], gold_format=_FORMAT, predictions_format=_FORMAT)
    loaded = time.process_time()
    word_counts.count_words(evaluated_texts(corpus))
    tokenised = time.process_time()
    taken = []
    for _ in range(repeats):
        before = time.process_time()
        compute_figures(corpus, run, kb)
        taken.append(time.process_time() - before)
    items = len(corpus.labels) + len(run.predictions)
    return EvaluationCost(path.name, len(corpus), items, loaded - begin, tokenised - loaded, taken[0], min(taken))


def compute_figures(corpus: Corpus, run: Run, kb: KB) -> None:
    """Compute all of ELEVANT's figures in its layout, only to be timed."""
    needs = get_plugin("reports", "elevant", Report)
    build_layout(karat.evaluate(corpus, run, profile="elevant", kb=kb, measures=needs.measures, by=needs.facets))


def evaluated_texts(corpus: Corpus) -> list[str]:
    """Return the text of each document inside its evaluation span, where words are counted; the whole without span."""
    texts: list[str] = corpus.table.column("text").to_pylist()
    if "evaluation_span" not in corpus.table.column_names:
        return texts
    spans = corpus.table.column("evaluation_span").to_pylist()
    return [text if span is None else text[slice(*span)] for text, span in zip(texts, spans, strict=True)]


def main() -> None:
    """Measure the files that the command line names, and print the cost of each as a line of JSON."""
    repeats, paths = int(sys.argv[1]), list(map(Path, sys.argv[2:]))
    kb = load_tsv_folder(str(paths[0].parents[2] / "kb"))
    word_counts.count_words(["This call imports lazy modules"])
    compute_figures(karat.load("demo"), karat.load_run("demo/noisy"), kb)
    for path in paths:
        print(json.dumps(measure_file(path, kb, repeats)), flush=True)


if __name__ == "__main__":
    main()
