"""Corpus statistics, as text, JSON and tables for papers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from karat.data.describe import Description, TraitCount
from karat.model.output.json_files import JsonFile, encode_line
from karat.model.output.text_layout import wrap_text
from karat.render.tables import LAYOUTS, UNDEFINED, SubHeading, draw_text

_MAX_LISTED = 16
_PAPER_COLUMNS = {"documents": "docs", "words": "words", "required": "mentions", "entities": "entities"}
"""Columns of the dataset table of papers, before the columns in percent; these are percentages of `required`."""
_OPTIONAL = "optional"
_ROW_TITLES = {"required": "required, of which"}
"""Titles of rows of the table of statistics that differ from the names of the statistics."""
_SHARE_HEADING = "% of mentions"
_TITLES = {"nil": "NIL", "organisation": "org.", "location": "loc.", "person": "pers."}


class StatsFile(JsonFile, frozen=True, tag="karat-stats/5", rename=lambda name: name.replace("_", " ")):
    """The output of `karat data stats --json` for a corpus; `undefined` has the reasons for null values.

    `columns`: required mentions, each counted once. `traits`, `mention types`: all labels. `words per label`: all
    labels by their number of words. `type names`: names of `types`, where known. `facets`: all labels by the value of
    each requested facet.
    """

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
    columns: Mapping[str, TraitCount]
    traits: Mapping[str, TraitCount]
    mention_types: Mapping[str, int]
    words_per_label: Mapping[str, int]
    types: Mapping[str, int]
    type_names: Mapping[str, str]
    categories: Mapping[str, int]
    facets: Mapping[str, Mapping[str, int]]
    undefined: Mapping[str, str]
    skipped: Mapping[str, int]


def to_json(descriptions: Sequence[Description]) -> bytes:
    """Encode the statistics of each corpus as one JSON line."""
    return b"".join(encode_line(_build_file(description)) for description in descriptions)


def _build_file(description: Description) -> StatsFile:
    """Return the JSON record of a corpus's statistics."""
    content = {
        "corpus": description.corpus,
        "digest": description.digest,
        **description.numbers,
        "columns": description.columns,
        "traits": description.traits,
        "mention types": description.mention_types,
        "words per label": description.words,
        "types": description.types,
        "type names": description.type_names,
        "categories": description.categories,
        "facets": description.facets,
        "undefined": description.undefined,
        "skipped": description.skipped,
    }
    return msgspec.convert(content, StatsFile)


def build_rows(descriptions: Sequence[Description]) -> list[list[str]]:
    """Return the rows of a table with a statistic each and a column per corpus, without heading."""
    rows = [
        [_ROW_TITLES.get(name, name), *(_format_value(description.numbers[name]) for description in descriptions)]
        for name in descriptions[0].numbers
    ]
    for name in descriptions[0].columns:
        shares = [description.columns[name] for description in descriptions]
        rows.append([f"  {name}", *(_format_share(share) for share in shares)])
        if any(share.undecided for share in shares):
            rows.append(["    undecided", *(f"{share.undecided:,}" for share in shares)])
    return rows


def _format_share(share: TraitCount) -> str:
    """Format a number of mentions with its percentage, both as ranges if mentions are undecided; `–` if unknown."""
    if share.number is None:
        return UNDEFINED
    numbers = f"{share.number:,}" + f"–{share.number + share.undecided:,}" * bool(share.undecided)
    return numbers if share.percent is None else f"{numbers} ({_format_percent(share)} %)"


def _format_value(value: float | str | None) -> str:
    """Format a statistic; `–` for None."""
    if isinstance(value, float):
        return f"{value:.2f}"
    return UNDEFINED if value is None else f"{value:,}" if isinstance(value, int) else value


def render_page(descriptions: Sequence[Description], *, width: int | None = None) -> str:
    """Render the statistics of corpora side by side, then the lists of counts of each corpus, and undefined values.

    `width`: columns to wrap at; None does not wrap.
    """
    lines: list[str] = [
        draw_text([["", *(description.corpus for description in descriptions)], *build_rows(descriptions)], width=width)
    ]
    for description in descriptions:
        for title, counts in _get_count_lists(description).items():
            if counts:
                listed_counts = ", ".join(f"{name} {count}" for name, count in list(counts.items())[:_MAX_LISTED])
                more = f", and {len(counts) - _MAX_LISTED} more" if len(counts) > _MAX_LISTED else ""
                lines.append(f"{description.corpus}, {title}: {listed_counts}{more}")
    lines += _format_reasons(descriptions, {name for description in descriptions for name in description.undefined})
    return wrap_text("\n".join(lines) + "\n", width)


