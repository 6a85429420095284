"""`karat conform SUITE PATH`."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

import click

from karat.cli.choices import once

if TYPE_CHECKING:
    from karat.suites.elevant import Agreement, Conformance

_SHOWN = 20  # differences that are listed unless all are asked for


@click.command()
@click.argument("suite", metavar="SUITE", type=click.Choice(["cases", "elevant", "finegrained"]))
@click.argument("path", metavar="PATH")
@click.option("--kb", metavar="DIR", help="The knowledge base for elevant (the folder kb in PATH, if it is there).")
@click.option("--all", "every", is_flag=True, help="List all differences of elevant, not only the first.")
@click.option(
    "--json",
    "json_file",
    callback=once,
    multiple=True,
    metavar="FILE",
    help="Write what elevant found, with all differences (- for standard output).",
)
def command(suite: str, path: str, kb: str | None, every: bool, json_file: str | None) -> None:
    """Compare Karat with a peer's own figures, figure by figure.

    The suite `cases` is a JSON file of small cases with what BAT and GERBIL compute for them. The suite `elevant` is a
    folder with files of linked articles and ELEVANT's evaluation beside each: NAME.eval_results.json, and
    NAME.eval_cases.jsonl where it is there. The suite `finegrained` is a folder with the fine-grained paper's datasets
    in gold and the answers it evaluates in systems; figures are those that the paper prints. The last line counts what
    was compared and what is equal, cases or figures; the exit code is 1 if anything differs, explained or not.

    \b
    karat conform cases gerbil_bat_cases.json
    karat conform elevant evaluation-results --kb DIR
    karat conform finegrained DIR
    """
    from karat.errors import UsageError

    if suite == "elevant":
        _elevant(path, kb, every=every, json_file=json_file)
        return
    if kb is not None or every or json_file is not None:
        raise UsageError("--kb, --all and --json go with elevant. Leave them out.")
    if suite == "finegrained":
        _finegrained(path)
        return
    from karat.suites.cases import conform_cases

    found = conform_cases(path)
    for difference in found.differences:
        click.echo(f"{difference.case}: {difference.figure} is {difference.found}, expected {difference.expected}")
    click.echo(f"{found.figures} figures in {found.cases} cases")
    click.echo(f"COMPARED {found.cases} EQUAL {found.equal}")
    if found.differences:
        sys.exit(1)


def _finegrained(path: str) -> None:
    from karat.pages.tables import aligned
    from karat.suites.finegrained import conform_finegrained

    found = conform_finegrained(path)
    rows = [[name, *map(str, table)] for name, table in found.tables.items()]
    click.echo(aligned([["", "figures", "equal"], *rows]))
    for one in found.differences:
        click.echo(f"{one.table}: {one.figure} is {one.found}, printed {one.printed} ({one.why or 'not explained'})")
    click.echo(f"COMPARED {found.figures} EQUAL {found.equal}")
    if found.differences:
        sys.exit(1)


def _elevant(path: str, kb: str | None, *, every: bool, json_file: str | None) -> None:
    from karat.cli.choices import apart
    from karat.suites.elevant import conform_elevant

    apart([], [json_file])
    gc.freeze()  # what is imported stays, and what comes makes no circles: looking for them takes a tenth of the time
    gc.set_threshold(100_000, 20, 20)
    found = conform_elevant(path, kb)
    if json_file is not None:
        _save(found, json_file)
    if json_file != "-":
        _show(found, every=every)
    if found.differences:
        sys.exit(1)


def _show(found: Conformance, *, every: bool) -> None:
    from karat.pages.tables import aligned

    rows = [_row(name, group) for name, group in {**found.groups, **found.about_cases}.items()]
    click.echo(aligned([["group", "pairs", "equal", "figures", "equal"], *rows]))
    for note, count in found.notes.items():
        click.echo(f"{count:,} {note}")
    listed = sorted(found.differences, key=lambda difference: difference.why is not None)  # the unexplained first
    for one in listed if every else listed[:_SHOWN]:
        why = "" if one.why is None else f" ({one.why})"
        click.echo(f"{one.pair}: {one.group}: {one.figure} is {one.found}, expected {one.expected}{why}")
    if len(listed) > _SHOWN and not every:
        click.echo(f"… and {len(listed) - _SHOWN:,} more: --all lists them")
    for reason, count in found.reasons.items():
        click.echo(f"{count:,} differences: {reason or 'not explained'}")
    click.echo(f"{found.pairs} pairs, {found.equal_pairs} equal in everything")
    click.echo(f"COMPARED {found.figures} EQUAL {found.equal}")


def _row(name: str, group: Agreement) -> list[str]:
    return [name, *(f"{count:,}" for count in group)]


def _save(found: Conformance, path: str) -> None:
    import msgspec

    from karat.storage.files import writing

    data = msgspec.json.encode(found.to_dict())
    with writing(path) as file:
        file.write(msgspec.json.format(data, indent=2) + b"\n")
