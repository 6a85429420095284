"""`karat kb diff OLD NEW GOLD [PREDICTIONS…]`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.options.reading import input_options
from karat.cli.output import echo, echo_losses, page_width, write_output


@karat_command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.argument("gold", metavar="GOLD")
@click.argument("runs", nargs=-1, metavar="[PREDICTIONS…]")
@option(
    "--out", metavar="FILE", help="Write GOLD with a category such as change:merged on each label, for --by change."
)
@json_option("every id")
@input_options
def command(old: str, new: str, gold: str, runs: tuple[str, ...], out: str | None, json_file: str | None) -> None:
    """Compare the ids of a gold standard between two snapshots.

    The command shows which ids moved, were merged, were deleted or are new. With PREDICTIONS, it also shows each
    system's recall by kind of change: with ids as written, and with ids resolved by NEW on both sides. The difference
    is the loss due to outdated ids.

    \b
    karat kb diff enwiki-2014 enwiki-2026 gold.jsonl one.jsonl two.jsonl
    karat kb diff enwiki-2014 enwiki-2026 gold.jsonl --out changed.jsonl
    karat score changed.jsonl predictions.jsonl --by change
    """
    from functools import partial

    from karat.analysis.comparison.entries import disambiguate_names
    from karat.data.kb_changes import CHANGE, add_change_categories, diff_gold_ids
    from karat.data.load import load, load_run, split_pool_name, write_data
    from karat.evaluation.evaluation import evaluate
    from karat.kb.catalogue import open_snapshot
    from karat.render.knowledge import encode_diff, render_diff

    check_paths([*split_pool_name(gold), *runs], [out, json_file])
    corpus, new_snapshot = load(gold), open_snapshot(new)
    changes = diff_gold_ids(corpus, open_snapshot(old), new_snapshot)
    changed_gold = add_change_categories(corpus, changes)
    loaded_runs = disambiguate_names([load_run(file, corpus=corpus) for file in runs], runs)
    score = partial(evaluate, by=CHANGE, measures=["strong:micro.r"])
    scores = {
        run.name: (score(changed_gold, run), score(changed_gold, run, kb=new_snapshot))
        for run in loaded_runs
        if changes.ids
    }
    if out is not None:
        echo_losses(out, write_data(changed_gold, out))
    write_output(json_file, lambda: encode_diff(changes, scores))
    if json_file != "-":
        echo(render_diff(changes, scores, width=page_width()), nl=False, err=out == "-")
