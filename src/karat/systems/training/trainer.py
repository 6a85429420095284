"""The training loop and its losses: epochs, checkpoints, early stopping and the learning curve."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from math import log
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from karat.model.errors import InputError, UsageError
from karat.systems.linking.neural.cross_encoder import CrossEncoderModel
from karat.systems.linking.neural.inference import candidate_logits, predict_entities
from karat.systems.linking.neural.models import UNKNOWN_ENTITY, EntityModel, LinkingModel, LukeModel, TensorBatch
from karat.systems.linking.neural.snippets import SnippetBatch, Snippets
from karat.systems.linking.neural.title_model import TitleModel
from karat.systems.training.curve import CHECKPOINT, CHECKPOINT_PART, Epoch, LearningCurve, TimeEstimate
from karat.systems.training.options import TrainingOptions

_MAX_LOGITS: Final = 1 << 29  # two gigabytes


_LAYOUT: Final = 3
_SEEDS_PER_RUN: Final = 100_003
_MEASURED_STEPS: Final = 4


def fit(
    model: LinkingModel,
    train: Snippets,
    dev: Snippets | None,
    options: TrainingOptions,
    *,
    pretrain: Snippets | None = None,
    folder: Path | None = None,
    inputs: Mapping[str, str] | None = None,
    resume: bool = False,
    report: Callable[[Epoch], None] = lambda epoch: None,
    announce: Callable[[TimeEstimate], None] = lambda estimate: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> LearningCurve:
    """Train a model in place; it ends with the weights of the best epoch, or of the last epoch without `dev`.

    `pretrain`: data of the first epochs, as many as the options name.
    `folder`: folder for a checkpoint after each epoch.
    `inputs`: digests of everything that is trained with, by description; a checkpoint of others is not resumed.
    `resume`: continue from the checkpoint; the weights are the same as without interruption.
    `report`: called with each finished epoch.
    `announce`: called with the expected duration, after the first steps, and once more if `dev` is to be scored.
    `should_stop`: called after each epoch; True stops the training.
    Training mentions without any entity in the vocabulary, and a loss that is not finite, raise `UsageError`.
    """
    if not (train.gold != UNKNOWN_ENTITY).any():
        raise UsageError("no training mention has an entity in the vocabulary. Pass a gold standard with links.")
    if options.compile_encoder:
        model.encoder.compile()
    trainer = Trainer(model, train, dev, options, pretrain, announce)
    if resume and folder is not None and (folder / CHECKPOINT).exists():
        trainer.restore(_read_checkpoint(folder / CHECKPOINT, options, inputs or {}))
    while not trainer.is_finished:
        report(trainer.run_epoch())
        if folder is not None:
            trainer.save(folder / CHECKPOINT, inputs or {})
        if should_stop():
            break
    return trainer.finish()


class Trainer:
    """The state of a training: model, optimiser, learning curve and the weights of the best epoch.

    `parts`: data of each epoch; the first ones may be for pre-training.
    `steps`: number of batches in all epochs.
    `best_weights`: weights of the best epoch by development accuracy; None without development data.
    """

    def __init__(
        self,
        model: LinkingModel,
        train: Snippets,
        dev: Snippets | None,
        options: TrainingOptions,
        pretrain: Snippets | None = None,
        announce: Callable[[TimeEstimate], None] = lambda estimate: None,
    ) -> None:
        self.model, self.dev, self.options, self.announce = model, dev, options, announce
        n_pretrain = 0 if pretrain is None else options.pretrain_epochs
        self.parts = [*([pretrain] * n_pretrain if pretrain is not None else []), *([train] * options.epochs)]
        self.device = next(model.parameters()).device
        self.optimizer = torch.optim.AdamW(_parameter_groups(model, options), fused=self.device.type in ("cpu", "cuda"))
        self.steps = sum(map(self._count_steps, self.parts))
        self.curve = LearningCurve()
        self.best_weights: dict[str, Tensor] | None = None
        self._has_estimate = False

    def _count_steps(self, part: Snippets) -> int:
        """Return the number of batches of an epoch."""
        return -(-len(part) // self.options.batch_size)

    @property
    def is_finished(self) -> bool:
        """Whether all epochs are done or early stopping applies."""
        return len(self.curve.epochs) >= len(self.parts) or self.curve.stopped_early

    def run_epoch(self) -> Epoch:
        """Train on all windows once, score the development data, add the epoch to the curve and return it.

        The order of the windows depends only on the seed and the number of the epoch. A loss that is not finite
        raises `UsageError`.
        """
        number = len(self.curve.epochs) + 1
        part = self.parts[number - 1]
        is_frozen = number > len(self.parts) - self.options.frozen_epochs
        freeze_entities(self.model, is_frozen=is_frozen)
        mask_prob = self.options.frozen_mask_prob if is_frozen else self.options.mask_prob
        order = self._shuffle(number)
        first_step = sum(map(self._count_steps, self.parts[: number - 1]))
        start, total, mentions, tokens = time.perf_counter(), 0.0, 0, 0
        losses: list[tuple[Tensor, int]] = []
        clock = _Clock(min(_MEASURED_STEPS, self._count_steps(part) - 1))
        self.model.train()
        for step, arrays in enumerate(part.iterate_batches(self.options.batch_size, order)):
            self._set_learning_rate(first_step + step)
            batch = TensorBatch.from_arrays(arrays, self.device)
            losses.append(self._train_step(batch, mask_prob))
            mentions += len(arrays.gold)
            tokens += int(arrays.lengths.sum())
            if not self._has_estimate and clock.tick(self._cost(arrays)):
                self._announce(number, clock.seconds_per_token, max(1, clock.n_steps))
        n_predictions = sum(count for _, count in losses)
        total = sum(float(loss) * count for loss, count in losses)
        if not np.isfinite(total):
            raise UsageError(f"the loss of epoch {number} is not finite. Lower the learning rate.")
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        accuracy = self._evaluate() if number > len(self.parts) - self.options.epochs else None
        if accuracy is not None and self.curve.accuracy is None and number < len(self.parts):
            scoring = (time.perf_counter() - start) * (len(self.parts) - number)
            self._announce(number + 1, seconds / max(1, self._cost(part)), len(losses), scoring)
        epoch = Epoch(number, total / max(1, n_predictions), accuracy, seconds, mentions, tokens, self._learning_rate())
        self._record_epoch(epoch)
        return epoch

    def _announce(self, number: int, seconds_per_token: float, n_steps: int, scoring: float = 0.0) -> None:
        """Announce the duration of the epochs from `number` on; `scoring` is that of scoring development data."""
        self._has_estimate = True
        parts = self.parts[number - 1 :]
        seconds = seconds_per_token * sum(map(self._cost, parts)) + scoring
        self.announce(TimeEstimate(seconds, len(parts), n_steps, self.dev is None or scoring > 0))

    def _cost(self, part: Snippets | SnippetBatch) -> int:
        """Return the cost of a step or an epoch in tokens; a written token costs twice as much as one that is read."""
        n_read = len(part.tokens) if isinstance(part, Snippets) else int(part.lengths.sum())
        if not isinstance(self.model, TitleModel):
            return n_read
        return n_read + 2 * sum(len(self.model.titles[code]) for code in part.gold.tolist())

    def _shuffle(self, number: int) -> NDArray[np.intp]:
        """Seed PyTorch for epoch `number` and return a random order of the windows, as indices."""
        torch.manual_seed(self.options.seed * _SEEDS_PER_RUN + number)
        return np.random.default_rng((self.options.seed, number)).permutation(len(self.parts[number - 1]))

    def _set_learning_rate(self, step: int) -> None:
        """Set the learning rate of a step: a linear rise over the warm-up steps, then a linear fall to 0."""
        warm_up_steps = max(1, round(self.steps * self.options.warm_up))
        factor = (
            (step + 1) / warm_up_steps
            if step < warm_up_steps
            else max(0.0, (self.steps - step) / max(1, self.steps - warm_up_steps))
        )
        for group in self.optimizer.param_groups:
            group["lr"] = group["full"] * factor

    def _learning_rate(self) -> float:
        """Return the current learning rate of the encoder."""
        return float(self.optimizer.param_groups[0]["lr"])

    def _train_step(self, batch: TensorBatch, mask_prob: float) -> tuple[Tensor, int]:
        """Update the weights with one batch; return the batch's mean loss and number of counted mentions."""
        known_entities, mentions = _mask_entities(self.model, batch, mask_prob)
        if not len(mentions):
            return torch.zeros((), device=self.device), 0
        with _mixed_precision(self.device, bf16=self.options.bf16):
            loss = self._compute_loss(batch, known_entities, mentions)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.options.clip)
        self.optimizer.step()
        return loss.detach(), len(mentions)

    def _compute_loss(self, batch: TensorBatch, known_entities: Tensor | None, mentions: Tensor) -> Tensor:
        """Return the mean loss of some mentions of a batch, given by index."""
        model = self.model
        if isinstance(model, TitleModel):
            return model.title_loss(model.encode_texts(batch).select(mentions), batch.gold[mentions])
        if isinstance(model, CrossEncoderModel):
            return pair_loss(model, batch, mentions, self.options.hard_negatives)
        assert isinstance(model, EntityModel)
        return compute_loss(model, batch, mentions, model.encode_mentions(batch, known_entities), self.options)

    def _evaluate(self) -> float | None:
        """Return the share of development mentions that are linked correctly, or None without development data.

        Candidates are used if there are any. Mentions whose entity is not in the vocabulary count as wrong.
        """
        if self.dev is None or not self.dev.n_mentions:
            return None
        has_candidates = len(self.dev.candidates) > 0
        predicted = predict_entities(
            self.model, self.dev, use_candidates=has_candidates, batch_size=self.options.batch_size
        ).best_codes
        return float((predicted == self.dev.gold)[self.dev.gold != UNKNOWN_ENTITY].sum() / self.dev.n_mentions)

    def _record_epoch(self, epoch: Epoch) -> None:
        """Add an epoch to the curve, copy the weights of the best epoch, and decide whether to stop early."""
        epochs = (*self.curve.epochs, epoch)
        best_accuracy = self.curve.accuracy
        is_better = epoch.accuracy is None or best_accuracy is None or epoch.accuracy > best_accuracy
        # epochs before fine-tuning do not compete with it
        is_better |= (
            bool(self.options.frozen_epochs) and epoch.number == len(self.parts) - self.options.frozen_epochs + 1
        )
        best_epoch = epoch.number if is_better else self.curve.best_epoch
        is_stopped = bool(self.options.patience) and epoch.number - best_epoch >= self.options.patience
        self.curve = LearningCurve(epochs, best_epoch, is_stopped)
        if is_better and self.dev is not None:
            self.best_weights = {name: weights.detach().clone() for name, weights in self.model.state_dict().items()}

    def finish(self) -> LearningCurve:
        """Set the model to the weights of the best epoch and to evaluation mode; return the curve."""
        if self.best_weights is not None:
            self.model.load_state_dict(self.best_weights)
        freeze_entities(self.model, is_frozen=False)
        self.model.eval()
        return self.curve

    def save(self, path: Path, inputs: Mapping[str, str]) -> None:
        """Write a checkpoint file with `inputs`; the previous one remains until it is complete.

        Raise `UsageError` if that fails.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(CHECKPOINT_PART)
        state = {
            "layout": _LAYOUT,
            "options": self.options.to_dict(),
            "inputs": dict(inputs),
            "curve": self.curve.to_dict(),
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "best_weights": self.best_weights,
        }
        try:
            torch.save(state, part)
            part.replace(path)
        except (OSError, RuntimeError) as problem:  # torch reports a full disk as RuntimeError
            part.unlink(missing_ok=True)
            raise UsageError(
                f"{path} cannot be written ({problem}). Free some disk space, and continue with --resume."
            ) from None

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the state of a checkpoint; raise `UsageError` if it belongs to another model."""
        try:
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
        except (RuntimeError, ValueError) as problem:
            message = str(problem).replace("\n", " ")
            raise UsageError(f"the checkpoint belongs to another model ({message}). Use another folder.") from None
        self.curve = LearningCurve.from_dict(state["curve"])
        self.best_weights = state["best_weights"]


