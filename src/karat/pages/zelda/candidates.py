"""Candidate lists, built and compared, as people and programs read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from karat.fitting import wrapped
from karat.pages.files import Written, indented
from karat.pages.tables import aligned
from karat.pages.zelda.scores import UNDEFINED, WrittenShare, percent, written_share
from karat.zelda.candidates.merge import BuiltLists
from karat.zelda.candidates.recall import CUTS, ListComparison, ListRecall
from karat.zelda.given import Share, plain_mean


class BuiltListsFile(Written, frozen=True, kw_only=True):
    """What `karat zelda candidates --json` writes."""

    layout: Literal["karat-zelda-candidates/1"]
    path: str
    merge: str
    pairs: int
    mentions: int
    entities: int
    rows: dict[str, int]
    left_out: dict[str, int]


def built_json(built: BuiltLists) -> bytes:
    """What a build made, as JSON."""
    return indented(
        BuiltListsFile(
            layout="karat-zelda-candidates/1",
            path=built.path,
            merge=built.merge,
            pairs=built.pairs,
            mentions=built.mentions,
            entities=built.entities,
            rows=dict(built.rows),
            left_out=dict(built.left_out),
        )
    )


def built_page(built: BuiltLists, width: int | None = None) -> str:
    """What a build made, as text."""
    rows = [["source", "links"], *([name, f"{count:,}"] for name, count in built.rows.items())]
    said = (
        f"{built.path}: {built.pairs:,} pairs of {built.mentions:,} mentions and {built.entities:,} entities, merged "
        f"as {built.merge}"
    )
    left = [f"{what}: {count:,}" for what, count in built.left_out.items()]
    blocks = [aligned(rows, width=width), wrapped("\n".join([said, *left]), width)]
    return "\n\n".join(blocks) + "\n"


class WrittenRecall(Written, frozen=True, kw_only=True):
    """What lists allow on one split."""

    mentions: int
    mfs: WrittenShare | None
    mfs_listed: WrittenShare | None
    recall: WrittenShare
    listed: WrittenShare
    ambiguity: float | None
    recall_at: dict[str, WrittenShare]
    brackets: dict[str, WrittenShare]
    mean_of_brackets: float | None


class WrittenLists(Written, frozen=True, kw_only=True):
    """What one collection of lists allows on all splits."""

    mean_mfs: float | None
    mean_recall: float | None
    splits: dict[str, WrittenRecall]


class ListRecallFile(Written, frozen=True, kw_only=True):
    """What `karat zelda recall --json` writes."""

    layout: Literal["karat-zelda-recall/1"]
    lookup: str
    lists: dict[str, WrittenLists]


def recall_json(found: ListComparison) -> bytes:
    """What lists allow, as JSON."""
    lists = {
        name: WrittenLists(
            mean_mfs=found.mean_mfs(name),
            mean_recall=found.mean_recall(name),
            splits={split: _written(own) for split, own in splits.items()},
        )
        for name, splits in found.lists.items()
    }
    return indented(ListRecallFile(layout="karat-zelda-recall/1", lookup=found.lookup, lists=lists))


def _written(own: ListRecall) -> WrittenRecall:
    brackets = own.by_bracket()
    cuts = {str(k): share for k in CUTS if (share := own.recall_at(k)) is not None}
    return WrittenRecall(
        mentions=len(own.mentions),
        mfs=None if own.mfs is None else written_share(own.mfs),
        mfs_listed=None if own.mfs_listed is None else written_share(own.mfs_listed),
        recall=written_share(own.recall),
        listed=written_share(_listed(own)),
        ambiguity=own.ambiguity,
        recall_at={k: written_share(share) for k, share in cuts.items()},
        brackets={name: written_share(share) for name, share in brackets.items()},
        mean_of_brackets=plain_mean(brackets.values()),
    )


def _listed(own: ListRecall) -> Share:
    return Share(int(own.listed.sum()), len(own.mentions))


def recall_page(found: ListComparison, width: int | None = None) -> str:
    """What lists allow, as text."""
    return "\n\n".join(_blocks(found, width)) + "\n"


def _blocks(found: ListComparison, width: int | None) -> Iterator[str]:
    yield wrapped(f"candidate lists, looked up as {found.lookup}: shares of mentions in percent", width)
    for name, splits in found.lists.items():
        head = [name, "mentions", "MFS", "CL-recall", "listed", "MFS of listed", "candidates"]
        rows = [_row(split, own) for split, own in splits.items()]
        mean = ["plain mean", "", percent(found.mean_mfs(name)), percent(found.mean_recall(name)), "", "", ""]
        yield aligned([head, *rows, mean], width=width)
    for name, splits in found.lists.items():
        if any(own.counted for own in splits.values()):
            head = [f"{name}, recall@", *map(str, CUTS), "all"]
            yield aligned([head, *(_cuts(split, own) for split, own in splits.items())], width=width)
        for split, own in splits.items():
            shares = own.by_bracket()
            if shares:
                cells = [*(share.value for share in shares.values()), plain_mean(shares.values())]
                row = ["CL-recall", *map(percent, cells)]
                yield aligned([[f"{name}, {split}, by bracket", *shares, "mean"], row], width=width)


def _row(split: str, own: ListRecall) -> list[str]:
    return [
        split,
        f"{len(own.mentions):,}",
        percent(own.mfs.value) if own.mfs is not None else UNDEFINED,
        percent(own.recall.value),
        percent(_listed(own).value),
        percent(own.mfs_listed.value) if own.mfs_listed is not None else UNDEFINED,
        UNDEFINED if own.ambiguity is None else f"{own.ambiguity:.1f}",
    ]


def _cuts(split: str, own: ListRecall) -> list[str]:
    shares = [own.recall_at(k) for k in CUTS]
    return [split, *(percent(share.value if share else None) for share in shares), percent(own.recall.value)]
