"""All figures of a result as ELEVANT's file of results lays them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from karat.errors import UsageError
from karat.model.result import Counted, Group, Result
from karat.model.tables.facet import NONE
from karat.registry import get
from karat.reports.elevant.names import NAMES
from karat.spec.category import Category

MODES = {"IGNORED": "[in-kb]", "REQUIRED": ""}
"""ELEVANT's two ways to look at NIL, and the part of the data that each of them is."""

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
"""What must be measured for it."""

BY = ("mention-type", "entity-type", "error")
"""The labels that it needs scores by."""

_NONE = Counted(0, 0, 0, 0)


def layout(result: Result) -> dict[str, Any]:
    """All figures in ELEVANT's order, under its names."""
    for label in BY:
        if label not in result.by:
            raise UsageError(f"ELEVANT's layout needs the scores by {label}. Score with --like elevant --by {label}.")
    for part in MODES.values():
        for view in (f"strong{part}", f"mention{part}"):
            if view not in result.by["mention-type"]:
                raise UsageError(f"ELEVANT's layout needs the view {view} of mentions with links. Score the task a2kb.")
        if not NAMES.keys() <= result.by["error"].get(f"strong{part}", {}).keys():
            raise UsageError("ELEVANT's layout needs kinds of errors. Score with --set groups=credited.")
    return {mode: _mode(result, part) for mode, part in MODES.items()}


def _mode(result: Result, part: str) -> dict[str, Any]:
    link, detection = f"strong{part}", f"mention{part}"
    types = result.by["mention-type"][link]
    entities = result.by["entity-type"][link]
    found = result.by["mention-type"][detection]
    return {
        "mention_types": {
            "all": _figures(result.counts(link)),
            **{name: _figures(_counts(types, value)) for name, value in _MENTION_TYPES.items()},
        },
        "error_categories": {
            "ner": _figures(_counts(found, "entity")),
            **_errors(result.by["error"][link]),
        },
        "entity_types": {
            "OTHER": _figures(_counts(entities, NONE)),
            **{kind: _figures(_counts(entities, kind)) for kind in _TYPES.split()},
        },
    }


def _counts(groups: Mapping[str, Group], value: str) -> Counted:
    return _NONE if value not in groups else groups[value].counts or _NONE


def _figures(counts: Counted) -> dict[str, int | float]:
    tp, fp, fn = int(counts.matched_gold), int(counts.unmatched_answers), int(counts.unmatched_gold)
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


def _errors(groups: Mapping[str, Group]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, theirs in NAMES.items():
        found.setdefault(theirs.section, {})[theirs.key] = _error(name, groups)
    return found


def _error(name: str, groups: Mapping[str, Group]) -> int | dict[str, int | None] | None:
    category, group = get("categories", name, Category), groups[name]
    if category.avoided is None and category.words is None:
        return group.errors
    if category.needs_candidates and group.total is None:
        return None
    return {"errors": group.errors, "total": group.total}


def notes(result: Result) -> Iterator[str]:
    """What is not known in the layout, and cannot be said in it."""
    for part in MODES.values():
        groups = result.by["error"][f"strong{part}"]
        if part:  # the same texts in both
            lost: dict[str, list[str]] = {}
            for name, group in groups.items():
                if get("categories", name, Category).words and group.total is None:
                    lost.setdefault(group.undefined["micro.error-rate"], []).append(name)
            yield from (f"the total of {', '.join(names)} is null: {reason}" for reason, names in lost.items())
        open_ = {name: group.undecided for name, group in groups.items() if group.undecided}
        if open_:
            said = ", ".join(f"{count:,} for {name}" for name, count in open_.items())
            yield f"strong{part}: undecided for want of facts (names, types, popular.tsv, demonyms.txt in --kb): {said}"
