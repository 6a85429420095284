"""Extraction of the sentence around a mention."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

MAX_CONTEXT: Final = 240
"""Maximum number of characters searched on each side of a mention; it bounds the cost of texts without breaks."""

_BREAK: Final = re.compile(r"\s+|[。！？]+[」』”’）]*")
_LIKELY_END: Final = re.compile(r"""(?<=[.!?…"'”’»)\]])\s+|\n[^\S\n]*\n\s*|[。！？]+[」』”’）]*""")
"""The breaks at which a sentence can end: after a mark, at a blank line or at a mark without space after it."""

_END_MARKS: Final = frozenset(".!?…")
_CLOSING_MARKS: Final = frozenset("\"'”’»)]")
_ABBREVIATION: Final = re.compile(
    "mr|mrs|ms|dr|prof|st|mt|jr|sr|vs|no|gen|sen|rep|gov|lt|col|capt|sgt|rev|hon|inc|corp|ltd|co|bros|dept|fig|vol|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[^\W\d_]",
    re.IGNORECASE,
)
"""Words after which a full stop ends no sentence, though a name often follows; the last is an initial."""

_MAX_ABBREVIATION: Final = 8  # longer than any of these words


class Sentence(msgspec.Struct, frozen=True):
    """A part of a text that contains a mention, copied verbatim."""

    offset: int
    """Offset of the part in the text."""
    text: str
    """The part itself."""
    start: int
    """Start of the mention in the part."""
    end: int
    """End of the mention in the part."""
    cut: tuple[bool, bool] = (False, False)
    """Whether the sentence continues before and after the part."""


def sentence_around(text: str, start: int, end: int, max_context: int = MAX_CONTEXT) -> Sentence:
    """Return the sentence around the mention `text[start:end]`, cut to `max_context` characters on each side of it."""
    first, is_cut_before = _find_start(text, start, max(0, start - max_context))
    last, is_cut_after = _find_end(text, end, min(len(text), end + max_context))
    return Sentence(first, text[first:last], start - first, end - first, (is_cut_before, is_cut_after))


def sentence_starts(text: str) -> Iterator[int]:
    """Yield the offset of each sentence of a text except the first."""
    for match in _BREAK.finditer(text):
        if match.end() < len(text) and _is_sentence_end(text, match, max(0, match.start() - _MAX_ABBREVIATION)):
            yield match.end()


def _find_start(text: str, start: int, low: int) -> tuple[int, bool]:
    """Return where the sentence of a mention begins, searching back from `start`, and whether it was cut at `low`."""
    breaks = list(_LIKELY_END.finditer(text, low, start))
    begins = next((match.end() for match in reversed(breaks) if _is_sentence_end(text, match, low)), None)
    if begins is None and low:
        first_break = _BREAK.search(text, low, start)
        return low if first_break is None else first_break.end(), True
    return start - len(text[begins or 0 : start].lstrip()), False


def _find_end(text: str, end: int, high: int) -> tuple[int, bool]:
    """Return where the sentence of a mention ends, searching from `end`, and whether it was cut at `high`."""
    for match in _LIKELY_END.finditer(text, end, high):
        if _is_sentence_end(text, match, max(0, end - _MAX_ABBREVIATION)):
            is_space = match[0].isspace()
            return end + len(text[end : match.start()].rstrip()) if is_space else match.end(), False
    if high < len(text):
        breaks = list(_BREAK.finditer(text, end, high))
        return breaks[-1].start() if breaks else high, True
    return end + len(text[end:].rstrip()), False


def _is_sentence_end(text: str, match: re.Match[str], low: int) -> bool:
    """Return whether a sentence ends at `match`, a possible break; text before `low` is not looked at."""
    if not match[0].isspace() or match[0].count("\n") > 1:
        return True
    mark = match.start()
    while mark > low and text[mark - 1] in _CLOSING_MARKS:
        mark -= 1
    if mark == 0 or text[mark - 1] not in _END_MARKS or text[match.end() : match.end() + 1].islower():
        return False
    return text[mark - 1] != "." or not _is_abbreviation(text, mark - 1, low)


def _is_abbreviation(text: str, dot: int, low: int) -> bool:
    """Return whether the full stop at offset `dot` belongs to an abbreviation or initial that starts after `low`."""
    return _ABBREVIATION.fullmatch("".join(_read_backwards(text, dot, low))[::-1]) is not None


def _read_backwards(text: str, offset: int, low: int) -> Iterator[str]:
    """Yield the letters and digits directly before `offset`, from the last one back to `low`, at most 8."""
    for i in range(offset - 1, max(low, offset - _MAX_ABBREVIATION) - 1, -1):
        if not text[i].isalnum():
            return
        yield text[i]
