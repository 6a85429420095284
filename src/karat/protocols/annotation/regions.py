"""Regions of a document in which the labels of annotators are compared, and whether the annotators agree there.

A region is a connected component of labels: labels whose spans overlap, labels of one mention (alternatives), and
labels of a mention and its parts. Components whose extents overlap form one region, so regions are disjoint.

Versions are compared by structure: spans, entities in their normal form, kinds, optional labels, types, categories, NIL
clusters, and the grouping of labels into alternatives and parts. The names of mention ids, the order of labels, the
names of entities and notes do not matter, nor does the name of a NIL cluster that all annotators give to one span only.
Two labels of one span that differ only in their entity stay two labels.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import UnsetType

from karat.data.convert import VALUE_ENTITIES
from karat.kb.ids.normal_forms import normalise_id, restore_fragment
from karat.model.document import EntityId, Label
from karat.model.spec.settings.conventions import Ids
from karat.protocols.annotation.changes import AnnotatedLabel, RegionDecision


class Region(msgspec.Struct, frozen=True):
    """A part of a document with the labels that each annotator gave it."""

    start: int
    """Start in the document."""
    end: int
    """End in the document."""
    versions: Mapping[str, tuple[AnnotatedLabel, ...]]
    """Labels of each annotator, by pseudonym in sorted order; empty for an annotator who marked nothing."""
    is_agreed: bool
    """Whether all versions are equal in structure."""
    digest: str
    """Digest of the extent and all versions, which changes if an annotator changes a version."""


def find_regions(versions: Mapping[str, Iterable[AnnotatedLabel]]) -> tuple[Region, ...]:
    """Return the regions of a document in the order of the text; every label is in exactly one region.

    `versions` has the labels of each annotator of the document, by pseudonym.
    """
    labels = [(annotator, label) for annotator in sorted(versions) for label in versions[annotator]]
    single_clusters = _find_single_clusters(item for _, item in labels)
    regions = []
    for start, end, indices in _find_components(labels):
        by_annotator: dict[str, list[AnnotatedLabel]] = {annotator: [] for annotator in sorted(versions)}
        for index in indices:
            annotator, label = labels[index]
            by_annotator[annotator].append(label)
        structures = {
            annotator: describe_structure(_drop_clusters(group, single_clusters))
            for annotator, group in by_annotator.items()
        }
        regions.append(
            Region(
                start,
                end,
                {
                    annotator: tuple(sorted(group, key=lambda item: get_text_order(item.label)))
                    for annotator, group in by_annotator.items()
                },
                is_agreed=len(set(structures.values())) == 1,
                digest=_compute_digest(start, end, sorted(structures.items())),
            )
        )
    return tuple(regions)


def find_decision(region: Region, decisions: Iterable[RegionDecision]) -> RegionDecision | None:
    """Return the latest of the `decisions` on a region, oldest first; None if there is none or it was withdrawn.

    A decision counts only if the annotators did not change their versions afterwards.
    """
    latest = None
    for decision in decisions:
        if decision.digest == region.digest:
            latest = decision
    return None if latest is None or latest.choice == "open" else latest


def has_same_structure(first: Iterable[AnnotatedLabel], second: Iterable[AnnotatedLabel]) -> bool:
    """Return whether two versions of a region are equal in structure."""
    return describe_structure(first) == describe_structure(second)


def describe_structure(labels: Iterable[AnnotatedLabel]) -> tuple[str, ...]:
    """Return the digests of all mentions that are no parts; equal for versions of equal structure.

    A parent that does not exist, or that is its own ancestor, counts as no parent.
    """
    mentions = group_mentions([item.label for item in labels])
    parents = find_parents(mentions)
    parts: dict[str | None, list[str]] = defaultdict(list)
    for mention in sorted(mentions, key=lambda mention: -_count_ancestors(mention, parents)):
        keys = sorted(repr(describe_label(label)) for label in mentions[mention])
        parts[parents[mention]].append(_compute_digest(keys, sorted(parts[mention])))
    return tuple(sorted(parts[None]))


def _count_ancestors(mention: str, parents: Mapping[str, str | None]) -> int:
    """Return how many parents a mention has above it."""
    n_ancestors = 0
    parent = parents[mention]
    while parent is not None:
        n_ancestors += 1
        parent = parents[parent]
    return n_ancestors


def describe_label(label: Label) -> tuple[object, ...]:
    """Return a value that is equal for labels that mean the same, without their mention and parent.

    It begins with start, end and entity.
    """
    entity = get_entity(label)
    return (
        label.start,
        label.end,
        ("unlinked",) if isinstance(entity, UnsetType) else ("NIL",) if entity is None else entity,
        label.kind,
        label.optional,
        tuple(sorted(set(label.types) - set(VALUE_ENTITIES.values()))),
        tuple(sorted(set(label.categories))),
        _normalise_cluster(label),
    )


def _normalise_cluster(label: Label) -> str | None:
    """Return the name of a label's NIL cluster without differences of case and white space; None without cluster."""
    return None if label.nil_cluster is None else " ".join(label.nil_cluster.casefold().split())


def _find_single_clusters(labels: Iterable[AnnotatedLabel]) -> frozenset[str]:
    """Return the NIL clusters that all annotators give to one span only: they say no more than NIL without cluster."""
    spans: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for item in labels:
        if (name := _normalise_cluster(item.label)) is not None:
            spans[name].add(item.label.span)
    return frozenset(name for name, spans_of_name in spans.items() if len(spans_of_name) == 1)


