"""The reason for the outcome of each case, in the words of the text page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from karat.model.document import UNLINKED, Label

_MATCHED: Final = "the prediction matches the mention"
_ALTERNATIVE: Final = "the prediction matches an alternative of the mention"
_MATCHED_AGAIN: Final = "the prediction matches a mention that another case counts"
_FOUND_AGAIN: Final = "a prediction that another case counts matches the mention"
_PARTS: Final = "all its parts are correct"
_REQUIRED_PARTS: Final = "all its required parts are correct"
_MISSING_PARTS: Final = "not all its parts are correct"
_WRONG_LINK: Final = "the span matches, but the link is wrong"
_WRONG_SPAN: Final = "the prediction overlaps a mention, but matches none"
_WRONG_PART: Final = "the link of this part of a mention is wrong"
_WRONG_OPTIONAL: Final = "the mention is optional, but the link is wrong"
_MISSED: Final = "no prediction matches the mention"
_SPURIOUS: Final = "the prediction overlaps no counted mention"
_PART: Final = "part of a mention that counts as a whole"
_OPTIONAL: Final = "the mention is optional"
_UNLINKED: Final = "the gold mention has no link"
_EXCLUDED: Final = "not counted under this profile"

_BY_OUTCOME: Final = {
    "matched prediction": _MATCHED_AGAIN,
    "matched gold": _FOUND_AGAIN,
    "wrong link": _WRONG_LINK,
    "part": _PART,
}
"""Outcomes that have only one reason."""

_Row = Mapping[str, Any]


def explain_cases(rows: Sequence[_Row], labels: Sequence[tuple[str, Label]]) -> list[str]:
    """Return the reason for the outcome of each case.

    `rows` are all cases of a system on a dataset, and `labels` the gold labels with the id of their document.
    """
    incomplete_roots = _find_incomplete_roots(rows, labels)
    reasons = []
    for row in rows:
        label = None if row["mention"] is None else labels[row["mention"]][1]
        is_complete = label is None or (row["document"], label.mention_id) not in incomplete_roots
        reasons.append(_explain_case(row, label, is_complete=is_complete))
    return reasons


def _explain_case(row: _Row, label: Label | None, *, is_complete: bool) -> str:
    """Return the reason for one case; `is_complete` means that a mention scored by its parts lacks none of them."""
    outcome, by_parts = row["outcome"], not row["factor"]
    if outcome in _BY_OUTCOME:
        return _BY_OUTCOME[outcome]
    if outcome == "tp":
        if by_parts:
            return _PARTS if is_complete else _REQUIRED_PARTS
        return _MATCHED if row["gold"] == row["mention"] else _ALTERNATIVE
    if outcome == "fn":
        return _MISSING_PARTS if by_parts else _MISSED
    if outcome == "fp":
        return _explain_spurious(row, label)
    if label is None:
        return _EXCLUDED
    if label.entity is UNLINKED:
        return _UNLINKED
    return _OPTIONAL if label.optional else _EXCLUDED


def _explain_spurious(row: _Row, label: Label | None) -> str:
    """Return the reason for a wrong prediction; `label` is the gold label at its location, if it has one."""
    if label is not None and label.optional:
        return _WRONG_OPTIONAL
    if label is not None and label.parent is not None:
        return _WRONG_PART
    return _WRONG_SPAN if row["kind"] == "wrong span" else _SPURIOUS


def _find_incomplete_roots(rows: Sequence[_Row], labels: Sequence[tuple[str, Label]]) -> set[tuple[str, str]]:
    """Return document and id of the mentions with a part, such as an optional one, that was not found."""
    parents = {(document, label.mention_id): label.parent for document, label in labels}
    incomplete_roots: set[tuple[str, str]] = set()
    for row in rows:
        if row["outcome"] != "part" or row["own"] == "tp":
            continue
        document, label = labels[row["mention"]]
        parent = label.parent
        while parent is not None and (document, parent) not in incomplete_roots:
            incomplete_roots.add((document, parent))
            parent = parents.get((document, parent))
    return incomplete_roots
