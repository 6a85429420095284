"""A span is one mention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from karat.matching.facts.labels import family_roots, group_by_span, replace_labels
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report labels that repeat an earlier label, and further mentions on the same span."""
    roots = family_roots(document)
    repeated = _find_repeated_labels(document)
    for numbers in group_by_span(document).values():
        mentions: dict[object, int] = {}
        for number in numbers:
            mentions.setdefault(roots[number], number)
        for number in sorted(repeated.intersection(numbers) | {*list(mentions.values())[1:]}):
            label = document.labels[number]
            if number in repeated:
                yield Finding.from_label(document, label, "repeats an earlier label", "Delete it", fixable=True)
            else:
                description = f"marked {len(mentions)} times"
                yield Finding.from_label(document, label, description, "Keep one, or give all the same `mention_id`")


def _find_repeated_labels(document: Document) -> set[int]:
    """Return the indices of labels that repeat an earlier one and that no part needs as its parent."""
    parents = {label.parent for label in document.labels}
    sizes = Counter(label.mention_id for label in document.labels)
    seen: set[object] = set()
    repeated = set()
    for number, label in enumerate(document.labels):
        is_removable = label.mention_id is None or (sizes[label.mention_id] == 1 and label.mention_id not in parents)
        content = msgspec.json.encode(msgspec.structs.replace(label, mention_id=None))
        key = (label.start, label.end, label.entity, label.mention_id)
        if key in seen or (is_removable and content in seen):
            repeated.add(number)
        seen |= {key, content}
    return repeated


def _fix(document: Document, context: LintContext) -> Document:
    """Return the document without labels that repeat an earlier one."""
    repeated = _find_repeated_labels(document)
    remaining: list[Label] = [label for number, label in enumerate(document.labels) if number not in repeated]
    return replace_labels(document, remaining)


RULE = Rule(
    title="Duplicate spans",
    description="A span is marked once; several links of one span share a `mention_id`.",
    severity="warning",
    find=_find,
    fix=_fix,
    fix_description="deletes a label that says the same again",
)
