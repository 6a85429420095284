"""NIF by sentence, as NIFify writes it: sentences and annotations put together to documents."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from io import BytesIO
from typing import IO, NamedTuple

import msgspec

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import pass_over, skipping, sound
from karat.model.document import UNLINKED, Answer, Document, EntityId, Label, Reply
from karat.model.run import Run
from karat.parsing.distinct import labels_once
from karat.parsing.nif import terms as nif
from karat.parsing.nif.categories import category
from karat.parsing.nif.terms import ANCHOR, BEGIN, CLASS, CONFIDENCE, CONTEXT, END, LINK, NIF, TEXT, TYPE
from karat.parsing.turtle.triples import Blank, Values
from karat.parsing.turtle.turtle import local
from karat.spec.format import Bytes

_BROADER = NIF + "broaderContext"
_SOURCE = NIF + "sourceUrl"
_REDUNDANT = frozenset({TYPE, NIF + "context"})  # the sentence knows its document
_SENTENCE = frozenset({TEXT, BEGIN, END, _BROADER})
_DOCUMENT = frozenset({TEXT, BEGIN, END, _SOURCE})
_ANNOTATION = frozenset({CONTEXT, BEGIN, END, ANCHOR, LINK, CLASS, CONFIDENCE})
NOT_IN_LEXICON = "https://en.wikipedia.org/wiki/NotInLexico"
_LINKED = re.compile(rb"taIdentRef>?\s*<[^<>\n]*>")


class _Annotation(msgspec.Struct, frozen=True, gc=False):
    """What is said about a place in a sentence."""

    start: int
    end: int
    anchor: str | None
    score: float | None
    links: tuple[str, ...]
    classes: tuple[str, ...]


class _Sentence(NamedTuple):
    """Where in its document a sentence stands."""

    name: str
    start: int
    text: str


def _literal(file: IO[bytes]) -> IO[bytes]:
    """The file with every backslash in a link written as Turtle writes a backslash."""
    return BytesIO(_LINKED.sub(lambda link: link[0].replace(b"\\", b"\\u005C"), file.read()))


class _File:
    """What a file says, in its order; all of it is known only at its end."""

    def __init__(self, source: Bytes, *, literal: bool) -> None:
        self.documents: dict[str, Values] = {}
        self.sentences: defaultdict[str, list[_Sentence]] = defaultdict(list)
        self.annotations: defaultdict[str, list[_Annotation]] = defaultdict(list)
        self.types: dict[str, tuple[str, ...]] = {}
        self.skipped: Counter[str] = Counter({"prefixes that were not declared": nif.undeclared(source.opening)})
        self._wrong: dict[str, InputError] = {}
        for subject, values in nif.said(source, _REDUNDANT, through=_literal if literal else None):
            try:
                self._take(subject, values, source)
            except InputError as problem:  # the document is refused when it is asked for
                above = values.get(CONTEXT) or values.get(_BROADER)
                if above is None or not skipping():
                    raise
                self._wrong.setdefault(above[0], problem)
        self._placed(source)

    def check(self, document: str) -> None:
        """Raise what was wrong with a sentence of a document, or an annotation in it."""
        for name in (document, *(sentence.name for sentence in self.sentences[document])):
            if name in self._wrong:
                raise self._wrong[name]

    def _take(self, subject: str, values: Values, source: Bytes) -> None:
        if CONTEXT in values:
            self.annotations[values[CONTEXT][0]].append(
                _Annotation(
                    nif.offset(values, BEGIN, subject, source),
                    nif.offset(values, END, subject, source),
                    values[ANCHOR][0] if ANCHOR in values else None,
                    nif.number(values, CONFIDENCE, subject, source),
                    values.get(LINK, ()),
                    values.get(CLASS, ()),
                )
            )
            self._count(values, _ANNOTATION, "annotations")
        elif _BROADER in values:
            sentence = _Sentence(
                subject, nif.offset(values, BEGIN, subject, source), values[TEXT][0] if TEXT in values else ""
            )
            self.sentences[values[_BROADER][0]].append(sentence)
            self._count(values, _SENTENCE, "sentences")
        elif TEXT in values or _SOURCE in values:
            self.skipped["documents given twice (one was kept)"] += subject in self.documents
            self.documents.setdefault(subject, values)
            self._count(values, _DOCUMENT, "documents")
        else:
            self._typed(subject, values)

    def _typed(self, subject: str, values: Values) -> None:
        for predicate, objects in values.items():
            if local(predicate) == "entityType":
                self.types[subject] = tuple(dict.fromkeys((*self.types.get(subject, ()), *map(local, objects))))
            else:
                self.skipped[f"statements with {local(predicate)} about entities"] += len(objects)

    def _count(self, values: Values, known: frozenset[str], what: str) -> None:
        if not known.issuperset(values):
            for predicate in (name for name in values if name not in known):
                self.skipped[f"statements with {local(predicate)} about {what}"] += len(values[predicate])

    def _placed(self, source: Bytes) -> None:
        """Every annotation must belong to a sentence, and every sentence to a document."""
        sentences = {sentence.name for found in self.sentences.values() for sentence in found}
        for lost in (self.annotations.keys() - sentences, self.sentences.keys() - self.documents.keys()):
            for name in sorted(lost):
                problem = InputError(
                    f"{source.label}: <{name}>",
                    found="nothing about a context that others belong to",
                    expected="a statement about every sentence and every document",
                    remedy="Add it, or read the file as plain NIF (format nif)",
                )
                pass_over(problem)

    def places(self, document: str) -> Iterator[tuple[int, int, _Annotation]]:
        """The annotations of a document, each with its span there."""
        for sentence in self.sentences[document]:
            for found in self.annotations[sentence.name]:
                if found.anchor not in (None, sentence.text[found.start : found.end]):
                    self.skipped["anchors that differ from the text"] += 1
                yield sentence.start + found.start, sentence.start + found.end, found


def corpus_of(source: Bytes, *, literal: bool = False) -> Corpus:
    """Gold documents with their texts; escapes in links are decoded unless they are taken as `literal`."""
    file = _File(source, literal=literal)
    made = list(sound(file.documents, lambda name: _document(name, file.documents[name], file)))
    documents, where = [document for _, document in made], [f"{source.label}: <{name}>" for name, _ in made]
    return Corpus.built(documents, name=source.stem, skipped=file.skipped, where=where.__getitem__)


def run_of(source: Bytes, *, literal: bool = False) -> Run:
    """A system's replies; escapes in links are decoded unless they are taken as `literal`."""
    file = _File(source, literal=literal)
    made = list(sound(file.documents, lambda name: _reply(name, file)))
    replies, where = [reply for _, reply in made], [f"{source.label}: <{name}>" for name, _ in made]
    given = [file.documents[name] for name, _ in made]
    texts = [values[TEXT][0] if TEXT in values else None for values in given]
    return Run.built(replies, name=source.stem, skipped=file.skipped, where=where.__getitem__, texts=texts)


