"""Snapshots, resolved ids and entities found by name, as text and JSON."""

from __future__ import annotations

from collections.abc import Mapping

from karat.data.id_resolution import Resolution
from karat.kb.protocol import IdStatus
from karat.kb.snapshot.manifest import SnapshotManifest, SnapshotSource
from karat.kb.snapshot.table_schemas import TABLE_SCHEMAS
from karat.model.counts.skip_counter import name_locations
from karat.model.output.json_files import JsonFile, JsonRecord, build_record, encode_indented
from karat.model.output.text_layout import format_count, wrap_text
from karat.render.tables import UNDEFINED, draw_text, get_layout


class SnapshotFile(JsonFile, frozen=True, tag="karat-snapshot/2", kw_only=True):
    """The output of `karat kb show --json`; missing tables count 0."""

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
    tables: Mapping[str, int]
    counts: Mapping[str, int]
    repairs: Mapping[str, int]
    sources: tuple[SnapshotSource, ...]
    notes: tuple[str, ...]


def encode_manifest(manifest: SnapshotManifest) -> bytes:
    """Encode the manifest of a snapshot as indented JSON."""
    tables = {name: metadata.rows for name, metadata in manifest.tables.items()}
    sizes = {"tables": tables, "entities": tables.get("entities", 0), "aliases": tables.get("aliases", 0)}
    return encode_indented(build_record(SnapshotFile, manifest, **sizes))


def render_manifest(manifest: SnapshotManifest, *, width: int | None = None) -> str:
    """Render the manifest of a snapshot as text: tables, counts, missing tables, sources and notes.

    `width`: columns to wrap at; None does not wrap.
    """
    tables = manifest.tables
    rows = [("table", "rows", "needed for")]
    rows += [(name, f"{tables[name].rows:,}", shape.purpose) for name, shape in TABLE_SCHEMAS.items() if name in tables]
    blocks = [f"{manifest.name}@{manifest.digest} of {manifest.date}: {manifest.title or 'a snapshot'}"]
    blocks.append(draw_text(rows, (0, 2), width))
    more = {name: count for name, count in manifest.counts.items() if name not in tables}
    facts = [f"{name} {count:,}" for name, count in more.items()]
    facts += [f"anchor counts: {manifest.anchor_counts}", f"popularity: {manifest.popularity}"]
    facts.append("complete" if manifest.complete else "incomplete: an entity missing here may exist")
    blocks.append("\n".join(facts))
    missing = [
        f"no {name}: not usable for {shape.purpose}" for name, shape in TABLE_SCHEMAS.items() if name not in tables
    ]
    if missing:
        blocks.append("\n".join(missing))
    if manifest.repairs:
        blocks.append("\n".join(f"{count:,} {repair}" for repair, count in manifest.repairs.items()))
    blocks.append("\n".join(_format_source(source) for source in manifest.sources) or "no source stated")
    blocks.append(f"licence: {manifest.licence or 'not stated'}")
    return get_layout(None, width).join([*blocks, *(["\n".join(manifest.notes)] if manifest.notes else [])])


def _format_source(source: SnapshotSource) -> str:
    """Return name, version and licence of a source of a snapshot."""
    version = f" {source.version}" if source.version else ""
    return f"from {source.name}{version} ({source.licence or 'licence not stated'})"


class ResolutionFile(JsonFile, frozen=True, tag="karat-resolution/2", kw_only=True):
    """The output of `karat kb resolve --json`: mentions and ids by status, the new ids by old id, and conflicts.

    `conflicts` is the number of mentions with a further id that is mapped to another entity. `skipped` counts what the
    reader skipped or repaired, by description.
    """

    name: str
    kb: str
    mentions: dict[str, int]
    ids: dict[str, list[str]]
    new_ids: dict[str, str]
    conflicts: int = 0
    skipped: Mapping[str, int] = {}


