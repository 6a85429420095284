"""Snapshots built from linked texts: how often a surface is linked to each entity, and how often it occurs unlinked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from karat.kb.ids.id_spaces import parse_id_key
from karat.kb.snapshot.manifest import LAYOUT, SnapshotManifest, SnapshotSource, read_manifest
from karat.kb.snapshot.writer import open_snapshot_writer
from karat.model.corpus import Corpus
from karat.model.document import Document, Label

_WORD: Final = re.compile(r"\w+")


def build_corpus_snapshot(corpora: Iterable[Corpus], folder: Path, *, date: str) -> SnapshotManifest:
    """Count anchors and unlinked occurrences in corpora, write them as a snapshot to `folder`; return its manifest.

    A label with a link is an anchor; each alternative of a mention counts, but its text is one linked occurrence. An
    unlinked occurrence is the text of an anchor between word boundaries that overlaps no label. `date`: date in the
    manifest.
    """
    corpus_list = tuple(corpora)
    anchors: Counter[tuple[str, str]] = Counter()
    linked_counts: Counter[str] = Counter()
    for corpus in corpus_list:
        for document in corpus:
            labels = list(_iterate_linked(document))
            anchors.update((document.text[label.start : label.end], str(label.entity)) for label in labels)
            spans = {(label.start, label.end) for label in labels}
            linked_counts.update(document.text[start:end] for start, end in spans)
    unlinked_counts = _count_unlinked(corpus_list, linked_counts)
    spaces = {key.space if (key := parse_id_key(id)) is not None else "" for _, id in anchors}
    space = spaces.pop() if len(spaces) == 1 else ""
    counts: Counter[tuple[str, str]] = Counter()
    for (surface, id), count in anchors.items():
        counts[_strip_space(id, space), surface] += count
    manifest = SnapshotManifest(
        karat=LAYOUT,
        name=folder.name,
        date=date,
        title=f"anchors of {', '.join(corpus.name for corpus in corpus_list)}",
        licence=", ".join(dict.fromkeys(corpus.metadata.get("licence", "") for corpus in corpus_list)).strip(", "),
        space=space,
        complete=False,
        anchor_counts=", ".join(f"{corpus.name}@{corpus.digest}" for corpus in corpus_list),
        popularity="counts of anchors",
        sources=tuple(SnapshotSource(corpus.name, corpus.digest) for corpus in corpus_list),
    )
    with open_snapshot_writer(folder, manifest) as snapshot:
        snapshot.write_columns("entities", {"id": list(dict.fromkeys(id for id, _ in counts))})
        snapshot.write_columns(
            "aliases",
            {
                "id": [id for id, _ in counts],
                "alias": [surface for _, surface in counts],
                "count": list(counts.values()),
            },
        )
        snapshot.write_columns(
            "surfaces",
            {
                "surface": list(linked_counts),
                "linked": list(linked_counts.values()),
                "unlinked": [unlinked_counts[surface] for surface in linked_counts],
            },
        )
        snapshot.add_counts(
            documents=sum(map(len, corpus_list)), anchors=anchors.total(), unlinked=unlinked_counts.total()
        )
    return read_manifest(folder)


def _iterate_linked(document: Document) -> Iterator[Label]:
    """Yield the linked labels whose surface is not blank."""
    for label in document.labels:
        if isinstance(label.entity, str) and document.text[label.start : label.end].strip():
            yield label


def _strip_space(id: str, space: str) -> str:
    """Return the local id, such as `Q64`, if all ids belong to the id space `space`; else (empty) the id as written."""
    key = parse_id_key(id) if space else None
    return id if key is None else key.local_id


def _count_unlinked(corpora: Iterable[Corpus], surfaces: Iterable[str]) -> Counter[str]:
    """Count how often each surface occurs in the texts, between word boundaries and without overlapping a label.

    Surfaces without any letter or digit are not counted.
    """
    surface_set = frozenset(surfaces)
    extents_by_word: dict[
        str, set[tuple[int, int]]
    ] = {}  # by first word: offset of the word in the surface, and length of the surface
    for surface in surface_set:
        word = _WORD.search(surface)
        if word is not None:
            extents_by_word.setdefault(word[0], set()).add((word.start(), len(surface)))
    counts: Counter[str] = Counter()
    for corpus in corpora:
        for document in corpus:
            counts.update(_iterate_unlinked(document, surface_set, extents_by_word))
    return counts


def _iterate_unlinked(
    document: Document, surfaces: frozenset[str], extents_by_word: dict[str, set[tuple[int, int]]]
) -> Iterator[str]:
    """Yield the text of each occurrence of a surface that is between word boundaries and overlaps no label.

    `extents_by_word`: for the first word of each surface, the offset of that word in the surface, and the surface's
    length.
    """
    text = document.text
    labelled = np.zeros(len(text) + 1, np.int64)
    for label in document.labels:
        labelled[label.start + 1 : label.end + 1] = 1
    labelled = np.cumsum(labelled)
    for word in _WORD.finditer(text):
        for word_offset, length in extents_by_word.get(word[0], ()):
            start = word.start() - word_offset
            end = start + length
            if start < 0 or end > len(text) or labelled[end] > labelled[start]:
                continue
            surface = text[start:end]
            if surface in surfaces and not _WORD.match(text, end) and not _WORD.match(text[start - 1 : start]):
                yield surface
