"""Custom fields: what an annotation tool cannot show travels next to what it shows, and comes back with it.

A tool shows types and, in most cases, an entity id. Fields that depend on the entity are restored only if the tool
still shows the entity for which they were written, since an annotator may have replaced it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from karat.formats.parsing.json.records import convert_value
from karat.model.document import UNLINKED, Document, EntityId, Label, Prediction, Response
from karat.model.spec.settings.nil_spellings import NIL_ID

_T = TypeVar("_T", bound=Label | Prediction)

CUSTOM_FIELD: Final = "karat"
"""The name of the custom field."""
UNTYPED: Final = "MENTION"
"""The type that stands for none, since tools require one."""
_OptionalId: Any = str | None
_OF_ENTITY: Final = frozenset({"same_as", "name", "nil_cluster", "candidates"})
_OF_DOCUMENT: Final = ("id", "text", "labels")
_OF_RESPONSE: Final = ("id", "predictions")


def show_entity(entity: EntityId) -> str:
    """Return an entity as a tool shows it: `NIL` for NIL, an empty string if unlinked."""
    return "" if isinstance(entity, msgspec.UnsetType) else NIL_ID if entity is None else entity


def parse_entity(text: str) -> EntityId:
    """Return the entity that a tool shows."""
    stripped = text.strip()
    return UNLINKED if not stripped else None if stripped == NIL_ID else stripped


def show_types(types: tuple[str, ...]) -> tuple[str, ...]:
    """Return the distinct types that a tool shows; the placeholder if there is none."""
    return tuple(dict.fromkeys(filter(None, types))) or (UNTYPED,)


def show_first_type(types: tuple[str, ...]) -> tuple[str, ...]:
    """Return the only type that a tool with one type per mention shows."""
    return show_types(types)[:1]


def parse_types(types: tuple[str, ...]) -> tuple[str, ...]:
    """Return the types that a tool shows, without the placeholder."""
    return () if types == (UNTYPED,) else types


class ToolView(NamedTuple):
    """How a tool shows entity and types of a mention."""

    show_entity: Callable[[EntityId], str] = show_entity
    """Return what the tool shows for an entity."""
    show_types: Callable[[tuple[str, ...]], tuple[str, ...]] = show_types
    """Return what the tool shows for types."""

    def pack(self, item: Label | Prediction) -> dict[str, Any]:
        """Return the fields of a label or prediction that the tool cannot show, or that it shows ambiguously."""
        fields: dict[str, Any] = msgspec.to_builtins(item)
        for name in ("start", "end"):
            fields.pop(name, None)
        if parse_types(self.show_types(item.types)) == item.types:
            fields.pop("types", None)
        if parse_entity(self.show_entity(item.entity)) == item.entity and not _OF_ENTITY & fields.keys():
            fields.pop("entity", None)
        return fields

    def restore(
        self, kind: type[_T], mention: ShownMention, fields: Mapping[str, Any], location: str, skipped: Counter[str]
    ) -> _T:
        """Return the label or prediction of a mention with the custom fields that still apply to it.

        Fields of an entity that was replaced in the tool are dropped and counted in `skipped`. Raise `InputError` about
        `location` for invalid custom fields.
        """
        values = dict(fields)
        values |= {"start": mention.start, "end": mention.end}
        entity = parse_entity(mention.entity)
        if "entity" in values or _OF_ENTITY & values.keys():
            written = UNLINKED if "entity" not in values else convert_value(values.pop("entity"), _OptionalId, location)
            if self.show_entity(written).strip() == mention.entity.strip():
                entity = written
            else:
                outdated = _OF_ENTITY & values.keys()
                skipped["custom fields of entities that were replaced in the tool (dropped)"] += len(outdated)
                values = {name: value for name, value in values.items() if name not in outdated}
        types = tuple(convert_value(values.pop("types", []), list[str], location))
        values["types"] = types if self.show_types(types) == mention.types else parse_types(mention.types)
        if not isinstance(entity, msgspec.UnsetType):
            values["entity"] = entity
        return convert_value(values, kind, location)


class ShownMention(NamedTuple):
    """A mention as a tool shows it, with its span in code points."""

    start: int
    """Offset of the first code point."""
    end: int
    """Offset behind the last code point."""
    entity: str = ""
    """Entity id, `NIL`, or an empty string if unlinked."""
    types: tuple[str, ...] = ()
    """Types."""


def pack_document(document: Document) -> dict[str, Any]:
    """Return the fields of a document besides id, text and labels."""
    return {name: value for name, value in msgspec.to_builtins(document).items() if name not in _OF_DOCUMENT}


def restore_document(doc_id: str, text: str, fields: Mapping[str, Any], location: str) -> Document:
    """Return a document without labels; raise `InputError` about `location` for invalid custom fields."""
    return convert_value({**fields, "id": doc_id, "text": text}, Document, location)


def pack_response(response: Response) -> dict[str, Any]:
    """Return the fields of a response besides id and predictions."""
    return {name: value for name, value in msgspec.to_builtins(response).items() if name not in _OF_RESPONSE}


def restore_response(
    doc_id: str, predictions: tuple[Prediction, ...], fields: Mapping[str, Any], location: str
) -> Response:
    """Return a response; raise `InputError` about `location` for invalid custom fields."""
    return msgspec.structs.replace(convert_value({**fields, "id": doc_id}, Response, location), predictions=predictions)
