"""What is printed is data, never code: what a terminal would obey is shown instead.

Names of systems, datasets, ids, surfaces and files come from whoever wrote the files. An escape character in one of
them could colour or clear the screen, change its title or hide a line; what turns the direction of writing makes a
name look like another.
"""

from __future__ import annotations

import re

# C0 and C1 controls, separators of lines and paragraphs, what turns the direction of writing, and halves of surrogate
# pairs. Joiners, with which Persian and Hindi names are written, stay.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str) -> str:
    """A text on one line, with `\\x1b` and the like for each character that a terminal would obey."""
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def shown_lines(text: str) -> str:
    """The same of a page: its own line ends stay."""
    return "\n".join(map(shown, text.split("\n"))) if _OBEYED.search(text) else text


# The same in UTF-8, but for what JSON never writes as it is.
_IN_JSON = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]")


def shown_json(data: bytes) -> bytes:
    """JSON that says the same, with the escapes of JSON for what a terminal would obey."""
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0].decode()):04x}".encode(), data)
