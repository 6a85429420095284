"""Mentions that are given, and what a system says of each: what every score of the bed is made of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from karat.evaluation.evaluation import evaluate
from karat.labels.bracket import bracket
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.tables.columns import Bools, Longs

PROFILE = "zelda"
_H = TypeVar("_H", bound=Hashable)


class Share(NamedTuple):
    """How many of how many; of nothing there is no share."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """The share as a number."""
        return self.hits / self.of if self.of else None

    @classmethod
    def within(cls, hits: Bools, of: Bools) -> Share:
        """Of the marked ones those that hit."""
        return cls(int(np.count_nonzero(hits & of)), int(np.count_nonzero(of)))


def plain_mean(shares: Iterable[Share]) -> float | None:
    """The mean of shares, each of which counts alike whatever it is of; shares of nothing are left out."""
    values = [share.value for share in shares if share.value is not None]
    return sum(values) / len(values) if values else None


class GivenMention(NamedTuple):
    """A mention of a test set: where it stands, what it says, what it is linked to, and its document's bracket."""

    document: str
    start: int
    end: int
    surface: str
    entity: str
    bracket: str | None = None


def given_mentions(corpus: Corpus) -> list[GivenMention | None]:
    """The mentions in the order of the file; None stands for one without entity, which nobody can disambiguate."""
    return [
        GivenMention(
            document.id,
            label.start,
            label.end,
            document.text[label.start : label.end],
            label.entity,
            bracket(document.meta.get("bracket")),
        )
        if isinstance(label.entity, str)
        else None
        for document in corpus
        for label in document.labels
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """What a system says of the mentions of one split.

    For each mention `covered` says whether there is an answer, linked or not, `right` whether its link is the right
    one, and `rank` at which place the right entity is among the candidates, from 1; 0 if it is not among them.
    `unlinked` counts mentions without entity, which are left out.
    """

    split: str
    documents: int
    mentions: tuple[GivenMention, ...]
    covered: Bools
    right: Bools
    rank: Longs
    unlinked: int = 0

    @property
    def everything(self) -> Bools:
        """All mentions, as the paper scores."""
        return np.ones(len(self.mentions), bool)

    def accuracy(self, among: Bools | None = None) -> Share:
        """Of some mentions, all if nothing is said, those that are linked right."""
        return Share.within(self.right, self.everything if among is None else among)

    def recall_at(self, k: int, among: Bools | None = None) -> Share:
        """Of some mentions those whose entity is among the first k candidates."""
        return Share.within((self.rank > 0) & (self.rank <= k), self.everything if among is None else among)

    def by(self, value: Callable[[GivenMention], _H | None]) -> dict[_H, Share]:
        """The accuracy of the mentions of each value; mentions without value are left out."""
        return shares_by(self.right, [value(mention) for mention in self.mentions])


def shares_by(hits: Bools, values: Sequence[_H | None]) -> dict[_H, Share]:
    """For each value, of what has it those that hit, in the order in which values come first."""
    found: dict[_H, list[int]] = {}
    for hit, value in zip(hits.tolist(), values, strict=True):
        if value is not None:
            counts = found.setdefault(value, [0, 0])
            counts[0] += hit
            counts[1] += 1
    return {value: Share(*counts) for value, counts in found.items()}


def attempt(corpus: Corpus, run: Run, split: str | None = None) -> Attempt:
    """What a run says of the mentions of a corpus, judged under the profile `zelda`."""
    mentions = given_mentions(corpus)
    verdicts = evaluate(corpus, run, like=PROFILE).verdicts.select(["gold", "matched_gold"]).to_pylist()
    hits = {row["gold"] for row in verdicts if row["matched_gold"] > 0}
    ranked = _ranked(run)
    linked = [(place, mention) for place, mention in enumerate(mentions) if mention is not None]
    lists = [ranked.get((mention.document, mention.start, mention.end)) for _, mention in linked]
    return Attempt(
        corpus.name if split is None else split,
        len(corpus),
        tuple(mention for _, mention in linked),
        np.array([names is not None for names in lists], bool),
        np.array([place in hits for place, _ in linked], bool),
        np.array(
            [
                names.index(mention.entity) + 1 if names and mention.entity in names else 0
                for (_, mention), names in zip(linked, lists, strict=True)
            ],
            np.int64,
        ),
        len(mentions) - len(linked),
    )


def _ranked(run: Run) -> dict[tuple[str, int, int], list[str]]:
    """The candidates of each span in the order of the file, since scores may tie; the link alone where there are none.

    A link that is not among the candidates of its own answer is no candidate.
    """
    found: dict[tuple[str, int, int], list[str]] = {}
    for reply in run:
        for answer in reply.answers:
            names = [candidate.entity for candidate in answer.candidates if isinstance(candidate.entity, str)]
            alone = [answer.entity] if isinstance(answer.entity, str) and not names else []
            found.setdefault((reply.id, answer.start, answer.end), []).extend(names or alone)
    return found
