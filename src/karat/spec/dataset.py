"""What a file in `karat.datasets` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Dataset:
    """A benchmark under a name: where its files are, in which format, and what must be in them."""

    title: str
    says: str
    language: str
    licence: str
    kb: str
    format: str
    gold: Path
    documents: int
    labels: int
    answers: Mapping[str, Path] = field(default_factory=dict)
    """Stored answers that come with it, by the name of the system."""
