"""Spans start and end at word boundaries."""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.labels import is_inside_word
from karat.model.document import Document
from karat.model.errors import shorten
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report labels that start or end inside a word."""
    # There is no fix: part of a compound may be intended, and a shifted span would only grow.
    text, starts, ends = document.text, dict[int, int](), dict[int, int]()
    for label in document.labels:
        start, end = _find_boundary(text, label.start, -1, starts), _find_boundary(text, label.end, 1, ends)
        changes = [
            f"{name}s" for name, is_moved in (("start", start < label.start), ("end", end > label.end)) if is_moved
        ]
        if changes:
            proposal = f"Use {shorten(text[start:end].strip())!r}, unless the part is intended"
            yield Finding.from_label(document, label, f"{' and '.join(changes)} inside a word", proposal)


def _find_boundary(text: str, offset: int, step: int, boundaries: dict[int, int]) -> int:
    """Return the next offset from `offset` on, backwards if `step` is -1, that is not inside a word.

    `boundaries` remembers the results of one direction, so that many spans in one long word take linear time.
    """
    path = []
    while offset not in boundaries and is_inside_word(text, offset):
        path.append(offset)
        offset += step
    boundary = boundaries.get(offset, offset)
    boundaries.update(dict.fromkeys(path, boundary))
    return boundary


RULE = Rule(
    title="Word boundary",
    description="Spans neither start nor end inside a word, in scripts that separate words by spaces.",
    severity="warning",
    find=_find,
)
