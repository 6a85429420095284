"""Models that link given mentions: vectors of mentions, and vectors of entities, and how well they go together.

Each has `mentions`, which makes a vector of every mention of a batch, and `entities`, which makes one of every code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from karat.linking.neural.encoder import BertEncoder
from karat.linking.neural.snippets import SnippetBatch

MASKED: Final = -1
_AT_ONCE: Final = 2048  # titles that are encoded together
_WIDE: Final = 8  # tokens by which rows of titles grow, so that few shapes of them are met


@dataclass(frozen=True, eq=False)
class TensorBatch:
    """A batch of windows on a device; `seen` says which places are no padding."""

    tokens: Tensor
    seen: Tensor
    row: Tensor
    first: Tensor
    last: Tensor
    gold: Tensor
    candidates: Tensor
    mention: Tensor

    @classmethod
    def of(cls, batch: SnippetBatch, device: torch.device) -> TensorBatch:
        """The arrays of a batch as tensors."""
        seen = np.arange(batch.tokens.shape[1]) < batch.lengths[:, None]
        return cls(
            seen=torch.from_numpy(seen).to(device),
            **{
                each.name: torch.from_numpy(getattr(batch, each.name)).to(device)
                for each in fields(cls)
                if each.name != "seen"
            },
        )


class EntityModel(nn.Module):
    """What all of them share: an encoder, and vectors of entities whose product with a mention's is its logit."""

    encoder: BertEncoder
    size: int
    """How many entities there are."""

    def mentions(self, batch: TensorBatch, known: Tensor | None = None) -> Tensor:
        """The vector of each mention [mentions, dimension]; `known` are entities of others that are decided."""
        raise NotImplementedError

    def entities(self, codes: Tensor | None = None) -> Tensor:
        """The vectors of some entities, or of all [entities, dimension]."""
        raise NotImplementedError

    def bias(self, codes: Tensor | None = None) -> Tensor | float:
        """What is added to the logits of some entities, or of all."""
        return 0.0


def _boundaries(states: Tensor, batch: TensorBatch) -> Tensor:
    """The states in which mentions begin and end, one after the other."""
    return torch.cat((states[batch.row, batch.first], states[batch.row, batch.last]), dim=-1)


def _table(entities: int, dimension: int) -> nn.Embedding:
    table = nn.Embedding(entities, dimension)
    nn.init.normal_(table.weight, std=0.02)
    return table


class FevryModel(EntityModel):
    """A softmax over the vocabulary of entities, from the states at the boundaries of a mention (Févry et al. 2020)."""

    def __init__(self, encoder: BertEncoder, entities: int, dimension: int) -> None:
        super().__init__()
        self.encoder, self.size = encoder, entities
        self.project = nn.Linear(2 * encoder.shape.hidden, dimension)
        self.table = _table(entities, dimension)

    def mentions(self, batch: TensorBatch, known: Tensor | None = None) -> Tensor:
        """The states of first and last token, projected; what is known of others is not looked at."""
        found: Tensor = self.project(_boundaries(self.encoder(batch.tokens, batch.seen), batch))
        return found

    def entities(self, codes: Tensor | None = None) -> Tensor:
        """Rows of the table."""
        return self.table.weight if codes is None else self.table(codes)


class LukeModel(EntityModel):
    """Entities are inputs beside the words, and those that are masked are told from their states (Yamada et al. 2022).

    So a mention that is decided helps the others: `decide_in_order` uses it. Unlike LUKE, whose encoder was pre-trained
    with entities, it reads the states at the boundaries of a mention, too.
    """

    def __init__(self, encoder: BertEncoder, entities: int, dimension: int) -> None:
        super().__init__()
        hidden = encoder.shape.hidden
        self.encoder, self.size = encoder, entities
        self.table = _table(entities, dimension)
        self.weights = nn.Parameter(torch.zeros(entities))
        self.mask = nn.Parameter(torch.randn(dimension) * 0.02)
        self.enter = nn.Linear(dimension, hidden, bias=False)
        self.kind = nn.Parameter(torch.zeros(hidden))
        self.entered = nn.LayerNorm(hidden, encoder.shape.epsilon)
        self.project = nn.Linear(3 * hidden, dimension)
        self.projected = nn.LayerNorm(dimension, encoder.shape.epsilon)

    def mentions(self, batch: TensorBatch, known: Tensor | None = None) -> Tensor:
        """The state of each mention's place among the entities; those not known are masked."""
        codes = torch.full_like(batch.row, MASKED) if known is None else known
        beside, place, most = _beside(batch)
        vectors = torch.where((codes == MASKED)[:, None], self.mask, self.table(codes.clamp(min=0)))
        vectors = self.entered(self.enter(vectors) + self._places(batch) + self.kind)
        more = vectors.new_zeros((len(batch.tokens), most, vectors.shape[-1]))
        more = more.index_put((batch.row, place), vectors)
        states = self.encoder(batch.tokens, torch.cat((batch.seen, beside), dim=1), more)
        found = torch.cat((states[batch.row, batch.tokens.shape[1] + place], _boundaries(states, batch)), dim=-1)
        return self.projected(F.gelu(self.project(found)))  # type: ignore[no-any-return,unused-ignore]

    def _places(self, batch: TensorBatch) -> Tensor:
        """Where mentions stand: the mean of the position vectors of their tokens, by running sums."""
        sums = F.pad(self.encoder.places.weight.cumsum(0), (0, 0, 1, 0))
        return (sums[batch.last + 1] - sums[batch.first]) / (batch.last + 1 - batch.first)[:, None]

    def entities(self, codes: Tensor | None = None) -> Tensor:
        """Rows of the table."""
        return self.table.weight if codes is None else self.table(codes)

    def bias(self, codes: Tensor | None = None) -> Tensor:
        """One number for each entity."""
        return self.weights if codes is None else self.weights[codes]


