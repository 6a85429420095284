"""`karat zelda score GOLD ANSWERS`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import show, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("gold", metavar="GOLD")
@click.argument("answers", metavar="ANSWERS")
@click.option("--train", metavar="FILE|DIR", help="Training text: accuracy by what it has of each mention.")
@click.option(
    "--lists", metavar="FILE|DIR", help="Candidate lists: accuracy by ambiguity and by their first candidate."
)
@click.option(
    "--lookup",
    type=click.Choice(["zelda", "clean", "exact", "flair"]),
    default="zelda",
    show_default=True,
    help="How mentions are looked up in the lists.",
)
@click.option("--conll", metavar="FILE|DIR", help="The same test sets as CoNLL: which mentions they lack.")
@click.option("-k", "cut", default=20, show_default=True, type=click.IntRange(1), help="Recall at this place.")
@click.option("--details", is_flag=True, help="Name the mentions that a reading lacks, and show groups by split.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write everything as JSON.")
@reading
def command(
    gold: str,
    answers: str,
    train: str | None,
    lists: str | None,
    lookup: str,
    conll: str | None,
    cut: int,
    details: bool,
    json_file: str | None,
) -> None:
    """Score disambiguation of given mentions under the profile `zelda`.

    GOLD and ANSWERS are files, or folders in which files belong together by the name of their test set
    (test_tweeki.jsonl, tweeki.jsonl). The score is the plain mean of the accuracies over all mentions of each.

    \b
    karat zelda score jsonl predictions
    karat zelda score jsonl predictions --train train.jsonl --lists lists.parquet
    karat zelda score jsonl predictions --conll conll --details
    """
    from karat.cli.zelda.testing import splits_given
    from karat.data.load import load, load_run
    from karat.pages.zelda.scores import bed_scores_json, bed_scores_page
    from karat.storage.files import Source
    from karat.zelda.candidates.published import open_lists
    from karat.zelda.given import attempt
    from karat.zelda.readings import two_readings
    from karat.zelda.scores import bed_scores
    from karat.zelda.seen import SeenLinks
    from karat.zelda.splits import paired_files, split_files

    apart([gold, answers], [json_file])
    pairs = paired_files(gold, answers)
    splits = splits_given([path for path, _ in pairs.values()])
    attempts = {}
    for (split, (_, run)), corpus in zip(pairs.items(), splits.values(), strict=True):
        attempts[split] = attempt(corpus, load_run(run, corpus=corpus), split)
    readings = {
        split: two_readings(splits[split], load(path, format="zelda-conll"), split)
        for split, path in (split_files([conll], "conll") if conll else {}).items()
        if split in splits
    }
    scores = bed_scores(
        Source(answers).stem,
        attempts,
        training=SeenLinks.read(train) if train else None,
        lists=open_lists(lists) if lists else None,
        lookup=lookup,
        readings=readings,
    )
    write(json_file, lambda: bed_scores_json(scores, cut))
    show(lambda: bed_scores_page(scores, cut, details=details, width=width()), json_file)
