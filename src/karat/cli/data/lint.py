"""`karat data lint GOLD`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, once

if TYPE_CHECKING:
    from karat.lint.lint import Found, Gold, Report


@click.command()
@click.argument("gold")
@click.option("--fix", "target", metavar="OUT", help="Write the gold standard with what can be fixed fixed.")
@click.option(
    "--kb", metavar="DIR", help="Known ids, types, redirects: entities.tsv, redirects.tsv, disambiguation.tsv."
)
@click.option("--redirects", metavar="FILE", help="Redirects: two columns, or one JSON object.")
@click.option("--types", metavar="FILE", help="The types that entities may have, one per line.")
@click.option("--rules", "rules_file", metavar="FILE", help="Rules of your own, in TOML (docs/lint.md).")
@click.option("--only", multiple=True, metavar="RULE", help="Run only this rule (repeatable; also a .py file).")
@click.option("--skip", multiple=True, metavar="RULE", help="Leave this rule out (repeatable).")
@click.option("--strict", is_flag=True, help="Exit with 1 if there is an error or a warning (with --fix: left).")
@click.option(
    "--show", default=5, show_default=True, type=click.IntRange(0), metavar="N", help="Print N findings of each rule."
)
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all findings as JSON.")
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
def command(
    gold: str,
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
) -> None:
    """Find defects in a gold standard, and fix some.

    Each finding names its rule, place and proposed fix; [fix] marks those that --fix applies. An error is wrong
    whatever was meant, a warning most likely, a hint is worth a look.

    \b
    karat data lint gold.jsonl
    karat data lint gold.ttl --fix better.jsonl --redirects redirects.tsv
    karat data lint gold.jsonl --strict --skip word-boundary     for a continuous check
    """
    import msgspec

    from karat.data.convert import lost
    from karat.data.load import save, target_format
    from karat.lint.context import context_of
    from karat.lint.lint import chosen_rules, fixed, fixed_corpus, lint, read_gold
    from karat.lint.own_rules import OwnRules, read_rules
    from karat.storage.files import writing

    apart([path for path in (gold, redirects, types, rules_file) if path is not None], [target, json_file])
    own = OwnRules({}, ()) if rules_file is None else read_rules(rules_file)
    rules = chosen_rules(only, skip, own.rules)
    chosen = None if target is None else target_format(target, None)[1]
    read = read_gold(gold, format=gold_format)
    context = context_of(
        read.documents, kb=kb, redirects=redirects, types=types, dimensions=own.dimensions, skipped=read.skipped
    )
    report = lint(read.documents, rules, context)
    left = report
    if target is not None and chosen is not None:
        documents = fixed(read.documents, rules, context)
        left = lint(documents, rules, context)
        corpus = fixed_corpus(read, documents)
        save(corpus, target)
        for name, count in lost(corpus, chosen).items():
            click.echo(f"{target}: not kept: {name} {count}", err=True)
    if json_file is not None:
        with writing(json_file) as file:
            file.write(msgspec.json.encode(_content(read, report, left)) + b"\n")
    piped = "-" in (target, json_file)  # then standard output is taken
    click.echo(_shown(read, report, left if target is not None else None, show), nl=False, err=piped)
    bad = left.severities()
    if strict and (bad["error"] or bad["warning"]):
        sys.exit(1)


def _content(read: Gold, report: Report, left: Report) -> dict[str, object]:
    counts, fixable, after = report.counts(), report.counts(fixable=True), left.counts()
    return {
        "corpus": read.name,
        "documents": len(read.documents),
        "refused": read.refused,
        "severities": report.severities(),
        "rules": {
            name: {
                "title": rule.title,
                "severity": rule.severity,
                "findings": counts[name],
                "fixable": fixable[name],
                "left": after[name],
            }
            for name, rule in report.rules.items()
        },
        "findings": [found.to_dict() for found in report.found],
    }


def _shown(read: Gold, report: Report, left: Report | None, show: int) -> str:
    lines = [f"{read.name} is no corpus yet: {read.refused}"] if read.refused else []
    printed = dict.fromkeys(report.rules, 0)
    for found in report.found:
        printed[found.rule] += 1
        if printed[found.rule] <= show:
            lines.append(_line(found))
    return "\n".join([*lines, *([""] if lines else []), *_summary(report, left)]) + "\n"


def _line(found: Found) -> str:
    one = found.finding
    place = "the corpus" if one.document is None else one.document
    span = f" [{one.span.start}, {one.span.end}) {one.surface!r}" if one.span is not None else ""
    fix = f". {one.proposal}{' [fix]' if one.fixable else ''}" if one.proposal else ""
    return f"{found.severity} {found.rule}: {place}{span}: {one.says}{fix}"


def _summary(report: Report, left: Report | None) -> list[str]:
    """A table by rule of what was found, and one line of sums."""
    counts, fixable = report.counts(), report.counts(fixable=True)
    after = None if left is None else left.counts()
    rows = [["rule", "severity", "findings", "fixable", *(["left"] if after else [])]]
    for name, rule in report.rules.items():
        if counts[name] or (after and after[name]):
            numbers = [counts[name], fixable[name], *([after[name]] if after else [])]
            rows.append([name, rule.severity, *(f"{number:,}" for number in numbers)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join([*map(str.ljust, row[:2], widths), *map(str.rjust, row[2:], widths[2:])]).rstrip() for row in rows
    ]
    sums = ", ".join(f"{number:,} {severity}{'s' * (number != 1)}" for severity, number in report.severities().items())
    return [*(lines if len(rows) > 1 else []), f"{len(report.rules)} rule{'s' * (len(report.rules) != 1)}: {sums}"]
