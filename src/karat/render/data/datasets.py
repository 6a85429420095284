"""Output of `karat data list`, `show` and `fetch`: datasets as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from karat.data.catalogue import ChosenSplit
from karat.data.dataset_files import FetchResult
from karat.model.output.json_files import JsonFile, JsonRecord, encode_indented
from karat.model.output.text_layout import format_count, format_table, wrap_text
from karat.model.spec.dataset import Counts, Dataset, Remark, Repair, StepCounts
from karat.render.tables import UNDEFINED

_COLUMNS: Final = ("name", "documents", "labels", "files", "title", "language", "domain", "checksum")


class DatasetEntry(JsonRecord, frozen=True):
    """A split of a dataset: its expected counts and whether its files are available.

    `has_checksums`: all files have a known checksum. `is_downloadable`: Karat can fetch it. `is_local`: its files are
    on this machine.
    """

    name: str
    title: str
    language: str
    domain: str
    documents: int | None
    labels: int | None
    tags: int | None
    format: str | None
    has_checksums: bool
    is_downloadable: bool
    is_local: bool

    @property
    def checksum(self) -> str:
        """Kind of checksum: `sha256`, or `none` if a file has no known checksum."""
        return "sha256" if self.has_checksums else "none"

    @property
    def files(self) -> str:
        """Availability of the files: `local`, `to fetch` or `bring your own`."""
        return "local" if self.is_local else "to fetch" if self.is_downloadable else "bring your own"


class DatasetsFile(JsonFile, frozen=True, tag="karat-datasets/2"):
    """The output of `karat data list --json`."""

    datasets: tuple[DatasetEntry, ...]


class StoredFile(JsonRecord, frozen=True, omit_defaults=True):
    """A file of a split, or a folder with its number of files and the names of files to fetch."""

    path: str
    sha256: str | None
    size: int | None
    url: str | None
    member: str | None
    n_files: int | UnsetType = UNSET
    file_names: tuple[str, ...] | UnsetType = UNSET


class VersionRecord(JsonRecord, frozen=True, omit_defaults=True):
    """Values of a version that differ from its dataset; only added datasets have creators and a date."""

    description: str
    tasks: tuple[str, ...]
    kb: str
    licence: str
    citation: str
    obtain: str
    supersedes: tuple[str, ...]
    creators: tuple[str, ...] = ()
    published: str = ""


class SplitRecord(JsonRecord, frozen=True):
    """A split: its files, format, expected counts and known errors.

    `unverified_reason` says why checksums or counts are missing or unchecked; it is empty if all are known.
    """

    version: VersionRecord
    format: str | None
    files: tuple[StoredFile, ...]
    counts: Counts
    steps: tuple[StepCounts, ...]
    main_file: str
    document_range: tuple[int, int] | None
    language: str
    domain: str
    document_type: str
    root: str | None
    predictions: Mapping[str, str]
    repairs: tuple[Repair, ...]
    unverified_reason: str


class DatasetFile(JsonFile, frozen=True, tag="karat-dataset/4"):
    """The output of `karat data show --json`: a dataset and its splits by full name."""

    name: str
    title: str
    description: str
    tasks: tuple[str, ...]
    language: str
    domain: str
    document_type: str
    licence: str
    citation: str
    kb: str
    sources: tuple[str, ...]
    obtain: str
    biases: tuple[Remark, ...]
    exclusions: tuple[Remark, ...]
    splits: Mapping[str, SplitRecord]


class FetchFile(JsonFile, frozen=True, tag="karat-fetch/2"):
    """The output of `karat data fetch --json`: files by the full name of their split."""

    splits: Mapping[str, tuple[FetchResult, ...]]


def build_entry(chosen: ChosenSplit, *, is_local: bool) -> DatasetEntry:
    """Return the list entry of a split; `is_local`: whether its files are on this machine."""
    counts = chosen.split.expected_counts
    return DatasetEntry(
        name=str(chosen.name),
        title=chosen.dataset.title,
        language=chosen.split.language or chosen.dataset.language,
        domain=chosen.split.domain or chosen.dataset.domain,
        documents=counts.documents,
        labels=counts.labels,
        tags=counts.tags,
        format=chosen.split.format,
        has_checksums=all(item.sha256 is not None for item in chosen.split.files),
        is_downloadable=all(item.url is not None for item in chosen.split.files) or chosen.split.root is not None,
        is_local=is_local,
    )


def encode_list(rows: Sequence[DatasetEntry]) -> bytes:
    """Encode the list of datasets as indented JSON."""
    return encode_indented(DatasetsFile(tuple(rows)))


def render_list(rows: Sequence[DatasetEntry], *, width: int | None = None) -> str:
    """Render the list of datasets as a table; `width`: columns to wrap at, None does not wrap."""
    cells = [list(_COLUMNS), *([_format_cell(row, column) for column in _COLUMNS] for row in rows)]
    left = [index for index, column in enumerate(_COLUMNS) if column not in ("documents", "labels")]
    return format_table(cells, left, width, block_starts=(_COLUMNS.index("title"),)) + "\n"


def _format_cell(row: DatasetEntry, column: str) -> str:
    """Format the value of a column; tags replace labels if the dataset has tags, and `–` is an unknown value."""
    value: str | int | None = getattr(row, column)
    if column == "labels" and row.tags is not None:
        return f"{row.tags:,} tags"
    return UNDEFINED if value is None else f"{value:,}" if isinstance(value, int) else value


def encode_dataset(name: str, dataset: Dataset, splits: Sequence[ChosenSplit]) -> bytes:
    """Encode a dataset and some splits of it as indented JSON."""
    metadata = _to_dict(dataset, without=("versions", "is_added"))
    split_records = {
        str(chosen.name): {
            "version": _to_dict(chosen.version, without=("splits", "default_split")),
            **_to_dict(chosen.split, without=("metadata",)),
        }
        for chosen in splits
    }
    content = {"name": name, **metadata, "splits": split_records}
    return encode_indented(msgspec.convert(content, DatasetFile))


def _to_dict(value: object, without: Sequence[str] = ()) -> dict[str, Any]:
    """Convert a specification to a dictionary, without the fields named in `without`."""
    fields: dict[str, Any] = msgspec.to_builtins(value, enc_hook=str)
    return {key: value for key, value in fields.items() if key not in without}


def encode_fetch_results(results: Mapping[str, Sequence[FetchResult]]) -> bytes:
    """Encode fetched files, by the full name of their split, as indented JSON."""
    return encode_indented(FetchFile({name: tuple(items) for name, items in results.items()}))


def render_fetch_results(chosen: ChosenSplit, results: Sequence[FetchResult]) -> str:
    """Render one line per fetched file of a split: how it was obtained and its path, and why a copy was replaced."""
    return "".join(
        f"{chosen.name}: {item.method}, {item.path}{_format_checksum(chosen, item)}\n"
        + ("" if item.replaced is None else f"{chosen.name}: a damaged copy was deleted: {item.replaced}\n")
        for item in results
    )


def _format_checksum(chosen: ChosenSplit, item: FetchResult) -> str:
    """Return the checksum of a file whose checksum is not known, as a remark; else an empty text."""
    return "" if item.verified or chosen.split.root else f" (no known checksum; sha256 {item.sha256})"


def render_dataset(
    name: str,
    dataset: Dataset,
    splits: Sequence[ChosenSplit],
    folders: Mapping[str, PurePath | None],
    *,
    width: int | None = None,
) -> str:
    """Render a dataset and some splits of it; `width`: columns to wrap at, None does not wrap.

    `folders`: folder of each split by full name; None if it is not on this machine.
    """
    lines = _build_lines(name, dataset, splits, folders, width)
    return "".join(f"{wrap_text(line, width)}\n" for line in lines)


def _build_lines(
    name: str,
    dataset: Dataset,
    splits: Sequence[ChosenSplit],
    folders: Mapping[str, PurePath | None],
    width: int | None,
) -> Iterator[str]:
    """Yield the lines about a dataset, its versions and its splits.

    `width`: columns to wrap at; None does not wrap.
    """
    yield f"{name}: {dataset.title}"
    yield from _wrap(dataset.description, "", width)
    yield ""
    for label, value in (
        ("tasks", ", ".join(dataset.tasks)),
        ("language", dataset.language),
        ("domain", ", ".join(filter(None, (dataset.domain, dataset.document_type)))),
        ("ids", dataset.kb),
        ("licence", dataset.licence),
        ("cite", dataset.citation),
        ("where", "\n".join(dataset.sources)),
        ("obtain", dataset.obtain),
    ):
        if value:
            yield from _wrap_labelled(label, value, width)
    for title, remarks in (("Known biases", dataset.biases), ("Reasons to exclude it", dataset.exclusions)):
        if remarks:
            yield f"\n{title}"
        for remark in remarks:
            yield from _wrap(f"{remark.description} ({remark.source})", "  - ", width)
    previous: ChosenSplit | None = None
    for chosen in splits:
        if previous is None or chosen.version is not previous.version:
            yield from _build_version_lines(chosen, width)
        has_same_files = previous is not None and chosen.split.files == previous.split.files
        yield from _build_split_lines(chosen, folders[str(chosen.name)], width, has_same_files=has_same_files)
        previous = chosen


def _build_version_lines(chosen: ChosenSplit, width: int | None) -> Iterator[str]:
    """Yield the lines about the version of a split.

    `width`: columns to wrap at; None does not wrap.
    """
    version = chosen.version
    yield f"\n{chosen.name.name}@{chosen.name.version}"
    yield from _wrap(version.description, "  ", width)
    for label, value in (
        ("tasks", ", ".join(version.tasks)),
        ("ids", version.kb),
        ("licence", version.licence),
        ("cite", version.citation),
        ("creators", ", ".join(version.creators)),
        ("published", version.published),
        ("obtain", version.obtain),
        ("supersedes", ", ".join(version.supersedes)),
    ):
        if value:
            yield from _wrap_labelled(f"  {label}", value, width)


def _build_split_lines(
    chosen: ChosenSplit, folder: PurePath | None, width: int | None, *, has_same_files: bool
) -> Iterator[str]:
    """Yield the lines about a split; `has_same_files`: whether its files are those of the split before it.

    `width`: columns to wrap at; None does not wrap.
    """
    split = chosen.split
    yield f"  {chosen.name}: {_format_counts(split.counts)}, format {split.format or 'unknown'}"
    if split.domain or split.document_type:
        yield f"    {', '.join(filter(None, (split.domain, split.document_type)))}"
    for applied in split.steps:
        yield f"    after {applied.step}: {_format_counts(applied.counts)}"
    if has_same_files:
        yield "    the same files"
    for item in () if has_same_files else split.files:
        size = "" if item.size is None else f", {item.size:,} bytes"
        yield f"    {item.path}{size}"
        yield f"      sha256 {item.sha256 or 'unknown: the content cannot be verified'}"
        if item.url is not None:
            yield f"      {item.url}" + ("" if item.member is None else f" ({item.member})")
    if split.unverified_reason:
        yield from _wrap(split.unverified_reason, "    not verified: ", width)
    for repair in split.repairs:
        yield from _wrap(f"{repair.location}: {repair.fault} ({repair.count}); {repair.remedy}", "    ! ", width)
    if split.predictions:
        yield f"    stored predictions: {', '.join(split.predictions)}"
    yield f"    {'not on this machine' if folder is None else f'in {folder}'}"


def _format_counts(counts: Counts) -> str:
    """Return the known numbers of documents, labels and tags as text; `counts unknown` if there are none."""
    counts_by_noun = (("document", counts.documents), ("label", counts.labels), ("tag", counts.tags))
    return (
        ", ".join(format_count(value, noun) for noun, value in counts_by_noun if value is not None) or "counts unknown"
    )


def _wrap_labelled(label: str, value: str, width: int | None) -> Iterator[str]:
    """Yield the lines of a value behind its label, which takes 14 columns of the first line.

    `width`: columns to wrap at; None does not wrap.
    """
    for i, line in enumerate(value.split("\n")):
        yield from _wrap(line, f"{label if i == 0 else '':<14}", width)


def _wrap(text: str, prefix: str, width: int | None) -> list[str]:
    """Return the lines of a text behind `prefix`, later lines indented to the end of the prefix.

    `width`: columns to wrap at; None does not wrap.
    """
    return wrap_text(f"{prefix}{text}", width, hang=" " * len(prefix.lstrip())).split("\n")
