"""The first lines of a file, to tell what it is."""

from __future__ import annotations

_BOM = b"\xef\xbb\xbf"
_MOST = 100


def first_lines(head: bytes) -> list[str]:
    """Up to a hundred complete lines that are not empty; the last one is left out where it may have been cut off."""
    lines = head.removeprefix(_BOM).split(b"\n")
    complete = lines if len(lines) == 1 else lines[:-1]
    bare = (line.rstrip(b"\r").decode(errors="replace") for line in complete)
    return [line for line in bare if line.strip()][:_MOST]
