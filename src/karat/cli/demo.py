"""`karat demo`."""

from __future__ import annotations

import click

from karat.cli.output import say

_NEXT = """
Try next:
  karat score demo demo --all                          all measures
  karat score demo demo --by types                     scores by entity type
  karat show demo demo --outcome wrong                 cases in their sentences
  karat score demo demo/noisy --verdicts cases.jsonl   every case behind them
  karat compare --gold demo demo                       who is better
  karat explain strong:micro.f1                        what a number means
  karat score gold.jsonl answers.jsonl                 yours: docs/formats.md
"""


@click.command()
def command() -> None:
    """Score the stored answers on the built-in benchmark and say what to try next."""
    from karat.cli.score import show
    from karat.data.load import load, load_run, stored_runs
    from karat.evaluation.evaluation import evaluate

    corpus = load("demo")
    show([evaluate(corpus, load_run(name)) for name in stored_runs("demo")])
    say(_NEXT, nl=False)
