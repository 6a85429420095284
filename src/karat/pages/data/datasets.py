"""Benchmarks, as `karat data list`, `show` and `fetch` print and write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from karat.data.catalogue import How
from karat.fitting import columns, counted, wrapped
from karat.pages.files import Written, indented
from karat.spec.dataset import Applied, Counts, Remark, Repair

if TYPE_CHECKING:
    from karat.data.catalogue import ChosenSplit, Fetched
    from karat.spec.dataset import Dataset

_COLUMNS: Final = ("name", "documents", "labels", "files", "title", "language", "domain", "checksum")


class ListedDataset(Written, frozen=True):
    """A split of a benchmark: what must be in it, whether it can be downloaded, and whether it is here.

    `sha256` says whether the checksums of all its files are known, so that no other content has its name.
    """

    name: str
    title: str
    language: str
    domain: str
    documents: int | None
    labels: int | None
    tags: int | None
    format: str | None
    sha256: bool
    download: bool
    here: bool

    @property
    def checksum(self) -> str:
        """Whether a checksum is known."""
        return "sha256" if self.sha256 else "none"

    @property
    def files(self) -> str:
        """How to come by its files."""
        return "here" if self.here else "to fetch" if self.download else "bring your own"


class DatasetsFile(Written, frozen=True):
    """What `karat data list --json` writes."""

    layout: Literal["karat-datasets/1"]
    datasets: tuple[ListedDataset, ...]


class StoredFile(Written, frozen=True, omit_defaults=True):
    """A file of a split; or a folder, which has the number of its files, and the names of those to be fetched."""

    path: str
    sha256: str | None
    size: int | None
    url: str | None
    member: str | None
    files: int | UnsetType = UNSET
    names: tuple[str, ...] | UnsetType = UNSET


class ShownVersion(Written, frozen=True):
    """What a version says, where it differs from the benchmark."""

    says: str
    kb: str
    licence: str
    obtain: str
    supersedes: tuple[str, ...]


class ShownSplit(Written, frozen=True):
    """A split: its files, how they are read, what must be in them, and what is known to be wrong with them.

    `unseen` says why checksums or counts are lacking or were not checked; it is empty where all are known.
    """

    version: ShownVersion
    format: str | None
    files: tuple[StoredFile, ...]
    counts: Counts
    steps: tuple[Applied, ...]
    gold: str
    rows: tuple[int, int] | None
    language: str
    root: str | None
    answers: Mapping[str, str]
    repairs: tuple[Repair, ...]
    unseen: str


class DatasetFile(Written, frozen=True):
    """What `karat data show --json` writes: a benchmark, and splits of it by their full names."""

    layout: Literal["karat-dataset/1"]
    name: str
    title: str
    says: str
    tasks: tuple[str, ...]
    language: str
    domain: str
    document_type: str
    licence: str
    citation: str
    kb: str
    where: tuple[str, ...]
    obtain: str
    biases: tuple[Remark, ...]
    excluded: tuple[Remark, ...]
    splits: Mapping[str, ShownSplit]


class FetchedItem(Written, frozen=True):
    """A file or folder: where it is, how it got there, and whether its checksum is known and right."""

    path: str
    how: How
    sha256: str
    verified: bool


class FetchedFile(Written, frozen=True):
    """What `karat data fetch --json` writes: what there is of each split, by its full name."""

    layout: Literal["karat-fetched/1"]
    fetched: Mapping[str, tuple[FetchedItem, ...]]


def listed(one: ChosenSplit, *, here: bool) -> ListedDataset:
    """A line of the list."""
    counts = one.split.expected
    return ListedDataset(
        name=str(one.name),
        title=one.dataset.title,
        language=one.split.language or one.dataset.language,
        domain=one.dataset.domain,
        documents=counts.documents,
        labels=counts.labels,
        tags=counts.tags,
        format=one.split.format,
        sha256=all(item.sha256 is not None for item in one.split.files),
        download=all(item.url is not None for item in one.split.files) or one.split.root is not None,
        here=here,
    )


def list_json(rows: Sequence[ListedDataset]) -> bytes:
    """All of them."""
    return indented(DatasetsFile("karat-datasets/1", tuple(rows)))


def list_page(rows: Sequence[ListedDataset], *, width: int | None = None) -> str:
    """All of them, a line each."""
    cells = [list(_COLUMNS), *([_cell(row, column) for column in _COLUMNS] for row in rows)]
    left = [place for place, column in enumerate(_COLUMNS) if column not in ("documents", "labels")]
    return columns(cells, left, width, apart=(_COLUMNS.index("title"),)) + "\n"


def _cell(row: ListedDataset, column: str) -> str:
    value: str | int | None = getattr(row, column)
    if column == "labels" and row.tags is not None:
        return f"{row.tags:,} tags"
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else value


def show_json(name: str, dataset: Dataset, shown: Sequence[ChosenSplit]) -> bytes:
    """A benchmark, and under their full names some splits of it."""
    about = _plain(dataset, without=("versions",))
    splits = {
        str(one.name): {"version": _plain(one.version, without=("splits", "usual")), **_plain(one.split)}
        for one in shown
    }
    content = {"layout": "karat-dataset/1", "name": name, **about, "splits": splits}
    return indented(msgspec.convert(content, DatasetFile))


def _plain(value: object, without: Sequence[str] = ()) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(value, enc_hook=str)
    return {key: value for key, value in found.items() if key not in without}


def fetched_json(done: Mapping[str, Sequence[Fetched]]) -> bytes:
    """What was done for each split."""
    items = {
        name: tuple(FetchedItem(str(item.path), item.how, item.sha256, item.verified) for item in found)
        for name, found in done.items()
    }
    return indented(FetchedFile("karat-fetched/1", items))


def fetched_page(one: ChosenSplit, fetched: Sequence[Fetched]) -> str:
    """What was done for a split, a line for each file."""
    return "".join(f"{one.name}: {item.how}, {item.path}{_unknown(one, item)}\n" for item in fetched)


def _unknown(one: ChosenSplit, item: Fetched) -> str:
    return "" if item.verified or one.split.root else f" (no checksum is known; it has {item.sha256})"


def show_page(
    name: str,
    dataset: Dataset,
    shown: Sequence[ChosenSplit],
    folders: Mapping[str, PurePath | None],
    *,
    width: int | None = None,
) -> str:
    """A benchmark and some splits of it; `folders` has where the files of each are, None if they are not here."""
    lines = _lines(name, dataset, shown, folders, width)
    return "".join(f"{wrapped(line, width)}\n" for line in lines)


def _lines(
    name: str, dataset: Dataset, shown: Sequence[ChosenSplit], folders: Mapping[str, PurePath | None], width: int | None
) -> Iterator[str]:
    yield f"{name}: {dataset.title}"
    yield from _wrapped(dataset.says, "", width)
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
            yield from _labelled(label, value, width)
    for title, remarks in (("Known biases", dataset.biases), ("Why some leave it out", dataset.excluded)):
        if remarks:
            yield f"\n{title}"
        for remark in remarks:
            yield from _wrapped(f"{remark.says} ({remark.source})", "  - ", width)
    before: ChosenSplit | None = None
    for one in shown:
        if before is None or one.version is not before.version:
            yield from _version(one, width)
        same = before is not None and one.split.files == before.split.files
        yield from _split(one, folders[str(one.name)], width, same_files=same)
        before = one


def _version(one: ChosenSplit, width: int | None) -> Iterator[str]:
    version = one.version
    yield f"\n{one.name.name}@{one.name.version}"
    yield from _wrapped(version.says, "  ", width)
    for label, value in (
        ("ids", version.kb),
        ("licence", version.licence),
        ("obtain", version.obtain),
        ("supersedes", ", ".join(version.supersedes)),
    ):
        if value:
            yield from _labelled(f"  {label}", value, width)


def _split(one: ChosenSplit, folder: PurePath | None, width: int | None, *, same_files: bool) -> Iterator[str]:
    split = one.split
    yield f"  {one.name}: {_counted(split.counts)}, format {split.format or 'unknown'}"
    for applied in split.steps:
        yield f"    after {applied.step}: {_counted(applied.counts)}"
    if same_files:
        yield "    the same files"
    for item in () if same_files else split.files:
        size = "" if item.size is None else f", {item.size:,} bytes"
        yield f"    {item.path}{size}"
        yield f"      sha256 {item.sha256 or 'not known: nothing tells other content from it'}"
        if item.url is not None:
            yield f"      {item.url}" + ("" if item.member is None else f" ({item.member})")
    if split.unseen:
        yield from _wrapped(split.unseen, "    never seen: ", width)
    for repair in split.repairs:
        yield from _wrapped(f"{repair.where}: {repair.fault} ({repair.count}); {repair.remedy}", "    ! ", width)
    if split.answers:
        yield f"    stored answers: {', '.join(split.answers)}"
    yield f"    {'not on this machine' if folder is None else f'in {folder}'}"


def _counted(counts: Counts) -> str:
    known = (("document", counts.documents), ("label", counts.labels), ("tag", counts.tags))
    return ", ".join(counted(value, what) for what, value in known if value is not None) or "counts not known"


def _labelled(label: str, value: str, width: int | None) -> Iterator[str]:
    for i, line in enumerate(value.split("\n")):
        yield from _wrapped(line, f"{label if i == 0 else '':<14}", width)


def _wrapped(text: str, start: str, width: int | None) -> list[str]:
    return wrapped(f"{start}{text}", width, hang=" " * len(start.lstrip())).split("\n")
