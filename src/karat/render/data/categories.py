"""Assigned mention categories, as text and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from karat.model.finegrained_scheme import DIMENSIONS, get_title
from karat.model.output.json_files import JsonFile, JsonRecord, build_record, encode_line
from karat.model.output.text_layout import format_count, wrap_text
from karat.render.tables import draw_text

if TYPE_CHECKING:
    from karat.data.categoriser.categorise import CategorisedCorpus
    from karat.data.categoriser.confusion import Confusion


class ConfusionRecord(JsonRecord, frozen=True, rename={"accuracy_of_decided": "accuracy of decided"}):
    """The rules compared with manual categories in one dimension.

    `confusion` counts the categories by rule for each manual category. `unclear` counts labels with several manual
    categories.
    """

    labels: int
    correct: int
    undecided: int
    unclear: int
    accuracy: float | None
    accuracy_of_decided: float | None
    confusion: Mapping[str, Mapping[str, int]]


class CategoriesFile(JsonFile, frozen=True, tag="karat-categories/2"):
    """The output of `karat data categorise --json`; `dimensions` counts the labels by category."""

    corpus: str
    labels: int
    tagger: str
    dimensions: Mapping[str, Mapping[str, int]]
    crossing: int
    notes: tuple[str, ...]
    evaluation: Mapping[str, ConfusionRecord]


def to_json(categorised: CategorisedCorpus, confusions: Mapping[str, Confusion]) -> bytes:
    """Encode the number of labels by category, and the comparisons with manual categories, as one line of JSON."""
    return encode_line(
        build_record(
            CategoriesFile,
            categorised,
            corpus=categorised.corpus.name,
            labels=len(categorised.corpus.labels),
            dimensions={
                name: {
                    **categorised.counts[name],
                    "undecided": categorised.undecided[name],
                    "unchanged": categorised.unchanged[name],
                }
                for name in DIMENSIONS
            },
            evaluation={name: _build_confusion_record(confusion) for name, confusion in confusions.items()},
        )
    )


def _build_confusion_record(confusion: Confusion) -> ConfusionRecord:
    """Return the JSON record of a comparison with manual categories."""
    leaves = DIMENSIONS[confusion.dimension].leaves
    counts = {
        gold: {category or "undecided": confusion.confusion.get((gold, category), 0) for category in (*leaves, None)}
        for gold in leaves
    }
    return build_record(ConfusionRecord, confusion, labels=confusion.total, confusion=counts)


def render_page(
    categorised: CategorisedCorpus, confusions: Mapping[str, Confusion], *, width: int | None = None
) -> str:
    """Render the number of labels by category, and the confusion of categories by rule with manual ones.

    `confusions`: comparisons by dimension; may be empty. `width`: columns to wrap at; None does not wrap.
    """
    tables = "".join(_render_confusion(confusion, width) for confusion in confusions.values())
    return wrap_text(_render_counts(categorised, width) + tables, width)


def _render_counts(categorised: CategorisedCorpus, width: int | None) -> str:
    """Render the number of labels by category, and notes.

    `width`: columns to wrap at; None does not wrap.
    """
    rows = []
    for name, dimension in DIMENSIONS.items():
        numbers = {f"  {get_title(leaf)}": count for leaf, count in categorised.counts[name].items()}
        numbers |= {"  undecided": categorised.undecided[name], "  unchanged": categorised.unchanged[name]}
        rows.append([dimension.title, ""])
        rows += [[title, f"{number:,}"] for title, number in numbers.items() if number]
    labels = format_count(len(categorised.corpus.labels), "label")
    lines = [f"{categorised.corpus.name}: {labels}, tagger {categorised.tagger}"]
    lines.append(draw_text(rows, width=width))
    if categorised.crossing:
        pairs = (
            "1 pair of spans crosses" if categorised.crossing == 1 else f"{categorised.crossing:,} pairs of spans cross"
        )
        lines.append(f"{pairs}, which the scheme cannot express")
    return "\n".join([*lines, *(f"note: {note}" for note in categorised.notes)]) + "\n"


def _render_confusion(confusion: Confusion, width: int | None) -> str:
    """Render the accuracy of the rules and their confusion with manual categories.

    `width`: columns to wrap at; None does not wrap.
    """
    dimension = DIMENSIONS[confusion.dimension]
    columns = [*dimension.leaves, *([None] if confusion.undecided else [])]
    head = ["manual \\ by rules", *(leaf.partition(":")[2] if leaf else "undecided" for leaf in columns)]
    rows = [
        [get_title(leaf), *(f"{confusion.confusion.get((leaf, other), 0):,}" for other in columns)]
        for leaf in dimension.leaves
    ]
    accuracy, decided = confusion.accuracy or 0.0, confusion.accuracy_of_decided
    line = f"{dimension.title}: {accuracy:.1%} of {format_count(confusion.total, 'label')} correct"
    if confusion.undecided and decided is not None:
        line += f", {confusion.undecided:,} undecided; {decided:.1%} of the decided labels"
    if confusion.unclear:
        line += f"; {confusion.unclear:,} excluded with several manual categories"
    return f"\n{line}\n{draw_text([head, *rows], width=width)}\n"
