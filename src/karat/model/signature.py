"""Everything that decided a number, in one line that parses back."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, unquote

import msgspec

from karat.errors import KaratError, UnknownNameError

_SAFE = " !\"#$&'()*+,-./;<=>?@[]^_`{}~\\:"


class Signature(msgspec.Struct, frozen=True):
    """The version of Karat, the data and every choice, in a fixed order: `karat:0.1.0|data:demo@1f3c9a02|…`."""

    parts: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "|".join(f"{name}:{quote(value, safe=_SAFE)}" for name, value in self.parts)

    def __getitem__(self, name: str) -> str:
        parts = self.as_dict()
        if name not in parts:
            raise UnknownNameError("part of the signature", name, parts)
        return parts[name]

    def as_dict(self) -> Mapping[str, str]:
        """The parts by name."""
        return dict(self.parts)


def signature_of(text: str) -> Signature:
    """The parts that a line has."""
    parts = [part.partition(":") for part in text.strip().split("|")]
    if parts[0][0] != "karat" or any(not colon for _, colon, _ in parts):
        raise KaratError(f"{text!r} is no signature. Copy a whole line that begins with 'karat:'.")
    return Signature(tuple((name, unquote(value)) for name, _, value in parts))
