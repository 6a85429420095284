"""GERBIL's protocol for web services, both ways: a document in NIF goes in, and comes back with annotations."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Final

import msgspec

from karat.adapters.each import sound_reply
from karat.adapters.telling import tell
from karat.errors import FailedError, InputError
from karat.model.corpus import Corpus
from karat.model.document import Document, Reply
from karat.model.run import Run
from karat.parsing.nif.terms import BEGIN, END
from karat.parsing.nif.writing import offset, statement
from karat.parsing.turtle.turtle import literal
from karat.registry import get
from karat.spec.format import Format

TURTLE: Final = "application/x-turtle"
_REQUEST: Final = "http://www.aksw.org/gerbil/NifWebService/request_0#char=0,{length}"
_WIKIDATA: Final = "http://www.wikidata.org/entity/"


@dataclass(frozen=True)
class _Body:
    """Bytes that were sent, as formats read them."""

    body: bytes
    label: str
    given: str = "-"
    stem: str = "nif"
    passing: bool = False
    compressed: bool = False
    folder: bool = False
    exists: bool = True
    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    @property
    def opening(self) -> bytes:
        """The first bytes."""
        return self.body[: 1 << 16]

    def inside(self, name: str) -> _Body:
        """Nothing lies in what was sent."""
        raise FailedError(f"{self.label}: no file {name}", again=False)

    beside = above = inside

    @contextmanager
    def stream(self) -> Iterator[IO[bytes]]:
        """The bytes from their beginning."""
        yield io.BytesIO(self.body)

    def data(self) -> bytes:
        """All bytes."""
        return self.body


def nif_question(document: Document) -> bytes:
    """A document as GERBIL sends it: under an address that says nothing, and with the spans of given mentions."""
    asked = msgspec.structs.replace(document, id=_REQUEST.format(length=len(document.text)))
    return _written(Corpus.of([asked]))


def nif_reply(document: Document, body: bytes, who: str) -> Reply:
    """What a service annotated; it may call the document as it likes, if it is the only one."""
    try:
        run = _read_run(_Body(body, who))
    except InputError as problem:
        raise FailedError(f"{who} sent no NIF that can be read ({problem.found})") from None
    replies = list(run)
    if len(replies) != 1:
        raise FailedError(f"{who} sent {len(replies)} documents in place of 1")
    if run.texts is not None and run.texts[0].as_py() not in (None, document.text):
        tell("replies with another text than was sent (only offsets count)")
    for what, count in run.skipped.items():
        tell(what, count)
    return msgspec.structs.replace(replies[0], id=document.id)


def asked_in_nif(body: bytes) -> Document:
    """The document that a client sends, with the spans of mentions where it gives them."""
    read = get("formats", "nif", Format).read_corpus
    assert read is not None
    documents = list(read(_Body(body, "the request"), True))
    if len(documents) != 1:
        raise InputError(
            "the request", found=f"{len(documents)} documents", expected="1", remedy="Send one nif:Context at a time"
        )
    return documents[0]


def answered_in_nif(document: Document, reply: Reply) -> bytes:
    """The document with a system's answers; QIDs get the addresses that Wikidata gives them."""
    answers = tuple(
        msgspec.structs.replace(answer, entity=_address(answer.entity), types=tuple(map(_type, answer.types)))
        if isinstance(answer.entity, str)
        else msgspec.structs.replace(answer, types=tuple(map(_type, answer.types)))
        for answer in sound_reply(document, reply).answers
    )
    text = [offset(BEGIN, 0), offset(END, len(document.text)), f"nif:isString {literal(document.text)}"]
    run = Run.of([msgspec.structs.replace(reply, id=document.id, answers=answers)])
    return _written(run) + statement(document.id, text)  # GERBIL passes over a context without text


def _read_run(body: _Body) -> Run:
    read = get("formats", "nif", Format).read_run
    assert read is not None
    return read(body)


def _written(data: Corpus | Run) -> bytes:
    nif, file = get("formats", "nif", Format), io.BytesIO()
    write = nif.write_corpus if isinstance(data, Corpus) else nif.write_run
    assert write is not None
    write(data, file)  # type: ignore[arg-type]  # which of the two was decided by the same test
    return file.getvalue()


def _address(id: str) -> str:
    return id if "://" in id else f"{_WIKIDATA}{id}" if id[:1] == "Q" and id[1:].isdecimal() else f"urn:karat:{id}"


def _type(name: str) -> str:
    return name if ":" in name else f"urn:karat:{name}"
