"""Which entity each mention stands for: of all entities, or of its candidates; all at once, or the surest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from karat.linking.neural.models import MASKED, EntityModel, LukeModel, TensorBatch
from karat.linking.neural.snippets import Snippets

_LOGITS_AT_ONCE: Final = 1 << 27  # numbers: half a gigabyte


@dataclass(frozen=True, eq=False)
class Decisions:
    """The entities that each mention may stand for, best first, with their shares of the softmax; -1 is none.

    Both arrays are [mentions, most]; `decided` is the first column.
    """

    codes: NDArray[np.int64]
    shares: NDArray[np.float32]

    @property
    def decided(self) -> NDArray[np.int64]:
        """The best one of each mention."""
        return self.codes[:, 0]


def decide(
    model: EntityModel,
    snippets: Snippets,
    *,
    listed: bool,
    most: int = 1,
    batch: int = 32,
    in_order: bool = False,
) -> Decisions:
    """What a model makes of all mentions; with `listed`, of their candidates only, where they have some.

    `in_order` decides the surest mention of each window first, and lets a `LukeModel` see it when it goes on.
    """
    device = next(model.parameters()).device
    codes = np.full((snippets.mentions, most), MASKED, np.int64)
    shares = np.zeros((snippets.mentions, most), np.float32)
    before = model.training
    model.eval()
    with torch.inference_mode():
        score = _listed if listed else _unlisted
        for arrays in snippets.batches(batch):
            part = TensorBatch.of(arrays, device)
            found = (
                decide_in_order(model, part, score, most)
                if in_order and isinstance(model, LukeModel)
                else score(model, part, model.mentions(part), most)
            )
            codes[arrays.mention], shares[arrays.mention] = (each.cpu().numpy() for each in found)
    model.train(before)
    return Decisions(codes, shares)


def decide_in_order(model: LukeModel, batch: TensorBatch, score: _Score, most: int) -> tuple[Tensor, Tensor]:
    """The surest mention of each window is decided, shown to the others as known, and so on (LUKE's global way)."""
    known = torch.full_like(batch.row, MASKED)
    codes = torch.full((len(known), most), MASKED, device=known.device)
    shares = torch.zeros((len(known), most), device=known.device)
    rows = len(batch.tokens)
    while bool((open_ := known == MASKED).any()):
        found, sure = score(model, batch, model.mentions(batch, known), most)
        first = torch.where(open_, sure[:, 0], sure.new_full((), -1.0))
        best = torch.full((rows,), -1.0, device=first.device).scatter_reduce(0, batch.row, first, "amax")
        surest = open_ & (first == best[batch.row])
        surest &= _first_of_row(surest, batch.row, rows)
        codes[surest], shares[surest] = found[surest], sure[surest]
        known = torch.where(surest, found[:, 0], known)
    return codes, shares


def _first_of_row(chosen: Tensor, row: Tensor, rows: int) -> Tensor:
    """Whether each chosen mention is the first one of its window."""
    place = torch.arange(len(row), device=row.device)
    far = torch.full((rows,), len(row), device=row.device)
    first = far.scatter_reduce(0, row, torch.where(chosen, place, len(row)), "amin")
    return place == first[row]


_Score = Callable[[EntityModel, TensorBatch, Tensor, int], tuple[Tensor, Tensor]]


def _unlisted(model: EntityModel, batch: TensorBatch, vectors: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """The best of all entities."""
    table, bias = model.entities(), model.bias()
    parts = [_best(part @ table.T + bias, most) for part in _parts(vectors, len(table))]
    codes, shares = (torch.cat(each) for each in zip(*parts, strict=True))
    return _widened(codes, most, MASKED), _widened(shares, most, 0)


def _listed(model: EntityModel, batch: TensorBatch, vectors: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """The best candidates; a mention without any is decided over all entities."""
    logits = listed_logits(model, batch.candidates, vectors)
    places, shares = _best(logits, most)
    codes = batch.candidates.gather(1, places)
    codes = torch.where(torch.isfinite(logits.gather(1, places)), codes, MASKED)
    codes, shares = _widened(codes, most, MASKED), _widened(shares, most, 0)
    bare = (batch.candidates == MASKED).all(1)
    if bool(bare.any()):
        codes[bare], shares[bare] = _unlisted(model, batch, vectors[bare], most)
    return codes, shares


def listed_logits(model: EntityModel, candidates: Tensor, vectors: Tensor) -> Tensor:
    """The logits of each mention's own candidates [mentions, candidates]; padding is minus infinity."""
    codes, place = torch.unique(candidates.clamp(min=0), return_inverse=True)
    every = vectors @ model.entities(codes).T + model.bias(codes)
    return every.gather(1, place).float().masked_fill(candidates == MASKED, -torch.inf)


def _best(logits: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """The places of the best logits of each row, and their shares of the softmax."""
    best = logits.float().topk(min(most, logits.shape[1]), dim=1)
    whole = torch.logsumexp(logits.float(), dim=1, keepdim=True)
    return best.indices, (best.values - whole).exp().nan_to_num(0.0)


def _widened(found: Tensor, most: int, blank: int) -> Tensor:
    return torch.nn.functional.pad(found, (0, most - found.shape[1]), value=blank)


def _parts(vectors: Tensor, entities: int) -> Iterator[Tensor]:
    """As many mentions at a time as logits fit into memory."""
    yield from vectors.split(max(1, _LOGITS_AT_ONCE // entities))
