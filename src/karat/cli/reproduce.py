"""`karat reproduce SUITE --data DIR` and `karat reproduce --system NAME --data DIR`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from karat.cli.options.declaration import KaratCommand, karat_command, option
from karat.cli.options.output import archive_option, figures_option, html_file_option, json_option, layout_options
from karat.cli.options.scoring import kb_option
from karat.cli.output import echo, page_width, print_page, write_output

if TYPE_CHECKING:
    from karat.model.spec.suite import Suite
    from karat.render.reproduction import ReproductionFile


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
@click.argument("suite", metavar="[SUITE]", required=False)
@option("--system", metavar="NAME", help="System whose published scores are computed again, instead of a suite.")
@option("--data", required=True, metavar="PATH", help="File or folder with the published data of the suite.")
@kb_option("Knowledge base, for suites that need one.")
@option(
    "--all", "show_all", is_flag=True, help="List all differences, and of a paper equal values and long commands too."
)
@layout_options("the page of a paper", latex=False)
@json_option("the outcome with all differences")
@html_file_option("Write the tables and figures of a paper as one HTML page.")
@figures_option("a paper")
@archive_option("reproduction of a paper")
def command(
    suite: str | None,
    system: str | None,
    data: str,
    kb: str | None,
    show_all: bool,
    table_format: str | None,
    json_file: str | None,
    html_file: str | None,
    figures: str | None,
    archive: str | None,
) -> None:
    """Recompute the published scores of a paper or reference tool.

    SUITE names a paper or reference tool. Karat compares its own figures with the published ones. For a reference tool
    the last line counts the compared and the equal figures, and the exit code is 1 if any figure differs. For a paper
    the last line counts the values that are reproduced, explained, unexplained and impossible to compute, and the exit
    code is 1 if any value is unexplained.

    With --system, Karat compares the scores that papers report about a system with those of its outputs in the data,
    and rates how well they are reproduced.

    \b
    karat reproduce fair-2023 --data DIR --html fair.html
    karat reproduce cases --data gerbil_bat_cases.json
    karat reproduce elevant --data evaluation-results --kb DIR
    karat reproduce zelda --data DIR
    karat reproduce --system rel --data DIR
    """
    from karat.cli.arguments import check_paths
    from karat.cli.figures import write_figures
    from karat.cli.startup import freeze_garbage_collector, prepare_process
    from karat.model.errors import UsageError
    from karat.model.output.progress import allow_processes, track_progress
    from karat.model.registry import get_plugin, list_plugins
    from karat.model.spec.suite import Suite
    from karat.render.papers import name_plots, render_markdown_page
    from karat.render.reproduction import build_file, render_page, to_json

    suite, spec = _choose_suite(suite, system)
    if kb is not None and not spec.accepts_kb:
        kb_suites = [name for name in list_plugins("suites") if get_plugin("suites", name, Suite).accepts_kb]
        raise UsageError(f"suite {suite} takes no --kb; these do: {', '.join(kb_suites)}. Remove --kb.")
    check_paths([data], [json_file, html_file])
    freeze_garbage_collector()
    with track_progress(f"reproducing {spec.title}"), allow_processes(prepare_process):
        outcome = spec.run(data, kb)
    if not outcome.exhibits and (table_format or html_file or figures or archive):
        raise UsageError(
            f"suite {suite} is a reference tool, which has no page. Remove --markdown, --html, --figures and --archive."
        )
    write_output(json_file, lambda: to_json(suite, spec, outcome))
    if html_file or archive:
        _write_paper(build_file(suite, spec, outcome), html_file, archive, spec.title)
    if figures:
        write_figures(name_plots(outcome.exhibits), figures)
    print_page(
        lambda: (
            render_markdown_page(suite, spec, outcome, figures or "figures")
            if table_format
            else render_page(spec, outcome, show_all=show_all, width=page_width()) + "\n"
        ),
        json_file,
        html_file,
    )
    if outcome.statuses["unexplained"] if outcome.exhibits else outcome.differences:
        sys.exit(1)


def _choose_suite(suite: str | None, system: str | None) -> tuple[str, Suite]:
    """Return the arguments that name a suite, and the suite; the claims about `system` are a suite too.

    Raise `UsageError` unless exactly one of both is given, or if there are no claims about the system.
    """
    from karat.model.errors import UsageError
    from karat.model.registry import get_plugin, list_plugins
    from karat.model.spec.suite import Suite
    from karat.model.spec.system import System
    from karat.protocols.papers.published_claims import build_claims_suite

    if system is None and suite is not None:
        return suite, get_plugin("suites", suite, Suite)
    if system is None or suite is not None:
        raise UsageError("karat reproduce takes either SUITE or --system NAME. Give one of them.")
    spec = get_plugin("systems", system, System)
    if not spec.claims:
        names = [name for name in list_plugins("systems") if get_plugin("systems", name, System).claims]
        raise UsageError(f"no claims are known about {system}. Choose one of: {', '.join(names)}.")
    return f"--system {system}", build_claims_suite(system, spec)


def _write_paper(reproduction: ReproductionFile, html_file: str | None, archive: str | None, title: str) -> None:
    """Add the reproduction of a paper to the folder `archive`, and write it to `html_file`, if they are given."""
    from karat.cli.html import write_page
    from karat.storage.content_store import FolderStore, MemoryStore
    from karat.web.archive.archive import Archive
    from karat.web.archive.reproductions import store_reproduction

    if archive is not None:
        store_reproduction(FolderStore.open_or_create(archive), reproduction)
        echo(f"{archive}: added; karat serve {archive} shows it as Papers", err=True)
    if html_file is not None:
        store = MemoryStore()
        store_reproduction(store, reproduction)
        write_page(Archive(store, "none", title), html_file)