def _beside(batch: TensorBatch) -> tuple[Tensor, Tensor, int]:
    """Which places for entities are taken, the place of each mention in its window, and how many there are."""
    counts = torch.bincount(batch.row, minlength=len(batch.tokens))
    starts = torch.cumsum(counts, 0) - counts
    place = torch.arange(len(batch.row), device=batch.row.device) - starts[batch.row]
    most = int(counts.max())
    return torch.arange(most, device=batch.row.device) < counts[:, None], place, most


class BiEncoderModel(EntityModel):
    """Mentions and entities in one space, both by the same encoder, so that entities never seen have vectors too.

    An entity is the mean of the states of its words, a mention the mean of its two boundaries, each projected; the
    projections begin as doing nothing. Entities whose words are not given cannot be told apart.
    """

    titles: Tensor
    title_lengths: Tensor

    def __init__(self, encoder: BertEncoder, titles: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        super().__init__()
        hidden = encoder.shape.hidden
        self.encoder, self.size = encoder, len(titles)
        self.project = nn.Linear(2 * hidden, hidden)
        self.describe = nn.Linear(hidden, hidden)
        self.scale = nn.Parameter(torch.tensor(3.0))
        with torch.no_grad():
            self.project.weight.copy_(torch.eye(hidden).repeat(1, 2) / 2)
            self.describe.weight.copy_(torch.eye(hidden))
            self.project.bias.zero_()
            self.describe.bias.zero_()
        self.register_buffer("titles", torch.from_numpy(titles), persistent=False)
        self.register_buffer("title_lengths", torch.from_numpy(lengths), persistent=False)
        self._all: Tensor | None = None

    def mentions(self, batch: TensorBatch, known: Tensor | None = None) -> Tensor:
        """The states of first and last token, as one vector, whose length says how sharp a decision is."""
        found = self.project(_boundaries(self.encoder(batch.tokens, batch.seen), batch))
        return F.normalize(found, dim=-1) * self.scale.exp()

    def entities(self, codes: Tensor | None = None) -> Tensor:
        """What the words of some entities mean, or of all, which are encoded once for as long as nothing is trained."""
        if codes is not None:
            return self._described(codes)
        if self._all is None or self.training:
            every = torch.arange(len(self.titles), device=self.titles.device)
            self._all = torch.cat([self._described(part) for part in every.split(_AT_ONCE)])
        return self._all

    def train(self, mode: bool = True) -> BiEncoderModel:
        """Vectors of entities are made anew after each change of mode."""
        self._all = None
        super().train(mode)
        return self

    def _described(self, codes: Tensor) -> Tensor:
        lengths = self.title_lengths[codes]
        width = -(-int(lengths.max()) // _WIDE) * _WIDE
        tokens = self.titles[codes][:, :width].long()
        seen = torch.arange(tokens.shape[1], device=tokens.device) < lengths[:, None]
        states = self.encoder(tokens, seen)
        mean = (states * seen[..., None]).sum(1) / lengths[:, None]
        return F.normalize(self.describe(mean), dim=-1)


def parameters(model: nn.Module) -> Mapping[str, int]:
    """How many weights a model has: those of the encoder, and the rest."""
    counts = {"encoder": 0, "head": 0}
    for name, weights in model.named_parameters():
        counts["encoder" if name.startswith("encoder.") else "head"] += weights.numel()
    return counts
