"""JSON bodies between the server and the browsers of annotators and adjudicators.

All offsets count code points of the whole text. Nothing that annotators get reveals labels of others or which system
made a suggestion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET

from karat.model.document import Label
from karat.protocols.annotation.changes import AnnotatedLabel, LabelId, LabelState
from karat.web.campaigns.payloads import EntityPayload

RequestId: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9-]{1,40}$")]
Revision: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Reason: TypeAlias = Annotated[str, msgspec.Meta(max_length=2000)]


class EditRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The new state of a label: null if it is deleted or rejected, omitted if nothing is decided about it."""

    id: LabelId
    after: LabelState = UNSET


class ChangeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of labels. `id` is chosen by the browser: a repeated request is stored once."""

    id: RequestId
    revision: Revision
    edits: tuple[EditRequest, ...]
    seconds: Annotated[float, msgspec.Meta(ge=0, le=1e7)] | None = None
    client_time: Annotated[str, msgspec.Meta(max_length=40)] | None = None


class RevisionRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request to undo or redo the latest change."""

    id: RequestId
    revision: Revision


class StatusRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request to finish or reopen a document."""

    id: RequestId


class DocumentSkipRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request to skip a document, with the reason."""

    id: RequestId
    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]


class EmptyRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request without content."""


class DecisionRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An adjudicator's decision on a region: the letter of a version, `none`, `edited` or `open`."""

    id: RequestId
    start: int
    end: int
    digest: Annotated[str, msgspec.Meta(max_length=64)]
    choice: Annotated[str, msgspec.Meta(max_length=16)]
    labels: Annotated[tuple[AnnotatedLabel, ...], msgspec.Meta(max_length=1000)] = ()
    reason: Reason = ""


class GuidelinesPayload(msgspec.Struct, frozen=True):
    """A version of the guidelines."""

    name: str
    version: str
    text: str
    since: str


class CategoryPayload(msgspec.Struct, frozen=True):
    """A category of a dimension."""

    id: str
    title: str


class DimensionPayload(msgspec.Struct, frozen=True):
    """A dimension of categories, of which each label has one."""

    dimension: str
    title: str
    values: tuple[CategoryPayload, ...]


class ProjectPayload(msgspec.Struct, frozen=True):
    """The project as every visitor sees it; the role is null without a session."""

    name: str
    consent: str
    guidelines: tuple[GuidelinesPayload, ...]
    can_search: bool
    scheme: tuple[DimensionPayload, ...]
    types: tuple[str, ...]
    role: Literal["annotator", "adjudicator"] | None
    round: int
    whitelist: tuple[str, ...]
    person: str | None
    """A digest of the pseudonym, by which a browser keeps unsent changes of several people apart."""


class SessionPayload(msgspec.Struct, frozen=True):
    """The role of a person, and the numbers of finished documents and of all documents."""

    role: Literal["annotator", "adjudicator"]
    done: int
    total: int


class DocumentRow(msgspec.Struct, frozen=True):
    """A document in the list of an annotator; `changed` marks one in which an adjudicator decided otherwise."""

    name: str
    document: str
    state: str
    n_labels: int
    round: int
    changed: bool


class DocumentsPayload(msgspec.Struct, frozen=True):
    """The documents of an annotator, those to come included in `total`; `remaining` if there are more to annotate."""

    documents: tuple[DocumentRow, ...]
    done: int
    total: int
    remaining: bool


class NextDocumentPayload(msgspec.Struct, frozen=True):
    """The name of the document to annotate next; null if none is left."""

    name: str | None


class LabelPayload(msgspec.Struct, frozen=True):
    """A label with its id and note."""

    id: str
    label: Label
    note: str


class SuggestionPayload(msgspec.Struct, frozen=True):
    """A suggested label, without its source."""

    id: str
    label: Label


class FindingPayload(msgspec.Struct, frozen=True):
    """A finding of a lint rule; start and end are null if it concerns the whole text."""

    rule: str
    severity: str
    description: str
    proposal: str
    start: int | None
    end: int | None


