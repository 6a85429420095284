"""How ids are written: two ids of different schemes may name the same entity, and nobody can tell by looking."""

from __future__ import annotations

import re
from functools import lru_cache

_PAGE = re.compile(r"(https?://[^/\s]+/(?:wiki|resource|page|entity)/).")
_HOST = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^/\s]*)")
_PREFIXED = re.compile(r"([A-Za-z][\w.-]*:)[A-Za-z]*\d+")
_NUMBERED = re.compile(r"([A-Z]?)\d+")


@lru_cache(maxsize=100_000)  # the runs on one benchmark share most of their ids
def scheme_of(id: str) -> str:
    """What an id has in common with all others that are written like it.

    Those are the addresses of pages on one host, or all others there; what follows a prefix (`MESH:D008175`); numbers,
    with a letter (`Q64`) or without; and all else, which are titles and names.
    """
    found = _PAGE.match(id) or _HOST.match(id) or _PREFIXED.fullmatch(id)
    if found is not None:
        return found[1]
    numbered = _NUMBERED.fullmatch(id)
    return "title" if numbered is None else f"{numbered[1]}0"
