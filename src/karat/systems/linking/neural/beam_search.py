"""Beam search for titles that a trie contains (GENRE, De Cao et al. 2021)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from karat.model.errors import UsageError
from karat.systems.linking.trie import MAX_STEPS, N_BEAMS, TitleTrie

Scores: TypeAlias = NDArray[np.float32]

TokenScorer: TypeAlias = Callable[[NDArray[np.int64], NDArray[np.int64]], Scores]
"""A function from the input of each row and its prefix [rows, length] to log-probabilities [rows, vocabulary]."""


@dataclass(frozen=True, slots=True)
class WrittenTitle:
    """A title that a beam search completed.

    `number`: number of the title in the trie.
    `score`: mean log-probability of its tokens, with the end token.
    """

    number: int
    score: float


@dataclass(eq=False)
class _Search:
    """The state of a search for one input: open prefixes with their nodes and sums, and complete titles."""

    trie: TitleTrie
    prefixes: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    nodes: list[int] = field(default_factory=lambda: [0])
    sums: list[float] = field(default_factory=lambda: [0.0])
    titles: list[WrittenTitle] = field(default_factory=list)

    def extend(self, log_probabilities: Scores, n_beams: int, max_steps: int) -> None:
        """Extend the open prefixes by one token each, and keep the best.

        `log_probabilities`: those of each prefix's next token [prefixes, vocabulary].
        """
        trie = self.trie
        starts = trie.child_starts[np.array(self.nodes)].astype(np.int64)
        counts = trie.child_starts[np.array(self.nodes) + 1].astype(np.int64) - starts
        rows = np.repeat(np.arange(len(counts)), counts)
        children = np.arange(len(rows)) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
        tokens = trie.tokens[children - 1]
        sums = np.array(self.sums)[rows] + log_probabilities[rows, tokens]
        # twice as many as needed: one token of each prefix may be the end
        best = np.argsort(-sums, kind="stable")[: 2 * n_beams]
        length = len(self.prefixes[0]) + 1
        open_rows: list[int] = []
        for rank, index in enumerate(best.tolist()):
            if tokens[index] != trie.end:
                open_rows.append(index)
            elif rank < n_beams:
                number = int(trie.title_numbers[children[index]])
                self.titles.append(WrittenTitle(number, float(sums[index]) / length))
        self.titles = sorted(self.titles, key=lambda title: -title.score)[:n_beams]
        open_rows = open_rows[:n_beams] if length < max_steps else []
        if open_rows and len(self.titles) == n_beams and sums[open_rows[0]] / max_steps <= self.titles[-1].score:
            open_rows = []  # none can become better than the complete titles
        self.prefixes = [(*self.prefixes[rows[index]], int(tokens[index])) for index in open_rows]
        self.nodes = [int(children[index]) for index in open_rows]
        self.sums = [float(sums[index]) for index in open_rows]


def write_titles(
    score_tokens: TokenScorer, tries: Sequence[TitleTrie], *, n_beams: int = N_BEAMS, max_steps: int = MAX_STEPS
) -> list[list[WrittenTitle]]:
    """Search for the best titles of each input, best first; there may be none within `max_steps` tokens.

    `score_tokens`: returns the log-probabilities of the next token, given inputs and prefixes of equal length.
    `tries`: tree of the titles that each input may get.
    `n_beams`: number of open prefixes per input. With as many as titles, the first title is the best of all.
    `max_steps`: maximal number of tokens of a title, with the end token.
    """
    if n_beams < 1 or max_steps < 1:
        raise UsageError(f"{n_beams} beams and {max_steps} steps: use numbers of 1 or more.")
    searches = [_Search(trie) for trie in tries]
    for _ in range(max_steps):
        active = [(number, search) for number, search in enumerate(searches) if search.prefixes]
        if not active:
            break
        inputs = np.array([number for number, search in active for _ in search.prefixes], np.int64)
        prefixes = np.array([prefix for _, search in active for prefix in search.prefixes], np.int64)
        log_probabilities = score_tokens(inputs, prefixes.reshape(len(inputs), -1))
        low = 0
        for _, search in active:
            high = low + len(search.prefixes)
            search.extend(log_probabilities[low:high], n_beams, max_steps)
            low = high
    return [search.titles for search in searches]
