"""Training options and presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Literal, TypeAlias

from karat.formats.parsing.vocabulary import iterate_entities
from karat.model.errors import UnknownNameError, UsageError
from karat.storage.files import Source
from karat.systems.linking.neural.metadata import CONTEXT_KINDS

Softmax: TypeAlias = Literal["full", "sampled", "listed"]
"""The entities of the softmax: all, a weighted sample with those of the batch, or the candidates of a mention."""


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """The options of a training.

    `epochs`: number of epochs.
    `batch_size`: number of windows per batch.
    `learning_rate`: learning rate of the encoder.
    `head_learning_rate`: learning rate of the other layers; None for the same rate.
    `max_length`: maximal number of tokens per window.
    `dimension`: dimension of the entity vectors.
    `warm_up`: share of the steps in which the learning rate rises.
    `clip`: maximal norm of the gradients.
    `decay`: weight decay.
    `dropout`: dropout probability.
    `softmax`: entities of the softmax.
    `negatives`: number of random negatives in a sampled softmax.
    `hard_negatives`: number of candidates per mention in a sampled softmax.
    `mask_prob`: probability that an entity is masked (LUKE).
    `bf16`: use bfloat16 mixed precision.
    `compile_encoder`: compile the encoder, which takes a minute and pays off for large encoders.
    `seed`: random seed.
    `patience`: number of epochs without improvement after which training stops; 0 disables early stopping.
    `context`: number of characters on each side of a mention (cross-encoder, genre).
    `decoder_layers`: number of layers of the decoder (genre without a BART).
    `pretrain_epochs`: number of epochs on names and descriptions of entities before `epochs` (genre).
    `pretrain_examples`: number of random entities in these epochs; 0 for all.
    `frozen_epochs`: number of last epochs with frozen entity vectors (LUKE).
    `frozen_mask_prob`: probability that an entity is masked in these epochs.
    `weak_labels`: also learn from other occurrences of the titles of a document's entities.
    `single_mention`: learn from one random mention per window.
    `title_context`: read the title of the document, or else its id, before each window.
    """

    epochs: int = 6
    batch_size: int = 64
    learning_rate: float = 5e-5
    head_learning_rate: float | None = None
    max_length: int = 400
    dimension: int = 200
    warm_up: float = 0.1
    clip: float = 1.0
    decay: float = 0.0
    dropout: float = 0.1
    softmax: Softmax = "full"
    negatives: int = 4096
    hard_negatives: int = 0
    mask_prob: float = 0.3
    bf16: bool = True
    compile_encoder: bool = False
    seed: int = 1
    patience: int = 0
    context: int = 500
    decoder_layers: int = 2
    pretrain_epochs: int = 0
    pretrain_examples: int = 0
    frozen_epochs: int = 0
    frozen_mask_prob: float = 0.9
    weak_labels: bool = False
    single_mention: bool = False
    title_context: bool = False

    @property
    def n_epochs(self) -> int:
        """The number of all epochs, with those of pre-training."""
        return self.pretrain_epochs + self.epochs

    def __post_init__(self) -> None:
        """Raise `UsageError` for a size below 1."""
        for name in ("epochs", "batch_size", "max_length", "dimension", "context", "decoder_layers"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} {getattr(self, name)}: use a number of 1 or more.")

    def replace(self, **changes: Any) -> TrainingOptions:  # noqa: ANN401  # as `dataclasses.replace`
        """Return a copy with these changes; values of None leave an option unchanged."""
        return replace(self, **{name: value for name, value in changes.items() if value is not None})

    def to_dict(self) -> dict[str, Any]:
        """Return all options as a dictionary, for files."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrainingOptions:
        """Return the options of a dictionary from `to_dict`; unknown keys are ignored."""
        names = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in names})


PRESETS: Final = {
    "zelda": TrainingOptions(),
    "small": TrainingOptions(epochs=15, batch_size=16, learning_rate=1e-4, head_learning_rate=5e-3, patience=5),
}
"""`zelda` is the setup of the ZELDA paper, for millions of mentions; `small` is for a few thousand."""


