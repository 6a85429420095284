"""Removal of deleted entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from karat.kb.existence import check_existence
from karat.kb.protocol import KB
from karat.matching.select.label_removal import remove_labels
from karat.model.document import Document, Label, Tag
from karat.model.errors import UsageError
from karat.model.spec.step import DocumentChange, Step


def _list_items(document: Document) -> Iterator[Label | Tag]:
    """Yield the labels and the tags of a document."""
    yield from document.labels
    yield from document.tags


def _list_ids(item: Label | Tag) -> tuple[str, ...]:
    """Return all ids of an item's entity; empty if it is NIL or unlinked."""
    return (item.entity, *item.same_as) if isinstance(item.entity, str) else ()


def _build_from_kb(kb: KB, documents: Sequence[Document]) -> DocumentChange:
    """Return a function that removes labels and tags whose entity the knowledge base does not have any more.

    The ids of all `documents` are looked up at once. Raise `UsageError` if the knowledge base lists no entities.
    """
    ids = list(dict.fromkeys(id for document in documents for item in _list_items(document) for id in _list_ids(item)))
    existence = check_existence(kb, ids)
    if ids and all(exists is None for exists in existence):
        raise UsageError(
            f"{kb.name}: the knowledge base does not tell which entities exist. Pass a snapshot with entities."
        )
    deleted = {id for id, exists in zip(ids, existence, strict=True) if exists is False}

    def is_deleted(item: Label | Tag) -> bool:
        """Return whether the item has ids and all of them are deleted."""
        item_ids = _list_ids(item)
        return bool(item_ids) and deleted.issuperset(item_ids)

    def apply(document: Document) -> Document:
        """Return the document without deleted labels and tags."""
        reduced = remove_labels(document, is_deleted)
        tags = tuple(tag for tag in document.tags if not is_deleted(tag))
        return reduced if len(tags) == len(document.tags) else msgspec.structs.replace(reduced, tags=tags)

    return apply


STEP = Step(
    title="Drop deleted entities",
    description="Removes labels and tags whose entity no longer exists in the knowledge base (`--kb`), as in BAT "
    "(section 4) and post-hoc verification (Table 1). NIL labels remain. For a snapshot with only some "
    "entities, an entity counts as deleted if the snapshot marks it as deleted.",
    build_from_kb=_build_from_kb,
)
