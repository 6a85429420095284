"""Titles as a tree of tokens: what a model that writes titles may write next (GENRE, De Cao et al. 2021)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from karat.errors import UsageError

Tokens: TypeAlias = Sequence[int]

BEAMS: Final = 10
STEPS: Final = 15
"""GENRE's: so many beams, and so many tokens at most."""


@dataclass(frozen=True, eq=False)
class TitleTrie:
    """A prefix tree in three arrays, level by level, so that the children of a node lie side by side.

    `tokens[n]` leads to node n + 1, for node 0 is the root; its children are those from `first[n]` up to
    `first[n + 1]`, sorted by token. `title[n]` is the number of the title that ends there, or -1. A title ends with the
    token that ends a text, so a leaf is a whole title and no other node is.
    """

    tokens: NDArray[np.int32] = field(repr=False)
    first: NDArray[np.int32] = field(repr=False)
    title: NDArray[np.int32] = field(repr=False)
    end: int

    @classmethod
    def of(cls, titles: Iterable[Tokens], end: int) -> TitleTrie:
        """The tree of some titles as tokens, to each of which `end` is added; of equal ones the first counts."""
        flat, stops = array("i"), array("q")
        for title in titles:
            flat.extend(title)
            flat.append(end)
            stops.append(len(flat))
        if not stops:
            raise UsageError("a tree of titles needs a title. Give some, or one for NIL.")
        ends = np.frombuffer(stops, np.int64)
        starts = np.concatenate([[0], ends[:-1]])
        return cls._grown(np.frombuffer(flat, np.int32), starts, ends - starts, end)

    @classmethod
    def _grown(
        cls, flat: NDArray[np.int32], starts: NDArray[np.int64], sizes: NDArray[np.int64], end: int
    ) -> TitleTrie:
        """Level by level: all titles that are longer still, by the node they have come to and their next token."""
        active = np.arange(len(starts))
        node = np.zeros(len(starts), np.int64)
        tokens: list[NDArray[np.int32]] = []
        counts: list[NDArray[np.int64]] = []
        ends: list[NDArray[np.int32]] = [np.full(1, -1, np.int32)]
        wide, level = int(flat.max()) + 1, 1
        for depth in range(int(sizes.max())):
            key = node * wide + flat[starts[active] + depth]
            found, first, place = np.unique(key, return_index=True, return_inverse=True)
            tokens.append((found % wide).astype(np.int32))
            counts.append(np.bincount(found // wide, minlength=level))
            done = sizes[active] == depth + 1
            title = np.full(len(found), -1, np.int32)
            title[place[first[done[first]]]] = active[first[done[first]]]
            ends.append(title)
            level, active, node = len(found), active[~done], place[~done]
        children = np.concatenate([*counts, np.zeros(level, np.int64)])
        begins = np.concatenate([[1], 1 + np.cumsum(children)]).astype(np.int32)
        return cls(np.concatenate(tokens), begins, np.concatenate(ends), end)

    def __len__(self) -> int:
        """How many different titles there are."""
        return int((self.title >= 0).sum())

    @property
    def bytes(self) -> int:
        """What the arrays take."""
        return self.tokens.nbytes + self.first.nbytes + self.title.nbytes

    def allowed(self, prefix: Tokens) -> list[int]:
        """The tokens that may follow a prefix; none after a whole title, or where no title begins so."""
        node = self._at(prefix)
        if node <= 0:
            return [] if node else self._roots
        found: list[int] = self._children(node).tolist()
        return found

    def found(self, tokens: Tokens) -> int:
        """The number of the title that these tokens are, `end` included; -1 if none."""
        node = self._at(tokens)
        return -1 if node < 0 else int(self.title[node])

    @cached_property
    def _roots(self) -> list[int]:
        """The first tokens of all titles: they are many, and asked for with every text."""
        found: list[int] = self._children(0).tolist()
        return found

    def _at(self, prefix: Tokens) -> int:
        node = 0
        for token in prefix:
            children = self._children(node)
            place = int(np.searchsorted(children, token))
            if place == len(children) or children[place] != token:
                return -1
            node = int(self.first[node]) + place
        return node

    def _children(self, node: int) -> NDArray[np.int32]:
        return self.tokens[int(self.first[node]) - 1 : int(self.first[node + 1]) - 1]

    def depths(self) -> NDArray[np.int64]:
        """How many titles have so many tokens, `end` included, by that number."""
        depth = np.zeros(len(self.first) - 1, np.int64)
        level, low, high = 0, 0, 1
        while low < high:
            depth[low:high] = level
            level, low, high = level + 1, int(self.first[low]), int(self.first[high])
        return np.bincount(depth[self.title >= 0])

    def longer(self, steps: int = STEPS) -> int:
        """How many titles cannot be written in so many steps."""
        return int(self.depths()[steps + 1 :].sum())

    def save(self, path: Path) -> None:
        """Write the arrays into one file."""
        np.savez_compressed(path, tokens=self.tokens, first=self.first, title=self.title, end=self.end)

    @classmethod
    def read(cls, path: Path) -> TitleTrie:
        """The tree of a file."""
        with np.load(path, allow_pickle=False) as found:
            return cls(found["tokens"], found["first"], found["title"], int(found["end"]))


class _Row(Protocol):
    def tolist(self) -> Any: ...  # noqa: ANN401  # as arrays and tensors have it


@dataclass(frozen=True, eq=False)
class TitleConstraint:
    """What `generate` of Hugging Face takes as `prefix_allowed_tokens_fn`.

    One tree binds all inputs (GENRE's ALL); a sequence has one for each input, in their order (CL). `begin` are the
    tokens that stand before each title, such as the one that decoding starts with. With `encode` for a tokenizer's, no
    special tokens added:

        every = TitleTrie.of(map(encode, titles), tokenizer.eos_token_id)
        bound = TitleConstraint(every, (model.config.decoder_start_token_id,))
        written = model.generate(**inputs, **bound.settings())
        titles[bound.found(0, written[0])]

        own = candidate_tries([list(map(encode, each)) for each in lists], tokenizer.eos_token_id, encode("NIL"))
        written = model.generate(**inputs, **TitleConstraint(own, bound.begin).settings())
    """

    tries: TitleTrie | Sequence[TitleTrie]
    begin: tuple[int, ...]

    def __call__(self, number: int, written: _Row) -> list[int]:
        """The tokens that may follow what was written for an input."""
        tokens = tuple(written.tolist())
        trie = self.tries if isinstance(self.tries, TitleTrie) else self.tries[number]
        if len(tokens) < len(self.begin):
            return [self.begin[len(tokens)]]
        return trie.allowed(tokens[len(self.begin) :]) or [trie.end]  # beams that have ended are asked about, too

    def found(self, number: int, written: _Row) -> int:
        """The number of the title that was written for an input; -1 if it was not finished."""
        trie = self.tries if isinstance(self.tries, TitleTrie) else self.tries[number]
        tokens = written.tolist()[len(self.begin) :]
        return trie.found(tokens[: tokens.index(trie.end) + 1]) if trie.end in tokens else -1

    def settings(self) -> Mapping[str, Any]:
        """The arguments of `generate` that make it decode as GENRE does."""
        return {
            "prefix_allowed_tokens_fn": self,
            "num_beams": BEAMS,
            "num_return_sequences": 1,
            "max_new_tokens": STEPS + len(self.begin) - 1,
            "do_sample": False,
        }


def candidate_tries(lists: Iterable[Sequence[Tokens]], end: int, nil: Tokens) -> list[TitleTrie]:
    """One tree for the candidates of each mention; where there are none, that of the title for NIL."""
    return [TitleTrie.of(titles or [nil], end) for titles in lists]
