"""Inputs that are hard to match: `python bench/hard.py GOLD PREDICTIONS MENTIONS PER_DOCUMENT DEPTH`.

The arguments give the number of mentions, mentions per document, and nesting depth. Of ten mentions seven are
predicted correctly, one gets a wrong entity, one a wrong span, and one is missed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from shared import Files

_ENTITIES = 7  # few, so that many nested mentions share an entity


def generate_spans(count: int, depth: int) -> Iterator[tuple[int, int]]:
    """Yield `count` spans in nests of `depth`, nest after nest, the outermost span first."""
    for i in range(count):
        nest, inside = divmod(i, depth)
        begin = nest * (2 * depth + 2)
        yield begin + inside, begin + 2 * depth + 1 - inside


def predict(number: int, start: int, end: int, entity: int) -> tuple[int, int, int] | None:
    """Return start, end and entity of the prediction for a mention, or None if the mention is missed.

    `number` is the number of the mention; its last digit decides.
    """
    fate = number % 10
    if fate == 9:
        return None
    return start + (fate == 8), end, entity + (fate == 7)


def write_files(target: Files, mentions: int, per_document: int, depth: int) -> None:
    """Write a gold file and a prediction file as JSONL; they get their final names only when they are complete.

    `mentions`, `per_document`, `depth`: number of mentions, in all and per document, and nesting depth.
    """
    partial = Files(*(path.with_suffix(".part") for path in target))
    length = (2 * depth + 2) * -(-per_document // depth)
    with (
        partial.gold.open("w", encoding="utf-8") as gold,
        partial.predictions.open("w", encoding="utf-8") as predictions,
    ):
        for document in range(mentions // per_document):
            first = document * per_document
            labels = [(*span, i % _ENTITIES) for i, span in enumerate(generate_spans(per_document, depth), first)]
            predictions_or_none = [predict(i, *item) for i, item in enumerate(labels, first)]
            head = f'{{"id":"{document}"'
            gold.write(f'{head},"text":"{"x" * length}","labels":[{to_json(labels)}]}}\n')
            predictions.write(
                f'{head},"predictions":[{to_json(item for item in predictions_or_none if item is not None)}]}}\n'
            )
    for part, path in zip(partial, target, strict=True):
        part.replace(path)


def to_json(labels: Iterator[tuple[int, int, int]] | list[tuple[int, int, int]]) -> str:
    """Return spans with entities as the items of a JSON list."""
    return ",".join(f'{{"start":{start},"end":{end},"entity":"Q{entity + 1}"}}' for start, end, entity in labels)


def main() -> None:
    """Write the files that the command line requests."""
    gold, predictions = map(Path, sys.argv[1:3])
    write_files(Files(gold, predictions), *map(int, sys.argv[3:]))


if __name__ == "__main__":
    main()
