"""Names of entity types."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from karat.kb.catalogue import open_starter
from karat.kb.protocol import KB
from karat.kb.starter.entity_types import WHITELIST

_QID: Final = re.compile(r"Q[1-9][0-9]*")
_WHITELIST_NAMES: Final[Mapping[str, str]] = {
    **WHITELIST,
    "Q3895768": "fictional location",
    "Q21070598": "narrative entity",
    "Q4392985": "religious identity",
    "Q373899": "record chart",
    "Q22222786": "government program",
    "Q4936952": "anatomical structure",
}
"""Names of all types on the whitelist of the fair-evaluation paper; the starter snapshot has no entities of some."""


def find_type_names(ids: Collection[str], kb: KB | None) -> dict[str, str]:
    """Return the names of types by id: from `kb`, the whitelist, or the starter snapshot; unnamed ids are omitted."""
    wanted = sorted(ids)
    names = {} if kb is None else {id: name for id, name in zip(wanted, kb.names(wanted), strict=True) if name}
    names |= {id: _WHITELIST_NAMES[id] for id in wanted if id not in names and id in _WHITELIST_NAMES}
    unnamed = [id for id in wanted if id not in names and _QID.fullmatch(id)]
    if unnamed:
        names |= {id: name for id, name in zip(unnamed, open_starter().names(unnamed), strict=True) if name}
    return names
