"""Statistics and lint findings of a gold standard."""

from __future__ import annotations

from collections.abc import Mapping

from karat.data.describe import describe
from karat.data.lint.context import build_context
from karat.data.lint.lint import lint, select_rules
from karat.model.errors import UsageError
from karat.web.archive.archive import Archive
from karat.web.archive.resource import Resource
from karat.web.archive.shape import DatasetResource, LintFinding

_FINDINGS = 200
"""Maximum number of findings listed per rule; all are counted."""


def build_dataset(archive: Archive, key: str) -> DatasetResource:
    """Build the statistics and lint findings of the gold standard of the dataset `key`; raise if it is not stored."""
    corpus = archive.read_corpus(key)
    if corpus is None:
        raise UsageError("the archive has results but no gold standard. Pass gold and predictions to `karat report`.")
    statistics, documents = describe(corpus), list(corpus)
    report = lint(documents, select_rules((), ()), build_context(documents, skipped=corpus.skipped))
    document_indices = {document.id: index for index, document in enumerate(documents)}
    has_visible_texts = archive.get_visible_corpus(key) is not None
    findings_by_rule: dict[str, list[LintFinding]] = {name: [] for name in report.rules}
    for item in report.findings:
        finding, findings = item.finding, findings_by_rule[item.rule]
        if len(findings) < _FINDINGS:
            start, end = (-1, -1) if finding.span is None else finding.span
            index = -1 if finding.document is None else document_indices[finding.document]
            texts = (finding.surface, finding.description, finding.proposal) if has_visible_texts else ("", "", "")
            findings.append(LintFinding(item.rule, item.severity, index, start, end, *texts))
    counts = report.count_by_rule()
    entry_names = {id: name for entry in archive.get_entries(key) for id, name in entry.types.items()}
    type_names = {**statistics.type_names, **entry_names}
    return DatasetResource(
        dataset=corpus.name,
        metadata=dict(corpus.metadata),
        statistics=[
            (name, value)
            for name, value in statistics.numbers.items()
            if has_visible_texts or not isinstance(value, str)
        ],
        types=[(type_names.get(name, name), count) for name, count in _sort_by_count(statistics.types)],
        mention_types=_sort_by_count(statistics.mention_types),
        skipped=dict(statistics.skipped),
        rules=[(name, rule.title, rule.severity, counts[name]) for name, rule in report.rules.items() if counts[name]],
        findings=[finding for findings in findings_by_rule.values() for finding in findings],
    )


def _sort_by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return names with counts, most frequent first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


RESOURCE = Resource(
    DatasetResource,
    build_dataset,
    is_per_dataset=True,
    is_available=lambda archive, key: archive.read_corpus(key) is not None,
)
