"""Packs as people and programs read them."""

from __future__ import annotations

from typing import Literal

import msgspec

from karat.kb.pack.manifest import PackManifest, PackSource
from karat.kb.pack.shapes import SHAPES
from karat.kb.protocol import Standing
from karat.kb.resolve import Resolution
from karat.pages.files import Written
from karat.pages.tables import aligned, layout_of


class PackFile(Written, frozen=True, kw_only=True):
    """What `karat kb show --json` writes; a table that there is none of counts 0."""

    layout: Literal["karat-pack/1"]
    name: str
    date: str
    title: str
    licence: str
    digest: str
    complete: bool
    entities: int
    aliases: int
    anchor_counts: str
    popularity: str
    tables: dict[str, int]
    counts: dict[str, int]
    repairs: dict[str, int]
    sources: tuple[PackSource, ...]
    notes: tuple[str, ...]


def manifest_json(manifest: PackManifest) -> bytes:
    """What a pack says about itself, as JSON."""
    tables = {name: about.rows for name, about in manifest.tables.items()}
    found = PackFile(
        layout="karat-pack/1",
        name=manifest.name,
        date=manifest.date,
        title=manifest.title,
        licence=manifest.licence,
        digest=manifest.digest,
        complete=manifest.complete,
        entities=tables.get("entities", 0),
        aliases=tables.get("aliases", 0),
        anchor_counts=manifest.anchor_counts,
        popularity=manifest.popularity,
        tables=tables,
        counts=dict(manifest.counts),
        repairs=dict(manifest.repairs),
        sources=manifest.sources,
        notes=manifest.notes,
    )
    return msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n"


def manifest_page(manifest: PackManifest, *, width: int | None = None) -> str:
    """The same for people: where it comes from, its tables and what they are needed for, and what it lacks."""
    tables = manifest.tables
    rows = [("table", "rows", "needed for")]
    rows += [(name, f"{tables[name].rows:,}", shape.needed_for) for name, shape in SHAPES.items() if name in tables]
    blocks = [f"{manifest.name}@{manifest.digest} of {manifest.date}: {manifest.title or 'a pack'}"]
    blocks.append(aligned(rows, (0, 2), width))
    more = {name: count for name, count in manifest.counts.items() if name not in tables}
    facts = [f"{name} {count:,}" for name, count in more.items()]
    facts += [f"anchor counts: {manifest.anchor_counts}", f"popular by: {manifest.popularity}"]
    facts.append("complete" if manifest.complete else "some entities only: what is not there is not known")
    blocks.append("\n".join(facts))
    missing = [f"no {name}: nothing for {shape.needed_for}" for name, shape in SHAPES.items() if name not in tables]
    if missing:
        blocks.append("\n".join(missing))
    if manifest.repairs:
        blocks.append("\n".join(f"{count:,} {what}" for what, count in manifest.repairs.items()))
    blocks.append("\n".join(_source(source) for source in manifest.sources) or "no source is named")
    blocks.append(f"licence: {manifest.licence or 'not stated'}")
    return layout_of(None, width).page([*blocks, *(["\n".join(manifest.notes)] if manifest.notes else [])])


def _source(source: PackSource) -> str:
    version = f" {source.version}" if source.version else ""
    return f"from {source.name}{version} ({source.licence or 'licence not stated'})"


class ResolutionFile(Written, frozen=True, kw_only=True):
    """What `karat kb resolve --json` writes: mentions and ids by standing, and the new id of each that moved."""

    layout: Literal["karat-resolution/1"]
    name: str
    kb: str
    mentions: dict[str, int]
    ids: dict[str, list[str]]
    moved: dict[str, str]


def resolution_json(report: Resolution) -> bytes:
    """What became of the ids, as JSON."""
    found = ResolutionFile(
        layout="karat-resolution/1",
        name=report.name,
        kb=report.kb,
        mentions={str(standing): count for standing, count in report.mentions.items()},
        ids={str(standing): list(ids) for standing, ids in report.ids.items()},
        moved=dict(report.moved),
    )
    return msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n"


def resolution_page(report: Resolution, *, listed: bool = False, width: int | None = None) -> str:
    """The same for people."""
    rows = [("ids", "mentions", "ids")]
    rows += [
        (str(standing), f"{count:,}", f"{len(report.ids.get(standing, ())):,}")
        for standing, count in report.mentions.items()
    ]
    blocks = [f"{report.name} by {report.kb}", aligned(rows, width=width)]
    if listed:
        blocks += [
            "\n".join(_became(id, standing, report) for id in ids)
            for standing, ids in report.ids.items()
            if standing is not Standing.UNCHANGED
        ]
    return layout_of(None, width).page(blocks)


def _became(id: str, standing: Standing, report: Resolution) -> str:
    return f"{id} → {report.moved[id]} ({standing})" if id in report.moved else f"{id} ({standing})"


class FoundEntity(Written, frozen=True):
    """An entity that a name may stand for; `count` says how often it does, by whatever the pack counts."""

    id: str
    name: str | None
    description: str | None
    surface: str
    count: int


class FoundFile(Written, frozen=True, kw_only=True):
    """What `karat kb find --json` writes, best first."""

    layout: Literal["karat-found/1"]
    kb: str
    text: str
    entities: list[FoundEntity]


def found_json(kb: str, text: str, entities: list[FoundEntity]) -> bytes:
    """Entities by name, as JSON."""
    found = FoundFile(layout="karat-found/1", kb=kb, text=text, entities=entities)
    return msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n"


def found_page(entities: list[FoundEntity], *, width: int | None = None) -> str:
    """The same for people."""
    rows = [("id", "name", "found as", "count", "description")]
    rows += [(each.id, each.name or "", each.surface, f"{each.count:,}", each.description or "") for each in entities]
    return layout_of(None, width).page([aligned(rows, (0, 1, 2, 4), width) if entities else "nothing of this name"])
