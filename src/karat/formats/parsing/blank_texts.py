"""Documents for files that contain spans but no texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from karat.formats.parsing.duplicates import separate_duplicate_labels
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.document import Document, Label
from karat.model.limits import get_limit, limit_error
from karat.model.spec.format import ByteSource

_MAX_LENGTH = 100_000
_MAX_TOTAL_LENGTH = 1 << 24


def make_blank_documents(
    labels_by_document: Mapping[str, Sequence[Label]], min_length: int | None = None
) -> list[Document]:
    """Make a document for each id, with a text of spaces that is long enough for all labels of the file.

    Predictions may follow the last label. `min_length` is the length that they need; if it is unknown, each text has
    100,000 spaces, or fewer if there are many documents. Raise `InputError` if the texts are too long.
    """
    ends = (label.end for labels in labels_by_document.values() for label in labels)
    if min_length is None:
        min_length = min(_MAX_LENGTH, _MAX_TOTAL_LENGTH // max(len(labels_by_document), 1))
    length = max(1, min_length, max(ends, default=1))
    if length * len(labels_by_document) > get_limit("blank"):
        finding = f"offsets up to {length:,} in {len(labels_by_document):,} documents without texts"
        raise limit_error("blank", "gold standard", finding, "Correct the offsets, or pass the texts")
    text = " " * length
    return [Document(doc_id, text, tuple(labels)) for doc_id, labels in labels_by_document.items()]


def build_textless_corpus(
    source: ByteSource, labels_by_document: Mapping[str, Sequence[Label]], skipped: Counter[str]
) -> Corpus:
    """Build the corpus of a file without texts; duplicate labels become separate mentions.

    They are counted in `skipped`, and so are the documents.
    """
    separated = {doc_id: separate_duplicate_labels(labels, skipped) for doc_id, labels in labels_by_document.items()}
    skipped[NO_TEXT_NOTE] = len(separated)
    documents = make_blank_documents(separated)
    return Corpus.from_reader(
        documents,
        name=source.stem,
        skipped=skipped,
        locate_row=lambda row: f"{source.label}, document {documents[row].id!r}",
    )
