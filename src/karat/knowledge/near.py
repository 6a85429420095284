"""Wrong answers beside the gold they overlap: how related the two are, and what the one is to the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from karat.kb.pack.pack import Pack
from karat.kb.relatedness import InLinks
from karat.matching.align.near import KnownEntities
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.tables.columns import Mentions
from karat.spec.relation import Nearness

STEPS: Final = tuple(step / 10 for step in range(11))
"""The relatedness up to which wrong answers are counted."""


@dataclass(frozen=True)
class Miss:
    """A wrong answer and the gold that it overlaps: ids, nearness, and relatedness, None where nobody can say."""

    gold: str
    answer: str
    nearness: Nearness
    relatedness: float | None


@dataclass(frozen=True)
class NearMisses:
    """All pairs of a wrong answer and a gold link that it overlaps; `alone` wrong answers overlap none."""

    misses: tuple[Miss, ...]
    answers: int
    wrong: int
    alone: int

    @property
    def cumulative(self) -> Mapping[float, float]:
        """The share of pairs with a relatedness of at most each step, among those of which it is known."""
        known = np.array([miss.relatedness for miss in self.misses if miss.relatedness is not None])
        return {step: float((known <= step + 1e-12).mean()) for step in STEPS} if len(known) else {}

    @property
    def unknown(self) -> int:
        """Of how many pairs nobody can say how related they are."""
        return sum(miss.relatedness is None for miss in self.misses)

    @property
    def counts(self) -> Mapping[Nearness, int]:
        """How many pairs there are of each nearness."""
        found = Counter(miss.nearness for miss in self.misses)
        return {nearness: found[nearness] for nearness in Nearness}


def near_misses(corpus: Corpus, run: Run, pack: Pack) -> NearMisses:
    """What a run gets wrong, and how near it is to what is right.

    An answer is right if it overlaps a label with the same entity, after all ids were resolved by the pack (weak
    annotation match). Every link of gold that a wrong one overlaps makes a pair.
    """
    gold, answers = corpus.labels, run.answers
    codes = {id: number for number, id in enumerate(corpus.table.column("id").to_pylist())}
    places = [codes.get(id, -1) for id in run.ids.to_pylist()]
    entities = [_entities(gold, pack), _entities(answers, pack)]
    pairs: list[tuple[str, str]] = []
    wrong = alone = 0
    for answer, labels in _overlapped(gold, answers, places):
        given = entities[1][answer]
        right = [entities[0][label] for label in labels if entities[0][label] is not None]
        if given is None or given in right:
            continue
        wrong += 1
        alone += not right
        pairs += [(label, given) for label in dict.fromkeys(right) if label is not None]
    linked = sum(each is not None for each in entities[1])
    return NearMisses(tuple(_judged(pairs, pack)), linked, wrong, alone)


def _entities(mentions: Mentions, pack: Pack) -> list[str | None]:
    names = pack.canonical(mentions.names.to_pylist())
    return [names[code] if code >= 0 else None for code in mentions.entity.tolist()]


def _overlapped(gold: Mentions, answers: Mentions, places: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """For each answer the labels that it overlaps; `places` says which document of the gold each reply is to."""
    for reply, document in enumerate(places):
        first, last = (int(gold.offsets[document + step]) for step in (0, 1)) if document >= 0 else (0, 0)
        starts, ends = gold.start[first:last], gold.end[first:last]
        for answer in range(int(answers.offsets[reply]), int(answers.offsets[reply + 1])):
            met = np.flatnonzero((starts < answers.end[answer]) & (ends > answers.start[answer]))
            yield answer, (met + first).tolist()


def _judged(pairs: Sequence[tuple[str, str]], pack: Pack) -> Iterator[Miss]:
    gold, answers = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if pack.table("links") is not None and pairs:
        related = InLinks.about(pack, [*gold, *answers]).relatedness(gold, answers).tolist()
    else:
        related = [float("nan")] * len(pairs)
    ids = list(dict.fromkeys([*gold, *answers]))
    known = KnownEntities(pack, ids)
    for one, other, value in zip(gold, answers, related, strict=True):
        yield Miss(one, other, known.nearness(one, other), None if np.isnan(value) else value)
