"""Overlays: decisions of judges as a versioned patch of a gold standard, which itself is not changed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from karat.analysis.comparison.grid import choose_main_measure
from karat.analysis.scoring import ScoredRuns
from karat.evaluation.evaluation import create_evaluation
from karat.kb.ids.normal_forms import IdContext, restore_fragment
from karat.matching.read.read_options import ReadOptions, canonical_ids
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Document, Label
from karat.model.errors import InputError, check_layout_version
from karat.model.json.decoder import read_json_value
from karat.model.results.result import Result
from karat.model.spec.settings.conventions import Ids, NilIds
from karat.protocols.verification.campaign import Campaign
from karat.protocols.verification.judgements import (
    LEAD,
    PEOPLE,
    Consensus,
    Decision,
    Judgement,
    find_consensus,
    find_tie,
    follow_lead,
    pool_votes,
    select_votes,
)
from karat.protocols.verification.outcomes import select_judgements
from karat.protocols.verification.posthoc import TextLink
from karat.protocols.verification.ties import TieCounts, TiedLink, find_ties
from karat.storage.files import Source

LAYOUT: Final = "karat-overlay/2"
NO_MAJORITY: Final = "links without a majority"
"""Why a link is undecided if the judges are tied in their decisions or the new entity, and the lead has not decided."""
CONTRADICTORY: Final = "contradictory judgements"
"""Why a gold link is unchanged that judges remove, but accept as the new entity of another link or as an addition."""
EQUAL_VOTES: Final = "accepted links on spans for which several entities have most votes"
"""Why no link is added on a span for which judges accepted several entities, none with more votes than the others."""
_NORMAL_IDS = ReadOptions(ids=Ids.NORMALISED)
_T = TypeVar("_T")
Action: TypeAlias = Literal["add", "remove", "relink"]
"""Change of a gold label."""
_MISFITS: Final[Mapping[Action, str]] = {
    "add": "accepted links that overlap others",
    "remove": "changes to unknown labels",
    "relink": "changes to unknown labels",
}
"""Why a change does not fit the gold standard."""


class OverlayChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A change, with its votes and sources."""

    action: Action
    """Action."""
    document: str
    """Id of the document."""
    start: int
    """Start offset."""
    end: int
    """End offset."""
    entity: str | None
    """Entity that is added or removed, or the old entity of a relinked label; None for a gold label without entity."""
    becomes: str | None = None
    """New entity of a relinked label."""
    votes: Mapping[str, int] = {}
    """Number of judges by decision, each with the last judgement on the link from any source; `lead` is 1 if the lead
    decided a tie."""
    sources: tuple[str, ...] = ()
    """Sources with the link."""

    @property
    def link(self) -> TextLink:
        """The link that is added, removed or relinked."""
        return TextLink(self.document, self.start, self.end, self.entity or "")


class OverlayHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """First line of an overlay file."""

    layout: Literal["karat-overlay/2"]
    """Layout of the file."""
    name: str
    """Name of the campaign."""
    version: Annotated[int, msgspec.Meta(ge=1)]
    """Version of the overlay."""
    dataset: str
    """Name of the dataset."""
    digest: str
    """Digest of the gold standard that it patches."""
    judged_by: str
    """`people`, or the name of an automatic judge."""
    undecided: Mapping[str, int]
    """Number of undecided links by reason."""
    lead_decisions: int = 0
    """Number of links without a majority that the lead decided."""
    decided_contradictions: int = 0
    """Number of contradictory judgements that the lead decided."""


class Overlay(NamedTuple):
    """A header, and the changes in the order of the texts."""

    header: OverlayHeader
    changes: tuple[OverlayChange, ...]
    contradictions: tuple[OverlayChange, ...] = ()
    """Removals of links that judges accept elsewhere, left out or decided by the lead; not part of the file."""

    @property
    def label(self) -> str:
        """Name of the campaign and version of the overlay, as shown in results."""
        return f"{self.header.name}-{self.header.version}"


