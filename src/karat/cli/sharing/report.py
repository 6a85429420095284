"""`karat report FILE…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, chosen
from karat.cli.output import say
from karat.cli.reading import reading
from karat.cli.sharing.pages import texts_shown, write_archived, write_html

if TYPE_CHECKING:
    from collections.abc import Iterable

    from karat.archive.archive import TextsShown
    from karat.comparison.entries import Entry
    from karat.evaluation.request import Request


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option(
    "--gold", "golds", multiple=True, metavar="GOLD", help="The gold standard that FILEs answer (repeatable)."
)
@click.option(
    "--to", "layout", default="html", show_default=True, metavar="NAME", help="html, md, latex, csv, junit or table."
)
@click.option("-o", "--out", metavar="FILE", help="Where to write it.  [default: standard output, but for html]")
@click.option("--archive", metavar="DIR", help="Add everything to this folder, for karat serve.")
@click.option("--title", default="Karat", show_default=True, help="What the pages are called.")
@texts_shown
@click.option("--like", metavar="PROFILE", help="The table of conventions to use.  [default: karat]")
@click.option("--set", "overrides", multiple=True, metavar="CHOICE=VALUE", help="Override one choice of the profile.")
@click.option("--kb", metavar="DIR", help="Resolve ids by the tables in this folder, and take names from there.")
@click.option("--by", multiple=True, metavar="LABEL", help="Scores by types, nil, … (repeatable).")
@click.option(
    "--why", "reasons", multiple=True, metavar="PROFILE", help="Say why this profile has another number (repeatable)."
)
@click.option("--one-profile", is_flag=True, help="Leave the numbers under other profiles out.")
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Samples of documents for intervals.")
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
@click.option("--answers-format", metavar="NAME", help="The format of FILE, where it is not recognised.")
@click.option("--allow-unknown", is_flag=True, help="Leave out answers to documents that GOLD does not have.")
@reading
def command(
    files: tuple[str, ...],
    golds: tuple[str, ...],
    layout: str,
    out: str | None,
    archive: str | None,
    title: str,
    texts: TextsShown,
    like: str | None,
    overrides: tuple[str, ...],
    kb: str | None,
    by: tuple[str, ...],
    reasons: tuple[str, ...],
    one_profile: bool,
    resamples: int,
    gold_format: str | None,
    answers_format: str | None,
    allow_unknown: bool,
) -> None:
    """Make one file of everything: board, errors, texts with tracks, flips, gold standard, conventions, curves.

    FILEs are as in `karat compare`: results (`karat score --json`), files with gold labels and answers, or with --gold
    answers; or the folder of an archive. The file works from disk, without server and network, and can be sent to
    somebody. It holds the texts unless --texts says otherwise.

    \b
    karat report --gold demo demo --out demo.html
    karat report --gold gold.jsonl one.jsonl two.jsonl --why gerbil --out r.html
    karat report */*.kore50.linked_articles.jsonl --archive archive
    karat report results/*.json --to latex --by types
    """
    from karat.archive.making import Filling, check_profiles
    from karat.comparison.entries import Formats, entries, named
    from karat.errors import UsageError
    from karat.evaluation.request import Request
    from karat.registry import names
    from karat.storage.addressed import is_archive

    if layout == "html" and out is None and archive is None:
        raise UsageError("a page is no text for the terminal. Give --out FILE, such as --out report.html.")
    if layout != "html" and archive is not None:
        raise UsageError(f"{layout} is a report of scores, and an archive has more. Leave out --to, or --archive.")
    stored = [path for path in files if is_archive(path)]
    apart([*(named(given)[1] for given in files if given not in stored), *golds], [out])
    request = Request.of(like=like or "karat", choices=chosen(overrides), by=by, kb=kb, allow_unknown=allow_unknown)
    if stored:
        if len(files) > 1 or golds or layout != "html" or out is None:
            raise UsageError(f"{stored[0]} is an archive. Give it alone, with --out FILE.")
        write_archived(stored[0], out, texts=texts, title=title)
        return
    given = list(entries(files, golds, Formats(gold_format, answers_format)))
    if layout == "html":
        profiles = tuple(names("profiles")) if not one_profile else check_profiles(reasons)
        filling = Filling(profiles, check_profiles(reasons), resamples)
        write_html(given, request, out, texts=texts, title=title, archive=archive, filling=filling)
        return
    _rendered(given, request, layout, out)


_TABLES = {"md": "markdown", "markdown": "markdown", "latex": "latex"}
"""What tables of papers are called here, with their layouts."""


def _rendered(given: Iterable[Entry], request: Request, layout: str, out: str | None) -> None:
    """Another report of the same results."""
    from karat.archive.making import results
    from karat.cli.output import write
    from karat.cli.score import show
    from karat.errors import UnknownNameError, UsageError
    from karat.pages.report import report as tables
    from karat.registry import get, names
    from karat.spec.report import Report

    known = [name for name in names("reports") if not get("reports", name, Report).peer]
    if layout not in (*_TABLES, *known):
        if layout in names("reports"):
            raise UsageError(f"{layout} is the layout of another program's files. Use karat score --layout {layout}.")
        raise UnknownNameError("report", layout, ["html", *_TABLES, *known])
    found = results(given, request)
    if layout == "table" and out is None:
        show(found)
        return
    text = tables(found, _TABLES[layout]) if layout in _TABLES else get("reports", layout, Report).render(found)
    if out is None:
        say(text, nl=False)
    else:
        write(out, text.encode)
