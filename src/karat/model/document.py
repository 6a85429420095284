"""Documents with gold labels, and responses with a system's predictions.

These classes also define the canonical JSONL files: one object per line, without fields at their default. In every
optional field except `entity`, `null` means the same as omitting the field.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from karat.model.span import Span

UNLINKED = UNSET
"""The `entity` of an unlinked span. `None` means NIL: no entity of the knowledge base fits."""

EntityId: TypeAlias = str | UnsetType | None
"""An entity id as written in the source, `None` for NIL, or `UNLINKED`."""

Offset: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
"""A position in a text, in code points."""

Kind: TypeAlias = Literal["quantity", "datetime", "coreference", "descriptive"]
"""The kind of a mention that is no ordinary name."""


class Tag(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A document-level entity: an entity of a document without a mention."""

    entity: str
    """The entity id."""
    same_as: tuple[str, ...] = ()
    """Other ids of the same entity."""
    rank: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)] | None = None
    """The rank, from 1, if tags are ranked."""
    score: float | None = None
    """The confidence of a prediction, or the relevance grade of a gold tag."""


class Triple(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A relation triple that a document states."""

    subject: str
    """The id of the subject."""
    predicate: str
    """The id of the predicate."""
    object: str
    """The id of the object."""
    subject_same_as: tuple[str, ...] = ()
    """Other ids of the subject."""
    predicate_same_as: tuple[str, ...] = ()
    """Other ids of the predicate."""
    object_same_as: tuple[str, ...] = ()
    """Other ids of the object."""
    score: float | None = None
    """The confidence of a prediction."""


class Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A gold label: a span with an accepted link."""

    start: Offset
    """The offset of the first code point."""
    end: Offset
    """The offset after the last code point."""
    entity: EntityId = UNLINKED
    """The entity id, None for NIL, or `UNLINKED`."""
    same_as: tuple[str, ...] = ()
    """Other ids of the same entity."""
    name: str | None = None
    """The name of the entity."""
    types: tuple[str, ...] = ()
    """The types of the entity."""
    categories: tuple[str, ...] = ()
    """Free categories of the label, which can be used as facets."""
    difficulty: str | None = None
    """The difficulty of the mention."""
    kind: Kind | None = None
    """The kind of mention, if it is no ordinary name."""
    optional: bool = False
    """Whether a system may skip the mention."""
    mention_id: str | None = None
    """The id of the mention. Labels with the same id are alternatives: any is correct, and together they count once."""
    parent: str | None = None
    """The `mention_id` of the mention that this label is part of, in an alternative segmentation."""
    nil_cluster: str | None = None
    """The cluster of NIL mentions that refer to the same entity."""

    @property
    def span(self) -> Span:
        """The span of the mention."""
        return Span(self.start, self.end)


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A text with its gold labels."""

    id: str
    """The document id, unique in the corpus."""
    text: str
    """The text."""
    labels: tuple[Label, ...] = ()
    """The gold labels."""
    evaluation_span: tuple[Offset, Offset] | None = None
    """The part of the text to score, if not all."""
    tags: tuple[Tag, ...] = ()
    """The document-level entities."""
    relations: tuple[Triple, ...] = ()
    """The relation triples."""
    meta: dict[str, str] = {}
    """Free metadata of the document."""


class Candidate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """An entity that a system considered for a mention."""

    entity: str
    """The entity id."""
    score: float | None = None
    """The system's score."""


class Prediction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A mention that a system predicted, with its link."""

    start: Offset
    """The offset of the first code point."""
    end: Offset
    """The offset after the last code point."""
    entity: EntityId = UNLINKED
    """The entity id, None for NIL, or `UNLINKED`."""
    same_as: tuple[str, ...] = ()
    """Other ids of the same entity."""
    types: tuple[str, ...] = ()
    """The predicted types."""
    categories: tuple[str, ...] = ()
    """Free categories of the prediction, which can be used as facets."""
    score: float | None = None
    """The confidence."""
    candidates: tuple[Candidate, ...] = ()
    """The candidates that the system considered, the best first."""
    nil_cluster: str | None = None
    """The cluster of NIL mentions that refer to the same entity."""

    @property
    def span(self) -> Span:
        """The span of the prediction."""
        return Span(self.start, self.end)


class InventedMention(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A mention that a system predicted by its text, and that has no place in the document.

    The text does not occur, or not as often as the system names it.
    """

    text: str
    """The text of the mention, as the system wrote it."""
    entity: EntityId = UNLINKED
    """The entity id, None for NIL, or `UNLINKED`."""
    types: tuple[str, ...] = ()
    """The predicted types."""
    score: float | None = None
    """The confidence."""


class Response(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A system's predictions for one document, with cost and any error."""

    id: str
    """The document id."""
    predictions: tuple[Prediction, ...] = ()
    """The predicted mentions."""
    tags: tuple[Tag, ...] = ()
    """The predicted document-level entities."""
    relations: tuple[Triple, ...] = ()
    """The predicted relation triples."""
    seconds: float | None = None
    """The runtime."""
    tokens: Annotated[int, msgspec.Meta(ge=0, lt=10**18)] | None = None
    """The number of tokens that a language model used."""
    cost: float | None = None
    """The cost of the request."""
    error: str | None = None
    """The error message, if the system failed on the document."""
    invented: tuple[InventedMention, ...] = ()
    """Predicted mentions that have no place in the text; the setting `invented` says whether they count."""


class WrittenPrediction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A prediction as files may contain it: located by a span, by its text, or by both."""

    start: Offset | None = None
    """The offset of the first code point, if given."""
    end: Offset | None = None
    """The offset after the last code point, if given."""
    text: str | None = None
    """The text of the mention."""
    before: str | None = None
    """The text before the mention, to distinguish several occurrences."""
    after: str | None = None
    """The text after the mention, to distinguish several occurrences."""
    entity: EntityId = UNLINKED
    """As in `Prediction`."""
    same_as: tuple[str, ...] = ()
    """As in `Prediction`."""
    types: tuple[str, ...] = ()
    """As in `Prediction`."""
    categories: tuple[str, ...] = ()
    """As in `Prediction`."""
    score: float | None = None
    """As in `Prediction`."""
    candidates: tuple[Candidate, ...] = ()
    """As in `Prediction`."""
    nil_cluster: str | None = None
    """As in `Prediction`."""


class WrittenResponse(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A response as files may contain it: with the text of the document, and predictions located by text."""

    id: str
    """The document id."""
    predictions: tuple[WrittenPrediction, ...] = ()
    """The predicted mentions."""
    text: str | None = None
    """The text of the document."""
    tags: tuple[Tag, ...] = ()
    """As in `Response`."""
    relations: tuple[Triple, ...] = ()
    """As in `Response`."""
    seconds: float | None = None
    """As in `Response`."""
    tokens: Annotated[int, msgspec.Meta(ge=0, lt=10**18)] | None = None
    """As in `Response`."""
    cost: float | None = None
    """As in `Response`."""
    error: str | None = None
    """As in `Response`."""
    invented: tuple[InventedMention, ...] = ()
    """As in `Response`."""


GOLD_LAYOUT: Final = "gold/2"
"""The layout of Karat's gold files. The number changes when older versions of Karat cannot read the file."""

PREDICTIONS_LAYOUT: Final = "predictions/2"
"""The layout of Karat's prediction files."""


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The optional first line of a canonical file: its layout and metadata."""

    karat: Literal["gold/2", "predictions/2"]
    """The layout."""
    metadata: dict[str, str] = {}
    """Strings such as title, language and licence of a corpus, or system, version and options of a run."""
