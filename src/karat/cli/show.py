"""`karat show GOLD PREDICTIONS…`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths, parse_settings, rename_duplicates, single_value
from karat.cli.input_options import input_options
from karat.cli.output import echo_warnings, page_width, print_page, write_output


@click.command()
@click.argument("gold")
@click.argument("predictions", nargs=-1)
@click.option(
    "--outcome",
    "outcomes",
    multiple=True,
    metavar="NAME",
    help="Outcome: wrong, correct, tp, fp, fn, wrong-link, … (repeatable).",
)
@click.option(
    "--error", "errors", multiple=True, metavar="CATEGORY", help="Error category, such as ner-fn (repeatable)."
)
@click.option(
    "--type",
    "types",
    multiple=True,
    metavar="TYPE",
    help="Type of the mention or, without one, of the prediction (repeatable).",
)
@click.option(
    "--entity", "entities", multiple=True, metavar="ENTITY", help="Linked entity: an id, a name, or NIL (repeatable)."
)
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="NAME",
    help="System whose cases to show; the others are shown for comparison (repeatable).",
)
@click.option("--doc", "documents", multiple=True, metavar="ID", help="Document id (repeatable).")
@click.option(
    "--flips", metavar="A,B", help="Two systems, in any order: show mentions that exactly one links correctly."
)
@click.option("--view", metavar="VIEW", help="View: strong, weak, mention, …  [default: as in karat compare]")
@click.option(
    "--limit",
    default=10,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Maximum number of cases to print.",
)
@click.option("--profile", default="karat", show_default=True, metavar="PROFILE", help="Scoring profile.")
@click.option("--set", "overrides", multiple=True, metavar="SETTING=VALUE", help="Override a setting of the profile.")
@click.option("--kb", metavar="NAME|DIR", help="Knowledge base that resolves ids and supplies entity names and facts.")
@click.option(
    "--json",
    "json_file",
    callback=single_value,
    multiple=True,
    metavar="FILE",
    help="Write all cases as one JSON document.",
)
@click.option(
    "--jsonl", "lines_file", callback=single_value, multiple=True, metavar="FILE", help="Write one case per line."
)
@click.option("--gold-format", metavar="NAME", help="Format of GOLD, if not detected.")
@click.option("--predictions-format", metavar="NAME", help="Format of PREDICTIONS, if not detected.")
@click.option("--allow-unknown", is_flag=True, help="Skip predictions for unknown documents.")
@input_options
def command(
    gold: str,
    predictions: tuple[str, ...],
    outcomes: tuple[str, ...],
    errors: tuple[str, ...],
    types: tuple[str, ...],
    entities: tuple[str, ...],
    systems: tuple[str, ...],
    documents: tuple[str, ...],
    flips: str | None,
    view: str | None,
    limit: int,
    profile: str,
    overrides: tuple[str, ...],
    kb: str | None,
    json_file: str | None,
    lines_file: str | None,
    gold_format: str | None,
    predictions_format: str | None,
    allow_unknown: bool,
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
    from karat.analysis.comparison.cases import CaseFilter
    from karat.analysis.comparison.entries import entry_from_run
    from karat.data.load import detect_inputs
    from karat.evaluation.request import Request
    from karat.model.errors import UsageError
    from karat.render.cases import encode_cases, render_page, to_json
    from karat.storage.atomic_writing import open_for_writing

    if [gold, *predictions].count("-") > 1:
        raise UsageError("standard input can be read only once. Pass - for one argument.")
    check_paths([gold, *predictions], [json_file, lines_file])
    _check_no_results([gold, *predictions])
    outcome_names = tuple(name.replace(" ", "-") for name in outcomes)
    case_filter = CaseFilter(outcome_names, errors, types, entities, systems, documents, _parse_pair(flips))
    request = Request.from_options(
        profile=profile, settings=parse_settings(overrides), kb=kb, allow_unknown=allow_unknown
    )
    data = detect_inputs(gold, predictions, gold_format=gold_format, predictions_format=predictions_format)
    corpus, runs = data.load(text=True)
    entries = [entry_from_run(corpus, run) for run in rename_duplicates(runs, data.run_names)]
    echo_warnings((entry.corpus, entry.run) for entry in entries)
    cases = list_cases(entries, request, case_filter, view=view)
    if lines_file is not None:
        with open_for_writing(lines_file) as file:
            file.writelines(encode_cases(cases))
    write_output(json_file, lambda: to_json(cases))
    print_page(lambda: render_page(cases, limit, page_width()), json_file, lines_file)


def _parse_pair(flips: str | None) -> tuple[str, str] | None:
    """Return the two system names of `--flips A,B`; None if the option is absent."""
    from karat.model.errors import UsageError

    if flips is None:
        return None
    system_a, comma, system_b = flips.partition(",")
    if not (comma and system_a and system_b):
        raise UsageError(f"--flips {flips}: write A,B, such as --flips mine,yours.")
    return system_a.strip(), system_b.strip()


def _check_no_results(files: list[str]) -> None:
    """Raise `InputError` if one of `files` is a result file, which contains no cases."""
    from karat.analysis.comparison.entries import read_results
    from karat.model.errors import InputError

    for name in files:
        if name != "-" and read_results(name) is not None:
            raise InputError(
                name,
                actual="a result file, which contains no cases",
                expected="a gold standard or predictions",
                remedy="Pass the gold file and the predictions",
            )
