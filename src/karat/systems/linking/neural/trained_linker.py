"""A trained model as a folder: metadata, weights, tokenizer and entities."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from shutil import copymode, rmtree
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

from karat.model.errors import InputError, UsageError
from karat.model.json.decoder import decode_json
from karat.systems.linking.neural.bart import MODEL_TYPE, BartModel, BartPieces, load_bart
from karat.systems.linking.neural.cross_encoder import CrossEncoderModel
from karat.systems.linking.neural.encoder import BertConfig, BertEncoder, read_weights
from karat.systems.linking.neural.entity_texts import join_descriptions
from karat.systems.linking.neural.metadata import CONTEXT_KINDS, LAYOUT, METADATA_FILE, Kind, read_metadata
from karat.systems.linking.neural.models import BiEncoderModel, FevryModel, LinkingModel, LukeModel
from karat.systems.linking.neural.snippets import Snippets
from karat.systems.linking.neural.title_model import DecoderModel, TitleModel
from karat.systems.linking.neural.tokens import MarkedText, WordPieces

_ENTITIES: Final = "entities.json"
_WEIGHTS: Final = "model.safetensors"
_CONFIG: Final = "config.json"
MAX_NAME_LENGTH: Final = 24
"""The maximal number of tokens of an entity name."""
MAX_DESCRIPTION_LENGTH: Final = 48
"""The maximal number of tokens of an entity name with its description."""


@dataclass(frozen=True, eq=False)
class TrainedLinker:
    """A trained model with its tokenizer and entities.

    `kind`: kind of the model.
    `model`: the model.
    `pieces`: the tokenizer.
    `entities`: entity ids; their positions are the codes.
    `names`: entity names, in the order of `entities`.
    `options`: training options, as a dictionary.
    `metadata`: name and size of the training data, and the encoder.
    `descriptions`: descriptions of the entities, in their order; empty if the model reads none.
    """

    kind: Kind
    model: LinkingModel = field(repr=False)
    pieces: WordPieces | BartPieces = field(repr=False)
    entities: list[str] = field(repr=False)
    names: list[str] = field(repr=False)
    options: Mapping[str, Any]
    metadata: Mapping[str, str]
    descriptions: Sequence[str] = field(default=(), repr=False)

    @cached_property
    def codes(self) -> dict[str, int]:
        """The code of each entity id."""
        return {entity: code for code, entity in enumerate(self.entities)}

    @classmethod
    def create(
        cls,
        kind: Kind,
        encoder: Any,  # noqa: ANN401  # a BERT encoder, or a BART of Hugging Face
        pieces: WordPieces | BartPieces,
        entities: Sequence[str],
        names: Sequence[str],
        options: Mapping[str, Any],
        metadata: Mapping[str, str],
        descriptions: Sequence[str] = (),
    ) -> TrainedLinker:
        """Create an untrained model of a kind around an encoder; models that read names tokenise them."""
        model: LinkingModel
        if isinstance(pieces, BartPieces):
            model = BartModel(encoder, pieces.encode_titles(names))
        elif kind == "genre":
            titles = pieces.encode_titles(names)
            model = DecoderModel(encoder, titles, (pieces.begin,), pieces.end, options["decoder_layers"])
        elif kind in ("bi-encoder", "cross-encoder"):
            model_type = BiEncoderModel if kind == "bi-encoder" else CrossEncoderModel
            model = model_type(encoder, *_encode_entities(pieces, names, descriptions))
        else:
            model = (FevryModel if kind == "fevry" else LukeModel)(encoder, len(entities), options["dimension"])
        return cls(kind, model, pieces, list(entities), list(names), options, metadata, tuple(descriptions))

    def tokenise(self, texts: Sequence[MarkedText]) -> Snippets:
        """Split texts into the windows that the model reads: all mentions together, or each with its context."""
        return tokenise_texts(self.kind, self.pieces, texts, self.options["context"], self.options["max_length"])

    def add_entities(self, ids: Sequence[str], names: Sequence[str], descriptions: Sequence[str]) -> None:
        """Add entities that can be linked as candidates, if the model reads names; others stay unknown to it."""
        if not self.model.reads_names or not ids:
            return
        self.codes.update((id, len(self.entities) + number) for number, id in enumerate(ids))
        self.entities.extend(ids)
        self.names.extend(names)
        if isinstance(self.model, TitleModel):
            self.model.titles.extend(self.pieces.encode_titles(names))
        elif isinstance(self.model, BiEncoderModel | CrossEncoderModel):
            assert isinstance(self.pieces, WordPieces)
            self.model.table.append(*_encode_entities(self.pieces, names, descriptions if self.descriptions else ()))

    def save(self, folder: Path) -> None:
        """Write weights, tokenizer, configuration, entities and metadata to a folder; replace existing files.

        The metadata file comes last, as the mark of completeness. Raise `UsageError` if the folder cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / ".part"
        rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            save_file(_copy_weights(self.model), part / _WEIGHTS)
            self.pieces.save(part)
            _write_json(part / _CONFIG, self.model.encoder.config.to_dict())
            copymode(part / _CONFIG, part / _WEIGHTS)  # safetensors lets only the owner read its files
            vocabulary = {"ids": list(self.entities), "names": list(self.names)}
            if self.descriptions:
                vocabulary["descriptions"] = list(self.descriptions)
            _write_json(part / _ENTITIES, vocabulary)
            _write_json(
                part / METADATA_FILE,
                {
                    "karat": LAYOUT,
                    "kind": self.kind,
                    "options": dict(self.options),
                    "metadata": dict(self.metadata),
                    "digest": _hash_files(part / _WEIGHTS, part / _ENTITIES),
                },
            )
            for path in sorted(part.iterdir(), key=lambda path: path.name == METADATA_FILE):
                path.replace(folder / path.name)
        except OSError as problem:
            raise UsageError(
                f"{folder} cannot be written ({problem.strerror or problem}). Choose another folder."
            ) from None
        finally:
            rmtree(part, ignore_errors=True)

    @classmethod
    def load(cls, folder: Path, device: str = "cpu") -> TrainedLinker:
        """Load the model of a folder onto a device, in evaluation mode.

        Missing files raise `UsageError`; invalid or changed ones raise `InputError`.
        """
        metadata = read_metadata(folder)
        vocabulary = _read_entities(folder / _ENTITIES)
        options = {"context": 0, **metadata["options"]}
        encoder: Any
        pieces: WordPieces | BartPieces
        if metadata["kind"] == "genre" and _is_bart(folder):
            encoder = load_bart(folder, has_weights=False)
            pieces = BartPieces.load(folder, encoder.config.bos_token_id, encoder.config.eos_token_id)
        else:
            encoder = BertEncoder(BertConfig.load(folder), options["dropout"])
            pieces = WordPieces.load(folder)
        linker = cls.create(
            metadata["kind"],
            encoder,
            pieces,
            vocabulary["ids"],
            vocabulary["names"],
            options,
            metadata["metadata"],
            vocabulary.get("descriptions", ()),
        )
        try:
            linker.model.load_state_dict(read_weights(folder / _WEIGHTS))
        except RuntimeError as problem:
            raise InputError(
                str(folder / _WEIGHTS),
                actual=str(problem).replace("\n", " "),
                expected=f"the weights of {metadata['kind']}",
                remedy="Train the model again",
            ) from None
        if _hash_files(folder / _WEIGHTS, folder / _ENTITIES) != metadata["digest"]:
            raise InputError(
                str(folder),
                actual=f"other weights or entities than {METADATA_FILE} has a digest of",
                expected="the files of one training",
                remedy="Copy the whole folder again",
            )
        linker.model.to(torch.device(device)).eval()
        return linker


