"""Id patterns: groups of ids that look alike. Ids of different patterns may name the same entity, so that comparing
their spelling decides nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from karat.model.spec.settings.nil_spellings import NIL_LIKE_WORD

_PAGE = re.compile(r"(https?://[^/\s]+/(?:wiki|resource|page|entity)/).")
_HOST = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^/\s]*)")
_OTHER_CHARACTERS = re.compile(r"[][<>{}|]")  # what no title of Wikipedia contains
_OTHER_ID = re.compile(rf"{NIL_LIKE_WORD}|^/?[mg][./]\w+$|^[A-Za-z][\w.-]*:[^\s_]|^\s*$")  # NIL, Freebase, a prefix
_PREFIXED = re.compile(r"([A-Za-z][\w.-]*:)[A-Za-z]*\d+")
_NUMBERED = re.compile(r"([A-Z]?)\d+")
PLAIN_TEXT = "title"
"""The pattern of ids that are a plain text."""


@lru_cache(maxsize=100_000)  # the runs on one benchmark share most of their ids
def id_pattern(id: str) -> str:
    """Return the part of an id that all ids written in the same way share; `title` for a plain text.

    The pattern is the address prefix of a page on one host, the host of any other URL, the prefix of a prefixed id
    (`MESH:` of `MESH:D008175`), `Q0` for a letter and a number (`Q64`), `0` for a number, and `title` for everything
    else.
    """
    prefix = _PAGE.match(id) or _HOST.match(id) or _PREFIXED.fullmatch(id)
    if prefix is not None:
        return prefix[1]
    number = _NUMBERED.fullmatch(id)
    return PLAIN_TEXT if number is None else f"{number[1]}0"


def has_title_characters(id: str) -> bool:
    """Return whether an id has only characters that titles of Wikipedia may have."""
    return _OTHER_CHARACTERS.search(id) is None


def may_be_title(id: str) -> bool:
    """Return whether an id may be a bare title of Wikipedia: a plain text without the marks of other ids.

    An id that begins with a small letter is rather a user's own.
    """
    return (
        not id[:1].islower()
        and id_pattern(id) == PLAIN_TEXT
        and has_title_characters(id)
        and _OTHER_ID.search(id) is None
    )
