"""Documents for files that contain spans but no texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from karat.model.corpus import NO_TEXT_NOTE as NO_TEXT_NOTE
from karat.model.document import Document, Label

_MAX_LENGTH = 100_000
_MAX_TOTAL_LENGTH = 1 << 24


def make_blank_documents(
    labels_by_document: Mapping[str, Sequence[Label]], min_length: int | None = None
) -> list[Document]:
    """Make a document for each id, with a text of spaces that is long enough for all labels of the file.

    Predictions may follow the last label. `min_length` is the length that they need; if it is unknown, each text has
    100,000 spaces, or fewer if there are many documents.
    """
    ends = (label.end for labels in labels_by_document.values() for label in labels)
    if min_length is None:
        min_length = min(_MAX_LENGTH, _MAX_TOTAL_LENGTH // max(len(labels_by_document), 1))
    text = " " * max(1, min_length, max(ends, default=1))
    return [Document(doc_id, text, tuple(labels)) for doc_id, labels in labels_by_document.items()]
