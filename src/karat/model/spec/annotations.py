"""The content of a file of an annotation tool: the labels of every annotator, the adjudicated gold and predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from karat.model.document import Document, Label, Response

VersionStatus: TypeAlias = Literal["done", "open", "skipped"]
"""Whether an annotator finished a document, works on it, or skipped it."""


class NotedLabels(msgspec.Struct, frozen=True):
    """Labels of one document, with the notes of the person who made them."""

    labels: tuple[Label, ...] = ()
    """The labels."""
    notes: Mapping[int, str] = {}
    """Notes by the index of their label."""


class AnnotatorVersion(msgspec.Struct, frozen=True):
    """The labels of one annotator in one document."""

    annotator: str
    """Name of the annotator."""
    content: NotedLabels = NotedLabels()
    """The labels with notes."""
    status: VersionStatus = "done"
    """Whether the annotator finished the document."""
    reason: str = ""
    """Reason for skipping the document."""


class AnnotatedDocument(msgspec.Struct, frozen=True):
    """A document with the labels of all annotators."""

    document: Document
    """The document without labels."""
    versions: tuple[AnnotatorVersion, ...] = ()
    """The versions of the annotators."""
    gold: NotedLabels | None = None
    """The adjudicated labels; None if the document is not adjudicated."""
    predictions: Mapping[str, Response] = {}
    """Predictions of systems, by the name of the system."""
    location: str = ""
    """File and place, for error messages."""
    has_text: bool = True
    """Whether the file has the text; otherwise the text is blank."""


class AnnotatedCorpus(msgspec.Struct, frozen=True):
    """The documents of a file of an annotation tool."""

    name: str
    """Name of the corpus."""
    documents: tuple[AnnotatedDocument, ...]
    """The documents."""
    metadata: Mapping[str, str] = {}
    """Metadata of the corpus or run."""
    skipped: Mapping[str, int] = {}
    """Counts of what the reader skipped or repaired, by description."""
