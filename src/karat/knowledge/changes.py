"""What became of ids between two packs of different days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec
import numpy as np

from karat.kb.existing import existing
from karat.kb.pack.pack import Pack
from karat.kb.protocol import Standing
from karat.matching.select.dropping import without
from karat.model.corpus import Corpus
from karat.model.document import Document, Label


class IdChange(StrEnum):
    """What became of an id."""

    SAME = "same"
    """It leads to the same entity as before."""
    MOVED = "moved"
    """Its entity has another id now, which nothing had before."""
    MERGED = "merged"
    """Its entity was joined with another one that was there before."""
    ELSEWHERE = "elsewhere"
    """It leads to another entity, while its own is still there."""
    DISAMBIGUATION = "disambiguation"
    """It leads to a list of several entities now."""
    VANISHED = "vanished"
    """It was an entity, and is none any more."""
    NEW = "new"
    """It was none, and is one now."""
    NEITHER = "in neither"
    UNDECIDED = "undecided"
    """A pack with some entities only does not have it, which says nothing."""


@dataclass(frozen=True)
class Moves:
    """What became of each id; `before` and `after` are the entities that it led to, `labels` how many have it."""

    old: str
    new: str
    ids: tuple[str, ...]
    changes: tuple[IdChange, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    labels: tuple[int, ...]

    @property
    def counts(self) -> Mapping[IdChange, int]:
        """How many ids of each change there are."""
        found = Counter(self.changes)
        return {change: found[change] for change in IdChange}

    @property
    def labelled(self) -> Mapping[IdChange, int]:
        """How many labels have ids of each change."""
        found: Counter[IdChange] = Counter()
        for change, labels in zip(self.changes, self.labels, strict=True):
            found[change] += labels
        return {change: found[change] for change in IdChange}


def gold_moves(corpus: Corpus, old: Pack, new: Pack) -> Moves:
    """What became of the ids of a gold standard between an old pack and a new one."""
    labels = corpus.labels
    counts = np.bincount(labels.entity[labels.entity >= 0], minlength=len(labels.names))
    return replace(moves(labels.names.to_pylist(), old, new), labels=tuple(counts.tolist()))


def moves(ids: Sequence[str], old: Pack, new: Pack) -> Moves:
    """What became of ids between an old pack and a new one."""
    before, after = old.canonical(ids), new.canonical(ids)
    now_of_before, once_of_after = new.canonical(before), old.canonical(after)
    was, is_ = (existing(pack, ids) for pack in (old, new))
    once = existing(old, after)
    several = [standing is Standing.DISAMBIGUATION for standing in new.standings(ids)]
    were = [standing is Standing.DISAMBIGUATION for standing in old.standings(ids)]
    changes = []
    for at in range(len(ids)):
        if was[at] is None or is_[at] is None:
            change = IdChange.UNDECIDED
        elif not (was[at] and is_[at]):
            change = _ONE_SIDED[bool(was[at]), bool(is_[at])]
        elif several[at] and not were[at]:
            change = IdChange.DISAMBIGUATION
        elif after[at] != now_of_before[at]:
            change = IdChange.ELSEWHERE
        elif after[at] == before[at]:
            change = IdChange.SAME
        else:
            change = IdChange.MERGED if once[at] and once_of_after[at] != before[at] else IdChange.MOVED
        changes.append(change)
    labels = (0,) * len(ids)
    return Moves(_label(old), _label(new), tuple(ids), tuple(changes), tuple(before), tuple(after), labels)


_ONE_SIDED = {(True, False): IdChange.VANISHED, (False, True): IdChange.NEW, (False, False): IdChange.NEITHER}


CHANGE: Final = "change"
"""The dimension of categories that says what became of ids."""


def category_of(change: IdChange) -> str:
    """A change as categories write it."""
    return change.replace(" ", "-")


def changed(corpus: Corpus, found: Moves) -> Corpus:
    """The corpus with a category `change:…` on every linked label, by which scores can be split."""
    by_id = dict(zip(found.ids, found.changes, strict=True))

    def tagged(label: Label) -> Label:
        if not isinstance(label.entity, str):
            return label
        category = f"{CHANGE}:{category_of(by_id[label.entity])}"
        return msgspec.structs.replace(label, categories=(*label.categories, category))

    documents = (msgspec.structs.replace(document, labels=tuple(map(tagged, document.labels))) for document in corpus)
    return Corpus.built(documents, name=corpus.name, about=corpus.about, skipped=corpus.skipped)


class KnownNil(NamedTuple):
    """A NIL label whose words a pack knows as a name, and the entities that are called so."""

    document: str
    label: Label
    text: str
    entities: tuple[str, ...]


def now_known(corpus: Corpus, pack: Pack) -> list[KnownNil]:
    """NIL labels whose words the pack knows as a name; whether they mean it, people must say."""
    found = [
        (document.id, label, document.text[label.start : label.end])
        for document in corpus
        for label in document.labels
        if label.entity is None
    ]
    called = pack.popular([text for *_, text in found])
    return [KnownNil(*each, tuple(sorted(ids))) for each, ids in zip(found, called, strict=True) if ids is not None]


def without_known(corpus: Corpus, pack: Pack) -> Corpus:
    """The corpus without NIL labels whose words the pack knows as a name."""
    known = {(each.document, each.label) for each in now_known(corpus, pack)}

    def kept() -> Iterator[Document]:
        for document in corpus:
            yield without(document, lambda label, id=document.id: (id, label) in known)  # type: ignore[misc]

    return Corpus.built(kept(), name=corpus.name, about=corpus.about, skipped=corpus.skipped)


def _label(pack: Pack) -> str:
    return f"{pack.name} of {pack.manifest.date}"
