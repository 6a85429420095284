"""`karat zelda sample SOURCE TEST… --out DIR`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import kb_option
from karat.cli.options.statistics import seed_option
from karat.cli.output import page_width, print_page, write_output


@karat_command()
@click.argument("source", metavar="SOURCE")
@click.argument("tests", metavar="TEST…", nargs=-1, required=True)
@option("--out", "target", required=True, metavar="DIR", help="Output folder.")
@option(
    "--threshold",
    default=10,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Number of links to sample for each test entity.",
)
@seed_option(11)
@kb_option("Knowledge base that updates titles and drops dead links.")
@option(
    "--keep-same-title",
    is_flag=True,
    help="Keep all sections of a page that share the title of a sampled one, as ZELDA does.",
)
@option(
    "--describe",
    type=click.Choice(["paragraph", "sentence"]),
    help="Also write entity descriptions (see karat zelda describe).",
)
@option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(["jsonl", "conll"]),
    default=("jsonl", "conll"),
    show_default=True,
    help="Output format (repeatable).",
)
@json_option("the statistics")
@input_options
def command(
    source: str,
    tests: tuple[str, ...],
    target: str,
    threshold: int,
    seed: int,
    kb: str | None,
    keep_same_title: bool,
    describe: str | None,
    formats: tuple[str, ...],
    json_file: str | None,
) -> None:
    """Sample training text for test sets.

    SOURCE is Kensho's Wikipedia (a folder with link_annotated_text.jsonl and page.csv), a file of sections in the
    format of ZELDA-train, or any corpus. Sections are drawn at random and kept if they link a test entity that has not
    reached the threshold (algorithm 1 of the ZELDA paper). After a failure, run the same command again: it resumes from
    temporary files next to DIR.

    \b
    karat zelda sample kdwd jsonl --out benchmark
    karat zelda sample kdwd jsonl --out benchmark --threshold 20 --kb enwiki
    """
    from karat.kb.catalogue import open_kb
    from karat.model.output.json_files import encode_indented
    from karat.protocols.zelda.sampled_benchmark import SampleOptions, sample_benchmark
    from karat.protocols.zelda.splits import load_splits
    from karat.render.zelda.benchmark import render_page

    check_paths([source, *tests], [json_file])
    options = SampleOptions(
        threshold=threshold,
        seed=seed,
        same_name_sections=keep_same_title,
        description_extractor=describe,
        formats=formats,
    )
    benchmark = sample_benchmark(source, load_splits(tests), target, options, open_kb(kb) if kb else None)
    write_output(json_file, lambda: encode_indented(benchmark))
    print_page(lambda: render_page(benchmark, width=page_width()), json_file)
