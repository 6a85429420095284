"""Escapes for control characters in output.

Names of systems, datasets, ids, surfaces and files come from untrusted files. An escape character in one of them could
change the colours or the title of a terminal, clear the screen or hide a line. A direction mark can make a name look
like another.
"""

from __future__ import annotations

import re

# C0 and C1 controls, line and paragraph separators, direction marks and lone surrogates. Joiners stay, since Persian
# and Hindi names need them.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_controls(text: str) -> str:
    r"""Return `text` with escapes such as `\x1b` for control characters, line ends and direction marks."""
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def escape_lines(text: str) -> str:
    """Return `text` with escapes for control characters and direction marks; `\\n` stays a line end."""
    return "\n".join(map(escape_controls, text.split("\n"))) if _CONTROLS.search(text) else text


# The same characters in UTF-8, without those that JSON escapes anyway.
_JSON_CONTROLS = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]")


def escape_json(data: bytes) -> bytes:
    r"""Return equivalent JSON in which `\u` escapes replace all control characters and direction marks."""
    return _JSON_CONTROLS.sub(lambda match: f"\\u{ord(match[0].decode()):04x}".encode(), data)
