"""Changes of the benchmarks since the fair evaluation, undone to see whether they explain its figures."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from msgspec.structs import replace

from karat.data.load import load
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.reader_categories import NOT_COREFERENCE
from karat.model.surface import is_partial_name
from karat.protocols.papers.data_folder import PublishedData

UNCORRECTED = "elevant/results/refined/refined__aida_.kore50-unfixed.linked_articles.jsonl.gz"
"""The only file with the spans that KORE50 had before ELEVANT corrected them."""


PRONOUN = "we"
"""The pronoun that an older list of ELEVANT lacks: a label on it was a mention, and is coreference now."""


def format_percent(number: int, total: int) -> str:
    """Return a share as a whole number of percent; halves are rounded up, as in the paper."""
    return f"{(Decimal(100 * number) / total).quantize(Decimal(1), ROUND_HALF_UP)}%"


def mark_as_named(corpus: Corpus, text: str) -> Corpus:
    """Return the corpus with labels on `text`, in any case, marked as no coreference."""
    documents = [
        replace(
            document,
            labels=tuple(_mark(label) if _has_text(document, label, text) else label for label in document.labels),
        )
        for document in corpus
    ]
    return Corpus.from_documents(documents, name=corpus.name)


def restore_labels(corpus: Corpus, full_corpus: Corpus, text: str) -> Corpus:
    """Return the corpus with the labels on `text`, in any case, that only `full_corpus` has, as no coreference."""
    documents = []
    for document in corpus:
        spans = {(label.start, label.end) for label in document.labels}
        labels = (
            _mark(label)
            for label in full_corpus[document.id].labels
            if _has_text(document, label, text) and (label.start, label.end) not in spans
        )
        documents.append(replace(document, labels=(*document.labels, *labels)))
    return Corpus.from_documents(documents, name=corpus.name)


def _mark(label: Label) -> Label:
    """Return the label, marked as no coreference."""
    return replace(label, categories=(*label.categories, NOT_COREFERENCE))


def _has_text(document: Document, label: Label, text: str) -> bool:
    """Return whether a label of `document` is on `text`, in any case."""
    return document.text[label.start : label.end].lower() == text


def load_uncorrected_kore50(data: PublishedData) -> Corpus | None:
    """Return KORE50 with the spans that it had before ELEVANT corrected them; None if the file is missing."""
    path = data.find(UNCORRECTED)
    return None if path is None else load(str(path))


def count_partial_names(corpus: Corpus) -> int:
    """Count the labels whose text is a part of the name of their entity, whatever else they are."""
    return sum(
        label.name is not None and is_partial_name(document.text[label.start : label.end], label.name)
        for document in corpus
        for label in document.labels
    )
