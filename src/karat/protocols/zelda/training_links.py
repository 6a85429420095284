"""Links in training text: how often entities and mentions occur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from karat.protocols.zelda.split_predictions import GoldMention
from karat.protocols.zelda.texts.sections import LinkedSection, read_sections

SEEN, NEW_WORDS, UNSEEN = "seen", "entity seen, with other words", "entity never seen"
"""What training text has of a mention: its words for its entity, its entity, or nothing."""

BANDS: Final = {"0": 0, "1": 1, "2-9": 9, "10-99": 99, "100 and more": None}
"""Bands of link frequency, with the largest frequency of each."""


@dataclass(frozen=True, slots=True)
class TrainingLinks:
    """Link frequencies in training text. Mentions are compared as written, entities by title with spaces."""

    entities: Counter[str] = field(default_factory=Counter)
    """Links by entity."""
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Links by mention and entity."""
    surfaces: Counter[str] = field(default_factory=Counter)
    """Links by mention."""

    @classmethod
    def from_sections(cls, sections: Iterable[LinkedSection]) -> TrainingLinks:
        """Count the links in sections; links without title are ignored."""
        links = cls()
        for section in sections:
            links.add_section(section)
        return links

    @classmethod
    def from_file(cls, path: str) -> TrainingLinks:
        """Count the links in a file or folder of linked text that `read_sections` reads."""
        return cls.from_sections(read_sections(path))

    def add_section(self, section: LinkedSection) -> None:
        """Count the links of a section; links without title are ignored."""
        for link in section.links:
            if link.title is not None:
                surface = section.text[link.start : link.end]
                self.entities[link.title] += 1
                self.pairs[surface, link.title] += 1
                self.surfaces[surface] += 1

    def classify(self, mention: GoldMention) -> str:
        """Return how training text has a mention: `SEEN`, `NEW_WORDS` or `UNSEEN`.

        `SEEN`: the text of the mention links to its entity in training. `NEW_WORDS`: only other texts link to the
        entity. `UNSEEN`: no text links to the entity.
        """
        title = mention.entity.replace("_", " ")
        if (mention.surface, title) in self.pairs:
            return SEEN
        return NEW_WORDS if title in self.entities else UNSEEN

    def frequency_band(self, mention: GoldMention) -> str:
        """Return the band (a key of `BANDS`) of the number of training links to a mention's entity."""
        return find_band(self.entities[mention.entity.replace("_", " ")], BANDS)


def find_band(number: int, bands: dict[str, int | None]) -> str:
    """Return the first band whose maximum is at least `number`; bands must be ascending, the last with maximum None."""
    return next(name for name, maximum in bands.items() if maximum is None or number <= maximum)
