"""`karat compare FILE…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.arguments import check_paths, parse_settings, single_value
from karat.cli.html import html_options, write_html
from karat.cli.input_options import input_options
from karat.cli.output import page_width, print_page, write_output

if TYPE_CHECKING:
    from karat.analysis.comparison.compare import Comparison
    from karat.render.charts.drawing import Spec
    from karat.web.archive.archive import TextsShown

_DEFAULT_RELATIONS = "strong,weak,mention-weak,entity"
"""Match relations of `--similarity`."""


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option(
    "--gold", "golds", multiple=True, metavar="GOLD", help="Gold standard of the predictions in FILEs (repeatable)."
)
@click.option("--profile", metavar="PROFILE", help="Scoring profile.  [default: karat]")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="Measure to compare (repeatable: one page each).  [default: strong:micro.f1]",
)
@click.option("--set", "overrides", multiple=True, metavar="SETTING=VALUE", help="Override a setting of the profile.")
@click.option("--kb", metavar="NAME|DIR", help="Knowledge base that resolves ids and supplies entity facts.")
@click.option("--alpha", default=0.05, show_default=True, metavar="P", help="Significance level.")
@click.option(
    "--correction", default="holm", show_default=True, metavar="NAME", help="Correction for multiple tests: holm or bh."
)
@click.option(
    "--test",
    type=click.Choice(["permutation", "bootstrap"]),
    default="permutation",
    show_default=True,
    help="Paired test: a permutation test or the paired bootstrap.",
)
@click.option(
    "--permute",
    type=click.Choice(["systems", "signs"]),
    default="systems",
    show_default=True,
    help="Permutation scheme: swap the systems' outputs in a document, or the sign of their difference.",
)
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Bootstrap samples for intervals.")
@click.option(
    "--permutations",
    default=10_000,
    show_default=True,
    metavar="N",
    help="Permutations or bootstrap samples for p-values.",
)
@click.option("--seed", type=int, metavar="N", help="Random seed.")
@click.option(
    "--developed-on", multiple=True, metavar="SYSTEM=DATASET", help="Dataset a system was developed on (repeatable)."
)
@click.option(
    "--selected-on",
    multiple=True,
    metavar="SYSTEM=DATASET",
    help="Dataset on which a system was selected among its variants (repeatable).",
)
@click.option(
    "--by", multiple=True, metavar="FACET", help="Facet to count flips by: mention-type, error, types, … (repeatable)."
)
@click.option(
    "--flips",
    "flips_file",
    callback=single_value,
    multiple=True,
    metavar="FILE",
    help="Write every mention that only some systems link correctly (.jsonl).",
)
@click.option("--similarity", is_flag=True, help="Show how similar systems are and what they find together.")
@click.option(
    "--match", multiple=True, metavar="R,…", help=f"Match relations for --similarity.  [default: {_DEFAULT_RELATIONS}]"
)
@click.option(
    "--best-threshold", metavar="SWEEP", help="Compute --similarity above each system's best threshold: oracle, …"
)
@click.option("--sensitivity", is_flag=True, help="Show how the ranking depends on profile and settings (slow).")
@click.option("--linking-loss", is_flag=True, help="Show how much F1 systems lose between detection and linking.")
@click.option("--details", is_flag=True, help="Show every pair on every dataset.")
@click.option("--ranks", "ranks_file", metavar="FILE", help="Write a critical difference diagram (.svg, .png, …).")
@click.option(
    "--heatmap", "heatmap_file", metavar="FILE", help="Write a heat map of system similarity (.svg, .png, …)."
)
@click.option(
    "--runtimes", "runtimes_file", metavar="FILE", help="Write a chart of the measure over the runtime (.svg, .png, …)."
)
@click.option("--markdown", "layout", flag_value="markdown", help="Print Markdown tables.")
@click.option("--latex", "layout", flag_value="latex", help="Print LaTeX tables.")
@click.option(
    "--json", "json_file", callback=single_value, multiple=True, metavar="FILE", help="Write the full output as JSON."
)
@html_options
@click.option("--gold-format", metavar="NAME", help="Format of GOLD, if not detected.")
@click.option("--predictions-format", metavar="NAME", help="Format of FILE, if not detected.")
@click.option("--allow-unknown", is_flag=True, help="Skip predictions for unknown documents.")
@input_options
def command(
    files: tuple[str, ...],
    golds: tuple[str, ...],
    profile: str | None,
    measures: tuple[str, ...],
    overrides: tuple[str, ...],
    kb: str | None,
    alpha: float,
    correction: str,
    test: str,
    permute: str,
    resamples: int,
    permutations: int,
    seed: int | None,
    developed_on: tuple[str, ...],
    selected_on: tuple[str, ...],
    by: tuple[str, ...],
    flips_file: str | None,
    similarity: bool,
    match: tuple[str, ...],
    best_threshold: str | None,
    sensitivity: bool,
    linking_loss: bool,
    details: bool,
    ranks_file: str | None,
    heatmap_file: str | None,
    runtimes_file: str | None,
    layout: str | None,
    json_file: str | None,
    html_file: str | None,
    texts: TextsShown,
    gold_format: str | None,
    predictions_format: str | None,
    allow_unknown: bool,
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
    from karat.analysis.comparison.compare import ComparisonExtras, compare
    from karat.analysis.comparison.entries import Formats, load_entries, parse_system_argument
    from karat.analysis.comparison.options import ComparisonOptions
    from karat.evaluation.request import Request
    from karat.model.errors import UsageError
    from karat.render.charts.output import check_chart_path, save_chart
    from karat.render.comparison import encode_flips, render_page, to_json
    from karat.storage.atomic_writing import open_for_writing

    charts = [ranks_file, heatmap_file, runtimes_file]
    check_paths(
        [*(parse_system_argument(argument)[1] for argument in files), *golds],
        [json_file, flips_file, html_file, *charts],
    )
    for path in filter(None, charts):
        check_chart_path(path)
    settings = parse_settings(overrides, seed=None if seed is None else str(seed))
    request = Request.from_options(
        profile=profile or "karat", settings=settings, by=by, kb=kb, allow_unknown=allow_unknown
    )
    options = ComparisonOptions(
        alpha,
        correction,
        resamples,
        permutations,
        permute="signs" if permute == "signs" else "systems",
        seed=request.interval_options.seed,
        test="bootstrap" if test == "bootstrap" else "permutation",
    )
    relations = ",".join(match) or (_DEFAULT_RELATIONS if similarity or best_threshold or heatmap_file else None)
    if len(measures) > 1 and any([flips_file, *charts]):
        raise UsageError("--flips and charts show one measure. Pass -m once.")
    extras = ComparisonExtras(
        relations,
        best_threshold,
        _parse_datasets("--developed-on", developed_on),
        sensitivity,
        linking_loss,
        _parse_datasets("--selected-on", selected_on),
    )
    entries = list(load_entries(files, golds, Formats(gold_format, predictions_format)))
    comparisons = [compare(entries, request, options, extras, measure=measure) for measure in measures or (None,)]
    first = comparisons[0]
    if flips_file is not None and not first.mentions:
        raise UsageError("--flips lists mentions, but result files contain none. Pass gold and predictions.")
    # draw before writing, so that an error leaves no files
    chart_specs = _build_charts(first, ranks_file, heatmap_file, runtimes_file)
    if flips_file is not None:
        with open_for_writing(flips_file) as file:
            file.writelines(encode_flips(first))
    write_output(json_file, lambda: b"".join(map(to_json, comparisons)))
    for path, chart in chart_specs.items():
        save_chart(chart, path)
    if html_file is not None:
        write_html(entries, request, html_file, texts=texts)
    pages = (render_page(comparison, layout, details=details, width=page_width()) for comparison in comparisons)
    print_page(lambda: "\n".join(pages), json_file, flips_file, html_file)


def _parse_datasets(option: str, arguments: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Parse the `SYSTEM=DATASET` arguments of a repeatable option; return the datasets of each system.

    `option` is the name of the option for the `UsageError` about an argument without `=`.
    """
    from karat.model.errors import UsageError

    datasets: dict[str, tuple[str, ...]] = {}
    for argument in arguments:
        system, equals, dataset = argument.rpartition("=")
        if not equals:
            raise UsageError(f"{option} {argument}: write SYSTEM=DATASET, such as {option} mine=aida-conll-test.")
        datasets[system] = (*datasets.get(system, ()), dataset)
    return datasets


def _build_charts(
    comparison: Comparison, ranks: str | None, heatmap: str | None, runtimes: str | None
) -> dict[str, Spec]:
    """Build the charts of mean ranks, similarity (heatmap) and runtimes that have an output file; return them by file.

    A file that is None means that its chart is not requested.
    """
    from karat.render.charts.comparison import heatmap_chart, ranks_chart, runtime_chart

    chart_functions = ((ranks, ranks_chart), (heatmap, heatmap_chart), (runtimes, runtime_chart))
    return {path: chart(comparison) for path, chart in chart_functions if path is not None}
