"""Leakage: what test data have in common with training data or with another part of the same dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.data.convert import is_value
from karat.data.texts import load_texts_or_gold
from karat.kb.ids.normal_forms import normalise_id
from karat.model.corpus import Corpus
from karat.model.document import Document
from karat.model.output.json_files import JsonRecord
from karat.model.spec.settings.conventions import Ids
from karat.stats.near_duplicates import TextIndex
from karat.stats.share import Share
from karat.stats.word_ngrams import split_words


class DuplicateDocument(JsonRecord, frozen=True):
    """A document with the same or nearly the same text as a document of the training data."""

    document: str
    """Id of the document."""
    training_document: str
    """Id of the most similar document of the training data."""
    shared: float
    """Fraction of the runs of the shorter text that both share; 1 for the same words."""


class Overlap(JsonRecord, frozen=True, kw_only=True):
    """Overlap of test data with training data. Entities are compared as scoring does by default (`ids=normalised`)."""

    test: str
    """Name of the test data."""
    training: str
    """Name of the training data."""
    ids: Share
    """Documents whose id the training data have too."""
    documents: Share
    """Documents whose words the training data have too, in the same order."""
    near_duplicates: tuple[DuplicateDocument, ...]
    """Documents with the same or nearly the same text as a document of the training data."""
    short_documents: int
    """Documents with too few words for near-duplicates; only documents with equal words are found."""
    pairs: Share | None
    """Distinct pairs of mention and entity that the training data have too; None if the training data have no links."""
    entities: Share | None
    """Distinct entities that the training data have too; None if the training data have no links."""
    surfaces: Share | None
    """Distinct mentions that the training data have too; None if the training data have no links."""


class _Links(NamedTuple):
    """Distinct links of a corpus."""

    pairs: set[tuple[str, str]]
    entities: set[str]
    surfaces: set[str]


def _collect_links(corpus: Corpus) -> _Links:
    """Return the distinct links of a corpus; NIL, unlinked labels and values such as dates are skipped."""
    pairs = {
        (document.text[label.start : label.end], normalise_id(label.entity, Ids.NORMALISED))
        for document in corpus
        for label in document.labels
        if isinstance(label.entity, str) and not is_value(label)
    }
    return _Links(pairs, {entity for _, entity in pairs}, {surface for surface, _ in pairs})


def get_word_key(document: Document) -> str:
    """Return the words of a document in lower case, by which documents are the same; empty if it has none."""
    return " ".join(split_words(document.text))


class TrainingIndex:
    """Training data prepared for comparison with several sets of test data."""

    def __init__(self, name: str, corpus: Corpus) -> None:
        self.name = name
        self._ids = corpus.ids.to_pylist()
        self._index = TextIndex(corpus.texts)
        self._id_by_words = {get_word_key(document): document.id for document in reversed(list(corpus))}
        self._links = _collect_links(corpus)

    def measure_overlap(self, test: str, corpus: Corpus) -> Overlap:
        """Measure what the test data `corpus`, called `test`, have in common with the training data."""
        documents, links, ids = list(corpus), _collect_links(corpus), set(self._ids)
        same_words = [key for document in documents if (key := get_word_key(document)) and key in self._id_by_words]
        has_links = bool(self._links.pairs)
        return Overlap(
            test=test,
            training=self.name,
            ids=Share(sum(document.id in ids for document in documents), len(documents)),
            documents=Share(len(same_words), len(documents)),
            near_duplicates=tuple(self._find_duplicates(documents)),
            short_documents=int(TextIndex(corpus.texts).is_short.sum()),
            pairs=Share(len(links.pairs & self._links.pairs), len(links.pairs)) if has_links else None,
            entities=Share(len(links.entities & self._links.entities), len(links.entities)) if has_links else None,
            surfaces=Share(len(links.surfaces & self._links.surfaces), len(links.surfaces)) if has_links else None,
        )

    def _find_duplicates(self, documents: Sequence[Document]) -> Iterator[DuplicateDocument]:
        """Yield each document with a duplicate in the training data: the most similar one."""
        for document in documents:
            key = get_word_key(document)
            if key and key in self._id_by_words:
                yield DuplicateDocument(document.id, self._id_by_words[key], 1.0)
                continue
            best = max(self._index.find_similar(document.text), key=lambda similar: similar.shared, default=None)
            if best is not None:
                yield DuplicateDocument(document.id, self._ids[best.position], best.shared)


def load_training_index(name: str) -> TrainingIndex:
    """Load training data: a gold standard by path or name, a plain text file, or a folder of them."""
    return TrainingIndex(name, load_texts_or_gold(name))


def group_duplicates(documents: Sequence[Document]) -> list[list[int]]:
    """Group documents by the same or nearly the same text; return lists of their positions, in order.

    Groups are connected by near-duplicates: if A is like B and B like C, then A, B and C are one group.
    """
    parent = list(range(len(documents)))

    def find_root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    def join(first: int, second: int) -> None:
        roots = find_root(first), find_root(second)
        parent[max(roots)] = min(roots)

    first_by_words: dict[str, int] = {}
    for number, document in enumerate(documents):
        key = get_word_key(document)
        if key:
            join(first_by_words.setdefault(key, number), number)
    for first, second in TextIndex([document.text for document in documents]).find_pairs():
        join(first, second)
    groups: dict[int, list[int]] = {}
    for number in range(len(documents)):
        groups.setdefault(find_root(number), []).append(number)
    return list(groups.values())
