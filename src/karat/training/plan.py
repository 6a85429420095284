"""How a model is trained: one value, and presets of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Literal, TypeAlias

from karat.errors import UnknownNameError, UsageError

Softmax: TypeAlias = Literal["full", "sampled", "listed"]
"""Over all entities; over those of the batch and some others, weighed as all of them; over a mention's candidates."""


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """The parameters of a training.

    `rate` is the learning rate of the encoder, `head_rate` that of all other weights, where it is another one.
    `negatives` and `hard` are how many entities by chance and how many candidates of each mention a sampled softmax
    has. `masked` is the share of entities that LUKE must tell. With `patience`, training ends after so many epochs
    without a better accuracy on the development part, and the best epoch is kept. `half` is products in bf16, and
    `compiled` lets torch compile the encoder, which takes a minute and pays for large ones.
    """

    epochs: int = 6
    batch: int = 64
    rate: float = 5e-5
    head_rate: float | None = None
    tokens: int = 400
    dimension: int = 200
    warm_up: float = 0.1
    clip: float = 1.0
    decay: float = 0.0
    dropout: float = 0.1
    softmax: Softmax = "full"
    negatives: int = 4096
    hard: int = 0
    masked: float = 0.3
    half: bool = True
    compiled: bool = False
    seed: int = 1
    patience: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "tokens", "dimension"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} {getattr(self, name)}: give a number of 1 or more.")

    def but(self, **other: Any) -> TrainingPlan:  # noqa: ANN401  # as `dataclasses.replace`
        """The same with something else; what is None stays."""
        return replace(self, **{name: value for name, value in other.items() if value is not None})

    def written(self) -> dict[str, Any]:
        """All parameters, as files have them."""
        return asdict(self)

    @classmethod
    def read(cls, said: dict[str, Any]) -> TrainingPlan:
        """The plan that a file states."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in said.items() if name in known})


PRESETS: Final = {
    "zelda": TrainingPlan(),
    "small": TrainingPlan(epochs=15, batch=16, rate=1e-4, head_rate=5e-3, patience=5),
}
"""`zelda` is that of its paper, for millions of mentions; `small` is for some thousands."""


def preset(name: str) -> TrainingPlan:
    """The preset of that name."""
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    return PRESETS[name]
