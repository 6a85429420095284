"""Corpora in numbers, as `karat data stats` prints and writes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from karat.fitting import wrapped
from karat.pages.files import Written, line
from karat.pages.tables import LAYOUTS, Under, aligned

if TYPE_CHECKING:
    from karat.data.describe import Description, TraitCount

_LISTED = 16
_NONE = "–"
_PAPER = {"documents": "docs", "words": "words", "mentions": "mentions", "entities": "entities"}
"""The columns of papers' tables of benchmarks, before those in percent."""
_OVER = "% of mentions"
_TITLES = {"nil": "NIL", "organisation": "org.", "location": "loc.", "person": "pers."}


def _spaced(name: str) -> str:
    """What a field is called in files: as in the tables."""
    return name.replace("_", " ")


class TraitShare(Written, frozen=True):
    """Of how many a trait holds, how much of the whole that is, and of how many nobody can tell."""

    number: int | None
    percent: float | None
    undecided: int


class StatsFile(Written, frozen=True, rename=_spaced):
    """What `karat data stats --json` writes for a corpus; null where a number cannot be computed, see `undefined`.

    `columns` are of required mentions, each counted once; `traits`, `mention types` and `words per label` (labels by
    how many words they have) of all labels.
    """

    layout: Literal["karat-stats/1"]
    corpus: str
    digest: str
    documents: int
    sentences: int
    words: int
    labels: int
    mentions: int
    entities: int
    tags: int
    relations: int
    segmentations: int
    overlap: int
    surfaces: int
    ambiguous_surfaces: int
    entities_per_surface: float | None
    documents_without_labels: int
    characters_per_document: float
    words_per_document: float
    annotations_per_document: float
    hardest_problem: str
    domain: str | None
    document_type: str | None
    language: str | None
    nil: int
    unlinked: int
    optional: int
    alternative: int
    coreference: int
    quantity: int
    datetime: int
    descriptive: int
    required: int
    columns: Mapping[str, TraitShare]
    traits: Mapping[str, TraitShare]
    mention_types: Mapping[str, int]
    words_per_label: Mapping[str, int]
    types: Mapping[str, int]
    categories: Mapping[str, int]
    undefined: Mapping[str, str]
    skipped: Mapping[str, int]


def json_of(found: Sequence[Description]) -> bytes:
    """One corpus as an object; several as one object per line."""
    return b"".join(line(_file(one)) for one in found)


def _file(one: Description) -> StatsFile:
    """The numbers have in files the names that they have in tables."""
    content = {
        "layout": "karat-stats/1",
        "corpus": one.corpus,
        "digest": one.digest,
        **one.numbers,
        "columns": {name: share._asdict() for name, share in one.columns.items()},
        "traits": {name: share._asdict() for name, share in one.traits.items()},
        "mention types": one.mention_types,
        "words per label": one.words,
        "types": one.types,
        "categories": one.categories,
        "undefined": one.undefined,
        "skipped": one.skipped,
    }
    return msgspec.convert(content, StatsFile)


def _rows(found: Sequence[Description]) -> list[list[str]]:
    rows = [[name, *(_shown(one.numbers[name]) for one in found)] for name in found[0].numbers]
    for name in found[0].columns:
        shares = [one.columns[name] for one in found]
        rows.append([f"  {name}", *(_shown_share(share) for share in shares)])
        if any(share.undecided for share in shares):
            rows.append(["    undecided", *(f"{share.undecided:,}" for share in shares)])
    return rows


def _shown_share(share: TraitCount) -> str:
    if share.number is None:
        return _NONE
    return f"{share.number:,}" if share.percent is None else f"{share.number:,} ({share.percent:.1f} %)"


def _shown(value: float | str | None) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return _NONE if value is None else f"{value:,}" if isinstance(value, int) else value


def page(found: Sequence[Description], *, width: int | None = None) -> str:
    """Corpora side by side, and what takes lines of its own."""
    lines: list[str] = [aligned([["", *(one.corpus for one in found)], *_rows(found)], width=width)]
    for one in found:
        for title, counts in _listed(one).items():
            if counts:
                shown = ", ".join(f"{name} {count}" for name, count in list(counts.items())[:_LISTED])
                more = f", and {len(counts) - _LISTED} more" if len(counts) > _LISTED else ""
                lines.append(f"{one.corpus}, {title}: {shown}{more}")
    lines += _reasons(found, {name for one in found for name in one.undefined})
    return wrapped("\n".join(lines) + "\n", width)


def _reasons(found: Sequence[Description], names: Collection[str]) -> list[str]:
    """Why numbers are not there."""
    reasons: dict[str, dict[str, None]] = {}
    for name, reason in (item for one in found for item in one.undefined.items() if item[0] in names):
        reasons.setdefault(reason, {})[name] = None
    return [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]


def _listed(one: Description) -> dict[str, Mapping[str, int]]:
    """Counts of labels that take a line each."""
    return {
        "traits of labels": {name: share.number for name, share in one.traits.items() if share.number},
        "undecided labels": {name: share.undecided for name, share in one.traits.items() if share.undecided},
        "mention types of labels": one.mention_types,
        "labels by their number of words": {f"{count}:": labels for count, labels in one.words.items()},
        "types": one.types,
        "categories": one.categories,
        "skipped": one.skipped,
    }


def paper(found: Sequence[Description], layout: str) -> str:
    """The table of benchmarks that papers have: a line for each, and no column in which none has anything."""
    shares = {name: [_percent(one.columns[name]) for one in found] for name in found[0].columns}
    shown = {name: cells for name, cells in shares.items() if not set(cells) <= {_NONE, "0.0"}}
    none = [name for name, cells in shares.items() if set(cells) == {"0.0"}]
    head = ["benchmark", *_PAPER.values(), *(Under(_TITLES.get(name, name), _OVER) for name in shown)]
    rows = [
        [one.corpus, *(_shown(one.numbers[name]) for name in _PAPER), *(cells[place] for cells in shown.values())]
        for place, one in enumerate(found)
    ]
    said = [f"left out, since no benchmark here has any: {', '.join(none)}"] * bool(none)
    said += _reasons(found, shares.keys() - shown.keys())
    return LAYOUTS[layout].page(
        [
            "Benchmarks in numbers; shares are of the mentions that are not optional",
            LAYOUTS[layout].draw([head, *rows], {0}),
            *said,
        ]
    )


def _percent(share: TraitCount) -> str:
    return _NONE if share.percent is None else f"{share.percent:.1f}"
