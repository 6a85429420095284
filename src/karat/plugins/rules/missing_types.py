"""If labels have types, every linked label has one."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.matching.facts.document_ids import look_up_spelling
from karat.matching.facts.labels import replace_labels
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report linked labels without types, if the labels of the corpus have types."""
    if not context.has_types:
        return
    for label in document.labels:
        if isinstance(label.entity, str) and _needs_types(label):
            kb_types = _get_kb_types(label, context)
            proposal = f"Use {', '.join(kb_types)}" if kb_types else "Add a type"
            yield Finding.from_label(
                document, label, f"{label.entity} has no type here", proposal, fixable=bool(kb_types)
            )


def _needs_types(label: Label) -> bool:
    """Return whether a label should have types and has none; quantities and datetimes need none."""
    return not label.types and label.kind not in ("quantity", "datetime")


def _get_kb_types(label: Label, context: LintContext) -> tuple[str, ...]:
    """Return the sorted types of a label's entity in the knowledge base; empty if unknown, NIL or unlinked."""
    types = look_up_spelling(label.entity, context.types) if isinstance(label.entity, str) else None
    return tuple(sorted(types or ()))


def _fix(document: Document, context: LintContext) -> Document:
    """Return the document with types from the knowledge base for labels without types, if the corpus has types."""
    if not context.has_types:
        return document
    return replace_labels(
        document,
        (
            msgspec.structs.replace(label, types=_get_kb_types(label, context)) if _needs_types(label) else label
            for label in document.labels
        ),
    )


RULE = Rule(
    title="Missing types",
    description="If labels have types, every linked label has one; missing types are taken from the knowledge base.",
    severity="warning",
    find=_find,
    fix=_fix,
    fix_description="takes the types of the knowledge base",
)
