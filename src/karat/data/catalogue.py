"""Benchmarks by name: which files a name stands for, whether they are here, and how they come here."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

import msgspec

from karat.data.steps import stepped
from karat.errors import InputError, UnknownNameError, UsageError, reason
from karat.model.corpus import Corpus
from karat.registry import get, names
from karat.spec.dataset import Dataset, DatasetName, File, Folder, Item, Split, Version, parse_dataset, split_system
from karat.storage.files import Source
from karat.storage.home import cache, content, home, places, put, stored

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with what is fetched, the bytes that are there, and those there will be where that is known."""

How: TypeAlias = Literal["there", "copied", "linked", "downloaded"]


class ChosenSplit(msgspec.Struct, frozen=True):
    """One split of one version. `name` is its full name: the split is left out where it is the only one."""

    name: DatasetName
    dataset: Dataset
    version: Version
    split: Split

    @property
    def format(self) -> str:
        """The name of the format."""
        if self.split.format is None:
            raise UsageError(f"nothing here reads the files of {self.name} yet. Convert them to a known format.")
        return self.split.format

    @property
    def obtain(self) -> str:
        """How to get files that cannot be downloaded."""
        return self.version.obtain or self.dataset.obtain


class Fetched(msgspec.Struct, frozen=True):
    """What became of a file or folder: where it is, how it got there, and whether its checksum is known and right."""

    path: Path
    how: How
    sha256: str
    verified: bool


def named(given: str) -> DatasetName | None:
    """The benchmark that a text names, or None if it is a path; a path that reads like a name is written `./PATH`."""
    try:
        found = parse_dataset(given)
    except UsageError:
        return None
    return found if found.name in names("datasets") else None


def every(name: DatasetName) -> list[ChosenSplit]:
    """All splits that a name stands for: without a split, those of its version; without a version, of the first."""
    dataset = get("datasets", name.name, Dataset)
    version = name.version or next(iter(dataset.versions))
    if version not in dataset.versions:
        raise UnknownNameError(f"version of {name.name}", version, dataset.versions)
    found = dataset.versions[version]
    if name.split is not None and name.split not in found.splits:
        raise UnknownNameError(f"split of {name.name}@{version}", name.split, found.splits)
    several = len(found.splits) > 1
    return [
        ChosenSplit(DatasetName(name.name, version, split if several else None), dataset, found, found.splits[split])
        for split in ([name.split] if name.split else found.splits)
    ]


def choose(name: DatasetName) -> ChosenSplit:
    """The one split that a name stands for."""
    found = every(name)
    if len(found) == 1:
        return found[0]
    usual = found[0].version.usual
    if usual is None:
        raise UsageError(f"{name} has several splits. Name one: {', '.join(str(one.name) for one in found)}.")
    return next(one for one in found if one.name.split == usual)


def stored_answers(given: str) -> tuple[Path, str] | None:
    """The file of stored answers that a text names, and its format; None if it names something else."""
    benchmark, system = split_system(given)
    name = named(benchmark)
    if not system or name is None:
        return None
    found = every(name)
    if name.split is None and system in found[0].version.splits:
        return None
    split = choose(name).split
    if system not in split.answers:
        known = [*split.answers, *found[0].version.splits]
        raise UnknownNameError(f"split or stored answers of {benchmark}", system, known)
    return (split.root or Path()) / split.answers[system], choose(name).format


def lies_in(chosen: ChosenSplit) -> Path | None:
    """The folder in which all files of a split are, whatever is in them."""
    folders = places() if chosen.split.root is None else (chosen.split.root,)
    return next((folder for folder in folders if not _missing(chosen, folder)), None)


def ready(chosen: ChosenSplit) -> Path:
    """What the reader is to open, once all files of the split are here and are the right ones."""
    folder = lies_in(chosen)
    if folder is None:
        raise UsageError(_not_here(chosen))
    if chosen.split.root is None:
        for item in chosen.split.files:
            check(item, _stored(folder, item), str(chosen.name))
    return stored(folder / chosen.split.opened) or folder / chosen.split.opened


