"""Algorithm 1 of the ZELDA paper: draw sections until each test entity was seen often enough, or none is left.

The algorithm draws sections at random without replacement. It keeps a section that links an entity which was not seen
often enough. Here every section gets a key, a hash of the seed and its content, and sections are visited in the order
of their keys. That is equivalent: the keys of different sections are independent and uniform as far as the hash is, so
all orders are equally likely. A section that links no test entity is never kept, so it need not be drawn. The order of
the files does not matter.

The sample differs from that of ZELDA's script, whose random numbers depend on the order of its list. Two rules come
from the script, not from the printed algorithm. An entity is also done when all its links were seen; otherwise the
algorithm would not end for rare entities. And sections of a page that share the name of a kept section can be kept with
it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np

from karat.model.tables.columns import Bools, Longs
from karat.protocols.zelda.texts.sections import LinkedSection

THRESHOLD: Final = 10
"""Number of times that a test entity should be seen."""

SEED: Final = 11
"""Default random seed."""


@dataclass(frozen=True, slots=True, eq=False)
class TestLinks:
    """Links of sections to test entities, as columns: about 30 bytes per section and 4 per link, without text.

    Only sections that link a test entity have a row. The section of row `i` links `entity[offsets[i]:offsets[i + 1]]`,
    each entity as often as it is linked.
    """

    key: np.ndarray[tuple[int], np.dtype[np.uint64]]
    """Sort key of each section."""
    section_index: Longs
    """Index of each section in the source."""
    offsets: Longs
    """Start of each section's links in `entity`."""
    entity: np.ndarray[tuple[int], np.dtype[np.int32]]
    """Numbers of the linked entities."""
    n_sections: int
    """Number of sections read."""
    n_links: int
    """Number of links read."""

    @classmethod
    def from_sections(
        cls, sections: Iterable[LinkedSection | None], entities: Sequence[str], seed: int = SEED
    ) -> TestLinks:
        """Collect the links of sections to test entities; None is an excluded section.

        `entities` are titles; their indices are the entity numbers. `seed` determines the sort keys of the sections.
        """
        numbers = {entity: number for number, entity in enumerate(entities)}
        keys, indices, offsets, linked = array("Q"), array("q"), array("q", [0]), array("i")
        n_sections = n_links = 0
        for index, section in enumerate(sections):
            n_sections += 1
            if section is None:
                continue
            n_links += len(section.links)
            section_entities = [numbers[link.title] for link in section.links if link.title in numbers]
            if section_entities:
                keys.append(_sort_key(seed, section))
                indices.append(index)
                linked.extend(section_entities)
                offsets.append(len(linked))
        return cls(
            np.array(keys, np.uint64),
            np.array(indices, np.int64),
            np.array(offsets, np.int64),
            np.array(linked, np.int32),
            n_sections,
            n_links,
        )


def _sort_key(seed: int, section: LinkedSection) -> int:
    """Return a 64-bit hash of the seed and the section: its random position in the order of drawing."""
    content = "\0".join([str(seed), section.page, section.name, section.text])
    return int.from_bytes(blake2b(content.encode(errors="surrogatepass"), digest_size=8).digest(), "big")


@dataclass(frozen=True, slots=True, eq=False)
class SectionSample:
    """A sample of sections, and how often it links each test entity."""

    threshold: int
    """Number of times that a test entity should be seen."""
    sections: Longs
    """Indices of the sampled sections in the source."""
    counts: Longs
    """Number of links to each test entity in the sample."""
    totals: Longs
    """Number of links to each test entity in the source."""
    n_drawn: int
    """Number of sections drawn until all entities were done."""

    @property
    def reached_mask(self) -> Bools:
        """Which test entities the sample links at least `threshold` times."""
        return self.counts >= self.threshold

    @property
    def exhausted_mask(self) -> Bools:
        """Which test entities have 1 to `threshold` - 1 links in the source, all of which are in the sample."""
        return (self.totals < self.threshold) & (self.totals > 0)

    @property
    def absent_mask(self) -> Bools:
        """Which test entities have no link in the source."""
        return np.equal(self.totals, 0)


def draw_sections(links: TestLinks, n_entities: int, threshold: int = THRESHOLD) -> SectionSample:
    """Draw sections in the order of their keys, as Algorithm 1 does, until each entity was seen often enough.

    A drawn section is kept if it links an entity that was not seen often enough: `threshold` times, or as often as the
    source links it.
    """
    totals = np.bincount(links.entity, minlength=n_entities).astype(np.int64)
    targets = np.minimum(totals, threshold)
    counts = np.zeros(n_entities, np.int64)
    n_waiting = int(np.count_nonzero(targets > 0))
    sections: list[int] = []
    n_drawn = 0
    for section in np.lexsort((links.section_index, links.key)).tolist():
        if not n_waiting:
            break
        n_drawn += 1
        section_entities = links.entity[links.offsets[section] : links.offsets[section + 1]]
        if (counts[section_entities] < targets[section_entities]).any():
            sections.append(int(links.section_index[section]))
            for entity, n_links in Counter(section_entities.tolist()).items():
                before = counts[entity]
                counts[entity] += n_links
                n_waiting -= bool(before < targets[entity] <= counts[entity])
    return SectionSample(threshold, np.array(sorted(sections), np.int64), counts, totals, n_drawn)
