"""Prediction of the entity of each mention, among all entities or its candidates, jointly or most confident first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from karat.systems.linking.neural.beam_search import write_titles
from karat.systems.linking.neural.cross_encoder import CrossEncoderModel
from karat.systems.linking.neural.models import UNKNOWN_ENTITY, EntityModel, LinkingModel, LukeModel, TensorBatch
from karat.systems.linking.neural.snippets import Snippets
from karat.systems.linking.neural.title_model import TitleModel
from karat.systems.linking.trie import MAX_STEPS, N_BEAMS, TitleTrie

_MAX_LOGITS: Final = 1 << 27  # half a gigabyte


@dataclass(frozen=True, eq=False)
class EntityPredictions:
    """The best entities of each mention with their softmax probabilities; both arrays are [mentions, top_k].

    `codes`: entity codes, best first; -1 is none.
    `probabilities`: their probabilities.
    """

    codes: NDArray[np.int64]
    probabilities: NDArray[np.float32]

    @property
    def best_codes(self) -> NDArray[np.int64]:
        """Code of the most probable entity of each mention, an index into the model's entities; -1 is none."""
        return self.codes[:, 0]


def predict_entities(
    model: LinkingModel,
    snippets: Snippets,
    *,
    use_candidates: bool,
    top_k: int = 1,
    batch_size: int = 32,
    most_confident_first: bool = False,
    n_beams: int = N_BEAMS,
    max_steps: int = MAX_STEPS,
) -> EntityPredictions:
    """Predict the most probable entities of all mentions, among all entities or their candidates.

    A cross-encoder ranks candidates only, and links no mention without them.

    `use_candidates`: choose only among the candidates of a mention, if it has any.
    `top_k`: number of entities per mention.
    `batch_size`: number of windows per batch.
    `most_confident_first`: link the most confident mention of each window first and let a `LukeModel` use it for the
    others; other models ignore this.
    `n_beams`, `max_steps`: number of beams and maximal number of tokens of a `TitleModel`; others ignore them.
    """
    device = next(model.parameters()).device
    codes = np.full((snippets.n_mentions, top_k), UNKNOWN_ENTITY, np.int64)
    probabilities = np.zeros((snippets.n_mentions, top_k), np.float32)
    was_training = model.training
    model.eval()
    with torch.inference_mode():
        rank = _rank_candidates if use_candidates else _rank_all
        for arrays in snippets.iterate_batches(batch_size):
            tensors = TensorBatch.from_arrays(arrays, device)
            if isinstance(model, CrossEncoderModel):
                result = _rank_pairs(model, tensors, top_k)
            elif isinstance(model, TitleModel):
                result = _write_titles(
                    model, tensors, top_k, use_candidates=use_candidates, n_beams=n_beams, max_steps=max_steps
                )
            elif most_confident_first and isinstance(model, LukeModel):
                result = predict_most_confident_first(model, tensors, rank, top_k)
            else:
                assert isinstance(model, EntityModel)
                result = rank(model, tensors, model.encode_mentions(tensors), top_k)
            codes[arrays.mention], probabilities[arrays.mention] = (tensor.cpu().numpy() for tensor in result)
    model.train(was_training)
    return EntityPredictions(codes, probabilities)


def predict_most_confident_first(
    model: LukeModel, batch: TensorBatch, rank: RankFunction, top_k: int
) -> tuple[Tensor, Tensor]:
    """Link the most confident mention of each window, pass its entity to the model, and repeat (LUKE's global method).

    Return the codes and probabilities of the best entities [mentions, top_k] at the time each mention was linked.
    """
    known_entities = torch.full_like(batch.row, UNKNOWN_ENTITY)
    codes = torch.full((len(known_entities), top_k), UNKNOWN_ENTITY, device=known_entities.device)
    probabilities = torch.zeros((len(known_entities), top_k), device=known_entities.device)
    n_windows = len(batch.tokens)
    while bool((is_open := known_entities == UNKNOWN_ENTITY).any()):
        predicted, confidence = rank(model, batch, model.encode_mentions(batch, known_entities), top_k)
        top_confidence = torch.where(is_open, confidence[:, 0], confidence.new_full((), -1.0))
        best = torch.full((n_windows,), -1.0, device=top_confidence.device).scatter_reduce(
            0, batch.row, top_confidence, "amax"
        )
        is_chosen = is_open & (top_confidence == best[batch.row])
        is_chosen &= _first_in_window_mask(is_chosen, batch.row, n_windows)
        codes[is_chosen], probabilities[is_chosen] = predicted[is_chosen], confidence[is_chosen]
        known_entities = torch.where(is_chosen, predicted[:, 0], known_entities)
    return codes, probabilities


def _first_in_window_mask(mask: Tensor, window: Tensor, n_windows: int) -> Tensor:
    """Return a mask of the mentions that are the first mention of their window in `mask`.

    `window`: index of the window of each mention.
    """
    index = torch.arange(len(window), device=window.device)
    last_index = torch.full((n_windows,), len(window), device=window.device)
    first = last_index.scatter_reduce(0, window, torch.where(mask, index, len(window)), "amin")
    return index == first[window]


RankFunction = Callable[[EntityModel, TensorBatch, Tensor, int], tuple[Tensor, Tensor]]
"""A function from model, batch, mention vectors and k to the codes and probabilities of the best k entities."""


