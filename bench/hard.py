"""Make inputs that are hard to match: `python bench/hard.py GOLD ANSWERS MENTIONS PER_DOCUMENT DEPTH`.

So many mentions in all and in each document, and so many of them that lie in each other. Of ten mentions seven are
answered rightly, one with another entity and one at another place; one is missed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from shared import Files

_ENTITIES = 7  # few, so that many of those that lie in each other are linked alike


def spans(mentions: int, depth: int) -> Iterator[tuple[int, int]]:
    """Nests of so many spans, one beside the other, the outermost first."""
    for i in range(mentions):
        nest, inside = divmod(i, depth)
        begin = nest * (2 * depth + 2)
        yield begin + inside, begin + 2 * depth + 1 - inside


def answered(number: int, start: int, end: int, entity: int) -> tuple[int, int, int] | None:
    """The answer to a mention, if there is one."""
    fate = number % 10
    if fate == 9:
        return None
    return start + (fate == 8), end, entity + (fate == 7)


def write(target: Files, mentions: int, per_document: int, depth: int) -> None:
    """Both files as JSONL; they are there under their names only once they are complete."""
    partial = Files(*(path.with_suffix(".part") for path in target))
    length = (2 * depth + 2) * -(-per_document // depth)
    with partial.gold.open("w", encoding="utf-8") as gold, partial.answers.open("w", encoding="utf-8") as answers:
        for document in range(mentions // per_document):
            first = document * per_document
            marks = [(*span, i % _ENTITIES) for i, span in enumerate(spans(per_document, depth), first)]
            given = [answered(i, *mark) for i, mark in enumerate(marks, first)]
            head = f'{{"id":"{document}"'
            gold.write(f'{head},"text":"{"x" * length}","labels":[{_written(marks)}]}}\n')
            answers.write(f'{head},"answers":[{_written(mark for mark in given if mark is not None)}]}}\n')
    for part, path in zip(partial, target, strict=True):
        part.replace(path)


def _written(marks: Iterator[tuple[int, int, int]] | list[tuple[int, int, int]]) -> str:
    return ",".join(f'{{"start":{start},"end":{end},"entity":"Q{entity + 1}"}}' for start, end, entity in marks)


def main() -> None:
    """Make the files that the arguments ask for."""
    gold, answers = map(Path, sys.argv[1:3])
    write(Files(gold, answers), *map(int, sys.argv[3:]))


if __name__ == "__main__":
    main()
