"""Files that ELEVANT stores next to linked articles, and the metadata in them."""

from __future__ import annotations

import re
from pathlib import PurePath

import msgspec

from karat.model.json.decoder import read_json_value
from karat.model.spec.format import ByteSource, Manifest

METADATA, RESULTS, CASES = "metadata.json", "eval_results.json", "eval_cases.jsonl"
"""Suffixes of the files with the metadata of a linking, and with ELEVANT's evaluation: all scores, and all cases."""

_LINKED_NAME = re.compile(r"(.+)\.linked_articles\.jsonl(\.gz|\.zst)?")


class _Metadata(msgspec.Struct, frozen=True):
    """The fields of ELEVANT's metadata file that Karat reads."""

    experiment_name: str | None = None
    linking_time: float | None = None


def get_stem(name: str) -> str | None:
    """Return the file name before `.linked_articles.jsonl`, with which all files of a linking begin, or None."""
    match = _LINKED_NAME.fullmatch(name)
    return None if match is None else match[1]


def read_manifest(source: ByteSource) -> Manifest | None:
    """Read name and linking time from the metadata file next to linked articles; None if there is no such file.

    Raise `InputError` if the metadata file is invalid.
    """
    stem = get_stem(source.path)
    if stem is None:
        return None
    metadata_file = source.get_sibling(f"{PurePath(stem).name}.{METADATA}")
    if not metadata_file.exists:
        return None
    metadata = read_json_value(
        metadata_file.read_bytes(),
        _Metadata,
        metadata_file.label,
        actual="invalid metadata ({problem})",
        expected="a JSON object with experiment_name and linking_time",
        remedy="Correct or remove the file",
    )
    return Manifest(metadata.experiment_name, metadata.linking_time)
