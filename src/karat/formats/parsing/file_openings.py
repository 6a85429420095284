"""First lines of a file, for format detection."""

from __future__ import annotations

_BOM = b"\xef\xbb\xbf"
_MAX_LINES = 100


def split_first_lines(head: bytes) -> list[str]:
    """Split the first bytes of a file into up to 100 non-empty lines.

    The last line, which may be cut off, is dropped unless it is the only one.
    """
    lines = head.removeprefix(_BOM).split(b"\n")
    complete = lines if len(lines) == 1 else lines[:-1]
    decoded = (line.rstrip(b"\r").decode(errors="replace") for line in complete)
    return [line for line in decoded if line.strip()][:_MAX_LINES]