def build_overlay(
    campaign: Campaign, records: Sequence[Judgement], *, version: int = 1, machine: str | None = None
) -> Overlay:
    """Build the patch of the gold standard that follows from the judgements on a campaign.

    The judgements on a link count together, from whichever source it was shown: of each source the first ones, as in
    its scores, and of each judge the last of these. The majority decides, and the lead if there is none. An undecided
    tie changes nothing, and neither does a link that fewer people judged than the campaign asks for. Gold links are
    removed or relinked. Links of systems that were verified, or modified to another entity, are added if they overlap
    no remaining gold label and no addition with more votes, or further left with as many. If several entities have most
    votes for a span, none is added. A link that the labels then have already is no change. On the span of a gold label
    without entity (NIL) they relink it. The same holds for links that judges added. A gold link that judges remove, but
    accept as a link of another source or as an addition, stays, unless the lead decided otherwise. `machine` names the
    automatic judge whose judgements count instead of those of people. Raise `UsageError` for a survey.
    """
    options = campaign.options
    selected = select_judgements(campaign.require_kind("verify"), records, machine)
    n_required = options.judges if machine is None else 1
    judgements, sources = _group_by_link(campaign, selected.judgements, n_required)
    undecided: Counter[str] = Counter()
    n_lead_decisions = 0
    corrections: list[OverlayChange] = []
    offers: list[tuple[int, TextLink, OverlayChange]] = []
    for link, link_judgements in judgements.items():
        consensus = find_consensus(link_judgements, len(link_judgements), selected.lead_decisions.get(link))
        if len(link_judgements) < n_required:
            undecided["links that need more judges"] += 1
            continue
        is_tied = find_tie(link_judgements, len(link_judgements)) is not None
        if consensus is None or (is_tied and not consensus.is_lead_decision):
            undecided[NO_MAJORITY] += 1
            continue
        n_lead_decisions += consensus.is_lead_decision
        link_sources, votes = tuple(sources[link]), consensus.votes
        if options.gold not in link_sources and consensus.becomes is not None:
            location = link._replace(entity=consensus.becomes)
            offers.append(
                (votes.get(consensus.decision, 0), location, OverlayChange("add", *location, None, votes, link_sources))
            )
        elif options.gold in link_sources and consensus.decision is not Decision.VERIFY:
            corrections.append(_correct(link, consensus, link_sources))
    offers += [
        (count, location, OverlayChange("add", *location, None, {Decision.ADD.value: count}))
        for location, count in selected.additions.items()
    ]
    labels = _collect_gold_labels(campaign, sources)
    contradictions, restored = _find_contradictions(corrections, (offer[1] for offer in offers), labels)
    decided = [change for change in contradictions if change.link in selected.lead_decisions]
    if len(decided) < len(contradictions):
        undecided[CONTRADICTORY] = len(contradictions) - len(decided)
    corrections = [correction for correction in corrections if correction not in contradictions]
    for change in decided:
        consensus = follow_lead(selected.lead_decisions[change.link], change.votes)
        if consensus.decision is not Decision.VERIFY:
            corrections.append(_correct(change.link, consensus, change.sources))
    offers = [offer for offer in offers if offer[1] not in restored]
    tied_spans = _find_tied_spans([offer[:2] for offer in offers])
    changes: list[OverlayChange] = []
    additions: set[TextLink] = set()
    for change in corrections + [addition for *_, addition in sorted(offers, key=lambda offer: (-offer[0], offer[1]))]:
        document_labels = labels[change.document]
        if change.action == "add":
            if change.link in additions:
                continue  # links that judges modified to the same one
            additions.add(change.link)
            if _find_linked_label(_labels_on_span(document_labels, change), change.link.entity) is not None:
                continue  # the judges confirmed a label
        fitting = _relink_nil(document_labels, change) if change.action == "add" else change
        new_labels = _change_labels(document_labels, fitting)
        if new_labels is None:
            undecided[_MISFITS[change.action]] += 1
            continue
        if change.action == "add" and change.link._replace(entity="") in tied_spans:
            undecided[EQUAL_VOTES] += 1
            continue
        labels[change.document] = new_labels
        changes.append(fitting)
    header = OverlayHeader(
        layout=LAYOUT,
        name=options.name,
        version=version,
        dataset=options.dataset,
        digest=options.digest,
        judged_by=machine or PEOPLE,
        undecided=dict(undecided),
        lead_decisions=n_lead_decisions,
        decided_contradictions=len(decided),
    )
    return Overlay(
        header,
        tuple(sorted(changes, key=lambda change: (change.document, change.start, change.end, change.entity or ""))),
        tuple(contradictions),
    )


def _correct(link: TextLink, consensus: Consensus, sources: tuple[str, ...]) -> OverlayChange:
    """Return the change of a gold link that follows from a decision to remove or modify it."""
    action: Action = "remove" if consensus.becomes is None else "relink"
    return OverlayChange(action, *link, consensus.becomes, consensus.votes, sources)


def find_disputed_links(campaign: Campaign, records: Sequence[Judgement]) -> list[TiedLink]:
    """Return the links that the lead can decide: ties, and gold links that judges remove and also accept."""
    contradictions = {change.link for change in build_overlay(campaign, records).contradictions}
    return find_ties(campaign, records, contradictions)


