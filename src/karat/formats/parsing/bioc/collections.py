"""BioC's data model, read from JSON or XML: collections, documents, passages, sentences, annotations, relations.

XML is read in the shape of JSON: the same names, with infons as a dictionary and offsets as numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import msgspec

from karat.formats.parsing.json.records import convert_value
from karat.formats.parsing.numbers import parse_offset
from karat.formats.parsing.xml import get_child_text, read_elements
from karat.model.defects import map_valid
from karat.model.errors import InputError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.spec.format import ByteSource

_COLLECTION = re.compile(rb"<collection[\s>]")
_METADATA = ("source", "date", "key")


_BOM = b"\xef\xbb\xbf"


class Location(msgspec.Struct, frozen=True):
    """A part of the text, in the units of the file, counted from the beginning of the document."""

    offset: int
    """Offset of the first character."""
    length: int
    """Number of characters."""


class Annotation(msgspec.Struct, frozen=True):
    """A mention that covers one or several locations; `infons` are its key-value pairs, such as type and entity id."""

    id: str | int | None = None
    infons: dict[str, Any] = {}
    text: str | None = None
    locations: tuple[Location, ...] = ()


class BiocNode(msgspec.Struct, frozen=True):
    """An end of a relation, as a reference to an annotation."""

    refid: str | int
    """Id of the annotation."""


class BiocRelation(msgspec.Struct, frozen=True):
    """A relation between annotations; `infons` are its key-value pairs, such as its type."""

    infons: dict[str, Any] = {}
    nodes: tuple[BiocNode, ...] = ()


class BiocSegment(msgspec.Struct, frozen=True):
    """A sentence, or a passage without sentences, with its offset in the document and its annotations."""

    offset: int
    text: str | None = None
    annotations: tuple[Annotation, ...] = ()
    relations: tuple[BiocRelation, ...] = ()


class Passage(BiocSegment, frozen=True):
    """A segment that has a text, or has sentences instead."""

    sentences: tuple[BiocSegment, ...] = ()


class BiocArticle(msgspec.Struct, frozen=True):
    """A document of passages; annotations and relations may belong to it directly instead of to a passage."""

    id: str | int
    passages: tuple[Passage, ...]
    infons: dict[str, Any] = {}
    annotations: tuple[Annotation, ...] = ()
    relations: tuple[BiocRelation, ...] = ()


class DocumentSegments(NamedTuple):
    """The sentences and passages of a document, with the number of annotations that belong to none of them."""

    segments: list[BiocSegment]
    """Segments, each with all annotations that begin in it."""
    n_outside: int
    """Number of annotations that begin in no segment."""


def recognises(head: bytes) -> bool:
    """Return whether the first bytes are a BioC collection in XML, or JSON with the fields of BioC passages."""
    if is_bioc_xml(head):
        return True
    start = head.removeprefix(_BOM).lstrip()
    keys = (b'"passages"', b'"offset"', b'"infons"')
    return start.startswith((b"{", b"[")) and all(key in start for key in keys)


def read_articles(source: ByteSource, metadata: dict[str, str]) -> Iterator[BiocArticle]:
    """Yield the documents of a BioC file in JSON or XML; store source, date and key of the collection in `metadata`.

    The error policy decides whether a document that does not fit the data model raises `InputError`, or is skipped and
    counted in `Defects`.
    """
    if is_bioc_xml(source.first_bytes):
        yield from _convert_documents(read_xml_documents(source, metadata), source)
        return
    data = source.read_bytes().removeprefix(_BOM)
    try:
        decoded = decode_json(data)
    except JsonError as problem:
        yield from _read_document_lines(data, source, problem)
        return
    if isinstance(decoded, dict) and "passages" in decoded:
        yield convert_value(decoded, BiocArticle, source.label)
        return
    for collection in decoded if isinstance(decoded, list) else [decoded]:
        yield from _convert_documents(_get_documents(collection, source), source)
        fields = {key: collection.get(key) for key in ("source", "date", "key")}
        metadata.update({key: value for key, value in fields.items() if isinstance(value, str) and value})


def _convert_documents(documents: Iterable[object], source: ByteSource) -> Iterator[BiocArticle]:
    """Yield decoded documents as `BiocArticle`.

    The error policy decides whether an invalid document raises `InputError`, or is skipped and counted in `Defects`.
    """
    numbered = enumerate(documents, 1)
    for _, article in map_valid(
        numbered, lambda item: convert_value(item[1], BiocArticle, f"{source.label}: document {item[0]}")
    ):
        yield article


def _get_documents(collection: object, source: ByteSource) -> list[object]:
    """Return the decoded documents of a decoded collection, or raise `InputError` if it has no list of documents."""
    documents = None
    if isinstance(collection, dict):
        documents = collection.get("documents", collection.get("PubTator3"))
    if isinstance(documents, list):
        return documents
    raise InputError(
        source.label,
        actual=f"{msgspec.json.encode(collection)[:40].decode(errors='replace')}",
        expected="a collection with a list of `documents`",
        remedy="Check that this is BioC JSON",
    )


def _read_document_lines(data: bytes, source: ByteSource, problem: Exception) -> Iterator[BiocArticle]:
    """Yield one document per line, as PubTator Central exports them.

    `problem` is the error of reading the file as one JSON value; it is reported if the first line is invalid too.
    """

    def parse(numbered_line: tuple[int, bytes]) -> BiocArticle:
        number, line = numbered_line
        try:
            value = decode_json(line)
        except JsonError as line_problem:
            raise InputError(
                source.label if number == 1 else f"{source.label}:{number}",
                actual=f"text that is not valid JSON ({problem if number == 1 else line_problem})",
                expected="one JSON value, or a document on each line, in UTF-8",
                remedy="Check that the file was not cut off",
            ) from None
        return convert_value(value, BiocArticle, f"{source.label}:{number}")

    lines = ((number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip())
    for _, article in map_valid(lines, parse):
        yield article


def split_segments(article: BiocArticle) -> DocumentSegments:
    """Split a document into sentences, or passages without sentences, and assign each annotation to one of them.

    Annotations of the document, or of a passage that consists of sentences, go to the last segment that begins before
    them.
    """
    segments: list[BiocSegment] = []
    n_outside = 0
    for passage in article.passages:
        if passage.text is not None or not passage.sentences:
            sentence_annotations = tuple(note for sentence in passage.sentences for note in sentence.annotations)
            segments.append(msgspec.structs.replace(passage, annotations=(*passage.annotations, *sentence_annotations)))
        else:
            sentences, n_lost = _assign_annotations(passage.annotations, passage.sentences)
            n_outside += n_lost
            segments += sentences
    all_segments, n_lost = _assign_annotations(article.annotations, segments)
    return DocumentSegments(all_segments, n_outside + n_lost)


def _assign_annotations(
    annotations: Iterable[Annotation], segments: Sequence[BiocSegment]
) -> tuple[list[BiocSegment], int]:
    """Return copies of the segments with each annotation added to the last segment that begins at or before it.

    The number is that of annotations that begin before all segments or have no location; these are dropped.
    """
    by_segment: list[list[Annotation]] = [list(segment.annotations) for segment in segments]
    n_lost = 0
    for annotation in annotations:
        offset = annotation.locations[0].offset if annotation.locations else -1
        earlier = [index for index, segment in enumerate(segments) if segment.offset <= offset]
        if earlier:
            by_segment[earlier[-1]].append(annotation)
        n_lost += not earlier
    rows = zip(segments, by_segment, strict=True)
    return [msgspec.structs.replace(segment, annotations=tuple(members)) for segment, members in rows], n_lost


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
        lambda element: _to_document(element, f"{source.label}: document {get_child_text(element, 'id')!r}"),
    ):
        yield document


def _to_document(element: Element, location: str) -> dict[str, Any]:
    """Convert a `<document>` to BioC JSON; `location` names it in error messages."""
    return {
        "id": get_child_text(element, "id"),
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
        "offset": parse_offset(get_child_text(element, "offset"), location, "offset of a passage"),
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
