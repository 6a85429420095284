"""The ids in a document, and how else they may be spelt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeVar
from urllib.parse import quote, unquote

import msgspec

from karat.facts.labels import relabelled
from karat.model.document import Document, Label, Statement, Tag
from karat.spec.rule import Finding

_ADDRESS = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://")
_TITLED = re.compile(r"(\s*https?://[^/\s]+/(?:wiki|resource|page|entity)/)(.+)", re.DOTALL)
_ESCAPED = re.compile("%[0-9A-Fa-f]{2}")
_T = TypeVar("_T")


class IdPlace(NamedTuple):
    """An id and the label it stands in, or what else it is an id of."""

    id: str
    label: Label | None
    role: str

    def finding(self, document: Document, says: str, proposal: str = "", *, fixable: bool = False) -> Finding:
        """A finding about the id."""
        if self.label is not None:
            return Finding.at(document, self.label, says, proposal, fixable=fixable)
        return Finding(document.id, f"{self.role}: {says}", proposal=proposal, fixable=fixable)


def ids(document: Document) -> Iterator[IdPlace]:
    """All ids of entities and predicates. What a quantity or a date is linked to may be its value, and is left out."""
    for label in document.labels:
        if label.kind not in ("quantity", "datetime"):
            if isinstance(label.entity, str):
                yield IdPlace(label.entity, label, "label")
            yield from (IdPlace(id, label, "label") for id in label.same_as)
    for tag in document.tags:
        yield from (IdPlace(id, None, "tag") for id in (tag.entity, *tag.same_as))
    for one in document.relations:
        for id in (one.subject, one.predicate, one.object):
            yield IdPlace(id, None, "relation")
        for others in (one.subject_same_as, one.predicate_same_as, one.object_same_as):
            yield from (IdPlace(id, None, "relation") for id in others)


def renamed(document: Document, new: Callable[[str], str]) -> Document:
    """The document with every id that `ids` gives replaced."""

    def each(found: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(new, found))

    labels = [
        msgspec.structs.replace(
            label,
            entity=new(label.entity) if isinstance(label.entity, str) else label.entity,
            same_as=each(label.same_as),
        )
        if label.kind not in ("quantity", "datetime")
        else label
        for label in document.labels
    ]
    tags: list[Tag] = [msgspec.structs.replace(t, entity=new(t.entity), same_as=each(t.same_as)) for t in document.tags]
    relations: list[Statement] = [
        msgspec.structs.replace(
            one,
            subject=new(one.subject),
            predicate=new(one.predicate),
            object=new(one.object),
            subject_same_as=each(one.subject_same_as),
            predicate_same_as=each(one.predicate_same_as),
            object_same_as=each(one.object_same_as),
        )
        for one in document.relations
    ]
    changed = msgspec.structs.replace(document, tags=tuple(tags), relations=tuple(relations))
    return relabelled(changed, labels)


def is_address(id: str) -> bool:
    """Whether an id is an IRI rather than a name."""
    return _ADDRESS.match(id) is not None


def is_page(id: str) -> bool:
    """Whether an id is the address of a page, as Wikipedia and those that follow it write them."""
    return _TITLED.fullmatch(id) is not None


def spellings(id: str) -> Iterator[str]:
    """The id as written, then the title or name in an address, with `_` and with blanks."""
    yield id
    match = _TITLED.fullmatch(id)
    title = unquote(match[2]) if match else id
    yield from dict.fromkeys(name for name in (title, title.replace(" ", "_"), title.replace("_", " ")) if name != id)


def looked_up(id: str, table: Mapping[str, _T]) -> _T | None:
    """What a table says about an id, in whichever of its spellings."""
    return next((table[name] for name in spellings(id) if name in table), None)


def spelt_like(id: str, name: str, blanks: bool) -> str:
    """Another name in the spelling of an id; `blanks` says how titles are written where the id does not."""
    if is_address(name):
        return name
    match = _TITLED.fullmatch(id)
    if match is None:
        if "_" in id:
            return name.replace(" ", "_")
        return name.replace("_", " ") if blanks or " " in id else name
    title = name.replace(" ", "_")
    return match[1] + (quote(title, safe="/:(),'!*@&=+$;~") if _ESCAPED.search(match[2]) else title)
