"""NIF by sentence, as NIFify writes it: sentences and annotations joined to documents."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from io import BytesIO
from typing import IO, NamedTuple

import msgspec

from karat.formats.parsing.duplicates import drop_duplicate_labels
from karat.formats.parsing.nif import terms as nif
from karat.formats.parsing.nif.categories import parse_category
from karat.formats.parsing.nif.terms import ANCHOR, BEGIN, CLASS, CONFIDENCE, CONTEXT, END, LINK, NIF, TEXT, TYPE
from karat.formats.parsing.offset_units import RawSpan, SurfaceCheck, place_surfaces
from karat.formats.parsing.surfaces.run_builder import GoldTexts, check_surfaces
from karat.formats.parsing.turtle.triples import BlankNodeId, Values
from karat.formats.parsing.turtle.turtle import get_local_name
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import is_skipping, map_valid, skip_or_raise
from karat.model.document import UNLINKED, Document, EntityId, Label, Prediction, Response
from karat.model.errors import InputError
from karat.model.run import Run
from karat.model.spec.format import ByteSource

_BROADER_CONTEXT = NIF + "broaderContext"
_SOURCE_URL = NIF + "sourceUrl"
_REDUNDANT = frozenset({TYPE, NIF + "context"})  # the sentence names its document
_SENTENCE_PREDICATES = frozenset({TEXT, BEGIN, END, _BROADER_CONTEXT})
_DOCUMENT_PREDICATES = frozenset({TEXT, BEGIN, END, _SOURCE_URL})
_ANNOTATION_PREDICATES = frozenset({CONTEXT, BEGIN, END, ANCHOR, LINK, CLASS, CONFIDENCE})
NOT_IN_LEXICON = "https://en.wikipedia.org/wiki/NotInLexico"
_MANY_SENTENCES = 20  # in a single document, which may be a collection of texts
_SINGLE_DOCUMENT = "sentences of a single document, as the file states (nothing can be averaged over documents)"
_LINK = re.compile(rb"taIdentRef>?\s*<[^<>\n]*>")


class _Annotation(msgspec.Struct, frozen=True, gc=False):
    """An annotation of a sentence, with offsets from the beginning of the sentence."""

    start: int
    end: int
    anchor: str | None
    score: float | None
    links: tuple[str, ...]
    classes: tuple[str, ...]


class _Sentence(NamedTuple):
    """A sentence, with its IRI and its start offset in the document."""

    name: str
    start: int
    text: str


def _escape_links(file: IO[bytes]) -> IO[bytes]:
    """Return the file with each backslash in a link IRI escaped, so that Turtle reads the backslash literally."""
    return BytesIO(_LINK.sub(lambda link: link[0].replace(b"\\", b"\\u005C"), file.read()))


class _SentenceNif:
    """The contents of a NIF file by sentence, read on creation; if `is_literal`, a backslash in a link is no escape."""

    def __init__(self, source: ByteSource, *, is_literal: bool) -> None:
        self.source = source
        self.documents: dict[str, Values] = {}
        self.sentences: defaultdict[str, list[_Sentence]] = defaultdict(list)
        self.annotations: defaultdict[str, list[_Annotation]] = defaultdict(list)
        self.types: dict[str, tuple[str, ...]] = {}
        self.skipped = SkipCounter(
            {"prefixes that were not declared": nif.count_undeclared_prefixes(source.first_bytes)}
        )
        self._problems: dict[str, InputError] = {}
        for subject, values in nif.read_nif_resources(
            source, _REDUNDANT, transform=_escape_links if is_literal else None
        ):
            try:
                self._add_resource(subject, values, source)
            except InputError as problem:  # raised when the document is read
                context = values.get(CONTEXT) or values.get(_BROADER_CONTEXT)
                if context is None or not is_skipping():
                    raise
                self._problems.setdefault(context[0], problem)
        self._check_contexts(source)

    def check_document(self, document: str) -> None:
        """Raise the recorded error of an invalid sentence or annotation of the document with IRI `document`, if any."""
        for name in (document, *(sentence.name for sentence in self.sentences[document])):
            if name in self._problems:
                raise self._problems[name]

    def _add_resource(self, subject: str, values: Values, source: ByteSource) -> None:
        """Add the resource `subject` as an annotation, sentence, document or entity with types, by its predicates.

        `values` has the objects of the statements about `subject`, by predicate.
        """
        if CONTEXT in values:
            self.annotations[values[CONTEXT][0]].append(
                _Annotation(
                    nif.get_offset(values, BEGIN, subject, source),
                    nif.get_offset(values, END, subject, source),
                    values[ANCHOR][0] if ANCHOR in values else None,
                    nif.get_number(values, CONFIDENCE, subject, source),
                    values.get(LINK, ()),
                    values.get(CLASS, ()),
                )
            )
            nif.count_unknown(values, _ANNOTATION_PREDICATES, "annotations", self.skipped)
        elif _BROADER_CONTEXT in values:
            sentence = _Sentence(
                subject, nif.get_offset(values, BEGIN, subject, source), values[TEXT][0] if TEXT in values else ""
            )
            self.sentences[values[_BROADER_CONTEXT][0]].append(sentence)
            nif.count_unknown(values, _SENTENCE_PREDICATES, "sentences", self.skipped)
        elif TEXT in values or _SOURCE_URL in values:
            self.skipped["duplicate documents (dropped)"] += subject in self.documents
            self.documents.setdefault(subject, values)
            nif.count_unknown(values, _DOCUMENT_PREDICATES, "documents", self.skipped)
        else:
            self._add_types(subject, values)

    def _add_types(self, subject: str, values: Values) -> None:
        """Add the types that the statements about the entity `subject` name; count its other statements in `skipped`.

        `values` has the objects of the statements about `subject`, by predicate.
        """
        for predicate, objects in values.items():
            if get_local_name(predicate) == "entityType":
                self.types[subject] = tuple(
                    dict.fromkeys((*self.types.get(subject, ()), *map(get_local_name, objects)))
                )
            else:
                self.skipped[f"statements with {get_local_name(predicate)} about entities"] += len(objects)

    def _check_contexts(self, source: ByteSource) -> None:
        """Check that annotations belong to known sentences and sentences to known documents; skip or raise errors."""
        sentences = {sentence.name for members in self.sentences.values() for sentence in members}
        for missing in (self.annotations.keys() - sentences, self.sentences.keys() - self.documents.keys()):
            for name in sorted(missing):
                problem = InputError(
                    f"{source.label}: <{name}>",
                    actual="no statement about a context that annotations or sentences refer to",
                    expected="a statement about each sentence and each document",
                    remedy="Add the statement, or read the file as plain NIF (format nif)",
                )
                skip_or_raise(problem)

    def iterate_annotations(self, document: str) -> Iterator[tuple[int, int, _Annotation]]:
        """Yield start, end and annotation for each annotation of the document with IRI `document`.

        Start and end count from the start of the document.
        """
        for sentence in self.sentences[document]:
            for annotation in self.annotations[sentence.name]:
                yield sentence.start + annotation.start, sentence.start + annotation.end, annotation

    def place_annotations(
        self, document: str, surfaces: SurfaceCheck | None = None
    ) -> Iterator[tuple[int, int, _Annotation]]:
        """Yield what `iterate_annotations` yields, with anchors (`nif:anchorOf`) compared with their sentence.

        Differing anchors are counted, also in `surfaces`, or their spans are moved if the policy realigns spans.
        """
        for sentence in self.sentences[document]:
            annotations = self.annotations[sentence.name]
            location = f"{self.source.label}: <{sentence.name}>"
            spans = [RawSpan(mark.start, mark.end, mark.anchor, location) for mark in annotations]
            offsets = [(span.start, span.end) for span in spans]
            if sentence.text:
                offsets = place_surfaces(sentence.text, offsets, spans, self.skipped, surfaces, note=nif.WRONG_ANCHOR)
            for (start, end), annotation in zip(offsets, annotations, strict=True):
                yield sentence.start + start, sentence.start + end, annotation


def read_corpus(source: ByteSource, *, is_literal: bool = False) -> Corpus:
    """Read the gold documents; backslash escapes in links are decoded unless `is_literal`.

    If the file has a single document of many sentences, such as all of KORE 50, these are counted in `Corpus.skipped`.
    """
    file = _SentenceNif(source, is_literal=is_literal)
    surfaces = SurfaceCheck()
    converted = list(
        map_valid(
            file.documents,
            lambda name: _to_document(name, file.documents[name], file, surfaces),
            lambda name: f"<{name}>",
        )
    )
    surfaces.require_matches()
    if len(file.documents) == 1:
        n_sentences = sum(map(len, file.sentences.values()))
        file.skipped[_SINGLE_DOCUMENT] += n_sentences if n_sentences >= _MANY_SENTENCES else 0
    documents, locations = (
        [document for _, document in converted],
        [f"{source.label}: <{name}>" for name, _ in converted],
    )
    return Corpus.from_reader(documents, name=source.stem, skipped=file.skipped, locate_row=locations.__getitem__)


def read_run(source: ByteSource, *, is_literal: bool = False) -> Run:
    """Read a system's responses; backslash escapes in links are decoded unless `is_literal`.

    Anchors that differ from the text of their sentence are counted. If the file is a gold standard, its labels are the
    predictions.
    """
    if _has_labels(source):
        return Run.from_gold(read_corpus(source, is_literal=is_literal), name=source.stem)
    file = _SentenceNif(source, is_literal=is_literal)
    return _build_run(file, lambda name: _to_response(name, file.place_annotations(name), file))


def read_run_with_gold(source: ByteSource, gold: Callable[[], Corpus], *, is_literal: bool = False) -> Run:
    """Read a system's responses, with their anchors compared with their texts, or else with those that `gold` loads.

    If an anchor differs, the policy decides whether the response is invalid or the span is moved. Backslash escapes in
    links are decoded unless `is_literal`. If the file is a gold standard, its labels are the predictions.
    """
    if _has_labels(source):
        return read_run(source, is_literal=is_literal)
    file, texts = _SentenceNif(source, is_literal=is_literal), GoldTexts(gold, source.label)

    def to_checked_response(name: str) -> Response:
        annotations = list(file.iterate_annotations(name))
        response = _to_response(name, annotations, file)
        anchors = [annotation.anchor for _, _, annotation in annotations]
        text = next(iter(file.documents[name].get(TEXT, ())), None)
        return check_surfaces(response, anchors, text, texts, f"{source.label}: <{name}>", file.skipped)

    return _build_run(file, to_checked_response)


def _build_run(file: _SentenceNif, to_response: Callable[[str], Response]) -> Run:
    """Build the run of the responses to all documents of a file."""
    converted = list(map_valid(file.documents, to_response, lambda name: f"<{name}>"))
    responses, locations = (
        [response for _, response in converted],
        [f"{file.source.label}: <{name}>" for name, _ in converted],
    )
    contexts = [file.documents[name] for name, _ in converted]
    texts = [values[TEXT][0] if TEXT in values else None for values in contexts]
    return Run.from_reader(
        responses, name=file.source.stem, skipped=file.skipped, locate_row=locations.__getitem__, texts=texts
    )


def _to_response(doc_id: str, annotations: Iterable[tuple[int, int, _Annotation]], file: _SentenceNif) -> Response:
    """Build the response for a document from its annotations; raise a recorded error of the document."""
    file.check_document(doc_id)
    return Response(doc_id, tuple(_to_predictions(annotations, file)))


def _to_document(doc_id: str, values: Values, file: _SentenceNif, surfaces: SurfaceCheck) -> Document:
    """Build a document from its own text, or else from its sentences; anchors are compared in `surfaces`.

    Raise a recorded error of the document.
    """
    file.check_document(doc_id)
    sentences = file.sentences[doc_id]
    text = values[TEXT][0] if TEXT in values else _join_sentences(sentences)
    if TEXT in values:
        file.skipped[nif.WRONG_LENGTH] += nif.has_wrong_length(values)
    else:
        file.skipped["texts joined from sentences"] += 1
    file.skipped["sentences that differ from their document"] += sum(
        text[sentence.start : sentence.start + len(sentence.text)] != sentence.text for sentence in sentences
    )
    spans = (f"{sentence.start},{sentence.start + len(sentence.text)}" for sentence in sentences)
    meta = {"sentences": " ".join(spans), "sourceUrl": " ".join(values.get(_SOURCE_URL, ()))}
    labels = drop_duplicate_labels(_to_labels(file, doc_id, surfaces), file.skipped)
    return Document(doc_id, text, labels, meta={key: value for key, value in meta.items() if value})


def _join_sentences(sentences: Iterable[_Sentence]) -> str:
    """Build a text with the sentences at their offsets and spaces between them."""
    text = ""
    for sentence in sorted(sentences, key=lambda sentence: sentence.start):
        text = text[: sentence.start].ljust(sentence.start) + sentence.text
    return text


def _to_labels(file: _SentenceNif, document: str, surfaces: SurfaceCheck) -> Iterator[Label]:
    """Yield the labels of a document; labels of the same span are alternatives with one `mention_id`.

    Anchors are compared in `surfaces`.
    """
    annotations = list(file.place_annotations(document, surfaces))
    alternatives = Counter((start, end) for start, end, _ in annotations)
    for start, end, annotation in annotations:
        entity, same_as, types = _get_entity(file, annotation)
        mention_id = f"{start}-{end}" if alternatives[start, end] > 1 else None
        categories = _split_classes(annotation.classes)[0]
        yield Label(start, end, entity, same_as=same_as, types=types, categories=categories, mention_id=mention_id)


def _to_predictions(annotations: Iterable[tuple[int, int, _Annotation]], file: _SentenceNif) -> Iterator[Prediction]:
    """Yield a prediction for each annotation with its span."""
    for start, end, annotation in annotations:
        entity, same_as, types = _get_entity(file, annotation)
        categories = _split_classes(annotation.classes)[0]
        yield Prediction(
            start, end, entity, same_as=same_as, types=types, categories=categories, score=annotation.score
        )


def _get_entity(file: _SentenceNif, annotation: _Annotation) -> tuple[EntityId, tuple[str, ...], tuple[str, ...]]:
    """Return the entity of an annotation, its other ids, and its types.

    The entity is None (NIL) if all links are blank nodes or "not in lexicon", and `UNLINKED` if there is no link.
    """
    types = _split_classes(annotation.classes)[1]
    for link in annotation.links:
        types += file.types.get(link, ())
    entity_ids = [link for link in annotation.links if type(link) is not BlankNodeId and link != NOT_IN_LEXICON]
    if entity_ids:
        return entity_ids[0], tuple(entity_ids[1:]), types
    return None if annotation.links else UNLINKED, (), types


@lru_cache(maxsize=10_000)
def _split_classes(classes: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the classes of an annotation into categories of the fine-grained scheme, as `dimension:tag`, and others."""
    return tuple(filter(None, map(parse_category, classes))), tuple(
        name for name in classes if parse_category(name) is None
    )


def _has_labels(source: ByteSource) -> bool:
    """Return whether the first bytes have texts and classes of annotations, which predictions lack."""
    return b"isString" in source.first_bytes and b"taClassRef" in source.first_bytes


def has_gold(source: ByteSource) -> bool:
    """Return whether the first bytes have texts, and classes of annotations or a text before the first source URL.

    Predictions lack the latter two.
    """
    opening = source.first_bytes
    return b"isString" in opening and (b"taClassRef" in opening or b"isString" in opening.partition(b"sourceUrl")[0])
