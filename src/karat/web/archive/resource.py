"""The resources of the web client by name, for the server and for single-file reports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from karat.model.errors import UnknownNameError
from karat.model.output.json_files import JsonRecord
from karat.model.registry import get_plugin, has_plugin, list_plugins
from karat.web.archive.archive import Archive

_NAME: Final = re.compile(r"(?P<kind>[a-z-]+)(?:/(?P<key>[0-9a-f]{12}))?(?:/(?P<block>[0-9]{1,6}))?")


@dataclass(frozen=True, slots=True)
class Resource:
    """The JSON that a page of the viewer loads: the constant `RESOURCE` of a file in `karat.web.archive.resources`."""

    record: type[JsonRecord]
    """The class of the JSON object; `tools/generate.py` writes its type into `web/src/shape.ts`."""
    build: Callable[..., JsonRecord]
    """Build the object from an `Archive`, the key of the dataset if it is per dataset, and the block if it has some."""
    is_per_dataset: bool = False
    """Whether there is one object for each dataset."""
    is_available: Callable[[Archive, str], bool] = lambda archive, key: True
    """Return whether the archive has the data; the key is empty unless it is per dataset."""
    list_blocks: Callable[[Archive, str], Iterable[int]] | None = None
    """List the numbers of the blocks of a dataset, for data that is loaded block by block."""


def list_all() -> dict[str, Resource]:
    """Return all resources by name."""
    return {name: get_plugin("resources", name, Resource) for name in list_plugins("resources")}


def build_resource(archive: Archive, name: str) -> bytes:
    """Build a resource by its name, such as `leaderboard`, `cases/DATASET` or `texts/DATASET/BLOCK`; return its JSON.

    Raises `UnknownNameError` for an unknown resource or dataset key.
    """
    match = _NAME.fullmatch(name)
    kind, key, block = match.group("kind", "key", "block") if match else ("", None, None)
    if key is not None and key not in archive.datasets:
        raise UnknownNameError("dataset", key, archive.datasets)
    if has_plugin("resources", kind):
        resource = get_plugin("resources", kind, Resource)
        arguments = [*([key] if key is not None else []), *([int(block)] if block is not None else [])]
        if (resource.is_per_dataset, resource.list_blocks is not None) == (key is not None, block is not None):
            return msgspec.json.encode(resource.build(archive, *arguments))
    raise UnknownNameError("resource", name, list_plugins("resources"))


def list_resources(archive: Archive) -> Iterator[str]:
    """Yield the names of all resources that can be built from an archive."""
    for name, resource in list_all().items():
        for key in archive.datasets if resource.is_per_dataset else ("",):
            path = f"{name}/{key}" if key else name
            if not resource.is_available(archive, key):
                continue
            blocks = None if resource.list_blocks is None else list(resource.list_blocks(archive, key))
            yield from [path] if blocks is None else (f"{path}/{block}" for block in blocks)
