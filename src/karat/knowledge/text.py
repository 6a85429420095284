"""A pack from linked texts: how often words lead to an entity, and how often they stand there without a link."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from karat.kb.pack.manifest import LAYOUT, PackManifest, PackSource, read_manifest
from karat.kb.pack.writer import writing_pack
from karat.kb.spaces import key_of
from karat.model.corpus import Corpus
from karat.model.document import Document

_WORD: Final = re.compile(r"\w+")


def build_text(corpora: Iterable[Corpus], folder: Path, *, date: str) -> PackManifest:
    """Count anchors and unlinked occurrences in corpora, and make a pack of them; gives its manifest.

    A label with a link is an anchor; each alternative of a mention counts. An occurrence is unlinked where the words
    of an anchor stand with no letter before or behind them, and touch no label.
    """
    given = tuple(corpora)
    anchors: Counter[tuple[str, str]] = Counter()
    for corpus in given:
        for document in corpus:
            anchors.update(_anchors(document))
    linked: Counter[str] = Counter()
    for (surface, _), count in anchors.items():
        linked[surface] += count
    unlinked = _unlinked(given, linked)
    spaces = {key.space if (key := key_of(id)) is not None else "" for _, id in anchors}
    space = spaces.pop() if len(spaces) == 1 else ""
    counts: Counter[tuple[str, str]] = Counter()
    for (surface, id), count in anchors.items():
        counts[_bare(id, space), surface] += count
    manifest = PackManifest(
        karat=LAYOUT,
        name=folder.name,
        date=date,
        title=f"anchors of {', '.join(corpus.name for corpus in given)}",
        licence=", ".join(dict.fromkeys(corpus.about.get("licence", "") for corpus in given)).strip(", "),
        space=space,
        complete=False,
        anchor_counts=", ".join(f"{corpus.name}@{corpus.digest}" for corpus in given),
        popularity="counts of anchors",
        sources=tuple(PackSource(corpus.name, corpus.digest) for corpus in given),
    )
    with writing_pack(folder, manifest) as pack:
        pack.columns("entities", {"id": list(dict.fromkeys(id for id, _ in counts))})
        pack.columns(
            "aliases",
            {
                "id": [id for id, _ in counts],
                "alias": [surface for _, surface in counts],
                "count": list(counts.values()),
            },
        )
        pack.columns(
            "surfaces",
            {
                "surface": list(linked),
                "linked": list(linked.values()),
                "unlinked": [unlinked[surface] for surface in linked],
            },
        )
        pack.count(documents=sum(map(len, given)), anchors=anchors.total(), unlinked=unlinked.total())
    return read_manifest(folder)


def _anchors(document: Document) -> Iterator[tuple[str, str]]:
    for label in document.labels:
        surface = document.text[label.start : label.end]
        if isinstance(label.entity, str) and surface.strip():
            yield surface, label.entity


def _bare(id: str, space: str) -> str:
    key = key_of(id) if space else None
    return id if key is None else key.local


def _unlinked(corpora: Iterable[Corpus], surfaces: Iterable[str]) -> Counter[str]:
    known = frozenset(surfaces)
    shapes: dict[str, set[tuple[int, int]]] = {}  # by first word: how far before it, and how long, surfaces are
    for surface in known:
        word = _WORD.search(surface)
        if word is not None:
            shapes.setdefault(word[0], set()).add((word.start(), len(surface)))
    counts: Counter[str] = Counter()
    for corpus in corpora:
        for document in corpus:
            counts.update(_occurrences(document, known, shapes))
    return counts


def _occurrences(document: Document, known: frozenset[str], shapes: dict[str, set[tuple[int, int]]]) -> Iterator[str]:
    text = document.text
    labelled = np.zeros(len(text) + 1, np.int64)
    for label in document.labels:
        labelled[label.start + 1 : label.end + 1] = 1
    labelled = np.cumsum(labelled)
    for word in _WORD.finditer(text):
        for before, length in shapes.get(word[0], ()):
            start = word.start() - before
            end = start + length
            if start < 0 or end > len(text) or labelled[end] > labelled[start]:
                continue
            surface = text[start:end]
            if surface in known and not _WORD.match(text, end) and not _WORD.match(text[start - 1 : start]):
                yield surface
