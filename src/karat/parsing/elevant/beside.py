"""The files that ELEVANT keeps beside linked articles, and what it notes there about the linking."""

from __future__ import annotations

import re
from pathlib import PurePath

import msgspec

from karat.errors import InputError
from karat.spec.format import Bytes, Manifest

METADATA, RESULTS, CASES = "metadata.json", "eval_results.json", "eval_cases.jsonl"
"""About the linking, and ELEVANT's evaluation of it: all figures, and every case."""

_LINKED = re.compile(r"(.+)\.linked_articles\.jsonl(\.gz|\.zst)?")


class _Metadata(msgspec.Struct, frozen=True):
    """What is of use of it."""

    experiment_name: str | None = None
    linking_time: float | None = None


def stem_of(name: str) -> str | None:
    """How the names of all files about one linking begin; None where a name is not that of linked articles."""
    found = _LINKED.fullmatch(name)
    return None if found is None else found[1]


def manifest(source: Bytes) -> Manifest | None:
    """What the metadata beside linked articles say; None where there are none."""
    stem = stem_of(source.given)
    if stem is None:
        return None
    beside = source.beside(f"{PurePath(stem).name}.{METADATA}")
    if not beside.exists:
        return None
    try:
        said = msgspec.json.decode(beside.data(), type=_Metadata)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(
            beside.label,
            found=f"no metadata ({problem})",
            expected="a JSON object with experiment_name and linking_time",
            remedy="Correct the file, or take it away",
        ) from None
    return Manifest(said.experiment_name, said.linking_time)
