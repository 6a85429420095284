"""Categories that were assigned, as `karat data categorise` prints and writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from karat.fitting import counted, wrapped
from karat.model.scheme import DIMENSIONS, title_of
from karat.pages.files import Written, line
from karat.pages.tables import aligned

if TYPE_CHECKING:
    from karat.categorise.categorise import CategorisedCorpus
    from karat.categorise.compared import Confusion


class ByHand(Written, frozen=True, rename={"accuracy_of_decided": "accuracy of decided"}):
    """The rules against people in one dimension; `confusion` has for each category by hand those by the rules."""

    labels: int
    right: int
    undecided: int
    unclear: int
    accuracy: float | None
    accuracy_of_decided: float | None
    confusion: Mapping[str, Mapping[str, int]]


class CategorisedFile(Written, frozen=True):
    """What `karat data categorise --json` writes: by dimension how many labels got each category."""

    layout: Literal["karat-categorised/1"]
    corpus: str
    labels: int
    tagger: str
    dimensions: Mapping[str, Mapping[str, int]]
    crossing: int
    notes: tuple[str, ...]
    evaluation: Mapping[str, ByHand]


def json_of(done: CategorisedCorpus, compared: Mapping[str, Confusion]) -> bytes:
    """The numbers, and how far the rules agree with people where that was asked for."""
    return line(
        CategorisedFile(
            layout="karat-categorised/1",
            corpus=done.corpus.name,
            labels=len(done.corpus.labels),
            tagger=done.tagger,
            dimensions={
                name: {**done.counts[name], "undecided": done.undecided[name], "kept": done.kept[name]}
                for name in DIMENSIONS
            },
            crossing=done.crossing,
            notes=done.notes,
            evaluation={name: _by_hand(one) for name, one in compared.items()},
        )
    )


def _by_hand(one: Confusion) -> ByHand:
    leaves = DIMENSIONS[one.dimension].leaves
    confusion = {
        gold: {found or "undecided": one.confusion.get((gold, found), 0) for found in (*leaves, None)}
        for gold in leaves
    }
    return ByHand(one.total, one.right, one.undecided, one.unclear, one.accuracy, one.accuracy_of_decided, confusion)


def page(done: CategorisedCorpus, compared: Mapping[str, Confusion], *, width: int | None = None) -> str:
    """How many labels have each category, and where the rules and people differ."""
    confused = "".join(_confused(each, width) for each in compared.values())
    return wrapped(_counted(done, width) + confused, width)


def _counted(done: CategorisedCorpus, width: int | None) -> str:
    """How many labels have each category."""
    rows = []
    for name, dimension in DIMENSIONS.items():
        numbers = {f"  {title_of(leaf)}": count for leaf, count in done.counts[name].items()}
        numbers |= {"  undecided": done.undecided[name], "  kept": done.kept[name]}
        rows.append([dimension.title, ""])
        rows += [[title, f"{number:,}"] for title, number in numbers.items() if number]
    lines = [f"{done.corpus.name}: {counted(len(done.corpus.labels), 'label')}, tagger {done.tagger}"]
    lines.append(aligned(rows, width=width))
    if done.crossing:
        pairs = "1 pair of spans crosses" if done.crossing == 1 else f"{done.crossing:,} pairs of spans cross"
        lines.append(f"{pairs}, which the scheme cannot express")
    return "\n".join([*lines, *(f"note: {note}" for note in done.notes)]) + "\n"


def _confused(agreement: Confusion, width: int | None) -> str:
    """How often the rules agree with people, and a table of what they said where people said what."""
    dimension = DIMENSIONS[agreement.dimension]
    found = [*dimension.leaves, *([None] if agreement.undecided else [])]
    head = ["by hand \\ by rules", *(leaf.partition(":")[2] if leaf else "undecided" for leaf in found)]
    rows = [
        [title_of(leaf), *(f"{agreement.confusion.get((leaf, other), 0):,}" for other in found)]
        for leaf in dimension.leaves
    ]
    accuracy, decided = agreement.accuracy or 0.0, agreement.accuracy_of_decided
    line = f"{dimension.title}: {accuracy:.1%} of {counted(agreement.total, 'label')} right"
    if agreement.undecided and decided is not None:
        line += f", {agreement.undecided:,} undecided; {decided:.1%} of those decided"
    if agreement.unclear:
        line += f"; {agreement.unclear:,} left out that have several categories by hand"
    return f"\n{line}\n{aligned([head, *rows], width=width)}\n"
