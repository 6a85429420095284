"""A corpus and a run side by side: the same documents, the same codes for entities, cut into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import InputError
from karat.model import check
from karat.model.arrow import Arrow
from karat.model.columns import NIL, NO_LINK, Bools, Floats, Ints, Longs, Mentions
from karat.model.corpus import Corpus
from karat.model.items import Answers, Gold, Items, Lists
from karat.model.run import Run

BLOCK = 5_000
"""Documents per block: arrays that stay in the processor's cache."""


@dataclass(frozen=True)
class Pairing:
    """What matching needs of both sides.

    `order` puts the answers into the order of the corpus (None: they are in it), `offsets` says where the answers to
    each document begin, and `place` which document of the corpus each reply is to, or -1. `names` are the ids of common
    entity codes, which are those of the gold standard continued; `answer_codes` maps the run's codes to them, and keeps
    NO_LINK and NIL at its end.
    """

    corpus: Corpus
    run: Run
    order: Longs | None
    offsets: Longs
    names: Arrow
    answer_codes: Ints
    gold_same: Lists | None
    answer_same: Lists | None
    place: Longs

    def blocks(self, size: int = BLOCK) -> Iterator[tuple[int, int]]:
        """The first document of each block, and the one behind its last."""
        for first in range(0, len(self.corpus), size):
            yield first, min(first + size, len(self.corpus))

    def gold(self, first: int, last: int) -> Gold:
        """The gold labels of some documents that lie inside the evaluation span."""
        labels, units = self.corpus.labels, self.corpus.units
        low, high = int(labels.offsets[first]), int(labels.offsets[last])
        rows = slice(low, high)
        items = Items(
            np.arange(low, high),
            labels.document[rows],
            labels.start[rows],
            labels.end[rows],
            labels.entity[rows],  # common codes begin with the gold standard's own
            self.names,
            None if self.gold_same is None else self.gold_same.take(np.arange(low, high)),
        )
        parent = units.parent[rows]
        gold = Gold(items, units.unit[rows] - low, np.where(parent < 0, -1, parent - low), units.optional[rows])
        return gold if self._spans is None else kept(gold, self._inside(items))

    def answers(self, first: int, last: int) -> Answers:
        """The answers to some documents that lie inside the evaluation span."""
        answers = self.run.answers
        low, high = int(self.offsets[first]), int(self.offsets[last])
        places = np.arange(low, high) if self.order is None else self.order[low:high]
        rows = slice(low, high) if self.order is None else places
        entity = answers.entity[rows]
        items = Items(
            places,
            np.repeat(np.arange(first, last, dtype=np.int32), np.diff(self.offsets[first : last + 1])),
            answers.start[rows],
            answers.end[rows],
            self.answer_codes[entity],
            self.names,
            None if self.answer_same is None else self.answer_same.take(places),
        )
        score = self._score[rows]
        if self._spans is None:
            return Answers(items, score)
        inside = self._inside(items)
        return Answers(items.take(inside), score[inside])

    @cached_property
    def skipped(self) -> dict[str, int]:
        """What was left out, or is worth knowing, in words; only what occurs."""
        corpus, run = self.corpus, self.run
        known = self.place >= 0
        failed = 0
        if "error" in run.table.column_names:
            failed = int(np.sum(run.table.column("error").is_valid().to_numpy() & known))
        labels_outside = answers_outside = 0
        if self._spans is not None:
            labels_outside = len(corpus.labels) - len(self.gold(0, len(corpus)).unit)
            answers_outside = int(self.offsets[-1]) - len(self.answers(0, len(corpus)).items)
        counts = {
            "unanswered documents": len(corpus) - int(known.sum()),
            "failed documents": failed,
            "unknown documents": int((~known).sum()),
            "answers in unknown documents": int(np.diff(run.answers.offsets)[~known].sum()),
            "answers given twice (each counts)": run.repeated,
            "labels outside the evaluation span": labels_outside,
            "answers outside the evaluation span": answers_outside,
            "gold tags not scored": _length(corpus.table, "tags"),
            "answer tags not scored": _length(run.table, "tags"),
            "gold relations not scored": _length(corpus.table, "relations"),
            "answer relations not scored": _length(run.table, "relations"),
        }
        return {name: count for name, count in counts.items() if count}

    @cached_property
    def _score(self) -> Floats:
        return self.run.answers.score()

    @cached_property
    def _spans(self) -> tuple[Longs, Longs] | None:
        """The evaluation span of every document, or None where no document has one."""
        if "evaluation_span" not in self.corpus.table.column_names:
            return None
        column = pa.concat_arrays(self.corpus.table.column("evaluation_span").chunks)
        sizes = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        given = np.flatnonzero(sizes)
        if not len(given):
            return None
        flat = column.flatten().to_numpy().reshape(-1, 2)
        start, end = np.zeros(len(sizes), np.int64), self.corpus.lengths.copy()
        start[given], end[given] = flat[:, 0], flat[:, 1]
        return start, end

    def _inside(self, items: Items) -> Bools:
        if self._spans is None:
            return np.ones(len(items), np.bool_)
        start, end = self._spans
        return (items.start >= start[items.document]) & (items.end <= end[items.document])


