"""`karat data lint FILE…`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import group_options, karat_command, option
from karat.cli.options.output import json_option, limit_option
from karat.cli.options.reading import input_options, kind_option
from karat.cli.options.scoring import format_options, kb_option
from karat.cli.output import echo, echo_losses, page_width, write_output
from karat.model.errors import UsageError

if TYPE_CHECKING:
    from karat.analysis.comparison.entries import Formats
    from karat.data.lint.lint_file import LintOptions


def _build_options(**options: object) -> LintOptions:
    """Return the rules to check."""
    from karat.data.lint.lint_file import LintOptions

    return LintOptions(**options)  # type: ignore[arg-type]  # the options are named like its fields


@karat_command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@option("--gold", metavar="GOLD", help="Gold standard with the texts, if FILE contains predictions.")
@kind_option("FILE")
@option("--fix", "target", metavar="OUT", help="Write the gold standard with all automatic fixes.")
@group_options(
    "options",
    _build_options,
    kb_option("Knowledge base with ids, types and redirects: a snapshot, or entities.tsv, redirects.tsv, …"),
    option("--redirects", metavar="FILE", help="Redirects, as two columns or one JSON object."),
    option("--types", metavar="NAME|FILE", help="Allowed entity types: fair, or a file with one type per line."),
    option("--rules", "rules_file", metavar="FILE", help="Rules in TOML (documentation page 'Lint rules')."),
    option(
        "--only",
        multiple=True,
        metavar="RULE",
        help="Rule to check, or a .py file to run (repeatable).  [default: all rules]",
    ),
    option("--skip", multiple=True, metavar="RULE", help="Rule to skip (repeatable)."),
)
@option("--strict", is_flag=True, help="Exit with code 1 if errors or warnings remain.")
@limit_option(5, "findings to print per rule")
@json_option("all findings")
@format_options("the gold standard", "the predictions")
@input_options
def command(
    files: tuple[str, ...],
    gold: str | None,
    kind: str | None,
    target: str | None,
    options: LintOptions,
    strict: bool,
    limit: int,
    json_file: str | None,
    formats: Formats,
) -> None:
    """Find and fix errors in gold standards.

    A FILE may also contain predictions, which are only checked. Each finding names its rule, location and proposed fix;
    [fix] marks those that --fix applies. An error is certainly wrong, a warning probably, a hint possibly.

    \b
    karat data lint gold.jsonl
    karat data lint gold.ttl --fix better.jsonl --redirects redirects.tsv
    karat data lint train.jsonl test.jsonl --strict --skip word-boundary
    karat data lint predictions.jsonl --gold gold.jsonl
    """
    from karat.data.lint.lint_file import lint_file
    from karat.render.data.lint import render_page, to_json

    check_paths([*files, gold, options.redirects, options.types, options.rules_file], [target, json_file])
    if target is not None and len(files) > 1:
        raise UsageError(f"--fix writes one gold standard, and there are {len(files)} files. Pass one file.")
    linted_files = [
        lint_file(
            file,
            options,
            gold=gold,
            kind=kind,
            target=target,
            gold_format=formats.gold,
            predictions_format=formats.predictions,
        )
        for file in files
    ]
    if target is not None:
        for linted in linted_files:
            echo_losses(target, linted.not_stored)
    write_output(
        json_file,
        lambda: b"".join(to_json(item.data, item.report, item.remaining or item.report) for item in linted_files),
    )
    for file, linted in zip(files, linted_files, strict=True):
        title = f"{file}\n" if len(files) > 1 else ""
        page = render_page(linted.data, linted.report, linted.remaining, limit, width=page_width())
        echo(title + page, nl=False, err="-" in (target, json_file))  # standard output may be in use
    if strict and not all(linted.is_clean for linted in linted_files):
        sys.exit(1)