def _reply(name: str, file: _File) -> Reply:
    file.check(name)
    return Reply(name, tuple(_answers(file, name)))


def _document(name: str, values: Values, file: _File) -> Document:
    file.check(name)
    sentences = file.sentences[name]
    text = values[TEXT][0] if TEXT in values else _joined(sentences)
    if TEXT in values:
        file.skipped[nif.OTHER_LENGTH] += nif.length_differs(values)
    else:
        file.skipped["texts put together from sentences"] += 1
    file.skipped["sentences that differ from their document"] += sum(
        text[sentence.start : sentence.start + len(sentence.text)] != sentence.text for sentence in sentences
    )
    spans = (f"{sentence.start},{sentence.start + len(sentence.text)}" for sentence in sentences)
    meta = {"sentences": " ".join(spans), "sourceUrl": " ".join(values.get(_SOURCE, ()))}
    labels = labels_once(_labels(file, name), file.skipped)
    return Document(name, text, labels, meta={key: value for key, value in meta.items() if value})


def _joined(sentences: Iterable[_Sentence]) -> str:
    """The sentences at their places, with blanks between them."""
    text = ""
    for sentence in sorted(sentences, key=lambda sentence: sentence.start):
        text = text[: sentence.start].ljust(sentence.start) + sentence.text
    return text


def _labels(file: _File, document: str) -> Iterator[Label]:
    places = list(file.places(document))
    alternatives = Counter((start, end) for start, end, _ in places)
    for start, end, found in places:
        entity, same_as, types = _linked(file, found)
        unit = f"{start}-{end}" if alternatives[start, end] > 1 else None
        categories = _divided(found.classes)[0]
        yield Label(start, end, entity, same_as=same_as, types=types, categories=categories, unit=unit)


def _answers(file: _File, document: str) -> Iterator[Answer]:
    for start, end, found in file.places(document):
        entity, same_as, types = _linked(file, found)
        categories = _divided(found.classes)[0]
        yield Answer(start, end, entity, same_as=same_as, types=types, categories=categories, score=found.score)


def _linked(file: _File, found: _Annotation) -> tuple[EntityId, tuple[str, ...], tuple[str, ...]]:
    """The entity, what else it is called, and its types."""
    types = _divided(found.classes)[1]
    for link in found.links:
        types += file.types.get(link, ())
    named = [link for link in found.links if type(link) is not Blank and link != NOT_IN_LEXICON]
    if named:
        return named[0], tuple(named[1:]), types
    return None if found.links else UNLINKED, (), types


@lru_cache(maxsize=10_000)
def _divided(classes: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The categories among some classes, and the other classes."""
    return tuple(filter(None, map(category, classes))), tuple(name for name in classes if category(name) is None)


def holds_gold(source: Bytes) -> bool:
    """Whether there are texts, and annotations have classes or documents texts, which answers have not."""
    opening = source.opening
    return b"isString" in opening and (b"taClassRef" in opening or b"isString" in opening.partition(b"sourceUrl")[0])
