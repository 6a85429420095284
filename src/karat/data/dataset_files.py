"""The files of a dataset on this computer: found, checked by size and checksum, and fetched into the cache."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from karat.data.catalogue import ChosenSplit
from karat.model.errors import InputError, UsageError, describe_os_error
from karat.model.output.json_files import JsonRecord
from karat.model.spec.dataset import File, Folder, Item
from karat.storage.atomic_writing import move_into_place, open_scratch_folder
from karat.storage.data_folder import (
    find_stored_path,
    get_dataset_cache,
    get_home_folder,
    hash_content,
    list_dataset_folders,
)
from karat.storage.files import Source

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""A callback with the path, the bytes fetched so far, and the total number of bytes (None if unknown)."""

FetchMethod: TypeAlias = Literal["present", "copied", "linked", "downloaded"]


class FetchResult(JsonRecord, frozen=True):
    """A fetched file or folder.

    `path`: where it is stored.
    `method`: how Karat obtained it.
    `sha256`: checksum of the content.
    `verified`: whether the checksum was compared with a known one.
    `replaced`: why an earlier copy in the cache was deleted; None if there was none.
    """

    path: str
    method: FetchMethod
    sha256: str
    verified: bool
    replaced: str | None = None


def find_folder(split: ChosenSplit) -> Path | None:
    """Return the first dataset folder that has all files of a split, or None; the content is not checked."""
    folders = list_dataset_folders() if split.split.root is None else (split.split.root,)
    return next((f for f in folders if all(find_stored_path(f / item.path) for item in split.split.files)), None)


def prepare_split(split: ChosenSplit) -> Path:
    """Check that all files of a split are present with the registered content, and return the path for the reader.

    Raises `UsageError` if a file is missing, and `InputError` if its content differs. The content of files that are
    part of Karat is not checked.
    """
    folder = find_folder(split)
    if folder is None:
        raise UsageError(_missing_message(split))
    if split.split.root is None or split.dataset.is_added:
        for item in split.split.files:
            path = find_stored_path(folder / item.path) or folder / item.path
            check_item(item, path, str(split.name), is_added=split.dataset.is_added)
    return find_stored_path(folder / split.split.main_path) or folder / split.split.main_path


def check_item(item: Item, path: Path, name: str, *, is_added: bool = False) -> None:
    """Raise `InputError` if the number of files, size or checksum at `path` differs from that registered in `item`.

    `name` is the name of the dataset for the message. `is_added`: whether a user added the dataset.
    """
    actual = hash_content(path)
    if isinstance(item, Folder) and actual.n_files != item.n_files:
        actual_text, expected = f"{actual.n_files} files", f"{item.n_files} files"
    elif item.size is not None and actual.size != item.size:
        actual_text, expected = f"{actual.size:,} bytes", f"{item.size:,} bytes"
    elif item.sha256 is not None and actual.sha256 != item.sha256:
        actual_text, expected = f"SHA-256 {actual.sha256}", f"SHA-256 {item.sha256}"
    else:
        return
    remedy = (
        f"Restore the file, or add its content as another version (`karat data add {path} --name NAME --version N`)"
        if is_added
        else f"Fetch it again (`karat data fetch {name}`); other content has no such name and is loaded by its path"
    )
    raise InputError(str(path), actual=actual_text, expected=f"{expected} for {name}", remedy=remedy)


def fetch_split(
    split: ChosenSplit, *, folder: Path | None = None, link: bool = False, progress: Progress | None = None
) -> list[FetchResult]:
    """Copy, link or download the files of a split into the cache, unless they are there.

    `folder`: local copies, laid out like the cache or as single files. Missing files are downloaded if possible.
    `link`: create symbolic links instead of copies. `progress` is called during downloads.
    Raises `UsageError` if a file is in no folder and cannot be downloaded, or cannot be stored.
    """
    try:
        return _fetch_items(split, folder, progress, link=link)
    except OSError as problem:
        raise UsageError(
            f"{describe_os_error(problem)}. Karat cannot store the files of {split.name} in {get_home_folder()}. "
            f"Set KARAT_HOME to another "
            "folder, or free some disk space."
        ) from None


def _fetch_items(
    split: ChosenSplit, folder: Path | None, progress: Progress | None, *, link: bool
) -> list[FetchResult]:
    """Fetch the files of a split as `fetch_split` describes, without handling of `OSError`."""
    if split.split.root is not None:
        return [_to_fetch_result(item, split.split.root / item.path, "present") for item in split.split.files]
    if folder is not None and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder. Name the folder that holds the files of {split.name}.")
    defects: dict[str, str] = {}
    cached = {item.path: _find_cached(item, split, defects) for item in split.split.files}
    missing = [item for item in split.split.files if cached[item.path] is None]
    copies = {item.path: None if folder is None else _find_local(item, folder) for item in missing}
    if folder is not None and missing and not any(copies.values()):
        raise InputError(
            str(folder),
            actual="none of the files",
            expected=" and ".join(_file_names(missing)) + f" for {split.name}",
            remedy=f"Name a folder that holds them, or one with {missing[0].path}",
        )
    if any(item.url is None and copies[item.path] is None for item in missing):
        deletions = "".join(f"A damaged copy was deleted: {reason} " for reason in defects.values())
        raise UsageError(deletions + _obtain_message(split))
    items: list[FetchResult] = []
    for item in split.split.files:
        path = cached[item.path]
        if path is not None:
            items.append(_to_fetch_result(item, path, "present"))
        elif (copy := copies[item.path]) is not None:
            items.append(_copy_item(item, copy, split, link=link))
        else:
            items.append(_download_item(item, split, progress))
        items[-1] = msgspec.structs.replace(items[-1], replaced=defects.get(item.path))
    return items


