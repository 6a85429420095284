"""Ids that are IRIs are legal; no id is empty or has surrounding white space."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

from karat.matching.facts.document_ids import find_ids, is_iri, is_page_iri, replace_ids
from karat.model.document import Document
from karat.model.spec.rule import Finding, LintContext, Rule

_FORBIDDEN = re.compile(r"""[\x00-\x20\x7f<>"{}|\\^`]""")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPE = re.compile(r"\\u[0-9A-Fa-f]{4}")


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report ids that are blank, have surrounding white space, or are illegal IRIs, one finding per defect."""
    for occurrence in find_ids(document):
        legal = _make_legal(occurrence.id)
        fixable = legal != occurrence.id
        for defect in _list_defects(occurrence.id):
            proposal = f"Write {legal}" if fixable else "Correct the id"
            yield occurrence.to_finding(document, f"{defect} in {occurrence.id!r}", proposal, fixable=fixable)


def _list_defects(id: str) -> Iterator[str]:
    """Yield a description of each thing that is illegal in an id."""
    stripped = id.strip()
    if not stripped:
        yield "an empty id"
    elif stripped != id:
        yield "surrounding white space"
    if not is_iri(stripped):
        if _CONTROL.search(stripped):
            yield "a control character"
        return
    if match := _FORBIDDEN.search(stripped):
        yield f"the character {match[0]!r}"
    if _PERCENT.search(stripped):
        yield "a % that is not an escape"
    if stripped.count("#") > 1:
        yield "a second #"


def _make_legal(id: str) -> str:
    """Return the id without surrounding white space and, if it is an IRI, with illegal characters escaped.

    The id is returned unchanged if that does not make it legal, or if it has literal \\u escapes.
    """
    stripped = id.strip()
    if is_iri(stripped):
        address = stripped.replace(" ", "_") if is_page_iri(stripped) else stripped
        if address.endswith('"') and address.count('"') == 1:
            address = address.removesuffix('"')  # ACE2004 has 19 addresses with a trailing quote
        stripped = _FORBIDDEN.sub(lambda match: quote(match[0]), _PERCENT.sub("%25", address))
    is_unfixable = (
        not stripped or any(_list_defects(stripped)) or _ESCAPE.search(id)
    )  # literal \u escapes belong to the rule encoding
    return id if is_unfixable else stripped


def _fix(document: Document, context: LintContext) -> Document:
    """Return the document with all ids made legal, as far as possible."""
    return replace_ids(document, _make_legal)


RULE = Rule(
    title="Illegal IRI",
    description="Ids that are IRIs are legal; no id is empty or has surrounding white space.",
    severity="error",
    find=_find,
    fix=_fix,
    fix_description="strips and escapes",
)
