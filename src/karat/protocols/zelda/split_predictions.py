"""Gold mentions of a ZELDA split and a system's predictions for them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from karat.evaluation.block import FURTHER_PREDICTIONS
from karat.evaluation.cases.input_checks import LABELS_NOTE
from karat.evaluation.evaluation import score_run
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.results.result import WARNING, Result
from karat.model.run import Run
from karat.model.tables.columns import Bools, Longs
from karat.plugins.facets.bracket import parse_bracket
from karat.stats.share import Share

PROFILE = "zelda"
"""Profile under which predictions are scored."""
_H = TypeVar("_H", bound=Hashable)


def unweighted_mean(shares: Iterable[Share]) -> float | None:
    """Return the mean of the values of shares, whatever their totals; None without values.

    Shares with an empty total are ignored.
    """
    values = [share.value for share in shares if share.value is not None]
    return sum(values) / len(values) if values else None


class GoldMention(NamedTuple):
    """A mention of a test set."""

    document: str
    """Id of the document."""
    start: int
    """Start offset."""
    end: int
    """End offset."""
    surface: str
    """Text of the mention."""
    entity: str
    """Title of the entity."""
    bracket: str | None = None
    """Difficulty bracket of the document; None if it has none."""


def collect_gold_mentions(corpus: Corpus) -> list[GoldMention | None]:
    """Return one item for each label of a corpus, in file order: the mention, or None if it is NIL or unlinked."""
    return [
        GoldMention(
            document.id,
            label.start,
            label.end,
            document.text[label.start : label.end],
            label.entity,
            parse_bracket(document.meta.get("bracket")),
        )
        if isinstance(label.entity, str)
        else None
        for document in corpus
        for label in document.labels
    ]


def collect_linked_mentions(splits: Mapping[str, Corpus]) -> dict[str, list[GoldMention]]:
    """Return the gold mentions of each split that are linked to an entity, without NIL and unlinked mentions."""
    return {
        split: [mention for mention in collect_gold_mentions(corpus) if mention is not None]
        for split, corpus in splits.items()
    }


@dataclass(frozen=True, slots=True, eq=False)
class SplitPredictions:
    """Predictions of a system for the mentions of one split; arrays have one value per mention."""

    split: str
    """Name of the split."""
    documents: int
    """Number of documents."""
    mentions: tuple[GoldMention, ...]
    """Mentions with an entity."""
    covered: Bools
    """Whether a mention has a prediction, linked or not."""
    correct: Bools
    """Whether the link is correct."""
    rank: Longs
    """Rank of the correct entity among the candidates, from 1; 0 if it is not a candidate."""
    unlinked: int = 0
    """Number of excluded mentions without entity."""
    notes: tuple[str, ...] = ()
    """Likely mistakes in the predictions, and what was not scored."""

    @property
    def all_mentions_mask(self) -> Bools:
        """Mask that selects all mentions, as the paper scores."""
        return np.ones(len(self.mentions), bool)

    def accuracy(self, among: Bools | None = None) -> Share:
        """Return the share of mentions that are linked correctly, over all or those in the mask `among`."""
        return Share.from_masks(self.correct, self.all_mentions_mask if among is None else among)

    def recall_at(self, k: int, among: Bools | None = None) -> Share:
        """Return the share of mentions whose entity is among the first `k` candidates, over all or those in `among`."""
        return Share.from_masks((self.rank > 0) & (self.rank <= k), self.all_mentions_mask if among is None else among)

    def accuracy_by(self, get_value: Callable[[GoldMention], _H | None]) -> dict[_H, Share]:
        """Return the accuracy by the value that `get_value` gives each mention; mentions with None are ignored."""
        return group_shares(self.correct, [get_value(mention) for mention in self.mentions])


def group_shares(hits: Bools, values: Sequence[_H | None]) -> dict[_H, Share]:
    """Return the share of `hits` (a mask) among the items of each value, in order of first occurrence.

    `values` has one value per item; items with None are ignored.
    """
    counts_by_value: dict[_H, list[int]] = {}
    for hit, value in zip(hits.tolist(), values, strict=True):
        if value is not None:
            counts = counts_by_value.setdefault(value, [0, 0])
            counts[0] += hit
            counts[1] += 1
    return {value: Share(*counts) for value, counts in counts_by_value.items()}


def match_predictions(corpus: Corpus, run: Run, split: str | None = None, *, kb: KB | None = None) -> SplitPredictions:
    """Match the predictions of a run with the linked mentions of a corpus, under the profile `zelda`.

    `split` is the name of the split, by default that of the corpus. Candidates are matched by exact span. `kb` resolves
    the ids of a run that are no titles; such a run has no ranks.
    """
    mentions = collect_gold_mentions(corpus)
    settings = {} if kb is None else {"ids": "resolved"}
    result = score_run(corpus, run, profile=PROFILE, settings=settings, kb=kb)
    verdicts = result.verdicts.select(["gold", "matched_gold"]).to_pylist()
    hits = {row["gold"] for row in verdicts if row["matched_gold"] > 0}
    candidates_by_span = _collect_candidates(run)
    linked = [(index, mention) for index, mention in enumerate(mentions) if mention is not None]
    candidate_lists = [candidates_by_span.get((mention.document, mention.start, mention.end)) for _, mention in linked]
    return SplitPredictions(
        corpus.name if split is None else split,
        len(corpus),
        tuple(mention for _, mention in linked),
        np.array([names is not None for names in candidate_lists], bool),
        np.array([index in hits for index, _ in linked], bool),
        np.array(
            [
                names.index(mention.entity) + 1 if names and mention.entity in names else 0
                for (_, mention), names in zip(linked, candidate_lists, strict=True)
            ],
            np.int64,
        ),
        len(mentions) - len(linked),
        tuple(_list_notes(result)),
    )


def _list_notes(result: Result) -> Iterator[str]:
    """Yield the notes of a result about what makes its accuracy too high or too low."""
    if result.id_health is not None and result.id_health.unmatchable:
        yield result.id_health.summary
    n_further = result.skipped.get(FURTHER_PREDICTIONS, 0)
    if n_further:
        yield f"{n_further:,} {FURTHER_PREDICTIONS}"
    yield from (note for note in result.notes if note == LABELS_NOTE or note.startswith(WARNING))


def _collect_candidates(run: Run) -> dict[tuple[str, int, int], list[str]]:
    """Return the candidate entities of each (document, start, end) in file order, since scores may tie.

    A prediction without candidates has its own link as the only candidate. Otherwise the link is a candidate only if it
    is listed.
    """
    candidates: dict[tuple[str, int, int], list[str]] = {}
    for response in run:
        for prediction in response.predictions:
            names = [candidate.entity for candidate in prediction.candidates if isinstance(candidate.entity, str)]
            fallback = [prediction.entity] if isinstance(prediction.entity, str) and not names else []
            candidates.setdefault((response.id, prediction.start, prediction.end), []).extend(names or fallback)
    return candidates
