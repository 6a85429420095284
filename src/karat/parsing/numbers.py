"""Numbers as files write them, with errors that say where."""

from __future__ import annotations

import math
import re

from karat.errors import InputError

_LARGEST = 2**30 - 1  # so that the sum of two is an offset as well
_WHOLE = re.compile(r"[0-9]{1,10}", re.ASCII)


def offset(value: str, where: str, what: str) -> int:
    """A place in a text, or a length."""
    found = int(value) if _WHOLE.fullmatch(value) else -1
    if not 0 <= found <= _LARGEST:
        raise InputError(
            where,
            found=f"{value!r} for the {what}" if value else f"no {what}",
            expected=f"a whole number from 0 to {_LARGEST}",
            remedy="Correct it, or name the format",
        )
    return found


def number(value: str, where: str, what: str) -> float:
    """A finite number."""
    try:
        found = float(value)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InputError(
            where,
            found=f"{value!r} for the {what}" if value else f"no {what}",
            expected="a finite number",
            remedy="Correct it, or name the format",
        )
    return found
