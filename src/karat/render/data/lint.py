"""Lint findings, as text and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from karat.model.output.json_files import JsonFile, JsonRecord, build_record, encode_line
from karat.model.output.text_layout import format_count, wrap_text
from karat.model.span import Span
from karat.model.spec.rule import Severity
from karat.render.tables import draw_text

if TYPE_CHECKING:
    from karat.data.lint.lint import LintInput, LintReport, RuleFinding


class RuleFindings(JsonRecord, frozen=True):
    """The findings of one rule: how many, how many are fixable, and how many remain after a fix."""

    title: str
    severity: Severity
    findings: int
    fixable: int
    remaining: int


class FindingRecord(JsonRecord, frozen=True):
    """A finding of a rule; without `document` it is about the whole corpus."""

    rule: str
    severity: Severity
    document: str | None
    span: Span | None
    surface: str
    description: str
    proposal: str
    fixable: bool


class LintFile(JsonFile, frozen=True, tag="karat-lint/2"):
    """The output of `karat data lint --json`.

    `corpus`: name of the corpus or run. `input_error`: why the file could not be loaded, else null.
    """

    corpus: str
    kind: Literal["gold", "predictions"]
    documents: int
    input_error: str | None
    severities: Mapping[Severity, int]
    rules: Mapping[str, RuleFindings]
    findings: tuple[FindingRecord, ...]


def to_json(data: LintInput, report: LintReport, remaining: LintReport) -> bytes:
    """Encode all findings as one line of JSON; `remaining` has the findings after a fix."""
    counts, fixable, after = report.count_by_rule(), report.count_by_rule(fixable=True), remaining.count_by_rule()
    rules = {
        name: RuleFindings(rule.title, rule.severity, counts[name], fixable[name], after[name])
        for name, rule in report.rules.items()
    }
    return encode_line(
        LintFile(
            corpus=data.name,
            kind="predictions" if data.has_predictions else "gold",
            documents=len(data.documents),
            input_error=data.input_error,
            severities=report.count_by_severity(),
            rules=rules,
            findings=tuple(map(_build_finding_record, report.findings)),
        )
    )


def _build_finding_record(rule_finding: RuleFinding) -> FindingRecord:
    """Return the JSON record of a finding."""
    return build_record(FindingRecord, rule_finding.finding, rule=rule_finding.rule, severity=rule_finding.severity)


def render_page(
    data: LintInput, report: LintReport, remaining: LintReport | None, max_per_rule: int, *, width: int | None = None
) -> str:
    """Render up to `max_per_rule` findings of each rule and a summary by rule.

    `remaining` has the findings after a fix; None without a fix. `width`: columns to wrap at; None does not wrap.
    """
    lines = [f"{data.name} is not a valid corpus: {data.input_error}"] if data.input_error else []
    printed = dict.fromkeys(report.rules, 0)
    for rule_finding in report.findings:
        printed[rule_finding.rule] += 1
        if printed[rule_finding.rule] <= max_per_rule:
            lines.append(_format_finding(rule_finding))
    return wrap_text(
        "\n".join([*lines, *([""] if lines else []), *_build_summary(report, remaining, width)]) + "\n", width
    )


def _format_finding(rule_finding: RuleFinding) -> str:
    """Return a finding on one line: severity, rule, location, description and proposal."""
    finding = rule_finding.finding
    location = "the corpus" if finding.document is None else finding.document
    span = f" [{finding.span.start}, {finding.span.end}) {finding.surface!r}" if finding.span is not None else ""
    fix = f". {finding.proposal}{' [fix]' if finding.fixable else ''}" if finding.proposal else ""
    return f"{rule_finding.severity} {rule_finding.rule}: {location}{span}: {finding.description}{fix}"


def _build_summary(report: LintReport, remaining: LintReport | None, width: int | None) -> list[str]:
    """Return two blocks: a table of counts by rule, if there are findings, and a line of totals.

    `remaining` has the findings after a fix; None without a fix. `width`: columns to wrap at; None does not wrap.
    """
    counts, fixable = report.count_by_rule(), report.count_by_rule(fixable=True)
    after = None if remaining is None else remaining.count_by_rule()
    rows = [["rule", "severity", "findings", "fixable", *(["remaining"] if after else [])]]
    for name, rule in report.rules.items():
        if counts[name] or (after and after[name]):
            numbers = [counts[name], fixable[name], *([after[name]] if after else [])]
            rows.append([name, rule.severity, *(f"{number:,}" for number in numbers)])
    sums = ", ".join(format_count(number, severity) for severity, number in report.count_by_severity().items())
    table = [draw_text(rows, (0, 1), width)] if len(rows) > 1 else []
    return [*table, f"{format_count(len(report.rules), 'rule')}: {sums}"]
