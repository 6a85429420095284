"""How mentions are written when they are looked up: as they are, without blanks, without signs."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_SIGNS: Final = re.compile(r"[\W]+")
_COARSE: Final = re.compile(r"[\W_]+")
_BLANKS: Final = re.compile(r"\s+")


def blankless(mention: str) -> str:
    """ZELDA's first variant: small letters without blanks."""
    return mention.replace(" ", "").lower()


def bare(mention: str) -> str:
    """ZELDA's second variant: small letters and digits only."""
    return _SIGNS.sub("", mention.lower())


def flair_key(mention: str) -> str:
    """Flair's: small letters, no punctuation, single blanks."""
    kept = "".join(letter for letter in mention.lower() if not unicodedata.category(letter).startswith("P"))
    return _BLANKS.sub(" ", kept).strip()


def coarse_key(mention: str) -> str:
    """Mentions that are the same in any of these ways have the same coarse key, by which they are found on disk."""
    return _COARSE.sub("", mention.lower().casefold())
