"""Signatures: one line with everything that determines a score, which can be parsed again."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, unquote

import msgspec

from karat.model.errors import KaratError, UnknownNameError

_SAFE = " !\"#$&'()*+,-./;<=>?@[]^_`{}~\\:"


class Signature(msgspec.Struct, frozen=True):
    """The version of Karat, the data and all settings in a fixed order: `karat:0.1.0|data:demo@1f3c9a02|…`."""

    parts: tuple[tuple[str, str], ...]
    """The names and values in order."""

    def __str__(self) -> str:
        return "|".join(f"{name}:{quote(value, safe=_SAFE)}" for name, value in self.parts)

    def __getitem__(self, name: str) -> str:
        parts = self.to_dict()
        if name not in parts:
            raise UnknownNameError("part of the signature", name, parts)
        return parts[name]

    def to_dict(self) -> Mapping[str, str]:
        """Return the value of each part by its name, in the order of the signature."""
        return dict(self.parts)


def parse_full_signature(text: str) -> Signature:
    """Parse the text `name:value|name:value|…` as it is; a short form is not completed.

    Raise `KaratError` unless it starts with `karat:` and every part has a colon.
    """
    parts = [part.partition(":") for part in text.strip().split("|")]
    if parts[0][0] != "karat" or any(not colon for _, colon, _ in parts):
        raise KaratError(f"{text!r} is not a signature. Copy a whole line that starts with 'karat:'.")
    return Signature(tuple((name, unquote(value)) for name, _, value in parts))
