"""Options of every command that reads corpora or answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from karat.cli.output import say

_C = TypeVar("_C", bound=Callable[..., Any])


def reading(command: _C) -> _C:
    """Add `--columns`, `--on-error`, `--same-id` and `--wrong-span`, which hold for all that the command reads."""
    skip = _either(
        "--on-error",
        ("fail", "skip"),
        "skip",
        "Stop at the first document with a defect, or leave such documents out and count them by kind.",
    )
    apart = _either(
        "--same-id",
        ("fail", "apart"),
        "apart",
        "Refuse documents that share an id, or keep them apart by a number behind it.",
    )
    wrong = _either(
        "--wrong-span",
        ("refuse", "repair"),
        "repair",
        "Refuse an answer whose text does not stand on its span, or move it to where it stands and count it.",
    )
    columns = click.option(
        "--columns",
        multiple=True,
        metavar="ROLE=COLUMN,…",
        expose_value=False,
        callback=_by_columns,
        help="Read a CSV, TSV, JSON or JSONL by its columns: doc, text, start, end, mention, entity, … (repeatable).",
    )
    return columns(skip(apart(wrong(command))))


def _by_columns(context: click.Context, _: click.Parameter, given: tuple[str, ...]) -> None:
    if given:
        from karat.data.own_tables import OwnTables, reading_own_tables
        from karat.parsing.surfaces.columns import ColumnRoles

        context.with_resource(reading_own_tables(OwnTables(tuple(map(ColumnRoles.of, given)), understood=_understood)))


def _understood(label: str, rows: Sequence[str]) -> None:
    say(f"karat: {label}: first rows as they were understood:", err=True)
    for row in rows or ["no mention"]:
        say(f"karat:   {row}", err=True)


def _either(option: str, words: tuple[str, str], tolerated: str, help: str) -> Callable[[_C], _C]:
    """An option of two words, the first of which is the default; the second sets a field of `Tolerance`."""

    def ask(context: click.Context, _: click.Parameter, value: str) -> None:
        from dataclasses import replace

        from karat.model.defects import tolerance, tolerating

        asked = {} if value == words[0] else {tolerated: True}
        context.with_resource(tolerating(replace(tolerance(), **asked, told=_say)))

    return click.option(
        option,
        type=click.Choice(words),
        default=words[0],
        show_default=True,
        expose_value=False,
        callback=ask,
        help=help,
    )


def _say(label: str, counts: Mapping[str, int]) -> None:
    for what, count in counts.items():
        say(f"karat: {label}: {what}: {count}", err=True)
