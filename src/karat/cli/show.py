"""`karat show GOLD PREDICTIONS…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.arguments import check_paths, parse_pair
from karat.cli.options.declaration import group_options, karat_command, option
from karat.cli.options.output import file_option, json_option, limit_option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import ConventionOptions, convention_options, format_options
from karat.cli.output import echo_warnings, page_width, print_page, write_output

if TYPE_CHECKING:
    from karat.analysis.comparison.cases import CaseFilter
    from karat.analysis.comparison.entries import Formats


def _build_filter(flips: str | None, outcomes: tuple[str, ...], **filters: tuple[str, ...]) -> CaseFilter:
    """Return the filter of cases; outcomes may be written with spaces."""
    from karat.analysis.comparison.cases import CaseFilter

    names = tuple(name.replace(" ", "-") for name in outcomes)
    return CaseFilter(outcomes=names, flips=parse_pair("--flips", flips), **filters)


@karat_command()
@click.argument("gold")
@click.argument("predictions", nargs=-1)
@group_options(
    "case_filter",
    _build_filter,
    option(
        "--outcome",
        "outcomes",
        multiple=True,
        metavar="NAME",
        help="Outcome: wrong, correct, tp, fp, fn, wrong-link, … (repeatable).",
    ),
    option("--error", "errors", multiple=True, metavar="CATEGORY", help="Error category, such as ner-fn (repeatable)."),
    option(
        "--type",
        "types",
        multiple=True,
        metavar="TYPE",
        help="Type of the mention or, without one, of the prediction (repeatable).",
    ),
    option(
        "--entity",
        "entities",
        multiple=True,
        metavar="ENTITY",
        help="Linked entity: an id, a name, or NIL (repeatable).",
    ),
    option(
        "--system",
        "systems",
        multiple=True,
        metavar="NAME",
        help="System whose cases to show; the others are shown for comparison (repeatable).",
    ),
    option("--doc", "documents", multiple=True, metavar="ID", help="Document id (repeatable)."),
    option("--flips", metavar="A,B", help="Two systems, in any order: show mentions that exactly one links correctly."),
)
@option(
    "--view",
    metavar="VIEW",
    help="View: strong, strong[nil], mention, … or a name of GERBIL: EE, Mw, …  [default: as in karat compare]",
)
@limit_option(10, "cases to print")
@convention_options(
    kb="Knowledge base that resolves ids and supplies entity names and facts: a snapshot or a folder of tables."
)
@json_option("all cases")
@file_option("--jsonl", "lines_file", "Write one case per line.")
@format_options()
@input_options
def command(
    gold: str,
    predictions: tuple[str, ...],
    case_filter: CaseFilter,
    view: str | None,
    limit: int,
    conventions: ConventionOptions,
    json_file: str | None,
    lines_file: str | None,
    formats: Formats,
) -> None:
    """Show individual cases in context.

    Each case is a mention in its sentence, with the gold entity and every system's prediction by name. GOLD and
    PREDICTIONS are as in `karat score`. A case must pass all filters; a repeated filter accepts any of its values.
    Entity names come from the knowledge base or the gold standard.

    \b
    karat show gold.jsonl mine.jsonl --outcome wrong
    karat show gold.jsonl mine.jsonl yours.jsonl --flips mine,yours
    karat show demo demo --system noisy --error ner-fn-lowercased
    karat show demo demo --entity Berlin --json cases.json
    """
    from karat.analysis.comparison.api import list_cases
    from karat.analysis.comparison.entries import load_dataset_entries
    from karat.data.load import parse_system_argument
    from karat.render.cases import encode_cases, render_page, to_json

    check_paths([parse_system_argument(argument)[1] for argument in (gold, *predictions)], [json_file, lines_file])
    request = conventions.to_request()
    entries = load_dataset_entries(gold, predictions, formats)
    echo_warnings((entry.corpus, entry.run) for entry in entries)
    cases = list_cases(entries, request, case_filter, view=view)
    write_output(lines_file, lambda: b"".join(encode_cases(cases)))
    write_output(json_file, lambda: to_json(cases))
    print_page(lambda: render_page(cases, limit, page_width()), json_file, lines_file)
