"""`karat data list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, once

if TYPE_CHECKING:
    from karat.data.catalogue import Chosen


@click.command()
@click.option("--all", "everything", is_flag=True, help="Every version and split, each under its full name.")
@click.option("--task", metavar="TASK", help="Only benchmarks for this task (a2kb, d2kb, c2kb, …).")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write the list as JSON.")
def command(everything: bool, task: str | None, json_file: str | None) -> None:
    """List the benchmarks that Karat knows.

    A benchmark is named NAME[@VERSION][/SPLIT]. Without a version it is the first one; a name with a version never
    changes meaning. The last column says whether its files are here, can be fetched with `karat data fetch`, or have to
    be brought.

    \b
    karat data list
    karat data list --all --task d2kb
    karat data list --json -
    """
    import msgspec

    from karat.data.catalogue import every
    from karat.registry import get, names
    from karat.spec.dataset import Dataset, DatasetName
    from karat.spec.task import task_named
    from karat.storage.files import writing

    apart([], [json_file])
    wanted = None if task is None else task_named(task)
    found = []
    for name in names("datasets"):
        dataset = get("datasets", name, Dataset)
        if wanted is None or wanted in dataset.tasks:
            versions = list(dataset.versions) if everything else list(dataset.versions)[:1]
            found += [one for version in versions for one in every(DatasetName(name, version))]
    rows = [_row(one) for one in found]
    if json_file is not None:
        with writing(json_file) as file:
            file.write(msgspec.json.format(msgspec.json.encode(rows)) + b"\n")
    if json_file != "-":
        click.echo(_table(rows), nl=False)


def _row(one: Chosen) -> dict[str, str | int | bool | None]:
    from karat.data.catalogue import lies_in

    counts = one.split.expected
    return {
        "name": str(one.name),
        "title": one.dataset.title,
        "language": one.split.language or one.dataset.language,
        "domain": one.dataset.domain,
        "documents": counts.documents,
        "labels": counts.labels,
        "tags": counts.tags,
        "format": one.split.format,
        "download": all(item.url is not None for item in one.split.files) or one.split.root is not None,
        "here": lies_in(one) is not None,
    }


def _table(rows: list[dict[str, str | int | bool | None]]) -> str:
    columns = ("name", "title", "language", "domain", "documents", "labels", "files")
    cells = [list(columns), *([_shown(row, column) for column in columns] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    lines = []
    for line in cells:
        laid = [
            cell.rjust(width) if column in ("documents", "labels") else cell.ljust(width)
            for column, cell, width in zip(columns, line, widths, strict=True)
        ]
        lines.append("  ".join(laid).rstrip())
    return "\n".join(lines) + "\n"


def _shown(row: dict[str, str | int | bool | None], column: str) -> str:
    if column == "files":
        return "here" if row["here"] else "to fetch" if row["download"] else "bring your own"
    value = row[column]
    if column == "labels" and row["tags"] is not None:
        return f"{row['tags']:,} tags"
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else value
