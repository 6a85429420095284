"""What training text gives away of test sets: entities, words for them, and whole texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.stats.runs import run_hashes, words_of
from karat.zelda.given import GivenMention, Share, given_mentions
from karat.zelda.seen import NEW_WORDS, SEEN, UNSEEN, SeenLinks
from karat.zelda.texts.sections import LinkedSection, sections

RUN: Final = 5
"""Words of a run: few enough for a tweet, and more than what unrelated texts share."""

ALIKE: Final = 0.8
"""Two texts are nearly the same if the shorter one shares so much of its runs with the longer one."""

_FEWEST: Final = 4  # runs below which everything is alike


class NearText(NamedTuple):
    """A test document that training text nearly has: how much of the shorter one is in the longer one."""

    split: str
    document: str
    section: str
    shared: float


@dataclass(frozen=True, slots=True)
class Leakage:
    """What training text has of one split.

    `pairs`, `entities` and `surfaces` are shares of the distinct ones that the training text links too; `mentions` says
    how many mentions are `seen` with their words, with other words only, or with an entity that was never seen. `near`
    are the documents that are nearly the same as a section; `short` documents have too few words to tell.
    """

    split: str
    documents: int
    short: int
    pairs: Share
    entities: Share
    surfaces: Share
    mentions: Mapping[str, Share]
    near: tuple[NearText, ...]

    @property
    def unseen(self) -> Share:
        """Mentions whose entity was never seen: nobody who learns entities can link them."""
        return self.mentions[UNSEEN]


@dataclass(frozen=True, slots=True)
class Audit:
    """What training text has of all splits.

    `sections`, `links` and `entities` are how much text it is, `left_out` what could not be read as links, in words.
    """

    sections: int
    links: int
    entities: int
    splits: Mapping[str, Leakage]
    left_out: Mapping[str, int] = field(default_factory=dict)


def audit(path: str, tests: Mapping[str, Corpus]) -> Audit:
    """Compare a file of training text with test sets in one pass.

    Memory is that of the test sets and of the distinct links.
    """
    notes: Counter[str] = Counter()
    texts = _TestTexts(tests)
    seen = SeenLinks()
    count = 0
    for section in sections(path, notes):
        count += 1
        seen.add(section)
        texts.meet(section)
    if not seen.entities:
        raise InputError(
            path,
            found=f"{count:,} sections without a single link that leads somewhere",
            expected="linked text",
            remedy="Check that links are there, and that their titles are known",
        )
    splits = {split: _leakage(split, corpus, seen, texts) for split, corpus in tests.items()}
    return Audit(count, sum(seen.entities.values()), len(seen.entities), splits, notes)


def _leakage(split: str, corpus: Corpus, seen: SeenLinks, texts: _TestTexts) -> Leakage:
    mentions = [mention for mention in given_mentions(corpus) if mention is not None]
    titles = {_title(mention) for mention in mentions}
    pairs = {(mention.surface, _title(mention)) for mention in mentions}
    surfaces = {mention.surface for mention in mentions}
    how = Counter(map(seen.seen, mentions))
    return Leakage(
        split,
        len(corpus),
        texts.short[split],
        Share(sum(pair in seen.pairs for pair in pairs), len(pairs)),
        Share(sum(title in seen.entities for title in titles), len(titles)),
        Share(sum(surface in seen.surfaces for surface in surfaces), len(surfaces)),
        {value: Share(how[value], len(mentions)) for value in (SEEN, NEW_WORDS, UNSEEN)},
        tuple(near for near in texts.near() if near.split == split),
    )


def _title(mention: GivenMention) -> str:
    return mention.entity.replace("_", " ")


class _TestTexts:
    """The runs of words of all test documents, and the section that shares most with each."""

    def __init__(self, tests: Mapping[str, Corpus]) -> None:
        self._names = [(split, document.id) for split, corpus in tests.items() for document in corpus]
        own = [np.unique(run_hashes(words_of(document.text), RUN)) for corpus in tests.values() for document in corpus]
        self._sizes = np.array(list(map(len, own)), np.int64)
        self.short = Counter(
            split for (split, _), size in zip(self._names, self._sizes.tolist(), strict=True) if size < _FEWEST
        )
        document = np.repeat(np.arange(len(own)), self._sizes)
        runs: NDArray[np.uint64] = np.concatenate(own) if own else np.zeros(0, np.uint64)
        order = np.argsort(runs, kind="stable")
        self._runs, self._document = runs[order], document[order]
        self._best: dict[int, tuple[float, str]] = {}

    def meet(self, section: LinkedSection) -> None:
        """Look for the runs of a section among those of the test documents."""
        runs = np.unique(run_hashes(words_of(section.text), RUN))
        if len(runs) < _FEWEST or not len(self._runs):
            return
        low, high = np.searchsorted(self._runs, runs, "left"), np.searchsorted(self._runs, runs, "right")
        met = np.flatnonzero(high > low)
        if len(met) < _FEWEST:
            return
        places = np.concatenate([np.arange(low[one], high[one]) for one in met])
        documents, shared = np.unique(self._document[places], return_counts=True)
        for document, common in zip(documents.tolist(), shared.tolist(), strict=True):
            size = int(self._sizes[document])
            share = common / min(size, len(runs))
            if size >= _FEWEST and share >= ALIKE and share > self._best.get(document, (0.0, ""))[0]:
                self._best[document] = (share, f"{section.page} {section.name}".strip())

    def near(self) -> Iterator[NearText]:
        """The documents that are nearly the same as a section."""
        for document, (share, section) in sorted(self._best.items()):
            yield NearText(*self._names[document], section, share)
