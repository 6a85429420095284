"""An annotation project: the documents to annotate, suggestions for them, guidelines and options."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from karat.model.document import Label
from karat.protocols.campaigns.signatures import sign_message

LAYOUT: Final = "karat-annotation/1"

Prefill: TypeAlias = Literal["all", "half", "none"]
"""Whether annotators see suggestions: in all documents, in a random half of each annotator's documents, or never."""


class Suggestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A label that systems predicted. Annotators never see which ones."""

    id: str
    """Id of the label that an annotator makes of it: `s0`, `s1`, …"""
    label: Label
    """The label."""
    sources: tuple[str, ...] = ()
    """Names of the systems that predicted it."""


class AnnotationTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A document to annotate."""

    number: int
    """Number, in the order in which documents are offered."""
    document: str
    """Id of the document."""
    text: str
    """Text of the whole document."""
    start: int
    """Start of the evaluation span."""
    end: int
    """End of the evaluation span."""
    suggestions: tuple[Suggestion, ...] = ()
    """Suggested labels, by position."""
    meta: Mapping[str, str] = {}
    """Metadata of the document."""


class Guidelines(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A version of the guidelines of a project."""

    name: str
    """Name of the built-in guidelines, or of the file."""
    text: str
    """Text: paragraphs separated by blank lines, and lists whose lines start with `- `."""
    since: str = ""
    """Time from which the version was in use, in ISO 8601; empty for the first version."""

    @property
    def version(self) -> str:
        """Name with a digest of the text, such as `fair@1c2d3e4f`."""
        return f"{self.name}@{hashlib.sha256(self.text.encode()).hexdigest()[:8]}"


class ProjectOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of an annotation project."""

    layout: Literal["karat-annotation/1"] = LAYOUT
    """Layout of the options."""
    kind: Literal["annotate"] = "annotate"
    """Kind of the campaign."""
    name: str
    """Name of the project."""
    sources: tuple[str, ...] = ()
    """Names of the systems behind the suggestions."""
    documents: int
    """Number of documents from which the documents of the project were drawn."""
    annotators: Annotated[int, msgspec.Meta(ge=1)] = 2
    """Number of annotators per document."""
    seed: int = 0
    """Random seed."""
    span: str = "document"
    """How evaluation spans were drawn: `document`, `paragraphs` or `given`."""
    prefill: Prefill = "none"
    """Whether annotators see suggestions."""
    scheme: tuple[str, ...] = ()
    """Dimensions of categories that annotators set: those of `finegrained_scheme`."""
    whitelist: tuple[str, ...] = ()
    """Types of entities that are annotated; empty if all are."""
    kb: str | None = None
    """Name of the knowledge base."""
    kb_location: str | None = None
    """Folder or name from which the knowledge base was opened; annotators search there unless told otherwise."""
    consent: str = ""
    """Consent form."""
    counts: Mapping[str, int] = {}
    """Counts of what was drawn, skipped and suggested, by description."""


class Project(msgspec.Struct, frozen=True):
    """An annotation project with all its documents."""

    options: ProjectOptions
    """Options."""
    tasks: tuple[AnnotationTask, ...]
    """Documents in the order in which they are offered."""
    guidelines: tuple[Guidelines, ...] = ()
    """Versions of the guidelines, the current one last."""
    secret: str = ""
    """Key that signs invitations and decides who sees suggestions; empty until the project is stored."""

    def is_prefilled(self, annotator: str, task: int) -> bool:
        """Return whether an annotator sees suggestions in the document with this number.

        With `half`, the secret decides which one of every two consecutive documents has suggestions, for each annotator
        independently.
        """
        if self.options.prefill != "half":
            return self.options.prefill == "all"
        bit = int(sign_message(self.secret, f"prefill {annotator} {task // 2}")[:8], 16)
        return (bit + task) % 2 == 0
