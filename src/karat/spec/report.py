"""What a file in `karat.reports` holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from karat.model.result import Result


@dataclass(frozen=True, slots=True)
class Report:
    """Results as text: pure, so that the same results always give the same text."""

    title: str
    suffix: str
    render: Callable[[Sequence[Result]], str]
