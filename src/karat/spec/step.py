"""What a file in `karat.steps` holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from karat.model.document import Document

DocumentChange: TypeAlias = Callable[[Document], Document | None]
"""What a step makes of a document; None leaves it out."""


class Step(msgspec.Struct, frozen=True):
    """A named change to a gold standard, one document at a time.

    Steps are optional and counted: the corpus as it was read stays reachable. One that needs to know something has
    `by_kb` in place of `apply`, which makes the change from a `karat.kb.protocol.KB` and all documents: asking may be
    slow, and is done once.
    """

    title: str
    says: str
    apply: DocumentChange | None = None
    by_kb: Callable[[Any, Sequence[Document]], DocumentChange] | None = None
