"""Documents of files that give spans but no texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from karat.model.corpus import WITHOUT_TEXT as WITHOUT_TEXT
from karat.model.document import Document, Label

_LONG = 100_000
_TOGETHER = 1 << 24


def blank_documents(labels: Mapping[str, Sequence[Label]]) -> list[Document]:
    """A document per id, with a text of blanks that all labels of the file fit into.

    Answers may lie behind the last label, and how long the text was is not known: each text has 100,000 blanks, or
    less where there are many documents.
    """
    ends = (label.end for found in labels.values() for label in found)
    length = max(max(ends, default=1), min(_LONG, _TOGETHER // max(len(labels), 1)))
    text = " " * length
    return [Document(name, text, tuple(found)) for name, found in labels.items()]
