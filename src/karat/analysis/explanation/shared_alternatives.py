"""Alternatives of mentions that two annotators share.

Two mentions agree if one alternative of each does, in both directions. Scoring compares all alternatives of the gold
standard with one prediction. The labels of the second annotator therefore become predictions by the alternative that
agrees with a mention of the first one. Mentions are paired so that as many as possible agree, since alternatives with
different spans may agree with several mentions, and the number must not depend on whose labels become predictions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Final, NamedTuple, TypeAlias

import msgspec
import numpy as np

from karat.kb.ids.id_context import build_context
from karat.kb.ids.normalising_kb import wrap_kb
from karat.kb.protocol import KB
from karat.matching.align.dense_component import DenseComponent, solve_assignment
from karat.matching.read.read_options import ReadOptions, canonical_ids, collect_table_evidence, find_nil_ids
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.spec.settings.conventions import Ids, NilIds
from karat.model.tables.columns import NIL, NO_LINK

Entity: TypeAlias = tuple[str, ...]
"""A canonical id, or a pair for what is no entity, so that it cannot equal an id."""

_NIL, _NO_LINK = ("", "NIL"), ("", "unlinked")


class _Link(NamedTuple):
    """Span and entity of a label."""

    start: int
    end: int
    entity: Entity


def _has_same_span(first: _Link, second: _Link) -> bool:
    """Return whether two labels have the same span."""
    return first[:2] == second[:2]


def _overlaps_with_same_entity(first: _Link, second: _Link) -> bool:
    """Return whether two labels overlap and have the same entity."""
    return first.start < second.end and second.start < first.end and first.entity == second.entity


_AGREES: Final[Mapping[str, Callable[[_Link, _Link], bool]]] = {
    "mention": _has_same_span,
    "strong": _Link.__eq__,
    "weak": _overlaps_with_same_entity,
}
"""Whether two labels agree, by match relation."""


def list_entities(corpora: Sequence[Corpus], kb: KB | None) -> list[list[Entity]]:
    """Return the entity of each label of each corpus, comparable between the corpora as in scoring."""
    ids_as = Ids.NORMALISED
    id_context = build_context([collect_table_evidence(corpus.table) for corpus in corpora])
    read_options = ReadOptions(kb=None if kb is None else wrap_kb(kb, ids_as), ids=ids_as).with_id_context(id_context)
    entities_by_corpus = []
    for corpus in corpora:
        labels = corpus.labels
        is_nil = find_nil_ids(labels.names, NilIds.NOT_IN_WIKI).tolist()
        names = canonical_ids(labels.names.to_pylist(), read_options)
        entities: dict[int, Entity] = {NIL: _NIL, NO_LINK: _NO_LINK}
        for code, (name, is_nil_id) in enumerate(zip(names, is_nil, strict=True)):
            entities[code] = _NIL if is_nil_id else (name,)
        entities_by_corpus.append([entities[code] for code in labels.entity.tolist()])
    return entities_by_corpus


def drop_unlinked_mentions(corpus: Corpus) -> Corpus:
    """Return the corpus without the mentions that have an unlinked label, and without their parts.

    Agreement on links ignores them. Scoring would ignore a prediction on such a mention too if it has alternatives, but
    not the same mention among the predictions, so that the order of annotators would matter.
    """
    labels, index = corpus.labels, corpus.mention_index
    parent = index.parent[index.mention]
    is_dropped = np.zeros(len(labels), np.bool_)
    is_dropped[index.mention[labels.entity == NO_LINK]] = True
    while True:  # parts of parts
        is_part = is_dropped[index.mention] | ((parent >= 0) & is_dropped[parent])
        if (is_part == is_dropped).all():
            break
        is_dropped = is_part
    if not is_dropped.any():
        return corpus
    masks = np.split(~is_dropped, labels.offsets[1:-1])
    documents = [
        msgspec.structs.replace(document, labels=tuple(compress(document.labels, mask.tolist())))
        for document, mask in zip(corpus, masks, strict=True)
    ]
    return Corpus.from_reader(documents, name=corpus.name, skipped=corpus.skipped)


def predict_mentions(corpus: Corpus, gold: Corpus, relation: str, kb: KB | None) -> Run:
    """Return the mentions of a corpus as predictions, each with the alternative that agrees with its mention of `gold`.

    `relation` says what agrees; an equal span and entity is preferred. Mentions without a partner in `gold` have the
    first alternative.
    """
    if not _has_alternatives(corpus):
        return Run.from_gold(corpus, name=corpus.name)
    links, gold_links = (
        _group_links(labelled, entities)
        for labelled, entities in zip((corpus, gold), list_entities([corpus, gold], kb), strict=True)
    )
    agrees, documents = _AGREES[relation], []
    for document in corpus:
        mentions = list(links.get(document.id, {}).values())
        others = [[link for _, link in mention] for mention in gold_links.get(document.id, {}).values()]
        allowed = [
            [
                number
                for number, other in enumerate(others)
                if any(agrees(link, other_link) for _, link in mention for other_link in other)
            ]
            for mention in mentions
        ]
        partners = _pair_mentions(allowed)
        chosen = []
        for number, mention in enumerate(mentions):
            other = others[partners[number]] if number in partners else []
            ranks = [(any(agrees(link, other_link) for other_link in other), link in other) for _, link in mention]
            chosen.append(mention[ranks.index(max(ranks))][0])
        labels = tuple(msgspec.structs.replace(document.labels[index], parent=None) for index in sorted(chosen))
        documents.append(msgspec.structs.replace(document, labels=labels))
    return Run.from_gold(Corpus.from_reader(documents, name=corpus.name, skipped=corpus.skipped), name=corpus.name)


def _pair_mentions(allowed: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return the partner of each mention, one to one, so that as many as possible have one, by `allowed` candidates."""
    pairs = [(mention, other) for mention, others in enumerate(allowed) for other in others]
    if not pairs:
        return {}
    (mentions, mention), (others, other) = (np.unique(side, return_inverse=True) for side in zip(*pairs, strict=True))
    no_cost = np.zeros(len(pairs), np.int64)
    component = DenseComponent(mention, other, no_cost, np.zeros(len(mentions)), len(others), unmatched_cost=1)
    matched = solve_assignment(component)
    return dict(zip(mentions[mention[matched]].tolist(), others[other[matched]].tolist(), strict=True))


def _has_alternatives(corpus: Corpus) -> bool:
    """Return whether any mention that is no part of another has several labels."""
    index = corpus.mention_index
    return int(index.is_representative.sum()) < int((index.parent < 0).sum())


def _group_links(corpus: Corpus, entities: Sequence[Entity]) -> dict[str, dict[int, list[tuple[int, _Link]]]]:
    """Return the labels of each mention by document id and mention, the one that represents the mention first.

    Each label has its index in the document. Parts of other segmentations are left out.
    """
    labels, index, ids = corpus.labels, corpus.mention_index, corpus.ids.to_pylist()
    groups: dict[str, dict[int, list[tuple[int, _Link]]]] = defaultdict(lambda: defaultdict(list))
    rows = zip(
        labels.document.tolist(),
        labels.start.tolist(),
        labels.end.tolist(),
        index.mention.tolist(),
        index.parent[index.mention].tolist(),
        strict=True,
    )
    for row, (document, start, end, mention, parent) in enumerate(rows):
        if parent < 0:
            item = (row - int(labels.offsets[document]), _Link(start, end, entities[row]))
            group = groups[ids[document]][mention]
            group.insert(0 if row == mention else len(group), item)
    return groups
