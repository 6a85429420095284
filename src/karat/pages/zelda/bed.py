"""A bed that was made, as people and programs read it."""

from __future__ import annotations

from typing import Literal

from karat.fitting import wrapped
from karat.pages.files import Written, indented
from karat.pages.tables import aligned
from karat.pages.zelda.scores import UNDEFINED
from karat.zelda.bed import LAYOUT, Bed, TextStatistics


class WrittenText(Written, frozen=True, kw_only=True):
    """A row of table 2."""

    documents: int
    tokens: int
    mean_length: float | None
    entities: int
    mentions: int


class BedFile(Written, frozen=True, kw_only=True):
    """What `karat zelda sample --json` writes."""

    layout: Literal["karat-zelda-bed/1"]
    folder: str
    threshold: int
    seed: int
    read: int
    eligible: int
    drawn: int
    test_entities: int
    reached: int
    exhausted: int
    absent: int
    vocabulary: int
    described: int | None
    left_out: dict[str, int]
    train: WrittenText
    tests: dict[str, WrittenText]


def bed_json(bed: Bed) -> bytes:
    """A bed as JSON."""
    return indented(
        BedFile(
            layout=LAYOUT,
            folder=bed.folder,
            threshold=bed.threshold,
            seed=bed.seed,
            read=bed.read,
            eligible=bed.eligible,
            drawn=bed.drawn,
            test_entities=bed.test_entities,
            reached=bed.reached,
            exhausted=bed.exhausted,
            absent=bed.absent,
            vocabulary=bed.vocabulary,
            described=bed.described,
            left_out=dict(bed.left_out),
            train=_text(bed.train),
            tests={split: _text(own) for split, own in bed.tests.items()},
        )
    )


def _text(own: TextStatistics) -> WrittenText:
    return WrittenText(
        documents=own.documents,
        tokens=own.tokens,
        mean_length=own.mean_length,
        entities=own.entities,
        mentions=own.mentions,
    )


def bed_page(bed: Bed, width: int | None = None) -> str:
    """A bed as text: table 2 of the paper, and what became of test entities and of what was left out."""
    head = ["", "documents", "mean length", "entities", "mentions"]
    rows = [_row(split, own) for split, own in bed.tests.items()]
    said = [
        f"{bed.folder}: {bed.train.documents:,} sections were kept, after {bed.drawn:,} draws of {bed.eligible:,} that "
        f"link a test entity, of {bed.read:,}",
        f"of {bed.test_entities:,} test entities {bed.reached:,} were seen {bed.threshold} times or more, "
        f"{bed.exhausted:,} as often as there are links, {bed.absent:,} never",
        f"vocabulary: {bed.vocabulary:,} entities"
        + ("" if bed.described is None else f", {bed.described:,} of them described"),
        *(f"{what}: {count:,}" for what, count in bed.left_out.items()),
    ]
    table = aligned([head, *rows, _row("training text", bed.train)], width=width)
    return "\n\n".join([table, wrapped("\n".join(said), width)]) + "\n"


def _row(name: str, own: TextStatistics) -> list[str]:
    length = UNDEFINED if own.mean_length is None else f"{own.mean_length:.1f}"
    return [name, f"{own.documents:,}", length, f"{own.entities:,}", f"{own.mentions:,}"]
