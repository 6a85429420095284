"""A trained linker as a folder: settings, weights, tokenizer and the entities it knows."""

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

from karat.errors import InputError, UsageError
from karat.linking.neural.about import ABOUT, LAYOUT, Kind, read_about
from karat.linking.neural.encoder import BertEncoder, BertShape, read_weights
from karat.linking.neural.models import BiEncoderModel, EntityModel, FevryModel, LukeModel
from karat.linking.neural.tokens import WordPieces

_ENTITIES: Final = "entities.json"
_WEIGHTS: Final = "model.safetensors"
_SHAPE: Final = "config.json"
NAME_LENGTH: Final = 24
"""Tokens of an entity's name, at most."""


@dataclass(frozen=True, eq=False)
class TrainedLinker:
    """A model with all it needs to read texts and to name entities. `plan` is what it was trained with."""

    kind: Kind
    model: EntityModel = field(repr=False)
    pieces: WordPieces = field(repr=False)
    entities: Sequence[str] = field(repr=False)
    names: Sequence[str] = field(repr=False)
    plan: Mapping[str, Any]
    about: Mapping[str, str]

    @cached_property
    def codes(self) -> dict[str, int]:
        """The code of each entity."""
        return {entity: code for code, entity in enumerate(self.entities)}

    @classmethod
    def begin(
        cls,
        kind: Kind,
        encoder: BertEncoder,
        pieces: WordPieces,
        entities: Sequence[str],
        names: Sequence[str],
        plan: Mapping[str, Any],
        about: Mapping[str, str],
    ) -> TrainedLinker:
        """One that nobody has trained yet; an entity's name is what a bi-encoder reads of it."""
        if kind == "bi-encoder":
            model: EntityModel = BiEncoderModel(encoder, *pieces.names(names, NAME_LENGTH))
        else:
            model = {"fevry": FevryModel, "luke-head": LukeModel}[kind](encoder, len(entities), plan["dimension"])
        return cls(kind, model, pieces, entities, names, plan, about)

    def save(self, folder: Path) -> None:
        """Write the folder; files that are there already are replaced, the settings last, without which it is none."""
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / ".part"
        rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            weights = {name: tensor.detach().cpu().contiguous() for name, tensor in self.model.state_dict().items()}
            save_file(weights, part / _WEIGHTS)
            self.pieces.save(part)
            _write(part / _SHAPE, self.model.encoder.shape.written())
            _write(part / _ENTITIES, {"ids": list(self.entities), "names": list(self.names)})
            _write(
                part / ABOUT,
                {
                    "karat": LAYOUT,
                    "kind": self.kind,
                    "plan": dict(self.plan),
                    "about": dict(self.about),
                    "digest": _digest(part / _WEIGHTS, part / _ENTITIES),
                },
            )
            for path in sorted(part.iterdir(), key=lambda path: path.name == ABOUT):
                path.replace(folder / path.name)
        except OSError as problem:
            raise UsageError(
                f"{folder} cannot be written ({problem.strerror or problem}). Choose another place."
            ) from None
        finally:
            rmtree(part, ignore_errors=True)

    @classmethod
    def read(cls, folder: Path, device: str = "cpu") -> TrainedLinker:
        """The linker of a folder."""
        said = read_about(folder)
        known = _read(folder / _ENTITIES)
        encoder = BertEncoder(BertShape.read(folder), said["plan"]["dropout"])
        found = cls.begin(
            said["kind"],
            encoder,
            WordPieces.read(folder),
            known["ids"],
            known["names"],
            said["plan"],
            said["about"],
        )
        try:
            found.model.load_state_dict(read_weights(folder / _WEIGHTS))
        except RuntimeError as problem:
            raise InputError(
                str(folder / _WEIGHTS),
                found=str(problem).replace("\n", " "),
                expected=f"the weights of {said['kind']}",
                remedy="Train it anew",
            ) from None
        found.model.to(torch.device(device)).eval()
        return found


def _digest(*paths: Path) -> str:
    found = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                found.update(block)
    return found.hexdigest()[:16]


def _write(path: Path, said: object) -> None:
    path.write_text(json.dumps(said, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _read(path: Path) -> dict[str, Any]:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        if len(said["ids"]) != len(said["names"]):
            raise ValueError("not as many names as ids")
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InputError(
            str(path), found=str(problem), expected="ids and names of entities", remedy="Train it anew"
        ) from None
    return said  # type: ignore[no-any-return]
