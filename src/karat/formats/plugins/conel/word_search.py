"""Spans of mentions that a file gives only by their text."""

from __future__ import annotations

import re

from karat.model.span import Span


def find_word_spans(text: str, mention: str) -> list[Span]:
    """Return the spans of all occurrences of a mention: as whole words if any, else anywhere, else ignoring case."""
    if not mention:
        return []
    words = re.escape(mention)
    left_boundary, right_boundary = (
        (r"(?<!\w)" if mention[0].isalnum() else ""),
        (r"(?!\w)" if mention[-1].isalnum() else ""),
    )
    word_pattern = left_boundary + words + right_boundary
    for pattern, flags in ((word_pattern, 0), (words, 0), (word_pattern, re.IGNORECASE), (words, re.IGNORECASE)):
        spans = [Span(match.start(), match.end()) for match in re.finditer(pattern, text, flags)]
        if spans:
            return spans
    return []
