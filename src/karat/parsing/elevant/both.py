"""Gold labels and what a linker marked, of articles that hold both, read once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.parsing.elevant.answers import ElevantAnswers
from karat.parsing.elevant.articles import articles, names_of
from karat.parsing.elevant.gold import ElevantGold
from karat.spec.format import Bytes


def read_both(source: Bytes) -> tuple[Corpus, Run]:
    """What `elevant_gold.read_corpus` and `elevant_answers.read_run` give."""
    skipped: Counter[str] = Counter()
    gold, answers = ElevantGold(source), ElevantAnswers(source)
    for block in articles(source, skipped):
        gold.add(block)
        answers.add(block)
    names = names_of(source)
    run = replace(answers.run(names.linker, skipped), texts=None)  # they are the gold standard's own
    return gold.corpus(names.benchmark, skipped), run
