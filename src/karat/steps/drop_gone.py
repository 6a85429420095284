"""Drop what is gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from karat.errors import UsageError
from karat.kb.existing import existing
from karat.kb.protocol import KB
from karat.matching.select.dropping import without
from karat.model.document import Document, Label, Tag
from karat.spec.step import DocumentChange, Step


def _items(document: Document) -> Iterator[Label | Tag]:
    yield from document.labels
    yield from document.tags


def _ids(item: Label | Tag) -> tuple[str, ...]:
    return (item.entity, *item.same_as) if isinstance(item.entity, str) else ()


def _by_kb(kb: KB, documents: Sequence[Document]) -> DocumentChange:
    ids = list(dict.fromkeys(id for document in documents for item in _items(document) for id in _ids(item)))
    told = existing(kb, ids)
    if ids and all(there is None for there in told):
        raise UsageError(f"{kb.name} cannot say of any entity whether it exists. Give a pack that has its entities.")
    gone = {id for id, there in zip(ids, told, strict=True) if there is False}

    def is_gone(item: Label | Tag) -> bool:
        own = _ids(item)
        return bool(own) and gone.issuperset(own)

    def apply(document: Document) -> Document:
        kept = without(document, is_gone)
        tags = tuple(tag for tag in document.tags if not is_gone(tag))
        return kept if len(tags) == len(document.tags) else msgspec.structs.replace(kept, tags=tags)

    return apply


STEP = Step(
    title="Drop what is gone",
    says="Labels and tags whose entity exists no more, by the knowledge base (`--kb`), are left out, as in BAT "
    "(section 4) and posthoc verification (Table 1); NIL stays. Of a pack with some entities only, those are gone that "
    "it calls deleted.",
    by_kb=_by_kb,
)
