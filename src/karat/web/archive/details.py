"""The dataset and gap explanation resources."""

from __future__ import annotations

from collections.abc import Mapping

from karat.analysis.explanation.gap import Flip
from karat.data.describe import describe
from karat.data.lint.context import build_context
from karat.data.lint.lint import lint, select_rules
from karat.model.errors import UsageError
from karat.render.gap import CauseRecord, GapFile
from karat.web.archive.archive import Archive
from karat.web.archive.leaderboard import rank_systems
from karat.web.archive.shape import (
    DatasetResource,
    FlippedCaseInfo,
    LintFinding,
    Reasons,
    ReasonsResource,
    ReasonStep,
)

_FINDINGS = 200
"""Maximum number of findings listed per rule; all are counted."""

_FLIPS = 300
"""Maximum number of flips listed per setting; all are counted."""


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


def build_reasons(archive: Archive, key: str) -> ReasonsResource:
    """Build the explanations of all systems' score gaps to other profiles on the dataset `key`."""
    corpus, systems = archive.read_corpus(key), rank_systems(archive)
    document_indices = {} if corpus is None else {id: index for index, id in enumerate(corpus.ids.to_pylist())}
    has_visible_texts = archive.get_visible_corpus(key) is not None
    explanations = [
        _build_explanation(
            archive.read_explanation(entry, profile),
            systems.index(entry.system),
            document_indices,
            with_texts=has_visible_texts,
        )
        for entry in sorted(archive.get_entries(key), key=lambda entry: systems.index(entry.system))
        for profile in sorted(entry.reasons)
    ]
    return ReasonsResource(archive.datasets[key].dataset, explanations)


def _build_explanation(
    explanation: GapFile, system: int, document_indices: Mapping[str, int], *, with_texts: bool
) -> Reasons:
    """Build the explanation of the system with index `system`.

    `document_indices` has the index of each document by id; without `with_texts`, surfaces of flips are empty.
    """
    return Reasons(
        system,
        explanation.reference.profile,
        explanation.reference.measure,
        explanation.evaluated.measure,
        round(explanation.reference.score, 5),
        round(explanation.evaluated.score, 5),
        [_build_step(cause, document_indices, with_texts=with_texts) for cause in explanation.causes],
        list(explanation.irrelevant_settings),
    )


def _build_step(cause: CauseRecord, document_indices: Mapping[str, int], *, with_texts: bool) -> ReasonStep:
    """Build the share of a setting in the gap, with at most `_FLIPS` of the cases that it flips."""
    return ReasonStep(
        [(name, theirs, ours) for name, (theirs, ours) in cause.settings.items()],
        round(cause.share, 5),
        [_build_flip(flip, document_indices, with_texts=with_texts) for flip in cause.flips[:_FLIPS]],
        len(cause.flips),
    )


def _build_flip(flip: Flip, document_indices: Mapping[str, int], *, with_texts: bool) -> FlippedCaseInfo:
    """Build a flipped case; document index -1 means unknown."""
    return FlippedCaseInfo(
        document_indices.get(flip.document, -1),
        flip.start,
        flip.end,
        flip.text if with_texts else "",
        flip.gold,
        flip.prediction,
        (flip.gold_before, flip.gold_after),
        (flip.prediction_before, flip.prediction_after),
    )
