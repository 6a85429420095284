"""Plain NIF 2.0 in Turtle, as GERBIL reads and writes it: gold or predictions, distinguished by confidences only.

A context is a document, and its IRI the id. The first of several links is the entity, and the others are `same_as`, as
are IRIs that the file declares equal. Types of an entity in the file are added to the types of the annotation. A link
to `rdf:nil` or to a blank node is NIL. Words, sentences and paragraphs are annotations only if they have a link or a
class. Relations and the languages of texts are not read. Predictions are written without texts, which GERBIL provides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO

from karat.formats.parsing.duplicates import drop_duplicate_labels
from karat.formats.parsing.nif import terms as nif
from karat.formats.parsing.nif.plain_nif import NIL, RANK, PlainNif
from karat.formats.parsing.nif.terms import BEGIN, END
from karat.formats.parsing.nif.writer import (
    IriAllocator,
    format_double,
    format_header,
    format_links,
    format_offset,
    format_statement,
    format_text,
)
from karat.formats.parsing.turtle.turtle import format_iri, format_literal
from karat.model.corpus import Corpus
from karat.model.defects import map_valid
from karat.model.document import UNLINKED, Document, Label, Prediction, Response, Tag
from karat.model.errors import InputError
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with texts (`text` is ignored); contexts without text are counted.

    Raise `InputError` if no context has a text.
    """
    file = PlainNif(source)
    texts = {name: content for name in file.contexts if (content := file.get_text(name)) is not None}
    if not texts:
        raise InputError(
            source.label,
            actual="no context with a text",
            expected="nif:isString for each nif:Context",
            remedy="Pass a gold file, or read this one as predictions",
        )
    converted = list(map_valid(texts, lambda name: _to_document(name, texts[name], file)))
    documents = [document for _, document in converted]
    file.skipped["contexts without text"] += len(file.contexts) - len(texts)
    file.skipped["annotations of contexts without text"] += sum(
        len(annotations) for context, annotations in file.annotations.items() if context not in texts
    )
    locations = [f"{source.label}: <{name}>" for name, _ in converted]
    return Corpus.from_reader(documents, name=source.stem, skipped=file.skipped, locate_row=locations.__getitem__)


def _to_document(context: str, text: str, file: PlainNif) -> Document:
    """Build the document of a context with a text; raise a recorded error of the context."""
    file.check_context(context)
    file.skipped[nif.WRONG_LENGTH] += nif.has_wrong_length(file.contexts[context])
    labels = drop_duplicate_labels(_to_labels(context, file), file.skipped)
    return Document(context, text, labels, tags=tuple(file.get_tags(context)), meta=file.get_meta(context))


def _to_labels(context: str, file: PlainNif) -> Iterator[Label]:
    """Yield the labels of a context."""
    for start, end, annotation in file.iterate_annotations(context):
        entity, same_as = file.get_entity(annotation.links)
        yield Label(start, end, entity, same_as=same_as, types=file.get_types(annotation))


def read_run(source: ByteSource) -> Run:
    """Read a system's responses; contexts need no text."""
    file = PlainNif(source)
    converted = list(
        map_valid(dict.fromkeys([*file.contexts, *file.annotations]), lambda name: _to_response(name, file))
    )
    names, responses = [name for name, _ in converted], [response for _, response in converted]
    locations = [f"{source.label}: <{name}>" for name in names]
    texts = [file.get_text(name) for name in names]
    return Run.from_reader(
        responses, name=source.stem, skipped=file.skipped, locate_row=locations.__getitem__, texts=texts
    )


def _to_response(context: str, file: PlainNif) -> Response:
    """Build the response for a context; raise a recorded error of the context."""
    file.check_context(context)
    return Response(context, tuple(_to_predictions(context, file)), tags=tuple(file.get_tags(context)))


