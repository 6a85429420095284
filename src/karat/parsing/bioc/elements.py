"""BioC XML as the values that BioC JSON has: the same names, with infons as a dictionary and offsets as numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from karat.model.defects import sound
from karat.parsing.numbers import offset
from karat.parsing.xml import records
from karat.spec.format import Bytes

_COLLECTION = re.compile(rb"<collection[\s>]")
_ABOUT = ("source", "date", "key")


def is_xml(head: bytes) -> bool:
    """Whether the first bytes are XML of a BioC collection."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<" and _COLLECTION.search(head) is not None


def xml_documents(source: Bytes, about: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The documents of a collection; what is said of all of them goes into `about`."""

    def given() -> Iterator[Element]:
        for element in records(source, "document", *_ABOUT, documents=True):
            if element.tag == "document":
                yield element
            elif said := (element.text or "").strip():
                about[element.tag] = said

    for _, document in sound(given(), lambda one: _document(one, f"{source.label}: document {_text(one, 'id')!r}")):
        yield document


def _document(element: Element, where: str) -> dict[str, Any]:
    return {
        "id": _text(element, "id"),
        "infons": _infons(element),
        "passages": [
            {**_piece(passage, where), "sentences": [_piece(one, where) for one in passage.findall("sentence")]}
            for passage in element.findall("passage")
        ],
        **_notes(element, where),
    }


def _piece(element: Element, where: str) -> dict[str, Any]:
    """A passage or a sentence; one without `text` is not one with an empty text."""
    given = element.find("text")
    return {
        "offset": offset(_text(element, "offset"), where, "offset of a passage"),
        "text": None if given is None else "".join(given.itertext()),
        **_notes(element, where),
    }


def _notes(element: Element, where: str) -> dict[str, Any]:
    return {
        "annotations": [
            {
                "id": note.get("id"),
                "infons": _infons(note),
                "text": note.findtext("text"),
                "locations": [_location(place, where) for place in note.findall("location")],
            }
            for note in element.findall("annotation")
        ],
        "relations": [
            {
                "infons": _infons(relation),
                "nodes": [{"refid": node.get("refid", "")} for node in relation.findall("node")],
            }
            for relation in element.findall("relation")
        ],
    }


def _location(element: Element, where: str) -> dict[str, int]:
    return {name: offset(element.get(name, ""), where, f"{name} of a location") for name in ("offset", "length")}


def _infons(element: Element) -> dict[str, str]:
    return {infon.get("key", ""): infon.text or "" for infon in element.findall("infon")}


def _text(element: Element, name: str) -> str:
    return (element.findtext(name) or "").strip()
