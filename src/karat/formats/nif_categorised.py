"""NIF of the fine-grained paper (Rosales-Méndez et al. 2019), as NIFify writes it: gold and answers.

Annotations belong to sentences, whose offsets they count, and sentences to documents: a document is one of Karat's,
under the address as written, and offsets become those of the document. The sentences are listed in `meta`. Several
annotations of one place are alternatives. Tags in any of the three vocabularies become categories, named after the
paper's dimensions and the tags of its files; other classes are types, as are the words for an entity's type, which
lose their prefix. A link to no address, or to `NotInLexico`, is NIL.

Written are the sentences that `meta` lists, or the whole text as one where it lists none or a mention is in none of
them; categories in the published vocabulary (`fel:`), types as classes. Answers are written without texts, in one
sentence each document. What would be read as something else is refused.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import IO

from karat.errors import UsageError
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Answer, Document, Label
from karat.model.run import Run
from karat.model.scheme import NODES, spelt
from karat.parsing.nif import terms as nif
from karat.parsing.nif.categories import category
from karat.parsing.nif.sentences import NOT_IN_LEXICON, corpus_of, holds_gold, run_of
from karat.parsing.nif.terms import BEGIN, END
from karat.parsing.nif.writing import Addresses, double, header, links, offset, statement
from karat.parsing.turtle.turtle import iri, literal
from karat.spec.format import Format

_HEADER = b"".join(
    [
        header("fel", "itsrdf", "nif", "xsd"),
        # The beginning of a file tells what it is, even where that ends inside a long text.
        b"# nif:broaderContext of a sentence, and nif:context of a phrase, is the document.\n",
    ]
)
_CONTEXT = "a nif:String , nif:Context , nif:RFC5147String"
_LISTED = re.compile(r"\d{1,18},\d{1,18}(?: \d{1,18},\d{1,18})*", re.ASCII)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """The documents in order, each before its sentences, and each of these before its annotations."""
    addresses = _Sentences(corpus.ids.to_pylist())
    file.write(_HEADER)
    for document in corpus:
        _check_places(document)
        text, source = document.text, document.meta.get("sourceUrl")
        sources = [f"nif:sourceUrl {iri(each)}" for each in source.split(" ")] if source else []
        file.write(statement(document.id, [_CONTEXT, *_text(text, 0, len(text)), *sources]))
        spans = _spans(document)
        starts = [start for start, _ in spans]
        inside: list[list[Label]] = [[] for _ in spans]
        for label in document.labels:
            inside[bisect_right(starts, label.start) - 1].append(label)
        base = addresses.base(document.id)
        for number, ((start, end), labels) in enumerate(zip(spans, inside, strict=True)):
            name = addresses.of(base, number, f"{start},{end}")
            file.write(statement(name, [_CONTEXT, *_text(text, start, end), _broader(document.id)]))
            address = addresses.phrases.of(f"{base}_sentence{number}")
            for label in labels:
                own = label.start - start, label.end - start
                anchor = f"nif:anchorOf {literal(text[label.start : label.end])}"
                said = [*_phrase(name, document.id, *own), anchor, *_said(document.id, label)]
                file.write(statement(address(*own), said))


def write_run(run: Run, file: IO[bytes]) -> None:
    """The replies in order; how long the texts are is not known."""
    addresses = _Sentences(run.ids.to_pylist())
    file.write(_HEADER)
    for reply in run:
        file.write(statement(reply.id, [_CONTEXT, f"nif:sourceUrl {iri(reply.id.partition('#')[0])}"]))
        base = addresses.base(reply.id)
        name = addresses.of(base, 0, "0")
        address = addresses.phrases.of(f"{base}_sentence0")
        if reply.answers:
            file.write(statement(name, [_CONTEXT, offset(BEGIN, 0), _broader(reply.id)]))
        for answer in reply.answers:
            score = [] if answer.score is None else [f"itsrdf:taConfidence {double(answer.score)}"]
            said = [*_phrase(name, reply.id, answer.start, answer.end), *_said(reply.id, answer), *score]
            file.write(statement(address(answer.start, answer.end), said))


class _Sentences:
    """Addresses of sentences, which nothing else has, and of the phrases in them."""

    def __init__(self, documents: list[str]) -> None:
        self._documents = frozenset(documents)
        self._bases: set[str] = set()
        self.phrases = Addresses(documents)

    def base(self, document: str) -> str:
        """What the addresses of a document's sentences begin with; no other document's do."""
        base = document.partition("#")[0]
        if base in self._bases:
            base = document
        while base in self._bases:
            base += ";"
        self._bases.add(base)
        return base

    def of(self, base: str, number: int, place: str) -> str:
        """The address of a sentence."""
        address = f"{base}_sentence{number}#{place}"
        while address in self._documents:
            address += ";"
        return address


def _spans(document: Document) -> list[tuple[int, int]]:
    """The sentences that a document lists, if they follow each other and hold all labels; else the whole text."""
    whole = [(0, len(document.text))]
    listed = document.meta.get("sentences", "")
    if not _LISTED.fullmatch(listed):
        return whole
    numbers = [int(number) for span in listed.split() for number in span.split(",")]
    spans = list(zip(numbers[::2], numbers[1::2], strict=True))
    starts = [start for start, _ in spans]
    if numbers != sorted(numbers) or numbers[-1] > len(document.text) or len(set(starts)) < len(starts):
        return whole
    places = [bisect_right(starts, label.start) - 1 for label in document.labels]
    held = all(
        place >= 0 and label.end <= spans[place][1] for place, label in zip(places, document.labels, strict=True)
    )
    return spans if held else whole


def _text(text: str, start: int, end: int) -> list[str]:
    return [offset(BEGIN, start), offset(END, end), f"nif:isString {literal(text[start:end])}"]


def _broader(document: str) -> str:
    return f"nif:broaderContext {iri(document)}"


def _phrase(sentence: str, document: str, start: int, end: int) -> list[str]:
    return [
        "a nif:Phrase , nif:String , nif:RFC5147String",
        f"nif:referenceContext {iri(sentence)}",
        f"nif:context {iri(document)}",
        offset(BEGIN, start),
        offset(END, end),
    ]


def _said(document: str, item: Label | Answer) -> Iterator[str]:
    """The link and the classes of a mention."""
    if not isinstance(item.entity, str) and item.same_as:
        raise _refused(document, f"ids for a mention without entity ({item.same_as[0]!r})")
    if NOT_IN_LEXICON in (item.entity, *item.same_as):
        raise _refused(document, f"the entity {NOT_IN_LEXICON}, which stands for NIL")
    if item.entity is not UNLINKED:
        yield links([NOT_IN_LEXICON if item.entity is None else item.entity, *item.same_as])
    for name in item.categories:
        if name not in NODES:
            raise _refused(document, f"the category {name!r}, which is none of the fine-grained paper's")
    for name in item.types:
        if category(name) is not None:
            raise _refused(document, f"the type {name!r}, which is the name of a category")
    classes = [*(f"fel:{spelt(name)}" for name in item.categories), *map(iri, item.types)]
    if classes:
        yield f"itsrdf:taClassRef {' , '.join(classes)}"


def _check_places(document: Document) -> None:
    """Refuse mentions that would be read as alternatives of one, and alternatives that would be read as mentions."""
    units: dict[tuple[int, int], str | None] = {}
    places: dict[str, tuple[int, int]] = {}
    for label in document.labels:
        place = (label.start, label.end)
        if place in units and (label.unit is None or units[place] != label.unit):
            raise _refused(document.id, f"two mentions at [{label.start}, {label.end}), not alternatives of one")
        if label.unit is not None and places.setdefault(label.unit, place) != place:
            raise _refused(document.id, f"alternatives of one mention at two places (unit {label.unit!r})")
        units[place] = label.unit


def _refused(document: str, what: str) -> UsageError:
    return UsageError(f"document {document!r} has {what}: NIF with categories cannot hold it. Choose another format.")


FORMAT = Format(
    title="NIF with categories",
    suffix=".categorised.ttl",
    recognises=lambda opening: nif.is_nif(opening) and nif.by_sentence(opening),
    holds_gold=holds_gold,
    read_corpus=lambda source, text: corpus_of(source),
    read_run=run_of,
    write_corpus=write_corpus,
    write_run=write_run,
    iris=True,
    holds=frozenset({"same_as", "types", "categories", "score", "unit", "meta.sentences", "meta.sourceUrl"}),
    says="NIF 2.0 Turtle by sentence, with the categories of the fine-grained paper.",
)