def finished(corpus: Corpus, chosen: ChosenSplit) -> Corpus:
    """A corpus as the name promises it: its rows, its steps, its full name, and what is known about it."""
    split = chosen.split
    if split.root is not None:
        return replace(corpus, about={**_of_texts(chosen), **corpus.about})
    if split.rows is not None:
        kept = Corpus.built(islice(corpus, *split.rows), name=corpus.name, about=corpus.about)
        corpus = replace(kept, skipped=corpus.skipped)
    if split.steps:
        corpus, _ = stepped(corpus, [applied.step for applied in split.steps])
    known = {
        "title": chosen.dataset.title,
        **_of_texts(chosen),
        "licence": chosen.version.licence or chosen.dataset.licence,
        "kb": chosen.version.kb or chosen.dataset.kb,
    }
    return replace(corpus, name=str(chosen.name), about={**corpus.about, **known})


def _of_texts(chosen: ChosenSplit) -> dict[str, str]:
    """What the registry says about the texts of a split; nothing where it is silent."""
    dataset = chosen.dataset
    language = chosen.split.language or dataset.language
    known = {"language": language, "domain": dataset.domain, "document type": dataset.document_type}
    return {name: value for name, value in known.items() if value}


def recognised(corpus: Corpus, path: Path) -> Corpus:
    """A corpus from a path, with what the registry says about the texts of the very files that lie there."""
    every_split = [one for name in names("datasets") for one in _splits(get("datasets", name, Dataset), name)]
    known = [(one, item) for one in every_split for item in one.split.files if item.sha256 is not None]
    found = content(path) if path.exists() else None
    alike = [_of_texts(one) for one, item in known if found is not None and item.sha256 == found.sha256]
    if not alike:
        return corpus
    common = {name: value for name, value in alike[0].items() if all(each.get(name) == value for each in alike)}
    return replace(corpus, about={**common, **corpus.about})


def _splits(dataset: Dataset, name: str) -> list[ChosenSplit]:
    return [one for version in dataset.versions for one in every(DatasetName(name, version))]


def needs_text(chosen: ChosenSplit) -> bool:
    """Whether the texts must be read even where scoring would not need them."""
    return bool(chosen.split.steps or chosen.split.rows)


def check(item: Item, path: Path, name: str) -> None:
    """Raise `InputError` where a file or folder is not what the name stands for."""
    found = content(path)
    if isinstance(item, Folder) and found.files != item.files:
        is_, should = f"{found.files} files", f"{item.files} files"
    elif item.size is not None and found.size != item.size:
        is_, should = f"{found.size:,} bytes", f"{item.size:,} bytes"
    elif item.sha256 is not None and found.sha256 != item.sha256:
        is_, should = f"SHA-256 {found.sha256}", f"SHA-256 {item.sha256}"
    else:
        return
    raise InputError(
        str(path),
        found=is_,
        expected=f"{should} for {name}",
        remedy=f"Fetch it again (`karat data fetch {name}`); other content has no such name and is loaded by its path",
    )


def fetch(
    chosen: ChosenSplit, *, given: Path | None = None, link: bool = False, progress: Progress | None = None
) -> list[Fetched]:
    """Bring the files of a split into the cache: from a folder of local copies, or from the web.

    The folder may be laid out like the cache or hold the files alone; what it does not have is downloaded where that is
    possible. `link` makes links instead of copies.
    """
    try:
        return _brought(chosen, given, progress, link=link)
    except OSError as problem:
        raise UsageError(
            f"{reason(problem)}. The files of {chosen.name} cannot be brought to {home()}. Name another folder in "
            "KARAT_HOME, or make room there."
        ) from None


def _brought(chosen: ChosenSplit, given: Path | None, progress: Progress | None, *, link: bool) -> list[Fetched]:
    if chosen.split.root is not None:
        return [_fetched(item, chosen.split.root / item.path, "there") for item in chosen.split.files]
    if given is not None and not given.is_dir():
        raise UsageError(f"{given} is no folder. Name the folder that holds the files of {chosen.name}.")
    here = {item.path: _right(item, chosen) for item in chosen.split.files}
    wanted = [item for item in chosen.split.files if here[item.path] is None]
    copies = {item.path: None if given is None else _local(item, given) for item in wanted}
    if given is not None and wanted and not any(copies.values()):
        raise InputError(
            str(given),
            found="none of the files",
            expected=" and ".join(_names(wanted)) + f" for {chosen.name}",
            remedy=f"Name a folder that holds them, or one with {wanted[0].path}",
        )
    if any(item.url is None and copies[item.path] is None for item in wanted):
        raise UsageError(_closed(chosen))
    found = []
    for item in chosen.split.files:
        place = here[item.path]
        if place is not None:
            found.append(_fetched(item, place, "there"))
        elif (copy := copies[item.path]) is not None:
            found.append(_taken(item, copy, chosen, link=link))
        else:
            found.append(_downloaded(item, chosen, progress))
    return found


