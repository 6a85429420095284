"""What a file in `karat.steps` holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from karat.model.document import Document


@dataclass(frozen=True, slots=True)
class Step:
    """A named change to a gold standard, one document at a time; None leaves the document out.

    Steps are optional and counted: the corpus as it was read stays reachable.
    """

    title: str
    says: str
    apply: Callable[[Document], Document | None]
