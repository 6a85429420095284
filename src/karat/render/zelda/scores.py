"""The scores of a system on a ZELDA benchmark, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from karat.model.output.json_files import JsonFile, JsonRecord, build_record, encode_indented
from karat.model.output.text_layout import format_count, wrap_text
from karat.protocols.zelda.scores import BenchmarkScores
from karat.protocols.zelda.split_predictions import GoldMention, SplitPredictions, unweighted_mean
from karat.render.tables import draw_text, format_percent
from karat.stats.share import Share

_GROUP_TITLES = {
    "training": "by status in the training text",
    "frequency": "by links to the entity in the training text",
    "ambiguity": "by the number of candidates",
    "prior": "by the candidate lists",
}


class MentionRecord(JsonRecord, frozen=True):
    """A gold mention and its location."""

    document: str
    start: int
    end: int
    surface: str
    entity: str


class FileComparisonRecord(JsonRecord, frozen=True, kw_only=True):
    """Differences between the CoNLL and the JSONL file of a split."""

    documents: tuple[int, int]
    jsonl: int
    conll: int
    accuracy: Share
    spelling_changes: int
    title_changes: list[MentionRecord]
    only_in_jsonl: list[MentionRecord]
    only_in_conll: list[MentionRecord]


class SplitScoresRecord(JsonRecord, frozen=True, kw_only=True):
    """The scores of one split."""

    documents: int
    mentions: int
    unlinked: int
    covered: int
    accuracy: Share
    accuracy_covered: Share
    recall_at_k: Share
    recall_at_k_covered: Share
    brackets: dict[str, Share]
    mean_of_brackets: float | None
    groups: Mapping[str, Mapping[str, Share]]
    conll: FileComparisonRecord | None
    notes: tuple[str, ...]


class BenchmarkScoresFile(JsonFile, frozen=True, tag="karat-zelda-scores/2", kw_only=True):
    """The output of `karat zelda score --json`."""

    system: str
    profile: Literal["zelda"]
    k: int
    mean: float | None
    mean_covered: float | None
    splits: dict[str, SplitScoresRecord]
    groups: Mapping[str, Mapping[str, Share]]


def to_json(scores: BenchmarkScores, k: int) -> bytes:
    """Encode all scores as indented JSON; `k` is the cut of recall@k."""
    return encode_indented(
        build_record(
            BenchmarkScoresFile,
            scores,
            profile="zelda",
            k=k,
            splits={split: _build_split_record(scores, split, k) for split in scores.predictions},
        )
    )


def _build_split_record(scores: BenchmarkScores, split: str, k: int) -> SplitScoresRecord:
    """Return the JSON record of the scores of a split; `k` is the cut of recall@k."""
    predictions, brackets = scores.predictions[split], scores.accuracy_by_bracket().get(split, {})
    return SplitScoresRecord(
        documents=predictions.documents,
        mentions=len(predictions.mentions),
        unlinked=predictions.unlinked,
        covered=int(predictions.covered.sum()),
        accuracy=predictions.accuracy(),
        accuracy_covered=predictions.accuracy(predictions.covered),
        recall_at_k=predictions.recall_at(k),
        recall_at_k_covered=predictions.recall_at(k, predictions.covered),
        brackets=brackets,
        mean_of_brackets=unweighted_mean(brackets.values()),
        groups={name: by_split[split] for name, by_split in scores.groups_by_split.items()},
        conll=_build_comparison_record(scores, split),
        notes=predictions.notes,
    )


def _build_comparison_record(scores: BenchmarkScores, split: str) -> FileComparisonRecord | None:
    """Return the JSON record of the differences between the CoNLL and the JSONL file of a split with both files."""
    comparison = scores.file_comparisons.get(split)
    if comparison is None:
        return None
    return FileComparisonRecord(
        documents=comparison.documents,
        jsonl=comparison.n_jsonl,
        conll=comparison.n_conll,
        accuracy=scores.conll_accuracy(split),
        spelling_changes=comparison.n_spelling_changes,
        title_changes=_list_mentions(comparison.title_changes),
        only_in_jsonl=_list_mentions(comparison.jsonl_only),
        only_in_conll=_list_mentions(comparison.conll_only),
    )


def _list_mentions(mentions: Iterable[GoldMention]) -> list[MentionRecord]:
    """Return the JSON records of gold mentions."""
    return [build_record(MentionRecord, mention) for mention in mentions]


def render_page(scores: BenchmarkScores, k: int, *, details: bool = False, width: int | None = None) -> str:
    """Render scores by split, frequency bracket and group, and the differences of the CoNLL files.

    `k`: cut of recall@k. `details`: whether to add groups by split, mentions without prediction and those that differ.
    `width`: columns to wrap at; None does not wrap.
    """
    blocks = [*_build_blocks(scores, k, width, details=details)]
    return "\n\n".join(blocks) + "\n"


def _build_blocks(scores: BenchmarkScores, k: int, width: int | None, *, details: bool) -> Iterator[str]:
    """Yield the heading, tables and notes of the page; for `k`, `width` and `details` see `render_page`."""
    yield wrap_text(f"{scores.system}: profile zelda, accuracy on gold mentions in percent", width)
    head = ["", "mentions", "covered", "accuracy", "of covered", f"recall@{k}", "of covered"]
    rows = [_build_row(predictions, k) for predictions in scores.predictions.values()]
    mean = ["unweighted mean", "", "", format_percent(scores.mean), format_percent(scores.mean_covered), "", ""]
    yield draw_text([head, *rows, mean], width=width)
    for split, shares in scores.accuracy_by_bracket().items():
        heading = [f"{split}, by bracket", *shares, "mean"]
        row = [
            "accuracy",
            *(format_percent(share.value) for share in shares.values()),
            format_percent(unweighted_mean(shares.values())),
        ]
        sizes = ["mentions", *(f"{share.total:,}" for share in shares.values()), ""]
        yield draw_text([heading, row, sizes], width=width)
    for name, group in scores.groups.items():
        yield draw_text([*_build_group_rows(f"all splits, {_GROUP_TITLES[name]}", group)], width=width)
        if details:
            for split, split_group in scores.groups_by_split[name].items():
                yield draw_text([*_build_group_rows(f"{split}, {_GROUP_TITLES[name]}", split_group)], width=width)
    uncovered = [
        _format_mention(split, mention, "no prediction")
        for split, predictions in scores.predictions.items()
        for mention, is_covered in zip(predictions.mentions, predictions.covered, strict=True)
        if details and not is_covered
    ]
    if uncovered:
        yield wrap_text("\n".join(uncovered), width)
    if scores.file_comparisons:
        yield from _render_comparisons(scores, width, details=details)
    all_wrong_splits = [
        split
        for split, predictions in scores.predictions.items()
        if predictions.covered.any() and not predictions.correct.any()
    ]
    if all_wrong_splits:
        hint = "no prediction is correct. Check that both sides write titles alike (spaces, underscores)."
        yield wrap_text(f"{', '.join(all_wrong_splits)}: {hint}", width)
    notes = [f"{split}: {note}" for split, predictions in scores.predictions.items() for note in predictions.notes]
    if notes:
        yield "\n".join(wrap_text(note, width) for note in notes)
    unlinked = sum(predictions.unlinked for predictions in scores.predictions.values())
    if unlinked:
        yield wrap_text(f"{format_count(unlinked, 'mention')} without entity: excluded", width)


def _build_row(predictions: SplitPredictions, k: int) -> list[str]:
    """Return the row of a split: mentions, covered mentions, and accuracy and recall@`k` of all and of covered ones."""
    shares = [
        predictions.accuracy(),
        predictions.accuracy(predictions.covered),
        predictions.recall_at(k),
        predictions.recall_at(k, predictions.covered),
    ]
    sizes = [len(predictions.mentions), int(predictions.covered.sum())]
    return [predictions.split, *(f"{size:,}" for size in sizes), *(format_percent(share.value) for share in shares)]


def _build_group_rows(title: str, shares: Mapping[str, Share]) -> Iterator[list[str]]:
    """Yield the rows of a table, the heading first: mentions, their share and accuracy by value of a facet."""
    total = sum(share.total for share in shares.values())
    yield [title, "mentions", "share", "accuracy"]
    for value, share in shares.items():
        yield [
            value,
            f"{share.total:,}",
            format_percent(share.total / total if total else None),
            format_percent(share.value),
        ]


def _format_mention(split: str, mention: GoldMention, remark: str) -> str:
    """Return a line about a mention: its split, document, span, text and entity, and the remark."""
    return f"{split} {mention.document} [{mention.start}, {mention.end}) {mention.surface} → {mention.entity}: {remark}"


def _render_comparisons(scores: BenchmarkScores, width: int | None, *, details: bool) -> Iterator[str]:
    """Yield a table of the differences between JSONL and CoNLL files and, with `details`, the mentions that differ.

    `width`: columns to wrap at; None does not wrap.
    """
    rows = [
        [
            "JSONL and CoNLL",
            "JSONL",
            "CoNLL",
            "only JSONL",
            "only CoNLL",
            "title changes",
            "spelling changes",
            "acc. in CoNLL",
        ]
    ]
    lines = []
    for split, comparison in scores.file_comparisons.items():
        sizes = [comparison.n_jsonl, comparison.n_conll, len(comparison.jsonl_only), len(comparison.conll_only)]
        sizes += [len(comparison.title_changes), comparison.n_spelling_changes]
        rows.append([split, *(f"{size:,}" for size in sizes), format_percent(scores.conll_accuracy(split).value)])
        for difference, mentions in (
            ("only in the JSONL", comparison.jsonl_only),
            ("only in the CoNLL", comparison.conll_only),
            ("with another title in the CoNLL", comparison.title_changes),
        ):
            lines += [_format_mention(split, mention, difference) for mention in mentions]
    yield draw_text(rows, width=width)
    if lines:
        yield wrap_text("\n".join(lines), width) if details else "--details lists the mentions that differ"
