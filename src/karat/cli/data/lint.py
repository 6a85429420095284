"""`karat data lint FILE`."""

from __future__ import annotations

import sys

import click

from karat.cli.choices import apart, once
from karat.cli.output import say, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("file")
@click.option("--gold", metavar="GOLD", help="The gold standard that FILE answers, for the texts.")
@click.option("--as", "kind", type=click.Choice(["gold", "answers"]), help="What FILE holds, where it could be both.")
@click.option("--fix", "target", metavar="OUT", help="Write the gold standard with what can be fixed fixed.")
@click.option("--kb", metavar="NAME|DIR", help="Known ids, types, redirects: a pack, or entities.tsv, redirects.tsv, …")
@click.option("--redirects", metavar="FILE", help="Redirects: two columns, or one JSON object.")
@click.option("--types", metavar="FILE", help="The types that entities may have, one per line.")
@click.option("--rules", "rules_file", metavar="FILE", help="Rules of your own, in TOML (docs/lint.md).")
@click.option("--only", multiple=True, metavar="RULE", help="Only this rule (repeatable; also a .py file, which runs).")
@click.option("--skip", multiple=True, metavar="RULE", help="Leave this rule out (repeatable).")
@click.option("--strict", is_flag=True, help="Exit with 1 if there is an error or a warning (with --fix: left).")
@click.option(
    "--show", default=5, show_default=True, type=click.IntRange(0), metavar="N", help="Print N findings of each rule."
)
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all findings as JSON.")
@click.option("--gold-format", metavar="NAME", help="The format of the gold standard, where it is not recognised.")
@click.option("--answers-format", metavar="NAME", help="The format of the answers, where it is not recognised.")
@reading
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
    show: int,
    json_file: str | None,
    gold_format: str | None,
    answers_format: str | None,
) -> None:
    """Find defects in a gold standard, and fix some; or in answers.

    Each finding names its rule, place and proposed fix; [fix] marks those that --fix applies. An error is wrong
    whatever was meant, a warning most likely, a hint is worth a look.

    \b
    karat data lint gold.jsonl
    karat data lint gold.ttl --fix better.jsonl --redirects redirects.tsv
    karat data lint gold.jsonl --strict --skip word-boundary
    karat data lint answers.jsonl --gold gold.jsonl
    """
    from karat.data.convert import lost
    from karat.data.load import load, load_run, save, sort_of, target_format
    from karat.errors import UsageError
    from karat.lint.context import context_of
    from karat.lint.lint import chosen_rules, fixed, fixed_corpus, lint, read_answers, read_gold
    from karat.lint.own_rules import OwnRules, read_rules
    from karat.pages.data.lint import json_of, page

    apart([path for path in (file, gold, redirects, types, rules_file) if path is not None], [target, json_file])
    own = OwnRules({}, ()) if rules_file is None else read_rules(rules_file)
    of_answers = (kind or ("answers" if gold or answers_format else sort_of(file, format=gold_format))) == "answers"
    if of_answers and target is not None:
        raise UsageError(f"{file} holds answers, which are looked at and never changed. Leave --fix out.")
    if gold is not None and not of_answers:
        raise UsageError(f"--gold goes with answers, and {file} is said to be gold itself. Leave one of the two out.")
    rules = chosen_rules(only, skip, own.rules, answers=of_answers)
    chosen = None if target is None else target_format(target, None)[1]
    if of_answers:
        corpus = None if gold is None else load(gold, format=gold_format)
        read = read_answers(load_run(file, format=answers_format or (gold_format if gold is None else None)), corpus)
    else:
        read = read_gold(file, format=gold_format)
    context = context_of(
        read.documents, kb=kb, redirects=redirects, types=types, dimensions=own.dimensions, skipped=read.skipped
    )
    report = lint(read.documents, rules, context)
    left = report
    if target is not None and chosen is not None:
        documents = fixed(read.documents, rules, context)
        left = lint(documents, rules, context)
        better = fixed_corpus(read, documents)
        save(better, target)
        for name, count in lost(better, chosen).items():
            say(f"{target}: not kept: {name} {count}", err=True)
    write(json_file, lambda: json_of(read, report, left))
    piped = "-" in (target, json_file)  # then standard output is taken
    say(page(read, report, left if target is not None else None, show, width=width()), nl=False, err=piped)
    bad = left.severities()
    if strict and (bad["error"] or bad["warning"]):
        sys.exit(1)
