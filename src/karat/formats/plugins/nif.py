"""Plain NIF 2.0 in Turtle, as GERBIL reads and writes it: gold or predictions, distinguished by confidences only.

A context is a document, and its IRI the id. The first of several links is the entity, and the others are `same_as`, as
are IRIs that the file declares equal. Types of an entity in the file are added to the types of the annotation. A link
to `rdf:nil` or to a blank node is NIL. Words, sentences and paragraphs are annotations only if they have a link or a
class. An `rdf:Statement` with a context is a relation. The languages of texts are not read. Predictions are written
without texts, which GERBIL provides, and relations are not written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO

import msgspec

from karat.formats.parsing.duplicates import drop_duplicate_labels
from karat.formats.parsing.nif import terms as nif
from karat.formats.parsing.nif.plain_nif import NIL, RANK, NifAnnotation, PlainNif
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
from karat.formats.parsing.offset_units import SurfaceCheck
from karat.formats.parsing.surfaces.run_builder import GoldTexts, check_surfaces
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
    surfaces = SurfaceCheck()
    converted = list(
        map_valid(texts, lambda name: _to_document(name, texts[name], file, surfaces), lambda name: f"<{name}>")
    )
    surfaces.require_matches()
    documents = [document for _, document in converted]
    file.skipped["contexts without text"] += len(file.contexts) - len(texts)
    file.skipped["annotations of contexts without text"] += sum(
        len(annotations) for context, annotations in file.annotations.items() if context not in texts
    )
    file.skipped["relations of contexts without text"] += sum(
        len(relations) for context, relations in file.relations.items() if context not in texts
    )
    locations = [f"{source.label}: <{name}>" for name, _ in converted]
    return Corpus.from_reader(documents, name=source.stem, skipped=file.skipped, locate_row=locations.__getitem__)


def _to_document(context: str, text: str, file: PlainNif, surfaces: SurfaceCheck) -> Document:
    """Build the document of a context with a text; anchors are compared in `surfaces`.

    Raise a recorded error of the context.
    """
    file.check_context(context)
    file.skipped[nif.WRONG_LENGTH] += nif.has_wrong_length(file.contexts[context])
    labels = drop_duplicate_labels(_to_labels(context, text, file, surfaces), file.skipped)
    relations = tuple(msgspec.structs.replace(triple, score=None) for triple in file.get_relations(context))
    tags = tuple(file.get_tags(context))
    return Document(context, text, labels, tags=tags, relations=relations, meta=file.get_meta(context))


def _to_labels(context: str, text: str, file: PlainNif, surfaces: SurfaceCheck) -> Iterator[Label]:
    """Yield the labels of a context with a text; anchors are compared in `surfaces`."""
    for start, end, annotation in file.place_annotations(context, text, surfaces):
        entity, same_as = file.get_entity(annotation.links)
        yield Label(start, end, entity, same_as=same_as, types=file.get_types(annotation))


def read_run(source: ByteSource) -> Run:
    """Read a system's responses; contexts need no text. Anchors that differ from the text are counted."""
    file = PlainNif(source)
    return _build_run(file, lambda name: _to_response(name, file.place_annotations(name, file.get_text(name)), file))


def read_run_with_gold(source: ByteSource, gold: Callable[[], Corpus]) -> Run:
    """Read a system's responses, with their anchors compared with their texts, or else with those that `gold` loads.

    If an anchor differs, the policy decides whether the response is invalid or the span is moved.
    """
    file, texts = PlainNif(source), GoldTexts(gold, source.label)

    def to_checked_response(name: str) -> Response:
        annotations = list(file.iterate_annotations(name))
        response = _to_response(name, annotations, file)
        anchors = [annotation.anchor for _, _, annotation in annotations]
        return check_surfaces(response, anchors, file.get_text(name), texts, f"{source.label}: <{name}>", file.skipped)

    return _build_run(file, to_checked_response)


def _build_run(file: PlainNif, to_response: Callable[[str], Response]) -> Run:
    """Build the run of the responses to all contexts of a file."""
    all_names = dict.fromkeys([*file.contexts, *file.annotations, *file.relations])
    converted = list(map_valid(all_names, to_response, lambda name: f"<{name}>"))
    names, responses = [name for name, _ in converted], [response for _, response in converted]
    locations = [f"{file.source.label}: <{name}>" for name in names]
    texts = [file.get_text(name) for name in names]
    return Run.from_reader(
        responses, name=file.source.stem, skipped=file.skipped, locate_row=locations.__getitem__, texts=texts
    )


def _to_response(context: str, annotations: Iterable[tuple[int, int, NifAnnotation]], file: PlainNif) -> Response:
    """Build the response for a context from its annotations; raise a recorded error of the context."""
    file.check_context(context)
    tags, relations = tuple(file.get_tags(context)), tuple(file.get_relations(context))
    return Response(context, tuple(_to_predictions(annotations, file)), tags=tags, relations=relations)


def _to_predictions(annotations: Iterable[tuple[int, int, NifAnnotation]], file: PlainNif) -> Iterator[Prediction]:
    """Yield a prediction for each annotation with its span."""
    for start, end, annotation in annotations:
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
    read_run_with_gold=read_run_with_gold,
    write_corpus=write_corpus,
    write_run=write_run,
    has_iris=True,
    stored_fields=frozenset({"same_as", "types", "score", "tags"}),
    description="NIF 2.0 in Turtle as GERBIL reads and writes it. Files with texts and without confidences are gold. "
    "Relations (`rdf:Statement`) are read, but not written.",
    is_kind_ambiguous=True,
)
