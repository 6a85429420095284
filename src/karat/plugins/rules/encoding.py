"""Texts and ids are not damaged by wrong encodings.

Ids are repaired. Texts are not, because systems received them in this form and all offsets would change.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from karat.matching.facts.document_ids import find_ids, replace_ids
from karat.model.document import Document
from karat.model.span import Span
from karat.model.spec.rule import Finding, LintContext, Rule

_HIGH = bytes(range(0x80, 0xC0)).decode("cp1252", "ignore")  # continuation bytes of UTF-8 read as Windows-1252
_MOJIBAKE = re.compile(f"[ÂÃÄÅ][\u0080-\u00bf{_HIGH}]|â[\u0080-\u009f{_HIGH}][\u0080-\u00bf{_HIGH}]")
_ESCAPE = re.compile(r"\\u[0-9A-Fa-f]{4}")
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});")
_DOUBLE_PERCENT = re.compile(r"%25(?=[0-9A-Fa-f]{2})")
_DAMAGE = {
    "a replacement character (U+FFFD)": re.compile("\ufffd"),
    "a byte order mark (U+FEFF)": re.compile("\ufeff"),
    "a literal \\u escape": _ESCAPE,
    "an HTML entity": _ENTITY,
    "UTF-8 read in another encoding": _MOJIBAKE,
    "Windows-1252 read as Latin-1": re.compile("(?<![ÂÃÄÅâ\u0080-\u009f])[\u0080-\u009f]"),
    "a control character": re.compile("[\x00-\x08\x0e-\x1f\x7f]"),
}


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report damaged characters in the text, and ids with damaged characters."""
    for description, pattern in _DAMAGE.items():
        spans = [Span(*match.span()) for match in pattern.finditer(document.text) if _is_damage(match)]
        if spans:
            yield from _find_in_text(document, f"{description} in the text", spans)
    for occurrence in find_ids(document):
        repaired = _repair_id(occurrence.id)
        for description in _list_defects(occurrence.id):
            fixable = description not in _list_defects(repaired)
            proposal = f"Write {repaired}" if fixable else "Correct the id"
            yield occurrence.to_finding(document, f"{description} in {occurrence.id!r}", proposal, fixable=fixable)


def _find_in_text(document: Document, description: str, spans: list[Span]) -> Iterator[Finding]:
    """Yield one finding for each label that overlaps damage, and one for all damage outside labels.

    `spans` are the damaged spans of the text, sorted; `description` says what is damaged.
    """
    starts, ends = [span.start for span in spans], [span.end for span in spans]
    covered: set[int] = set()
    for label in document.labels:
        first, last = bisect_right(ends, label.start), bisect_left(starts, label.end)
        covered.update(range(first, last))
        if first < last:
            yield Finding.from_label(document, label, description, "Correct the text")
    uncovered = [span for number, span in enumerate(spans) if number not in covered]
    if uncovered:
        start, end = uncovered[0]
        times = f" ({len(uncovered)} times in the document)" if len(uncovered) > 1 else ""
        surface = document.text[max(start - 10, 0) : end + 10]
        yield Finding(document.id, f"{description}{times}", uncovered[0], surface, "Correct the text")


def _is_damage(match: re.Match[str]) -> bool:
    """Return whether a match of a `_DAMAGE` pattern is damage; apparent mojibake must be decodable as UTF-8."""
    return match.re is not _MOJIBAKE or _decode_mojibake(match[0]) != match[0]


def _list_defects(id: str) -> list[str]:
    """Return a description of each kind of damage in an id; empty if there is none."""
    descriptions = [
        description for description, pattern in _DAMAGE.items() if any(map(_is_damage, pattern.finditer(id)))
    ]
    return [*descriptions, *(["double percent-encoding"] if _DOUBLE_PERCENT.search(id) else [])]


def _repair_id(id: str) -> str:
    """Return the id with escapes, HTML entities, double percent-encoding and mojibake undone, as far as possible.

    The id is returned unchanged if the result would be blank or no valid text.
    """
    previous = None
    repaired = id
    while repaired != previous:  # each step shortens the id, so the loop terminates
        previous = repaired
        repaired = _ESCAPE.sub(lambda match: chr(int(match[0][2:], 16)), repaired)
        repaired = _ENTITY.sub(lambda match: html.unescape(match[0]), repaired)
        repaired = _DOUBLE_PERCENT.sub("%", repaired)
        repaired = _MOJIBAKE.sub(lambda match: _decode_mojibake(match[0]), repaired).replace("\ufeff", "")
    try:  # two escapes may be surrogates of one character
        repaired = repaired.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return id
    return repaired if repaired.strip() else id


def _decode_mojibake(damaged: str) -> str:
    """Return the characters whose UTF-8 bytes were read as Windows-1252 or Latin-1, or `damaged` if it is no UTF-8."""
    try:
        points = bytes(ord(c) if ord(c) < 0x100 else c.encode("cp1252")[0] for c in damaged)
        return points.decode()
    except (UnicodeDecodeError, UnicodeEncodeError):
        return damaged


def _fix(document: Document, context: LintContext) -> Document:
    """Return the document with encoding damage in its ids, such as mojibake, repaired; the text stays.

    `context`, which all rules take, is not used.
    """
    return replace_ids(document, _repair_id)


RULE = Rule(
    title="Encoding",
    description="Texts and ids have no U+FFFD, literal \\u escapes, HTML entities, double escapes or mojibake.",
    severity="warning",
    find=_find,
    fix=_fix,
    fix_description="repairs ids, never texts",
)
