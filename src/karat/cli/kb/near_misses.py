"""`karat kb near-misses GOLD PREDICTIONS…`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import kb_option
from karat.cli.output import page_width, print_page, write_output


@karat_command()
@click.argument("gold", metavar="GOLD")
@click.argument("runs", nargs=-1, required=True, metavar="PREDICTIONS…")
@kb_option("Snapshot with links between entities.", default="starter")
@option(
    "--credit",
    metavar="KIND=CREDIT,…",
    help="Partial credit for extra scores: parent=0.5,child=0.5,metonym=…,same-name=…,sibling=….",
)
@json_option("every pair")
@input_options
def command(gold: str, runs: tuple[str, ...], kb: str, credit: str | None, json_file: str | None) -> None:
    """Measure how close wrong predictions are to the gold.

    Each wrong prediction is compared with the gold entity that it overlaps. Relatedness is the link-based measure of
    Milne and Witten; its distribution is Figure 5 of the BAT paper. Entities missing from the snapshot are counted
    separately from unrelated ones. Strict scores do not change. --credit adds scores with partial credit, which name
    the credit and are not comparable with those of other programs.

    \b
    karat kb near-misses gold.jsonl one.jsonl two.jsonl --kb enwiki
    karat kb near-misses gold.jsonl one.jsonl --credit parent=0.5,sibling=0.25
    """
    from karat.analysis.comparison.entries import disambiguate_names
    from karat.data.load import load, load_run
    from karat.data.near_misses import find_near_misses
    from karat.evaluation.evaluation import evaluate
    from karat.kb.catalogue import open_snapshot
    from karat.render.knowledge import encode_near_misses, list_credit_measures, render_near_misses

    check_paths([gold, *runs], [json_file])
    snapshot, corpus = open_snapshot(kb), load(gold)
    loaded_runs = disambiguate_names([load_run(file, corpus=corpus) for file in runs], runs)
    measures = None if credit is None else list_credit_measures(credit)
    misses = {run.name: find_near_misses(corpus, run, snapshot) for run in loaded_runs}
    scores = {
        run.name: evaluate(corpus, run, kb=snapshot, measures=measures) for run in loaded_runs if measures is not None
    }
    label = f"{snapshot.name}@{snapshot.digest}"
    write_output(json_file, lambda: encode_near_misses(misses, label, scores))
    print_page(lambda: render_near_misses(misses, label, scores, width=page_width()), json_file)
