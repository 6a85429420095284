"""What training text gives away of test sets, as people and programs read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from karat.fitting import wrapped
from karat.pages.files import Written, indented
from karat.pages.tables import aligned
from karat.pages.zelda.scores import WrittenShare, percent, written_share
from karat.zelda.audit import ALIKE, RUN, Audit, Leakage
from karat.zelda.given import Share
from karat.zelda.seen import NEW_WORDS, SEEN


class WrittenNear(Written, frozen=True):
    """A test document that training text nearly has."""

    document: str
    section: str
    shared: float


class WrittenLeakage(Written, frozen=True, kw_only=True):
    """What training text has of one split."""

    documents: int
    too_short_to_tell: int
    pairs: WrittenShare
    entities: WrittenShare
    surfaces: WrittenShare
    mentions: dict[str, WrittenShare]
    near: list[WrittenNear]


class AuditFile(Written, frozen=True, kw_only=True):
    """What `karat zelda audit --json` writes."""

    layout: Literal["karat-zelda-audit/1"]
    sections: int
    links: int
    entities: int
    left_out: dict[str, int]
    splits: dict[str, WrittenLeakage]


def audit_json(found: Audit) -> bytes:
    """An audit as JSON."""
    return indented(
        AuditFile(
            layout="karat-zelda-audit/1",
            sections=found.sections,
            links=found.links,
            entities=found.entities,
            left_out=dict(found.left_out),
            splits={split: _written(own) for split, own in found.splits.items()},
        )
    )


def _written(own: Leakage) -> WrittenLeakage:
    return WrittenLeakage(
        documents=own.documents,
        too_short_to_tell=own.short,
        pairs=written_share(own.pairs),
        entities=written_share(own.entities),
        surfaces=written_share(own.surfaces),
        mentions={value: written_share(share) for value, share in own.mentions.items()},
        near=[WrittenNear(one.document, one.section, one.shared) for one in own.near],
    )


def audit_page(found: Audit, *, details: bool = False, width: int | None = None) -> str:
    """An audit as text."""
    return "\n\n".join(_blocks(found, width, details=details)) + "\n"


def _blocks(found: Audit, width: int | None, *, details: bool) -> Iterator[str]:
    yield wrapped(
        f"training text: {found.sections:,} sections, {found.links:,} links to {found.entities:,} entities; shares in "
        "percent",
        width,
    )
    head = ["distinct, in training too", "pairs", "of", "entities", "of", "surfaces", "of"]
    yield aligned([head, *([split, *_three(own)] for split, own in found.splits.items())], width=width)
    head = ["mentions", "pair seen", "entity seen", "entity unseen", "of", "near texts", "documents"]
    yield aligned([head, *([split, *_how(own)] for split, own in found.splits.items())], width=width)
    yield from (wrapped(f"training text: {what}: {count:,}", width) for what, count in found.left_out.items())
    short = sum(own.short for own in found.splits.values())
    if short:
        yield wrapped(f"{short:,} documents have too few words to tell whether the training text has them", width)
    near = [one for own in found.splits.values() for one in own.near]
    if near and not details:
        yield wrapped("--details names the documents that the training text nearly has", width)
    elif near:
        lines = [f"{one.split} {one.document}: {100 * one.shared:.0f} % as in {one.section}" for one in near]
        yield wrapped(
            "\n".join([f"{ALIKE:.0%} of the runs of {RUN} words of the shorter text, or more:", *lines]), width
        )


def _three(own: Leakage) -> list[str]:
    shares: list[Share] = [own.pairs, own.entities, own.surfaces]
    return [cell for share in shares for cell in (percent(share.value), f"{share.of:,}")]


def _how(own: Leakage) -> list[str]:
    parts = [own.mentions[SEEN], own.mentions[NEW_WORDS], own.unseen]
    return [*(percent(part.value) for part in parts), f"{own.unseen.of:,}", f"{len(own.near):,}", f"{own.documents:,}"]
