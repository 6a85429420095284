"""Every part of another segmentation has a root and overlaps it.

Readers treat a label with a missing or circular parent as a separate mention and record this in a category; other
errors are rejected. Karat JSONL can be linted unchecked.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.matching.facts.labels import category_values, replace_labels
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule

_MARKS = {
    "missing-parent": ("its parent {} is not in the document", True),
    "circular-parent": ("it is its own ancestor, via {}", True),
    "not-listed-by": ("its parent {} does not list it", False),
    "also-part-of": ("{} lists it too, but its parent is another or none", False),
}
"""Categories that readers add for parents: the message, and whether removing the parent, as they did, is the fix."""


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report parts whose parent is missing, circular, contradictory or does not overlap them."""
    orphans = _find_orphans(document)
    roots: dict[str, list[Label]] = {}
    for label in document.labels:
        if label.mention_id is not None:
            roots.setdefault(label.mention_id, []).append(label)
    for number, label in enumerate(document.labels):
        for mark, (description, is_fixed) in _MARKS.items():
            for value in category_values(label, mark):
                proposal = "Keep it as a separate mention" if is_fixed else "Make both agree"
                yield Finding.from_label(document, label, description.format(value), proposal, fixable=is_fixed)
        if number in orphans:
            yield Finding.from_label(document, label, orphans[number], "Remove the parent", fixable=True)
        elif label.parent is not None:
            alternatives = roots[label.parent]  # a part overlaps one of the spans of its mention
            if all(label.end <= root.start or root.end <= label.start for root in alternatives):
                description = f"does not overlap its parent [{alternatives[0].start}, {alternatives[0].end})"
                yield Finding.from_label(document, label, description, "Correct or remove the parent")


def _find_orphans(document: Document) -> dict[int, str]:
    """Return the index of each label whose parents lead to no root, with a phrase that says why."""
    parent_of = {label.mention_id: label.parent for label in document.labels if label.mention_id is not None}
    parents: dict[str | None, set[str | None]] = {}
    for label in document.labels:
        parents.setdefault(label.mention_id, set()).add(label.parent)
    circular = _find_cycles(parent_of)
    problems: dict[int, str] = {}
    for number, label in enumerate(document.labels):
        if label.mention_id is not None and len(parents[label.mention_id]) > 1:
            problems[number] = f"labels with mention id {label.mention_id!r} have different parents"
        elif label.parent is not None and label.parent not in parent_of:
            problems[number] = f"its parent {label.parent!r} is not in the document"
        elif label.mention_id is not None and label.mention_id in circular:
            problems[number] = "it is its own ancestor"
    return problems


def _find_cycles(parent_of: dict[str, str | None]) -> set[str]:
    """Return the mention ids that are their own ancestors; each id is visited once."""
    walks: dict[str, int] = {}
    cyclic: set[str] = set()
    for number, start in enumerate(parent_of):
        path: list[str] = []
        name: str | None = start
        while name is not None and name not in walks:
            walks[name] = number
            path.append(name)
            name = parent_of.get(name)
        if name is not None and walks[name] == number:
            cyclic.update(path[path.index(name) :])
    return cyclic


def _fix(document: Document, context: LintContext) -> Document:
    """Return the document with labels whose parents lead to no root made separate mentions."""
    orphans = _find_orphans(document)
    return replace_labels(
        document, (_detach_label(label, number in orphans) for number, label in enumerate(document.labels))
    )


def _detach_label(label: Label, is_orphan: bool) -> Label:
    """Return the label without the categories by which readers mark irregular parents.

    An orphan also loses its parent.
    """
    resolved_marks = tuple(f"{mark}:" for mark, (_, is_fixed) in _MARKS.items() if is_fixed)
    categories = tuple(tag for tag in label.categories if not tag.startswith(resolved_marks))
    return msgspec.structs.replace(label, parent=None if is_orphan else label.parent, categories=categories)


RULE = Rule(
    title="Parents",
    description="Parents exist, lead to a root and overlap their parts.",
    severity="error",
    find=_find,
    fix=_fix,
    fix_description="drops a parent that leads nowhere",
    is_gold_only=True,
)
