"""`karat annotate plan FILE… --gold GOLD --difference D`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import (
    ConventionOptions,
    convention_options,
    format_options,
    golds_option,
    measure_option,
)
from karat.cli.options.statistics import alpha_option, resamples_option, seed_option
from karat.cli.output import page_width, print_page, write_output

if TYPE_CHECKING:
    from karat.analysis.comparison.entries import Formats


@karat_command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@golds_option()
@option("--difference", type=float, required=True, metavar="D", help="True difference to detect, such as 0.02.")
@option("--power", default=0.8, show_default=True, metavar="P", help="Probability of detecting the difference.")
@alpha_option
@measure_option("Measure to compare.", default="strong:micro.f1")
@convention_options(seed_option(None), kb="Knowledge base that resolves ids: a snapshot or a folder of tables.")
@resamples_option()
@json_option()
@format_options(predictions="FILE")
@input_options
def command(
    files: tuple[str, ...],
    golds: tuple[str, ...],
    difference: float,
    power: float,
    alpha: float,
    measure: str | None,
    conventions: ConventionOptions,
    resamples: int,
    json_file: str | None,
    formats: Formats,
) -> None:
    """Compute how many documents a comparison of systems needs.

    FILEs are the predictions of at least two systems on a gold standard at hand, as in karat compare. The number holds
    for documents that resemble those of the gold standard.

    \b
    karat annotate plan demo --gold demo --difference 0.05
    karat annotate plan a.jsonl b.jsonl --gold news.jsonl --difference 0.02 --power 0.9
    """
    from karat.analysis.comparison.entries import load_entries
    from karat.data.load import parse_system_argument
    from karat.model.output.json_files import encode_line
    from karat.protocols.annotation.plan import plan_documents
    from karat.render.annotation.plan import render_page

    check_paths([*(parse_system_argument(argument)[1] for argument in files), *golds], [json_file])
    plan = plan_documents(
        load_entries(files, golds, formats),
        conventions.to_request(),
        difference=difference,
        measure=measure,
        alpha=alpha,
        power=power,
        resamples=resamples,
    )
    write_output(json_file, lambda: encode_line(plan))
    print_page(lambda: render_page(plan, width=page_width()), json_file)
