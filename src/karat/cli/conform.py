"""`karat conform SUITE PATH`."""

from __future__ import annotations

import sys

import click

from karat.cli.choices import once
from karat.cli.output import say, width


class _Suites(click.Command):
    """A command whose help lists the suites, which are imported for that only."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Suites first, then options."""
        from karat.registry import get, names
        from karat.spec.suite import Suite

        with formatter.section("Suites"):
            formatter.write_dl([(name, get("suites", name, Suite).says) for name in names("suites")])
        super().format_options(context, formatter)


@click.command(cls=_Suites)
@click.argument("suite", metavar="SUITE")
@click.argument("path", metavar="PATH")
@click.option("--kb", metavar="NAME|DIR", help="The knowledge base, for suites that make use of one.")
@click.option("--all", "every", is_flag=True, help="List all differences, not only the first.")
@click.option(
    "--json",
    "json_file",
    callback=once,
    multiple=True,
    metavar="FILE",
    help="Write what was found, with all differences (- for standard output).",
)
def command(suite: str, path: str, kb: str | None, every: bool, json_file: str | None) -> None:
    """Compare Karat with a peer's own figures, figure by figure.

    SUITE says whose figures they are, PATH where they lie. The last line counts what was compared and what is equal,
    cases or figures; the exit code is 1 if anything differs, explained or not.

    \b
    karat conform cases gerbil_bat_cases.json
    karat conform elevant evaluation-results --kb DIR
    karat conform finegrained DIR
    karat conform zelda DIR
    """
    from karat.cli.choices import apart
    from karat.cli.startup import keep_what_is_made, prepare_process
    from karat.errors import UsageError
    from karat.pages.conformance import conformance_json, conformance_text
    from karat.registry import get, names
    from karat.spec.suite import Suite
    from karat.storage.files import writing
    from karat.work import sharing_work, working

    asked = get("suites", suite, Suite)
    if kb is not None and not asked.takes_kb:
        takers = [name for name in names("suites") if get("suites", name, Suite).takes_kb]
        raise UsageError(f"--kb goes with {', '.join(takers)}. Leave it out.")
    apart([path], [json_file])
    keep_what_is_made()
    with working(f"comparing with {asked.title}"), sharing_work(prepare_process):
        found = asked.run(path, kb)
    if json_file is not None:
        with writing(json_file) as file:
            file.write(conformance_json(suite, found))
    if json_file != "-":
        say(conformance_text(asked, found, every=every, width=width()))
    if found.differences:
        sys.exit(1)