def _read_checkpoint(path: Path, options: TrainingOptions, inputs: Mapping[str, str]) -> dict[str, Any]:
    """Read a checkpoint file; raise `InputError` if it is invalid, `UsageError` if it has other options or inputs."""
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        layout, saved_options = state["layout"], TrainingOptions.from_dict(state["options"])
    except Exception as problem:  # noqa: BLE001  # torch raises various exceptions
        raise InputError(
            str(path), actual=str(problem), expected="a checkpoint", remedy="Delete it and train again"
        ) from None
    if layout != _LAYOUT:
        raise InputError(str(path), actual=f"layout {layout}", expected=f"layout {_LAYOUT}", remedy="Train again")
    if saved_options != options:
        values = options.to_dict()
        differences = [
            f"{name} {value}, not {values[name]}"
            for name, value in saved_options.to_dict().items()
            if value != values[name]
        ]
        raise UsageError(
            f"{path} was trained with {'; '.join(differences)}. Use the same options, or train in a new folder."
        )
    saved_inputs = state.get("inputs", {})
    differences = [name for name in {**saved_inputs, **inputs} if saved_inputs.get(name) != inputs.get(name)]
    if differences:
        raise UsageError(
            f"{path} was trained with other {', '.join(differences)}. Use the same, or train in a new folder."
        )
    return state


