"""What training text has of the mentions of test sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from karat.zelda.given import GivenMention
from karat.zelda.texts.sections import LinkedSection, sections

SEEN, NEW_WORDS, UNSEEN = "seen", "entity seen, with other words", "entity never seen"
"""What training text has of a mention: its words for its entity, its entity, or nothing."""

BANDS: Final = {"0": 0, "1": 1, "2-9": 9, "10-99": 99, "100 and more": None}
"""How often an entity is linked: the most of each band."""


@dataclass(frozen=True, slots=True)
class SeenLinks:
    """How often training text links each entity, and each entity by which words; words as they are written."""

    entities: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    surfaces: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, linked: Iterable[LinkedSection]) -> SeenLinks:
        """What some sections link."""
        seen = cls()
        for section in linked:
            seen.add(section)
        return seen

    @classmethod
    def read(cls, path: str) -> SeenLinks:
        """What a file of linked text links."""
        return cls.of(sections(path))

    def add(self, section: LinkedSection) -> None:
        """Count the links of one more section."""
        for link in section.links:
            if link.title is not None:
                words = section.text[link.start : link.end]
                self.entities[link.title] += 1
                self.pairs[words, link.title] += 1
                self.surfaces[words] += 1

    def seen(self, mention: GivenMention) -> str:
        """What is known of a mention."""
        title = mention.entity.replace("_", " ")
        if (mention.surface, title) in self.pairs:
            return SEEN
        return NEW_WORDS if title in self.entities else UNSEEN

    def frequency(self, mention: GivenMention) -> str:
        """The band of how often the entity of a mention is linked."""
        return band(self.entities[mention.entity.replace("_", " ")], BANDS)


def band(number: int, bands: dict[str, int | None]) -> str:
    """The first band whose most is not exceeded."""
    return next(name for name, most in bands.items() if most is None or number <= most)
