"""A cross-encoder, which reads a mention in its context and a candidate with its description together."""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from karat.systems.linking.neural.encoder import BertEncoder
from karat.systems.linking.neural.models import UNKNOWN_ENTITY, LinkingModel, TensorBatch, TitleTable

_MAX_PAIRS: Final = 64  # pairs of mention and candidate per batch


class CrossEncoderModel(LinkingModel):
    """A model that scores a pair of mention and candidate, read as one text; it ranks candidates only.

    The score is the similarity of the mean states of both after they have read each other, plus a product with the
    state of [CLS], which starts as 0. Tokens of the mention and of the candidate have token type 1.

    `table`: titles of the entities, with descriptions if there are any.
    """

    reads_names = True

    def __init__(self, encoder: BertEncoder, titles: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        super().__init__()
        self.encoder, self.n_entities = encoder, len(titles)
        self.table = TitleTable(titles, lengths)
        self.output = nn.Linear(encoder.config.hidden_size, 1)
        self.scale = nn.Parameter(torch.tensor(2.5))
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def score_candidates(self, batch: TensorBatch, candidates: Tensor) -> Tensor:
        """Return the score of each mention's candidates [mentions, candidates]; minus infinity for padding (-1).

        Pairs of similar length are read together, to reduce padding.
        """
        mention, column = (candidates != UNKNOWN_ENTITY).nonzero(as_tuple=True)
        scores = torch.full(candidates.shape, -torch.inf, device=candidates.device)
        if not len(mention):
            return scores
        lengths = batch.mask[batch.row[mention]].sum(1) + self.table.title_lengths[candidates[mention, column]]
        order = lengths.argsort(stable=True)
        mention, column = mention[order], column[order]
        parts = [
            self.score_pairs(batch, mentions, candidates[mentions, columns])
            for mentions, columns in zip(mention.split(_MAX_PAIRS), column.split(_MAX_PAIRS), strict=True)
        ]
        return scores.index_put((mention, column), torch.cat(parts))

    def score_pairs(self, batch: TensorBatch, mentions: Tensor, codes: Tensor) -> Tensor:
        """Return the score of each pair of a mention, by its index in the batch, and an entity, by its code."""
        rows = batch.row[mentions]
        texts, text_lengths = batch.tokens[rows], batch.mask[rows].sum(1)
        titles, title_lengths = self.table.get_rows(codes)
        sizes = text_lengths + title_lengths - 1  # a title goes without its [CLS]
        index = torch.arange(int(sizes.max()), device=texts.device)
        is_title = index >= text_lengths[:, None]
        title_index = (index - text_lengths[:, None] + 1).clamp(0, titles.shape[1] - 1)
        text_index = index.clamp(max=texts.shape[1] - 1).expand(len(texts), -1)
        mask = index < sizes[:, None]
        tokens = torch.where(is_title, titles.gather(1, title_index), texts.gather(1, text_index)) * mask
        first, last = batch.first_token[mentions, None], batch.last_token[mentions, None]
        is_mention = (index >= first) & (index <= last)
        states = self.encoder(tokens, mask, types=is_mention | (is_title & mask))
        similarity = F.cosine_similarity(_mean(states, is_mention), _mean(states, is_title & mask), dim=-1)
        scores: Tensor = similarity * self.scale.exp() + self.output(states[:, 0])[:, 0]
        return scores.float()


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    """Return the mean state of the tokens in a mask [texts, hidden]."""
    weights = mask[..., None].to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=1)
