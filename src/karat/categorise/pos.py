"""The part of speech of a mention, from the tags of its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from karat.categorise.words import (
    LARGE_NUMBERS,
    ORDINALS,
    PLURAL_PRO_FORMS,
    POSSESSIVES,
    SMALL_NUMBERS,
    demonym,
    numeric,
    pro_form,
)
from karat.model.document import Document
from karat.model.span import Span


class Token(NamedTuple):
    """A word of a text, its tag in the Penn Treebank's set, and the number of the word it depends on, where known."""

    start: int
    end: int
    tag: str
    head: int | None = None


class Tagger(Protocol):
    """Whatever tags the words of texts."""

    @property
    def name(self) -> str:
        """How reports call it."""

    def tokens(self, texts: Sequence[str]) -> Iterable[list[Token]]:
        """The words of each text, in order."""


_LEAVES = {
    "NN": "NounSingular",
    "FW": "NounSingular",
    "NNS": "NounPlural",
    "NNPS": "NounPlural",
    "CD": "NounPlural",
    "JJ": "Adjective",
    "VB": "Verb",
    "RB": "Adverb",
}
"""By tag, or by its first two letters."""

_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)|(?=[ivx]{2})x{0,3}(?:ix|iv|v?i{0,3})")
_PLURAL_NUMBER = re.compile(
    r"\d+s|\d[\d.,:/]*(?:[^\d.,:/][\d.,]*)?|.*(?:dozen|hundred|thousand|million|billion|trillion|day)s"
)


def parts_of_speech(document: Document, tokens: list[Token]) -> dict[Span, str | None]:
    """The leaf of the dimension `pos` of each span; None where the tags of its words fit none."""
    spans = sorted({label.span for label in document.labels})
    found: dict[Span, str | None] = {}
    first = 0
    for span in spans:
        while first < len(tokens) and tokens[first].end <= span.start:
            first += 1
        last = first
        while last < len(tokens) and tokens[last].start < span.end:
            last += 1
        leaf = _leaf(document.text, span, tokens, range(first, last))
        found[span] = None if leaf is None else f"pos:{leaf}"
    return found


def _leaf(text: str, span: Span, tokens: list[Token], inside: range) -> str | None:
    said = text[span.start : span.end]
    if pro_form(said):
        return _of_pro_form(said.lower())
    if numeric(said):
        return _of_number(said.lower())
    head = _head(text, tokens, inside)
    if head is None:
        return None
    tag = tokens[head].tag
    if tag in ("NNP", "NN") and demonym(said) and _noun_follows(tokens, inside[-1] + 1):
        return "Adjective"
    return _of_tag(tag)


def _noun_follows(tokens: list[Token], place: int) -> bool:
    return place < len(tokens) and tokens[place].tag.startswith(("NN", "JJ"))


def _of_pro_form(word: str) -> str:
    """Possessives stand where adjectives do, and are tagged so by the authors of the scheme."""
    if word in POSSESSIVES:
        return "Adjective"
    return "NounPlural" if word in PLURAL_PRO_FORMS else "NounSingular"


def _of_number(text: str) -> str:
    """Ordinals are adjectives; numbers other than one are plural; days, months, dates and years are singular."""
    said = [word.strip(".,'") for word in text.replace("-", " ").split()]
    last = said[-1]
    if last in ORDINALS or _ORDINAL.fullmatch(last):
        return "Adjective"
    if last in SMALL_NUMBERS or last in LARGE_NUMBERS:
        return "NounSingular" if last == "one" else "NounPlural"
    if len(said) > 1 and last[-1:].isdigit():  # a date
        return "NounSingular"
    if last == "1" or (len(last) == 4 and last.isdigit() and "1000" <= last <= "2100"):
        return "NounSingular"
    return "NounPlural" if _PLURAL_NUMBER.fullmatch(last) else "NounSingular"


def _head(text: str, tokens: list[Token], inside: range) -> int | None:
    """The word that the others inside depend on; without dependencies, the last one before a preposition."""
    told = [
        n for n in inside if any(map(str.isalnum, text[tokens[n].start : tokens[n].end])) and tokens[n].tag != "POS"
    ]
    if not told:
        return None
    if tokens[told[0]].head is not None:
        tops = [n for n in told if tokens[n].head not in told or tokens[n].head == n] or told
        return next((n for n in reversed(tops) if tokens[n].tag.startswith("NN")), tops[-1])
    end = next((place for place, n in enumerate(told) if place and tokens[n].tag in ("IN", "TO")), len(told))
    return next((n for n in reversed(told[:end]) if tokens[n].tag != "CD"), told[end - 1])


def _of_tag(tag: str) -> str | None:
    """The leaf for a tag; words that are none of the five, such as prepositions, have none."""
    return _LEAVES.get(tag) or _LEAVES.get(tag[:2])
