"""BioC as it lies in files, JSON or XML: collections, documents, passages, sentences, annotations and relations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from karat.errors import InputError
from karat.model.defects import sound
from karat.parsing.bioc.elements import is_xml, xml_documents
from karat.parsing.json.records import shaped
from karat.spec.format import Bytes

_BOM = b"\xef\xbb\xbf"


class Location(msgspec.Struct, frozen=True):
    """Where an annotation stands, counted from the beginning of the document."""

    offset: int
    length: int


class Annotation(msgspec.Struct, frozen=True):
    """A mention, of one or several locations."""

    id: str | int | None = None
    infons: dict[str, Any] = {}
    text: str | None = None
    locations: tuple[Location, ...] = ()


class BiocNode(msgspec.Struct, frozen=True):
    """An end of a relation: the annotation it refers to."""

    refid: str | int


class BiocRelation(msgspec.Struct, frozen=True):
    """A relation between annotations."""

    infons: dict[str, Any] = {}
    nodes: tuple[BiocNode, ...] = ()


class BiocPiece(msgspec.Struct, frozen=True):
    """A piece of text with its annotations: a sentence, or a passage without any."""

    offset: int
    text: str | None = None
    annotations: tuple[Annotation, ...] = ()
    relations: tuple[BiocRelation, ...] = ()


class Passage(BiocPiece, frozen=True):
    """A piece of text, or sentences in place of it."""

    sentences: tuple[BiocPiece, ...] = ()


class BiocArticle(msgspec.Struct, frozen=True):
    """A document."""

    id: str | int
    passages: tuple[Passage, ...]
    infons: dict[str, Any] = {}
    annotations: tuple[Annotation, ...] = ()
    relations: tuple[BiocRelation, ...] = ()


class LaidOut(NamedTuple):
    """The pieces of a document, each with all annotations that begin in it, and those that begin in none."""

    pieces: list[BiocPiece]
    outside: int


def recognises(head: bytes) -> bool:
    """XML of a collection, or JSON in whose first document there are passages with offsets and infons."""
    if is_xml(head):
        return True
    start = head.removeprefix(_BOM).lstrip()
    keys = (b'"passages"', b'"offset"', b'"infons"')
    return start.startswith((b"{", b"[")) and all(key in start for key in keys)


def articles(source: Bytes, about: dict[str, str]) -> Iterator[BiocArticle]:
    """The documents of a file; what it says of all of them goes into `about`."""
    if is_xml(source.opening):
        yield from _shaped(xml_documents(source, about), source)
        return
    data = source.data().removeprefix(_BOM)
    try:
        whole = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        yield from _by_line(data, source, problem)
        return
    if isinstance(whole, dict) and "passages" in whole:
        yield shaped(whole, BiocArticle, source.label)
        return
    for collection in whole if isinstance(whole, list) else [whole]:
        yield from _shaped(_members(collection, source), source)
        said = {key: collection.get(key) for key in ("source", "date", "key")}
        about.update({key: value for key, value in said.items() if isinstance(value, str) and value})


def _shaped(documents: Iterable[object], source: Bytes) -> Iterator[BiocArticle]:
    numbered = enumerate(documents, 1)
    for _, article in sound(numbered, lambda one: shaped(one[1], BiocArticle, f"{source.label}: document {one[0]}")):
        yield article


def _members(collection: object, source: Bytes) -> list[object]:
    found = None
    if isinstance(collection, dict):
        found = collection.get("documents", collection.get("PubTator3"))
    if isinstance(found, list):
        return found
    raise InputError(
        source.label,
        found=f"{msgspec.json.encode(collection)[:40].decode(errors='replace')}",
        expected="a collection with a list of `documents`",
        remedy="Check that this is BioC JSON",
    )


def _by_line(data: bytes, source: Bytes, problem: Exception) -> Iterator[BiocArticle]:
    """One document per line, as PubTator Central exports them."""

    def read(given: tuple[int, bytes]) -> BiocArticle:
        number, line = given
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as own:
            raise InputError(
                source.label if number == 1 else f"{source.label}:{number}",
                found=f"text that is not valid JSON ({problem if number == 1 else own})",
                expected="one JSON value, or a document on each line, in UTF-8",
                remedy="Check that the file was not cut off",
            ) from None
        return shaped(value, BiocArticle, f"{source.label}:{number}")

    lines = ((number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip())
    for _, article in sound(lines, read):
        yield article


def laid(article: BiocArticle) -> LaidOut:
    """The text of a document in pieces, with annotations that were given elsewhere laid on the piece they begin in."""
    pieces: list[BiocPiece] = []
    outside = 0
    for passage in article.passages:
        if passage.text is not None or not passage.sentences:
            below = tuple(note for sentence in passage.sentences for note in sentence.annotations)
            pieces.append(msgspec.structs.replace(passage, annotations=(*passage.annotations, *below)))
        else:
            own, lost = _spread(passage.annotations, passage.sentences)
            outside += lost
            pieces += own
    spread, lost = _spread(article.annotations, pieces)
    return LaidOut(spread, outside + lost)


def _spread(notes: Iterable[Annotation], pieces: Sequence[BiocPiece]) -> tuple[list[BiocPiece], int]:
    """The pieces with further annotations, each in the last piece that begins before it; and how many find none."""
    found: list[list[Annotation]] = [list(piece.annotations) for piece in pieces]
    lost = 0
    for note in notes:
        first = note.locations[0].offset if note.locations else -1
        here = [place for place, piece in enumerate(pieces) if piece.offset <= first]
        if here:
            found[here[-1]].append(note)
        lost += not here
    rows = zip(pieces, found, strict=True)
    return [msgspec.structs.replace(piece, annotations=tuple(own)) for piece, own in rows], lost
