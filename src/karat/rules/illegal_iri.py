"""Ids that are addresses are written as addresses must be; no id is empty or has white space around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

from karat.facts.ids import ids, is_address, is_page, renamed
from karat.model.document import Document
from karat.spec.rule import Context, Finding, Rule

_FORBIDDEN = re.compile(r"""[\x00-\x20\x7f<>"{}|\\^`]""")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPE = re.compile(r"\\u[0-9A-Fa-f]{4}")


def _find(document: Document, context: Context) -> Iterator[Finding]:
    for place in ids(document):
        legal = _legal(place.id)
        fixable = legal != place.id
        for defect in _defects(place.id):
            proposal = f"Write {legal}" if fixable else "Correct the id"
            yield place.finding(document, f"{defect} in {place.id!r}", proposal, fixable=fixable)


def _defects(id: str) -> Iterator[str]:
    bare = id.strip()
    if not bare:
        yield "nothing"
    elif bare != id:
        yield "white space at an end"
    if not is_address(bare):
        if _CONTROL.search(bare):
            yield "a control character"
        return
    if match := _FORBIDDEN.search(bare):
        yield f"the character {match[0]!r}"
    if _PERCENT.search(bare):
        yield "a % that escapes nothing"
    if bare.count("#") > 1:
        yield "a second #"


def _legal(id: str) -> str:
    """The id without white space around it and with what must be escaped escaped; itself where that is not enough."""
    bare = id.strip()
    if is_address(bare):
        named = bare.replace(" ", "_") if is_page(bare) else bare
        if named.endswith('"') and named.count('"') == 1:
            named = named.removesuffix('"')  # ACE2004 has 19 addresses that kept the quote behind them
        bare = _FORBIDDEN.sub(lambda match: quote(match[0]), _PERCENT.sub("%25", named))
    beyond = not bare or any(_defects(bare)) or _ESCAPE.search(id)  # a literal \u is for the rule encoding
    return id if beyond else bare


def _fix(document: Document, context: Context) -> Document:
    return renamed(document, _legal)


RULE = Rule(
    title="Illegal IRI",
    says="Ids that are addresses are legal IRIs; no id is empty or has white space around it.",
    severity="error",
    find=_find,
    fix=_fix,
)
