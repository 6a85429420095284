"""Tags that say how a mention overlaps others agree with the spans."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.facts.labels import relabelled, tags
from karat.facts.nesting import nesting
from karat.model.document import Document, Label
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    if not any(tags(label, "overlap") for label in document.labels):
        return
    leaves = nesting(document).leaves
    for label in document.labels:
        right = leaves[label.span]
        said = tags(label, "overlap")
        if right is not None and len(said) == 1 and f"overlap:{said[0]}" != right:
            says = f"tagged overlap:{said[0]}, but the spans say {right.removeprefix('overlap:')}"
            yield Finding.at(document, label, says, f"Take {right}, or mark what is missing", fixable=True)


def _fix(document: Document, context: Context) -> Document:
    leaves = nesting(document).leaves
    return relabelled(document, (_tagged(label, leaves[label.span]) for label in document.labels))


def _tagged(label: Label, right: str | None) -> Label:
    said = tags(label, "overlap")
    if right is None or len(said) != 1:
        return label
    new = tuple(right if tag.startswith("overlap:") else tag for tag in label.categories)
    return msgspec.structs.replace(label, categories=new)


RULE = Rule(
    title="Overlap tag",
    says="`overlap:` None, Maximal, Intermediate and Minimal agree with the spans of the document.",
    severity="warning",
    find=_find,
    fix=_fix,
    gold=True,
)
