"""Spans begin and end at the ends of words."""

from __future__ import annotations

from collections.abc import Iterator

from karat.facts.labels import inside_word
from karat.model.document import Document
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    # There is no fix: a part of a compound may be meant, and a shifted span would only grow.
    text = document.text
    for label in document.labels:
        start, end = label.span
        sides = [side for side, place in (("begins", start), ("ends", end)) if inside_word(text, place)]
        if sides:
            while inside_word(text, start):
                start -= 1
            while inside_word(text, end):
                end += 1
            whole = f"Take {text[start:end].strip()!r}, if the part is not meant"
            yield Finding.at(document, label, f"{' and '.join(sides)} inside a word", whole)


RULE = Rule(
    title="Word boundary",
    says="Spans neither begin nor end inside a word (in scripts with blanks between words).",
    severity="warning",
    find=_find,
)
