"""The specification of a preprocessing step: the constant `STEP` of a file in `karat.plugins.steps`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from karat.model.document import Document

DocumentChange: TypeAlias = Callable[[Document], Document | None]
"""A function that returns the changed document, or None to exclude it."""


class Step(msgspec.Struct, frozen=True):
    """A named change to a gold standard, applied document by document. Exactly one of the two functions is set."""

    title: str
    """The name in lists."""
    description: str
    """One sentence about the change."""
    apply: DocumentChange | None = None
    """Change one document."""
    build_from_kb: Callable[[Any, Sequence[Document]], DocumentChange] | None = None
    """Return the change, given a `karat.kb.protocol.KB` and all documents; queries the knowledge base once."""
