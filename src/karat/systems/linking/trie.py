"""A prefix tree of titles as tokens, for constrained decoding (GENRE, De Cao et al. 2021)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from karat.model.errors import UsageError

TokenIds: TypeAlias = Sequence[int]

N_BEAMS: Final = 10
MAX_STEPS: Final = 15
"""GENRE's number of beams and maximal number of tokens."""


@dataclass(frozen=True, eq=False)
class TitleTrie:
    """A prefix tree in three arrays, level by level, so that the children of a node are contiguous.

    `tokens`: `tokens[n]` is the token that leads to node n + 1; node 0 is the root.
    `child_starts`: the children of node n are `child_starts[n]` to `child_starts[n + 1]`, sorted by token.
    `title_numbers`: number of the title that ends at each node, or -1.
    `end`: end-of-text token, which ends each title; only leaves are complete titles.
    """

    tokens: NDArray[np.int32] = field(repr=False)
    child_starts: NDArray[np.int32] = field(repr=False)
    title_numbers: NDArray[np.int32] = field(repr=False)
    end: int

    @classmethod
    def from_titles(cls, titles: Iterable[TokenIds], end: int) -> TitleTrie:
        """Build the tree of tokenised titles, each followed by the token `end`; the first of equal titles counts.

        Titles are numbered in their order. Without titles, raise `UsageError`.
        """
        flat, end_offsets = array("i"), array("q")
        for title in titles:
            flat.extend(title)
            flat.append(end)
            end_offsets.append(len(flat))
        if not end_offsets:
            raise UsageError("a tree needs at least one title. Pass titles, or the title for NIL.")
        ends = np.frombuffer(end_offsets, np.int64)
        starts = np.concatenate([[0], ends[:-1]])
        return cls._build_levels(np.frombuffer(flat, np.int32), starts, ends - starts, end)

    @classmethod
    def _build_levels(
        cls, flat: NDArray[np.int32], starts: NDArray[np.int64], sizes: NDArray[np.int64], end: int
    ) -> TitleTrie:
        """Build the tree level by level: group incomplete titles by their node and next token.

        `flat`: tokens of all titles.
        `starts`, `sizes`: start in `flat` and number of tokens of each title.
        """
        active = np.arange(len(starts))
        node = np.zeros(len(starts), np.int64)
        tokens: list[NDArray[np.int32]] = []
        counts: list[NDArray[np.int64]] = []
        ends: list[NDArray[np.int32]] = [np.full(1, -1, np.int32)]
        vocabulary_size, n_nodes = int(flat.max()) + 1, 1
        for depth in range(int(sizes.max())):
            key = node * vocabulary_size + flat[starts[active] + depth]
            keys, first_rows, key_indices = np.unique(key, return_index=True, return_inverse=True)
            tokens.append((keys % vocabulary_size).astype(np.int32))
            counts.append(np.bincount(keys // vocabulary_size, minlength=n_nodes))
            is_complete = sizes[active] == depth + 1
            title = np.full(len(keys), -1, np.int32)
            title[key_indices[first_rows[is_complete[first_rows]]]] = active[first_rows[is_complete[first_rows]]]
            ends.append(title)
            n_nodes, active, node = len(keys), active[~is_complete], key_indices[~is_complete]
        children = np.concatenate([*counts, np.zeros(n_nodes, np.int64)])
        child_starts = np.concatenate([[1], 1 + np.cumsum(children)]).astype(np.int32)
        return cls(np.concatenate(tokens), child_starts, np.concatenate(ends), end)

    def __len__(self) -> int:
        """Return the number of different titles."""
        return int((self.title_numbers >= 0).sum())

    @property
    def n_bytes(self) -> int:
        """The memory size of the arrays in bytes."""
        return self.tokens.nbytes + self.child_starts.nbytes + self.title_numbers.nbytes

    def find_next_tokens(self, prefix: TokenIds) -> list[int]:
        """Return the sorted tokens that may follow a prefix; empty after a complete title or an unknown prefix."""
        node = self._find_node(prefix)
        if node <= 0:
            return [] if node else self._root_tokens
        tokens: list[int] = self._get_child_tokens(node).tolist()
        return tokens

    def find_title(self, tokens: TokenIds) -> int:
        """Return the number of the title with exactly these tokens, `end` as the last one; -1 if there is none."""
        node = self._find_node(tokens)
        return -1 if node < 0 else int(self.title_numbers[node])

    @cached_property
    def _root_tokens(self) -> list[int]:
        """The first tokens of all titles, cached because they are many and needed for every text."""
        tokens: list[int] = self._get_child_tokens(0).tolist()
        return tokens

    def _find_node(self, prefix: TokenIds) -> int:
        """Return the node that a sequence of tokens leads to from the root, or -1 if there is none."""
        node = 0
        for token in prefix:
            children = self._get_child_tokens(node)
            index = int(np.searchsorted(children, token))
            if index == len(children) or children[index] != token:
                return -1
            node = int(self.child_starts[node]) + index
        return node

    def _get_child_tokens(self, node: int) -> NDArray[np.int32]:
        """Return the sorted tokens that lead to the children of a node."""
        return self.tokens[int(self.child_starts[node]) - 1 : int(self.child_starts[node + 1]) - 1]

    def count_by_length(self) -> NDArray[np.int64]:
        """Return an array whose element n is the number of titles with n tokens, including `end`."""
        depth = np.zeros(len(self.child_starts) - 1, np.int64)
        level, low, high = 0, 0, 1
        while low < high:
            depth[low:high] = level
            level, low, high = level + 1, int(self.child_starts[low]), int(self.child_starts[high])
        return np.bincount(depth[self.title_numbers >= 0])

    def count_longer(self, steps: int = MAX_STEPS) -> int:
        """Return the number of titles with more than `steps` tokens, including `end`."""
        return int(self.count_by_length()[steps + 1 :].sum())

    def save(self, path: Path) -> None:
        """Write the arrays to one compressed NumPy file."""
        np.savez_compressed(path, tokens=self.tokens, first=self.child_starts, title=self.title_numbers, end=self.end)

    @classmethod
    def load(cls, path: Path) -> TitleTrie:
        """Read a tree from a file that `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(arrays["tokens"], arrays["first"], arrays["title"], int(arrays["end"]))


class _Row(Protocol):
    """A row of generated tokens: an array or a tensor."""

    def tolist(self) -> Any: ...  # noqa: ANN401  # like arrays and tensors


@dataclass(frozen=True, eq=False)
class TitleConstraint:
    """A `prefix_allowed_tokens_fn` for `generate` of Hugging Face.

    `tries`: one tree for all inputs (GENRE's ALL), or one tree per input, in order (CL).
    `prefix`: tokens before each title, such as the start token of the decoder.

    With `encode` as the tokenizer's function without special tokens:

        trie = TitleTrie.from_titles(map(encode, titles), tokenizer.eos_token_id)
        constraint = TitleConstraint(trie, (model.config.decoder_start_token_id,))
        rows = model.generate(**inputs, **constraint.generate_options())
        titles[constraint.find_title(0, rows[0])]

        tries = build_candidate_tries([list(map(encode, c)) for c in lists], tokenizer.eos_token_id, encode("NIL"))
        rows = model.generate(**inputs, **TitleConstraint(tries, constraint.prefix).generate_options())
    """

    tries: TitleTrie | Sequence[TitleTrie]
    prefix: tuple[int, ...]

    def __call__(self, index: int, row: _Row) -> list[int]:
        """Return the tokens that may follow the generated tokens `row` of input `index`; `end` if none may."""
        tokens = tuple(row.tolist())
        trie = self.tries if isinstance(self.tries, TitleTrie) else self.tries[index]
        if len(tokens) < len(self.prefix):
            return [self.prefix[len(tokens)]]
        return trie.find_next_tokens(tokens[len(self.prefix) :]) or [
            trie.end
        ]  # generate also queries beams that have ended

    def find_title(self, index: int, row: _Row) -> int:
        """Return the number of the title in the generated tokens `row` of input `index`; -1 if it is incomplete."""
        trie = self.tries if isinstance(self.tries, TitleTrie) else self.tries[index]
        tokens = row.tolist()[len(self.prefix) :]
        return trie.find_title(tokens[: tokens.index(trie.end) + 1]) if trie.end in tokens else -1

    def generate_options(self) -> Mapping[str, Any]:
        """Return keyword arguments of Hugging Face's `generate` to decode like GENRE: 10 beams, at most 15 tokens."""
        return {
            "prefix_allowed_tokens_fn": self,
            "num_beams": N_BEAMS,
            "num_return_sequences": 1,
            "max_new_tokens": MAX_STEPS + len(self.prefix) - 1,
            "do_sample": False,
        }


def build_candidate_tries(candidate_lists: Iterable[Sequence[TokenIds]], end: int, nil: TokenIds) -> list[TitleTrie]:
    """Build one tree per mention from the tokenised titles of its candidates, or from `nil` if it has none.

    `nil`: tokens of the title that represents NIL.
    """
    return [TitleTrie.from_titles(titles or [nil], end) for titles in candidate_lists]