def choose_agreed_version(region: Region) -> tuple[AnnotatedLabel, ...]:
    """Return one of the versions of a region on which annotators agree, whatever their pseudonyms.

    It is the version with the most names of NIL clusters, then of entities; of several, the one whose names and labels
    sort first.
    """

    def rank(version: tuple[AnnotatedLabel, ...]) -> tuple[object, ...]:
        clusters = sorted(item.label.nil_cluster for item in version if item.label.nil_cluster is not None)
        names = sorted(item.label.name for item in version if item.label.name is not None)
        content = [repr((describe_label(item.label), item.label.types, item.label)) for item in version]
        return (-len(clusters), clusters, -len(names), names, content)

    return min(region.versions.values(), key=rank)


def _drop_clusters(labels: Iterable[AnnotatedLabel], names: frozenset[str]) -> list[AnnotatedLabel]:
    """Return labels without the NIL clusters of these names."""
    return [
        msgspec.structs.replace(item, label=msgspec.structs.replace(item.label, nil_cluster=None))
        if _normalise_cluster(item.label) in names
        else item
        for item in labels
    ]


def get_entity(label: Label) -> EntityId:
    """Return the entity of a label, its id in normal form; values without id have `QUANTITY` or `DATETIME`."""
    entity = label.entity if isinstance(label.entity, str) else VALUE_ENTITIES.get(label.kind, label.entity)
    return restore_fragment(normalise_id(entity, Ids.NORMALISED)) if isinstance(entity, str) else entity


def group_mentions(labels: Sequence[Label]) -> dict[str, list[Label]]:
    """Return the labels by mention; a label without mention id is a mention of its own, under a new id."""
    mentions: dict[str, list[Label]] = defaultdict(list)
    for index, label in enumerate(labels):
        mentions[f"\n{index}" if label.mention_id is None else label.mention_id].append(label)
    return mentions


def find_parents(mentions: Mapping[str, Sequence[Label]]) -> dict[str, str | None]:
    """Return the parent of each mention: that of its first label with one; None if it is missing or circular."""
    stated = {
        mention: next((item.parent for item in labels if item.parent), None) for mention, labels in mentions.items()
    }
    parents: dict[str, str | None] = {}
    for mention in sorted(stated):
        ancestors = {mention}
        ancestor = stated[mention] if stated[mention] in mentions else None
        parents[mention] = ancestor
        while ancestor is not None and ancestor not in ancestors:
            ancestors.add(ancestor)
            ancestor = parents[ancestor] if ancestor in parents else stated.get(ancestor)
        if ancestor is not None:
            parents[mention] = None
    return parents


def prefix_mention_ids(labels: Iterable[AnnotatedLabel], prefix: str) -> list[AnnotatedLabel]:
    """Return labels whose mention ids and parents begin with a prefix, so that those of two regions differ."""
    return [
        msgspec.structs.replace(
            item,
            label=msgspec.structs.replace(
                item.label,
                mention_id=None if item.label.mention_id is None else f"{prefix}{item.label.mention_id}",
                parent=None if item.label.parent is None else f"{prefix}{item.label.parent}",
            ),
        )
        for item in labels
    ]


def _find_components(labels: Sequence[tuple[str, AnnotatedLabel]]) -> list[tuple[int, int, list[int]]]:
    """Return start, end and the indices of the labels of each region, in the order of the text."""
    extents: dict[object, tuple[int, int]] = {}
    roots = _find_ties(labels)
    for index, (_, item) in enumerate(labels):
        start, end = extents.get(roots[index], (item.label.start, item.label.end))
        extents[roots[index]] = (min(start, item.label.start), max(end, item.label.end))
    indices: dict[int, list[int]] = defaultdict(list)
    for index, root in enumerate(roots):
        indices[root].append(index)
    components: list[tuple[int, int, list[int]]] = []
    for root in sorted(indices, key=lambda root: extents[root]):
        start, end = extents[root]
        if components and start < components[-1][1]:
            first, last, members = components[-1]
            components[-1] = (first, max(last, end), members + indices[root])
        else:
            components.append((start, end, indices[root]))
    return components


def _find_ties(labels: Sequence[tuple[str, AnnotatedLabel]]) -> list[int]:
    """Return for each label the index of the label that represents its mention and its parts, for each annotator."""
    representative = list(range(len(labels)))

    def find(index: int) -> int:
        while representative[index] != index:
            representative[index] = representative[representative[index]]
            index = representative[index]
        return index

    first_index: dict[tuple[str, str], int] = {}
    for index, (annotator, item) in enumerate(labels):
        for name in (item.label.mention_id, item.label.parent):
            if name is not None:
                representative[find(index)] = find(first_index.setdefault((annotator, name), index))
    return [find(index) for index in range(len(labels))]


def _compute_digest(*content: object) -> str:
    """Return sixteen hexadecimal digits that depend on the content."""
    return hashlib.sha256(repr(content).encode()).hexdigest()[:16]


def get_text_order(label: Label) -> tuple[int, int]:
    """Return the key that sorts labels in the order of the text: by start, longer labels first."""
    return label.start, -label.end
