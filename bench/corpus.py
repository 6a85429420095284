"""Make a large gold file and a system's answers to it: `python bench/corpus.py [FOLDER] [--documents N]`.

The same number of documents gives the same bytes, and a smaller corpus is the beginning of a larger one.
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
from shared import ESCAPED, Files, files

Longs: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Recipe:
    """The shares that make a corpus; a fate is drawn for every mention, and what is left over is missing."""

    seed: int = 1
    mentions: int = 20
    entities: int = 200_000
    shortest: int = 1200
    longest: int = 1800
    nil: float = 0.05
    nested: float = 0.02
    right: float = 0.7
    shifted: float = 0.1
    wrong: float = 0.1
    spurious: float = 0.05
    chunk: int = 1000

    @cached_property
    def names(self) -> list[str]:
        """The entity ids as JSON; the last one, at -1, is NIL."""
        rng = np.random.default_rng(self.seed)
        numbers = np.unique(rng.integers(1, 130_000_000, self.entities * 2))
        chosen = rng.permutation(numbers)[: self.entities]
        return [f'"Q{number}"' for number in chosen.tolist()] + ["null"]

    @cached_property
    def popularity(self) -> NDArray[np.float64]:
        """Cumulated shares of the entities, by Zipf's law with a flattened top."""
        shares = 1 / (np.arange(self.entities) + 10.0)
        return np.asarray(np.cumsum(shares) / shares.sum())

    @cached_property
    def prose(self) -> str:
        """A long text of which every document is a piece; a few letters take two bytes."""
        rng = np.random.default_rng(self.seed)
        letters = np.array(list("eeeeaaaiiooutttnnssrrllddhhmmccgpbfvkyzéüőñ"))
        sizes = rng.integers(2, 11, 20_000)
        words = ["".join(row[:size]) for row, size in zip(rng.choice(letters, (len(sizes), 10)), sizes, strict=True)]
        words = [word.capitalize() if i % 6 == 0 else word for i, word in enumerate(words)]
        words = [word + "." if i % 12 == 5 else word for i, word in enumerate(words)]
        shares = 1 / (np.arange(len(words)) + 5.0)
        return " ".join(np.array(words)[rng.choice(len(words), 700_000, p=shares / shares.sum())].tolist())


_ESCAPED = str.maketrans({".": "\n", "ő": '"', "ñ": "\\"})
"""What makes some letters such as JSON has to escape; json.dumps escapes all that are not ASCII besides."""


class Marks(NamedTuple):
    """Spans with entity codes, flat; document d has `counts[d]` of them."""

    start: list[int]
    end: list[int]
    entity: list[int]
    counts: list[int]


class Chunk(NamedTuple):
    """Some documents as they are drawn: their texts are `lengths` characters of the prose from `places` on."""

    places: list[int]
    lengths: list[int]
    gold: Marks
    answers: Marks
    scores: list[int]


class Grid(NamedTuple):
    """Spans and entities with one row per document; `inside` marks spans that overlap the one before them."""

    start: Longs
    end: Longs
    entity: Longs
    inside: Bools

    def marks(self, keep: Bools) -> Marks:
        """The kept ones, document by document."""
        start, end, entity = self.start[keep].tolist(), self.end[keep].tolist(), self.entity[keep].tolist()
        return Marks(start, end, entity, keep.sum(axis=1).tolist())


