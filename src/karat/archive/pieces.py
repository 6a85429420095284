"""The one function that makes what the client asks for, for the server and for the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from karat.archive.across import entities, is_asked_across
from karat.archive.archive import Archive
from karat.archive.board import board, errors, is_split
from karat.archive.cases import block_numbers, cases, texts
from karat.archive.charts import curves
from karat.archive.details import dataset, reasons
from karat.archive.groups import groups
from karat.archive.problems import credits, problems
from karat.archive.verified import verification, verifications
from karat.errors import UnknownNameError
from karat.pages.files import Written

_NAME: Final = re.compile(r"(?P<kind>[a-z]+)(?:/(?P<key>[0-9a-f]{12}))?(?:/(?P<block>[0-9]{1,6}))?")

OF_ALL: Final[Mapping[str, Callable[[Archive], Written]]] = {
    "board": board,
    "errors": errors,
    "entities": entities,
    "problems": problems,
    "verification": verification,
}
OF_DATASET: Final[Mapping[str, Callable[[Archive, str], Written]]] = {
    "cases": cases,
    "dataset": dataset,
    "reasons": reasons,
    "curves": curves,
    "credits": credits,
    "groups": groups,
}


def piece(archive: Archive, name: str) -> bytes:
    """A piece by its name, such as `board`, `cases/DATASET` and `texts/DATASET/BLOCK`, as JSON."""
    found = _NAME.fullmatch(name)
    kind, key, block = found.group("kind", "key", "block") if found else ("", None, None)
    if kind in OF_ALL and key is None and block is None:
        return msgspec.json.encode(OF_ALL[kind](archive))
    if key is not None and key not in archive.datasets:
        raise UnknownNameError("dataset", key, archive.datasets)
    if kind in OF_DATASET and key is not None and block is None:
        return msgspec.json.encode(OF_DATASET[kind](archive, key))
    if kind == "texts" and key is not None and block is not None:
        return msgspec.json.encode(texts(archive, key, int(block)))
    raise UnknownNameError("piece", name, [*OF_ALL, *OF_DATASET, "texts"])


def names(archive: Archive) -> Iterator[str]:
    """All pieces that there are."""
    cased = is_asked_across() and any(entry.verdicts for entry in archive.entries)
    there = {"entities": cased, "verification": bool(verifications(archive))}
    yield from (name for name in OF_ALL if there.get(name, True))
    for key in archive.datasets:
        entries = list(archive.on(key))
        if any(entry.verdicts for entry in entries):
            yield f"cases/{key}"
        corpus = archive.corpus(key)
        if corpus is not None:
            yield f"dataset/{key}"
        if (shown := archive.shown(key)) is not None:
            yield from (f"texts/{key}/{block}" for block in dict.fromkeys(block_numbers(map(len, shown.texts))))
        if any(entry.reasons for entry in entries):
            yield f"reasons/{key}"
        if any(entry.curves or entry.seconds or entry.verdicts for entry in entries):
            yield f"curves/{key}"
        if any(entry.credits for entry in entries):
            yield f"credits/{key}"
        if is_split(archive, key):
            yield f"groups/{key}"
