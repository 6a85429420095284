"""ELEVANT's benchmarks: one article per line with its gold labels.

Ids are kept as written; `<NIL>` and `<NO_MAPPING>` are NIL (the latter in the category `nil:no-mapping`), and an empty
id is a span without link. Labels that describe (`desc`), quantities and dates are optional, as ELEVANT has it. `coref`
is the kind `coreference`; where it is false, the category `coreference:no`. `karat.parsing.elevant.trees` says which
labels have units, and how what a tree cannot say is kept in categories. Title, url, hyperlinks, title synonyms and
sections are in `meta`, lists as JSON.
"""

from __future__ import annotations

from typing import IO, Any

import msgspec

from karat.model.corpus import Corpus
from karat.model.document import Document
from karat.parsing.elevant import answers as elevant_answers
from karat.parsing.elevant import gold as elevant_gold
from karat.parsing.elevant.articles import linked, number_of, told, with_meta
from karat.parsing.elevant.beside import manifest
from karat.parsing.elevant.both import read_both
from karat.parsing.elevant.labels import gold_labels
from karat.parsing.losing import made_optional
from karat.spec.format import Bytes, Format


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    return elevant_gold.read_corpus(source)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """One line per document. ELEVANT itself reads only whole numbers as ids of documents."""
    encode = msgspec.json.Encoder().encode
    for document in corpus:
        file.write(encode(_article(document)) + b"\n")


def _article(document: Document) -> dict[str, Any]:
    fields = with_meta(document.meta, f"document {document.id!r}")
    span = {} if document.evaluation_span is None else {"evaluation_span": document.evaluation_span}
    first = {"id": number_of(document.id), "title": fields.pop("title"), "text": document.text}
    return {**first, **fields, **span, "labels": gold_labels(document.labels)}


FORMAT = Format(
    title="ELEVANT benchmark",
    suffix=".benchmark.jsonl",
    signs=('"evaluation_span"', '"labels"', '"entity_id"'),
    recognises=lambda head: told(head) == "gold",
    holds_gold=lambda source: not linked(source),  # as answers the labels of linked articles are not meant
    read_corpus=read_corpus,
    read_run=elevant_answers.read_run,
    holds_both=linked,  # where no mention is in the first lines, they look like a benchmark
    read_both=read_both,
    manifest=manifest,
    write_corpus=write_corpus,
    loses=made_optional,
    holds=frozenset({"name", "types", "categories", "kind", "optional", "unit", "parent", "evaluation_span", "meta"}),
    says="Units that are no whole numbers are numbered anew; alternatives of a mention become parts of it.",
)
