"""Scores of a system on a ZELDA benchmark: accuracy by split, its mean, and by properties of mentions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from karat.data.load import load, load_run
from karat.protocols.zelda.candidates.candidate_lists import CandidateLists
from karat.protocols.zelda.candidates.published_lists import open_candidate_lists
from karat.protocols.zelda.candidates.recall import ListRecall, measure_recall
from karat.protocols.zelda.file_comparison import FileComparison, compare_files
from karat.protocols.zelda.split_predictions import (
    GoldMention,
    SplitPredictions,
    group_shares,
    match_predictions,
    unweighted_mean,
)
from karat.protocols.zelda.splits import find_named_files, load_splits, pair_files
from karat.protocols.zelda.training_links import BANDS, NEW_WORDS, SEEN, UNSEEN, TrainingLinks, find_band
from karat.stats.share import Share
from karat.storage.files import Source

LENGTHS: Final = {"no list": 0, "1": 1, "2-5": 5, "6-20": 20, "21 and more": None}
"""Bands of candidate list length, with the largest length of each."""

FIRST, LISTED, UNLISTED = "prior is correct", "in the list, not first", "not in the list"
"""Position of the correct entity in the candidate list."""

ORDER: Final[Mapping[str, Sequence[str]]] = {
    "training": (SEEN, NEW_WORDS, UNSEEN),
    "frequency": tuple(BANDS),
    "ambiguity": tuple(LENGTHS),
    "prior": (FIRST, LISTED, UNLISTED),
}
"""Properties by which mentions are grouped, with their values in order.

`training` and `frequency`: occurrence of mention and entity in training text. `ambiguity`: length of the candidate
list. `prior`: position of the correct entity in it.
"""


@dataclass(frozen=True, slots=True)
class BenchmarkScores:
    """Scores of a system on a benchmark."""

    system: str
    """Name of the system."""
    predictions: Mapping[str, SplitPredictions]
    """Predictions by split."""
    groups: Mapping[str, Mapping[str, Share]] = field(default_factory=dict)
    """Accuracy over all splits by property and value."""
    groups_by_split: Mapping[str, Mapping[str, Mapping[str, Share]]] = field(default_factory=dict)
    """Accuracy by property, split and value."""
    file_comparisons: Mapping[str, FileComparison] = field(default_factory=dict)
    """Comparison of JSONL and CoNLL, for splits with both files."""

    @property
    def mean(self) -> float | None:
        """Unweighted mean of the accuracies of all splits, which is ZELDA's score; None without mentions."""
        return unweighted_mean(split_predictions.accuracy() for split_predictions in self.predictions.values())

    @property
    def mean_covered(self) -> float | None:
        """Unweighted mean over splits of the accuracy on mentions with a prediction; None if there are none."""
        return unweighted_mean(
            split_predictions.accuracy(split_predictions.covered) for split_predictions in self.predictions.values()
        )

    def accuracy_by_bracket(self) -> dict[str, dict[str, Share]]:
        """Return the accuracy by split and difficulty bracket; splits without brackets are dropped."""
        shares_by_split = {
            split: split_predictions.accuracy_by(lambda mention: mention.bracket)
            for split, split_predictions in self.predictions.items()
        }
        return {split: dict(sorted(shares.items())) for split, shares in shares_by_split.items() if shares}

    def conll_accuracy(self, split: str) -> Share:
        """Return the accuracy over the mentions in the CoNLL file of a split; mentions only in CoNLL are wrong.

        The split must be in `file_comparisons`.
        """
        split_predictions, comparison = self.predictions[split], self.file_comparisons[split]
        remaining = Counter(comparison.both)
        in_conll = np.zeros(len(split_predictions.mentions), bool)
        for index, mention in enumerate(split_predictions.mentions):
            in_conll[index] = remaining[mention] > 0
            remaining[mention] -= 1
        share = split_predictions.accuracy(in_conll)
        return Share(share.hits, share.total + len(comparison.conll_only))