_TABLE_KINDS: Final = ("fevry", "luke-head", "luke-ft")
_LUKE_KINDS: Final = ("luke-head", "luke-ft")
_SAMPLING_KINDS: Final = (*_TABLE_KINDS, "bi-encoder")
_KINDS_BY_OPTION: Final[Mapping[str, tuple[str, ...]]] = {
    "dimension": _TABLE_KINDS,
    "softmax": _SAMPLING_KINDS,
    "negatives": _SAMPLING_KINDS,
    "hard_negatives": (*_SAMPLING_KINDS, "cross-encoder"),
    "mask_prob": _LUKE_KINDS,
    "frozen_epochs": ("luke-ft",),
    "frozen_mask_prob": ("luke-ft",),
    "context": CONTEXT_KINDS,
    "decoder_layers": ("genre",),
    "pretrain_epochs": ("genre",),
    "pretrain_examples": ("genre",),
}
"""The kinds of models that use an option; all kinds use the others."""


def get_preset(name: str) -> TrainingOptions:
    """Return the preset `name`; raise `UnknownNameError` if there is none."""
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    return PRESETS[name]


def adapt_preset(
    preset: TrainingOptions,
    kind: str,
    *,
    has_dev: bool,
    has_candidates: bool,
    has_bart: bool = False,
    **hyperparameters: object,
) -> TrainingOptions:
    """Return a preset adapted to the kind of linker and the data, with the hyperparameters that are not None.

    A bi-encoder gets sampled negatives, hard ones only if there are candidates. A decoder of Karat's own is
    pre-trained for one epoch. LUKE's last epoch is fine-tuning if it is named so. Without a development corpus,
    training does not stop early. A hyperparameter that the training would not use raises `UsageError`.
    """
    options = preset
    if kind == "bi-encoder":
        options = options.replace(softmax="sampled", negatives=256, hard_negatives=8 if has_candidates else 0)
    elif kind == "cross-encoder":
        options = options.replace(hard_negatives=7, context=200, head_learning_rate=min(1e-3, _get_head_rate(preset)))
    elif kind == "genre":
        options = options.replace(
            pretrain_epochs=0 if has_bart else 1, head_learning_rate=min(1e-3, _get_head_rate(preset))
        )
    elif kind == "luke-ft":
        options = options.replace(frozen_epochs=1, patience=0)
    options = options.replace(**({} if has_dev else {"patience": 0})).replace(**hyperparameters)
    unused = find_unused_options(kind, options, has_candidates=has_candidates, has_bart=has_bart)
    for name, value in hyperparameters.items():
        if value is not None and name in unused:
            raise UsageError(f"this training does not use --{name.replace('_', '-')}. Omit it, or {unused[name]}.")
    return options


def find_unused_options(
    kind: str, options: TrainingOptions, *, has_candidates: bool, has_bart: bool = False
) -> dict[str, str]:
    """Return the options that a training would not use, each with the change by which it would be used."""
    unused: dict[str, str] = {}
    if options.softmax != "sampled":
        unused |= dict.fromkeys(("negatives", "hard_negatives"), "choose --softmax sampled")
    elif not has_candidates:
        unused["hard_negatives"] = "pass --candidates"
    if kind == "cross-encoder":  # without candidates, its negatives are random
        unused.pop("hard_negatives", None)
    if not options.pretrain_epochs:
        unused["pretrain_examples"] = "pre-train with --pretrain-epochs"
    if has_bart:
        unused["decoder_layers"] = "omit --model"
    return unused | {
        name: f"train {', '.join(kinds[:-1])}{' or ' * (len(kinds) > 1)}{kinds[-1]}"
        for name, kinds in _KINDS_BY_OPTION.items()
        if kind not in kinds
    }


def _get_head_rate(options: TrainingOptions) -> float:
    """Return the learning rate of the layers outside the encoder."""
    return options.learning_rate if options.head_learning_rate is None else options.head_learning_rate


def read_entity_list(path: str) -> list[str]:
    """Return the entity ids in a vocabulary file, as written.

    Raise `UsageError` if there are none, and `InputError` if the file cannot be read.
    """
    entities = [entity for entity, _ in iterate_entities(Source(path))]
    if not entities:
        raise UsageError(f"{path} contains no entities. Write one id per line.")
    return entities
