"""`karat data categorise GOLD`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option, to_option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import gold_format_option, kb_option
from karat.cli.output import echo, echo_losses, page_width, write_output


@karat_command()
@click.argument("gold")
@kb_option("Knowledge base with names, aliases and popularity: a snapshot or a folder.")
@option(
    "--tagger",
    default="rules",
    show_default=True,
    metavar="NAME",
    help="Part-of-speech tagger: rules, or spacy:MODEL such as spacy:en_core_web_md.",
)
@option("--out", "target", metavar="FILE", help="Write the corpus with categories.")
@to_option("FILE", needs=["--out"])
@option(
    "--keep-existing",
    is_flag=True,
    help="Keep existing categories and only add missing ones.",
    unless=["--evaluate"],
    is_strict=True,
)
@option("--evaluate", is_flag=True, help="Compare with the existing categories.")
@json_option("the statistics")
@gold_format_option("GOLD")
@input_options
def command(
    gold: str,
    kb: str | None,
    tagger: str,
    target: str | None,
    target_format: str | None,
    keep_existing: bool,
    evaluate: bool,
    json_file: str | None,
    gold_format: str | None,
) -> None:
    """Assign fine-grained categories to a gold standard.

    The categories are base form, part of speech, overlap and reference. If the rules cannot decide, the label gets no
    category of that dimension. The rules support English only. The documentation page 'Agreement of the
    categoriser with people' has measurements.

    \b
    karat data categorise gold.jsonl --out categorised.jsonl
    karat data categorise gold.jsonl --kb DIR --tagger spacy:en_core_web_md
    karat data categorise categorised.ttl --evaluate
    """
    from karat.data.categoriser.categorise import categorise, get_tagger
    from karat.data.categoriser.confusion import compare_categories
    from karat.data.load import get_target_format, load, write_data
    from karat.kb.catalogue import open_kb
    from karat.model.output.progress import track_progress
    from karat.render.data.categories import render_page, to_json

    check_paths([gold], [target, json_file])
    format = None if target is None else get_target_format(target, target_format)[0]
    tagger_object = get_tagger(tagger)
    knowledge_base = None if kb is None else open_kb(kb)
    corpus = load(gold, format=gold_format)
    with track_progress(f"categorising {corpus.name}"):
        agreement_scores = compare_categories(corpus, kb=knowledge_base, tagger=tagger_object) if evaluate else {}
        result = categorise(corpus, kb=knowledge_base, tagger=tagger_object, keep=keep_existing)
    if target is not None:
        echo_losses(target, write_data(result.corpus, target, format=format))
    write_output(json_file, lambda: to_json(result, agreement_scores))
    echo(render_page(result, agreement_scores, width=page_width()), nl=False, err="-" in (target, json_file))