def _to_predictions(context: str, file: PlainNif) -> Iterator[Prediction]:
    """Yield the predictions for a context."""
    for start, end, annotation in file.iterate_annotations(context):
        entity, same_as = file.get_entity(annotation.links)
        yield Prediction(start, end, entity, same_as=same_as, types=file.get_types(annotation), score=annotation.score)


def _has_gold(source: ByteSource) -> bool:
    """Return whether the file has texts and no confidences."""
    has_texts = False
    with source.open_stream() as file:
        tail = b""
        while chunk := file.read(1 << 20):
            if b"taConfidence" in tail + chunk:
                return False
            has_texts = has_texts or b"isString" in tail + chunk
            tail = chunk[-len(b"taConfidence") :]
    return has_texts


# --- writing


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write the documents in order, each context before its annotations; document ids must be IRIs."""
    allocator = IriAllocator(corpus.ids.to_pylist())
    file.write(_HEADER)
    for document in corpus:
        file.write(_format_context(document.id, format_text(document.text), document.tags))
        make_iri = allocator.make_allocator(document.id)
        for label in document.labels:
            anchor = f"nif:anchorOf {format_literal(document.text[label.start : label.end])}"
            file.write(_format_annotation(make_iri(label.start, label.end), document.id, label, [anchor]))


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write the responses in order without texts, each context before its annotations; document ids must be IRIs."""
    allocator = IriAllocator(run.ids.to_pylist())
    file.write(_HEADER)
    for response in run:
        file.write(_format_context(response.id, [], response.tags))
        make_iri = allocator.make_allocator(response.id)
        for prediction in response.predictions:
            score = [] if prediction.score is None else [f"itsrdf:taConfidence {format_double(prediction.score)}"]
            file.write(_format_annotation(make_iri(prediction.start, prediction.end), response.id, prediction, score))


_HEADER = format_header("itsrdf", "nif", "rdf", "xsd")


def _format_context(iri: str, predicates: list[str], tags: Sequence[Tag]) -> bytes:
    """Format the statement about a context, with these further predicates, and a topic for each tag."""
    topics = [f"nif:topic [ {' ; '.join(_format_topic(tag))} ]" for tag in tags]
    return format_statement(iri, ["a nif:Context , nif:String , nif:RFC5147String", *predicates, *topics])


def _format_topic(tag: Tag) -> Iterator[str]:
    """Yield the predicates of the topic that represents a tag."""
    yield "a nif:Annotation"
    yield format_links([tag.entity, *tag.same_as])
    if tag.rank is not None:
        yield f"{format_iri(RANK)} {tag.rank}"
    if tag.score is not None:
        yield f"nif:confidence {format_double(tag.score)}"


def _format_annotation(iri: str, context: str, item: Label | Prediction, extra_predicates: list[str]) -> bytes:
    """Format the statement about a label or prediction, with predicates for its span, links, types and more."""
    predicates = ["a nif:Phrase , nif:String , nif:RFC5147String", f"nif:referenceContext {format_iri(context)}"]
    predicates += [format_offset(BEGIN, item.start), format_offset(END, item.end)]
    if item.entity is not UNLINKED:
        predicates.append(format_links([item.entity or NIL, *item.same_as]))
    if item.types:
        predicates.append(f"itsrdf:taClassRef {' , '.join(map(format_iri, item.types))}")
    return format_statement(iri, predicates + extra_predicates)


FORMAT = Format(
    title="NIF",
    suffix=".ttl",
    markers=("nif:Context", "nif:isString", "nif:beginIndex", "itsrdf:taIdentRef"),
    recognises=lambda opening: nif.is_nif(opening) and not nif.is_sentence_nif(opening),
    has_gold=_has_gold,
    prediction_mark="confidences (taConfidence)",
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
    has_iris=True,
    stored_fields=frozenset({"same_as", "types", "score", "tags"}),
    description="NIF 2.0 in Turtle as GERBIL reads and writes it. Files with texts and without confidences are gold.",
    is_kind_ambiguous=True,
)