def draw(recipe: Recipe, number: int) -> Chunk:
    """The chunk of documents with this number."""
    rng = np.random.default_rng([recipe.seed, number])
    lengths = rng.integers(recipe.shortest, recipe.longest + 1, recipe.chunk)
    slots = (lengths // recipe.mentions)[:, None] * np.arange(recipe.mentions)
    gold = _gold(recipe, rng, slots)
    answers, given = _answers(recipe, rng, gold)
    extra = Grid(slots + 45, slots + 49 + rng.integers(0, 11, slots.shape), _entities(recipe, rng, slots), gold.inside)
    both = Grid(*(_alternating(one, two) for one, two in zip(answers, extra, strict=True)))
    keep = _alternating(given, rng.random(slots.shape) < recipe.spurious)
    marks = both.marks(keep)
    return Chunk(
        rng.integers(0, len(recipe.prose) - recipe.longest, recipe.chunk).tolist(),
        lengths.tolist(),
        gold.marks(np.ones(slots.shape, np.bool_)),
        marks,
        np.asarray(rng.beta(4, 1.5, len(marks.start)) * 10_000, np.int64).tolist(),
    )


def _alternating(one: NDArray[Any], two: NDArray[Any]) -> NDArray[Any]:
    return np.stack([one, two], axis=2).reshape(len(one), -1)


def _entities(recipe: Recipe, rng: np.random.Generator, like: Longs) -> Longs:
    drawn = np.searchsorted(recipe.popularity, rng.random(like.shape))
    return np.asarray(np.where(rng.random(like.shape) < recipe.nil, -1, drawn))


def _gold(recipe: Recipe, rng: np.random.Generator, slots: Longs) -> Grid:
    """A mention in each slot, but some of the odd ones lie within the one before them, or reach beyond its end."""
    start = slots + rng.integers(4, 16, slots.shape)
    end = start + 4 + np.minimum(rng.exponential(6, slots.shape), 20).astype(np.int64)
    entity = _entities(recipe, rng, slots)
    outer_start, outer_end, outer = start[:, ::2], end[:, ::2], entity[:, ::2]
    middle = (outer_start + outer_end) // 2
    inside = rng.random(outer.shape) < 2 * recipe.nested
    beyond = rng.random(outer.shape) < 0.5
    alike = rng.random(outer.shape) < 0.25
    start[:, 1::2] = np.where(inside, np.where(beyond, middle, outer_start), start[:, 1::2])
    end[:, 1::2] = np.where(inside, np.where(beyond, outer_end + 2, middle), end[:, 1::2])
    entity[:, 1::2] = np.where(inside & alike, outer, entity[:, 1::2])
    return Grid(start, end, entity, _alternating(np.zeros_like(inside), inside))


def _answers(recipe: Recipe, rng: np.random.Generator, gold: Grid) -> tuple[Grid, Bools]:
    """An answer to each mention, and which of them are given. No span is answered twice in a document."""
    fate = rng.random(gold.start.shape)
    shifted = (fate >= recipe.right) & (fate < recipe.right + recipe.shifted) & ~gold.inside
    given = fate < recipe.right + recipe.shifted + recipe.wrong
    wrong = given & (fate >= recipe.right + recipe.shifted)
    way, far = rng.integers(0, 3, fate.shape), rng.integers(1, 4, fate.shape)
    start = gold.start + np.where(shifted, np.choose(way, [-far, 1, 0]), 0)
    end = gold.end + np.where(shifted & (way == 2), far, 0)
    other = _entities(recipe, rng, gold.start)
    other = np.where(other == gold.entity, (other + 1) % recipe.entities, other)
    return Grid(start, end, np.where(wrong, other, gold.entity), gold.inside), given


def write(recipe: Recipe, documents: int, target: Files, *, escaped: bool = False) -> None:
    """Both files as JSONL; they are there under their names only once they are complete."""
    partial = Files(*(path.with_suffix(".part") for path in target))
    with partial.gold.open("w", encoding="utf-8") as gold, partial.answers.open("w", encoding="utf-8") as answers:
        for first in range(0, documents, recipe.chunk):
            chunk = draw(recipe, first // recipe.chunk)
            count = min(recipe.chunk, documents - first)
            _write_gold(recipe, chunk, first, count, gold, escaped=escaped)
            _write_answers(recipe, chunk, first, count, answers)
    for part, path in zip(partial, target, strict=True):
        part.replace(path)


def _write_gold(recipe: Recipe, chunk: Chunk, first: int, count: int, file: IO[str], *, escaped: bool) -> None:
    marks, prose = chunk.gold, recipe.prose.translate(_ESCAPED) if escaped else recipe.prose
    text = json.dumps if escaped else '"{}"'.format
    spans = zip(marks.start, marks.end, _names(recipe, marks), strict=True)
    items = [f'{{"start":{start},"end":{end},"entity":{name}}}' for start, end, name in spans]
    rows = zip(chunk.places, chunk.lengths, _lists(items, marks.counts), strict=True)
    file.writelines(
        f'{{"id":"doc-{number:07}","text":{text(prose[place : place + length])},"labels":[{labels}]}}\n'
        for number, (place, length, labels) in enumerate(islice(rows, count), first)
    )


def _write_answers(recipe: Recipe, chunk: Chunk, first: int, count: int, file: IO[str]) -> None:
    marks = chunk.answers
    spans = zip(marks.start, marks.end, _names(recipe, marks), chunk.scores, strict=True)
    items = [
        f'{{"start":{start},"end":{end},"entity":{name},"score":0.{score:04}}}' for start, end, name, score in spans
    ]
    file.writelines(
        f'{{"id":"doc-{number:07}","answers":[{answers}]}}\n'
        for number, answers in enumerate(islice(_lists(items, marks.counts), count), first)
    )


def _names(recipe: Recipe, marks: Marks) -> Iterator[str]:
    return map(recipe.names.__getitem__, marks.entity)


def _lists(items: list[str], counts: list[int]) -> Iterator[str]:
    begin = 0
    for count in counts:
        yield ",".join(items[begin : begin + count])
        begin += count


def ensure(folder: Path, documents: int, kind: str) -> Files:
    """The files, made if they are not there. Parquet is made from JSONL, which is kept only if it was there."""
    target, source = files(folder, documents, kind), files(folder, documents, "jsonl")
    if target.present:
        return target
    folder.mkdir(parents=True, exist_ok=True)
    if kind == ESCAPED:
        write(Recipe(), documents, target, escaped=True)
        return target
    had_source = source.present
    if not had_source:
        write(Recipe(), documents, source)
    if kind == "parquet":
        karat.save(karat.load(source.gold), target.gold)
        karat.save(karat.load_run(source.answers), target.answers)
        if not had_source:
            source.gold.unlink()
            source.answers.unlink()
    return target


def main() -> None:
    """Make the files that the arguments ask for."""
    parser = argparse.ArgumentParser(description="Make a large gold file and a system's answers to it.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent / "data")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--kind", choices=("jsonl", ESCAPED, "parquet"), default="jsonl")
    given = parser.parse_args()
    for path in ensure(given.folder, given.documents, given.kind):
        print(f"{path} ({path.stat().st_size / 1e6:,.1f} MB)")


if __name__ == "__main__":
    main()