def compute_scores(
    system: str,
    predictions: Mapping[str, SplitPredictions],
    *,
    training_links: TrainingLinks | None = None,
    candidate_lists: CandidateLists | None = None,
    lookup: str = "zelda",
    file_comparisons: Mapping[str, FileComparison] | None = None,
) -> BenchmarkScores:
    """Compute the accuracy of a system on each split, also grouped by the properties in `ORDER`.

    `training_links` is needed for the groups `training` and `frequency`, `candidate_lists` for `ambiguity` and, if the
    lists have counts, `prior`. `lookup` is a key of `LOOKUPS`.
    """
    values: dict[str, dict[str, list[str]]] = {}
    if training_links is not None:
        values["training"] = _classify_mentions(predictions, training_links.classify)
        values["frequency"] = _classify_mentions(predictions, training_links.frequency_band)
    if candidate_lists is not None:
        recalls = measure_recall(
            candidate_lists,
            {split: split_predictions.mentions for split, split_predictions in predictions.items()},
            lookup,
        )
        values["ambiguity"] = {
            split: [find_band(n, LENGTHS) for n in recall.length.tolist()] for split, recall in recalls.items()
        }
        if candidate_lists.has_counts:
            values["prior"] = {split: _classify_ranks(recall) for split, recall in recalls.items()}
    shares_by_split = {
        name: {
            split: _sort_values(name, group_shares(predictions[split].correct, split_values))
            for split, split_values in values_by_split.items()
        }
        for name, values_by_split in values.items()
    }
    pooled = {name: _sort_values(name, _sum_shares(by_split.values())) for name, by_split in shares_by_split.items()}
    return BenchmarkScores(system, predictions, pooled, shares_by_split, file_comparisons or {})


def score_benchmark(
    gold: str,
    predictions: str,
    *,
    train: str | None = None,
    candidate_lists: str | None = None,
    lookup: str = "zelda",
    conll: str | None = None,
) -> BenchmarkScores:
    """Score the files of predictions on the test sets in `gold`; both are files, or folders with files by test set.

    `train` is the training text, and `conll` has the same test sets as CoNLL, whose missing mentions are listed. For
    `candidate_lists` and `lookup` see `compute_scores`.
    """
    splits = load_splits([gold])
    pairs = pair_files(gold, predictions)
    split_predictions = {
        split: match_predictions(corpus, load_run(run, corpus=corpus), split)
        for (split, (_, run)), corpus in zip(pairs.items(), splits.values(), strict=True)
    }
    conll_files = _find_conll_files(conll, list(splits)) if conll else {}
    return compute_scores(
        Source(predictions).stem,
        split_predictions,
        training_links=TrainingLinks.from_file(train) if train else None,
        candidate_lists=open_candidate_lists(candidate_lists) if candidate_lists else None,
        lookup=lookup,
        file_comparisons={
            split: compare_files(splits[split], load(path, format="zelda-conll"), split)
            for split, path in conll_files.items()
        },
    )


def _find_conll_files(path: str, splits: Sequence[str]) -> dict[str, str]:
    """Return the CoNLL file of each split; a single file belongs to a single test set whatever its name is."""
    if len(splits) == 1 and not Source(path).is_folder:
        return {splits[0]: path}
    return find_named_files(path, splits, "conll")


def _classify_mentions(
    predictions: Mapping[str, SplitPredictions], classify: Callable[[GoldMention], str]
) -> dict[str, list[str]]:
    """Return the value that `classify` gives each mention, by split."""
    return {split: list(map(classify, split_predictions.mentions)) for split, split_predictions in predictions.items()}


def _classify_ranks(recall: ListRecall) -> list[str]:
    """Return for each mention whether the correct entity is first in its candidate list, further down, or missing."""
    return [FIRST if rank == 1 else LISTED if rank else UNLISTED for rank in recall.rank.tolist()]


def _sort_values(group_name: str, shares: Mapping[str, Share]) -> dict[str, Share]:
    """Return the shares in the order that `ORDER` gives the values of a property; missing values are skipped."""
    return {value: shares[value] for value in ORDER[group_name] if value in shares}


def _sum_shares(groups: Iterable[Mapping[str, Share]]) -> dict[str, Share]:
    """Add the hits and totals of several groups by value."""
    totals: dict[str, Share] = {}
    for shares in groups:
        for value, share in shares.items():
            sum_so_far = totals.get(value, Share(0, 0))
            totals[value] = Share(sum_so_far.hits + share.hits, sum_so_far.total + share.total)
    return totals
