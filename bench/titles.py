"""A trie of a million titles: its memory, the time to build it, and the speed of queries.

    python bench/titles.py TITLES.json [COUNT]

TITLES.json is a list of titles. More titles are made by joining halves of two of them.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator

import numpy as np

from karat.systems.linking.neural.encoder import MINILM, find_encoder_folder
from karat.systems.linking.neural.tokens import WordPieces
from karat.systems.linking.trie import MAX_STEPS, TitleTrie


def generate_titles(sources: list[str], count: int) -> Iterator[str]:
    """Yield `count` titles: those of `sources`, then combinations of halves of two random ones."""
    rng = np.random.default_rng(1)
    yield from sources[:count]
    for i, k in rng.integers(len(sources), size=(max(0, count - len(sources)), 2)):
        first, second = sources[i].split(), sources[k].split()
        yield " ".join([*first[: (len(first) + 1) // 2], *second[len(second) // 2 :]])


def peak_memory() -> float:
    """Return the peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(path: str, count: int) -> None:
    """Build a trie of `count` titles from the list in the JSON file `path`; print its size, time and query rate."""
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        sources = json.load(file)
    pieces = WordPieces.load(find_encoder_folder(MINILM))

    def tokens() -> Iterator[list[int]]:
        for title in generate_titles(sources, count):
            yield pieces.tokenizer.encode(title, add_special_tokens=False).ids

    before, start = peak_memory(), time.perf_counter()
    trie = TitleTrie.from_titles(tokens(), pieces.end)
    built = time.perf_counter() - start
    after = peak_memory()
    queries = [pieces.tokenizer.encode(title, add_special_tokens=False).ids for title in sources[:20_000]]
    start = time.perf_counter()
    steps = 0
    for title in queries:
        for cut in range(len(title) + 1):
            steps += bool(trie.find_next_tokens(title[:cut]))
    took = time.perf_counter() - start
    print(
        f"{count:,} titles, {len(trie):,} different, {len(trie.tokens):,} nodes: {trie.n_bytes / 1e6:.0f} MB; "
        f"peak of the process {before:.0f} MB before, {after:.0f} MB after; built in {built:.0f} s with tokenisation; "
        f"{steps / took:,.0f} queries per second; {trie.count_longer():,} titles are longer than {MAX_STEPS} steps"
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
