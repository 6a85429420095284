"""Reader of articles that hold both gold labels and predictions, in one pass."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from karat.formats.parsing.elevant.articles import parse_file_name, read_articles
from karat.formats.parsing.elevant.gold import ElevantGold
from karat.formats.parsing.elevant.predictions import ElevantPredictions
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.spec.format import ByteSource


def read_both(source: ByteSource) -> tuple[Corpus, Run]:
    """Read the corpus and the run of a file in one pass; both equal those read separately, but the run has no texts."""
    skipped: Counter[str] = Counter()
    gold, predictions = ElevantGold(source), ElevantPredictions(source)
    for block in read_articles(source, skipped):
        gold.add_block(block)
        predictions.add_block(block)
    names = parse_file_name(source)
    run = replace(predictions.build_run(names.linker, skipped), texts=None)  # the corpus already has them
    return gold.build_corpus(names.benchmark, skipped), run