def encode_resolution(resolution: Resolution) -> bytes:
    """Encode the resolution of ids as indented JSON."""
    content = ResolutionFile(
        name=resolution.data_name,
        kb=resolution.kb_label,
        mentions={str(status): count for status, count in resolution.mention_counts.items()},
        ids={str(status): list(ids) for status, ids in resolution.ids_by_status.items()},
        new_ids=dict(resolution.new_ids),
        conflicts=resolution.n_conflicts,
        skipped=name_locations(resolution.skipped),
    )
    return encode_indented(content)


def render_resolution(resolution: Resolution, *, list_ids: bool = False, width: int | None = None) -> str:
    """Render the number of mentions and ids by status; with `list_ids`, list the ids that are not unchanged.

    `width`: columns to wrap at; None does not wrap.
    """
    rows = [("ids", "mentions", "ids")]
    rows += [
        (str(status), f"{count:,}", f"{len(resolution.ids_by_status.get(status, ())):,}")
        for status, count in resolution.mention_counts.items()
    ]
    blocks = [f"{resolution.data_name} by {resolution.kb_label}", draw_text(rows, width=width)]
    if resolution.skipped:
        blocks.append(
            "\n".join(f"read: {name} {count:,}" for name, count in name_locations(resolution.skipped).items())
        )
    if list_ids:
        blocks += [
            "\n".join(_format_change(id, status, resolution) for id in ids)
            for status, ids in resolution.ids_by_status.items()
            if status is not IdStatus.UNCHANGED
        ]
    if resolution.n_conflicts:
        mentions = format_count(resolution.n_conflicts, "mention has", "mentions have")
        blocks.append(
            wrap_text(f"{mentions} a further id of another entity, which stays as written: the entity counts.", width)
        )
    unknown = resolution.ids_by_status.get(IdStatus.UNKNOWN, ())
    if unknown:
        finding = f"{format_count(len(unknown), 'id is', 'ids are')} unknown, such as {unknown[0]}"
        listing = "" if list_ids else " --list lists them."
        blocks.append(
            wrap_text(
                f"{finding}.{listing} karat kb find NAME searches the names of entities. --kb DIR maps ids that are in "
                "the rows of DIR/same_as.tsv, an entity and another id of it.",
                width,
            )
        )
    return get_layout(None, width).join(blocks)


def _format_change(id: str, status: IdStatus, resolution: Resolution) -> str:
    """Return an id, its new id if it has one, and its status, as text."""
    if id not in resolution.new_ids:
        return f"{id} ({status})"
    described = "mapped to an unlisted entity" if status is IdStatus.UNKNOWN else status
    return f"{id} → {resolution.new_ids[id]} ({described})"


class EntityMatch(JsonRecord, frozen=True):
    """An entity that has the name as an alias.

    `count` is the frequency of the alias in the snapshot, or else the number of links to the entity; None if unknown.
    """

    id: str
    name: str | None
    description: str | None
    surface: str
    count: int | None


class EntityMatchesFile(JsonFile, frozen=True, tag="karat-kb-find/2", kw_only=True):
    """The output of `karat kb find --json`, best match first."""

    kb: str
    text: str
    entities: list[EntityMatch]


def encode_matches(kb: str, text: str, entities: list[EntityMatch]) -> bytes:
    """Encode entities found by the name `text` in the snapshot `kb` as indented JSON."""
    content = EntityMatchesFile(kb=kb, text=text, entities=entities)
    return encode_indented(content)


def render_matches(entities: list[EntityMatch], *, width: int | None = None) -> str:
    """Render entities found by name as text.

    `width`: columns to wrap at; None does not wrap.
    """
    rows = [("id", "name", "found as", "count", "description")]
    rows += [
        (
            match.id,
            match.name or "",
            match.surface,
            UNDEFINED if match.count is None else f"{match.count:,}",
            match.description or "",
        )
        for match in entities
    ]
    return get_layout(None, width).join(
        [draw_text(rows, (0, 1, 2, 4), width) if entities else "no entity has this name"]
    )
