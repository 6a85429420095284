"""Overlays: what judges decided, as a versioned patch over a gold standard that stays as it is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from karat.errors import InputError, refuse_newer
from karat.matching.read.reading import Reading, resolved
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.spec.choices.conventions import Ids
from karat.storage.files import Source
from karat.verification.campaign import Campaign
from karat.verification.decisions import Decision, Judgement, together
from karat.verification.outcomes import selected
from karat.verification.posthoc import LinkAt

LAYOUT: Final = "karat-overlay/1"
_T = TypeVar("_T")
Action: TypeAlias = Literal["add", "remove", "relink"]


class OverlayChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One change, and where it comes from: how many judges said what, and which sources had the link.

    `entity` is what is added, removed or linked anew; `becomes` is the entity of what is linked anew.
    """

    action: Action
    document: str
    start: int
    end: int
    entity: str
    becomes: str | None = None
    votes: Mapping[str, int] = {}
    sources: tuple[str, ...] = ()


class OverlayHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line of an overlay: of which version of which gold standard it is a patch, and who judged."""

    layout: Literal["karat-overlay/1"]
    name: str
    version: Annotated[int, msgspec.Meta(ge=1)]
    dataset: str
    digest: str
    judged_by: str
    undecided: Mapping[str, int]


class Overlay(NamedTuple):
    """A header, and the changes in the order of the texts."""

    header: OverlayHeader
    changes: tuple[OverlayChange, ...]

    @property
    def label(self) -> str:
        """How results call it: name and version."""
        return f"{self.header.name}-{self.header.version}"


def overlay_of(
    campaign: Campaign, records: Sequence[Judgement], *, version: int = 1, machine: str | None = None
) -> Overlay:
    """What a campaign says is to be changed.

    A link counts with all judgements on it, from whatever source it was shown; the majority holds, and a tie changes
    nothing. Gold is removed or linked anew. Links of systems that were verified, or modified to another entity, are
    added where they overlap no gold that stays, and no addition with more votes; so are links that judges added.
    """
    terms = campaign.terms
    chosen = selected(campaign.of_kind("verify"), records, machine)
    said, sources = _by_link(campaign, chosen.said)
    gold = [link for link, own in sources.items() if terms.gold in own]
    undecided: Counter[str] = Counter()
    changes: list[OverlayChange] = []
    offers: list[tuple[int, LinkAt, OverlayChange]] = []
    for link, own in said.items():
        ruling = together(own, len(own))
        if ruling is None:
            undecided["links on which judges are divided"] += 1
            continue
        whose, votes = tuple(sources[link]), ruling.votes
        if terms.gold not in whose and ruling.becomes is not None:
            place = link._replace(entity=ruling.becomes)
            offers.append((votes[ruling.decision], place, OverlayChange("add", *place, None, votes, whose)))
        elif terms.gold in whose and ruling.decision is not Decision.VERIFY:
            action: Action = "remove" if ruling.becomes is None else "relink"
            changes.append(OverlayChange(action, *link, ruling.becomes, votes, whose))
    offers += [
        (count, place, OverlayChange("add", *place, None, {Decision.ADD.value: count}))
        for place, count in chosen.added.items()
    ]
    gone = {LinkAt(one.document, one.start, one.end, one.entity) for one in changes if one.action == "remove"}
    stays = _by_document(link for link in gold if link not in gone)
    for _, place, change in sorted(offers, key=lambda one: (-one[0], one[1])):
        if any(place.overlaps(other) for other in stays[place.document]):
            undecided["accepted links that overlap others"] += 1
            continue
        stays[place.document].append(place)
        changes.append(change)
    header = OverlayHeader(
        LAYOUT, terms.name, version, terms.dataset, terms.digest, machine or "people", dict(undecided)
    )
    return Overlay(header, tuple(sorted(changes, key=lambda one: (one.document, one.start, one.end, one.entity))))


def _by_link(
    campaign: Campaign, said: Mapping[tuple[int, int], Sequence[Judgement]]
) -> tuple[dict[LinkAt, list[Judgement]], dict[LinkAt, list[str]]]:
    """The judgements on each link, and the sources that have it."""
    judged: dict[LinkAt, list[Judgement]] = defaultdict(list)
    sources: dict[LinkAt, list[str]] = defaultdict(list)
    for task in campaign.tasks:
        for place, link in enumerate(() if task.control else task.links):
            found = task.place(link)
            sources[found].append(campaign.terms.sources[task.source])
            if (task.number, place) in said:
                judged[found] += said[task.number, place]
    return judged, sources


def _by_document(links: Iterable[LinkAt]) -> dict[str, list[LinkAt]]:
    found: dict[str, list[LinkAt]] = defaultdict(list)
    for link in links:
        found[link.document].append(link)
    return found


class Patched(NamedTuple):
    """A gold standard with an overlay on it: what was done, and what could not be, by why."""

    corpus: Corpus
    done: Mapping[str, int]
    left_out: Mapping[str, int]


def patched(corpus: Corpus, overlay: Overlay) -> Patched:
    """The gold standard as judges left it; the overlay must be one of this very gold standard."""
    header = overlay.header
    if header.digest != corpus.digest:
        raise InputError(
            f"overlay {overlay.label}",
            found=f"a patch of {header.dataset}@{header.digest}",
            expected=f"one of {corpus.name}@{corpus.digest}",
            remedy="Give the gold standard that was judged, or judge this one",
        )
    changes = defaultdict(list)
    for change in overlay.changes:
        changes[change.document].append(change)
    done: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    documents = [
        _changed(document, changes[document.id], done, left_out) if document.id in changes else document
        for document in corpus
    ]
    left_out["changes to documents that are not there"] = sum(
        len(own) for document, own in changes.items() if document not in set(corpus.ids.to_pylist())
    )
    built = Corpus.built(documents, name=f"{corpus.name}~{overlay.label}", about=corpus.about, skipped=corpus.skipped)
    return Patched(
        replace(built, tokens=corpus.tokens), dict(done), {why: count for why, count in left_out.items() if count}
    )


def _changed(
    document: Document, changes: Sequence[OverlayChange], done: Counter[str], left_out: Counter[str]
) -> Document:
    labels = list(document.labels)
    for change in sorted(changes, key=lambda one: one.action == "add"):  # what goes makes room
        if change.action == "add":
            near = [label for label in labels if label.start < change.end and change.start < label.end]
            if near:
                left_out["additions that overlap a label"] += 1
                continue
            labels.append(Label(change.start, change.end, change.entity))
        else:
            old = _meant(labels, change)
            if old is None:
                left_out["changes to labels that are not there"] += 1
                continue
            labels = _without(labels, old) if change.action == "remove" else _relinked(labels, old, change)
        done[change.action] += 1
    return msgspec.structs.replace(document, labels=tuple(labels))


def _meant(labels: Sequence[Label], change: OverlayChange) -> Label | None:
    """The label that a change is about: on its span, and of its entity where there are several."""
    there = [
        one for one in labels if (one.start, one.end) == (change.start, change.end) and isinstance(one.entity, str)
    ]
    names = resolved([str(one.entity) for one in there], Reading(kb=None, ids=Ids.NORMALISED))
    same = [one for one, name in zip(there, names, strict=True) if name == change.entity]
    return same[0] if same else there[0] if len(there) == 1 else None


def _without(labels: Sequence[Label], old: Label) -> list[Label]:
    """The labels without a mention: all its alternatives go."""
    if old.unit is None:
        return [one for one in labels if one is not old]
    return [one for one in labels if old.unit not in (one.unit, one.parent)]


def _relinked(labels: Sequence[Label], old: Label, change: OverlayChange) -> list[Label]:
    """The labels with one on another entity, of which nothing else is known; an alternative that says so stays."""
    others = [one for one in labels if one is not old]
    if old.unit is not None and any(one.unit == old.unit and one.entity == change.becomes for one in others):
        return others
    new = msgspec.structs.replace(old, entity=change.becomes, same_as=(), name=None, types=(), nil_cluster=None)
    return [new if one is old else one for one in labels]


def written(overlay: Overlay) -> Iterator[bytes]:
    """An overlay as JSONL."""
    for line in (overlay.header, *overlay.changes):
        yield msgspec.json.encode(line) + b"\n"


def read_overlay(path: str) -> Overlay:
    """An overlay from a file."""
    source = Source(path)
    first, *lines = source.data().splitlines() or [b""]
    head = _read(first, dict[str, object], source.label, 1)
    refuse_newer(source.label, str(head.get("layout", "")), LAYOUT)
    header = _read(first, OverlayHeader, source.label, 1)
    return Overlay(header, tuple(_read(line, OverlayChange, source.label, row) for row, line in enumerate(lines, 2)))


def _read(line: bytes, kind: type[_T], label: str, row: int) -> _T:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(
            f"{label}:{row}",
            found=str(problem),
            expected=f"an overlay ({LAYOUT})",
            remedy="Write it again: karat verify overlay",
        ) from None
