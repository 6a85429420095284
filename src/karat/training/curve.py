"""How a training went, epoch by epoch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from karat.linking.neural.about import Kind
from karat.training.plan import TrainingPlan

CHECKPOINT: Final = "checkpoint.pt"
"""The file from which a training goes on."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass over the training part: the mean loss, the accuracy on the development part, and how long it took."""

    number: int
    loss: float
    accuracy: float | None
    seconds: float
    mentions: int
    tokens: int
    rate: float


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """All epochs, and the number of the one that was kept."""

    epochs: tuple[Epoch, ...] = ()
    best: int = 0
    stopped_early: bool = False

    def written(self) -> dict[str, Any]:
        """The curve as files have it."""
        return asdict(self)

    @classmethod
    def read(cls, said: dict[str, Any]) -> LearningCurve:
        """The curve that a file states."""
        return cls(tuple(Epoch(**each) for each in said["epochs"]), said["best"], said["stopped_early"])

    @property
    def accuracy(self) -> float | None:
        """That of the epoch that was kept."""
        return next((epoch.accuracy for epoch in self.epochs if epoch.number == self.best), None)


@dataclass(frozen=True, slots=True)
class Trained:
    """How a training went: the curve, how many weights there are, and what of the texts was left out."""

    kind: Kind
    folder: str
    plan: TrainingPlan
    curve: LearningCurve
    parameters: Mapping[str, int]
    entities: int
    counts: Mapping[str, int]
    device: str
