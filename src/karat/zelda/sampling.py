"""Algorithm 1 of the paper: sections are drawn until each test entity was seen often enough, or there are no more.

The algorithm draws sections at random, without replacement, and keeps one if it links an entity of which not enough was
seen. Here every section gets a key, a hash of the seed and of what it says, and sections are walked in the order of
their keys. That is the same: keys of different sections are independent and uniform as far as a good hash is, so that
all orders of the sections are equally likely, as they are for draws without replacement; and a section that links no
test entity is never kept and changes nothing, so that it need not be drawn. The order of the files does not matter.

It is not the same sample as that of ZELDA's script, whose random numbers depend on the order of its list. Two rules are
the script's and not the printed algorithm's: an entity is done, too, when all its links were seen, without which the
algorithm would not end for rare ones; and sections of a page that share the name of a kept one can be kept with it.
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
from karat.zelda.texts.sections import LinkedSection

THRESHOLD: Final = 10
"""How often a test entity should be seen."""

SEED: Final = 11


@dataclass(frozen=True, slots=True, eq=False)
class TestLinks:
    """Which sections link which test entities, as columns: some 30 bytes a section and 4 a link, and no text.

    Section `i` is that at `place[i]` of the source; it links `entity[first[i]:first[i + 1]]`, numbers of entities, each
    as often as it is linked there. `read` sections were looked at.
    """

    key: np.ndarray[tuple[int], np.dtype[np.uint64]]
    place: Longs
    first: Longs
    entity: np.ndarray[tuple[int], np.dtype[np.int32]]
    read: int
    links: int

    @classmethod
    def of(cls, sections: Iterable[LinkedSection | None], entities: Sequence[str], seed: int = SEED) -> TestLinks:
        """The links of sections to test entities; None stands for a section that is left out."""
        numbers = {entity: number for number, entity in enumerate(entities)}
        keys, places, firsts, linked = array("Q"), array("q"), array("q", [0]), array("i")
        read = links = 0
        for place, section in enumerate(sections):
            read += 1
            if section is None:
                continue
            links += len(section.links)
            own = [numbers[link.title] for link in section.links if link.title in numbers]
            if own:
                keys.append(_key(seed, section))
                places.append(place)
                linked.extend(own)
                firsts.append(len(linked))
        return cls(
            np.array(keys, np.uint64),
            np.array(places, np.int64),
            np.array(firsts, np.int64),
            np.array(linked, np.int32),
            read,
            links,
        )


def _key(seed: int, section: LinkedSection) -> int:
    """A number that follows from the seed and the section alone."""
    said = "\0".join([str(seed), section.page, section.name, section.text])
    return int.from_bytes(blake2b(said.encode(errors="surrogatepass"), digest_size=8).digest(), "big")


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """Which sections were kept, by their places in the source, and how often each test entity was seen.

    `total` is how often it is linked in the source, `drawn` how many sections were looked at before all were done.
    """

    threshold: int
    kept: Longs
    seen: Longs
    total: Longs
    drawn: int

    @property
    def reached(self) -> Bools:
        """Test entities that were seen often enough."""
        return self.seen >= self.threshold

    @property
    def exhausted(self) -> Bools:
        """Those of which there is not enough, and all that there is was seen."""
        return (self.total < self.threshold) & (self.total > 0)

    @property
    def absent(self) -> Bools:
        """Those that no section links."""
        return np.equal(self.total, 0)


def draw(links: TestLinks, entities: int, threshold: int = THRESHOLD) -> Drawing:
    """Walk through the sections in the order of their keys, as algorithm 1 does."""
    total = np.bincount(links.entity, minlength=entities).astype(np.int64)
    enough = np.minimum(total, threshold)
    seen = np.zeros(entities, np.int64)
    waiting = int(np.count_nonzero(enough > 0))
    kept: list[int] = []
    drawn = 0
    for section in np.lexsort((links.place, links.key)).tolist():
        if not waiting:
            break
        drawn += 1
        own = links.entity[links.first[section] : links.first[section + 1]]
        if (seen[own] < enough[own]).any():
            kept.append(int(links.place[section]))
            for entity, count in Counter(own.tolist()).items():
                before = seen[entity]
                seen[entity] += count
                waiting -= bool(before < enough[entity] <= seen[entity])
    return Drawing(threshold, np.array(sorted(kept), np.int64), seen, total, drawn)
