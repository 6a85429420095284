"""The specification of a report: the constant `REPORT` of a file in `karat.plugins.reports`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from karat.model.results.result import Result


class Style(NamedTuple):
    """Options for the text layout of a report."""

    width: int | None = None
    """The maximum line width; None for no limit."""
    all_measures: bool = False
    """Whether to show all measures instead of the profile's."""
    details: bool = False
    """Whether to show notes in full."""
    facets: tuple[str, ...] | None = None
    """The facets to show tables for; None for all in the result."""


class Report(msgspec.Struct, frozen=True):
    """A text format for results. The same results always give the same text."""

    # Description
    title: str
    """The name in lists."""
    suffix: str
    """The file suffix."""

    # Content
    render: Callable[[Sequence[Result]], str]
    """Return the text for some results."""
    measures: tuple[str, ...] = ()
    """The measures that the results must contain."""
    facets: tuple[str, ...] = ()
    """The facets that the results must contain."""
    notes: Callable[[Result], Iterable[str]] | None = None
    """Yield notes on what the file cannot express."""
    cases: Callable[[Result], Iterable[str]] | None = None
    """Yield the lines of the reference tool's case file."""
    is_reference_layout: bool = False
    """Whether it is the layout of a reference tool, which holds one result and no signature."""
