"""Plain NIF 2.0 in Turtle, as GERBIL reads and writes it: gold or answers, which only confidences tell apart.

A context is a document, and its address as written the id. Of several links the first is the entity and the others
are `same_as`, as are addresses that the file itself says to be the same; what the file says about the type of an
entity is added to the types of the annotation. A link to `rdf:nil`, or to a node without address, is NIL. Words,
sentences and paragraphs are annotations only if they have a link or a class. Relations, and the languages of texts,
are not read. Answers are written without texts, which GERBIL asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import sound
from karat.model.document import UNLINKED, Answer, Document, Label, Reply, Tag
from karat.model.run import Run
from karat.parsing.distinct import labels_once
from karat.parsing.nif import terms as nif
from karat.parsing.nif.plain import NIL, RANK, PlainNif
from karat.parsing.nif.terms import BEGIN, END
from karat.parsing.nif.writing import Addresses, double, header, links, offset, statement
from karat.parsing.turtle.turtle import iri, literal
from karat.spec.format import Bytes, Format


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    file = PlainNif(source)
    texts = {name: found for name in file.contexts if (found := file.text(name)) is not None}
    if not texts:
        raise InputError(
            source.label,
            found="no context with a text",
            expected="nif:isString for every nif:Context",
            remedy="Give a gold file, or read this one as answers",
        )
    made = list(sound(texts, lambda name: _document(name, texts[name], file)))
    documents = [document for _, document in made]
    file.skipped["contexts without text"] += len(file.contexts) - len(texts)
    file.skipped["annotations of contexts without text"] += sum(
        len(places) for context, places in file.places.items() if context not in texts
    )
    where = [f"{source.label}: <{name}>" for name, _ in made]
    return Corpus.built(documents, name=source.stem, skipped=file.skipped, where=where.__getitem__)


def _document(name: str, text: str, file: PlainNif) -> Document:
    file.check(name)
    file.skipped[nif.OTHER_LENGTH] += nif.length_differs(file.contexts[name])
    labels = labels_once(_labels(name, file), file.skipped)
    return Document(name, text, labels, tags=tuple(file.tags(name)), meta=file.meta(name))


def _labels(context: str, file: PlainNif) -> Iterator[Label]:
    for start, end, place in file.marked(context):
        entity, same_as = file.linked(place.links)
        yield Label(start, end, entity, same_as=same_as, types=file.types(place))


def read_run(source: Bytes) -> Run:
    """A system's replies; contexts need no text."""
    file = PlainNif(source)
    made = list(sound(dict.fromkeys([*file.contexts, *file.places]), lambda name: _reply(name, file)))
    names, replies = [name for name, _ in made], [reply for _, reply in made]
    where = [f"{source.label}: <{name}>" for name in names]
    texts = [file.text(name) for name in names]
    return Run.built(replies, name=source.stem, skipped=file.skipped, where=where.__getitem__, texts=texts)


def _reply(name: str, file: PlainNif) -> Reply:
    file.check(name)
    return Reply(name, tuple(_answers(name, file)), tags=tuple(file.tags(name)))


def _answers(context: str, file: PlainNif) -> Iterator[Answer]:
    for start, end, place in file.marked(context):
        entity, same_as = file.linked(place.links)
        yield Answer(start, end, entity, same_as=same_as, types=file.types(place), score=place.score)


def _holds_gold(source: Bytes) -> bool:
    """Whether there are texts and no confidences."""
    texts = False
    with source.stream() as file:
        tail = b""
        while chunk := file.read(1 << 20):
            if b"taConfidence" in tail + chunk:
                return False
            texts = texts or b"isString" in tail + chunk
            tail = chunk[-len(b"taConfidence") :]
    return texts


# --- writing


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """The documents in order, each context before its annotations."""
    addresses = Addresses(corpus.ids.to_pylist())
    file.write(_HEADER)
    for document in corpus:
        text = [offset(BEGIN, 0), offset(END, len(document.text)), f"nif:isString {literal(document.text)}"]
        file.write(_context(document.id, text, document.tags))
        address = addresses.of(document.id)
        for label in document.labels:
            anchor = f"nif:anchorOf {literal(document.text[label.start : label.end])}"
            file.write(_annotation(address(label.start, label.end), document.id, label, [anchor]))


def write_run(run: Run, file: IO[bytes]) -> None:
    """The replies in order, each context before its annotations."""
    addresses = Addresses(run.ids.to_pylist())
    file.write(_HEADER)
    for reply in run:
        file.write(_context(reply.id, [], reply.tags))
        address = addresses.of(reply.id)
        for answer in reply.answers:
            score = [] if answer.score is None else [f"itsrdf:taConfidence {double(answer.score)}"]
            file.write(_annotation(address(answer.start, answer.end), reply.id, answer, score))


_HEADER = header("itsrdf", "nif", "rdf", "xsd")


def _context(name: str, said: list[str], tags: Sequence[Tag]) -> bytes:
    topics = [f"nif:topic [ {' ; '.join(_topic(tag))} ]" for tag in tags]
    return statement(name, ["a nif:Context , nif:String , nif:RFC5147String", *said, *topics])


def _topic(tag: Tag) -> Iterator[str]:
    yield "a nif:Annotation"
    yield links([tag.entity, *tag.same_as])
    if tag.rank is not None:
        yield f"{iri(RANK)} {tag.rank}"
    if tag.score is not None:
        yield f"nif:confidence {double(tag.score)}"


def _annotation(address: str, context: str, item: Label | Answer, more: list[str]) -> bytes:
    said = ["a nif:Phrase , nif:String , nif:RFC5147String", f"nif:referenceContext {iri(context)}"]
    said += [offset(BEGIN, item.start), offset(END, item.end)]
    if item.entity is not UNLINKED:
        said.append(links([item.entity or NIL, *item.same_as]))
    if item.types:
        said.append(f"itsrdf:taClassRef {' , '.join(map(iri, item.types))}")
    return statement(address, said + more)


FORMAT = Format(
    title="NIF",
    suffix=".ttl",
    signs=("nif:Context", "nif:isString", "nif:beginIndex", "itsrdf:taIdentRef"),
    recognises=lambda opening: nif.is_nif(opening) and not nif.by_sentence(opening),
    holds_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
    iris=True,
    holds=frozenset({"same_as", "types", "score", "tags"}),
    says="NIF 2.0 in Turtle as GERBIL reads and writes it. Which files hold gold is told by confidences only.",
    either=True,
)
