"""Names of the ZELDA test sets, and their files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final, TypeVar

from karat.data.load import load
from karat.model.corpus import Corpus
from karat.model.errors import InputError, UsageError
from karat.storage.files import Source

SPLITS: Final = (
    "aida-b",
    "tweeki",
    "reddit-posts",
    "reddit-comments",
    "wned-wiki",
    "wned-cweb",
    "shadowlinks-top",
    "shadowlinks-shadow",
    "shadowlinks-tail",
)
"""Names in the order of Table 2 of the paper."""

_ALIASES: Final = {"cweb": "wned-cweb"}  # the name of the published file
_PREDICTIONS: Final = "predictions_"
_SUFFIXES: Final = re.compile(r"\.(?:zelda\.)?(jsonl|conll|parquet|json|tsv)(\.gz|\.zst)?$")
_T = TypeVar("_T")


def parse_split(name: str) -> str:
    """Return the name of the split in a file name or path; names of other files are returned normalised.

    Normalised means without folder and suffixes, in lower case, with hyphens for underscores.
    """
    stem = _SUFFIXES.sub("", name.rpartition("/")[2]).removeprefix(_PREDICTIONS).removeprefix("test_")
    stem = stem.removesuffix("_final").lower()
    stem = re.sub("^slinks", "shadowlinks", stem.replace("_", "-"))
    return _ALIASES.get(stem, stem)


def find_split_files(
    paths: Iterable[str],
    suffix: str | None = None,
    *,
    has_predictions: bool = False,
    splits: Collection[str] | None = None,
) -> dict[str, str]:
    """Return the path of the file of each split, from files and folders, sorted as in the paper.

    In folders only files with a known suffix count and, if not None, with `suffix` (such as `jsonl`). Files named
    `predictions_…` are no test sets; with `has_predictions`, they are the only ones if the folder has any. With
    `splits`, a file may also have its split as its folder, as `karat run` writes it, and files of other splits are
    skipped. Raise `InputError` for a folder without such files and `UsageError` for two files of one split.
    """
    files: dict[str, str] = {}
    for path in paths:
        source = Source(path, trust_links=True)
        names = [name for name in source.file_names if _has_suffix(name, suffix)] if source.is_folder else []
        marked = [name for name in names if name.rpartition("/")[2].startswith(_PREDICTIONS)]
        inside = (marked or names) if has_predictions else [name for name in names if name not in marked]
        if source.is_folder and not inside:
            raise InputError(
                source.label,
                actual="a folder without test sets",
                expected=f"files such as test_tweeki.{suffix or 'jsonl'}",
                remedy="Name the folder that has them, or the files",
            )
        for file in [f"{path}/{name}" for name in inside] or [path]:
            split = parse_split(file)
            if splits is not None and split not in splits:
                split = parse_split(file.rpartition("/")[0])
                if split not in splits:
                    continue
            if split in files:
                raise UsageError(f"{files[split]} and {file} are both {split}. Pass one of them in a folder or alone.")
            files[split] = file
    return sort_splits(files)


def load_splits(paths: Iterable[str]) -> dict[str, Corpus]:
    """Load the test sets of a ZELDA-style benchmark from files and folders; return them by split name."""
    return {split: load(path) for split, path in find_split_files(paths).items()}


def _has_suffix(name: str, suffix: str | None) -> bool:
    """Return whether a file name has a known suffix, compressed or not, which is `suffix` if that is not None."""
    match = _SUFFIXES.search(name)
    return match is not None and suffix in (None, match[1])


def sort_splits(by_split: dict[str, _T]) -> dict[str, _T]:
    """Return the dictionary sorted by split, in the order of the paper; other names come last, in their order."""
    index_by_split = {name: number for number, name in enumerate(SPLITS)}
    return dict(sorted(by_split.items(), key=lambda item: index_by_split.get(item[0], len(index_by_split))))


def pair_files(gold: str, predictions: str) -> dict[str, tuple[str, str]]:
    """Return (gold file, prediction file) by split; two single files belong together whatever their names are.

    Arguments are files or folders. Raise `UsageError` if a gold file has no prediction file.
    """
    if not Source(gold).is_folder and not Source(predictions).is_folder:
        return {parse_split(gold): (gold, predictions)}
    golds = find_split_files([gold])
    runs = find_named_files(predictions, golds, has_predictions=True)
    if golds == runs:
        raise UsageError(f"{predictions} has the test sets, and no predictions. Pass the folder of the predictions.")
    missing = [split for split in golds if split not in runs]
    if missing:
        raise UsageError(
            f"{predictions} has no predictions for {', '.join(missing)}. Add them, or pass the test sets one by one."
        )
    return {split: (path, runs[split]) for split, path in golds.items()}


def find_named_files(
    path: str, splits: Collection[str], suffix: str | None = None, *, has_predictions: bool = False
) -> dict[str, str]:
    """Return the files of a file or folder that are named as one of `splits`; see `find_split_files`.

    Raise `InputError` if the path does not exist and `UsageError` if no file has such a name.
    """
    source = Source(path, trust_links=True)
    if not source.exists:
        raise InputError(
            source.label, actual="no such file or folder", expected="files of the test sets", remedy="Check the path"
        )
    files = find_split_files([path], suffix, has_predictions=has_predictions, splits=splits)
    if not files:
        raise UsageError(
            f"no file of {path} is named as a test set ({', '.join(splits)}). Rename them, or pass single files."
        )
    return files
