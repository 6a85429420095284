"""Candidate lists and their recall, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator

from karat.model.output.json_files import JsonFile, JsonRecord, build_record, encode_indented
from karat.model.output.text_layout import wrap_text
from karat.protocols.zelda.candidates.merge import BuildResult
from karat.protocols.zelda.candidates.recall import CUTS, ListComparison, ListRecall
from karat.protocols.zelda.split_predictions import unweighted_mean
from karat.render.tables import UNDEFINED, draw_text, format_percent
from karat.stats.share import Share


def render_build_result(result: BuildResult, width: int | None = None) -> str:
    """Render the outcome of building candidate lists: links by source, totals and exclusions.

    `width`: columns to wrap at; None does not wrap.
    """
    rows = [["source", "links"], *([name, f"{count:,}"] for name, count in result.rows.items())]
    summary = (
        f"{result.path}: {result.pairs:,} pairs of {result.mentions:,} mentions and {result.entities:,} entities, "
        f"merged as {result.merge}"
    )
    exclusions = [f"{reason}: {count:,}" for reason, count in result.excluded.items()]
    blocks = [draw_text(rows, width=width), wrap_text("\n".join([summary, *exclusions]), width)]
    return "\n\n".join(blocks) + "\n"


class ListRecallRecord(JsonRecord, frozen=True, kw_only=True):
    """The recall of candidate lists on one split.

    `mfs`: accuracy of the most frequent candidate. `mfs_listed`: the same on mentions with a list. `listed`: share of
    mentions with a list. `ambiguity`: mean number of candidates.
    """

    mentions: int
    mfs: Share | None
    mfs_listed: Share | None
    recall: Share
    listed: Share
    ambiguity: float | None
    recall_at: dict[str, Share]
    brackets: dict[str, Share]
    mean_of_brackets: float | None


class ListsRecord(JsonRecord, frozen=True, kw_only=True):
    """The recall of one collection of candidate lists on all splits."""

    mean_mfs: float | None
    mean_recall: float | None
    splits: dict[str, ListRecallRecord]


class ListRecallFile(JsonFile, frozen=True, tag="karat-zelda-recall/2", kw_only=True):
    """The output of `karat zelda recall --json`."""

    lookup: str
    lists: dict[str, ListsRecord]


def encode_recall(comparison: ListComparison) -> bytes:
    """Encode the recall of candidate lists on all splits as indented JSON."""
    lists = {
        name: ListsRecord(
            mean_mfs=comparison.mean_mfs(name),
            mean_recall=comparison.mean_recall(name),
            splits={split: _build_recall_record(recall) for split, recall in splits.items()},
        )
        for name, splits in comparison.lists.items()
    }
    return encode_indented(ListRecallFile(lookup=comparison.lookup, lists=lists))


def _build_recall_record(recall: ListRecall) -> ListRecallRecord:
    """Return the JSON record of the recall of candidate lists on one split."""
    brackets = recall.recall_by_bracket()
    return build_record(
        ListRecallRecord,
        recall,
        mentions=len(recall.mentions),
        listed=_get_list_share(recall),
        recall_at={str(k): share for k in CUTS if (share := recall.recall_at(k)) is not None},
        brackets=brackets,
        mean_of_brackets=unweighted_mean(brackets.values()),
    )


def _get_list_share(recall: ListRecall) -> Share:
    """Return the share of mentions that have a candidate list."""
    return Share(int(recall.listed_mask.sum()), len(recall.mentions))


def render_recall(comparison: ListComparison, width: int | None = None) -> str:
    """Render the recall of candidate lists by split, by number of candidates, and by frequency bracket.

    `width`: columns to wrap at; None does not wrap.
    """
    return "\n\n".join(_build_blocks(comparison, width)) + "\n"


def _build_blocks(comparison: ListComparison, width: int | None) -> Iterator[str]:
    """Yield the heading and the tables of the page; for `width` see `render_recall`."""
    yield wrap_text(f"candidate lists, looked up as {comparison.lookup}: shares of mentions in percent", width)
    for name, splits in comparison.lists.items():
        head = [name, "mentions", "MFS", "CL-recall", "listed", "MFS if listed", "candidates"]
        rows = [_build_row(split, recall) for split, recall in splits.items()]
        mean = [
            "unweighted mean",
            "",
            format_percent(comparison.mean_mfs(name)),
            format_percent(comparison.mean_recall(name)),
            "",
            "",
            "",
        ]
        yield draw_text([head, *rows, mean], width=width)
    for name, splits in comparison.lists.items():
        if any(recall.has_counts for recall in splits.values()):
            head = [f"{name}, recall@", *map(str, CUTS), "all"]
            yield draw_text([head, *(_build_cut_row(split, recall) for split, recall in splits.items())], width=width)
        for split, recall in splits.items():
            shares = recall.recall_by_bracket()
            if shares:
                cells = [*(share.value for share in shares.values()), unweighted_mean(shares.values())]
                row = ["CL-recall", *map(format_percent, cells)]
                yield draw_text([[f"{name}, {split}, by bracket", *shares, "mean"], row], width=width)


def _build_row(split: str, recall: ListRecall) -> list[str]:
    """Return the row of a split: mentions, most-frequent-sense accuracy, recall, and size of lists."""
    return [
        split,
        f"{len(recall.mentions):,}",
        format_percent(recall.mfs.value) if recall.mfs is not None else UNDEFINED,
        format_percent(recall.recall.value),
        format_percent(_get_list_share(recall).value),
        format_percent(recall.mfs_listed.value) if recall.mfs_listed is not None else UNDEFINED,
        UNDEFINED if recall.ambiguity is None else f"{recall.ambiguity:.1f}",
    ]


def _build_cut_row(split: str, recall: ListRecall) -> list[str]:
    """Return the row of a split: recall among the first k candidates for each k of `CUTS`, and among all."""
    shares = [recall.recall_at(k) for k in CUTS]
    return [
        split,
        *(format_percent(share.value if share else None) for share in shares),
        format_percent(recall.recall.value),
    ]
