"""What a file in `karat.reports` holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from karat.model.result import Result


class Style(NamedTuple):
    """How a text is laid out: within which `width`, with `every` measure, and with `details` of what notes say.

    `by` are the labels of which there are tables, None for all that there are.
    """

    width: int | None = None
    every: bool = False
    details: bool = False
    by: tuple[str, ...] | None = None


class Report(msgspec.Struct, frozen=True):
    """Results as text: pure, so that the same results always give the same text.

    The layout of a `peer`'s file holds one result, and has no place for the signature. It names the `measures` and the
    labels (`by`) that must be there, and may say in `notes` what it cannot say in the file; `cases` gives the lines of
    the peer's file of cases.
    """

    title: str
    suffix: str
    render: Callable[[Sequence[Result]], str]
    measures: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    notes: Callable[[Result], Iterable[str]] | None = None
    cases: Callable[[Result], Iterable[str]] | None = None
    peer: bool = False
