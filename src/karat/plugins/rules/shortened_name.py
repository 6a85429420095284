"""A mention is not a part of a longer name of its entity in the text around it.

After the fair-evaluation paper (Bast, Hertel and Prange 2023, A.3): the span of a mention is the title of the entity,
and other names of it are alternatives.
"""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.document_ids import look_up_spelling
from karat.matching.facts.labels import group_by_mention, is_inside_word, is_plain
from karat.model.document import Document, Label
from karat.model.span import Span
from karat.model.spec.rule import Finding, LintContext, Rule, RuleExample


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report linked mentions around which the text has a longer name of the entity that no alternative covers."""
    if not context.names:
        return
    for labels in group_by_mention(document):
        spans = {label.span for label in labels}
        for label in labels:
            longer = _find_longer_name(document, label, context) if is_plain(label) and label.parent is None else None
            if longer is not None and longer not in spans:
                name = document.text[longer.start : longer.end]
                description = f"a part of {name!r}, which is a name of {label.entity} too"
                yield Finding.from_label(document, label, description, f"Mark {name!r}, also as an alternative")
                break


def _find_longer_name(document: Document, label: Label, context: LintContext) -> Span | None:
    """Return the longest span around a label whose text is a name of its entity; None if there is none."""
    text = document.text
    surface = text[label.start : label.end]
    names = look_up_spelling(label.entity, context.names) if isinstance(label.entity, str) else None
    if not names or not surface.strip():
        return None
    spans = []
    for name in names:
        offset = name.find(surface)
        while offset >= 0 and len(name) > len(surface):
            span = Span(label.start - offset, label.start - offset + len(name))
            is_word = not is_inside_word(text, max(0, span.start)) and not is_inside_word(text, span.end)
            if span.start >= 0 and text[span.start : span.end] == name and is_word:
                spans.append(span)
            offset = name.find(surface, offset + 1)
    return max(spans, key=lambda span: span.end - span.start, default=None)


RULE = Rule(
    title="Shortened name",
    description="A mention covers the longest name of its entity in the text around it, or has it as an alternative.",
    severity="hint",
    find=_find,
    is_gold_only=True,
    example=RuleExample(
        documents=(
            Document("d", "Barack Obama and Obama.", (Label(7, 12, "Q76"), Label(17, 22, "Q76"))),
            Document("e", "Barack Obama.", (Label(7, 12, "Q76", mention_id="m"), Label(0, 12, "Q76", mention_id="m"))),
        ),
        findings=(("Obama", "a part of 'Barack Obama'", False),),
        context=LintContext(names={"Q76": frozenset({"Barack Obama", "Obama"})}),
    ),
)