def _rank_all(model: EntityModel, batch: TensorBatch, vectors: Tensor, top_k: int) -> tuple[Tensor, Tensor]:
    """Return codes and probabilities [mentions, top_k] of the best of all entities; padded with -1 and 0."""
    table, bias = model.encode_entities(), model.bias()
    size = max(1, _MAX_LOGITS // len(table))  # mentions whose logits fit into memory
    parts = [_top_k(part @ table.T + bias, top_k) for part in vectors.split(size)]
    codes, probabilities = (torch.cat(tensors) for tensors in zip(*parts, strict=True))
    return _pad_columns(codes, top_k, UNKNOWN_ENTITY), _pad_columns(probabilities, top_k, 0)


def _rank_candidates(model: EntityModel, batch: TensorBatch, vectors: Tensor, top_k: int) -> tuple[Tensor, Tensor]:
    """Return codes and probabilities [mentions, top_k] of the best candidates; padded with -1 and 0.

    For mentions without candidates, all entities compete.
    """
    logits = candidate_logits(model, batch.candidates, vectors)
    indices, probabilities = _top_k(logits, top_k)
    codes = batch.candidates.gather(1, indices)
    codes = torch.where(torch.isfinite(logits.gather(1, indices)), codes, UNKNOWN_ENTITY)
    codes, probabilities = _pad_columns(codes, top_k, UNKNOWN_ENTITY), _pad_columns(probabilities, top_k, 0)
    lacks_candidates = (batch.candidates == UNKNOWN_ENTITY).all(1)
    if bool(lacks_candidates.any()):
        codes[lacks_candidates], probabilities[lacks_candidates] = _rank_all(
            model, batch, vectors[lacks_candidates], top_k
        )
    return codes, probabilities


def _rank_pairs(model: CrossEncoderModel, batch: TensorBatch, top_k: int) -> tuple[Tensor, Tensor]:
    """Return codes and probabilities [mentions, top_k] of the best candidates; padded with -1 and 0."""
    logits = model.score_candidates(batch, batch.candidates)
    indices, probabilities = _top_k(logits, top_k)
    codes = torch.where(torch.isfinite(logits.gather(1, indices)), batch.candidates.gather(1, indices), UNKNOWN_ENTITY)
    return _pad_columns(codes, top_k, UNKNOWN_ENTITY), _pad_columns(probabilities, top_k, 0)


def _write_titles(
    model: TitleModel, batch: TensorBatch, top_k: int, *, use_candidates: bool, n_beams: int, max_steps: int
) -> tuple[Tensor, Tensor]:
    """Return codes of the best titles and the geometric means of their token probabilities [mentions, top_k].

    Only titles of candidates can be written if a mention has any and `use_candidates` is set.
    """
    lists = [[code for code in codes if code != UNKNOWN_ENTITY] for codes in batch.candidates.tolist()]
    lists = lists if use_candidates else [[] for _ in lists]
    tries = [
        TitleTrie.from_titles([model.titles[code] for code in codes], model.end) if codes else model.trie
        for codes in lists
    ]
    texts = model.encode_texts(batch)

    def score(inputs: NDArray[np.int64], prefixes: NDArray[np.int64]) -> NDArray[np.float32]:
        rows = torch.from_numpy(inputs).to(batch.tokens.device)
        logits = model.score_next_tokens(texts.select(rows), torch.from_numpy(prefixes).to(rows.device))
        scores: NDArray[np.float32] = logits.cpu().numpy()
        return scores

    codes = torch.full((len(lists), top_k), UNKNOWN_ENTITY)
    probabilities = torch.zeros((len(lists), top_k))
    for row, titles in enumerate(write_titles(score, tries, n_beams=n_beams, max_steps=max_steps)):
        for column, title in enumerate(titles[:top_k]):
            codes[row, column] = lists[row][title.number] if lists[row] else title.number
            probabilities[row, column] = float(np.exp(title.score))
    return codes, probabilities


def candidate_logits(model: EntityModel, candidates: Tensor, vectors: Tensor) -> Tensor:
    """Return the logits of each mention's candidates [mentions, candidates]; minus infinity for padding (-1).

    `candidates`: entity codes [mentions, candidates].
    `vectors`: mention vectors.
    """
    codes, indices = torch.unique(candidates.clamp(min=0), return_inverse=True)
    logits = vectors @ model.encode_entities(codes).T + model.bias(codes)
    return logits.gather(1, indices).float().masked_fill(candidates == UNKNOWN_ENTITY, -torch.inf)


def _top_k(logits: Tensor, top_k: int) -> tuple[Tensor, Tensor]:
    """Return the column indices of the highest logits of each row, and their softmax probabilities over the row.

    There are fewer than `top_k` columns if the rows are shorter.
    """
    best = logits.float().topk(min(top_k, logits.shape[1]), dim=1)
    total = torch.logsumexp(logits.float(), dim=1, keepdim=True)
    return best.indices, (best.values - total).exp().nan_to_num(0.0)


def _pad_columns(tensor: Tensor, width: int, value: int) -> Tensor:
    """Return the tensor padded with `value` to `width` columns."""
    return torch.nn.functional.pad(tensor, (0, width - tensor.shape[1]), value=value)
