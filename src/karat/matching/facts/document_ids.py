"""Ids in a document and their spellings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeVar
from urllib.parse import quote, unquote

import msgspec

from karat.matching.facts.labels import replace_labels
from karat.model.document import Document, Label, Tag, Triple
from karat.model.spec.rule import Finding

_IRI = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://")
_TITLE_IRI = re.compile(r"(\s*https?://[^/\s]+/(?:wiki|resource|page|entity)/)(.+)", re.DOTALL)
_PERCENT_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_T = TypeVar("_T")


class IdOccurrence(NamedTuple):
    """An id in a document, and the label or other annotation that contains it."""

    id: str
    """The id."""
    label: Label | None
    """Label with the id; None for tags and relations."""
    role: str
    """"label", "tag" or "relation"."""

    def to_finding(self, document: Document, description: str, proposal: str = "", *, fixable: bool = False) -> Finding:
        """Create a lint finding about the id; `proposal` is a better id, and `fixable` whether it can be applied."""
        if self.label is not None:
            return Finding.from_label(document, self.label, description, proposal, fixable=fixable)
        return Finding(document.id, f"{self.role}: {description}", proposal=proposal, fixable=fixable)


def find_ids(document: Document) -> Iterator[IdOccurrence]:
    """Yield all ids in labels, tags and triples of a document, with repetitions.

    Ids of quantities and datetimes may be values and are skipped.
    """
    for label in document.labels:
        if label.kind not in ("quantity", "datetime"):
            if isinstance(label.entity, str):
                yield IdOccurrence(label.entity, label, "label")
            yield from (IdOccurrence(id, label, "label") for id in label.same_as)
    for tag in document.tags:
        yield from (IdOccurrence(id, None, "tag") for id in (tag.entity, *tag.same_as))
    for triple in document.relations:
        for id in (triple.subject, triple.predicate, triple.object):
            yield IdOccurrence(id, None, "relation")
        for same_as in (triple.subject_same_as, triple.predicate_same_as, triple.object_same_as):
            yield from (IdOccurrence(id, None, "relation") for id in same_as)


def replace_ids(document: Document, new_id: Callable[[str], str]) -> Document:
    """Return the document with every id of `find_ids` replaced by `new_id(id)`; labels that become equal are merged."""

    def replace_all(ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(new_id, ids))

    labels = [
        msgspec.structs.replace(
            label,
            entity=new_id(label.entity) if isinstance(label.entity, str) else label.entity,
            same_as=replace_all(label.same_as),
        )
        if label.kind not in ("quantity", "datetime")
        else label
        for label in document.labels
    ]
    tags: list[Tag] = [
        msgspec.structs.replace(tag, entity=new_id(tag.entity), same_as=replace_all(tag.same_as))
        for tag in document.tags
    ]
    relations: list[Triple] = [
        msgspec.structs.replace(
            triple,
            subject=new_id(triple.subject),
            predicate=new_id(triple.predicate),
            object=new_id(triple.object),
            subject_same_as=replace_all(triple.subject_same_as),
            predicate_same_as=replace_all(triple.predicate_same_as),
            object_same_as=replace_all(triple.object_same_as),
        )
        for triple in document.relations
    ]
    changed = msgspec.structs.replace(document, tags=tuple(tags), relations=tuple(relations))
    return replace_labels(changed, labels)


def is_iri(id: str) -> bool:
    """Return whether an id starts with a scheme and `://`, as IRIs do."""
    return _IRI.match(id) is not None


def is_page_iri(id: str) -> bool:
    """Return whether an id is the IRI of a page or resource with a title, as in Wikipedia and DBpedia."""
    return _TITLE_IRI.fullmatch(id) is not None


def spellings(id: str) -> Iterator[str]:
    """Yield the id as written, then other spellings of its title: decoded, with underscores and with spaces.

    The title of an IRI is the part after the folder, otherwise the whole id.
    """
    yield id
    match = _TITLE_IRI.fullmatch(id)
    title = unquote(match[2]) if match else id
    yield from dict.fromkeys(name for name in (title, title.replace(" ", "_"), title.replace("_", " ")) if name != id)


def look_up_spelling(id: str, table: Mapping[str, _T]) -> _T | None:
    """Return the value in `table` of the first spelling of an id that it has, or None."""
    return next((table[name] for name in spellings(id) if name in table), None)


def spell_like(id: str, name: str, use_spaces: bool) -> str:
    """Write the title `name` as `id` is written: as an IRI in the same folder, or with the same separator.

    `use_spaces` decides if `id` is a single word. A name that is an IRI stays unchanged.
    """
    if is_iri(name):
        return name
    match = _TITLE_IRI.fullmatch(id)
    if match is None:
        if "_" in id:
            return name.replace(" ", "_")
        return name.replace("_", " ") if use_spaces or " " in id else name
    title = name.replace(" ", "_")
    return match[1] + (quote(title, safe="/:(),'!*@&=+$;~") if _PERCENT_ESCAPE.search(match[2]) else title)
