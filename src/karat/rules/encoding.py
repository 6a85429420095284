"""Neither texts nor ids were damaged on their way through encodings.

Ids are repaired. Texts are not, since systems were given them as they are, and every offset would move.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from karat.facts.ids import ids, renamed
from karat.model.document import Document
from karat.model.span import Span
from karat.spec.rule import Context, Finding, Rule

_HIGH = bytes(range(0x80, 0xC0)).decode("cp1252", "ignore")  # what bytes inside a UTF-8 character look like
_MOJIBAKE = re.compile(f"[ÂÃÄÅ][\u0080-\u00bf{_HIGH}]|â[\u0080-\u009f{_HIGH}][\u0080-\u00bf{_HIGH}]")
_ESCAPE = re.compile(r"\\u[0-9A-Fa-f]{4}")
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});")
_TWICE = re.compile(r"%25(?=[0-9A-Fa-f]{2})")
_DAMAGE = {
    "a replacement character (U+FFFD)": re.compile("\ufffd"),
    "a byte order mark (U+FEFF)": re.compile("\ufeff"),
    "a literal \\u escape": _ESCAPE,
    "an HTML entity": _ENTITY,
    "UTF-8 read in another encoding": _MOJIBAKE,
    "Windows-1252 read as Latin-1": re.compile("(?<![ÂÃÄÅâ\u0080-\u009f])[\u0080-\u009f]"),
    "a control character": re.compile("[\x00-\x08\x0e-\x1f\x7f]"),
}


def _find(document: Document, context: Context) -> Iterator[Finding]:
    for says, pattern in _DAMAGE.items():
        found = [Span(*match.span()) for match in pattern.finditer(document.text) if _meant(match)]
        if found:
            yield from _in_text(document, f"{says} in the text", found)
    for place in ids(document):
        whole = _repaired(place.id)
        for says in _defects(place.id):
            fixable = says not in _defects(whole)
            proposal = f"Write {whole}" if fixable else "Correct the id"
            yield place.finding(document, f"{says} in {place.id!r}", proposal, fixable=fixable)


def _in_text(document: Document, says: str, found: list[Span]) -> Iterator[Finding]:
    """One finding for each label with the damage, and one for all damage elsewhere in the document."""
    starts, ends = [span.start for span in found], [span.end for span in found]
    touched: set[int] = set()
    for label in document.labels:
        first, last = bisect_right(ends, label.start), bisect_left(starts, label.end)
        touched.update(range(first, last))
        if first < last:
            yield Finding.at(document, label, says, "Correct the text")
    rest = [span for number, span in enumerate(found) if number not in touched]
    if rest:
        start, end = rest[0]
        times = f" ({len(rest)} times in the document)" if len(rest) > 1 else ""
        surface = document.text[max(start - 10, 0) : end + 10]
        yield Finding(document.id, f"{says}{times}", rest[0], surface, "Correct the text")


def _meant(match: re.Match[str]) -> bool:
    """Whether a match is damage: what looks like UTF-8 in another encoding must be some."""
    return match.re is not _MOJIBAKE or _decoded(match[0]) != match[0]


def _defects(id: str) -> list[str]:
    found = [says for says, pattern in _DAMAGE.items() if any(map(_meant, pattern.finditer(id)))]
    return [*found, *(["double percent-encoding"] if _TWICE.search(id) else [])]


def _repaired(id: str) -> str:
    """The id as it was before the damage that can be undone."""
    before = None
    whole = id
    while whole != before:  # each step makes it shorter, so that this ends
        before = whole
        whole = _ESCAPE.sub(lambda match: chr(int(match[0][2:], 16)), whole)
        whole = _ENTITY.sub(lambda match: html.unescape(match[0]), whole)
        whole = _TWICE.sub("%", whole)
        whole = _MOJIBAKE.sub(lambda match: _decoded(match[0]), whole).replace("\ufeff", "")
    try:  # two escapes may be the halves of one character
        whole = whole.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return id
    return whole if whole.strip() else id


def _decoded(damaged: str) -> str:
    """The characters whose UTF-8 bytes these are, or the same if they are not."""
    try:
        points = bytes(ord(c) if ord(c) < 0x100 else c.encode("cp1252")[0] for c in damaged)
        return points.decode()
    except (UnicodeDecodeError, UnicodeEncodeError):
        return damaged


def _fix(document: Document, context: Context) -> Document:
    return renamed(document, _repaired)


RULE = Rule(
    title="Encoding",
    says="Texts and ids have no U+FFFD, literal \\u escapes, HTML entities, doubled escapes or wrongly decoded UTF-8.",
    severity="warning",
    find=_find,
    fix=_fix,
)
