"""What entities are, in the words of their articles: the opening paragraph (paper) or its first sentence (code).

Both are taken from the section Introduction of a page. A sentence is cut as Karat cuts it, not as spaCy does, which the
script uses; as there, no more than 1,200 characters are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from karat.facts.sentence import sentence_around
from karat.zelda.texts.sections import LinkedSection

INTRODUCTION: Final = "introduction"
_LONGEST: Final = 1200


class EntityDescription(NamedTuple):
    """A description, under the names that ZELDA's file has."""

    wikipedia_id: str
    wikipedia_title: str
    description: str


def opening_paragraph(text: str) -> str:
    """The first paragraph that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def first_sentence(text: str) -> str:
    """The first sentence of a text."""
    opening = text.strip()[:_LONGEST]
    return sentence_around(opening, 0, min(1, len(opening)), _LONGEST).text.strip()


TAKES: Final[Mapping[str, Callable[[str], str]]] = {"paragraph": opening_paragraph, "sentence": first_sentence}


def descriptions(
    sections: Iterable[LinkedSection], vocabulary: Container[str], take: str = "paragraph"
) -> Iterator[EntityDescription]:
    """The descriptions of the entities of a vocabulary, each of the first introduction that its page has."""
    done: set[str] = set()
    for section in sections:
        title = section.title
        if title is not None and title in vocabulary and title not in done and _introduces(section):
            words = TAKES[take](section.text)
            if words:
                done.add(title)
                yield EntityDescription(section.page, title, words)


def _introduces(section: LinkedSection) -> bool:
    return section.name.casefold() == INTRODUCTION