def _collect_gold_labels(campaign: Campaign, sources: Mapping[TextLink, Sequence[str]]) -> dict[str, list[Label]]:
    """Return the gold labels of each document as the campaign stores them, so that changes can be tried on them.

    `sources` has the names of the sources of every link that was shown. A campaign without stored labels has the gold
    links that were shown.
    """
    labels: dict[str, list[Label]] = defaultdict(list)
    for document, document_labels in campaign.options.gold_labels.items():
        labels[document] += document_labels
    if not labels:
        for link, link_sources in sources.items():
            if campaign.options.gold in link_sources:
                labels[link.document].append(Label(link.start, link.end, link.entity))
    return labels


def _find_contradictions(
    corrections: Iterable[OverlayChange], accepted: Iterable[TextLink], labels: Mapping[str, Sequence[Label]]
) -> tuple[list[OverlayChange], set[TextLink]]:
    """Return the removals, except those of the lead, of links that judges also accept, and these accepted links.

    `accepted` are the links to add, `labels` the gold labels of each document. A removal takes alternatives along.
    """
    by_document: dict[str, list[TextLink]] = defaultdict(list)
    for link in accepted:
        by_document[link.document].append(link)
    contradictions, restored = [], set()
    for change in corrections:
        document_labels = labels[change.document]
        new_labels = _change_labels(document_labels, change)
        if change.action != "remove" or new_labels is None:
            continue
        removed = [label for label in document_labels if all(label is not other for other in new_labels)]
        removed.append(Label(change.start, change.end, change.entity))  # as the campaign spells the id
        equal = [
            link
            for link in by_document[change.document]
            if _find_linked_label(_labels_on_span(removed, link), link.entity) is not None
        ]
        restored.update(equal)
        if equal and LEAD not in change.votes:
            contradictions.append(change)
    return contradictions, restored


def _find_tied_spans(offers: Sequence[tuple[int, TextLink]]) -> set[TextLink]:
    """Return the spans, as links without entity, for which several entities have most votes.

    `offers` are the links that judges accept, each with its number of votes.
    """
    votes_by_span: dict[TextLink, dict[str, int]] = defaultdict(dict)
    entities = canonical_ids([link.entity for _, link in offers], _NORMAL_IDS)
    for entity, (count, link) in zip(entities, offers, strict=True):
        votes = votes_by_span[link._replace(entity="")]
        votes[entity] = max(count, votes.get(entity, 0))
    return {span for span, votes in votes_by_span.items() if Counter(votes.values())[max(votes.values())] > 1}


def _relink_nil(labels: Sequence[Label], addition: OverlayChange) -> OverlayChange:
    """Return the change that relinks the gold label without entity on the span of an addition, else the addition."""
    relinking = msgspec.structs.replace(addition, action="relink", entity=None, becomes=addition.entity)
    return addition if _find_label(labels, relinking) is None else relinking


def _group_by_link(
    campaign: Campaign, judgements: Mapping[tuple[int, int], Sequence[Judgement]], n_judges: int
) -> tuple[dict[TextLink, list[Judgement]], dict[TextLink, list[str]]]:
    """Return the judgements on each link that has any, and the names of the sources of every link.

    `judgements` are keyed by task number and link index. For each source, the first `n_judges` count, as in scores, and
    of these the last one of each judge. Control tasks are ignored.
    """
    by_link: dict[TextLink, list[Judgement]] = defaultdict(list)
    sources: dict[TextLink, list[str]] = defaultdict(list)
    for task in campaign.tasks:
        for index, link in enumerate(() if task.is_control else task.links):
            location = task.to_text_link(link)
            sources[location].append(campaign.options.sources[task.source])
            if (task.number, index) in judgements:
                by_link[location] += select_votes(judgements[task.number, index], n_judges)
    return {location: pool_votes(votes) for location, votes in by_link.items()}, sources


class PatchedCorpus(NamedTuple):
    """A gold standard with an overlay applied."""

    corpus: Corpus
    """Patched corpus."""
    applied: Mapping[str, int]
    """Number of applied changes by action."""
    excluded: Mapping[str, int]
    """Number of changes that could not be applied, by reason."""


