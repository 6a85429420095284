"""What training makes small: the cross-entropy of the right entities, over all, some or the candidates."""

from __future__ import annotations

from math import log
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from karat.linking.neural.decide import listed_logits
from karat.linking.neural.models import MASKED, EntityModel, TensorBatch
from karat.training.plan import TrainingPlan

_LOGITS_AT_ONCE: Final = 1 << 29  # numbers: two gigabytes


def loss_of(model: EntityModel, batch: TensorBatch, asked: Tensor, vectors: Tensor, plan: TrainingPlan) -> Tensor:
    """The mean over the mentions that are asked about, as indices; each must have a gold entity in the vocabulary."""
    vectors, gold = vectors[asked], batch.gold[asked]
    if plan.softmax == "full":
        return full_softmax(model, vectors, gold)
    candidates = batch.candidates[asked]
    if plan.softmax == "sampled":
        return sampled_softmax(model, vectors, gold, candidates, plan)
    return listed_softmax(model, vectors, gold, candidates)


def full_softmax(model: EntityModel, vectors: Tensor, gold: Tensor) -> Tensor:
    """Over all entities; logits are never there for more mentions at a time than fit into memory."""
    bias = model.bias()
    bias = bias if isinstance(bias, Tensor) else vectors.new_zeros(model.size)
    loss: Tensor = _FullSoftmax.apply(vectors, model.entities(), bias, gold)
    return loss


class _FullSoftmax(torch.autograd.Function):
    """The mean cross-entropy of `vectors @ table.T + bias`, whose gradients are made on the way forward.

    So no logit is kept or made twice. Products are in the type of the vectors, sums in float32.
    """

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, table: Tensor, bias: Tensor, gold: Tensor) -> Tensor:  # noqa: ANN401
        """The loss, and its gradients for the way back."""
        vectors, gold = vectors.detach(), gold.detach()
        near = table.detach().to(vectors.dtype)
        to_vectors, to_table = torch.empty_like(vectors), torch.zeros_like(table, dtype=torch.float32)
        to_bias = torch.zeros_like(bias, dtype=torch.float32)
        total = torch.zeros((), device=vectors.device)
        size = max(1, _LOGITS_AT_ONCE // len(table))
        with torch.autocast(vectors.device.type, enabled=False):
            for low in range(0, len(vectors), size):
                part, right = vectors[low : low + size], gold[low : low + size, None]
                logits = part @ near.T + bias.detach().to(part.dtype)
                shares = torch.log_softmax(logits, dim=1, dtype=torch.float32)
                total -= shares.gather(1, right).sum()
                shares.exp_().scatter_add_(1, right, shares.new_full(right.shape, -1.0))
                to_bias += shares.sum(0)
                wrong = shares.to(part.dtype)
                to_vectors[low : low + size] = wrong @ near
                to_table += wrong.T @ part
        ctx.save_for_backward(*(each / len(gold) for each in (to_vectors, to_table, to_bias)))
        return total / len(gold)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """The gradients that were made."""
        to_vectors, to_table, to_bias = ctx.saved_tensors
        return to_vectors * upstream, to_table * upstream, to_bias * upstream, None


def sampled_softmax(
    model: EntityModel, vectors: Tensor, gold: Tensor, candidates: Tensor, plan: TrainingPlan
) -> Tensor:
    """Over the right entities of the batch, some candidates, and some of all others by chance.

    Those by chance weigh as many as they stand for, so that the sum below the fraction is in the mean that over all.
    """
    every = model.size
    near = torch.cat((gold, _some(candidates, plan.hard)))
    near = torch.unique(near[near != MASKED])
    far = torch.randint(every, (min(plan.negatives, every),), device=gold.device)
    far = far[~torch.isin(far, near)]
    codes = torch.cat((near, far))
    logits = vectors @ model.entities(codes).T + model.bias(codes)
    weigh = logits.new_zeros(len(codes))
    if len(far):
        weigh[len(near) :] = log(max(1.0, (every - len(near)) / len(far)))
    return F.cross_entropy((logits + weigh).float(), torch.searchsorted(near, gold))


def _some(candidates: Tensor, most: int) -> Tensor:
    """Some candidates of each mention, by chance."""
    if not most:
        return candidates.new_zeros(0)
    places = torch.randint(candidates.shape[1], (len(candidates), most), device=candidates.device)
    return candidates.gather(1, places).flatten()


def listed_softmax(model: EntityModel, vectors: Tensor, gold: Tensor, candidates: Tensor) -> Tensor:
    """Over the candidates of each mention, with the right entity among them."""
    wrong = torch.where(candidates == gold[:, None], MASKED, candidates)
    both = torch.cat((gold[:, None], wrong), dim=1)
    return F.cross_entropy(listed_logits(model, both, vectors), torch.zeros_like(gold))