def _find_cached(item: Item, split: ChosenSplit, defects: dict[str, str]) -> Path | None:
    """Return the path of an item in the cache, or None; delete a cached item whose content is not as registered.

    The reason for deleting an item is added to `defects`, by the path of the item.
    """
    path = find_stored_path(get_dataset_cache() / item.path)
    if path is None:
        return None
    try:
        check_item(item, path, str(split.name))
    except InputError as problem:
        defects[item.path] = str(problem)
        _remove(path)
        return None
    return path


def _copy_item(item: Item, copy: Path, split: ChosenSplit, *, link: bool) -> FetchResult:
    """Check a local copy of an item, then copy or link it into the cache."""
    check_item(item, copy, str(split.name))
    target = (get_dataset_cache() / item.path).with_name(copy.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    _link(copy, target) if link else _copy(copy, target)
    return _to_fetch_result(item, target, "linked" if link else "copied")


def _to_fetch_result(item: Item, path: Path, method: FetchMethod) -> FetchResult:
    """Describe a stored item, with the checksum of its content."""
    return FetchResult(str(path), method, hash_content(path).sha256, verified=item.sha256 is not None)


def _download_item(item: Item, split: ChosenSplit, progress: Progress | None) -> FetchResult:
    """Download an item into the cache and check its content; an archive member is unpacked."""
    from karat.storage.downloads import download  # loading a present dataset needs no network library

    assert item.url is not None  # _fetch_items has checked this
    target = get_dataset_cache() / item.path
    report = None if progress is None else lambda done, total: progress(item.path, done, total)
    if isinstance(item, File) and item.member is None:
        download(item.url, target, check=lambda path: check_item(item, path, str(split.name)), progress=report)
        return _to_fetch_result(item, target, "downloaded")
    target.parent.mkdir(parents=True, exist_ok=True)
    with open_scratch_folder(target.parent) as scratch:
        scratch_path = scratch / target.name
        if item.member is None:
            for name in item.file_names if isinstance(item, Folder) else ():
                download(f"{item.url}/{name}", scratch_path / name)
            check_item(item, scratch_path, str(split.name))
        else:
            _download_member(item, item.url, item.member, scratch_path, split, report)
        move_into_place(scratch_path, target)
    return _to_fetch_result(item, target, "downloaded")


def _download_member(
    item: Item,
    url: str,
    member: str,
    target: Path,
    split: ChosenSplit,
    report: Callable[[int, int | None], None] | None,
) -> None:
    """Download an archive and unpack one member of it to `target`.

    The archive is cached, since several splits may share it. The archive is deleted if the member is missing or has
    other content than registered.
    """
    from karat.storage.downloads import download, unpack_member

    archive = (
        get_home_folder() / "archives" / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}-{url.rpartition('/')[2]}"
    )
    if not archive.exists():
        download(url, archive, progress=report)
    try:
        unpack_member(archive, member, target)
        check_item(item, target, str(split.name))
    except InputError:
        archive.unlink(missing_ok=True)  # the next call downloads it again, in case the publisher has fixed it
        raise


def _find_local(item: Item, folder: Path) -> Path | None:
    """Find an item in a folder of local copies, by its full path or any shorter suffix of the path; None if absent."""
    parts = Path(item.path).parts
    copies = (find_stored_path(folder.joinpath(*parts[i:])) for i in range(len(parts)))
    return next((copy for copy in copies if copy is not None), None)


def _copy(source: Path, target: Path) -> None:
    """Copy a file or folder to `target`, which appears only when it is complete."""
    with open_scratch_folder(target.parent) as scratch:
        scratch_path = scratch / target.name
        if source.is_dir():
            for name in Source(str(source)).file_names:
                (scratch_path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / name, scratch_path / name)
        else:
            shutil.copyfile(source, scratch_path)
        move_into_place(scratch_path, target)


def _link(source: Path, target: Path) -> None:
    """Create a symbolic link to a file or folder at `target`, replacing what is there."""
    with open_scratch_folder(target.parent) as scratch:
        scratch_path = scratch / target.name
        scratch_path.symlink_to(source.resolve(), target_is_directory=source.is_dir())
        move_into_place(scratch_path, target)


def _remove(path: Path) -> None:
    """Delete a file, a link or a folder with its content; do nothing if it is missing."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _file_names(files: Sequence[Item]) -> list[str]:
    """Return the names of files without their folders."""
    return [item.path.rpartition("/")[2] for item in files]


def _missing_message(split: ChosenSplit) -> str:
    """Return the error message for a split whose files are not all on this computer."""
    if split.dataset.is_added:
        return (
            f"{split.name}: a file is missing in {split.split.root}. Restore it, or remove the version "
            f"(karat data remove {split.name.name} --version {split.name.version}) and add it again."
        )
    if any(item.url is None for item in split.split.files):
        return f"{split.name} is not on this computer. {_obtain_message(split)}"
    return (
        f"{split.name} is not on this computer. Fetch it with `karat data fetch {split.name}`, or from local copies "
        "with --from FOLDER, or set KARAT_DATA to a folder of datasets."
    )


def _obtain_message(split: ChosenSplit) -> str:
    """Return the error message for a split that cannot be downloaded, with instructions."""
    files = " and ".join(_file_names([item for item in split.split.files if item.url is None]))
    return (
        f"{split.name} cannot be downloaded. {split.obtain} Then `karat data fetch {split.name} --from FOLDER`, "
        f"where FOLDER holds {files}."
    )