class OverruledPayload(msgspec.Struct, frozen=True):
    """A region in which an adjudicator decided otherwise in an earlier round."""

    start: int
    end: int
    reason: str


class DocumentPayload(msgspec.Struct, frozen=True):
    """A document as its annotator sees it."""

    name: str
    document: str
    text: str
    start: int
    end: int
    state: str
    revision: int
    labels: tuple[LabelPayload, ...]
    rejected: tuple[str, ...]
    suggestions: tuple[SuggestionPayload, ...]
    entities: Mapping[str, EntityPayload]
    findings: tuple[FindingPayload, ...]
    can_undo: bool
    can_redo: bool
    guidelines: int
    changed: tuple[OverruledPayload, ...]


class ChangePayload(msgspec.Struct, frozen=True):
    """A stored change; it is on disk before this is sent. Findings are null if linting takes long."""

    revision: int
    findings: tuple[FindingPayload, ...] | None
    can_undo: bool
    can_redo: bool
    entities: Mapping[str, EntityPayload]


class UndoPayload(msgspec.Struct, frozen=True):
    """A stored undo or redo, with the edits that it makes."""

    revision: int
    findings: tuple[FindingPayload, ...] | None
    can_undo: bool
    can_redo: bool
    entities: Mapping[str, EntityPayload]
    edits: tuple[EditRequest, ...]


class FindingsPayload(msgspec.Struct, frozen=True):
    """The findings in a document at a revision."""

    revision: int
    findings: tuple[FindingPayload, ...]


class StatusPayload(msgspec.Struct, frozen=True):
    """The state of a document: `open`, `done` or `skipped`."""

    state: str


class HistoryEntry(msgspec.Struct, frozen=True):
    """One change of one label, or a change of the state of a document."""

    server_time: str
    kind: str
    by: str
    before: AnnotatedLabel | None
    after: AnnotatedLabel | None
    reason: str


class HistoryPayload(msgspec.Struct, frozen=True):
    """The history of a label or a document, oldest change first."""

    changes: tuple[HistoryEntry, ...]


class ReviewRegion(msgspec.Struct, frozen=True):
    """A region in which an adjudicator decided otherwise than the annotator."""

    start: int
    end: int
    text: str
    context: str
    context_start: int
    yours: tuple[Label, ...]
    gold: tuple[Label, ...]
    reason: str


class ReviewDocument(msgspec.Struct, frozen=True):
    """An adjudicated document."""

    name: str
    document: str
    regions: tuple[ReviewRegion, ...]


class ReviewPayload(msgspec.Struct, frozen=True):
    """All regions in which adjudicators decided otherwise than the annotator."""

    documents: tuple[ReviewDocument, ...]
    entities: Mapping[str, EntityPayload]


class AdjudicationRow(msgspec.Struct, frozen=True):
    """A document in the queue of adjudicators, with the numbers of open and decided regions."""

    name: str
    document: str
    open: int
    decided: int


class AdjudicationListPayload(msgspec.Struct, frozen=True):
    """The documents that enough annotators have finished."""

    documents: tuple[AdjudicationRow, ...]


class VersionPayload(msgspec.Struct, frozen=True):
    """The labels of one annotator, who is shown as a letter, in a region."""

    annotator: str
    labels: tuple[AnnotatedLabel, ...]


class RegionPayload(msgspec.Struct, frozen=True):
    """A region in which annotators disagree, with the decision, if any."""

    start: int
    end: int
    digest: str
    state: Literal["open", "decided"]
    versions: tuple[VersionPayload, ...]
    choice: str | None
    reason: str


class AdjudicationPayload(msgspec.Struct, frozen=True):
    """A document to adjudicate; `gold` has the labels of decided and agreed regions, `agreed` counts the latter."""

    name: str
    document: str
    text: str
    start: int
    end: int
    gold: tuple[LabelPayload, ...]
    regions: tuple[RegionPayload, ...]
    entities: Mapping[str, EntityPayload]
    agreed: int
