"""The objects users build and read: documents with gold labels, and replies with a system's answers.

They are also the definition of the canonical JSONL files: one object per line, fields at their default left
out. In every optional field but `entity`, `null` means the same as leaving the field out.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from karat.model.span import Span

UNLINKED = UNSET
"""The `entity` of a span that was marked but not linked; `None` is NIL, a decision that no entity fits."""

EntityId: TypeAlias = str | UnsetType | None
"""An entity id as written in the source, `None` for NIL, or `UNLINKED`."""

Offset: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
"""A place in a text, counted in code points."""

Kind: TypeAlias = Literal["quantity", "datetime", "coreference", "descriptive"]


class Tag(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """An entity that a document is about, without a mention. Ranked tags are numbered from 1.

    In a gold standard `score` is the grade of a relevant entity, where some are more relevant than others.
    """

    entity: str
    same_as: tuple[str, ...] = ()
    rank: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)] | None = None
    score: float | None = None


class Statement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A relation between two entities that a document states."""

    subject: str
    predicate: str
    object: str
    subject_same_as: tuple[str, ...] = ()
    predicate_same_as: tuple[str, ...] = ()
    object_same_as: tuple[str, ...] = ()
    score: float | None = None


class Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """One gold alternative: a span and what it may be linked to.

    Labels with the same `unit` are alternatives of one mention: any of them is right, and together they count
    once. A label with a `parent` is part of another way to segment the mention whose unit is named there.
    """

    start: Offset
    end: Offset
    entity: EntityId = UNLINKED
    same_as: tuple[str, ...] = ()
    name: str | None = None
    types: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    difficulty: str | None = None
    kind: Kind | None = None
    optional: bool = False
    unit: str | None = None
    parent: str | None = None
    nil_cluster: str | None = None

    @property
    def span(self) -> Span:
        """Where the mention stands in the text."""
        return Span(self.start, self.end)


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A text with its gold labels. Only what lies inside `evaluation_span`, if given, is scored."""

    id: str
    text: str
    labels: tuple[Label, ...] = ()
    evaluation_span: tuple[Offset, Offset] | None = None
    tags: tuple[Tag, ...] = ()
    relations: tuple[Statement, ...] = ()
    meta: dict[str, str] = {}


class Candidate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """An entity that a system considered for a mention."""

    entity: str
    score: float | None = None


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A mention that a system marked, and what it linked it to."""

    start: Offset
    end: Offset
    entity: EntityId = UNLINKED
    same_as: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    score: float | None = None
    candidates: tuple[Candidate, ...] = ()
    nil_cluster: str | None = None

    @property
    def span(self) -> Span:
        """Where the answer stands in the text."""
        return Span(self.start, self.end)


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All that a system said about one document, what it cost, and the error if it failed there."""

    id: str
    answers: tuple[Answer, ...] = ()
    tags: tuple[Tag, ...] = ()
    relations: tuple[Statement, ...] = ()
    seconds: float | None = None
    tokens: Annotated[int, msgspec.Meta(ge=0, lt=10**18)] | None = None
    cost: float | None = None
    error: str | None = None


class WrittenAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """An answer as files may have it: `text` says what is marked in place of a span, or beside it.

    `before` and `after` are what stands around it, where the text has it more than once.
    """

    start: Offset | None = None
    end: Offset | None = None
    text: str | None = None
    before: str | None = None
    after: str | None = None
    entity: EntityId = UNLINKED
    same_as: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    score: float | None = None
    candidates: tuple[Candidate, ...] = ()
    nil_cluster: str | None = None


class WrittenReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A reply as files may have it: with the text of its document, and answers that say where they stand by words."""

    id: str
    answers: tuple[WrittenAnswer, ...] = ()
    text: str | None = None
    tags: tuple[Tag, ...] = ()
    relations: tuple[Statement, ...] = ()
    seconds: float | None = None
    tokens: Annotated[int, msgspec.Meta(ge=0, lt=10**18)] | None = None
    cost: float | None = None
    error: str | None = None


GOLD_LAYOUT: Final = "gold/1"
ANSWERS_LAYOUT: Final = "answers/1"
"""What Karat's own files call their fields, with a number that changes when an older Karat could not read them."""


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The optional first line of a canonical file: what it is, and what is known about it as a whole.

    `karat` is `gold/1` or `answers/1`. `about` holds plain strings, such as name, title, language and licence
    of a corpus, or system, version, options, corpus and times of a run.
    """

    karat: Literal["gold/1", "answers/1"]
    about: dict[str, str] = {}
