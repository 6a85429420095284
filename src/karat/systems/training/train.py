"""Training of a model from gold standards into a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.run import Run
from karat.systems.linking.neural.metadata import Kind, check_train_extra
from karat.systems.training.curve import CHECKPOINT, Epoch, TrainingResult
from karat.systems.training.options import TrainingOptions

CURVE: Final = "curve.json"


def train_linker(
    kind: Kind,
    train: Corpus,
    folder: str | os.PathLike[str],
    options: TrainingOptions | None = None,
    *,
    dev: Corpus | None = None,
    candidate_runs: Sequence[Run] = (),
    encoder: str = "minilm",
    vocabulary: Sequence[str] = (),
    resume: bool = False,
    device: str = "",
    report: Callable[[Epoch], None] = lambda epoch: None,
) -> TrainingResult:
    """Train a model and write it to `folder`, with its learning curve; return a summary.

    `train`: training data.
    `folder`: new or empty folder, or that of an interrupted training.
    `options`: by default those of ZELDA, with a sampled softmax for a bi-encoder.
    `dev`: development data, scored after each epoch.
    `candidate_runs`: predictions whose candidates the mentions on the same spans get.
    `encoder`: `minilm`, or the folder of a BERT model.
    `vocabulary`: entities that can be linked; by default those of the training data and the candidates.
    `resume`: continue an interrupted training; the result is the same as without interruption.
    `device`: device of PyTorch; by default a GPU if there is one.
    `report`: called with each finished epoch.
    Arguments that do not fit together raise `UsageError`; missing packages raise `KaratError`.
    """
    check_train_extra()
    options = options or TrainingOptions(softmax="sampled" if kind == "bi-encoder" else "full")
    folder = Path(folder)
    _check_arguments(kind, folder, options, bool(candidate_runs), dev is not None, resume=resume)
    import torch

    from karat.systems.linking.neural.encoder import find_encoder_folder, load_encoder
    from karat.systems.linking.neural.models import count_parameters
    from karat.systems.linking.neural.tokens import WordPieces
    from karat.systems.linking.neural.trained_linker import TrainedLinker
    from karat.systems.training.data import prepare_training_data
    from karat.systems.training.trainer import fit

    device_name = device or ("cuda" if torch.cuda.is_available() else "cpu")
    source = find_encoder_folder(encoder)
    torch.manual_seed(options.seed)
    bert = load_encoder(source, options.dropout)
    if options.max_length > bert.config.max_positions:
        raise UsageError(f"{encoder} reads {bert.config.max_positions} tokens at most. Lower --max-length.")
    pieces = WordPieces.load(source)
    data = prepare_training_data(train, dev, candidate_runs, pieces, options.max_length, vocabulary)
    metadata = {"data": train.name, "size": f"{data.train.n_mentions} mentions", "encoder": encoder}
    linker = TrainedLinker.create(kind, bert, pieces, data.entities, data.names, options.to_dict(), metadata)
    linker.model.to(torch.device(device_name))
    curve = fit(linker.model, data.train, data.dev, options, folder=folder, resume=resume, report=report)
    linker.save(folder)
    result = TrainingResult(
        kind,
        str(folder),
        options,
        curve,
        count_parameters(linker.model),
        len(data.entities),
        data.counts,
        _describe_device(device_name),
    )
    record = {"curve": curve.to_dict(), "parameters": dict(result.parameters), "counts": dict(data.counts)}
    (folder / CURVE).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (folder / CHECKPOINT).unlink()
    return result


def _check_arguments(
    kind: Kind, folder: Path, options: TrainingOptions, has_candidates: bool, has_dev: bool, *, resume: bool
) -> None:
    """Raise `UsageError` if the folder cannot be used or the options need data that are missing."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not resume:
        raise UsageError(f"{folder} is not empty. Name a new folder, or resume its training with --resume.")
    if resume and not (folder / CHECKPOINT).is_file():
        raise UsageError(f"{folder} has no checkpoint. Omit --resume.")
    if kind == "bi-encoder" and options.softmax == "full":
        raise UsageError("a bi-encoder cannot encode all entities in each step. Use --softmax sampled or listed.")
    if options.softmax == "listed" and not has_candidates:
        raise UsageError(
            "a softmax over candidates needs candidates. Pass predictions with candidates: --candidates FILE"
        )
    if options.patience and not has_dev:
        raise UsageError("early stopping needs development data. Pass it with --dev, or omit --patience.")


def _describe_device(device_name: str) -> str:
    """Return the product name of the GPU, or `CPU`."""
    import torch

    return torch.cuda.get_device_name() if device_name.startswith("cuda") else "CPU"
