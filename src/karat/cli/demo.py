"""`karat demo`."""

from __future__ import annotations

from karat.cli.options.declaration import karat_command
from karat.cli.output import echo, page_width, print_tables

_SYSTEMS = {
    "light": "light",
    "popular": "popular",
    "tagme": "tagme",
    "tagme+light": "pipeline:tagme+popular+light",
}
_NEXT_STEPS = """
Try next:
  karat systems                                        list systems
  karat systems stages light                           find the weakest stage
  karat run tagme light --on demo --substitute popularity   run systems
  karat score demo demo --all                          show every measure
  karat score demo demo --by types                     score by entity type
  karat show demo demo --outcome wrong                 show errors in context
  karat score demo demo/noisy --verdicts cases.jsonl   write every case
  karat compare --gold demo demo                       test differences
  karat explain strong:micro.f1                        explain a measure
  karat score gold.jsonl predictions.jsonl             score your own files
"""


@karat_command()
def command() -> None:
    """Run four systems on the built-in dataset and compare them.

    `light` is learned, `popular` ignores the context, in `tagme` the mentions of a text vote for each other's entities,
    and `tagme+light` is `pipeline:tagme+popular+light`, which links the mentions of `tagme` as `light` does. All use
    the starter snapshot. It has no link counts, so entity popularity replaces them.
    """
    from dataclasses import replace

    from karat.analysis.comparison.api import compare
    from karat.data.load import load
    from karat.evaluation.evaluation import evaluate
    from karat.render.comparison import render_page
    from karat.systems.api import link
    from karat.systems.linking.system import get_system

    corpus = load("demo")
    runs = [
        replace(link(get_system(name, {"substitute": "popularity"}), corpus), name=title)
        for title, name in _SYSTEMS.items()
    ]
    print_tables([evaluate(corpus, run) for run in runs])
    echo("\n" + render_page(compare(corpus, runs), None, details=False, width=page_width()), nl=False)
    echo(_NEXT_STEPS, nl=False)
