"""`karat zelda recall GOLD… --candidate-lists FILE`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.options.reading import input_options
from karat.cli.output import page_width, print_page, write_output
from karat.cli.zelda.options import lookup_option


@karat_command()
@click.argument("gold", metavar="GOLD…", nargs=-1, required=True)
@option(
    "--candidate-lists",
    multiple=True,
    required=True,
    metavar="[KIND=]PATH",
    help="Candidate lists: built by Karat, or hoffart, ganea-hofmann, pershina or zelda (repeatable).",
)
@lookup_option()
@option(
    "--out",
    metavar="DIR",
    help="Write the candidates of all mentions, with the first one as link (MFS).",
)
@json_option()
@input_options
def command(
    gold: tuple[str, ...], candidate_lists: tuple[str, ...], lookup: str, out: str | None, json_file: str | None
) -> None:
    """Measure the recall of candidate lists on test sets.

    MFS (most frequent sense) is the share of mentions whose most frequent candidate is correct. CL-recall is the share
    whose entity is in the list. Lists without counts (hoffart, pershina) have no MFS. Several lists are shown side by
    side.

    \b
    karat zelda recall jsonl --candidate-lists lists.parquet
    karat zelda recall a.jsonl --candidate-lists lists.parquet --out DIR
    karat zelda recall aida.jsonl --candidate-lists means.tsv --lookup clean
    """
    from pathlib import Path

    from karat.data.load import save
    from karat.model.errors import UsageError
    from karat.protocols.zelda.candidates.published_lists import open_candidate_lists
    from karat.protocols.zelda.candidates.recall import compare_lists, look_up_candidates
    from karat.protocols.zelda.split_predictions import collect_linked_mentions
    from karat.protocols.zelda.splits import load_splits
    from karat.render.zelda.candidates import encode_recall, render_recall

    check_paths([*gold, *candidate_lists], [json_file])
    if out is not None and len(candidate_lists) > 1:
        raise UsageError("--out writes the candidates of one list. Pass --candidate-lists once.")
    lists = [open_candidate_lists(path) for path in candidate_lists]
    mentions = collect_linked_mentions(load_splits(gold))
    recalls = compare_lists(lists, mentions, lookup)
    if out is not None:
        Path(out).mkdir(parents=True, exist_ok=True)
        for split, run in look_up_candidates(lists[0], mentions, lookup).items():
            save(run, str(Path(out) / f"{split}.jsonl"))
    write_output(json_file, lambda: encode_recall(recalls))
    print_page(lambda: render_recall(recalls, width=page_width()), json_file)
