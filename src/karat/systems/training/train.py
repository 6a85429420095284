"""Training of a model from gold standards into a folder."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.output.text_layout import format_count
from karat.model.run import Run
from karat.systems.linking.lexicon import snapshot_metadata
from karat.systems.linking.neural.metadata import (
    CONTEXT_KINDS,
    DESCRIPTION_KINDS,
    METADATA_FILE,
    Kind,
    check_train_extra,
)
from karat.systems.linking.trie import MAX_STEPS
from karat.systems.training.curve import CHECKPOINT, CHECKPOINT_PART, Epoch, TimeEstimate, TrainingResult
from karat.systems.training.model_card import collect_facts, write_card
from karat.systems.training.options import TrainingOptions, adapt_preset, get_preset

if TYPE_CHECKING:
    from karat.systems.linking.neural.models import LinkingModel

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
    bart: str = "",
    vocabulary: Sequence[str] = (),
    kb: str = "",
    resume: bool = False,
    device: str = "",
    report: Callable[[Epoch], None] = lambda epoch: None,
    announce: Callable[[TimeEstimate], None] = lambda estimate: None,
) -> TrainingResult:
    """Train a model and write it to `folder`, with its learning curve and a model card; return a summary.

    `train`: training data.
    `folder`: new or empty folder, or that of an interrupted training.
    `options`: by default those of ZELDA, adapted to the kind.
    `dev`: development data, scored after each epoch.
    `candidate_runs`: predictions whose candidates the mentions on the same spans get.
    `encoder`: `minilm`, or the folder of a BERT model.
    `bart`: folder of a BART in Hugging Face's layout, which replaces the encoder (genre); may be empty.
    `vocabulary`: entities that can be linked; by default those of the training data and the candidates.
    `kb`: snapshots with names, aliases and descriptions of the entities, joined by `+`; may be empty.
    `resume`: continue an interrupted training; the result is the same as without interruption.
    `device`: device of PyTorch; by default a GPU if there is one.
    `report`: called with each finished epoch.
    `announce`: called with the expected duration, after some steps and after the first epoch.
    Arguments that do not fit together raise `UsageError`; missing packages raise `KaratError`.
    """
    options = options or adapt_preset(
        get_preset("zelda"),
        kind,
        has_dev=dev is not None,
        has_candidates=bool(candidate_runs),
        has_bart=bool(bart),
    )
    folder = Path(folder)
    _check_arguments(kind, folder, options, bool(candidate_runs), dev is not None, bart, kb, resume=resume)
    check_train_extra(encoder, needs_bart=bool(bart))
    import torch

    from karat.systems.linking.neural.models import count_parameters
    from karat.systems.linking.neural.trained_linker import TrainedLinker
    from karat.systems.training.preparation import prepare_training_data
    from karat.systems.training.trainer import fit

    device_name = device or ("cuda" if torch.cuda.is_available() else "cpu")
    _check_device(device_name)
    torch.manual_seed(options.seed)
    reader, pieces = _load_reader(kind, encoder, bart, options)
    data = prepare_training_data(train, dev, candidate_runs, pieces, options, vocabulary, kind=kind, kb=kb)
    metadata = {"data": train.name, "size": format_count(data.train.n_mentions, "mention"), "encoder": bart or encoder}
    if kb:
        metadata |= snapshot_metadata(kb)
    linker = TrainedLinker.create(
        kind, reader, pieces, data.entities, data.names, options.to_dict(), metadata, data.descriptions
    )
    linker.model.to(torch.device(device_name))
    counts = {**data.counts, **_count_unwritable(linker.model)}
    curve = fit(
        linker.model,
        data.train,
        data.dev,
        options,
        pretrain=data.pretrain,
        folder=folder,
        inputs={
            "training data": train.digest,
            "development data": "" if dev is None else dev.digest,
            "candidates": " ".join(run.digest for run in candidate_runs),
            "entities": hashlib.sha256(json.dumps([data.entities, data.names, data.descriptions]).encode()).hexdigest()[
                :16
            ],
            "encoder": Path(bart or encoder).name,
        },
        resume=resume,
        report=report,
        announce=announce,
    )
    linker.save(folder)
    result = TrainingResult(
        kind,
        str(folder),
        options,
        curve,
        count_parameters(linker.model),
        len(data.entities),
        counts,
        _describe_device(device_name),
        data.dev is not None and len(data.dev.candidates) > 0,
    )
    record = {"curve": curve.to_dict(), "parameters": dict(result.parameters), "counts": counts}
    (folder / CURVE).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    write_card(folder, collect_facts(result, train, dev, bart or encoder), datasets=(train.name,))
    (folder / CHECKPOINT).unlink()
    return result


def _load_reader(kind: Kind, encoder: str, bart: str, options: TrainingOptions) -> tuple[Any, Any]:
    """Load the BERT encoder or the BART that reads the texts, and its tokenizer.

    Raise `UsageError` if the windows are longer than it can read.
    """
    from karat.systems.linking.neural.bart import BartPieces, load_bart
    from karat.systems.linking.neural.encoder import find_encoder_folder, load_encoder
    from karat.systems.linking.neural.tokens import WordPieces
    from karat.systems.linking.neural.trained_linker import MAX_DESCRIPTION_LENGTH

    if bart:
        reader = load_bart(Path(bart), dropout=options.dropout)
        pieces: Any = BartPieces.load(Path(bart), reader.config.bos_token_id, reader.config.eos_token_id)
        max_positions = reader.config.max_position_embeddings
    else:
        source = find_encoder_folder(encoder)
        reader = load_encoder(source, options.dropout)
        pieces, max_positions = WordPieces.load(source), reader.config.max_positions
    room = MAX_DESCRIPTION_LENGTH if kind == "cross-encoder" else 0
    if options.max_length + room > max_positions:
        needs = f", and a candidate needs {room} of them" if room else ""
        raise UsageError(f"{bart or encoder} reads {max_positions} tokens at most{needs}. Lower --max-length.")
    return reader, pieces


def _check_arguments(
    kind: Kind,
    folder: Path,
    options: TrainingOptions,
    has_candidates: bool,
    has_dev: bool,
    bart: str,
    kb: str,
    *,
    resume: bool,
) -> None:
    """Raise `UsageError` if the folder cannot be used or the options need data that are missing."""
    _check_folder(folder, resume=resume)
    if kind == "bi-encoder" and options.softmax == "full":
        raise UsageError("a bi-encoder cannot encode all entities in each step. Use --softmax sampled or listed.")
    if kind in CONTEXT_KINDS and options.softmax != "full":
        raise UsageError(f"a {kind} has no softmax over entities. Omit --softmax.")
    if bart and kind != "genre":
        raise UsageError(f"a {kind} cannot use a BART. Omit --model, or train genre.")
    if kb and kind not in DESCRIPTION_KINDS:
        raise UsageError(f"a {kind} reads no names and descriptions. Omit --kb.")
    if options.frozen_epochs and kind != "luke-ft":
        raise UsageError(f"a {kind} has no frozen epochs. Train luke-ft.")
    if options.pretrain_epochs and kind != "genre":
        raise UsageError(f"a {kind} is not pre-trained on names. Train genre.")
    if options.softmax == "listed" and not has_candidates:
        raise UsageError(
            "a softmax over candidates needs candidates. Pass predictions with candidates: --candidates FILE"
        )
    if options.patience and not has_dev:
        raise UsageError("early stopping needs development data. Pass it with --dev, or omit --patience.")


def _check_folder(folder: Path, *, resume: bool) -> None:
    """Raise `UsageError` if a model cannot be trained in a folder, or with `resume` not be trained on there."""
    # an interrupted training may leave a part of its first checkpoint, from which it cannot go on
    files = {file.name for file in folder.iterdir()} - {CHECKPOINT_PART} if folder.is_dir() else set()
    if CHECKPOINT in files:
        if not resume:
            raise UsageError(f"{folder} has an interrupted training. Resume it with --resume, or name a new folder.")
    elif METADATA_FILE in files:
        raise UsageError(f"{folder} has a trained model, so its training is complete. Name a new folder.")
    elif files or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder} is not empty and has no checkpoint. Name a new folder.")
    elif resume:
        raise UsageError(f"{folder} has no checkpoint, as no epoch was completed. Omit --resume.")


def _count_unwritable(model: LinkingModel) -> dict[str, int]:
    """Return the numbers of entities that a model can never write, by reason; empty for models that do not write."""
    from karat.systems.linking.neural.title_model import TitleModel

    if not isinstance(model, TitleModel):
        return {}
    return {
        f"titles of more than {MAX_STEPS} tokens, which are not written by default": model.trie.count_longer(),
        "titles whose tokens are those of another title, which is written instead": model.n_entities - len(model.trie),
    }


def _check_device(device_name: str) -> None:
    """Raise `UsageError` if PyTorch has no device of this name here."""
    import torch

    try:
        torch.empty(0, device=torch.device(device_name))
    except (RuntimeError, AssertionError) as problem:
        message = str(problem).partition("\n")[0].rstrip(".")
        raise UsageError(f"{device_name!r} cannot be used ({message}). Name another --device, or omit it.") from None


def _describe_device(device_name: str) -> str:
    """Return the product name of the GPU, or `CPU`."""
    import torch

    return torch.cuda.get_device_name() if device_name.startswith("cuda") else "CPU"