class _Clock:
    """A measurement of the first steps after the very first, which is slower."""

    def __init__(self, n_steps: int) -> None:
        self.n_steps, self._step, self._tokens = n_steps, 0, 0
        self._start = time.perf_counter()
        self.seconds_per_token = 0.0

    def tick(self, tokens: int) -> bool:
        """Note the end of a step with `tokens` tokens; return whether the measurement is complete now."""
        self._tokens += tokens
        if self._step == self.n_steps:
            self.seconds_per_token = (time.perf_counter() - self._start) / max(1, self._tokens)
        elif self._step == 0:
            self._start, self._tokens = time.perf_counter(), 0
        self._step += 1
        return self._step == self.n_steps + 1


def freeze_entities(model: LinkingModel, *, is_frozen: bool) -> None:
    """Freeze the vectors and biases of the entities of a LUKE model, or let them learn; others stay unchanged."""
    if isinstance(model, LukeModel):
        model.table.weight.requires_grad_(not is_frozen)
        model.weights.requires_grad_(not is_frozen)


def _parameter_groups(model: LinkingModel, options: TrainingOptions) -> list[dict[str, Any]]:
    """Return AdamW's parameter groups: the encoder and the other layers, each with its learning rate.

    `full` is the rate before the schedule.
    """
    encoder = [weights for name, weights in model.named_parameters() if name.startswith("encoder.")]
    head = [weights for name, weights in model.named_parameters() if not name.startswith("encoder.")]
    rates = (
        options.learning_rate,
        options.learning_rate if options.head_learning_rate is None else options.head_learning_rate,
    )
    return [
        {"params": weights, "lr": rate, "full": rate, "weight_decay": options.decay}
        for weights, rate in zip((encoder, head), rates, strict=True)
    ]


