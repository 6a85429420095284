"""A trained model as a folder: metadata, weights, tokenizer and entities."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import Any, Final

import torch
from safetensors.torch import save_file

from karat.model.errors import InputError, UsageError
from karat.model.json.decoder import decode_json
from karat.systems.linking.neural.encoder import BertConfig, BertEncoder, read_weights
from karat.systems.linking.neural.metadata import LAYOUT, METADATA_FILE, Kind, read_metadata
from karat.systems.linking.neural.models import BiEncoderModel, EntityModel, FevryModel, LukeModel
from karat.systems.linking.neural.tokens import WordPieces

_ENTITIES: Final = "entities.json"
_WEIGHTS: Final = "model.safetensors"
_CONFIG: Final = "config.json"
MAX_NAME_LENGTH: Final = 24
"""The maximal number of tokens of an entity name."""


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
    """

    kind: Kind
    model: EntityModel = field(repr=False)
    pieces: WordPieces = field(repr=False)
    entities: Sequence[str] = field(repr=False)
    names: Sequence[str] = field(repr=False)
    options: Mapping[str, Any]
    metadata: Mapping[str, str]

    @cached_property
    def codes(self) -> dict[str, int]:
        """The code of each entity id."""
        return {entity: code for code, entity in enumerate(self.entities)}

    @classmethod
    def create(
        cls,
        kind: Kind,
        encoder: BertEncoder,
        pieces: WordPieces,
        entities: Sequence[str],
        names: Sequence[str],
        options: Mapping[str, Any],
        metadata: Mapping[str, str],
    ) -> TrainedLinker:
        """Create an untrained model of a kind around an encoder; a bi-encoder tokenises the entity names."""
        if kind == "bi-encoder":
            model: EntityModel = BiEncoderModel(encoder, *pieces.encode_names(names, MAX_NAME_LENGTH))
        else:
            model = {"fevry": FevryModel, "luke-head": LukeModel}[kind](encoder, len(entities), options["dimension"])
        return cls(kind, model, pieces, entities, names, options, metadata)

    def save(self, folder: Path) -> None:
        """Write weights, tokenizer, configuration, entities and metadata to a folder; replace existing files.

        The metadata file comes last, as the mark of completeness. Raise `UsageError` if the folder cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / ".part"
        rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            weights = {name: tensor.detach().cpu().contiguous() for name, tensor in self.model.state_dict().items()}
            save_file(weights, part / _WEIGHTS)
            self.pieces.save(part)
            _write_json(part / _CONFIG, self.model.encoder.config.to_dict())
            _write_json(part / _ENTITIES, {"ids": list(self.entities), "names": list(self.names)})
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

        Missing files raise `UsageError`; invalid ones raise `InputError`.
        """
        metadata = read_metadata(folder)
        vocabulary = _read_entities(folder / _ENTITIES)
        encoder = BertEncoder(BertConfig.load(folder), metadata["options"]["dropout"])
        linker = cls.create(
            metadata["kind"],
            encoder,
            WordPieces.load(folder),
            vocabulary["ids"],
            vocabulary["names"],
            metadata["options"],
            metadata["metadata"],
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
        linker.model.to(torch.device(device)).eval()
        return linker


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
