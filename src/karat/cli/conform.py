"""`karat conform SUITE PATH`."""

from __future__ import annotations

import sys

import click


@click.command()
@click.argument("suite", metavar="SUITE", type=click.Choice(["cases"]))
@click.argument("path", metavar="PATH")
def command(suite: str, path: str) -> None:
    """Compare Karat with a peer's own figures, figure by figure.

    The suite `cases` is a JSON file of small cases with what BAT and GERBIL compute for them. The last line counts the
    cases compared and those that are equal; the exit code is 1 if any differs.

    \b
    karat conform cases gerbil_bat_cases.json
    """
    from karat.conform.cases import conform_cases

    found = conform_cases(path)
    for difference in found.differences:
        click.echo(f"{difference.case}: {difference.figure} is {difference.found}, expected {difference.expected}")
    click.echo(f"{found.figures} figures in {found.cases} cases")
    click.echo(f"COMPARED {found.cases} EQUAL {found.equal}")
    if found.differences:
        sys.exit(1)
