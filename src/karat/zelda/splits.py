"""The test sets by name, and which files hold them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeVar

from karat.errors import InputError, UsageError
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
"""In the order of table 2 of the paper."""

_ALSO: Final = {"cweb": "wned-cweb", "wiki": "wned-wiki"}
_SUFFIXES: Final = re.compile(r"\.(?:zelda\.)?(jsonl|conll|parquet|json|tsv)(\.gz|\.zst)?$")
_T = TypeVar("_T")


def split_of(name: str) -> str:
    """The split that a file is of, by its name: what other files than the published ones are called stays as it is."""
    stem = _SUFFIXES.sub("", name.rpartition("/")[2]).removeprefix("test_").removesuffix("_final").lower()
    stem = stem.replace("_", "-").replace("slinks", "shadowlinks", not stem.startswith("shadowlinks"))
    return _ALSO.get(stem, stem)


def split_files(given: Iterable[str], suffix: str | None = None) -> dict[str, str]:
    """By split, the files that are given or lie in a folder that is given; in a folder only those of a suffix."""
    found: dict[str, str] = {}
    for path in given:
        source = Source(path, links=True)
        inside = [name for name in source.names if _fits(name, suffix)] if source.folder else []
        if source.folder and not inside:
            raise InputError(
                source.label,
                found="a folder without test sets",
                expected=f"files such as test_tweeki.{suffix or 'jsonl'}",
                remedy="Name the folder that has them, or the files",
            )
        for one in [f"{path}/{name}" for name in inside] or [path]:
            split = split_of(one)
            if split in found:
                raise UsageError(f"{found[split]} and {one} are both {split}. Give one of them.")
            found[split] = one
    return in_order(found)


def _fits(name: str, suffix: str | None) -> bool:
    match = _SUFFIXES.search(name)
    return match is not None and suffix in (None, match[1])


def in_order(found: dict[str, _T]) -> dict[str, _T]:
    """Splits in the order of the paper, others behind them."""
    place = {name: number for number, name in enumerate(SPLITS)}
    return dict(sorted(found.items(), key=lambda item: place.get(item[0], len(place))))


def paired_files(gold: str, answers: str) -> dict[str, tuple[str, str]]:
    """The test sets with the answers to them: two files belong together whatever they are called, others by name."""
    if not Source(gold).folder and not Source(answers).folder:
        return {split_of(gold): (gold, answers)}
    golds, runs = split_files([gold]), split_files([answers])
    if gold == answers or not golds.keys() & runs.keys():
        raise UsageError(
            f"no file of {answers} is named as a test set of {gold} ({', '.join(golds)}). Rename them, or give single "
            "files."
        )
    missing = [split for split in golds if split not in runs]
    if missing:
        raise UsageError(
            f"{answers} has no answers to {', '.join(missing)}. Add them, or give the test sets one by one."
        )
    return {split: (path, runs[split]) for split, path in golds.items()}