def _mask_entities(model: LinkingModel, batch: TensorBatch, mask_prob: float) -> tuple[Tensor | None, Tensor]:
    """Return the entity codes that the model sees, and the indices of the mentions to predict.

    A LUKE model sees the gold entities of mentions that are not masked, -1 for the others, and predicts masked ones,
    at least one. Other models see none (None) and predict all. All mentions to predict have a gold entity.
    """
    has_gold = batch.gold != UNKNOWN_ENTITY
    if not isinstance(model, LukeModel):
        return None, has_gold.nonzero()[:, 0]
    is_masked = torch.rand(len(batch.gold), device=batch.gold.device) < mask_prob
    is_masked |= ~has_gold
    if not bool((is_masked & has_gold).any()):  # mask at least one
        is_masked = ~has_gold | (torch.arange(len(has_gold), device=has_gold.device) == int(has_gold.int().argmax()))
    return torch.where(is_masked, UNKNOWN_ENTITY, batch.gold), (is_masked & has_gold).nonzero()[:, 0]


def _mixed_precision(device: torch.device, *, bf16: bool) -> AbstractContextManager[Any]:
    """Return a context manager for bfloat16 mixed precision; it does nothing without `bf16` or if it would be slow."""
    is_fast = device.type != "cpu" or _has_bf16_instructions()
    return torch.autocast(device.type, dtype=torch.bfloat16) if bf16 and is_fast else nullcontext()


