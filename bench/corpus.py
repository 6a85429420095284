"""Generate a large gold file and a system's predictions: `python bench/corpus.py [FOLDER] [--documents N]`.

The same number of documents gives the same bytes. A smaller corpus is the beginning of a larger one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import karat
from shared import ESCAPED, Files, corpus_files

Longs: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Recipe:
    """Proportions and sizes of a generated corpus.

    `seed`: random seed.
    `mentions`: number of mentions per document.
    `entities`: number of entities.
    `shortest`, `longest`: limits of the length of a document, in characters.
    `nil`: share of NIL.
    `nested`: share of mentions that overlap their predecessor.
    `correct`, `shifted`, `wrong`: shares of mentions with a correct prediction, a wrong span and a wrong entity; the
    remaining mentions are missed.
    `spurious`: number of further predictions per mention.
    `chunk`: number of documents that are generated together.
    """

    seed: int = 1
    mentions: int = 20
    entities: int = 200_000
    shortest: int = 1200
    longest: int = 1800
    nil: float = 0.05
    nested: float = 0.02
    correct: float = 0.7
    shifted: float = 0.1
    wrong: float = 0.1
    spurious: float = 0.05
    chunk: int = 1000

    @cached_property
    def names(self) -> list[str]:
        """The entity ids as JSON, by entity code; the last one, at index -1, is NIL."""
        rng = np.random.default_rng(self.seed)
        numbers = np.unique(rng.integers(1, 130_000_000, self.entities * 2))
        sample = rng.permutation(numbers)[: self.entities]
        return [f'"Q{number}"' for number in sample.tolist()] + ["null"]

    @cached_property
    def popularity(self) -> NDArray[np.float64]:
        """The cumulative shares of the entities among mentions, by Zipf's law with a flattened top."""
        shares = 1 / (np.arange(self.entities) + 10.0)
        return np.asarray(np.cumsum(shares) / shares.sum())

    @cached_property
    def prose(self) -> str:
        """A long text from which every document is cut; a few characters take two bytes."""
        rng = np.random.default_rng(self.seed)
        letters = np.array(list("eeeeaaaiiooutttnnssrrllddhhmmccgpbfvkyzéüőñ"))
        sizes = rng.integers(2, 11, 20_000)
        words = ["".join(row[:size]) for row, size in zip(rng.choice(letters, (len(sizes), 10)), sizes, strict=True)]
        words = [word.capitalize() if i % 6 == 0 else word for i, word in enumerate(words)]
        words = [word + "." if i % 12 == 5 else word for i, word in enumerate(words)]
        shares = 1 / (np.arange(len(words)) + 5.0)
        return " ".join(np.array(words)[rng.choice(len(words), 700_000, p=shares / shares.sum())].tolist())


_ESCAPED = str.maketrans({".": "\n", "ő": '"', "ñ": "\\"})
"""Replacements that JSON must escape; json.dumps also escapes all non-ASCII characters."""


class SpanLists(NamedTuple):
    """Spans with entity codes (-1 is NIL) as flat lists by document; document d has `counts[d]` of them."""

    start: list[int]
    end: list[int]
    entity: list[int]
    counts: list[int]


class Chunk(NamedTuple):
    """Generated documents with labels and predictions.

    `offsets`, `lengths`: start in the prose and number of characters of each text.
    `gold`, `predictions`: spans of the labels and predictions.
    `scores`: score of each prediction, in ten-thousandths.
    """

    offsets: list[int]
    lengths: list[int]
    gold: SpanLists
    predictions: SpanLists
    scores: list[int]


class Grid(NamedTuple):
    """Spans and entity codes [documents, spans]; `inside` is a mask of spans that overlap their predecessor."""

    start: Longs
    end: Longs
    entity: Longs
    inside: Bools

    def select(self, mask: Bools) -> SpanLists:
        """Return the spans that `mask` selects, document after document."""
        start, end, entity = self.start[mask].tolist(), self.end[mask].tolist(), self.entity[mask].tolist()
        return SpanLists(start, end, entity, mask.sum(axis=1).tolist())


