"""Texts as tokens in windows, with the mentions in them: what models read, as plain arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Snippets:
    """Windows of tokens, and mentions in them, in the order of the windows.

    The tokens of window i are `tokens[ends[i - 1] : ends[i]]`, the candidates of mention j
    `candidates[candidate_ends[j - 1] : candidate_ends[j]]`, as codes of entities. `gold` is a code, or -1 where the
    entity is not in the vocabulary. `first` and `last` are the tokens in which a mention begins and ends, counted in
    its window; `document`, `start` and `end` say where it stands in which text.
    """

    tokens: Ints
    ends: Ints
    window: Ints
    first: Ints
    last: Ints
    gold: Ints
    candidates: Ints
    candidate_ends: Ints
    document: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def mentions(self) -> int:
        """How many mentions there are."""
        return len(self.window)

    def save(self, path: Path) -> None:
        """Write the arrays into one file."""
        np.savez_compressed(path, **{each.name: getattr(self, each.name) for each in fields(self)})

    @classmethod
    def read(cls, path: Path) -> Snippets:
        """The arrays of one file."""
        with np.load(path, allow_pickle=False) as found:
            return cls(**{each.name: found[each.name] for each in fields(cls)})

    def of_documents(self, chosen: Sequence[int] | Ints) -> Snippets:
        """The windows and mentions of some documents, in their order; windows without a mention go."""
        kept = np.flatnonzero(np.isin(self.document, np.asarray(chosen, np.int32)))
        return self.of_mentions(kept)

    def of_mentions(self, kept: NDArray[np.intp]) -> Snippets:
        """Some mentions, in ascending order, with their windows."""
        windows, window = np.unique(self.window[kept].astype(np.intp), return_inverse=True)
        tokens, ends = _ragged(self.tokens, self.ends, windows)
        candidates, candidate_ends = _ragged(self.candidates, self.candidate_ends, kept)
        rest = {name: getattr(self, name)[kept] for name in ("first", "last", "gold", "document", "start", "end")}
        return Snippets(
            tokens, ends, window.astype(np.int32), **rest, candidates=candidates, candidate_ends=candidate_ends
        )

    def batches(self, size: int, order: NDArray[np.intp] | None = None) -> Iterator[SnippetBatch]:
        """So many windows at a time, in the given order of windows, or in theirs."""
        places = np.arange(len(self)) if order is None else order
        low = np.searchsorted(self.window, np.arange(len(self)))
        high = np.searchsorted(self.window, np.arange(len(self)), side="right")
        for at in range(0, len(places), size):
            chosen = places[at : at + size]
            mentions = np.concatenate([np.arange(low[one], high[one]) for one in chosen])
            yield self._batch(chosen, mentions)

    def _batch(self, windows: NDArray[np.intp], mentions: NDArray[np.intp]) -> SnippetBatch:
        tokens, ends = _ragged(self.tokens, self.ends, windows)
        candidates, candidate_ends = _ragged(self.candidates, self.candidate_ends, mentions)
        row = np.zeros(len(self), np.int64)
        row[windows] = np.arange(len(windows))
        return SnippetBatch(
            tokens=_padded(tokens, ends, 0),
            lengths=np.diff(ends, prepend=0).astype(np.int64),
            row=row[self.window[mentions]],
            first=self.first[mentions].astype(np.int64),
            last=self.last[mentions].astype(np.int64),
            gold=self.gold[mentions].astype(np.int64),
            candidates=_padded(candidates, candidate_ends, -1),
            mention=mentions.astype(np.int64),
        )


@dataclass(frozen=True, eq=False)
class SnippetBatch:
    """Some windows side by side, padded with 0, and their mentions; candidates are padded with -1."""

    tokens: NDArray[np.int64]
    lengths: NDArray[np.int64]
    row: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    gold: NDArray[np.int64]
    candidates: NDArray[np.int64]
    mention: NDArray[np.int64]


def windows(ends: Sequence[tuple[int, int]], length: int, most: int) -> list[tuple[int, int]]:
    """Where a text of so many tokens is cut into windows of `most` at most, so that no mention is cut.

    `ends` are the first and last tokens of the mentions, in their order. A mention longer than a window is cut.
    """
    found, start = [], 0
    while start < length:
        stop = min(start + most, length)
        for first, last in reversed(ends):
            if start < first < stop <= last:
                stop = first
        found.append((start, stop))
        start = stop
    return found


def _ragged(flat: Ints, ends: Ints, chosen: NDArray[np.intp]) -> tuple[Ints, Ints]:
    """The stretches of some rows one after another, and where each ends."""
    starts = np.concatenate([[0], ends[:-1]])[chosen] if len(ends) else np.zeros(0, np.int64)
    sizes = ends[chosen] - starts
    new = np.cumsum(sizes)
    places = np.arange(new[-1] if len(new) else 0) + np.repeat(starts - (new - sizes), sizes)
    return flat[places], new.astype(np.int32)


def _padded(flat: Ints, ends: Ints, blank: int) -> NDArray[np.int64]:
    """Rows of different lengths side by side."""
    sizes = np.diff(ends, prepend=0)
    found = np.full((len(ends), int(sizes.max(initial=1)) or 1), blank, np.int64)
    found[np.arange(found.shape[1]) < sizes[:, None]] = flat
    return found