@cache
def _has_bf16_instructions() -> bool:
    """Return whether the CPU multiplies bfloat16 numbers, as PyTorch reports it."""
    capabilities = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return any(capabilities.get(name) for name in ("avx512_bf16", "amx_bf16", "sve_bf16"))


def pair_loss(model: CrossEncoderModel, batch: TensorBatch, mentions: Tensor, n_negatives: int) -> Tensor:
    """Return the mean cross-entropy of the gold entity over some random candidates of each mention.

    `mentions`: indices of the mentions that count; each needs a gold entity in the vocabulary.
    `n_negatives`: number of candidates per mention, 1 at least; random entities fill up short lists.
    """
    gold, candidates = batch.gold[mentions], batch.candidates[mentions]
    n_negatives = max(1, min(n_negatives, model.n_entities - 1))
    priority = torch.rand(candidates.shape, device=gold.device)
    priority = priority.masked_fill((candidates == UNKNOWN_ENTITY) | (candidates == gold[:, None]), -1.0)
    best = F.pad(priority, (0, n_negatives), value=-1.0).topk(n_negatives, dim=1)
    others = torch.randint(model.n_entities - 1, best.indices.shape, device=gold.device)
    others += others >= gold[:, None]  # any entity but the gold one
    chosen = F.pad(candidates, (0, n_negatives), value=UNKNOWN_ENTITY).gather(1, best.indices)
    negatives = torch.where(best.values < 0, others, chosen)
    entities = torch.full((len(batch.gold), 1 + n_negatives), UNKNOWN_ENTITY, device=gold.device)
    entities[mentions] = torch.cat((gold[:, None], negatives), dim=1)
    return F.cross_entropy(model.score_candidates(batch, entities)[mentions], torch.zeros_like(gold))


def compute_loss(
    model: EntityModel, batch: TensorBatch, mentions: Tensor, vectors: Tensor, options: TrainingOptions
) -> Tensor:
    """Return the mean cross-entropy of the gold entities, with the softmax that the options name.

    `mentions`: indices of the mentions that count; each needs a gold entity in the vocabulary.
    `vectors`: vectors of all mentions of the batch.
    """
    vectors, gold = vectors[mentions], batch.gold[mentions]
    if options.softmax == "full":
        return full_softmax_loss(model, vectors, gold)
    candidates = batch.candidates[mentions]
    if options.softmax == "sampled":
        return sampled_softmax_loss(model, vectors, gold, candidates, options)
    return candidate_softmax_loss(model, vectors, gold, candidates)


def full_softmax_loss(model: EntityModel, vectors: Tensor, gold: Tensor) -> Tensor:
    """Return the mean cross-entropy over all entities; logits are computed in parts that fit into memory.

    `vectors`, `gold`: vector and gold code of each mention.
    """
    bias = model.bias()
    bias = bias if isinstance(bias, Tensor) else vectors.new_zeros(model.n_entities)
    loss: Tensor = _FullSoftmax.apply(vectors, model.encode_entities(), bias, gold)
    return loss


