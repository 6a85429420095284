"""NIF of the fine-grained paper (Rosales-Méndez et al. 2019), as NIFify writes it: gold and predictions.

Annotations belong to sentences, whose offsets they count, and sentences to documents. A document keeps its IRI as id,
and offsets are converted to those of the document. The sentences are listed in `meta`. Several annotations of one span
are alternatives. Tags in any of the three vocabularies become categories, named after the paper's dimensions and the
tags of its files. Other classes are types, as are the names of an entity's type, which lose their prefix. A link to a
blank node or to `NotInLexico` is NIL.

The writer writes the sentences that `meta` lists, or the whole text as one sentence if it lists none or a mention is
outside them. Categories are in the published vocabulary (`fel:`), types are classes. Predictions are written without
texts, in one sentence per document. Values that would be read differently raise `UsageError`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import IO

from karat.formats.parsing.nif import terms as nif
from karat.formats.parsing.nif.categories import parse_category
from karat.formats.parsing.nif.sentences import NOT_IN_LEXICON, has_gold, read_corpus, read_run, read_run_with_gold
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
from karat.model.document import UNLINKED, Document, Label, Prediction
from karat.model.errors import UsageError
from karat.model.finegrained_scheme import NODES, spell_category
from karat.model.run import Run
from karat.model.spec.format import Format, Sample

_HEADER = b"".join(
    [
        format_header("fel", "itsrdf", "nif", "xsd"),
        # The first bytes identify the format, even if they end inside a long text.
        b"# nif:broaderContext of a sentence, and nif:context of a phrase, is the document.\n",
    ]
)
_CONTEXT = "a nif:String , nif:Context , nif:RFC5147String"
_SENTENCE_LIST = re.compile(r"\d{1,18},\d{1,18}(?: \d{1,18},\d{1,18})*", re.ASCII)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write the documents in order, each before its sentences, and each sentence before its annotations.

    Raise `UsageError` for values that would be read differently.
    """
    iris = _SentenceIris(corpus.ids.to_pylist())
    file.write(_HEADER)
    for document in corpus:
        _check_mentions(document)
        text, source = document.text, document.meta.get("sourceUrl")
        sources = [f"nif:sourceUrl {format_iri(url)}" for url in source.split(" ")] if source else []
        file.write(format_statement(document.id, [_CONTEXT, *format_text(text), *sources]))
        spans = _get_sentence_spans(document)
        starts = [start for start, _ in spans]
        labels_by_sentence: list[list[Label]] = [[] for _ in spans]
        for label in document.labels:
            labels_by_sentence[bisect_right(starts, label.start) - 1].append(label)
        base = iris.reserve_base(document.id)
        for number, ((start, end), labels) in enumerate(zip(spans, labels_by_sentence, strict=True)):
            name = iris.make_sentence_iri(base, number, f"{start},{end}")
            file.write(
                format_statement(name, [_CONTEXT, *format_text(text, start, end), _format_broader_context(document.id)])
            )
            make_iri = iris.phrases.make_allocator(f"{base}_sentence{number}")
            for label in labels:
                span = label.start - start, label.end - start
                anchor = f"nif:anchorOf {format_literal(text[label.start : label.end])}"
                predicates = [
                    *_format_phrase(name, document.id, *span),
                    anchor,
                    *_format_links_and_classes(document.id, label),
                ]
                file.write(format_statement(make_iri(*span), predicates))


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write the responses in order without texts, each in one sentence without an end, since lengths are unknown.

    Raise `UsageError` for values that would be read differently.
    """
    iris = _SentenceIris(run.ids.to_pylist())
    file.write(_HEADER)
    for response in run:
        file.write(
            format_statement(response.id, [_CONTEXT, f"nif:sourceUrl {format_iri(response.id.partition('#')[0])}"])
        )
        base = iris.reserve_base(response.id)
        name = iris.make_sentence_iri(base, 0, "0")
        make_iri = iris.phrases.make_allocator(f"{base}_sentence0")
        if response.predictions:
            file.write(
                format_statement(name, [_CONTEXT, format_offset(BEGIN, 0), _format_broader_context(response.id)])
            )
        for prediction in response.predictions:
            score = [] if prediction.score is None else [f"itsrdf:taConfidence {format_double(prediction.score)}"]
            predicates = [
                *_format_phrase(name, response.id, prediction.start, prediction.end),
                *_format_links_and_classes(response.id, prediction),
                *score,
            ]
            file.write(format_statement(make_iri(prediction.start, prediction.end), predicates))


class _SentenceIris:
    """A source of distinct IRIs for sentences and for the phrases (mentions) in them."""

    def __init__(self, documents: list[str]) -> None:
        self._documents = frozenset(documents)
        self._bases: set[str] = set()
        self.phrases = IriAllocator(documents)

    def reserve_base(self, document: str) -> str:
        """Return a new beginning for the sentence IRIs of a document, which no other document has."""
        base = document.partition("#")[0]
        if base in self._bases:
            base = document
        while base in self._bases:
            base += ";"
        self._bases.add(base)
        return base

    def make_sentence_iri(self, base: str, number: int, position: str) -> str:
        """Return the IRI of sentence `number` of a document; it ends with `position` and differs from all documents."""
        iri = f"{base}_sentence{number}#{position}"
        while iri in self._documents:
            iri += ";"
        return iri


def _get_sentence_spans(document: Document) -> list[tuple[int, int]]:
    """Return start and end of the sentences that `meta` lists, or of the whole text as one sentence.

    The list is used only if it is valid, ordered and each label is inside one sentence.
    """
    whole_text = [(0, len(document.text))]
    sentence_list = document.meta.get("sentences", "")
    if not _SENTENCE_LIST.fullmatch(sentence_list):
        return whole_text
    numbers = [int(number) for span in sentence_list.split() for number in span.split(",")]
    spans = list(zip(numbers[::2], numbers[1::2], strict=True))
    starts = [start for start, _ in spans]
    if numbers != sorted(numbers) or numbers[-1] > len(document.text) or len(set(starts)) < len(starts):
        return whole_text
    indices = [bisect_right(starts, label.start) - 1 for label in document.labels]
    has_all_labels = all(
        index >= 0 and label.end <= spans[index][1] for index, label in zip(indices, document.labels, strict=True)
    )
    return spans if has_all_labels else whole_text


def _format_broader_context(document: str) -> str:
    """Return the Turtle predicate and object that say to which document, given by its IRI, a sentence belongs."""
    return f"nif:broaderContext {format_iri(document)}"


def _format_phrase(sentence: str, document: str, start: int, end: int) -> list[str]:
    """Return the Turtle predicates for a mention: its RDF types, its contexts and its offsets.

    `sentence` and `document`: IRIs of the contexts. `start` and `end` count from the start of the sentence.
    """
    return [
        "a nif:Phrase , nif:String , nif:RFC5147String",
        f"nif:referenceContext {format_iri(sentence)}",
        f"nif:context {format_iri(document)}",
        format_offset(BEGIN, start),
        format_offset(END, end),
    ]


def _format_links_and_classes(document: str, item: Label | Prediction) -> Iterator[str]:
    """Yield the predicates for the links, and for categories and types, of a mention.

    Raise `UsageError` for values that would be read differently.
    """
    if not isinstance(item.entity, str) and item.same_as:
        raise _unsupported_value_error(document, f"ids for a mention without entity ({item.same_as[0]!r})")
    if NOT_IN_LEXICON in (item.entity, *item.same_as):
        raise _unsupported_value_error(document, f"the entity {NOT_IN_LEXICON}, which means NIL")
    if item.entity is not UNLINKED:
        yield format_links([NOT_IN_LEXICON if item.entity is None else item.entity, *item.same_as])
    for name in item.categories:
        if name not in NODES:
            raise _unsupported_value_error(
                document, f"the category {name!r}, which is not one of the fine-grained paper"
            )
    for name in item.types:
        if parse_category(name) is not None:
            raise _unsupported_value_error(document, f"the type {name!r}, which is the name of a category")
    classes = [*(f"fel:{spell_category(name)}" for name in item.categories), *map(format_iri, item.types)]
    if classes:
        yield f"itsrdf:taClassRef {' , '.join(classes)}"


def _check_mentions(document: Document) -> None:
    """Raise `UsageError` for separate mentions of one span, and for alternatives of one mention at different spans.

    The reader takes labels of one span, and no others, for alternatives.
    """
    mention_ids: dict[tuple[int, int], str | None] = {}
    spans: dict[str, tuple[int, int]] = {}
    for label in document.labels:
        span = (label.start, label.end)
        if span in mention_ids and (label.mention_id is None or mention_ids[span] != label.mention_id):
            raise _unsupported_value_error(document.id, f"two separate mentions at [{label.start}, {label.end})")
        if label.mention_id is not None and spans.setdefault(label.mention_id, span) != span:
            raise _unsupported_value_error(
                document.id, f"alternatives of one mention at two spans (mention_id {label.mention_id!r})"
            )
        mention_ids[span] = label.mention_id


def _unsupported_value_error(document: str, value: str) -> UsageError:
    """Return, without raising, the error for a value that NIF with categories cannot store."""
    return UsageError(f"document {document!r} has {value}: NIF with categories cannot store it. Choose another format.")


FORMAT = Format(
    title="NIF with categories",
    suffix=".categorised.ttl",
    recognises=lambda opening: nif.is_nif(opening) and nif.is_sentence_nif(opening),
    has_gold=has_gold,
    prediction_mark="no classes (taClassRef)",
    read_corpus=lambda source, text: read_corpus(source),
    read_run=read_run,
    read_run_with_gold=read_run_with_gold,
    is_kind_ambiguous=True,  # without classes
    write_corpus=write_corpus,
    write_run=write_run,
    has_iris=True,
    stored_fields=frozenset(
        {"same_as", "types", "categories", "score", "mention_id", "meta.sentences", "meta.sourceUrl"}
    ),
    description="NIF 2.0 in Turtle by sentence, with the categories of the fine-grained paper.",
)

TABLE = {
    # As the paper's authors read their files. In Turtle, `\u014d` in an IRI is one character; their program does not
    # decode it, so two links of AIDA are wrong in their tables.
    "nif-categorised-literal": Format(
        title="NIF with categories, links not decoded",
        suffix=".ttl",
        recognises=lambda opening: False,
        has_gold=has_gold,
        prediction_mark=FORMAT.prediction_mark,
        read_corpus=lambda source, text: read_corpus(source, is_literal=True),
        read_run=lambda source: read_run(source, is_literal=True),
        read_run_with_gold=lambda source, gold: read_run_with_gold(source, gold, is_literal=True),
        is_kind_ambiguous=True,
        description="Like nif-categorised, but escapes in links are not decoded. Not detected: name the format.",
        sample=Sample.from_text(
            "sample.ttl",
            "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
            '<a> nif:sourceUrl <x> ; nif:isString "Ada met" .\n'
            '<a_s> nif:broaderContext <a> ; nif:beginIndex "0" ; nif:isString "Ada met" .\n'
            '<a_s#1> nif:referenceContext <a_s> ; nif:beginIndex "0" ; nif:endIndex "3" ; '
            "<http://www.w3.org/2005/11/its/rdf#taIdentRef> <http://www.wikidata.org/entity/Q7259> .\n",
        ),
    )
}
