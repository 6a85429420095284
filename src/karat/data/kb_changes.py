"""Differences of ids between two dated snapshots of a knowledge base, and outdated NIL labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec
import numpy as np

from karat.kb.existence import check_existence
from karat.kb.protocol import IdStatus
from karat.kb.snapshot.snapshot import Snapshot
from karat.matching.select.label_removal import remove_labels
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.spec.settings.conventions import NilIds


class IdChange(StrEnum):
    """The difference of one id between an old and a new snapshot."""

    SAME = "same"
    """The id leads to the same entity in both snapshots."""
    MOVED = "moved"
    """The entity has another id in the new snapshot, one that the old snapshot does not have."""
    MERGED = "merged"
    """The entity was merged with another entity of the old snapshot."""
    RETARGETED = "retargeted"
    """The id leads to another entity, although its old entity still exists."""
    DISAMBIGUATION = "disambiguation"
    """The id leads to a disambiguation page in the new snapshot only."""
    DELETED = "deleted"
    """The id leads to an entity in the old snapshot only."""
    NEW = "new"
    """The id leads to an entity in the new snapshot only."""
    ABSENT = "absent"
    """The id leads to an entity in neither snapshot."""
    UNDECIDED = "undecided"
    """An incomplete snapshot lacks the id, so the change is unknown."""


@dataclass(frozen=True)
class KbDiff:
    """The change of each id between two snapshots; the tuples are parallel."""

    old_label: str
    """Name and date of the old snapshot."""
    new_label: str
    """Name and date of the new snapshot."""
    ids: tuple[str, ...]
    """Compared ids."""
    changes: tuple[IdChange, ...]
    """Change of each id."""
    old_entities: tuple[str, ...]
    """Canonical id of each id in the old snapshot."""
    new_entities: tuple[str, ...]
    """Canonical id of each id in the new snapshot."""
    label_counts: tuple[int, ...]
    """Number of gold labels with each id; 0 if no corpus was compared."""

    @property
    def ids_by_change(self) -> Mapping[IdChange, int]:
        """Number of ids by change."""
        counts = Counter(self.changes)
        return {change: counts[change] for change in IdChange}

    @property
    def labels_by_change(self) -> Mapping[IdChange, int]:
        """Number of labels by change of their id."""
        counts: Counter[IdChange] = Counter()
        for change, labels in zip(self.changes, self.label_counts, strict=True):
            counts[change] += labels
        return {change: counts[change] for change in IdChange}


def diff_gold_ids(corpus: Corpus, old: Snapshot, new: Snapshot) -> KbDiff:
    """Compare each entity id of a gold standard between an old and a new snapshot, with its number of labels."""
    labels = corpus.labels
    counts = np.bincount(labels.entity[labels.entity >= 0], minlength=len(labels.names))
    return replace(diff_ids(labels.names.to_pylist(), old, new), label_counts=tuple(counts.tolist()))


def diff_ids(ids: Sequence[str], old: Snapshot, new: Snapshot) -> KbDiff:
    """Find how each of `ids` changed between an old and a new snapshot; label counts are 0."""
    old_entities, new_entities = old.canonical_ids(ids), new.canonical_ids(ids)
    old_entities_now, new_entities_before = new.canonical_ids(old_entities), old.canonical_ids(new_entities)
    existed, exists = (check_existence(snapshot, ids) for snapshot in (old, new))
    target_existed = check_existence(old, new_entities)
    is_disambiguation = [status is IdStatus.DISAMBIGUATION for status in new.id_statuses(ids)]
    was_disambiguation = [status is IdStatus.DISAMBIGUATION for status in old.id_statuses(ids)]
    changes = []
    for i in range(len(ids)):
        if existed[i] is None or exists[i] is None:
            change = IdChange.UNDECIDED
        elif not (existed[i] and exists[i]):
            change = _CHANGE_BY_EXISTENCE[bool(existed[i]), bool(exists[i])]
        elif is_disambiguation[i] and not was_disambiguation[i]:
            change = IdChange.DISAMBIGUATION
        elif new_entities[i] != old_entities_now[i]:
            change = IdChange.RETARGETED
        elif new_entities[i] == old_entities[i]:
            change = IdChange.SAME
        else:
            change = (
                IdChange.MERGED if target_existed[i] and new_entities_before[i] != old_entities[i] else IdChange.MOVED
            )
        changes.append(change)
    label_counts = (0,) * len(ids)
    return KbDiff(
        _snapshot_label(old),
        _snapshot_label(new),
        tuple(ids),
        tuple(changes),
        tuple(old_entities),
        tuple(new_entities),
        label_counts,
    )


_CHANGE_BY_EXISTENCE = {(True, False): IdChange.DELETED, (False, True): IdChange.NEW, (False, False): IdChange.ABSENT}


CHANGE: Final = "change"
"""Dimension of the categories that name the change of an id."""


def format_category(change: IdChange) -> str:
    """Return the category name of a change, with hyphens for spaces."""
    return change.replace(" ", "-")


def add_change_categories(corpus: Corpus, diff: KbDiff) -> Corpus:
    """Return the corpus with a category `change:…` on every label with an entity, by which scores can be split.

    `diff` must contain all entity ids of the corpus.
    """
    by_id = dict(zip(diff.ids, diff.changes, strict=True))

    def tag_label(label: Label) -> Label:
        if not isinstance(label.entity, str):
            return label
        category = f"{CHANGE}:{format_category(by_id[label.entity])}"
        return msgspec.structs.replace(label, categories=(*label.categories, category))

    documents = (
        msgspec.structs.replace(document, labels=tuple(map(tag_label, document.labels))) for document in corpus
    )
    return Corpus.from_reader(documents, name=corpus.name, metadata=corpus.metadata, skipped=corpus.skipped)


class KnownNil(NamedTuple):
    """A NIL label whose text is a name in a snapshot."""

    document: str
    """Document id."""
    label: Label
    """NIL label."""
    text: str
    """Text of the label."""
    entities: tuple[str, ...]
    """Most frequent entities with that name, sorted."""


def find_known_nil(corpus: Corpus, snapshot: Snapshot) -> list[KnownNil]:
    """Find NIL labels whose text is a name in the snapshot; a person must decide whether they mean that entity.

    The entities of each are the most frequent ones with that name.
    """
    nil_labels = [
        (document.id, label, document.text[label.start : label.end])
        for document in corpus
        for label in document.labels
        if NilIds.NOT_IN_WIKI.is_nil(label.entity)
    ]
    candidates = snapshot.popular_entities([text for *_, text in nil_labels])
    return [
        KnownNil(*nil_label, tuple(sorted(ids)))
        for nil_label, ids in zip(nil_labels, candidates, strict=True)
        if ids is not None
    ]


def drop_known_nil(corpus: Corpus, snapshot: Snapshot) -> Corpus:
    """Return the corpus without the NIL labels that `find_known_nil` finds, whose text is a name in the snapshot."""
    dropped = {(nil.document, nil.label) for nil in find_known_nil(corpus, snapshot)}

    def iterate_documents() -> Iterator[Document]:
        for document in corpus:
            yield remove_labels(document, lambda label, id=document.id: (id, label) in dropped)  # type: ignore[misc]

    return Corpus.from_reader(iterate_documents(), name=corpus.name, metadata=corpus.metadata, skipped=corpus.skipped)


def _snapshot_label(snapshot: Snapshot) -> str:
    """Return name and date of a snapshot as text."""
    return f"{snapshot.name} of {snapshot.manifest.date}"
