"""Overlap of training text with test sets: entities, mentions, and whole texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from karat.model.corpus import Corpus
from karat.model.errors import InputError
from karat.model.output.json_files import JsonFile, JsonRecord
from karat.protocols.zelda.split_predictions import GoldMention, collect_gold_mentions
from karat.protocols.zelda.texts.sections import LinkedSection, read_sections
from karat.protocols.zelda.training_links import NEW_WORDS, SEEN, UNSEEN, TrainingLinks
from karat.stats.near_duplicates import TextIndex
from karat.stats.share import Share


class NearDuplicate(JsonRecord, frozen=True):
    """A test document that is nearly the same as a section of the training text."""

    document: str
    """Id of the document."""
    section: str
    """Page and name of the section."""
    shared: float
    """Fraction of the runs of the shorter text that both share."""


class Leakage(JsonRecord, frozen=True):
    """Overlap of training text with one split."""

    documents: int
    """Number of documents."""
    short_documents: int
    """Number of documents with too few words to compare."""
    pairs: Share
    """Share of distinct pairs of mention and entity that training text links too."""
    entities: Share
    """Share of distinct entities that training text links too."""
    surfaces: Share
    """Share of distinct mentions that training text links too."""
    mentions: Mapping[str, Share]
    """Share of mentions by their occurrence in training text."""
    near_duplicates: tuple[NearDuplicate, ...]
    """Documents that are nearly the same as a section."""

    @property
    def unseen(self) -> Share:
        """Share of mentions whose entity does not occur in the training text."""
        return self.mentions[UNSEEN]


class Audit(JsonFile, frozen=True, tag="karat-zelda-audit/2"):
    """Overlap of training text with all splits: the output of `karat zelda audit --json`."""

    sections: int
    """Number of sections in the training text."""
    links: int
    """Number of links in the training text."""
    entities: int
    """Number of distinct entities in the training text."""
    excluded: Mapping[str, int]
    """Number of excluded links by reason."""
    splits: Mapping[str, Leakage]
    """Overlap by split."""


def audit_training_text(path: str, tests: Mapping[str, Corpus]) -> Audit:
    """Compare a file of training text with test sets (by split) in one pass: shared links and near-duplicate texts.

    Memory grows with the test sets and the number of distinct links only. Raise `InputError` if the text has no links.
    """
    notes: Counter[str] = Counter()
    texts = _TestTexts(tests)
    links = TrainingLinks()
    n_sections = 0
    for section in read_sections(path, notes):
        n_sections += 1
        links.add_section(section)
        texts.compare_section(section)
    if not links.entities:
        raise InputError(
            path,
            actual=f"{n_sections:,} sections without links to known pages",
            expected="linked text",
            remedy="Check that the file has links with known titles",
        )
    splits = {split: _measure_leakage(split, corpus, links, texts) for split, corpus in tests.items()}
    return Audit(n_sections, sum(links.entities.values()), len(links.entities), notes, splits)


def _measure_leakage(split: str, corpus: Corpus, links: TrainingLinks, texts: _TestTexts) -> Leakage:
    """Measure the overlap of training text with one split, from all its links and compared texts."""
    mentions = [mention for mention in collect_gold_mentions(corpus) if mention is not None]
    titles = {_get_title(mention) for mention in mentions}
    pairs = {(mention.surface, _get_title(mention)) for mention in mentions}
    surfaces = {mention.surface for mention in mentions}
    counts = Counter(map(links.classify, mentions))
    return Leakage(
        len(corpus),
        texts.n_short_by_split[split],
        Share(sum(pair in links.pairs for pair in pairs), len(pairs)),
        Share(sum(title in links.entities for title in titles), len(titles)),
        Share(sum(surface in links.surfaces for surface in surfaces), len(surfaces)),
        {value: Share(counts[value], len(mentions)) for value in (SEEN, NEW_WORDS, UNSEEN)},
        tuple(texts.iterate_near_duplicates(split)),
    )


def _get_title(mention: GoldMention) -> str:
    """Return the title of a mention's entity with spaces for underscores, as in training text."""
    return mention.entity.replace("_", " ")


class _TestTexts:
    """Texts of all test documents, and the most similar section of the training text for each."""

    def __init__(self, tests: Mapping[str, Corpus]) -> None:
        self._names = [(split, document.id) for split, corpus in tests.items() for document in corpus]
        self._index = TextIndex([document.text for corpus in tests.values() for document in corpus])
        self.n_short_by_split = Counter(
            split for (split, _), is_short in zip(self._names, self._index.is_short.tolist(), strict=True) if is_short
        )
        self._best: dict[int, tuple[float, str]] = {}

    def compare_section(self, section: LinkedSection) -> None:
        """Compare a section with all test documents.

        Store it for documents whose nearest near-duplicate so far it is.
        """
        for document, share in self._index.find_similar(section.text):
            if share > self._best.get(document, (0.0, ""))[0]:
                self._best[document] = (share, f"{section.page} {section.name}".strip())

    def iterate_near_duplicates(self, split: str) -> Iterator[NearDuplicate]:
        """Yield each document of a split with a near-duplicate among the compared sections: the most similar one."""
        for document, (share, section) in sorted(self._best.items()):
            if self._names[document][0] == split:
                yield NearDuplicate(self._names[document][1], section, share)