def tokenise_texts(
    kind: Kind, pieces: WordPieces | BartPieces, texts: Sequence[MarkedText], context: int, max_length: int
) -> Snippets:
    """Split texts into the windows that a model of a kind reads; see `TrainedLinker.tokenise`."""
    if kind in CONTEXT_KINDS:
        return pieces.to_contexts(texts, context, max_length)
    assert isinstance(pieces, WordPieces)
    return pieces.to_snippets(texts, max_length)


def _encode_entities(
    pieces: WordPieces, names: Sequence[str], descriptions: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the token ids of names, with descriptions if there are any, and the number of tokens of each."""
    if not descriptions:
        return pieces.encode_names(names, MAX_NAME_LENGTH)
    return pieces.encode_names(join_descriptions(names, descriptions), MAX_DESCRIPTION_LENGTH)


def _copy_weights(model: LinkingModel) -> dict[str, torch.Tensor]:
    """Return the weights of a model on the CPU; weights that share memory are copied, as safetensors needs it."""
    weights: dict[str, torch.Tensor] = {}
    addresses: set[int] = set()
    for name, tensor in model.state_dict().items():
        values = tensor.detach().cpu().contiguous()
        weights[name] = values.clone() if values.data_ptr() in addresses else values
        addresses.add(values.data_ptr())
    return weights


def _is_bart(folder: Path) -> bool:
    """Return whether the `config.json` of a folder is that of a BART."""
    try:
        return bool(decode_json((folder / _CONFIG).read_bytes(), dict[str, Any]).get("model_type") == MODEL_TYPE)
    except (OSError, ValueError) as problem:
        raise InputError(
            str(folder / _CONFIG), actual=str(problem), expected="a configuration", remedy="Train the model again"
        ) from None


def _hash_files(*paths: Path) -> str:
    """Return a hash of the contents of files: 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()[:16]


def _write_json(path: Path, value: object) -> None:
    """Write a value as an indented JSON file."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _read_entities(path: Path) -> dict[str, Any]:
    """Read the lists `ids` and `names` of entities; raise `InputError` if the file is invalid."""
    try:
        values = decode_json(path.read_bytes())
        if len(values["ids"]) != len(values["names"]):
            raise ValueError("different numbers of names and ids")
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InputError(
            str(path), actual=str(problem), expected="ids and names of entities", remedy="Train the model again"
        ) from None
    return values  # type: ignore[no-any-return]