def apply_overlay(corpus: Corpus, overlay: Overlay) -> PatchedCorpus:
    """Apply an overlay to the gold standard that it was made for; changes that do not fit are excluded and counted.

    Raise `InputError` if the overlay was made for another gold standard, by its digest.
    """
    header = overlay.header
    if header.digest != corpus.digest:
        raise InputError(
            f"overlay {overlay.label}",
            actual=f"a patch of {header.dataset}@{header.digest}",
            expected=f"one of {corpus.name}@{corpus.digest}",
            remedy="Pass the gold standard that was judged, or judge this one",
        )
    changes = defaultdict(list)
    for change in overlay.changes:
        changes[change.document].append(change)
    applied: Counter[str] = Counter()
    excluded: Counter[str] = Counter()
    documents = [
        _apply_changes(document, changes[document.id], applied, excluded) if document.id in changes else document
        for document in corpus
    ]
    excluded["changes to unknown documents"] = sum(
        len(document_changes)
        for document, document_changes in changes.items()
        if document not in set(corpus.ids.to_pylist())
    )
    patched = Corpus.from_reader(
        documents, name=f"{corpus.name}~{overlay.label}", metadata=corpus.metadata, skipped=corpus.skipped
    )
    return PatchedCorpus(
        replace(patched, tokens=corpus.tokens),
        dict(applied),
        {reason: count for reason, count in excluded.items() if count},
    )


def _apply_changes(
    document: Document, changes: Sequence[OverlayChange], applied: Counter[str], excluded: Counter[str]
) -> Document:
    """Return the document with its labels changed; count changes in `applied` by action and in `excluded` by reason.

    Removed and relinked labels come first, so that additions can take their spans.
    """
    labels = list(document.labels)
    for change in sorted(changes, key=lambda change: change.action == "add"):  # removals first, so that additions fit
        new_labels = _change_labels(labels, change)
        if new_labels is None:
            reason = "additions that overlap a label" if change.action == "add" else "changes to unknown labels"
            excluded[reason] += 1
            continue
        labels = new_labels
        applied[change.action] += 1
    return msgspec.structs.replace(document, labels=tuple(labels))


def _change_labels(labels: Sequence[Label], change: OverlayChange) -> list[Label] | None:
    """Return the labels of a document after a change; None if it does not fit.

    An addition does not fit if it overlaps a label, another change if there is no such label.
    """
    if change.action == "add":
        if any(label.start < change.end and change.start < label.end for label in labels):
            return None
        return [*labels, Label(change.start, change.end, change.entity)]
    old_label = _find_label(labels, change)
    if old_label is None:
        return None
    return _remove_mention(labels, old_label) if change.action == "remove" else _relink(labels, old_label, change)


def _find_label(labels: Sequence[Label], change: OverlayChange) -> Label | None:
    """Return the label that a change is about, with the span and entity of the change, or None.

    A single linked label on the span is returned even if its entity differs. Without an entity, the change is about the
    first label of a mention that is NIL, or a name without link.
    """
    on_span = _labels_on_span(labels, change)
    if change.entity is None:
        return next((label for label in on_span if _lacks_entity(label)), None)
    match = _find_linked_label(on_span, change.entity)
    linked = [label for label in on_span if isinstance(label.entity, str)]
    return linked[0] if match is None and len(linked) == 1 else match


def _labels_on_span(labels: Sequence[Label], change: OverlayChange | TextLink) -> list[Label]:
    """Return the labels on the span of a change or link."""
    return [label for label in labels if (label.start, label.end) == (change.start, change.end)]


def _find_linked_label(on_span: Sequence[Label], entity: str) -> Label | None:
    """Return the label with an entity, however its id is spelled, among the labels on one span; None without any."""
    candidates = [label for label in on_span if isinstance(label.entity, str)]
    ids = [str(label.entity) for label in candidates]
    pages = frozenset(canonical_ids(ids, _NORMAL_IDS))
    # A campaign drops the fragment of an id only where no other fragment of the page occurs.
    for options in (_NORMAL_IDS.with_id_context(IdContext(fragment_pages=pages)), _NORMAL_IDS):
        *names, target = map(restore_fragment, canonical_ids([*ids, entity], options))
        for label, name in zip(candidates, names, strict=True):
            if name in (entity, target):
                return label
    return None


def _lacks_entity(label: Label) -> bool:
    """Return whether a label is NIL, or has no link though it is a name; parts of other mentions are not."""
    is_nil = NilIds.NOT_IN_WIKI.is_nil(label.entity) or (label.entity is UNLINKED and label.kind is None)
    return is_nil and label.parent is None


def _remove_mention(labels: Sequence[Label], mention: Label) -> list[Label]:
    """Return the labels without `mention`, its alternatives and its parts."""
    if mention.mention_id is None:
        return [label for label in labels if label is not mention]
    return [label for label in labels if mention.mention_id not in (label.mention_id, label.parent)]


