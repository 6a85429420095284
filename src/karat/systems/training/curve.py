"""The learning curve and the result of a training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from karat.systems.linking.neural.metadata import Kind
from karat.systems.training.options import TrainingOptions

CHECKPOINT: Final = "checkpoint.pt"
"""The file from which an interrupted training resumes."""

OUTSIDE_VOCABULARY: Final = "mentions whose entity is not in the vocabulary"
"""Description of the count of mentions that are not learned from, and that count as wrong in development."""

CHECKPOINT_PART: Final = "checkpoint.part"
"""The file into which a checkpoint is written before it replaces the previous one."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass over the training data.

    `number`: number of the epoch, from 1.
    `loss`: mean loss per mention.
    `accuracy`: accuracy on the development data; None without such data.
    `seconds`: duration of the training steps, without scoring.
    `n_mentions`, `n_tokens`: number of mentions and tokens in the training data.
    `learning_rate`: learning rate at the end.
    """

    number: int
    loss: float
    accuracy: float | None
    seconds: float
    n_mentions: int
    n_tokens: int
    learning_rate: float


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """The epochs of a training.

    `epochs`: all epochs.
    `best_epoch`: number of the epoch whose weights are used.
    `stopped_early`: whether training stopped for lack of improvement.
    """

    epochs: tuple[Epoch, ...] = ()
    best_epoch: int = 0
    stopped_early: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as a dictionary, for files."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> LearningCurve:
        """Return the curve of a dictionary from `to_dict`."""
        return cls(tuple(Epoch(**epoch) for epoch in values["epochs"]), values["best_epoch"], values["stopped_early"])

    @property
    def accuracy(self) -> float | None:
        """The accuracy of the best epoch on the development data; None without epochs or such data."""
        return next((epoch.accuracy for epoch in self.epochs if epoch.number == self.best_epoch), None)


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """The expected duration of a training, from its first steps.

    `seconds`: seconds of all epochs that remain, with the measured ones.
    `n_epochs`: number of these epochs.
    `n_steps`: number of measured steps.
    `has_scoring`: whether the time to score the development data is included.
    """

    seconds: float
    n_epochs: int
    n_steps: int
    has_scoring: bool


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """The result of a training.

    `kind`: kind of the model.
    `folder`: folder of the model.
    `options`: training options.
    `curve`: learning curve.
    `parameters`: number of parameters of the encoder and the other layers.
    `n_entities`: number of entities.
    `counts`: counts of used and skipped mentions, by description.
    `device`: name of the device.
    `has_dev_candidates`: whether development mentions were linked among given candidates.
    """

    kind: Kind
    folder: str
    options: TrainingOptions
    curve: LearningCurve
    parameters: Mapping[str, int]
    n_entities: int
    counts: Mapping[str, int]
    device: str
    has_dev_candidates: bool = False
