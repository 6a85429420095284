"""Conversion of document, entity and type ids to absolute IRIs, for formats that need them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TypeVar
from urllib.parse import quote

import msgspec

from karat.model.corpus import Corpus
from karat.model.document import EntityId, Label, Prediction, Tag
from karat.model.errors import UsageError
from karat.model.output.command_options import format_option
from karat.model.run import Run

_EXAMPLE_BASE = "https://example.org/dataset/"
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|urn:")
_QID = re.compile(r"Q[1-9]\d*")
_WIKIDATA = "http://www.wikidata.org/entity/"
_ILLEGAL = re.compile(r"[\x00-\x20<>\"{}|\\^`%#?\[\]]")

_Item = TypeVar("_Item", Label, Prediction)


class IriBases(msgspec.Struct, frozen=True):
    """IRI prefixes of ids that are not absolute IRIs.

    `documents`: prefix of documents and types.
    `entities`: prefix of entities other than QIDs.
    """

    documents: str | None = None
    entities: str | None = None

    def __post_init__(self) -> None:
        for base in filter(None, (self.documents, self.entities)):
            if not _ABSOLUTE.match(base) or _ILLEGAL.search(base.removesuffix("#")):
                raise UsageError(
                    f"{base} is not an absolute IRI. Pass an absolute IRI such as https://example.org/dataset/."
                )

    def to_document_iri(self, id: str) -> str:
        """Return the absolute IRI of a document id; raise `UsageError` if it needs a prefix and there is none."""
        return _prefix_iri(id, self.documents, "documents", format_option("base", _EXAMPLE_BASE))

    def to_type_iri(self, id: str) -> str:
        """Return the absolute IRI of a type, a QID as Wikidata IRI, others with the prefix of documents.

        Raises `UsageError` if it needs a prefix and there is none.
        """
        return _wikidata_iri(id) or _prefix_iri(id, self.documents, "types", format_option("base", _EXAMPLE_BASE))

    def to_entity_iri(self, id: str) -> str:
        """Return the absolute IRI of an entity, a QID as Wikidata IRI.

        Raise `UsageError` if it needs a prefix and there is none.
        """
        option = format_option("entity_base", "https://en.wikipedia.org/wiki/")
        return _wikidata_iri(id) or _prefix_iri(id, self.entities, "entities", option)


def _wikidata_iri(id: str) -> str | None:
    """Return the Wikidata IRI of a QID; None for other ids."""
    return f"{_WIKIDATA}{id}" if _QID.fullmatch(id) else None


def _prefix_iri(id: str, base: str | None, kind: str, option: str) -> str:
    """Return `id` if it is an absolute IRI, else with the prefix `base` and percent-encoded.

    Raises `UsageError` if `base` is None; `kind` and `option` (the remedy) are for its message.
    """
    if _ABSOLUTE.match(id):
        return id
    if base is None:
        raise UsageError(f"{id!r} is not an absolute IRI, which this format needs for {kind}. Add a prefix: {option}")
    separator = "" if base.endswith(("/", "#", "=", ":")) else "/"
    return f"{base}{separator}{_ILLEGAL.sub(lambda sign: quote(sign[0]), id)}"


def find_relative_id(data: Corpus | Run) -> str | None:
    """Return the first document id that is not an absolute IRI, or None."""
    return next((id for id in data.ids.to_pylist() if not _ABSOLUTE.match(id)), None)


def list_relative_entities(data: Corpus | Run) -> list[str]:
    """Return the entity ids that are not absolute IRIs."""
    mentions = data.labels if isinstance(data, Corpus) else data.predictions
    return [id for id in mentions.names.to_pylist() if not _ABSOLUTE.match(id)]


def count_relative_documents(data: Corpus | Run) -> int:
    """Count the documents whose id is not an absolute IRI."""
    return sum(not _ABSOLUTE.match(id) for id in data.ids.to_pylist())


def count_relative_types(data: Corpus | Run) -> int:
    """Count the labels or predictions with a type that is not an absolute IRI."""
    items = (
        (item for document in data for item in document.labels)
        if isinstance(data, Corpus)
        else (item for response in data for item in response.predictions)
    )
    return sum(not all(map(_ABSOLUTE.match, item.types)) for item in items)


def to_absolute_iris(data: Corpus | Run, bases: IriBases) -> Corpus | Run:
    """Return the data with absolute IRIs for documents, entities and types; absolute IRIs stay unchanged.

    Raises `UsageError` if an id needs a prefix that `bases` lacks.
    """
    metadata, skipped = dict(data.metadata), data.skipped
    if isinstance(data, Run):
        responses = [
            msgspec.structs.replace(
                response,
                id=bases.to_document_iri(response.id),
                predictions=tuple(_convert_item(prediction, bases) for prediction in response.predictions),
                tags=tuple(_convert_tag(tag, bases) for tag in response.tags),
            )
            for response in data
        ]
        return replace(Run.from_reader(responses, name=data.name, metadata=metadata, skipped=skipped), texts=data.texts)
    documents = [
        msgspec.structs.replace(
            document,
            id=bases.to_document_iri(document.id),
            labels=tuple(_convert_item(label, bases) for label in document.labels),
            tags=tuple(_convert_tag(tag, bases) for tag in document.tags),
        )
        for document in data
    ]
    return Corpus.from_reader(documents, name=data.name, metadata=metadata, skipped=skipped)


def _convert_item(item: _Item, bases: IriBases) -> _Item:
    """Return a label or prediction with absolute IRIs for entity, `same_as` and types."""
    same_as, types = tuple(map(bases.to_entity_iri, item.same_as)), tuple(map(bases.to_type_iri, item.types))
    return msgspec.structs.replace(item, entity=_convert_entity(item.entity, bases), same_as=same_as, types=types)


def _convert_entity(entity: EntityId, bases: IriBases) -> EntityId:
    """Return the absolute IRI of a link; NIL and unlinked stay unchanged."""
    return bases.to_entity_iri(entity) if isinstance(entity, str) else entity


def _convert_tag(tag: Tag, bases: IriBases) -> Tag:
    """Return the tag with its ids as absolute IRIs."""
    same_as = tuple(map(bases.to_entity_iri, tag.same_as))
    return msgspec.structs.replace(tag, entity=bases.to_entity_iri(tag.entity), same_as=same_as)
