"""GERBIL's NIF protocol for web services, as client and as server."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Final, NamedTuple

import msgspec

from karat.formats.parsing.nif.terms import TEXT
from karat.formats.parsing.nif.writer import format_statement, format_text
from karat.formats.parsing.offset_units import UNIT_NOTES
from karat.formats.parsing.turtle.turtle import format_iri, format_literal
from karat.model.corpus import Corpus
from karat.model.defects import ErrorPolicy, collect_defects, get_error_policy
from karat.model.document import Document, Response
from karat.model.errors import InputError, ResponseError
from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.offsets.unit_maps import from_code_points
from karat.model.registry import get_plugin
from karat.model.run import Run
from karat.model.span import Span
from karat.model.spec.format import Format
from karat.systems.adapters.service_responses import check_response, convert_spans
from karat.systems.telemetry import count_event

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


class NifRequest(NamedTuple):
    """A client's request."""

    document: Document
    """The document, with offsets in code points."""
    offsets: OffsetKind = OffsetKind.CODE_POINTS
    """The kind of offsets that the client counts."""


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
        if len(run) == 1 and (run.texts is None or run.texts[0].as_py() is None):  # its anchors fit the sent text
            context, text = format_iri(run.ids[0].as_py()), format_literal(document.text)
            run = _read_run(_RequestBody(body + f"\n{context} <{TEXT}> {text} .\n".encode(), service))
    except InputError as problem:
        raise ResponseError(f"{service} sent invalid NIF ({problem.actual})") from None
    responses = list(run)
    if len(responses) != 1:
        raise ResponseError(f"{service} sent {len(responses)} documents instead of 1")
    if run.texts is not None and run.texts[0].as_py() not in (None, document.text):
        count_event("responses with a text other than the sent one (only offsets are used)")
    for event, count in run.skipped.items():
        count_event(event, count)
    predictions = responses[0].predictions
    spans = convert_spans(
        document.text, [Span(item.start, item.end) for item in predictions], [None] * len(predictions)
    )
    return msgspec.structs.replace(
        responses[0],
        id=document.id,
        predictions=tuple(
            msgspec.structs.replace(item, start=span.start, end=span.end)
            for item, span in zip(predictions, spans, strict=True)
        ),
    )


def parse_nif_request(body: bytes) -> NifRequest:
    """Parse the only document of a client's NIF request, with its mentions as labels.

    Another number of documents, and invalid NIF, raise `InputError`.
    """
    read_corpus = get_plugin("formats", "nif", Format).read_corpus
    assert read_corpus is not None
    try:
        corpus = read_corpus(_RequestBody(body, "the request"), True)
    except InputError as problem:  # its remedy may name options of commands
        raise InputError(
            problem.where, actual=problem.actual, expected=problem.expected, remedy="Correct the request"
        ) from None
    documents = list(corpus)
    if len(documents) != 1:
        raise InputError(
            "the request", actual=f"{len(documents)} documents", expected="1", remedy="Send one nif:Context per request"
        )
    kinds = [kind for kind in (OffsetKind.UTF16, OffsetKind.BYTES) if corpus.skipped.get(UNIT_NOTES[kind])]
    return NifRequest(documents[0], *kinds)


def to_nif_response(request: NifRequest, response: Response) -> bytes:
    """Return the text of a request and a system's predictions as NIF, with offsets in the units of the request.

    QIDs become Wikidata IRIs; other ids and types that are no IRIs get the prefix `urn:karat:`. A span outside the
    text raises `ResponseError`.
    """
    document, kind = request
    spans = [
        from_code_points(document.text, kind, prediction.start, prediction.end)
        for prediction in check_response(document, response).predictions
    ]
    predictions = tuple(
        msgspec.structs.replace(
            prediction,
            start=start,
            end=end,
            entity=_to_iri(prediction.entity) if isinstance(prediction.entity, str) else prediction.entity,
            types=tuple(map(_to_type_iri, prediction.types)),
        )
        for (start, end), prediction in zip(spans, response.predictions, strict=True)
    )
    run = Run.from_responses([msgspec.structs.replace(response, id=document.id, predictions=predictions)])
    # GERBIL ignores a context without text.
    return _to_nif(run) + format_statement(document.id, format_text(document.text))


def _read_run(body: _RequestBody) -> Run:
    """Parse the predictions of a NIF body; raise `InputError` if it is invalid."""
    read = get_plugin("formats", "nif", Format).read_run
    assert read is not None
    with collect_defects(ErrorPolicy(offsets=get_error_policy().offsets), body.label):
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
