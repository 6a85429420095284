"""The part of speech of a mention, from the tags of its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from karat.data.categoriser.words import (
    LARGE_NUMBERS,
    ORDINALS,
    PLURAL_PRO_FORMS,
    POSSESSIVES,
    SMALL_NUMBERS,
    is_demonym,
    is_numeric,
    is_pro_form,
)
from karat.model.document import Document
from karat.model.span import Span


class Token(NamedTuple):
    """A word of a text with its Penn Treebank tag.

    `start`, `end`: span in code points.
    `tag`: part-of-speech tag.
    `head`: index of the word that this word depends on; None if unknown.
    """

    start: int
    end: int
    tag: str
    head: int | None = None


class Tagger(Protocol):
    """A part-of-speech tagger."""

    @property
    def name(self) -> str:
        """The name of the tagger in reports."""

    def tag_texts(self, texts: Sequence[str]) -> Iterable[list[Token]]:
        """Yield for each text the list of its words with their tags, in order."""


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
"""Leaves by tag, or by the first two letters of a tag."""

_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)|(?=[ivx]{2})x{0,3}(?:ix|iv|v?i{0,3})")
_PLURAL_NUMBER = re.compile(
    r"\d+s|\d[\d.,:/]*(?:[^\d.,:/][\d.,]*)?|.*(?:dozen|hundred|thousand|million|billion|trillion|day)s"
)


def find_parts_of_speech(document: Document, tokens: list[Token]) -> dict[Span, str | None]:
    """Return the leaf of the dimension `pos` for each label span of a document; None if the tags fit no leaf.

    `tokens` are the tagged words of the document, in order.
    """
    spans = sorted({label.span for label in document.labels})
    leaves: dict[Span, str | None] = {}
    first = 0
    for span in spans:
        while first < len(tokens) and tokens[first].end <= span.start:
            first += 1
        last = first
        while last < len(tokens) and tokens[last].start < span.end:
            last += 1
        leaf = _find_leaf(document.text, span, tokens, range(first, last))
        leaves[span] = None if leaf is None else f"pos:{leaf}"
    return leaves


def _find_leaf(text: str, span: Span, tokens: list[Token], indices: range) -> str | None:
    """Return the part of speech of a span, without the prefix `pos:`.

    `indices` are the indices of the tokens in the span.
    """
    surface = text[span.start : span.end]
    if is_pro_form(surface):
        return _leaf_of_pro_form(surface.lower())
    if is_numeric(surface):
        return _leaf_of_number(surface.lower())
    head = _find_head(text, tokens, indices)
    if head is None:
        return None
    tag = tokens[head].tag
    if tag in ("NNP", "NN") and is_demonym(surface) and _is_noun_next(tokens, indices[-1] + 1):
        return "Adjective"
    return _LEAVES.get(tag) or _LEAVES.get(tag[:2])  # None for other word classes, such as prepositions


def _is_noun_next(tokens: list[Token], index: int) -> bool:
    """Return whether the token at `index` exists and is a noun or adjective."""
    return index < len(tokens) and tokens[index].tag.startswith(("NN", "JJ"))


def _leaf_of_pro_form(word: str) -> str:
    """Return the leaf of a pro-form; possessives are adjectives, as in the annotations of the scheme's authors."""
    if word in POSSESSIVES:
        return "Adjective"
    return "NounPlural" if word in PLURAL_PRO_FORMS else "NounSingular"


def _leaf_of_number(text: str) -> str:
    """Return the leaf of a number in lower case.

    Ordinals are adjectives, dates and years are singular, and numbers other than one are plural.
    """
    words = [word.strip(".,'") for word in text.replace("-", " ").split()]
    last = words[-1]
    if last in ORDINALS or _ORDINAL.fullmatch(last):
        return "Adjective"
    if last in SMALL_NUMBERS or last in LARGE_NUMBERS:
        return "NounSingular" if last == "one" else "NounPlural"
    if len(words) > 1 and last[-1:].isdigit():  # a date
        return "NounSingular"
    if last == "1" or (len(last) == 4 and last.isdigit() and "1000" <= last <= "2100"):
        return "NounSingular"
    return "NounPlural" if _PLURAL_NUMBER.fullmatch(last) else "NounSingular"


def _find_head(text: str, tokens: list[Token], indices: range) -> int | None:
    """Return the index of the head word among the tokens at `indices`; None if none of them has a letter or digit.

    Without dependencies it is the last word before a preposition.
    """
    words = [
        n for n in indices if any(map(str.isalnum, text[tokens[n].start : tokens[n].end])) and tokens[n].tag != "POS"
    ]
    if not words:
        return None
    if tokens[words[0]].head is not None:
        tops = [n for n in words if tokens[n].head not in words or tokens[n].head == n] or words
        return next((n for n in reversed(tops) if tokens[n].tag.startswith("NN")), tops[-1])
    end = next((i for i, n in enumerate(words) if i and tokens[n].tag in ("IN", "TO")), len(words))
    return next((n for n in reversed(words[:end]) if tokens[n].tag != "CD"), words[end - 1])