def kept(gold: Gold, mask: Bools) -> Gold:
    """Some of the labels, with units and parents renumbered.

    A mention of which an alternative is gone becomes optional, since an answer may have been right by the one that is
    gone; so does a root that lost a part, and a part that lost its root.
    """
    places = np.flatnonzero(mask)
    new = np.full(len(mask) + 1, -1)
    units, first = np.unique(gold.unit[places], return_index=True)
    new[units] = np.where(mask[units], np.cumsum(mask)[units] - 1, first)  # the label that stands for it, if it stays
    broken = np.zeros(len(mask) + 1, np.bool_)
    lost = np.unique(gold.unit[~mask])
    while len(lost):
        broken[lost] = True
        lost = np.unique(gold.parent[lost])
        lost = lost[lost >= 0]
    parent = new[gold.parent[places]]
    orphaned = (gold.parent[places] >= 0) & (parent < 0)
    optional = gold.optional[places] | broken[gold.unit[places]] | orphaned
    return Gold(gold.items.take(places), new[gold.unit[places]], parent, optional)


def pair(corpus: Corpus, run: Run, *, allow_unknown: bool = False) -> Pairing:
    """Lay a run beside a corpus.

    Documents may come in any order. Answers to documents that the corpus does not have are an error, unless
    allowed, and then counted; so are documents without a reply.
    """
    place = np.asarray(pc.index_in(run.ids, corpus.ids).fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
    unknown = np.flatnonzero(place < 0)
    if len(unknown) and not allow_unknown:
        raise InputError(
            run.where(int(unknown[0])),
            found=f"document {run.ids[int(unknown[0])].as_py()!r}, which {corpus.name} does not have"
            + (f" ({len(unknown) - 1} more like it)" if len(unknown) > 1 else ""),
            expected="documents of the gold standard",
            remedy="Check that both files are of the same corpus and split, or pass --allow-unknown to leave it out",
        )
    labels, answers = corpus.labels, run.answers
    limits = np.where(place >= 0, corpus.lengths[place], np.iinfo(np.int64).max)
    check.refuse(check.inside(answers, limits, "answer"), run.where)
    counts = np.diff(answers.offsets)
    per_document = np.zeros(len(corpus), np.int64)
    per_document[place[place >= 0]] = counts[place >= 0]
    in_order = len(place) == 0 or (place[0] >= 0 and bool(np.all(place[1:] > place[:-1])))
    order = None if in_order else np.argsort(np.repeat(place, counts), kind="stable")[counts[place < 0].sum() :]
    names, answer_codes = _common(labels, answers)
    return Pairing(
        corpus,
        run,
        order,
        np.concatenate([[0], np.cumsum(per_document)]),
        names,
        answer_codes,
        _same_as(labels, names),
        _same_as(answers, names),
        place,
    )


def _common(labels: Mentions, answers: Mentions) -> tuple[Arrow, Ints]:
    """All ids, those of the gold standard first and in their order; and the codes of the answers' ids among them."""
    further = [mentions.field("same_as") for mentions in (labels, answers)]
    more = [ids.flatten() for ids in further if ids is not None]
    known = pc.index_in(answers.names, labels.names)
    new = answers.names.filter(known.is_null())
    names = pa.concat_arrays([labels.names, new])
    codes = known.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    codes[codes < 0] = len(labels.names) + np.arange(len(new))
    if more:  # ids that stand only in `same_as`
        names = pa.concat_arrays([names, *more]).unique()
    return names, np.append(codes, np.array([NO_LINK, NIL], np.int32))


def _same_as(mentions: Mentions, common: Arrow) -> Lists | None:
    column = mentions.field("same_as")
    if column is None:
        return None
    lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    codes = pc.index_in(column.flatten(), common).to_numpy(zero_copy_only=False)
    return Lists(np.concatenate([[0], np.cumsum(lengths)]), np.asarray(codes, np.int32))


def _length(table: Arrow, name: str) -> int:
    if name not in table.column_names:
        return 0
    return sum(len(chunk.flatten()) for chunk in table.column(name).chunks)
