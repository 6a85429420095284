"""`karat demo`."""

from __future__ import annotations

import click

from karat.cli.output import say, width

_SYSTEMS = ("graph", "graph[variant=local]", "tagme", "prior")
_NEXT = """
Try next:
  karat systems                                        linkers, and their needs
  karat systems stages graph                           which stage loses what
  karat run tagme graph --on demo --substitute popularity   runs of your own
  karat score demo demo --all                          every measure
  karat score demo demo --by types                     scores by entity type
  karat show demo demo --outcome wrong                 cases in their sentences
  karat score demo demo/noisy --verdicts cases.jsonl   every case behind them
  karat compare --gold demo demo                       who is better
  karat explain strong:micro.f1                        what a number means
  karat score gold.jsonl answers.jsonl                 yours: docs/formats.md
"""


@click.command()
def command() -> None:
    """Run four linkers on the built-in benchmark and compare them.

    They know the starter pack, which has no counts: the popularity of entities stands in for them.
    """
    from karat.cli.score import show
    from karat.comparison.asking import compare
    from karat.data.load import load
    from karat.evaluation.evaluation import evaluate
    from karat.linking.named import link
    from karat.pages.comparison import page

    corpus = load("demo")
    runs = [link(name, corpus, substitute="popularity") for name in _SYSTEMS]
    show([evaluate(corpus, run) for run in runs])
    say("\n" + page(compare(runs, gold=corpus), None, details=False, width=width()), nl=False)
    say(_NEXT, nl=False)