class _FullSoftmax(torch.autograd.Function):
    """The mean cross-entropy of `vectors @ table.T + bias`, with gradients computed in the forward pass.

    No logit is stored or computed twice. Products have the type of the vectors, sums are float32.
    """

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, table: Tensor, bias: Tensor, gold: Tensor) -> Tensor:  # noqa: ANN401
        """Return the mean loss, and save its gradients in `ctx` for `backward`."""
        vectors, gold = vectors.detach(), gold.detach()
        table_values = table.detach().to(vectors.dtype)
        vector_gradient, table_gradient = torch.empty_like(vectors), torch.zeros_like(table, dtype=torch.float32)
        bias_gradient = torch.zeros_like(bias, dtype=torch.float32)
        total = torch.zeros((), device=vectors.device)
        size = max(1, _MAX_LOGITS // len(table))
        with torch.autocast(vectors.device.type, enabled=False):
            for low in range(0, len(vectors), size):
                part, gold_part = vectors[low : low + size], gold[low : low + size, None]
                logits = part @ table_values.T + bias.detach().to(part.dtype)
                log_probabilities = torch.log_softmax(logits, dim=1, dtype=torch.float32)
                total -= log_probabilities.gather(1, gold_part).sum()
                log_probabilities.exp_().scatter_add_(1, gold_part, log_probabilities.new_full(gold_part.shape, -1.0))
                bias_gradient += log_probabilities.sum(0)
                errors = log_probabilities.to(part.dtype)
                vector_gradient[low : low + size] = errors @ table_values
                table_gradient += errors.T @ part
        ctx.save_for_backward(*(gradient / len(gold) for gradient in (vector_gradient, table_gradient, bias_gradient)))
        return total / len(gold)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """Return the saved gradients of vectors, table and bias, times the gradient `upstream` of the loss."""
        vector_gradient, table_gradient, bias_gradient = ctx.saved_tensors
        return vector_gradient * upstream, table_gradient * upstream, bias_gradient * upstream, None


def sampled_softmax_loss(
    model: EntityModel, vectors: Tensor, gold: Tensor, candidates: Tensor, options: TrainingOptions
) -> Tensor:
    """Return the mean cross-entropy over a sample: gold entities of the batch, some candidates and random negatives.

    `vectors`, `gold`, `candidates`: vector, gold code and candidate codes (padded with -1) of each mention.
    `options`: give the numbers of candidates per mention and of random negatives.
    The random negatives are weighted by the number of entities they represent, so that the expected denominator is
    that of the full softmax.
    """
    n_entities = model.n_entities
    positives = torch.cat((gold, _sample_candidates(candidates, options.hard_negatives)))
    positives = torch.unique(positives[positives != UNKNOWN_ENTITY])
    negatives = torch.randint(n_entities, (min(options.negatives, n_entities),), device=gold.device)
    negatives = negatives[~torch.isin(negatives, positives)]
    codes = torch.cat((positives, negatives))
    logits = vectors @ model.encode_entities(codes).T + model.bias(codes)
    log_weights = logits.new_zeros(len(codes))
    if len(negatives):
        log_weights[len(positives) :] = log(max(1.0, (n_entities - len(positives)) / len(negatives)))
    return F.cross_entropy((logits + log_weights).float(), torch.searchsorted(positives, gold))


def _sample_candidates(candidates: Tensor, n_samples: int) -> Tensor:
    """Return `n_samples` random candidates of each mention, with replacement, in one array; padding (-1) may occur."""
    if not n_samples:
        return candidates.new_zeros(0)
    indices = torch.randint(candidates.shape[1], (len(candidates), n_samples), device=candidates.device)
    return candidates.gather(1, indices).flatten()


def candidate_softmax_loss(model: EntityModel, vectors: Tensor, gold: Tensor, candidates: Tensor) -> Tensor:
    """Return the mean cross-entropy over the candidates of each mention and its gold entity; -1 is padding."""
    negatives = torch.where(candidates == gold[:, None], UNKNOWN_ENTITY, candidates)
    entities = torch.cat((gold[:, None], negatives), dim=1)
    return F.cross_entropy(candidate_logits(model, entities, vectors), torch.zeros_like(gold))
