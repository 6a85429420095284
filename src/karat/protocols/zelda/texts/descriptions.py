"""Descriptions of entities from their articles: the opening paragraph (as in the paper) or its first sentence (code).

Both come from the section Introduction of a page. Sentences are split by Karat, not by spaCy as in ZELDA's script. As
in the script, a first sentence has at most 1,200 characters.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from karat.matching.facts.sentence import sentence_around
from karat.protocols.zelda.texts.sections import LinkedSection

INTRODUCTION: Final = "introduction"
"""Name of the section with the description, in lower case."""
_MAX_LENGTH: Final = 1200


class EntityDescription(NamedTuple):
    """A description, with the field names of ZELDA's file."""

    wikipedia_id: str
    wikipedia_title: str
    description: str


def opening_paragraph(text: str) -> str:
    """Return the first non-empty line of a text, stripped, which is a paragraph; empty if there is none."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, at most 1,200 characters; empty for an empty text."""
    opening = text.strip()[:_MAX_LENGTH]
    return sentence_around(opening, 0, min(1, len(opening)), _MAX_LENGTH).text.strip()


EXTRACTORS: Final[Mapping[str, Callable[[str], str]]] = {"paragraph": opening_paragraph, "sentence": first_sentence}
"""Functions from a text to a description, by name."""


def describe_entities(
    sections: Iterable[LinkedSection], vocabulary: Container[str], extractor: str = "paragraph"
) -> Iterator[EntityDescription]:
    """Yield a description of each entity in `vocabulary` (titles), from the first non-empty introduction of its page.

    `extractor` is a key of `EXTRACTORS`. Entities without such a section get none.
    """
    done: set[str] = set()
    for section in sections:
        title = section.title
        if title is not None and title in vocabulary and title not in done and _is_introduction(section):
            description = EXTRACTORS[extractor](section.text)
            if description:
                done.add(title)
                yield EntityDescription(section.page, title, description)


def _is_introduction(section: LinkedSection) -> bool:
    """Return whether a section is named Introduction, in any case."""
    return section.name.casefold() == INTRODUCTION
