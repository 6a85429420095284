"""Training losses: the cross-entropy of the gold entities over all entities, a sample or the candidates."""

from __future__ import annotations

from math import log
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from karat.systems.linking.neural.inference import candidate_logits
from karat.systems.linking.neural.models import UNKNOWN_ENTITY, EntityModel, TensorBatch
from karat.systems.training.options import TrainingOptions

_MAX_LOGITS: Final = 1 << 29  # two gigabytes


def compute_loss(
    model: EntityModel, batch: TensorBatch, mentions: Tensor, vectors: Tensor, options: TrainingOptions
) -> Tensor:
    """Return the mean cross-entropy of the gold entities, with the softmax that the options name.

    `mentions`: indices of the mentions that count; each needs a gold entity in the vocabulary.
    `vectors`: vectors of all mentions of the batch.
    """
    vectors, gold = vectors[mentions], batch.gold[mentions]
    if options.softmax == "full":
        return full_softmax_loss(model, vectors, gold)
    candidates = batch.candidates[mentions]
    if options.softmax == "sampled":
        return sampled_softmax_loss(model, vectors, gold, candidates, options)
    return candidate_softmax_loss(model, vectors, gold, candidates)


def full_softmax_loss(model: EntityModel, vectors: Tensor, gold: Tensor) -> Tensor:
    """Return the mean cross-entropy over all entities; logits are computed in parts that fit into memory.

    `vectors`, `gold`: vector and gold code of each mention.
    """
    bias = model.bias()
    bias = bias if isinstance(bias, Tensor) else vectors.new_zeros(model.n_entities)
    loss: Tensor = _FullSoftmax.apply(vectors, model.encode_entities(), bias, gold)
    return loss


class _FullSoftmax(torch.autograd.Function):
    """The mean cross-entropy of `vectors @ table.T + bias`, with gradients computed in the forward pass.

    No logit is stored or computed twice. Products have the type of the vectors, sums are float32.
    """

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, table: Tensor, bias: Tensor, gold: Tensor) -> Tensor:  # noqa: ANN401
        """Return the mean loss, and save its gradients in `ctx` for `backward`."""
        vectors, gold = vectors.detach(), gold.detach()
        table_values = table.detach().to(vectors.dtype)
        vector_gradient, table_gradient = torch.empty_like(vectors), torch.zeros_like(table, dtype=torch.float32)
        bias_gradient = torch.zeros_like(bias, dtype=torch.float32)
        total = torch.zeros((), device=vectors.device)
        size = max(1, _MAX_LOGITS // len(table))
        with torch.autocast(vectors.device.type, enabled=False):
            for low in range(0, len(vectors), size):
                part, gold_part = vectors[low : low + size], gold[low : low + size, None]
                logits = part @ table_values.T + bias.detach().to(part.dtype)
                log_probabilities = torch.log_softmax(logits, dim=1, dtype=torch.float32)
                total -= log_probabilities.gather(1, gold_part).sum()
                log_probabilities.exp_().scatter_add_(1, gold_part, log_probabilities.new_full(gold_part.shape, -1.0))
                bias_gradient += log_probabilities.sum(0)
                errors = log_probabilities.to(part.dtype)
                vector_gradient[low : low + size] = errors @ table_values
                table_gradient += errors.T @ part
        ctx.save_for_backward(*(gradient / len(gold) for gradient in (vector_gradient, table_gradient, bias_gradient)))
        return total / len(gold)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """Return the saved gradients of vectors, table and bias, times the gradient `upstream` of the loss."""
        vector_gradient, table_gradient, bias_gradient = ctx.saved_tensors
        return vector_gradient * upstream, table_gradient * upstream, bias_gradient * upstream, None


def sampled_softmax_loss(
    model: EntityModel, vectors: Tensor, gold: Tensor, candidates: Tensor, options: TrainingOptions
) -> Tensor:
    """Return the mean cross-entropy over a sample: gold entities of the batch, some candidates and random negatives.

    `vectors`, `gold`, `candidates`: vector, gold code and candidate codes (padded with -1) of each mention.
    `options`: give the numbers of candidates per mention and of random negatives.
    The random negatives are weighted by the number of entities they represent, so that the expected denominator is
    that of the full softmax.
    """
    n_entities = model.n_entities
    positives = torch.cat((gold, _sample_candidates(candidates, options.hard_negatives)))
    positives = torch.unique(positives[positives != UNKNOWN_ENTITY])
    negatives = torch.randint(n_entities, (min(options.negatives, n_entities),), device=gold.device)
    negatives = negatives[~torch.isin(negatives, positives)]
    codes = torch.cat((positives, negatives))
    logits = vectors @ model.encode_entities(codes).T + model.bias(codes)
    log_weights = logits.new_zeros(len(codes))
    if len(negatives):
        log_weights[len(positives) :] = log(max(1.0, (n_entities - len(positives)) / len(negatives)))
    return F.cross_entropy((logits + log_weights).float(), torch.searchsorted(positives, gold))


def _sample_candidates(candidates: Tensor, n_samples: int) -> Tensor:
    """Return `n_samples` random candidates of each mention, with replacement, in one array; padding (-1) may occur."""
    if not n_samples:
        return candidates.new_zeros(0)
    indices = torch.randint(candidates.shape[1], (len(candidates), n_samples), device=candidates.device)
    return candidates.gather(1, indices).flatten()


def candidate_softmax_loss(model: EntityModel, vectors: Tensor, gold: Tensor, candidates: Tensor) -> Tensor:
    """Return the mean cross-entropy over the candidates of each mention and its gold entity; -1 is padding."""
    negatives = torch.where(candidates == gold[:, None], UNKNOWN_ENTITY, candidates)
    entities = torch.cat((gold[:, None], negatives), dim=1)
    return F.cross_entropy(candidate_logits(model, entities, vectors), torch.zeros_like(gold))
