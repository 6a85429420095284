"""What training makes small: the cross-entropy of the right entities, over all, some or the candidates."""

from __future__ import annotations

from math import log
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody calls it
from torch.utils.checkpoint import checkpoint

from karat.linking.neural.decide import listed_logits
from karat.linking.neural.models import MASKED, EntityModel, TensorBatch
from karat.training.plan import TrainingPlan

_LOGITS_AT_ONCE: Final = 1 << 29  # numbers; above, logits are made again on the way back


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
    """Over all entities, some mentions at a time where the logits would fill the memory."""
    table, bias = model.entities(), model.bias()
    if len(vectors) * len(table) <= _LOGITS_AT_ONCE:
        return F.cross_entropy((vectors @ table.T + bias).float(), gold)
    sums = [
        checkpoint(_summed, part, right, table, bias, use_reentrant=False)
        for part, right in zip(
            *(each.split(max(1, _LOGITS_AT_ONCE // len(table))) for each in (vectors, gold)), strict=True
        )
    ]
    return torch.stack(sums).sum() / len(gold)


def _summed(vectors: Tensor, gold: Tensor, table: Tensor, bias: Tensor | float) -> Tensor:
    return F.cross_entropy((vectors @ table.T + bias).float(), gold, reduction="sum")


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
