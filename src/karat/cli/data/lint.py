"""`karat data lint FILE`."""

from __future__ import annotations

import sys

import click

from karat.cli.arguments import check_paths, single_value
from karat.cli.options.reading import input_options
from karat.cli.output import echo, page_width, write_output


@click.command()
@click.argument("file")
@click.option("--gold", metavar="GOLD", help="Gold standard with the texts, if FILE contains predictions.")
@click.option("--as", "kind", type=click.Choice(["gold", "predictions"]), help="Content of FILE, if ambiguous.")
@click.option("--fix", "target", metavar="OUT", help="Write the gold standard with all automatic fixes.")
@click.option(
    "--kb",
    metavar="NAME|DIR",
    help="Knowledge base with ids, types and redirects: a snapshot, or entities.tsv, redirects.tsv, …",
)
@click.option("--redirects", metavar="FILE", help="Redirects, as two columns or one JSON object.")
@click.option("--types", metavar="FILE", help="Allowed entity types, one per line.")
@click.option("--rules", "rules_file", metavar="FILE", help="Custom rules in TOML (docs/lint.md).")
@click.option(
    "--only",
    multiple=True,
    metavar="RULE",
    help="Rule to check, or a .py file to run (repeatable).  [default: all rules]",
)
@click.option("--skip", multiple=True, metavar="RULE", help="Rule to skip (repeatable).")
@click.option("--strict", is_flag=True, help="Exit with code 1 if errors or warnings remain.")
@click.option(
    "--limit",
    default=5,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Maximum number of findings to print per rule.",
)
@click.option(
    "--json", "json_file", callback=single_value, multiple=True, metavar="FILE", help="Write all findings as JSON."
)
@click.option("--gold-format", metavar="NAME", help="Format of the gold standard, if not detected.")
@click.option("--predictions-format", metavar="NAME", help="Format of the predictions, if not detected.")
@input_options
def command(
    file: str,
    gold: str | None,
    kind: str | None,
    target: str | None,
    kb: str | None,
    redirects: str | None,
    types: str | None,
    rules_file: str | None,
    only: tuple[str, ...],
    skip: tuple[str, ...],
    strict: bool,
    limit: int,
    json_file: str | None,
    gold_format: str | None,
    predictions_format: str | None,
) -> None:
    """Find and fix errors in a gold standard.

    FILE may also contain predictions, which are only checked. Each finding names its rule, location and proposed fix;
    [fix] marks those that --fix applies. An error is certainly wrong, a warning probably, a hint possibly.

    \b
    karat data lint gold.jsonl
    karat data lint gold.ttl --fix better.jsonl --redirects redirects.tsv
    karat data lint gold.jsonl --strict --skip word-boundary
    karat data lint predictions.jsonl --gold gold.jsonl
    """
    from karat.data.convert import count_losses
    from karat.data.lint.context import build_context
    from karat.data.lint.lint import fix_documents, lint, prepare_predictions, read_gold, select_rules, to_fixed_corpus
    from karat.data.lint.user_rules import UserRules, read_rules
    from karat.data.load import (
        convert_run_offsets,
        detect_kind,
        get_target_format,
        load,
        load_run,
        load_run_for_any,
        save,
    )
    from karat.model.defects import get_error_policy
    from karat.model.errors import UsageError
    from karat.render.data.lint import render_page, to_json

    check_paths([path for path in (file, gold, redirects, types, rules_file) if path is not None], [target, json_file])
    custom_rules = UserRules({}, ()) if rules_file is None else read_rules(rules_file)
    is_predictions = (
        kind or ("predictions" if gold or predictions_format else detect_kind(file, format=gold_format))
    ) == "predictions"
    if is_predictions and target is not None:
        raise UsageError(f"{file}: predictions are checked but never changed. Remove --fix.")
    if gold is not None and not is_predictions:
        raise UsageError(f"--gold is only used with predictions, but {file} is a gold standard. Remove --gold.")
    rules = select_rules(only, skip, custom_rules.rules, for_predictions=is_predictions)
    target_spec = None if target is None else get_target_format(target, None)[1]
    if is_predictions:
        corpus = None if gold is None else load(gold, format=gold_format)
        run_format = predictions_format or (gold_format if gold is None else None)
        run = (
            load_run(file, format=run_format)
            if corpus is None
            else convert_run_offsets(corpus, load_run_for_any(file, [corpus], format=run_format), get_error_policy())
        )
        data = prepare_predictions(run, corpus)
    else:
        data = read_gold(file, format=gold_format)
    context = build_context(
        data.documents,
        kb=kb,
        redirects=redirects,
        types=types,
        dimensions=custom_rules.dimensions,
        skipped=data.skipped,
    )
    report = lint(data.documents, rules, context)
    remaining = report
    if target is not None and target_spec is not None:
        documents = fix_documents(data.documents, rules, context)
        remaining = lint(documents, rules, context)
        fixed_gold = to_fixed_corpus(data, documents)
        save(fixed_gold, target)
        for name, count in count_losses(fixed_gold, target_spec).items():
            echo(f"{target}: not stored: {name} {count}", err=True)
    write_output(json_file, lambda: to_json(data, report, remaining))
    piped = "-" in (target, json_file)  # standard output is in use
    echo(
        render_page(data, report, remaining if target is not None else None, limit, width=page_width()),
        nl=False,
        err=piped,
    )
    counts = remaining.count_by_severity()
    if strict and (counts["error"] or counts["warning"]):
        sys.exit(1)
