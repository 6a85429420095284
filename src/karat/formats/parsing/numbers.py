"""Numbers in text files, with errors that name the location."""

from __future__ import annotations

import math
import re

from karat.model.errors import InputError

_MAX_OFFSET = 2**30 - 1  # so that the sum of two is an offset as well
_INTEGER = re.compile(r"[0-9]{1,10}", re.ASCII)


def parse_offset(value: str, location: str, field: str) -> int:
    """Parse an offset or length from 0 to 2^30 - 1, or raise `InputError`; `field` names the value in the message."""
    parsed = int(value) if _INTEGER.fullmatch(value) else -1
    if not 0 <= parsed <= _MAX_OFFSET:
        raise InputError(
            location,
            actual=f"{value!r} for the {field}" if value else f"no {field}",
            expected=f"an integer from 0 to {_MAX_OFFSET}",
            remedy="Correct it, or name the format",
        )
    return parsed


def parse_number(value: str, location: str, field: str) -> float:
    """Parse a finite number, or raise `InputError`; `field` names the value in the message."""
    try:
        parsed = float(value)
    except ValueError:
        parsed = math.nan
    if not math.isfinite(parsed):
        raise InputError(
            location,
            actual=f"{value!r} for the {field}" if value else f"no {field}",
            expected="a finite number",
            remedy="Correct it, or name the format",
        )
    return parsed
