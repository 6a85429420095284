"""The sentence around a mention: the one place that cuts it out of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

REACH: Final = 240
"""How far a sentence is looked for on either side of a mention: a text without any end costs no more than another."""

_BREAK: Final = re.compile(r"\s+|[。！？]+[」』”’）]*")
_MARKS: Final = frozenset(".!?…")
_CLOSING: Final = frozenset("\"'”’»)]")
_SHORT: Final = re.compile(
    "mr|mrs|ms|dr|prof|st|mt|jr|sr|vs|no|gen|sen|rep|gov|lt|col|capt|sgt|rev|hon|inc|corp|ltd|co|bros|dept|fig|vol|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[^\W\d_]",
    re.IGNORECASE,
)
"""Words after which a full stop ends no sentence, though a name often follows; the last is an initial."""

_WORD: Final = 8  # letters, more than any of them has


class Sentence(msgspec.Struct, frozen=True):
    """A stretch of a text that holds a mention, letter by letter.

    It begins at `offset` of the text, and the mention is `text[start:end]` of it. `cut` says whether the sentence goes
    on before it and behind it.
    """

    offset: int
    text: str
    start: int
    end: int
    cut: tuple[bool, bool] = (False, False)


def sentence_around(text: str, start: int, end: int, reach: int = REACH) -> Sentence:
    """The sentence that a mention stands in, or as much of it as lies within `reach`; a mention is never cut."""
    first, before = _first(text, start, max(0, start - reach))
    last, behind = _last(text, end, min(len(text), end + reach))
    return Sentence(first, text[first:last], start - first, end - first, (before, behind))


def sentence_starts(text: str) -> Iterator[int]:
    """Where sentences begin, but for the first one."""
    for found in _BREAK.finditer(text):
        if found.end() < len(text) and _ends(text, found, max(0, found.start() - _WORD)):
            yield found.end()


def _first(text: str, start: int, low: int) -> tuple[int, bool]:
    """Where the sentence begins, and whether it does so only because nobody looked further."""
    breaks = list(_BREAK.finditer(text, low, start))
    begins = next((found.end() for found in reversed(breaks) if _ends(text, found, low)), None)
    if begins is None and low:
        return breaks[0].end() if breaks else low, True
    return start - len(text[begins or 0 : start].lstrip()), False


def _last(text: str, end: int, high: int) -> tuple[int, bool]:
    """Where the sentence ends, likewise."""
    inside = None
    for found in _BREAK.finditer(text, end, high):
        if _ends(text, found, max(0, end - _WORD)):
            return found.start() if found[0].isspace() else found.end(), False
        inside = found.start()
    if high < len(text):
        return high if inside is None else inside, True
    return end + len(text[end:].rstrip()), False


def _ends(text: str, found: re.Match[str], low: int) -> bool:
    """Whether a sentence ends at white space, or at a mark that needs none."""
    if not found[0].isspace() or found[0].count("\n") > 1:
        return True
    mark = found.start()
    while mark > low and text[mark - 1] in _CLOSING:
        mark -= 1
    if mark == 0 or text[mark - 1] not in _MARKS or text[found.end() : found.end() + 1].islower():
        return False
    return text[mark - 1] != "." or not _abbreviated(text, mark - 1, low)


def _abbreviated(text: str, dot: int, low: int) -> bool:
    """Whether a full stop belongs to a word that it makes short, such as an initial."""
    return _SHORT.fullmatch("".join(_back(text, dot, low))[::-1]) is not None


def _back(text: str, place: int, low: int) -> Iterator[str]:
    """The letters before a place, from the last one on; no short word is longer than a few."""
    for at in range(place - 1, max(low, place - _WORD) - 1, -1):
        if not text[at].isalnum():
            return
        yield text[at]
