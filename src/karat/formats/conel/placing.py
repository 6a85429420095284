"""Places of mentions that a file names only by their words."""

from __future__ import annotations

import re

from karat.model.span import Span


def places(text: str, mention: str) -> list[Span]:
    """Where the words stand: as whole words if they do somewhere, else anywhere, else in other capitals."""
    if not mention:
        return []
    words = re.escape(mention)
    before, after = (r"(?<!\w)" if mention[0].isalnum() else ""), (r"(?!\w)" if mention[-1].isalnum() else "")
    whole = before + words + after
    for pattern, flags in ((whole, 0), (words, 0), (whole, re.IGNORECASE), (words, re.IGNORECASE)):
        found = [Span(match.start(), match.end()) for match in re.finditer(pattern, text, flags)]
        if found:
            return found
    return []