def _relink(labels: Sequence[Label], old_label: Label, change: OverlayChange) -> list[Label]:
    """Return the labels with `old_label` linked to the new entity, without the names and types of the old entity.

    If an alternative of the mention already has the new entity, `old_label` is dropped instead.
    """
    others = [label for label in labels if label is not old_label]
    if old_label.mention_id is not None and any(
        label.mention_id == old_label.mention_id and label.entity == change.becomes for label in others
    ):
        return others
    new_label = msgspec.structs.replace(
        old_label, entity=change.becomes, same_as=(), name=None, types=(), nil_cluster=None
    )
    return [new_label if label is old_label else label for label in labels]


def score_overlay(path: str, scored: ScoredRuns) -> tuple[list[Result], list[str]]:
    """Score runs again on the gold standard patched by the overlay file `path`.

    Returns the results in the order of the runs, and a note for each kind of change that could not be applied.
    """
    overlay = read_overlay(path)
    patch = apply_overlay(scored.corpus, overlay)
    results = [create_evaluation(item.request, patch.corpus, item.run).result for item in scored.runs]
    notes = [f"{path}: {reason}: {count}" for reason, count in patch.excluded.items() if count]
    return results, [*notes, *(f"{path}: {note}" for note in describe_ties(overlay.header))]


def describe_ties(header: OverlayHeader) -> list[str]:
    """Return a note on ties, and one on contradictory judgements, with the numbers of those that the lead decided.

    Without ties or contradictions, their note is missing.
    """
    counts = {
        "ties of judges": (header.lead_decisions, header.undecided.get(NO_MAJORITY, 0)),
        CONTRADICTORY: (header.decided_contradictions, header.undecided.get(CONTRADICTORY, 0)),
    }
    return [
        f"{name}: {TieCounts(n_decided + n_undecided, n_decided)}"
        for name, (n_decided, n_undecided) in counts.items()
        if n_decided or n_undecided
    ]


def describe_rank_changes(before: Sequence[Result], after: Sequence[Result]) -> str:
    """Return a line on the systems whose rank by the first headline measure differs after an overlay.

    Without headline, the main measure decides. Ranks are 1 plus the number of systems with a higher score; systems
    without score have none. Empty for one system.
    """
    if len(before) < 2:
        return ""
    measure = next(iter(before[0].headline.values()), choose_main_measure({}, before[0].table_measures))
    ranks = [_rank_results(results, measure) for results in (before, after)]
    changes = [
        f"{result.run} {old or 'none'} → {new or 'none'}"
        for result, old, new in zip(before, *ranks, strict=True)
        if old != new
    ]
    return f"ranks by {measure} after the overlay: {', '.join(changes) or 'unchanged'}"


def _rank_results(results: Sequence[Result], measure: str) -> list[int | None]:
    """Return the rank of each result by a measure; None if its score is undefined."""
    values = [result[measure] for result in results]
    return [
        None if value is None else 1 + sum(other is not None and other > value for other in values) for value in values
    ]


def is_overlay(path: str) -> bool:
    """Return whether a file begins like an overlay; False for the name of a dataset."""
    source = Source(path)
    return (
        source.exists and not source.is_folder and f'"{LAYOUT.partition("/")[0]}/'.encode() in source.first_bytes[:200]
    )


def encode_overlay(overlay: Overlay) -> Iterator[bytes]:
    """Yield the lines of an overlay file: the header, then one change per line, as JSON."""
    for line in (overlay.header, *overlay.changes):
        yield msgspec.json.encode(line) + b"\n"


def read_overlay(path: str) -> Overlay:
    """Read an overlay from a file; raise `InputError` if it is invalid or of another layout."""
    source = Source(path)
    first, *lines = source.read_bytes().splitlines() or [b""]
    head = _decode_line(first, dict[str, object], source.label, 1)
    check_layout_version(source.label, str(head.get("layout", "")), LAYOUT)
    header = _decode_line(first, OverlayHeader, source.label, 1)
    return Overlay(
        header, tuple(_decode_line(line, OverlayChange, source.label, row) for row, line in enumerate(lines, 2))
    )


def _decode_line(line: bytes, kind: type[_T], label: str, row: int) -> _T:
    """Decode line `row` of an overlay file as `kind`; raise `InputError` if it is invalid."""
    return read_json_value(
        line, kind, f"{label}:{row}", expected=f"an overlay ({LAYOUT})", remedy="Write it again: karat verify overlay"
    )