def _right(item: Item, chosen: ChosenSplit) -> Path | None:
    """Where the cache has an item, if it is the right one; a damaged one is removed."""
    place = stored(cache() / item.path)
    if place is None:
        return None
    try:
        check(item, place, str(chosen.name))
    except InputError:
        _remove(place)
        return None
    return place


def _taken(item: Item, copy: Path, chosen: ChosenSplit, *, link: bool) -> Fetched:
    check(item, copy, str(chosen.name))
    place = (cache() / item.path).with_name(copy.name)
    place.parent.mkdir(parents=True, exist_ok=True)
    _link(copy, place) if link else _copy(copy, place)
    return _fetched(item, place, "linked" if link else "copied")


def _fetched(item: Item, path: Path, how: How) -> Fetched:
    return Fetched(path, how, content(path).sha256, verified=item.sha256 is not None)


def _downloaded(item: Item, chosen: ChosenSplit, progress: Progress | None) -> Fetched:
    from karat.storage.fetch import download  # what loads a benchmark that is here needs no network

    assert item.url is not None  # fetch has seen to it
    place = cache() / item.path
    report = None if progress is None else lambda done, total: progress(item.path, done, total)
    if isinstance(item, File) and item.member is None:
        download(item.url, place, check=lambda path: check(item, path, str(chosen.name)), progress=report)
        return _fetched(item, place, "downloaded")
    place.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=place.parent, prefix=".fetched.") as scratch:
        found = Path(scratch) / place.name
        if item.member is None:
            for name in item.names if isinstance(item, Folder) else ():
                download(f"{item.url}/{name}", found / name)
            check(item, found, str(chosen.name))
        else:
            _unpacked(item, item.url, item.member, found, chosen, report)
        put(found, place)
    return _fetched(item, place, "downloaded")


def _unpacked(
    item: Item,
    url: str,
    member: str,
    found: Path,
    chosen: ChosenSplit,
    report: Callable[[int, int | None], None] | None,
) -> None:
    """Several splits may lie in one archive, which is therefore kept."""
    from karat.storage.fetch import download, unpack

    archive = home() / "archives" / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}-{url.rpartition('/')[2]}"
    if not archive.exists():
        download(url, archive, progress=report)
    try:
        unpack(archive, member, found)
        check(item, found, str(chosen.name))
    except InputError:
        archive.unlink(missing_ok=True)  # so that the next call looks whether the publisher has mended it
        raise


def _local(item: Item, given: Path) -> Path | None:
    """The item in a folder of local copies: under its whole path, or under less and less of it."""
    parts = Path(item.path).parts
    copies = (stored(given.joinpath(*parts[i:])) for i in range(len(parts)))
    return next((copy for copy in copies if copy is not None), None)


def _copy(source: Path, place: Path) -> None:
    with TemporaryDirectory(dir=place.parent, prefix=".copied.") as scratch:
        found = Path(scratch) / place.name
        if source.is_dir():
            for name in Source(str(source)).names:
                (found / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / name, found / name)
        else:
            shutil.copyfile(source, found)
        put(found, place)


def _link(source: Path, place: Path) -> None:
    with TemporaryDirectory(dir=place.parent, prefix=".linked.") as scratch:
        found = Path(scratch) / place.name
        found.symlink_to(source.resolve(), target_is_directory=source.is_dir())
        put(found, place)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _stored(folder: Path, item: Item) -> Path:
    return stored(folder / item.path) or folder / item.path


def _missing(chosen: ChosenSplit, folder: Path) -> list[str]:
    return [item.path for item in chosen.split.files if stored(folder / item.path) is None]


def _names(files: Sequence[Item]) -> list[str]:
    return [item.path.rpartition("/")[2] for item in files]


def _not_here(chosen: ChosenSplit) -> str:
    if any(item.url is None for item in chosen.split.files):
        return f"{chosen.name} is not on this machine. {_closed(chosen)}"
    return (
        f"{chosen.name} is not on this machine. Fetch it with `karat data fetch {chosen.name}`, from local copies "
        "with --from FOLDER, or name a folder of benchmarks in KARAT_DATA."
    )


def _closed(chosen: ChosenSplit) -> str:
    files = " and ".join(_names([item for item in chosen.split.files if item.url is None]))
    return (
        f"{chosen.name} cannot be downloaded. {chosen.obtain} Then `karat data fetch {chosen.name} --from FOLDER`, "
        f"where FOLDER holds {files}."
    )
