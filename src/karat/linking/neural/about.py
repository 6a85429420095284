"""What the folder of a trained linker says of itself, without any weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from karat.errors import InputError, KaratError, UsageError

Kind: TypeAlias = Literal["fevry", "luke-head", "bi-encoder"]
"""What can be trained; each is the name of a system, too."""

ABOUT: Final = "linker.json"
LAYOUT: Final = "linker/1"
_NEEDED: Final = ("torch", "tokenizers", "safetensors")


def check_train_extra() -> None:
    """Raise `KaratError` where a package of the extra `train` is missing."""
    if not all(find_spec(name) for name in _NEEDED):
        raise KaratError("models need PyTorch and two more packages: pip install 'karat[train]'")


def read_about(folder: Path) -> dict[str, Any]:
    """Kind, plan, digest, and what it was trained on."""
    path = folder / ABOUT
    try:
        said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        layout = said["karat"]
    except FileNotFoundError:
        raise UsageError(
            f"{str(folder)!r} holds no trained linker. Train one: karat train KIND --train T --out DIR"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InputError(str(path), found=str(problem), expected="what a linker is", remedy="Train it anew") from None
    if layout != LAYOUT:
        raise InputError(str(path), found=str(layout), expected=LAYOUT, remedy="Use the Karat that wrote it")
    return said


def stamp_of(folder: str, kind: str) -> Mapping[str, str]:
    """What decides the answers of a trained linker, which must be of that kind."""
    check_train_extra()
    said = read_about(Path(folder))
    if said["kind"] != kind:
        raise UsageError(f"{folder} is a {said['kind']}. Name it so: {said['kind']}:{folder}")
    return {"weights": said["digest"], **{f"training: {name}": value for name, value in said["about"].items()}}
