"""Queries about the labels of a document, for lint rules and categorisation."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from unicodedata import category

import msgspec

from karat.model.document import Document, Label
from karat.model.limits import get_limit, limit_error
from karat.model.span import Span

_UNSPACED_SCRIPT = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Characters of scripts without spaces between words, and of Korean, which joins particles to nouns."""


def category_values(label: Label, dimension: str) -> list[str]:
    """Return the values of a label's categories in one dimension; categories have the form `dimension:value`."""
    prefix = f"{dimension}:"
    return [category.removeprefix(prefix) for category in label.categories if category.startswith(prefix)]


def refers_back(label: Label) -> bool:
    """Return whether a label is coreference, a pro-form or anaphoric, so that its text tells little of its entity."""
    return label.kind == "coreference" or not {"form:ProForm", "reference:Anaphoric"}.isdisjoint(label.categories)


def is_plain(label: Label) -> bool:
    """Return whether a label is a required mention by name: not optional, of no special kind and no coreference."""
    return label.kind is None and not label.optional and not refers_back(label)


def group_by_mention(document: Document) -> list[tuple[Label, ...]]:
    """Return the labels grouped by mention: alternatives, which share a mention id, form a group."""
    labels_by_mention: dict[object, list[Label]] = defaultdict(list)
    for index, label in enumerate(document.labels):
        labels_by_mention[index if label.mention_id is None else label.mention_id].append(label)
    return [tuple(labels) for labels in labels_by_mention.values()]


def family_roots(document: Document) -> list[object]:
    """Return a key for each label that all readings of the same mention share: its alternatives, parts and whole.

    The key is the mention id of the topmost parent, or the label's index if the label has neither mention id nor
    parent.
    """
    parents = {label.mention_id: label.parent for label in document.labels if label.mention_id is not None}

    roots: dict[str, str] = {}

    def find_root(name: str) -> str:
        """Return the topmost parent of a mention id; each id is looked at once, so a long chain takes linear time."""
        chain = list[str]()
        steps = set[str]()
        while name not in roots and name not in steps:
            steps.add(name)
            chain.append(name)
            name = parents.get(name) or name
        root = roots.get(name, name)
        roots.update(dict.fromkeys(chain, root))
        return root

    names = (label.parent if label.mention_id is None else label.mention_id for label in document.labels)
    return [number if name is None else find_root(name) for number, name in enumerate(names)]


def group_by_span(document: Document) -> dict[Span, list[int]]:
    """Return the indices of the labels of each distinct span, ordered by start, longer spans first."""
    indexes: dict[Span, list[int]] = defaultdict(list)
    for index, label in enumerate(document.labels):
        indexes[label.span].append(index)
    return dict(sorted(indexes.items(), key=lambda item: (item[0].start, -item[0].end)))


def find_overlapping_spans(spans: Iterable[Span], doc_id: str) -> Iterator[tuple[Span, Span]]:
    """Yield all pairs of overlapping spans, the earlier first; `spans` must be in the order of `group_by_span`.

    Raise `InputError` if the document `doc_id` has too many pairs.
    """
    open_spans: list[Span] = []
    n_pairs = 0
    for span in spans:
        open_spans = [other for other in open_spans if other.end > span.start]
        n_pairs += len(open_spans)
        if n_pairs > get_limit("overlaps"):
            finding = f"more than {get_limit('overlaps'):,} pairs of overlapping mentions"
            raise limit_error("overlaps", f"document {doc_id!r}", finding, "Divide the document")
        yield from ((other, span) for other in open_spans if span.end > span.start)
        open_spans.append(span)


def is_inside_word(text: str, offset: int) -> bool:
    """Return whether `offset` is between two characters of a word, or before a combining accent.

    False in scripts without spaces between words.
    """
    if not 0 < offset < len(text):
        return False
    before, after = text[offset - 1], text[offset]
    if category(after).startswith("M"):
        return not before.isspace()
    if _UNSPACED_SCRIPT.match(before) or _UNSPACED_SCRIPT.match(after):
        return False
    return after.isalnum() and (before.isalnum() or category(before).startswith("M"))


def is_unspaced(text: str) -> bool:
    """Return whether a text starts with a character of a script without spaces between words, or of Korean."""
    return _UNSPACED_SCRIPT.match(text) is not None


def replace_labels(document: Document, labels: Iterable[Label]) -> Document:
    """Return the document with other labels; of labels with equal span, entity and mention id, only the first stays."""
    distinct: dict[object, Label] = {}
    for label in labels:
        distinct.setdefault((label.start, label.end, label.entity, label.mention_id), label)
    new_labels = tuple(distinct.values())
    return document if new_labels == document.labels else msgspec.structs.replace(document, labels=new_labels)
