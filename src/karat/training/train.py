"""From gold standards to a trained linker in a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from karat.errors import UsageError
from karat.linking.neural.about import Kind, check_train_extra
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.training.curve import CHECKPOINT, Epoch, Trained
from karat.training.plan import TrainingPlan

CURVE: Final = "curve.json"


def train_linker(
    kind: Kind,
    train: Corpus,
    folder: str | os.PathLike[str],
    plan: TrainingPlan | None = None,
    *,
    dev: Corpus | None = None,
    lists: Sequence[Run] = (),
    encoder: str = "minilm",
    vocabulary: Sequence[str] = (),
    resume: bool = False,
    device: str = "",
    tell: Callable[[Epoch], None] = lambda epoch: None,
) -> Trained:
    """Train a linker and write it into a folder; `lists` are answers whose candidates the mentions have.

    The plan is ZELDA's unless another is given, with a sampled softmax for a bi-encoder. A training that was stopped
    goes on with `resume`, as if nothing had come between.
    """
    check_train_extra()
    plan = plan or TrainingPlan(softmax="sampled" if kind == "bi-encoder" else "full")
    folder = Path(folder)
    _check(kind, folder, plan, bool(lists), dev is not None, resume=resume)
    import torch

    from karat.linking.neural.encoder import encoder_folder, read_encoder
    from karat.linking.neural.folder import TrainedLinker
    from karat.linking.neural.models import parameters
    from karat.linking.neural.tokens import WordPieces
    from karat.training.loop import fit
    from karat.training.prepare import training_bed

    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    source = encoder_folder(encoder)
    torch.manual_seed(plan.seed)
    begun = read_encoder(source, plan.dropout)
    if plan.tokens > begun.shape.positions:
        raise UsageError(f"{encoder} reads {begun.shape.positions} tokens at most. Give fewer: --tokens")
    pieces = WordPieces.read(source)
    bed = training_bed(train, dev, lists, pieces, plan.tokens, vocabulary)
    about = {"data": train.name, "size": f"{bed.train.mentions} mentions", "encoder": encoder}
    linker = TrainedLinker.begin(kind, begun, pieces, bed.entities, bed.names, plan.written(), about)
    linker.model.to(torch.device(where))
    curve = fit(linker.model, bed.train, bed.dev, plan, folder=folder, resume=resume, tell=tell)
    linker.save(folder)
    found = Trained(
        kind, str(folder), plan, curve, parameters(linker.model), len(bed.entities), bed.counts, _device(where)
    )
    said = {"curve": curve.written(), "parameters": dict(found.parameters), "counts": dict(bed.counts)}
    (folder / CURVE).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    (folder / CHECKPOINT).unlink()
    return found


def _check(kind: Kind, folder: Path, plan: TrainingPlan, lists: bool, dev: bool, *, resume: bool) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not resume:
        raise UsageError(f"{folder} is there already. Name a new folder, or go on with its training: --resume")
    if resume and not (folder / CHECKPOINT).is_file():
        raise UsageError(f"{folder} holds no checkpoint to go on from. Leave --resume out.")
    if kind == "bi-encoder" and plan.softmax == "full":
        raise UsageError("a bi-encoder cannot read all entities at each step. Say --softmax sampled or listed.")
    if plan.softmax == "listed" and not lists:
        raise UsageError("a softmax over candidates needs candidates. Give answers that have some: --candidates FILE")
    if plan.patience and not dev:
        raise UsageError("early stopping needs a development part. Give one with --dev, or leave --patience out.")


def _device(where: str) -> str:
    import torch

    return torch.cuda.get_device_name() if where.startswith("cuda") else "CPU"
