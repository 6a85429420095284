"""Normalised forms of mentions for lookups: without spaces, without punctuation."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_PUNCTUATION: Final = re.compile(r"[\W]+")
_COARSE: Final = re.compile(r"[\W_]+")
_SPACES: Final = re.compile(r"\s+")


def remove_spaces(mention: str) -> str:
    """Return the mention in lower case without space characters: ZELDA's first variant."""
    return mention.replace(" ", "").lower()


def remove_punctuation(mention: str) -> str:
    """Return only the letters, digits and underscores of a mention, in lower case: ZELDA's second variant."""
    return _PUNCTUATION.sub("", mention.lower())


def flair_key(mention: str) -> str:
    """Return Flair's form of a mention: lower case, no punctuation, single spaces."""
    stripped = "".join(
        character for character in mention.lower() if not unicodedata.category(character).startswith("P")
    )
    return _SPACES.sub(" ", stripped).strip()


def coarse_key(mention: str) -> str:
    """Return a key that is equal for all mentions that any lookup rule may match; lists on disk are found by this key.

    The key has only letters and digits, case-folded.
    """
    return _COARSE.sub("", mention.lower().casefold())