def draw_chunk(recipe: Recipe, number: int) -> Chunk:
    """Generate chunk `number` of the documents; the same number always gives the same documents."""
    rng = np.random.default_rng([recipe.seed, number])
    lengths = rng.integers(recipe.shortest, recipe.longest + 1, recipe.chunk)
    slots = (lengths // recipe.mentions)[:, None] * np.arange(recipe.mentions)
    gold = draw_gold(recipe, rng, slots)
    predictions, is_predicted = draw_predictions(recipe, rng, gold)
    extra = Grid(
        slots + 45, slots + 49 + rng.integers(0, 11, slots.shape), draw_entities(recipe, rng, slots), gold.inside
    )
    both = Grid(*(interleave(prediction, addition) for prediction, addition in zip(predictions, extra, strict=True)))
    mask = interleave(is_predicted, rng.random(slots.shape) < recipe.spurious)
    spans = both.select(mask)
    return Chunk(
        rng.integers(0, len(recipe.prose) - recipe.longest, recipe.chunk).tolist(),
        lengths.tolist(),
        gold.select(np.ones(slots.shape, np.bool_)),
        spans,
        np.asarray(rng.beta(4, 1.5, len(spans.start)) * 10_000, np.int64).tolist(),
    )


def interleave(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return a matrix with the columns of two matrices in turn: the first of each, the second of each, and so on."""
    return np.stack([first, second], axis=2).reshape(len(first), -1)


def draw_entities(recipe: Recipe, rng: np.random.Generator, slots: Longs) -> Longs:
    """Return a random entity code for each slot, by popularity; -1 is NIL."""
    codes = np.searchsorted(recipe.popularity, rng.random(slots.shape))
    return np.asarray(np.where(rng.random(slots.shape) < recipe.nil, -1, codes))


def draw_gold(recipe: Recipe, rng: np.random.Generator, slots: Longs) -> Grid:
    """Return a mention in each slot; some at odd indices are nested in their predecessor or cross its end.

    `slots`: start of the part of the text for each mention [documents, mentions].
    """
    start = slots + rng.integers(4, 16, slots.shape)
    end = start + 4 + np.minimum(rng.exponential(6, slots.shape), 20).astype(np.int64)
    entity = draw_entities(recipe, rng, slots)
    outer_start, outer_end, outer = start[:, ::2], end[:, ::2], entity[:, ::2]
    middle = (outer_start + outer_end) // 2
    inside = rng.random(outer.shape) < 2 * recipe.nested
    beyond = rng.random(outer.shape) < 0.5
    alike = rng.random(outer.shape) < 0.25
    start[:, 1::2] = np.where(inside, np.where(beyond, middle, outer_start), start[:, 1::2])
    end[:, 1::2] = np.where(inside, np.where(beyond, outer_end + 2, middle), end[:, 1::2])
    entity[:, 1::2] = np.where(inside & alike, outer, entity[:, 1::2])
    return Grid(start, end, entity, interleave(np.zeros_like(inside), inside))


def draw_predictions(recipe: Recipe, rng: np.random.Generator, gold: Grid) -> tuple[Grid, Bools]:
    """Return a prediction for each mention, and a mask of the mentions that are not missed.

    No span occurs twice in a document.
    """
    fates = rng.random(gold.start.shape)
    shifted = (fates >= recipe.correct) & (fates < recipe.correct + recipe.shifted) & ~gold.inside
    is_predicted = fates < recipe.correct + recipe.shifted + recipe.wrong
    wrong = is_predicted & (fates >= recipe.correct + recipe.shifted)
    direction, distance = rng.integers(0, 3, fates.shape), rng.integers(1, 4, fates.shape)
    start = gold.start + np.where(shifted, np.choose(direction, [-distance, 1, 0]), 0)
    end = gold.end + np.where(shifted & (direction == 2), distance, 0)
    other = draw_entities(recipe, rng, gold.start)
    other = np.where(other == gold.entity, (other + 1) % recipe.entities, other)
    return Grid(start, end, np.where(wrong, other, gold.entity), gold.inside), is_predicted


def write_files(recipe: Recipe, documents: int, target: Files, *, escaped: bool = False) -> None:
    """Write a gold file and a prediction file of `documents` documents as JSONL.

    With `escaped`, texts contain many characters that JSON escapes. Files get their final names when complete.
    """
    partial = Files(*(path.with_suffix(".part") for path in target))
    with (
        partial.gold.open("w", encoding="utf-8") as gold,
        partial.predictions.open("w", encoding="utf-8") as predictions,
    ):
        for first in range(0, documents, recipe.chunk):
            chunk = draw_chunk(recipe, first // recipe.chunk)
            count = min(recipe.chunk, documents - first)
            _write_gold(recipe, chunk, first, count, gold, escaped=escaped)
            _write_predictions(recipe, chunk, first, count, predictions)
    for part, path in zip(partial, target, strict=True):
        part.replace(path)


def _write_gold(recipe: Recipe, chunk: Chunk, first: int, count: int, file: IO[str], *, escaped: bool) -> None:
    """Write the first `count` documents of a chunk as lines of a gold file; `first` is the number of the first one."""
    lists, prose = chunk.gold, recipe.prose.translate(_ESCAPED) if escaped else recipe.prose
    text = json.dumps if escaped else '"{}"'.format
    spans = zip(lists.start, lists.end, iterate_entity_names(recipe, lists), strict=True)
    items = [f'{{"start":{start},"end":{end},"entity":{name}}}' for start, end, name in spans]
    rows = zip(chunk.offsets, chunk.lengths, join_lists(items, lists.counts), strict=True)
    file.writelines(
        f'{{"id":"doc-{number:07}","text":{text(prose[offset : offset + length])},"labels":[{labels}]}}\n'
        for number, (offset, length, labels) in enumerate(islice(rows, count), first)
    )


def _write_predictions(recipe: Recipe, chunk: Chunk, first: int, count: int, file: IO[str]) -> None:
    """Write the responses to the first `count` documents of a chunk; `first` is the number of the first one."""
    lists = chunk.predictions
    spans = zip(lists.start, lists.end, iterate_entity_names(recipe, lists), chunk.scores, strict=True)
    items = [
        f'{{"start":{start},"end":{end},"entity":{name},"score":0.{score:04}}}' for start, end, name, score in spans
    ]
    file.writelines(
        f'{{"id":"doc-{number:07}","predictions":[{predictions}]}}\n'
        for number, predictions in enumerate(islice(join_lists(items, lists.counts), count), first)
    )


def iterate_entity_names(recipe: Recipe, spans: SpanLists) -> Iterator[str]:
    """Return an iterator over the entity ids of spans, as JSON."""
    return map(recipe.names.__getitem__, spans.entity)


def join_lists(items: list[str], counts: list[int]) -> Iterator[str]:
    """Yield the items of each document, joined by commas; `counts` are the numbers of items."""
    begin = 0
    for count in counts:
        yield ",".join(items[begin : begin + count])
        begin += count


def ensure_files(folder: Path, documents: int, kind: str) -> Files:
    """Return the files of a corpus, and create them in `folder` if they are missing.

    `kind`: jsonl, `ESCAPED` or parquet.
    Parquet is made from JSONL, and the JSONL files are deleted unless they existed before.
    """
    target, source = corpus_files(folder, documents, kind), corpus_files(folder, documents, "jsonl")
    if target.is_complete:
        return target
    folder.mkdir(parents=True, exist_ok=True)
    if kind == ESCAPED:
        write_files(Recipe(), documents, target, escaped=True)
        return target
    had_source = source.is_complete
    if not had_source:
        write_files(Recipe(), documents, source)
    if kind == "parquet":
        karat.save(karat.load(source.gold), target.gold)
        karat.save(karat.load_run(source.predictions), target.predictions)
        if not had_source:
            source.gold.unlink()
            source.predictions.unlink()
    return target


def main() -> None:
    """Create the files that the command line requests, and print their sizes."""
    parser = argparse.ArgumentParser(description="Make a large gold file and a system's predictions to it.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent / "data")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--kind", choices=("jsonl", ESCAPED, "parquet"), default="jsonl")
    options = parser.parse_args()
    for path in ensure_files(options.folder, options.documents, options.kind):
        print(f"{path} ({path.stat().st_size / 1e6:,.1f} MB)")


if __name__ == "__main__":
    main()
