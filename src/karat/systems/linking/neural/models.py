"""Models that link given mentions by the product of a mention vector and an entity vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from karat.systems.linking.neural.encoder import BertEncoder
from karat.systems.linking.neural.snippets import SnippetBatch

UNKNOWN_ENTITY: Final = -1
_BATCH_SIZE: Final = 2048  # titles per batch
_WIDTH_STEP: Final = 8  # title widths are multiples of this, so that there are few shapes


@dataclass(frozen=True, eq=False)
class TensorBatch:
    """A batch of windows on a device; see `SnippetBatch` for the fields.

    `mask`: False for padding.
    """

    tokens: Tensor
    mask: Tensor
    row: Tensor
    first_token: Tensor
    last_token: Tensor
    gold: Tensor
    candidates: Tensor
    mention: Tensor

    @classmethod
    def from_arrays(cls, batch: SnippetBatch, device: torch.device) -> TensorBatch:
        """Copy the arrays of a batch to tensors on `device`, and add the mask of tokens that are no padding."""
        mask = np.arange(batch.tokens.shape[1]) < batch.lengths[:, None]
        return cls(
            mask=torch.from_numpy(mask).to(device),
            **{
                field.name: torch.from_numpy(getattr(batch, field.name)).to(device)
                for field in fields(cls)
                if field.name != "mask"
            },
        )


class LinkingModel(nn.Module):
    """A model that links mentions to entities, which it knows by their codes."""

    encoder: BertEncoder
    n_entities: int
    """The number of entities."""
    reads_names: ClassVar[bool] = False
    """Whether the model reads the names of entities, so that it can link further ones as candidates."""


class EntityModel(LinkingModel):
    """A model with vectors of mentions and entities; their dot product plus a bias is the logit of an entity."""

    def encode_mentions(self, batch: TensorBatch, known_entities: Tensor | None = None) -> Tensor:
        """Return the vector of each mention [mentions, dimension].

        `known_entities`: entity codes of mentions that are already linked, -1 for others; None if no mention is.
        """
        raise NotImplementedError

    def encode_entities(self, codes: Tensor | None = None) -> Tensor:
        """Return the vectors of the entities `codes`, or of all entities [entities, dimension]."""
        raise NotImplementedError

    def bias(self, codes: Tensor | None = None) -> Tensor | float:
        """Return the bias of the logits of the entities `codes`, or of all entities; 0 unless a model overrides it."""
        return 0.0


def concatenate_boundaries(states: Tensor, batch: TensorBatch) -> Tensor:
    """Return the states of the first and the last token of each mention, concatenated [mentions, 2 × hidden]."""
    return torch.cat((states[batch.row, batch.first_token], states[batch.row, batch.last_token]), dim=-1)


def _make_table(n_entities: int, dimension: int) -> nn.Embedding:
    """Return an embedding table for entities with small random weights."""
    table = nn.Embedding(n_entities, dimension)
    nn.init.normal_(table.weight, std=0.02)
    return table


class FevryModel(EntityModel):
    """A softmax over all entities, from the states at the boundaries of a mention (Févry et al. 2020)."""

    def __init__(self, encoder: BertEncoder, n_entities: int, dimension: int) -> None:
        super().__init__()
        self.encoder, self.n_entities = encoder, n_entities
        self.projection = nn.Linear(2 * encoder.config.hidden_size, dimension)
        self.table = _make_table(n_entities, dimension)

    def encode_mentions(self, batch: TensorBatch, known_entities: Tensor | None = None) -> Tensor:
        """Return the projected states at the boundaries of each mention; `known_entities` is ignored."""
        vectors: Tensor = self.projection(concatenate_boundaries(self.encoder(batch.tokens, batch.mask), batch))
        return vectors

    def encode_entities(self, codes: Tensor | None = None) -> Tensor:
        """Return the learned vectors of the entities `codes`, or of all entities."""
        return self.table.weight if codes is None else self.table(codes)


class LukeModel(EntityModel):
    """A model with entities as inputs after the words; masked entities are predicted (Yamada et al. 2022).

    Linked mentions help to link others; see `predict_most_confident_first`. Unlike LUKE, whose encoder was
    pre-trained with entities, the model also uses the states at the boundaries of a mention.
    """

    def __init__(self, encoder: BertEncoder, n_entities: int, dimension: int) -> None:
        super().__init__()
        hidden = encoder.config.hidden_size
        self.encoder, self.n_entities = encoder, n_entities
        self.table = _make_table(n_entities, dimension)
        self.weights = nn.Parameter(torch.zeros(n_entities))
        self.mask = nn.Parameter(torch.randn(dimension) * 0.02)
        self.entity_projection = nn.Linear(dimension, hidden, bias=False)
        self.entity_embedding = nn.Parameter(torch.zeros(hidden))
        self.entity_norm = nn.LayerNorm(hidden, encoder.config.epsilon)
        self.projection = nn.Linear(3 * hidden, dimension)
        self.output_norm = nn.LayerNorm(dimension, encoder.config.epsilon)

    def encode_mentions(self, batch: TensorBatch, known_entities: Tensor | None = None) -> Tensor:
        """Return the vector of each mention, from the state of its entity input and those at its boundaries.

        The inputs of mentions that are not linked yet are masked.
        """
        codes = torch.full_like(batch.row, UNKNOWN_ENTITY) if known_entities is None else known_entities
        slot_mask, slots, n_slots = _entity_slots(batch)
        vectors = torch.where((codes == UNKNOWN_ENTITY)[:, None], self.mask, self.table(codes.clamp(min=0)))
        vectors = self.entity_norm(
            self.entity_projection(vectors) + self._mention_positions(batch) + self.entity_embedding
        )
        entity_inputs = vectors.new_zeros((len(batch.tokens), n_slots, vectors.shape[-1]))
        entity_inputs = entity_inputs.index_put((batch.row, slots), vectors)
        states = self.encoder(batch.tokens, torch.cat((batch.mask, slot_mask), dim=1), entity_inputs)
        features = torch.cat(
            (states[batch.row, batch.tokens.shape[1] + slots], concatenate_boundaries(states, batch)), dim=-1
        )
        return self.output_norm(F.gelu(self.projection(features)))  # type: ignore[no-any-return,unused-ignore]

    def _mention_positions(self, batch: TensorBatch) -> Tensor:
        """Return the mean position embedding of the tokens of each mention [mentions, hidden]."""
        sums = F.pad(self.encoder.position_embeddings.weight.cumsum(0), (0, 0, 1, 0))
        return (sums[batch.last_token + 1] - sums[batch.first_token]) / (batch.last_token + 1 - batch.first_token)[
            :, None
        ]

    def encode_entities(self, codes: Tensor | None = None) -> Tensor:
        """Return the learned vectors of the entities `codes`, or of all entities."""
        return self.table.weight if codes is None else self.table(codes)

    def bias(self, codes: Tensor | None = None) -> Tensor:
        """Return the learned bias of each entity of `codes`, or of all entities."""
        return self.weights if codes is None else self.weights[codes]


def _entity_slots(batch: TensorBatch) -> tuple[Tensor, Tensor, int]:
    """Return the positions of entity inputs: each mention of a window takes the next slot after its tokens.

    The result is a mask of used slots [windows, slots], the slot of each mention, and the number of slots per window.
    """
    counts = torch.bincount(batch.row, minlength=len(batch.tokens))
    starts = torch.cumsum(counts, 0) - counts
    slots = torch.arange(len(batch.row), device=batch.row.device) - starts[batch.row]
    n_slots = int(counts.max())
    return torch.arange(n_slots, device=batch.row.device) < counts[:, None], slots, n_slots


class TitleTable(nn.Module):
    """The titles of entities as tokens, with descriptions if there are any; they are data, not weights.

    `titles`: token ids of each entity's title [entities, length], with [CLS] and [SEP], padded.
    `title_lengths`: number of tokens of each title.
    """

    titles: Tensor
    title_lengths: Tensor

    def __init__(self, titles: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        super().__init__()
        self.register_buffer("titles", torch.from_numpy(titles), persistent=False)
        self.register_buffer("title_lengths", torch.from_numpy(lengths), persistent=False)

    def append(self, titles: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        """Add the titles of further entities."""
        width = max(titles.shape[1], self.titles.shape[1])
        rows = (self.titles, torch.from_numpy(titles).to(self.titles.device))
        self.titles = torch.cat([F.pad(row, (0, width - row.shape[1])) for row in rows])
        self.title_lengths = torch.cat((self.title_lengths, torch.from_numpy(lengths).to(self.title_lengths.device)))

    def get_rows(self, codes: Tensor) -> tuple[Tensor, Tensor]:
        """Return the tokens of the titles of `codes` [codes, width] and the number of tokens of each."""
        lengths = self.title_lengths[codes]
        width = -(-int(lengths.max()) // _WIDTH_STEP) * _WIDTH_STEP
        return self.titles[codes][:, :width].long(), lengths


class BiEncoderModel(EntityModel):
    """A model that encodes mentions and entity titles with the same encoder, so that it can link unseen entities.

    An entity vector is the mean state of its title, a mention vector the mean state of its two boundaries. Both are
    projected; the projections start as the identity. Entities without a title cannot be distinguished.

    `table`: titles of the entities, with descriptions if there are any.
    """

    reads_names = True

    def __init__(self, encoder: BertEncoder, titles: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        super().__init__()
        hidden = encoder.config.hidden_size
        self.encoder, self.n_entities = encoder, len(titles)
        self.projection = nn.Linear(2 * hidden, hidden)
        self.title_projection = nn.Linear(hidden, hidden)
        self.scale = nn.Parameter(torch.tensor(3.0))
        with torch.no_grad():
            self.projection.weight.copy_(torch.eye(hidden).repeat(1, 2) / 2)
            self.title_projection.weight.copy_(torch.eye(hidden))
            self.projection.bias.zero_()
            self.title_projection.bias.zero_()
        self.table = TitleTable(titles, lengths)
        self._entity_cache: Tensor | None = None

    def encode_mentions(self, batch: TensorBatch, known_entities: Tensor | None = None) -> Tensor:
        """Return the projected states at the boundaries of each mention, scaled to a learned length."""
        vectors = self.projection(concatenate_boundaries(self.encoder(batch.tokens, batch.mask), batch))
        return F.normalize(vectors, dim=-1) * self.scale.exp()

    def encode_entities(self, codes: Tensor | None = None) -> Tensor:
        """Return unit vectors of the titles of the entities `codes`, or of all entities.

        The vectors of all entities are cached in evaluation mode.
        """
        if codes is not None:
            return self._encode_titles(codes)
        if self._entity_cache is None or self.training:
            # titles of similar length together, to reduce padding
            codes_by_length = self.table.title_lengths[: self.n_entities].argsort(stable=True)
            vectors = torch.cat([self._encode_titles(part) for part in codes_by_length.split(_BATCH_SIZE)])
            self._entity_cache = vectors[codes_by_length.argsort()]
        return self._entity_cache

    def train(self, mode: bool = True) -> BiEncoderModel:
        """Set the training mode and clear the cached entity vectors."""
        self._entity_cache = None
        super().train(mode)
        return self

    def _encode_titles(self, codes: Tensor) -> Tensor:
        """Return the projected mean states of titles as unit vectors [codes, hidden]."""
        tokens, lengths = self.table.get_rows(codes)
        mask = torch.arange(tokens.shape[1], device=tokens.device) < lengths[:, None]
        states = self.encoder(tokens, mask)
        mean = (states * mask[..., None]).sum(1) / lengths[:, None]
        return F.normalize(self.title_projection(mean), dim=-1)


def count_parameters(model: nn.Module) -> Mapping[str, int]:
    """Return the numbers of parameters of the encoder (`encoder`) and of all other layers (`head`)."""
    counts = {"encoder": 0, "head": 0}
    for name, weights in model.named_parameters():
        counts["encoder" if name.startswith("encoder.") else "head"] += weights.numel()
    return counts
