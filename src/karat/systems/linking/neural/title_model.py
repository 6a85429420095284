"""Models that write the title of an entity token by token: GENRE's method on a BERT encoder with a small decoder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from karat.systems.linking.neural.encoder import BertConfig, BertEncoder, init_weights
from karat.systems.linking.neural.models import LinkingModel, TensorBatch
from karat.systems.linking.trie import TitleTrie

NO_TARGET: Final = -100
_MAX_TITLE_LENGTH: Final = 64
_MIN_PROBABILITY: Final = 1e-9


@dataclass(frozen=True, eq=False)
class TextStates:
    """The encoded texts of some mentions, which a decoder reads.

    `tokens`, `mask`: tokens [texts, length], and False for padding.
    `states`: states of the encoder [texts, length, hidden].
    `keys_values`: keys and values of the states in each layer of the decoder [texts, heads, length, size].
    """

    tokens: Tensor
    mask: Tensor
    states: Tensor
    keys_values: tuple[tuple[Tensor, Tensor], ...] = ()

    def select(self, rows: Tensor) -> TextStates:
        """Return the texts with some indices; an index may occur several times."""
        pairs = tuple((keys[rows], values[rows]) for keys, values in self.keys_values)
        return TextStates(self.tokens[rows], self.mask[rows], self.states[rows], pairs)


class TitleModel(LinkingModel):
    """A model that writes titles.

    `titles`: tokens of each entity's title, without start and end.
    `prefix`: tokens before each title.
    `end`: token after each title.
    """

    reads_names = True

    def __init__(self, titles: Sequence[Sequence[int]], prefix: tuple[int, ...], end: int) -> None:
        super().__init__()
        self.titles, self.prefix, self.end = list(titles), prefix, end
        self.n_entities = len(self.titles)

    @cached_property
    def trie(self) -> TitleTrie:
        """The tree of the titles of all entities, without entities that were added later."""
        return TitleTrie.from_titles(self.titles[: self.n_entities], self.end)

    def encode_texts(self, batch: TensorBatch) -> TextStates:
        """Return the states of the texts of all mentions, one per mention."""
        raise NotImplementedError

    def score_next_tokens(self, texts: TextStates, prefixes: Tensor) -> Tensor:
        """Return the log-probabilities of the token after each prefix [texts, vocabulary].

        `prefixes`: tokens of incomplete titles [texts, length], without the prefix of the model.
        """
        raise NotImplementedError

    def title_loss(self, texts: TextStates, codes: Tensor) -> Tensor:
        """Return the mean loss per token of the titles of `codes`, one per text."""
        raise NotImplementedError

    def add_prefix(self, prefixes: Tensor) -> Tensor:
        """Return the input of the decoder: incomplete titles after the prefix of the model."""
        begin = torch.tensor([self.prefix], device=prefixes.device).expand(len(prefixes), -1)
        return torch.cat((begin, prefixes), dim=1)

    def make_targets(self, codes: Tensor) -> tuple[Tensor, Tensor]:
        """Return the padded inputs of the decoder and the tokens to predict, for the titles of `codes`.

        Both are [titles, length]; tokens that do not count are `NO_TARGET`.
        """
        titles = [self.titles[code][:_MAX_TITLE_LENGTH] for code in codes.tolist()]
        width = len(self.prefix) + max(map(len, titles))
        inputs = torch.full((len(titles), width), self.end, dtype=torch.long)
        targets = torch.full((len(titles), width), NO_TARGET, dtype=torch.long)
        for row, title in enumerate(titles):
            tokens = [*self.prefix, *title]
            inputs[row, : len(tokens)] = torch.tensor(tokens)
            targets[row, len(self.prefix) - 1 : len(tokens)] = torch.tensor([*title, self.end])
        return inputs.to(codes.device), targets.to(codes.device)


class DecoderLayer(nn.Module):
    """A transformer layer that reads the tokens so far, then the encoded text; norms come first."""

    def __init__(self, config: BertConfig, dropout: float) -> None:
        super().__init__()
        hidden = config.hidden_size
        self.n_heads, self.dropout = config.n_heads, dropout
        self.norms = nn.ModuleList(nn.LayerNorm(hidden, config.epsilon) for _ in range(3))
        self.qkv, self.self_output = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.query, self.keys_values = nn.Linear(hidden, hidden), nn.Linear(hidden, 2 * hidden)
        self.cross_output = nn.Linear(hidden, hidden)
        self.intermediate, self.output = nn.Linear(hidden, config.inner_size), nn.Linear(config.inner_size, hidden)

    def project_text(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values of encoded texts [texts, heads, length, size]."""
        keys, values = self.keys_values(states).chunk(2, dim=-1)
        return self._split_heads(keys), self._split_heads(values)

    def forward(self, state: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        """Return the states of the titles after the layer [titles, length, hidden]; `mask` is that of the texts."""
        dropout = self.dropout if self.training else 0.0
        query, key, value = map(self._split_heads, self.qkv(self.norms[0](state)).chunk(3, dim=-1))
        output = F.scaled_dot_product_attention(query, key, value, is_causal=True, dropout_p=dropout)
        state = state + F.dropout(self.self_output(_join_heads(output)), self.dropout, self.training)
        query = self._split_heads(self.query(self.norms[1](state)))
        output = F.scaled_dot_product_attention(
            query, *keys_values, attn_mask=mask[:, None, None, :], dropout_p=dropout
        )
        state = state + F.dropout(self.cross_output(_join_heads(output)), self.dropout, self.training)
        output = self.output(F.gelu(self.intermediate(self.norms[2](state))))
        return state + F.dropout(output, self.dropout, self.training)  # type: ignore[no-any-return,unused-ignore]

    def _split_heads(self, state: Tensor) -> Tensor:
        """Return states as [texts, heads, length, size]."""
        return state.view(*state.shape[:2], self.n_heads, -1).transpose(1, 2)


def _join_heads(state: Tensor) -> Tensor:
    """Return states of heads as [texts, length, hidden]."""
    return state.transpose(1, 2).flatten(2)


class DecoderModel(TitleModel):
    """A BERT encoder with a decoder of its own, which writes a token of its vocabulary or copies one of the text.

    Token embeddings are those of the encoder and stay unchanged. The probability of a token is a mixture of a softmax
    over the vocabulary and of the attention to the tokens of the text (See et al. 2017). The mention has token type 1.
    """

    def __init__(
        self, encoder: BertEncoder, titles: Sequence[Sequence[int]], prefix: tuple[int, ...], end: int, n_layers: int
    ) -> None:
        super().__init__(titles, prefix, end)
        config = encoder.config
        self.encoder = encoder
        self.position_embeddings = nn.Embedding(_MAX_TITLE_LENGTH + len(prefix), config.hidden_size)
        self.mention_embedding = nn.Parameter(torch.zeros(config.hidden_size))
        self.layers = nn.ModuleList(DecoderLayer(config, encoder.dropout) for _ in range(n_layers))
        self.output_norm = nn.LayerNorm(config.hidden_size, config.epsilon)
        self.vocabulary_projection = nn.Linear(config.hidden_size, config.hidden_size)
        self.vocabulary_bias = nn.Parameter(torch.zeros(config.vocabulary_size))
        self.copy_query = nn.Linear(config.hidden_size, config.hidden_size)
        self.copy_key = nn.Linear(config.hidden_size, config.hidden_size)
        self.copy_gate = nn.Linear(config.hidden_size, 1)
        for name, module in self.named_modules():
            if not name.startswith("encoder"):
                init_weights(module)
        encoder.word_embeddings.weight.requires_grad_(False)

    def encode_texts(self, batch: TensorBatch) -> TextStates:
        """Return the states of the texts, marked where the mention is, with keys and values for all layers."""
        index = torch.arange(batch.tokens.shape[1], device=batch.tokens.device)
        is_mention = (index >= batch.first_token[:, None]) & (index <= batch.last_token[:, None])
        tokens, mask = batch.tokens[batch.row], batch.mask[batch.row]
        states = self.encoder(tokens, mask, types=is_mention)
        states = states + is_mention[..., None] * self.mention_embedding
        layers: Iterable[Any] = self.layers
        return TextStates(tokens, mask, states, tuple(layer.project_text(states) for layer in layers))

    def score_next_tokens(self, texts: TextStates, prefixes: Tensor) -> Tensor:
        """Return the log-probabilities of the token after each prefix [texts, vocabulary]."""
        states = self._decode(texts, self.add_prefix(prefixes))[:, -1:]
        copies = self._copy_probabilities(texts, states)[:, 0]
        logits, gate = self._mix(states[:, 0])
        written = logits.softmax(-1) * (1 - gate)
        return written.scatter_add(1, texts.tokens, copies * gate).clamp(min=_MIN_PROBABILITY).log()

    def title_loss(self, texts: TextStates, codes: Tensor) -> Tensor:
        """Return the mean loss per token of the titles of `codes`, one per text."""
        inputs, targets = self.make_targets(codes)
        states = self._decode(texts, inputs)
        is_target = targets != NO_TARGET
        is_copy = texts.tokens[:, None, :] == targets[..., None]
        copied = (self._copy_probabilities(texts, states) * is_copy).sum(-1)[is_target]
        logits, gate = self._mix(states[is_target])
        written = (logits.gather(1, targets[is_target][:, None]) - logits.logsumexp(1, keepdim=True)).exp()
        probability = (written * (1 - gate))[:, 0] + copied * gate[:, 0]
        loss: Tensor = -probability.clamp(min=_MIN_PROBABILITY).log().mean()
        return loss

    def _decode(self, texts: TextStates, inputs: Tensor) -> Tensor:
        """Return the states of the decoder's inputs [titles, length, hidden]."""
        positions = torch.arange(inputs.shape[1], device=inputs.device)
        state = self.encoder.word_embeddings(inputs) + self.position_embeddings(positions)
        for layer, keys_values in zip(self.layers, texts.keys_values, strict=True):
            state = layer(state, keys_values, texts.mask)
        return self.output_norm(state)  # type: ignore[no-any-return,unused-ignore]

    def _mix(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits over the vocabulary [states, vocabulary] and the share of copies [states, 1], in float32."""
        logits = self.vocabulary_projection(states) @ self.encoder.word_embeddings.weight.T + self.vocabulary_bias
        return logits.float(), self.copy_gate(states).float().sigmoid()

    def _copy_probabilities(self, texts: TextStates, states: Tensor) -> Tensor:
        """Return the probability of each token of the text, if a token is copied [titles, length, tokens]."""
        attention = self.copy_query(states) @ self.copy_key(texts.states).transpose(1, 2)
        attention = attention.float() / states.shape[-1] ** 0.5
        copies: Tensor = attention.masked_fill(~texts.mask[:, None, :], -torch.inf).softmax(-1)
        return copies
