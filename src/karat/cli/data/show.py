"""`karat data show NAME`."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karat.data.catalogue import Chosen
    from karat.spec.dataset import Counts, Dataset

_WIDTH = 110


@click.command()
@click.argument("name", metavar="NAME[@VERSION][/SPLIT]")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write everything as JSON.")
def command(name: str, json_file: str | None) -> None:
    """Say what is known about a benchmark: what it is, where it comes from, its versions, and what others found.

    Without a version all are shown.

    \b
    karat data show aida
    karat data show msnbc@bat2013 --json -
    """
    import msgspec

    from karat.data.catalogue import every, named
    from karat.errors import UnknownNameError
    from karat.registry import names
    from karat.spec.dataset import DatasetName
    from karat.storage.files import writing

    apart([], [json_file])
    asked = named(name)
    if asked is None:
        raise UnknownNameError("dataset", name, names("datasets"))
    first = every(asked)[0].dataset
    versions = [asked.version] if asked.version or asked.split else list(first.versions)
    shown = [one for version in versions for one in every(DatasetName(asked.name, version, asked.split))]
    if json_file is not None:
        with writing(json_file) as file:
            file.write(msgspec.json.format(msgspec.json.encode(_content(asked.name, first, shown))) + b"\n")
    if json_file != "-":
        click.echo("\n".join(_lines(asked.name, first, shown)))


def _content(name: str, dataset: Dataset, shown: list[Chosen]) -> dict[str, object]:
    """Everything as plain values: the benchmark, and under their full names the splits."""
    import msgspec

    def plain(value: object) -> dict[str, object]:
        found: dict[str, object] = msgspec.to_builtins(value, enc_hook=str)
        return found

    about = {key: value for key, value in plain(dataset).items() if key != "versions"}
    splits = {}
    for one in shown:
        version = {key: value for key, value in plain(one.version).items() if key not in ("splits", "usual")}
        splits[str(one.name)] = {"version": version, **plain(one.split)}
    return {"name": name, **about, "splits": splits}


def _lines(name: str, dataset: Dataset, shown: list[Chosen]) -> Iterator[str]:
    yield f"{name}: {dataset.title}"
    yield from _wrapped(dataset.says, "")
    yield ""
    for label, value in (
        ("tasks", ", ".join(dataset.tasks)),
        ("language", dataset.language),
        ("domain", f"{dataset.domain}, {dataset.document_type}"),
        ("ids", dataset.kb),
        ("licence", dataset.licence),
        ("cite", dataset.citation),
        ("where", "\n".join(dataset.where)),
        ("obtain", dataset.obtain),
    ):
        if value:
            yield from _labelled(label, value)
    for title, remarks in (("Known biases", dataset.biases), ("Why some leave it out", dataset.excluded)):
        if remarks:
            yield f"\n{title}"
        for remark in remarks:
            yield from _wrapped(f"{remark.says} ({remark.source})", "  - ")
    before: Chosen | None = None
    for one in shown:
        if before is None or one.version is not before.version:
            yield from _version(one)
        yield from _split(one, same_files=before is not None and one.split.files == before.split.files)
        before = one


def _version(one: Chosen) -> Iterator[str]:
    version = one.version
    yield f"\n{one.name.name}@{one.name.version}"
    yield from _wrapped(version.says, "  ")
    for label, value in (
        ("ids", version.kb),
        ("licence", version.licence),
        ("obtain", version.obtain),
        ("supersedes", ", ".join(version.supersedes)),
    ):
        if value:
            yield from _labelled(f"  {label}", value)


def _split(one: Chosen, *, same_files: bool) -> Iterator[str]:
    from karat.data.catalogue import lies_in

    split = one.split
    folder = lies_in(one)
    yield f"  {one.name}: {_counted(split.counts)}, format {split.format or 'unknown'}"
    for applied in split.steps:
        yield f"    after {applied.step}: {_counted(applied.counts)}"
    if same_files:
        yield "    the same files"
    for item in () if same_files else split.files:
        size = "" if item.size is None else f", {item.size:,} bytes"
        yield f"    {item.path}{size}"
        yield f"      sha256 {item.sha256 or 'not known'}"
        if item.url is not None:
            yield f"      {item.url}" + ("" if item.member is None else f" ({item.member})")
    for repair in split.repairs:
        yield from _wrapped(f"{repair.where}: {repair.fault} ({repair.count}); {repair.remedy}", "    ! ")
    if split.answers:
        yield f"    stored answers: {', '.join(split.answers)}"
    yield f"    {'not on this machine' if folder is None else f'in {folder}'}"


def _counted(counts: Counts) -> str:
    known = (("documents", counts.documents), ("labels", counts.labels), ("tags", counts.tags))
    return ", ".join(f"{value:,} {what}" for what, value in known if value is not None) or "counts not known"


def _labelled(label: str, value: str) -> Iterator[str]:
    for i, line in enumerate(value.split("\n")):
        yield from _wrapped(line, f"{label if i == 0 else '':<14}")


def _wrapped(text: str, start: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=start, subsequent_indent=" " * len(start), break_long_words=False)
