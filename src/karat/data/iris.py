"""Absolute IRIs for formats that name documents and entities by them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TypeVar
from urllib.parse import quote

import msgspec

from karat.errors import UsageError
from karat.model.corpus import Corpus
from karat.model.document import Answer, EntityId, Label, Tag
from karat.model.run import Run

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|urn:")
_QID = re.compile(r"Q[1-9]\d*")
_WIKIDATA = "http://www.wikidata.org/entity/"
_ILLEGAL = re.compile(r"[\x00-\x20<>\"{}|\\^`%#?\[\]]")

_Item = TypeVar("_Item", Label, Answer)


class Bases(msgspec.Struct, frozen=True):
    """What comes before ids that are no IRIs: of documents and types, and of entities that are no QIDs."""

    documents: str | None = None
    entities: str | None = None

    def __post_init__(self) -> None:
        for base in filter(None, (self.documents, self.entities)):
            if not _ABSOLUTE.match(base) or _ILLEGAL.search(base.removesuffix("#")):
                raise UsageError(f"{base} is no absolute IRI. Give one such as https://example.org/benchmark/.")

    def document(self, id: str) -> str:
        """The IRI of a document."""
        return _based(id, self.documents, "documents", "--base https://example.org/benchmark/")

    def type(self, id: str) -> str:
        """The IRI of a type."""
        return _wikidata(id) or _based(id, self.documents, "types", "--base https://example.org/benchmark/")

    def entity(self, id: str) -> str:
        """The IRI of an entity; a QID is one of Wikidata."""
        wanted = "--entity-base https://en.wikipedia.org/wiki/"
        return _wikidata(id) or _based(id, self.entities, "entities", wanted)


def _wikidata(id: str) -> str | None:
    return f"{_WIKIDATA}{id}" if _QID.fullmatch(id) else None


def _based(id: str, base: str | None, what: str, option: str) -> str:
    if _ABSOLUTE.match(id):
        return id
    if base is None:
        raise UsageError(
            f"this format names {what} by absolute IRIs, and {id!r} is none. Say what stands before it: {option}"
        )
    between = "" if base.endswith(("/", "#", "=", ":")) else "/"
    return f"{base}{between}{_ILLEGAL.sub(lambda sign: quote(sign[0]), id)}"


def relative(data: Corpus | Run) -> str | None:
    """The first id of a document that is no absolute IRI, None where all are."""
    return next((id for id in data.ids.to_pylist() if not _ABSOLUTE.match(id)), None)


def relative_entities(data: Corpus | Run) -> list[str]:
    """The ids of entities that are no absolute IRIs."""
    mentions = data.labels if isinstance(data, Corpus) else data.answers
    return [id for id in mentions.names.to_pylist() if not _ABSOLUTE.match(id)]


def with_iris(data: Corpus | Run, bases: Bases) -> Corpus | Run:
    """The same with absolute IRIs for all documents, entities and types; what is one already stays as it is."""
    about, skipped = dict(data.about), data.skipped
    if isinstance(data, Run):
        replies = [
            msgspec.structs.replace(
                reply,
                id=bases.document(reply.id),
                answers=tuple(_item(answer, bases) for answer in reply.answers),
                tags=tuple(_tag(tag, bases) for tag in reply.tags),
            )
            for reply in data
        ]
        return replace(Run.built(replies, name=data.name, about=about, skipped=skipped), texts=data.texts)
    documents = [
        msgspec.structs.replace(
            document,
            id=bases.document(document.id),
            labels=tuple(_item(label, bases) for label in document.labels),
            tags=tuple(_tag(tag, bases) for tag in document.tags),
        )
        for document in data
    ]
    return Corpus.built(documents, name=data.name, about=about, skipped=skipped)


def _item(item: _Item, bases: Bases) -> _Item:
    same_as, types = tuple(map(bases.entity, item.same_as)), tuple(map(bases.type, item.types))
    return msgspec.structs.replace(item, entity=_entity(item.entity, bases), same_as=same_as, types=types)


def _entity(entity: EntityId, bases: Bases) -> EntityId:
    return bases.entity(entity) if isinstance(entity, str) else entity


def _tag(tag: Tag, bases: Bases) -> Tag:
    same_as = tuple(map(bases.entity, tag.same_as))
    return msgspec.structs.replace(tag, entity=bases.entity(tag.entity), same_as=same_as)
