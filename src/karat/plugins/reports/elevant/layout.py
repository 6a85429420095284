"""The figures of a result in the layout of ELEVANT's result file.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from karat.model.errors import UsageError
from karat.model.output.command_options import format_option, format_setting
from karat.model.registry import get_plugin
from karat.model.results.result import GroupScores, Result, WeightSums
from karat.model.spec.category import ErrorCategory
from karat.model.tables.facet_values import NONE
from karat.plugins.reports.elevant.names import NAMES

MODES = {"IGNORED": "[in-kb]", "REQUIRED": ""}
"""ELEVANT's two treatments of NIL, with the filter of the view that each uses."""

_MENTION_TYPES = {
    "entity": "entity",
    "coref": "coreference",
    "entity_named": "entity-named",
    "entity_non_named": "entity-non-named",
    "entity_unknown": "entity-unknown",
    "coref_nominal": "coreference-nominal",
    "coref_pronominal": "coreference-pronominal",
}
_TYPES = (
    "Q215627 Q27096213 Q43229 Q17537576 Q2424752 Q1656682 Q431289 Q483394 Q17376908 Q43460564 Q16521 Q9174 Q7257 "
    "Q4164871 Q12737077 Q11862829 Q21070598 Q618779 Q12136 Q4392985 Q373899 Q22222786 Q33829 Q1075 Q179661 Q169872 "
    "Q4936952 Q349 Q729"
)
MEASURES = tuple(f"{relation}{part}:micro.f1" for part in MODES.values() for relation in ("strong", "mention"))
"""Measures that the layout needs."""

FACETS = ("mention-type", "entity-type", "error")
"""Facets that the layout needs scores by."""

_NO_COUNTS = WeightSums(0, 0, 0, 0)


def build_layout(result: Result) -> dict[str, Any]:
    """Return all figures of a result in ELEVANT's order and with ELEVANT's names, for both of its treatments of NIL.

    Raise `UsageError` if scores by facet, views or error categories are missing.
    """
    for facet in FACETS:
        if facet not in result.groups:
            raise UsageError(
                f"ELEVANT's layout needs the scores by {facet}. Score with {format_option('profile', 'elevant')} and "
                f"{format_option('by', facet)}."
            )
    for part in MODES.values():
        for view in (f"strong{part}", f"mention{part}"):
            if view not in result.groups["mention-type"]:
                raise UsageError(f"ELEVANT's layout needs the view {view}. Score the task a2kb.")
        if not NAMES.keys() <= result.groups["error"].get(f"strong{part}", {}).keys():
            raise UsageError(
                f"ELEVANT's layout needs error categories. Score with {format_setting('groups', 'credited')}."
            )
    return {mode: _build_mode(result, part) for mode, part in MODES.items()}


def _build_mode(result: Result, part: str) -> dict[str, Any]:
    """Return the figures of one treatment of NIL; `part` is the filter of its views."""
    link, detection = f"strong{part}", f"mention{part}"
    types = result.groups["mention-type"][link]
    entities = result.groups["entity-type"][link]
    detection_groups = result.groups["mention-type"][detection]
    return {
        "mention_types": {
            "all": _build_figures(result.counts(link)),
            **{name: _build_figures(_get_counts(types, value)) for name, value in _MENTION_TYPES.items()},
        },
        "error_categories": {
            "ner": _build_figures(_get_counts(detection_groups, "entity")),
            **_build_error_sections(result.groups["error"][link]),
        },
        "entity_types": {
            "OTHER": _build_figures(_get_counts(entities, NONE)),
            **{kind: _build_figures(_get_counts(entities, kind)) for kind in _TYPES.split()},
        },
    }


def _get_counts(groups: Mapping[str, GroupScores], value: str) -> WeightSums:
    """Return the counts of a facet's value, all zero if it does not occur."""
    return _NO_COUNTS if value not in groups else groups[value].counts or _NO_COUNTS


def _build_figures(counts: WeightSums) -> dict[str, int | float]:
    """Return counts, precision, recall and F1 under ELEVANT's names; undefined scores are 0."""
    tp, fp, fn = int(counts.matched_gold), int(counts.unmatched_predictions), int(counts.unmatched_gold)
    p = tp / (tp + fp) if tp + fp else 0
    r = tp / (tp + fn) if tp + fn else 0
    return {
        "true_positives": tp,
        "false_positives": fp,
        "false_negatives": fn,
        "ground_truth": tp + fn,
        "precision": p,
        "recall": r,
        "f1": 2 * p * r / (p + r) if p + r else 0,
    }


def _build_error_sections(groups: Mapping[str, GroupScores]) -> dict[str, dict[str, Any]]:
    """Return the counts of all error categories by ELEVANT's section and key."""
    sections: dict[str, dict[str, Any]] = {}
    for name, name_there in NAMES.items():
        sections.setdefault(name_there.section, {})[name_there.key] = _build_error_counts(name, groups)
    return sections


def _build_error_counts(name: str, groups: Mapping[str, GroupScores]) -> int | dict[str, int | None] | None:
    """Return the counts of an error category as ELEVANT writes them: errors and total.

    A category without total is its number of errors alone. None means that the system returns no candidates.
    """
    category, group = get_plugin("categories", name, ErrorCategory), groups[name]
    if category.is_avoided is None and category.candidate_words is None:
        return group.errors
    if category.needs_candidates and group.total is None:
        return None
    return {"errors": group.errors, "total": group.total}


def collect_notes(result: Result) -> Iterator[str]:
    """Yield notes about totals and undecided cases that ELEVANT's layout cannot express."""
    for part in MODES.values():
        groups = result.groups["error"][f"strong{part}"]
        if part:  # both modes use the same texts
            missing_totals: dict[str, list[str]] = {}
            for name, group in groups.items():
                if get_plugin("categories", name, ErrorCategory).candidate_words and group.total is None:
                    missing_totals.setdefault(group.undefined["micro.error-rate"], []).append(name)
            yield from (
                f"the total of {', '.join(names)} is null: {reason}" for reason, names in missing_totals.items()
            )
        undecided = {name: group.undecided for name, group in groups.items() if group.undecided}
        if undecided:
            counts = ", ".join(f"{count:,} for {name}" for name, count in undecided.items())
            yield f"strong{part}: undecided, facts missing (names, types, popular.tsv, demonyms.txt in --kb): {counts}"
