"""Findings of the linter, as `karat data lint` prints and writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from karat.fitting import counted, wrapped
from karat.model.span import Span
from karat.pages.files import Written, line
from karat.pages.tables import aligned
from karat.spec.rule import Severity

if TYPE_CHECKING:
    from karat.lint.lint import GoldToLint, LintReport, RuleFinding


class RuleFindings(Written, frozen=True):
    """How much a rule found, how much of it a fix removes, and what was left after one."""

    title: str
    severity: Severity
    findings: int
    fixable: int
    left: int


class PlacedFinding(Written, frozen=True):
    """What a rule says about one place; without `document` about the whole corpus."""

    rule: str
    severity: Severity
    document: str | None
    span: Span | None
    surface: str
    says: str
    proposal: str
    fixable: bool


class LintFile(Written, frozen=True):
    """What `karat data lint --json` writes; `refused` says why the file is no corpus yet.

    Of answers, `corpus` is the name of the run.
    """

    layout: Literal["karat-lint/1"]
    corpus: str
    kind: Literal["gold", "answers"]
    documents: int
    refused: str | None
    severities: Mapping[Severity, int]
    rules: Mapping[str, RuleFindings]
    findings: tuple[PlacedFinding, ...]


def json_of(read: GoldToLint, report: LintReport, left: LintReport) -> bytes:
    """All findings, and what is left after a fix."""
    counts, fixable, after = report.counts(), report.counts(fixable=True), left.counts()
    rules = {
        name: RuleFindings(rule.title, rule.severity, counts[name], fixable[name], after[name])
        for name, rule in report.rules.items()
    }
    return line(
        LintFile(
            layout="karat-lint/1",
            corpus=read.name,
            kind="answers" if read.answers else "gold",
            documents=len(read.documents),
            refused=read.refused,
            severities=report.severities(),
            rules=rules,
            findings=tuple(map(_finding, report.found)),
        )
    )


def _finding(found: RuleFinding) -> PlacedFinding:
    one = found.finding
    return PlacedFinding(
        found.rule, found.severity, one.document, one.span, one.surface, one.says, one.proposal, one.fixable
    )


def page(read: GoldToLint, report: LintReport, left: LintReport | None, most: int, *, width: int | None = None) -> str:
    """At most so many findings of each rule, and all of them by rule; with what is left after a fix."""
    lines = [f"{read.name} is no corpus yet: {read.refused}"] if read.refused else []
    printed = dict.fromkeys(report.rules, 0)
    for found in report.found:
        printed[found.rule] += 1
        if printed[found.rule] <= most:
            lines.append(_line(found))
    return wrapped("\n".join([*lines, *([""] if lines else []), *_summary(report, left, width)]) + "\n", width)


def _line(found: RuleFinding) -> str:
    one = found.finding
    place = "the corpus" if one.document is None else one.document
    span = f" [{one.span.start}, {one.span.end}) {one.surface!r}" if one.span is not None else ""
    fix = f". {one.proposal}{' [fix]' if one.fixable else ''}" if one.proposal else ""
    return f"{found.severity} {found.rule}: {place}{span}: {one.says}{fix}"


def _summary(report: LintReport, left: LintReport | None, width: int | None) -> list[str]:
    """A table by rule of what was found, and one line of sums."""
    counts, fixable = report.counts(), report.counts(fixable=True)
    after = None if left is None else left.counts()
    rows = [["rule", "severity", "findings", "fixable", *(["left"] if after else [])]]
    for name, rule in report.rules.items():
        if counts[name] or (after and after[name]):
            numbers = [counts[name], fixable[name], *([after[name]] if after else [])]
            rows.append([name, rule.severity, *(f"{number:,}" for number in numbers)])
    sums = ", ".join(counted(number, severity) for severity, number in report.severities().items())
    table = [aligned(rows, (0, 1), width)] if len(rows) > 1 else []
    return [*table, f"{counted(len(report.rules), 'rule')}: {sums}"]
