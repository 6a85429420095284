"""`karat compare FILE…`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli.arguments import check_paths, parse_datasets
from karat.cli.html import HtmlOptions, write_html
from karat.cli.options.declaration import group_options, karat_command, option
from karat.cli.options.output import details_option, file_option, html_options, json_option, layout_options
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import (
    ConventionOptions,
    convention_options,
    facets_option,
    format_options,
    golds_option,
    measures_option,
)
from karat.cli.options.statistics import comparison_options, seed_option
from karat.cli.output import page_width, print_page, write_output

if TYPE_CHECKING:
    from karat.analysis.comparison.compare import Comparison, ComparisonExtras
    from karat.analysis.comparison.entries import Formats
    from karat.analysis.comparison.options import ComparisonOptions
    from karat.render.charts.drawing import Spec


class _ChartFiles(NamedTuple):
    """The charts of `karat compare`; None for a chart that is not requested."""

    ranks: str | None
    heatmap: str | None
    runtimes: str | None
    costs: str | None

    def draw(self, comparison: Comparison) -> dict[str, Spec]:
        """Return the requested charts of a comparison, by file."""
        from karat.render.charts.comparison import cost_chart, heatmap_chart, ranks_chart, runtime_chart

        charts = zip(self, (ranks_chart, heatmap_chart, runtime_chart, cost_chart), strict=True)
        return {path: draw(comparison) for path, draw in charts if path is not None}


class _CompareOutput(NamedTuple):
    """Printed and written output of `karat compare`."""

    details: bool
    table_format: str | None
    json_file: str | None
    flips_file: str | None


def _build_extras(
    similarity: bool,
    match: tuple[str, ...],
    developed_on: tuple[str, ...],
    selected_on: tuple[str, ...],
    **extras: Any,  # noqa: ANN401  # fields of `ComparisonExtras`
) -> ComparisonExtras:
    """Return the optional parts of the comparison."""
    from karat.analysis.comparison.compare import SIMILARITY_RELATIONS, ComparisonExtras

    return ComparisonExtras(
        similarity=",".join(match) or (SIMILARITY_RELATIONS if similarity else None),
        developed_on=parse_datasets("--developed-on", developed_on),
        selected_on=parse_datasets("--selected-on", selected_on),
        **extras,
    )


@karat_command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@golds_option()
@convention_options(
    seed_option(None),
    kb="Knowledge base that resolves ids and supplies entity facts: a snapshot or a folder of tables.",
)
@measures_option(
    "Measure to compare (repeatable: one page each).  [default: strong:micro.f1, or the first headline of the profile]"
)
@comparison_options
@facets_option("Facet to count flips by: mention-type, error, types, … (repeatable).")
@group_options(
    "extras",
    _build_extras,
    option(
        "--developed-on",
        multiple=True,
        metavar="SYSTEM=DATASET",
        help="Dataset a system was developed on (repeatable).",
    ),
    option(
        "--selected-on",
        multiple=True,
        metavar="SYSTEM=DATASET",
        help="Dataset on which a system was selected among its variants (repeatable).",
    ),
    option("--similarity", is_flag=True, help="Show how similar systems are and what they find together."),
    option(
        "--match",
        multiple=True,
        metavar="R,…",
        help="Match relations for --similarity.  [default: strong,weak,mention-weak,entity]",
    ),
    option(
        "--best-threshold",
        metavar="SWEEP",
        help="Compute --similarity above each system's best threshold: oracle, …",
    ),
    option("--sensitivity", is_flag=True, help="Show how the ranking depends on profile and settings (slow)."),
    option("--linking-loss", is_flag=True, help="Show how much F1 systems lose between detection and linking."),
)
@group_options(
    "charts",
    _ChartFiles,
    file_option("--ranks", "ranks", "Write a critical difference diagram (.svg, .png, …)."),
    file_option("--heatmap", "heatmap", "Write a heat map of system similarity (.svg, .png, …)."),
    file_option("--runtimes", "runtimes", "Write a chart of the measure over the runtime (.svg, .png, …)."),
    file_option("--costs", "costs", "Write a chart of the measure over the cost (.svg, .png, …)."),
)
@group_options(
    "output",
    _CompareOutput,
    details_option("Show every pair on every dataset."),
    layout_options(),
    json_option(),
    file_option("--flips", "flips_file", "Write every mention that only some systems link correctly (.jsonl)."),
)
@html_options()
@format_options(predictions="FILE")
@input_options
def command(
    files: tuple[str, ...],
    golds: tuple[str, ...],
    conventions: ConventionOptions,
    measures: tuple[str, ...],
    tests: ComparisonOptions,
    by: tuple[str, ...],
    extras: ComparisonExtras,
    charts: _ChartFiles,
    output: _CompareOutput,
    html: HtmlOptions,
    formats: Formats,
) -> None:
    """Compare systems and test the differences.

    FILEs are result files (`karat score --json`), files with gold labels and predictions, such as ELEVANT's linked
    articles, or, with --gold, prediction files. SYSTEM=FILE renames a system. All pairs of systems are tested on all
    datasets, with a correction for multiple tests. Averages are over the datasets that all systems share.

    \b
    karat compare --gold gold.jsonl one.jsonl two.jsonl three.jsonl
    karat compare results/*.json
    karat compare results/*.json --developed-on mine=aida --ranks ranks.svg
    karat compare --gold demo demo -m strong:micro.p --test bootstrap
    karat compare --gold demo demo --flips flips.jsonl --by types
    karat compare --gold demo demo --match strong --best-threshold oracle-bat
    """
    from dataclasses import replace

    from karat.analysis.comparison.compare import SIMILARITY_RELATIONS, compare
    from karat.analysis.comparison.entries import load_entries
    from karat.data.load import parse_system_argument
    from karat.model.errors import UsageError
    from karat.render.charts.output import check_chart_path, save_chart
    from karat.render.comparison import encode_flips, render_page, to_json

    details, table_format, json_file, flips_file = output
    paths = [parse_system_argument(argument)[1] for argument in files]
    check_paths([*paths, *golds], [json_file, flips_file, html.file, *charts])
    for path in filter(None, charts):
        check_chart_path(path)
    if len(measures) > 1 and any([flips_file, *charts]):
        raise UsageError("--flips and charts show one measure. Pass -m once.")
    request = conventions.to_request(by=by)
    options = replace(tests, seed=request.interval_options.seed)
    if charts.heatmap is not None:
        extras = replace(extras, similarity=extras.relations or SIMILARITY_RELATIONS)
    entries = list(load_entries(files, golds, formats))
    comparisons = [compare(entries, request, options, extras, measure=measure) for measure in measures or (None,)]
    first = comparisons[0]
    if flips_file is not None and not first.mentions:
        raise UsageError("--flips lists mentions, but result files contain none. Pass gold and predictions.")
    chart_specs = charts.draw(first)  # before writing, so that an error leaves no files
    write_output(flips_file, lambda: b"".join(encode_flips(first)))
    write_output(json_file, lambda: b"".join(map(to_json, comparisons)))
    for path, chart in chart_specs.items():
        save_chart(chart, path)
    if html.file is not None:
        write_html(entries, request, html.file, texts=html.texts, tests=options)
    pages = (render_page(comparison, table_format, details=details, width=page_width()) for comparison in comparisons)
    print_page(lambda: "\n".join(pages), json_file, flips_file, html.file)
