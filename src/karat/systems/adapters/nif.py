"""GERBIL's NIF protocol for web services, as client and as server."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Final

import msgspec

from karat.formats.parsing.nif.writer import format_statement, format_text
from karat.model.corpus import Corpus
from karat.model.document import Document, Response
from karat.model.errors import InputError, ResponseError
from karat.model.registry import get_plugin
from karat.model.run import Run
from karat.model.spec.format import Format
from karat.systems.adapters.service_responses import check_response
from karat.systems.adapters.telemetry import count_event

TURTLE: Final = "application/x-turtle"
_REQUEST: Final = "http://www.aksw.org/gerbil/NifWebService/request_0#char=0,{length}"
_WIKIDATA: Final = "http://www.wikidata.org/entity/"


@dataclass(frozen=True)
class _RequestBody:
    """The body of a request or response in memory, with the interface that formats expect of a source file."""

    body: bytes
    label: str
    path: str = "-"
    stem: str = "nif"
    is_single_pass: bool = False
    is_compressed: bool = False
    is_folder: bool = False
    exists: bool = True
    file_names: tuple[str, ...] = ()
    folder_names: tuple[str, ...] = ()

    @property
    def first_bytes(self) -> bytes:
        """The first 64 KiB, by which formats are detected."""
        return self.body[: 1 << 16]

    def get_child(self, name: str) -> _RequestBody:
        """Raise `ResponseError`, because a body contains no other files."""
        raise ResponseError(f"{self.label}: no file {name}", is_retryable=False)

    get_sibling = get_parent_sibling = get_child

    @contextmanager
    def open_stream(self) -> Iterator[IO[bytes]]:
        """Open the bytes as a stream."""
        yield io.BytesIO(self.body)

    def read_bytes(self) -> bytes:
        """Return all bytes."""
        return self.body


def to_nif_request(document: Document) -> bytes:
    """Return a document as NIF, as GERBIL sends it: with an anonymous IRI and its labels as the spans to link."""
    anonymous = msgspec.structs.replace(document, id=_REQUEST.format(length=len(document.text)))
    return _to_nif(Corpus.from_documents([anonymous]))


def parse_nif_response(document: Document, body: bytes, service: str) -> Response:
    """Parse the NIF body that a service returned for `document`; the IRI of the document is ignored.

    `service`: name of the service in messages.
    A body that is invalid or has not exactly one document raises `ResponseError`. Skipped input is counted as
    telemetry events.
    """
    try:
        run = _read_run(_RequestBody(body, service))
    except InputError as problem:
        raise ResponseError(f"{service} sent invalid NIF ({problem.actual})") from None
    responses = list(run)
    if len(responses) != 1:
        raise ResponseError(f"{service} sent {len(responses)} documents instead of 1")
    if run.texts is not None and run.texts[0].as_py() not in (None, document.text):
        count_event("responses with a text other than the sent one (only offsets are used)")
    for event, count in run.skipped.items():
        count_event(event, count)
    return msgspec.structs.replace(responses[0], id=document.id)


def parse_nif_request(body: bytes) -> Document:
    """Parse the only document of a client's NIF request, with its mentions as labels.

    Another number of documents raises `InputError`.
    """
    read_corpus = get_plugin("formats", "nif", Format).read_corpus
    assert read_corpus is not None
    documents = list(read_corpus(_RequestBody(body, "the request"), True))
    if len(documents) != 1:
        raise InputError(
            "the request", actual=f"{len(documents)} documents", expected="1", remedy="Send one nif:Context per request"
        )
    return documents[0]


def to_nif_response(document: Document, response: Response) -> bytes:
    """Return the text of a document and a system's predictions as NIF.

    QIDs become Wikidata IRIs; other ids and types that are no IRIs get the prefix `urn:karat:`. A span outside the
    text raises `ResponseError`.
    """
    predictions = tuple(
        msgspec.structs.replace(
            prediction, entity=_to_iri(prediction.entity), types=tuple(map(_to_type_iri, prediction.types))
        )
        if isinstance(prediction.entity, str)
        else msgspec.structs.replace(prediction, types=tuple(map(_to_type_iri, prediction.types)))
        for prediction in check_response(document, response).predictions
    )
    run = Run.from_responses([msgspec.structs.replace(response, id=document.id, predictions=predictions)])
    # GERBIL ignores a context without text.
    return _to_nif(run) + format_statement(document.id, format_text(document.text))


def _read_run(body: _RequestBody) -> Run:
    """Parse the predictions of a NIF body; raise `InputError` if it is invalid."""
    read = get_plugin("formats", "nif", Format).read_run
    assert read is not None
    return read(body)


def _to_nif(data: Corpus | Run) -> bytes:
    """Return a corpus or run as the bytes of a NIF file."""
    nif, file = get_plugin("formats", "nif", Format), io.BytesIO()
    write_data = nif.write_corpus if isinstance(data, Corpus) else nif.write_run
    assert write_data is not None
    write_data(data, file)  # type: ignore[arg-type]  # the same test chose the writer
    return file.getvalue()


def _to_iri(id: str) -> str:
    """Return an entity id as an IRI; a QID becomes one of Wikidata, other ids get the prefix `urn:karat:`."""
    return id if "://" in id else f"{_WIKIDATA}{id}" if id[:1] == "Q" and id[1:].isdecimal() else f"urn:karat:{id}"


def _to_type_iri(name: str) -> str:
    """Return the name of a type as an IRI, with the prefix `urn:karat:` unless it has a colon."""
    return name if ":" in name else f"urn:karat:{name}"
