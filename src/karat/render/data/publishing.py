"""Output of `karat data add` and `karat data split` as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from karat.data.publishing.leakage import Overlap
from karat.data.publishing.registration import Addition
from karat.data.publishing.split import PartRecord, SplitFile
from karat.model.output.text_layout import format_count, wrap_text
from karat.render.tables import UNDEFINED, draw_text, format_percent
from karat.stats.near_duplicates import MIN_SHARED, RUN_LENGTH
from karat.stats.share import Share

_MAX_VALUES: Final = 16
_MAX_DUPLICATES: Final = 10
_MAX_CHANGES: Final = 10
OVERLAP_COLUMNS: Final = (
    "documents",
    "same id",
    "same text",
    "near-duplicates",
    "of",
    "pairs, %",
    "of",
    "entities, %",
    "of",
    "surfaces, %",
    "of",
)
"""Headings of the table of overlaps."""


def render_addition(addition: Addition, *, width: int | None = None) -> str:
    """Render what was added to the catalogue, what was skipped on reading, and what is unknown about the dataset.

    `width`: columns to wrap at; None does not wrap.
    """
    lines = [f"{addition.manifest.name}@{version}: already there" for version in addition.present]
    for name in addition.added:
        version = addition.manifest.versions[name]
        for split, record in version.splits.items():
            suffix = f"/{split}" if len(version.splits) > 1 else ""
            counts = [format_count(record.documents, "document"), format_count(record.labels, "label")]
            counts += [format_count(record.tags, "tag")] if record.tags else []
            lines.append(f"{addition.manifest.name}@{name}{suffix}: {', '.join(counts)}, digest {record.digest}")
            lines += [f"  {reason}: {count}" for reason, count in record.skipped.items()]
        unknown = [*version.metadata.list_unknown(), *([] if version.guidelines else ["guidelines"])]
        lines += [f"  unknown: {', '.join(unknown)}"] if unknown else []
    lines += _describe_split_changes(addition)
    lines += _describe_missing_splits(addition)
    lines.append(f"in {addition.folder}")
    return wrap_text("\n".join(lines) + "\n", width)


def _describe_split_changes(addition: Addition) -> list[str]:
    """Return a warning that names the documents that changed their split, or nothing."""
    changes, name = addition.split_changes, addition.manifest.name
    if not changes:
        return []
    listed = [f"{change.document} ({change.old} → {change.new})" for change in changes[:_MAX_CHANGES]]
    more = f" and {len(changes) - len(listed)} more" if len(changes) > len(listed) else ""
    return [
        f"  warning: {format_count(len(changes), 'document')} in another split than in {name}@{addition.older}, so its "
        f"predictions do not fit: {', '.join(listed)}{more}. {_propose_splits(addition)}"
    ]


def _describe_missing_splits(addition: Addition) -> list[str]:
    """Return a warning that names the splits that the new version lacks, or nothing."""
    if not addition.missing_splits:
        return []
    older = f"{addition.manifest.name}@{addition.older}"
    names = ", ".join(f"{older}/{split}" for split in addition.missing_splits)
    new_splits = addition.manifest.versions[addition.added[0]].splits
    return [f"  warning: this version does not have the documents of {names}. {_propose_splits(addition, new_splits)}"]


def _propose_splits(addition: Addition, new_splits: Iterable[str] = ()) -> str:
    """Return how to add the version again with the splits of the version before, and with `new_splits`.

    A split that is missing has the name of its data in the version before.
    """
    name = addition.manifest.name
    files = " ".join(
        f"--split {split}={f'{name}@{addition.older}/{split}' if split in addition.missing_splits else 'FILE'}"
        for split in dict.fromkeys([*addition.manifest.versions[addition.older].splits, *new_splits])
    )
    return (
        f"To keep the splits, remove this version (karat data remove {name} --version {addition.added[0]}) and add the "
        f"corrected file of each: {files}"
    )


def render_split(record: SplitFile, folder: str, *, width: int | None = None) -> str:
    """Render the parts of a divided corpus, the shares of the facet's values, and the overlap of the parts.

    `folder`: where the parts are. `width`: columns to wrap at; None does not wrap.
    """
    n_documents = sum(part.documents for part in record.parts.values())
    title = f"{record.corpus}@{record.digest}: {format_count(n_documents, 'document')}, seed {record.seed}"
    blocks = [title, _render_parts(record.parts, width)]
    if record.by is not None:
        blocks.append(_render_values(record, width))
    if record.duplicate_groups:
        documents, groups = format_count(record.duplicate_documents, "document"), record.duplicate_groups
        blocks.append(f"{documents} in {format_count(groups, 'group')} of near-duplicates; each group is in one part")
    else:
        blocks.append("no near-duplicate documents")
    blocks += [draw_text([list(OVERLAP_COLUMNS), *map(build_overlap_row, record.overlaps)], width=width)]
    blocks += list(describe_overlaps(record.overlaps))
    blocks += ["\n".join(f"{reason}: {count}" for reason, count in record.skipped.items())] if record.skipped else []
    blocks.append(f"in {folder}")
    return wrap_text("\n\n".join(blocks) + "\n", width)


def _render_parts(parts: Mapping[str, PartRecord], width: int | None) -> str:
    """Render the sizes of the parts, with the requested and the actual share of documents."""
    n_documents, n_labels = sum(part.documents for part in parts.values()), sum(part.labels for part in parts.values())
    rows = [
        [
            name,
            format_percent(part.share),
            f"{part.documents:,}",
            format_percent(part.documents / n_documents),
            f"{part.labels:,}",
            format_percent(part.labels / n_labels if n_labels else None),
        ]
        for name, part in parts.items()
    ]
    return draw_text([["part", "requested, %", "documents", "%", "labels", "%"], *rows], width=width)


def _render_values(record: SplitFile, width: int | None) -> str:
    """Render how often the most frequent values of the facet occur in each part, with the share of the value."""
    totals: dict[str, int] = {}
    for part in record.parts.values():
        for value, count in part.values.items():
            totals[value] = totals.get(value, 0) + count
    values = sorted(totals, key=lambda value: (-totals[value], value))
    rows = []
    for value in values[:_MAX_VALUES]:
        counts = [part.values.get(value, 0) for part in record.parts.values()]
        cells = (cell for count in counts for cell in (f"{count:,}", format_percent(count / totals[value])))
        rows.append([value, *cells])
    head = [f"{record.unit} by {record.by}", *(cell for name in record.parts for cell in (name, "%"))]
    more = f"\nand {len(values) - _MAX_VALUES} more values" if len(values) > _MAX_VALUES else ""
    return f"{draw_text([head, *rows], width=width)}{more}"


def build_overlap_row(overlap: Overlap) -> list[str]:
    """Return the cells of an overlap for the columns `OVERLAP_COLUMNS`."""
    shares: Sequence[Share | None] = (overlap.pairs, overlap.entities, overlap.surfaces)
    return [
        f"{overlap.test} in {overlap.training}",
        f"{overlap.ids.hits:,}",
        f"{overlap.documents.hits:,}",
        f"{len(overlap.near_duplicates):,}",
        f"{overlap.documents.total:,}",
        *(
            cell
            for share in shares
            for cell in ((UNDEFINED, UNDEFINED) if share is None else (format_percent(share.value), f"{share.total:,}"))
        ),
    ]


def describe_overlaps(overlaps: Sequence[Overlap]) -> Iterator[str]:
    """Yield paragraphs that define the columns and list the documents that leak."""
    yield (
        f"near-duplicates: at least {MIN_SHARED:.0%} of the runs of {RUN_LENGTH} words of the shorter text are in the "
        "other one. pairs: distinct pairs of mention and entity that the other data have too, with normalised ids."
    )
    short = {overlap.test: overlap.short_documents for overlap in overlaps if overlap.short_documents}
    if short:
        counts = ", ".join(f"{count} of {name}" for name, count in short.items())
        yield f"documents too short for near-duplicates, compared by their whole text only: {counts}"
    for overlap in overlaps:
        if overlap.near_duplicates:
            listed = [
                f"{item.document} ({100 * item.shared:.0f} % as {item.training_document})"
                for item in overlap.near_duplicates[:_MAX_DUPLICATES]
            ]
            more = len(overlap.near_duplicates) - len(listed)
            yield (
                f"warning: {overlap.test} leaks from {overlap.training}: {', '.join(listed)}"
                f"{f' and {more} more' if more else ''}"
            )
