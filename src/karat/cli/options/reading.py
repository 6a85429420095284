"""Options of every command that reads corpora or predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from karat.cli.options.declaration import Decorator, combine_options, option
from karat.cli.output import echo
from karat.model.offsets.offset_kinds import OffsetKind

_C = TypeVar("_C", bound=Callable[..., Any])


def input_options(command: _C) -> _C:
    """Add the options of every command that reads files, such as `--columns`, `--on-error` and `--offsets` (decorator).

    The command gets no parameter for them: they set the reader of tables and the error policy while the command runs.
    """
    on_error = _policy_option(
        "--on-error",
        ("fail", "skip"),
        "skip",
        "Fail on an invalid document, or skip and count it.",
    )
    duplicate_ids = _policy_option(
        "--duplicate-ids",
        ("fail", "rename"),
        "rename_duplicates",
        "Fail on duplicate ids, or number them.",
    )
    span_mismatch = _policy_option(
        "--span-mismatch",
        ("fail", "realign"),
        "realign_spans",
        "Fail if text and span disagree, or realign the span.",
    )
    columns = option(
        "--columns",
        multiple=True,
        metavar="ROLE=COLUMN,…",
        expose_value=False,
        callback=_use_columns,
        help="Column names of a CSV, TSV, JSON, JSONL, Arrow or Parquet file, or a Hugging Face folder (doc, text, "
        "start, end, mention, entity, …), or of a CoNLL file (token, tag, id; repeatable).",
    )
    offsets = option(
        "--offsets",
        type=click.Choice([str(kind) for kind in OffsetKind]),
        metavar="KIND",
        default=str(OffsetKind.CODE_POINTS),
        show_default=True,
        expose_value=False,
        callback=_use_offsets,
        help=f"Kind of offsets in predictions, to convert: {', '.join(OffsetKind)}.",
    )
    return columns(on_error(duplicate_ids(span_mismatch(offsets(command)))))


def source_options(source: str) -> Decorator:
    """Return a decorator that adds `--from` (as `source_format`) and `--as` (as `kind`) for the file `source`."""
    source_format = option("--from", "source_format", metavar="FORMAT", help=f"Format of {source}, if not detected.")
    return combine_options(source_format, kind_option(source))


def kind_option(source: str) -> Decorator:
    """Return a decorator that adds `--as` as `kind`: whether the file that `source` names is gold or predictions."""
    return option(
        "--as", "kind", type=click.Choice(["gold", "predictions"]), help=f"Content of {source}, if ambiguous."
    )


def _use_offsets(context: click.Context, _: click.Parameter, kind: str) -> None:
    """Make readers of predictions convert offsets of `kind` while the command runs (click callback)."""
    from dataclasses import replace

    from karat.model.defects import get_error_policy, use_error_policy

    if kind != OffsetKind.CODE_POINTS:
        context.with_resource(use_error_policy(replace(get_error_policy(), offsets=OffsetKind(kind))))


def _use_columns(context: click.Context, _: click.Parameter, mappings: tuple[str, ...]) -> None:
    """Make readers of tables use the `ROLE=COLUMN` pairs of `mappings` while the command runs (click callback)."""
    if mappings:
        from karat.data.custom_tables import CustomTables, use_custom_tables
        from karat.formats.parsing.surfaces.columns import ColumnRoles
        from karat.storage.atomic_writing import check_before_output

        tables = CustomTables(tuple(map(ColumnRoles.from_columns, mappings)), report=_print_rows)
        context.with_resource(use_custom_tables(tables))
        context.with_resource(check_before_output(tables.check_unused))


def _print_rows(label: str, rows: Sequence[str]) -> None:
    """Print how Karat read the first rows of the file `label`, on standard error."""
    echo(f"karat: {label}: first rows as read:", err=True)
    for row in rows or ["no mentions"]:
        echo(f"karat:   {row}", err=True)


def _policy_option(flag: str, values: tuple[str, str], policy_field: str, help: str) -> Decorator:
    """Return a decorator that adds an option with two `values`: the default, and one that changes the error policy.

    The second value sets the boolean field `policy_field` of `ErrorPolicy` while the command runs.
    """

    def set_policy(context: click.Context, _: click.Parameter, value: str) -> None:
        from dataclasses import replace

        from karat.model.defects import get_error_policy, use_error_policy

        changes: dict[str, Any] = {} if value == values[0] else {policy_field: True}
        context.with_resource(use_error_policy(replace(get_error_policy(), **changes, on_skip=_print_counts)))

    return option(
        flag,
        type=click.Choice(values),
        default=values[0],
        show_default=True,
        expose_value=False,
        callback=set_policy,
        help=help,
    )


def _print_counts(label: str, counts: Mapping[str, int]) -> None:
    """Print how many documents or annotations of the file `label` Karat skipped or changed, by reason."""
    for reason, count in counts.items():
        echo(f"karat: {label}: {reason}: {count}", err=True)
