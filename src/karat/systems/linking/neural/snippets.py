"""Texts as windows of tokens with their mentions, in plain arrays."""

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
    """Windows of tokens with their mentions, in the order of the windows.

    `tokens`: tokens of all windows; window i is `tokens[ends[i - 1] : ends[i]]`.
    `ends`: end of each window in `tokens`.
    `window`: window of each mention.
    `first_token`, `last_token`: indices of the mention's first and last token in its window.
    `gold`: entity code of each mention; -1 if the entity is not in the vocabulary.
    `candidates`: entity codes; those of mention j are `candidates[candidate_ends[j - 1] : candidate_ends[j]]`.
    `candidate_ends`: end of each mention's candidates.
    `document`, `start`, `end`: index of the document and span of each mention, in code points.
    """

    tokens: Ints
    ends: Ints
    window: Ints
    first_token: Ints
    last_token: Ints
    gold: Ints
    candidates: Ints
    candidate_ends: Ints
    document: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.ends)

    @property
    def n_mentions(self) -> int:
        """The number of mentions."""
        return len(self.window)

    def save(self, path: Path) -> None:
        """Write the arrays to one compressed NumPy file."""
        np.savez_compressed(path, **{field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, path: Path) -> Snippets:
        """Read the arrays from a file that `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(**{field.name: arrays[field.name] for field in fields(cls)})

    def select_documents(self, documents: Sequence[int] | Ints) -> Snippets:
        """Return the mentions of the documents with the indices `documents`, and the windows that contain them.

        Windows are the pieces of text that the model reads at once; those without such mentions are dropped. Document
        indices stay as they are, and the order stays.
        """
        mentions = np.flatnonzero(np.isin(self.document, np.asarray(documents, np.int32)))
        return self.select_mentions(mentions)

    def select_mentions(self, mentions: NDArray[np.intp]) -> Snippets:
        """Return the mentions with the ascending indices `mentions`, and the windows that contain them.

        Windows are the pieces of text that the model reads at once; the others are dropped, and the rest is renumbered.
        """
        windows, window = np.unique(self.window[mentions].astype(np.intp), return_inverse=True)
        tokens, ends = _select_rows(self.tokens, self.ends, windows)
        candidates, candidate_ends = _select_rows(self.candidates, self.candidate_ends, mentions)
        columns = {
            name: getattr(self, name)[mentions]
            for name in ("first_token", "last_token", "gold", "document", "start", "end")
        }
        return Snippets(
            tokens, ends, window.astype(np.int32), **columns, candidates=candidates, candidate_ends=candidate_ends
        )

    def iterate_batches(self, size: int, order: NDArray[np.intp] | None = None) -> Iterator[SnippetBatch]:
        """Yield batches of `size` windows with their mentions; the last one may be smaller.

        `order`: indices of the windows in the order to use; None for all in order.
        """
        windows = np.arange(len(self)) if order is None else order
        low = np.searchsorted(self.window, np.arange(len(self)))
        high = np.searchsorted(self.window, np.arange(len(self)), side="right")
        for start in range(0, len(windows), size):
            chosen = windows[start : start + size]
            mentions = np.concatenate([np.arange(low[window], high[window]) for window in chosen])
            yield self._make_batch(chosen, mentions)

    def _make_batch(self, windows: NDArray[np.intp], mentions: NDArray[np.intp]) -> SnippetBatch:
        """Return the padded batch of some windows, given by index; `mentions` are the indices of their mentions."""
        tokens, ends = _select_rows(self.tokens, self.ends, windows)
        candidates, candidate_ends = _select_rows(self.candidates, self.candidate_ends, mentions)
        row = np.zeros(len(self), np.int64)
        row[windows] = np.arange(len(windows))
        return SnippetBatch(
            tokens=_pad_rows(tokens, ends, 0),
            lengths=np.diff(ends, prepend=0).astype(np.int64),
            row=row[self.window[mentions]],
            first_token=self.first_token[mentions].astype(np.int64),
            last_token=self.last_token[mentions].astype(np.int64),
            gold=self.gold[mentions].astype(np.int64),
            candidates=_pad_rows(candidates, candidate_ends, -1),
            mention=mentions.astype(np.int64),
        )


@dataclass(frozen=True, eq=False)
class SnippetBatch:
    """A batch of windows with their mentions, in padded arrays.

    `tokens`: token ids [windows, length], padded with 0.
    `lengths`: number of tokens of each window.
    `row`: row of each mention's window in `tokens`.
    `first_token`, `last_token`: indices of the mention's first and last token in its window.
    `gold`: entity code of each mention, or -1.
    `candidates`: entity codes [mentions, candidates], padded with -1.
    `mention`: index of each mention in the snippets.
    """

    tokens: NDArray[np.int64]
    lengths: NDArray[np.int64]
    row: NDArray[np.int64]
    first_token: NDArray[np.int64]
    last_token: NDArray[np.int64]
    gold: NDArray[np.int64]
    candidates: NDArray[np.int64]
    mention: NDArray[np.int64]


def split_windows(mentions: Sequence[tuple[int, int]], n_tokens: int, max_tokens: int) -> list[tuple[int, int]]:
    """Split a text of `n_tokens` tokens into windows of at most `max_tokens`; return the start and stop of each.

    `mentions`: index of the first and last token of each mention, in order.
    Windows end before a mention that would not fit; only mentions longer than a window are cut.
    """
    result, start = [], 0
    while start < n_tokens:
        stop = min(start + max_tokens, n_tokens)
        for first, last in reversed(mentions):
            if start < first < stop <= last:
                stop = first
        result.append((start, stop))
        start = stop
    return result


def _select_rows(flat: Ints, ends: Ints, rows: NDArray[np.intp]) -> tuple[Ints, Ints]:
    """Return the concatenated content of some rows, and the end of each in it.

    `flat`, `ends`: content of all rows, and the end of each row in it.
    `rows`: indices of the rows.
    """
    starts = np.concatenate([[0], ends[:-1]])[rows] if len(ends) else np.zeros(0, np.int64)
    sizes = ends[rows] - starts
    new_ends = np.cumsum(sizes)
    positions = np.arange(new_ends[-1] if len(new_ends) else 0) + np.repeat(starts - (new_ends - sizes), sizes)
    return flat[positions], new_ends.astype(np.int32)


def _pad_rows(flat: Ints, ends: Ints, padding: int) -> NDArray[np.int64]:
    """Return rows of different lengths, stored in `flat` with their `ends`, as a matrix filled up with `padding`."""
    sizes = np.diff(ends, prepend=0)
    result = np.full((len(ends), int(sizes.max(initial=1)) or 1), padding, np.int64)
    result[np.arange(result.shape[1]) < sizes[:, None]] = flat
    return result
