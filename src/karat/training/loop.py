"""The training loop: epochs, checkpoints, early stopping, and the curve that tells how it went."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from karat.errors import InputError, UsageError
from karat.linking.neural.decide import decide
from karat.linking.neural.models import MASKED, EntityModel, LukeModel, TensorBatch
from karat.linking.neural.snippets import Snippets
from karat.training.curve import CHECKPOINT, Epoch, LearningCurve
from karat.training.losses import loss_of
from karat.training.plan import TrainingPlan

_LAYOUT: Final = 1
_SEEDS_PER_RUN: Final = 100_003


def fit(
    model: EntityModel,
    train: Snippets,
    dev: Snippets | None,
    plan: TrainingPlan,
    *,
    folder: Path | None = None,
    resume: bool = False,
    tell: Callable[[Epoch], None] = lambda epoch: None,
    until: Callable[[], bool] = lambda: False,
) -> LearningCurve:
    """Train a model in place; at the end it has the weights of the best epoch, or of the last one without `dev`.

    With a `folder`, each epoch leaves a checkpoint, and `resume` goes on from it, to the same weights as if nothing had
    come between. `until` is asked after each epoch whether to stop there.
    """
    if not (train.gold != MASKED).any():
        raise UsageError(
            "no mention of the training part has an entity of the vocabulary. Give a gold standard with links."
        )
    if plan.compiled:
        model.encoder.compile()
    training = _Training(model, train, dev, plan)
    if resume and folder is not None and (folder / CHECKPOINT).exists():
        training.restore(_read(folder / CHECKPOINT, plan))
    while not training.done:
        tell(training.epoch())
        if folder is not None:
            training.save(folder / CHECKPOINT)
        if until():
            break
    return training.finish()


class _Training:
    """A model on its way."""

    def __init__(self, model: EntityModel, train: Snippets, dev: Snippets | None, plan: TrainingPlan) -> None:
        self.model, self.train, self.dev, self.plan = model, train, dev, plan
        self.device = next(model.parameters()).device
        self.optimizer = torch.optim.AdamW(_groups(model, plan), fused=self.device.type == "cuda")
        self.steps = -(-len(train) // plan.batch) * plan.epochs
        self.curve = LearningCurve()
        self.kept: dict[str, Tensor] | None = None

    @property
    def done(self) -> bool:
        """Whether all epochs have been, or none got better for too long."""
        return len(self.curve.epochs) >= self.plan.epochs or self.curve.stopped_early

    def epoch(self) -> Epoch:
        """One pass, in an order that follows from the seed and the number of the epoch alone."""
        number = len(self.curve.epochs) + 1
        order = self._seed(number)
        start, total, mentions, tokens = time.perf_counter(), 0.0, 0, 0
        losses: list[tuple[Tensor, int]] = []
        self.model.train()
        for step, arrays in enumerate(self.train.batches(self.plan.batch, order)):
            self._pace((number - 1) * (self.steps // self.plan.epochs) + step)
            batch = TensorBatch.of(arrays, self.device)
            losses.append(self._step(batch))
            mentions += len(arrays.gold)
            tokens += int(arrays.lengths.sum())
        asked = sum(count for _, count in losses)
        total = sum(float(loss) * count for loss, count in losses)
        if not np.isfinite(total):
            raise UsageError(f"the loss of epoch {number} is no number any more. Lower the learning rate.")
        seconds = time.perf_counter() - start
        found = Epoch(number, total / max(1, asked), self._accuracy(), seconds, mentions, tokens, self._rate())
        self._keep(found)
        return found

    def _seed(self, number: int) -> NDArray[np.intp]:
        torch.manual_seed(self.plan.seed * _SEEDS_PER_RUN + number)
        return np.random.default_rng((self.plan.seed, number)).permutation(len(self.train))

    def _pace(self, step: int) -> None:
        """The learning rate rises in a line over the first steps, and falls in a line to nought."""
        warm = max(1, round(self.steps * self.plan.warm_up))
        part = (step + 1) / warm if step < warm else max(0.0, (self.steps - step) / max(1, self.steps - warm))
        for group in self.optimizer.param_groups:
            group["lr"] = group["full"] * part

    def _rate(self) -> float:
        return float(self.optimizer.param_groups[0]["lr"])

    def _step(self, batch: TensorBatch) -> tuple[Tensor, int]:
        known, asked = _shown(self.model, batch, self.plan.masked)
        if not len(asked):
            return torch.zeros((), device=self.device), 0
        with _mixed(self.device, half=self.plan.half):
            loss = loss_of(self.model, batch, asked, self.model.mentions(batch, known), self.plan)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.plan.clip)
        self.optimizer.step()
        return loss.detach(), len(asked)

    def _accuracy(self) -> float | None:
        if self.dev is None or not self.dev.mentions:
            return None
        listed = len(self.dev.candidates) > 0
        found = decide(self.model, self.dev, listed=listed, batch=self.plan.batch).decided
        return float((found == self.dev.gold)[self.dev.gold != MASKED].sum() / self.dev.mentions)

    def _keep(self, epoch: Epoch) -> None:
        epochs = (*self.curve.epochs, epoch)
        best = self.curve.accuracy
        better = epoch.accuracy is None or best is None or epoch.accuracy > best
        kept = epoch.number if better else self.curve.best
        late = bool(self.plan.patience) and epoch.number - kept >= self.plan.patience
        self.curve = LearningCurve(epochs, kept, late)
        if better and self.dev is not None:
            self.kept = {name: weights.detach().clone() for name, weights in self.model.state_dict().items()}

    def finish(self) -> LearningCurve:
        """Go back to the best epoch."""
        if self.kept is not None:
            self.model.load_state_dict(self.kept)
        self.model.eval()
        return self.curve

    def save(self, path: Path) -> None:
        """Write all that is needed to go on; the file before stays until the new one is whole."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".part")
        state = {
            "layout": _LAYOUT,
            "plan": self.plan.written(),
            "curve": self.curve.written(),
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "kept": self.kept,
        }
        try:
            torch.save(state, fresh)
            fresh.replace(path)
        except (OSError, RuntimeError) as problem:  # torch says a full disk so
            fresh.unlink(missing_ok=True)
            raise UsageError(
                f"{path} cannot be written ({problem}). Make room; --resume goes on from the last one."
            ) from None

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to where a checkpoint was written."""
        try:
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
        except (RuntimeError, ValueError) as problem:
            said = str(problem).replace("\n", " ")
            raise UsageError(f"the checkpoint is of another model ({said}). Train into another folder.") from None
        self.curve = LearningCurve.read(state["curve"])
        self.kept = state["kept"]


def _read(path: Path, plan: TrainingPlan) -> dict[str, Any]:
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        layout, there = state["layout"], TrainingPlan.read(state["plan"])
    except Exception as problem:  # noqa: BLE001  # torch raises what it likes
        raise InputError(
            str(path), found=str(problem), expected="a checkpoint", remedy="Remove it, and train anew"
        ) from None
    if layout != _LAYOUT:
        raise InputError(str(path), found=f"layout {layout}", expected=f"layout {_LAYOUT}", remedy="Train anew")
    if there != plan:
        other = [name for name, value in there.written().items() if value != plan.written()[name]]
        raise UsageError(f"{path} was trained with another {', '.join(other)}. Give the same, or train anew.")
    return state


def _groups(model: EntityModel, plan: TrainingPlan) -> list[dict[str, Any]]:
    """The weights of the encoder and all others, each with their full learning rate."""
    encoder = [weights for name, weights in model.named_parameters() if name.startswith("encoder.")]
    head = [weights for name, weights in model.named_parameters() if not name.startswith("encoder.")]
    rates = (plan.rate, plan.rate if plan.head_rate is None else plan.head_rate)
    return [
        {"params": weights, "lr": rate, "full": rate, "weight_decay": plan.decay}
        for weights, rate in zip((encoder, head), rates, strict=True)
    ]


def _shown(model: EntityModel, batch: TensorBatch, masked: float) -> tuple[Tensor | None, Tensor]:
    """Which entities the model is shown, and which mentions it is asked about, all of which have a gold entity."""
    linked = batch.gold != MASKED
    if not isinstance(model, LukeModel):
        return None, linked.nonzero()[:, 0]
    hidden = torch.rand(len(batch.gold), device=batch.gold.device) < masked
    hidden |= ~linked
    if not bool((hidden & linked).any()):  # at least one
        hidden = ~linked | (torch.arange(len(linked), device=linked.device) == int(linked.int().argmax()))
    return torch.where(hidden, MASKED, batch.gold), (hidden & linked).nonzero()[:, 0]


def _mixed(device: torch.device, *, half: bool) -> AbstractContextManager[Any]:
    """Products in bf16, sums and weights in full, where that is asked for; not on a CPU, which is slower by it."""
    return torch.autocast(device.type, dtype=torch.bfloat16) if half and device.type != "cpu" else nullcontext()
