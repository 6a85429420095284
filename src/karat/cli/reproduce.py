"""`karat reproduce SUITE --data DIR`."""

from __future__ import annotations

import sys

import click

from karat.cli.options.declaration import KaratCommand, karat_command, option
from karat.cli.options.output import json_option
from karat.cli.options.scoring import kb_option
from karat.cli.output import echo, page_width


class _Suites(KaratCommand):
    """A command whose help lists the suites, with their plugins imported only for the help."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names and descriptions of the suites, then the options, into the help."""
        from karat.model.registry import get_plugin, list_plugins
        from karat.model.spec.suite import Suite

        with formatter.section("Suites"):
            formatter.write_dl(
                [(name, get_plugin("suites", name, Suite).description) for name in list_plugins("suites")]
            )
        super().format_options(context, formatter)


@karat_command(cls=_Suites)
@click.argument("suite", metavar="SUITE")
@option("--data", required=True, metavar="PATH", help="File or folder with the published data of the suite.")
@kb_option("Knowledge base, for suites that need one.")
@option("--all", "show_all", is_flag=True, help="List all differences, not only the first ones.")
@json_option("the outcome with all differences")
def command(suite: str, data: str, kb: str | None, show_all: bool, json_file: str | None) -> None:
    """Recompute another tool's published scores.

    SUITE names a paper or reference tool. Karat compares its own figures with the published ones. The last line counts
    the compared and the equal figures. The exit code is 1 if any figure differs, even if the difference is explained.

    \b
    karat reproduce cases --data gerbil_bat_cases.json
    karat reproduce elevant --data evaluation-results --kb DIR
    karat reproduce finegrained --data DIR
    karat reproduce zelda --data DIR
    """
    from karat.cli.arguments import check_paths
    from karat.cli.startup import freeze_garbage_collector, prepare_process
    from karat.model.errors import UsageError
    from karat.model.output.progress import allow_processes, track_progress
    from karat.model.registry import get_plugin, list_plugins
    from karat.model.spec.suite import Suite
    from karat.render.reproduction import render_page, to_json
    from karat.storage.atomic_writing import open_for_writing

    spec = get_plugin("suites", suite, Suite)
    if kb is not None and not spec.accepts_kb:
        kb_suites = [name for name in list_plugins("suites") if get_plugin("suites", name, Suite).accepts_kb]
        raise UsageError(f"suite {suite} takes no --kb; these do: {', '.join(kb_suites)}. Remove --kb.")
    check_paths([data], [json_file])
    freeze_garbage_collector()
    with track_progress(f"reproducing {spec.title}"), allow_processes(prepare_process):
        outcome = spec.run(data, kb)
    if json_file is not None:
        with open_for_writing(json_file) as file:
            file.write(to_json(suite, outcome))
    if json_file != "-":
        echo(render_page(spec, outcome, show_all=show_all, width=page_width()))
    if outcome.differences:
        sys.exit(1)