def _format_reasons(descriptions: Sequence[Description], names: Collection[str]) -> list[str]:
    """Return one line per reason, with the `names` whose values are undefined for this reason."""
    reasons: dict[str, dict[str, None]] = {}
    for name, reason in (
        item for description in descriptions for item in description.undefined.items() if item[0] in names
    ):
        reasons.setdefault(reason, {})[name] = None
    return [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]


def _get_count_lists(description: Description) -> dict[str, Mapping[str, int]]:
    """Return the lists of counts, by title, that get a line each below the table."""
    n_labels = f"{description.numbers['labels']:,}"
    return {
        f"traits of all {n_labels} labels": {
            name: share.number for name, share in description.traits.items() if share.number
        },
        "undecided labels": {name: share.undecided for name, share in description.traits.items() if share.undecided},
        "mention types of labels": description.mention_types,
        "labels by their number of words": {f"{count}:": labels for count, labels in description.words.items()},
        "types": {_format_type(name, description.type_names): count for name, count in description.types.items()},
        "categories": description.categories,
        **{f"labels by {name}": counts for name, counts in description.facets.items()},
        "skipped": description.skipped,
    }


def _format_type(type_id: str, names: Mapping[str, str]) -> str:
    """Return the name of a type with its id, or the id alone if it has no other name."""
    name = names.get(type_id, type_id)
    return name if name == type_id else f"{name} ({type_id})"


def render_paper_table(descriptions: Sequence[Description], layout: str) -> str:
    """Render a dataset table for a paper, with a row per corpus and without empty columns.

    Mentions are those that shares refer to: all that are not optional. A share with undecided mentions is a range.

    `layout`: key of `LAYOUTS`, such as `latex`.
    """
    shares = {name: [description.columns[name] for description in descriptions] for name in descriptions[0].columns}
    texts = {name: [_format_percent(share) for share in column] for name, column in shares.items()}
    columns = {name: cells for name, cells in texts.items() if not set(cells) <= {UNDEFINED, "0.0"}}
    empty_columns = [name for name, cells in texts.items() if set(cells) == {"0.0"}]
    numbers = dict(_PAPER_COLUMNS)
    if any(description.numbers[_OPTIONAL] for description in descriptions):
        numbers[_OPTIONAL] = _OPTIONAL
    head = [
        "dataset",
        *numbers.values(),
        *(SubHeading(_TITLES.get(name, name), _SHARE_HEADING) for name in columns),
    ]
    rows = [
        [
            description.corpus,
            *(_format_value(description.numbers[name]) for name in numbers),
            *(cells[index] for cells in columns.values()),
        ]
        for index, description in enumerate(descriptions)
    ]
    notes = [f"excluded, since no dataset here has any: {', '.join(empty_columns)}"] * bool(empty_columns)
    notes += _format_reasons(descriptions, texts.keys() - columns.keys())
    notes += _format_undecided(descriptions, columns)
    return LAYOUTS[layout].join(
        [
            "Dataset statistics; mentions are those that are not optional, and shares are of them",
            LAYOUTS[layout].draw([head, *rows], {0}),
            *notes,
        ]
    )


def _format_undecided(descriptions: Sequence[Description], names: Collection[str]) -> list[str]:
    """Return one line per corpus with the numbers of mentions for which a trait in `names` is undecided."""
    counts_by_corpus = {
        description.corpus: [
            f"{name} {description.columns[name].undecided:,}" for name in names if description.columns[name].undecided
        ]
        for description in descriptions
    }
    return [
        f"{corpus}, mentions undecided for lack of facts: {', '.join(counts)}"
        for corpus, counts in counts_by_corpus.items()
        if counts
    ]


def _format_percent(share: TraitCount) -> str:
    """Format a percentage, as a range if mentions are undecided; `–` if unknown."""
    if share.percent is None:
        return UNDEFINED
    return f"{share.percent:.1f}" + f"–{share.max_percent:.1f}" * bool(share.undecided)
