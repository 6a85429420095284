"""A tree of a million titles: how much memory it takes, how long it is built, and how fast it is asked.

    python bench/titles.py TITLES.json [COUNT]

TITLES.json is a list of titles; more are made by putting halves of two of them together.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator

import numpy as np

from karat.linking.neural.encoder import MINILM, encoder_folder
from karat.linking.neural.tokens import WordPieces
from karat.linking.trie import STEPS, TitleTrie


def titles(known: list[str], count: int) -> Iterator[str]:
    rng = np.random.default_rng(1)
    yield from known[:count]
    for one, other in rng.integers(len(known), size=(max(0, count - len(known)), 2)):
        first, second = known[one].split(), known[other].split()
        yield " ".join([*first[: (len(first) + 1) // 2], *second[len(second) // 2 :]])


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(path: str, count: int) -> None:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        known = json.load(file)
    pieces = WordPieces.read(encoder_folder(MINILM))

    def tokens() -> Iterator[list[int]]:
        for title in titles(known, count):
            yield pieces.tokenizer.encode(title, add_special_tokens=False).ids

    before, start = peak(), time.perf_counter()
    trie = TitleTrie.of(tokens(), pieces.end)
    built = time.perf_counter() - start
    after = peak()
    asked = [pieces.tokenizer.encode(title, add_special_tokens=False).ids for title in known[:20_000]]
    start = time.perf_counter()
    steps = 0
    for title in asked:
        for cut in range(len(title) + 1):
            steps += bool(trie.allowed(title[:cut]))
    took = time.perf_counter() - start
    print(
        f"{count:,} titles, {len(trie):,} different, {len(trie.tokens):,} nodes: {trie.bytes / 1e6:.0f} MB; "
        f"peak of the process {before:.0f} MB before, {after:.0f} MB after; built in {built:.0f} s with tokenisation; "
        f"{steps / took:,.0f} questions a second; {trie.longer():,} titles are longer than {STEPS} steps"
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
