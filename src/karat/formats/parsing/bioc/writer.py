"""Writer of BioC, as JSON or XML: a collection of documents with one passage each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

import msgspec

from karat.formats.parsing.composite_ids import split_ids
from karat.formats.parsing.extra_fields import EXTRA_KEY, encode_fields, get_extra_fields
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Document, Label, Prediction, Response, Triple
from karat.model.errors import UsageError
from karat.model.run import Run
from karat.model.spec.settings.nil_spellings import BIOMEDICAL_NIL, BIOMEDICAL_UNLINKED

_IDENTIFIER = "identifier"
_READ_AS_OTHER = (BIOMEDICAL_NIL, BIOMEDICAL_UNLINKED, "None", "")
_KEY = re.compile(r"[\w.-]+", re.ASCII)
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_METADATA = ("source", "date", "key")

_Item = Label | Prediction


def write_json(data: Corpus | Run, file: IO[bytes], id_infons: Collection[str]) -> None:
    """Write a collection as JSON; `id_infons` are the keys that the reader takes for ids."""
    file.write(msgspec.json.format(msgspec.json.encode(_to_collection(data, id_infons)), indent=1) + b"\n")


def write_xml(data: Corpus | Run, file: IO[bytes], id_infons: Collection[str]) -> None:
    """Write a collection as XML; raise `UsageError` for characters that XML does not have."""
    collection = _to_collection(data, id_infons)
    for article in collection["documents"]:
        if article["id"] != article["id"].strip():
            raise UsageError(f"BioC XML cannot store the white space around the id {article['id']!r}. Use BioC JSON.")
    file.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n')
    file.write("".join(_format_collection(collection)).encode() + b"\n")


def _to_collection(data: Corpus | Run, id_infons: Collection[str]) -> dict[str, Any]:
    """Return the data as a BioC collection, in the layout of its JSON."""
    documents: list[tuple[Document | Response, str | None]]
    if isinstance(data, Corpus):
        documents = [(document, document.text) for document in data]
    else:
        texts = [None] * len(data) if data.texts is None else data.texts.to_pylist()
        documents = list(zip(data, texts, strict=True))
    return {
        **{key: data.metadata.get(key, "") for key in _METADATA},
        "infons": {},
        "documents": [_to_article(document, text, id_infons) for document, text in documents],
    }


def _to_article(document: Document | Response, text: str | None, id_infons: Collection[str]) -> dict[str, Any]:
    """Return a document with one passage; what BioC has no place for is in its infon `karat`."""
    items: Sequence[_Item] = document.labels if isinstance(document, Document) else document.predictions
    names = [str(number) for number in range(1, len(items) + 1)]
    relations = _to_relations(document.relations, items, names)
    stored = {"id", "text", "labels", "predictions"} | ({"relations"} if relations is not None else set())
    infons: dict[str, str] = {}
    if isinstance(document, Document) and all(_KEY.fullmatch(key) and key != EXTRA_KEY for key in document.meta):
        infons |= document.meta
        stored.add("meta")
    if fields := get_extra_fields(document, stored):
        infons[EXTRA_KEY] = encode_fields(fields)
    passage = {
        "offset": 0,
        "infons": {},
        **({} if text is None else {"text": text}),
        "sentences": [],
        "annotations": [
            _to_annotation(item, name, text, document.id, id_infons) for item, name in zip(items, names, strict=True)
        ],
        "relations": relations or [],
    }
    return {"id": document.id, "infons": infons, "passages": [passage], "annotations": [], "relations": []}


def _to_annotation(item: _Item, name: str, text: str | None, doc_id: str, id_infons: Collection[str]) -> dict[str, Any]:
    """Return a mention with its infons; raise `UsageError` for an id that the reader takes for something else."""
    entity = item.entity
    if isinstance(entity, str) and (
        entity in _READ_AS_OTHER or entity != entity.strip() or split_ids(entity) != (entity,)
    ):
        raise UsageError(
            f"document {doc_id!r} has the id {entity!r}, which BioC takes for several ids, NIL or no link. "
            "Change it, or choose another format."
        )
    infons: dict[str, str] = {}
    if entity is not UNLINKED:
        infons[_IDENTIFIER] = BIOMEDICAL_NIL if entity is None else str(entity)
    stored = {"start", "end", "entity"}
    if len(item.types) == 1 and item.types[0]:
        infons["type"] = item.types[0]
        stored.add("types")
    pairs = [category.partition(":") for category in item.categories] if isinstance(item, Label) else []
    keys = Counter(key for key, _, _ in pairs)
    special = {"type", EXTRA_KEY, *id_infons}
    if pairs and all(
        colon and keys[key] == 1 and _KEY.fullmatch(key) and key not in special for key, colon, _ in pairs
    ):
        infons |= {key: value for key, _, value in pairs}
        stored.add("categories")
    if fields := get_extra_fields(item, stored):
        infons[EXTRA_KEY] = encode_fields(fields)
    location = {"offset": item.start, "length": item.end - item.start}
    surface = {} if text is None else {"text": text[item.start : item.end]}
    return {"id": name, "infons": infons, **surface, "locations": [location]}


def _to_relations(
    relations: Sequence[Triple], items: Sequence[_Item], names: Sequence[str]
) -> list[dict[str, Any]] | None:
    """Return relations between annotations of their entities; None if a relation is not between such."""
    name_of: dict[object, str] = {}
    for item, name in zip(items, names, strict=True):
        name_of.setdefault(item.entity, name)
    nodes = []
    for number, triple in enumerate(relations, 1):
        is_plain = triple == Triple(triple.subject, triple.predicate, triple.object)
        if not is_plain or not {triple.subject, triple.object} <= name_of.keys():
            return None
        ends = [
            {"refid": name_of[entity], "role": role}
            for entity, role in ((triple.subject, "subject"), (triple.object, "object"))
        ]
        nodes.append({"id": f"R{number}", "infons": {"type": triple.predicate}, "nodes": ends})
    return nodes


def _format_collection(collection: dict[str, Any]) -> Iterator[str]:
    """Yield the XML of a collection, a document at a time; only texts and infons contain white space."""
    yield "<collection>" + "".join(f"<{key}>{_escape(collection[key])}</{key}>" for key in _METADATA)
    for article in collection["documents"]:
        yield f"\n<document><id>{_escape(article['id'])}</id>{_format_infons(article)}"
        for passage in article["passages"]:
            yield f"<passage>{_format_infons(passage)}<offset>{passage['offset']}</offset>"
            yield _format_text(passage)
            for note in passage["annotations"]:
                yield f"\n<annotation id={quoteattr(note['id'])}>{_format_infons(note)}"
                for span in note["locations"]:
                    yield f'<location offset="{span["offset"]}" length="{span["length"]}"/>'
                yield f"{_format_text(note)}</annotation>"
            for relation in passage["relations"]:
                yield f"\n<relation id={quoteattr(relation['id'])}>{_format_infons(relation)}"
                for node in relation["nodes"]:
                    yield f"<node refid={quoteattr(node['refid'])} role={quoteattr(node['role'])}/>"
                yield "</relation>"
            yield "</passage>"
        yield "</document>"
    yield "\n</collection>"


def _format_infons(holder: dict[str, Any]) -> str:
    """Return the infons of a part of the collection as XML."""
    return "".join(f"<infon key={quoteattr(key)}>{_escape(value)}</infon>" for key, value in holder["infons"].items())


def _format_text(holder: dict[str, Any]) -> str:
    """Return the text of a passage or annotation as XML; empty if it has none."""
    return f"<text>{_escape(holder['text'])}</text>" if "text" in holder else ""


def _escape(text: str) -> str:
    """Escape a text for XML; raise `UsageError` for characters that XML does not have."""
    if match := _NOT_IN_XML.search(text):
        raise UsageError(f"XML cannot store the character {match[0]!r} in {text[:40]!r}. Write BioC JSON instead.")
    return escape(text, {"\r": "&#13;"})
