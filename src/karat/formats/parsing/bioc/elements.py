"""BioC XML in the shape of BioC JSON: the same names, with infons as a dictionary and offsets as numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from karat.formats.parsing.numbers import parse_offset
from karat.formats.parsing.xml import read_elements
from karat.model.defects import map_valid
from karat.model.spec.format import ByteSource

_COLLECTION = re.compile(rb"<collection[\s>]")
_METADATA = ("source", "date", "key")


def is_bioc_xml(head: bytes) -> bool:
    """Return whether the first bytes are XML with a BioC `<collection>`."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<" and _COLLECTION.search(head) is not None


def read_xml_documents(source: ByteSource, metadata: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the documents of an XML collection as dictionaries in the layout of BioC JSON.

    The collection's source, date and key are stored in `metadata`. The error policy decides whether an invalid document
    raises `InputError`, or is skipped and counted in `Defects`.
    """

    def read_document_elements() -> Iterator[Element]:
        for element in read_elements(source, "document", *_METADATA, has_documents=True):
            if element.tag == "document":
                yield element
            elif value := (element.text or "").strip():
                metadata[element.tag] = value

    for _, document in map_valid(
        read_document_elements(),
        lambda element: _to_document(element, f"{source.label}: document {_get_text(element, 'id')!r}"),
    ):
        yield document


def _to_document(element: Element, location: str) -> dict[str, Any]:
    """Convert a `<document>` to BioC JSON; `location` names it in error messages."""
    return {
        "id": _get_text(element, "id"),
        "infons": _get_infons(element),
        "passages": [
            {
                **_to_segment(passage, location),
                "sentences": [_to_segment(sentence, location) for sentence in passage.findall("sentence")],
            }
            for passage in element.findall("passage")
        ],
        **_to_annotations(element, location),
    }


def _to_segment(element: Element, location: str) -> dict[str, Any]:
    """Convert a passage or sentence to BioC JSON; the text is None if there is no `text` element."""
    text = element.find("text")
    return {
        "offset": parse_offset(_get_text(element, "offset"), location, "offset of a passage"),
        "text": None if text is None else "".join(text.itertext()),
        **_to_annotations(element, location),
    }


def _to_annotations(element: Element, location: str) -> dict[str, Any]:
    """Return the fields `annotations` and `relations` of a document, passage or sentence."""
    return {
        "annotations": [
            {
                "id": note.get("id"),
                "infons": _get_infons(note),
                "text": note.findtext("text"),
                "locations": [_to_location(item, location) for item in note.findall("location")],
            }
            for note in element.findall("annotation")
        ],
        "relations": [
            {
                "infons": _get_infons(relation),
                "nodes": [{"refid": node.get("refid", "")} for node in relation.findall("node")],
            }
            for relation in element.findall("relation")
        ],
    }


def _to_location(element: Element, context: str) -> dict[str, int]:
    """Return `offset` and `length` of a location element; raise `InputError` at `context` if one is no number."""
    return {
        name: parse_offset(element.get(name, ""), context, f"{name} of a location") for name in ("offset", "length")
    }


def _get_infons(element: Element) -> dict[str, str]:
    """Return the texts of the `infon` elements inside `element`, by key."""
    return {infon.get("key", ""): infon.text or "" for infon in element.findall("infon")}


def _get_text(element: Element, name: str) -> str:
    """Return the text of the first element `name` inside `element`, stripped; empty if there is none."""
    return (element.findtext(name) or "").strip()
