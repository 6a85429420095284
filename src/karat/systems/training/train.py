"""Training of a model from gold standards into a folder, with the vocabulary of entities and windows of tokens."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.errors import UsageError
from karat.model.output.text_layout import format_count
from karat.model.run import Run
from karat.systems.linking.neural.metadata import Kind, check_train_extra
from karat.systems.linking.neural.models import UNKNOWN_ENTITY
from karat.systems.linking.neural.snippets import Snippets
from karat.systems.linking.neural.tokens import MarkedText, WordPieces
from karat.systems.training.curve import CHECKPOINT, Epoch, TrainingResult
from karat.systems.training.model_card import collect_facts, write_card
from karat.systems.training.options import TrainingOptions

CandidatesBySpan = Mapping[tuple[str, int, int], Sequence[str]]
"""The entity ids of candidates, by document id, start and end of a mention."""


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
    """Train a model and write it to `folder`, with its learning curve and a model card; return a summary.

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
    from karat.systems.training.trainer import fit

    device_name = device or ("cuda" if torch.cuda.is_available() else "cpu")
    source = find_encoder_folder(encoder)
    torch.manual_seed(options.seed)
    bert = load_encoder(source, options.dropout)
    if options.max_length > bert.config.max_positions:
        raise UsageError(f"{encoder} reads {bert.config.max_positions} tokens at most. Lower --max-length.")
    pieces = WordPieces.load(source)
    data = prepare_training_data(train, dev, candidate_runs, pieces, options.max_length, vocabulary)
    metadata = {"data": train.name, "size": format_count(data.train.n_mentions, "mention"), "encoder": encoder}
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
    write_card(folder, collect_facts(result, train, dev, encoder), datasets=(train.name,))
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


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The data for a training.

    `entities`: entity ids; their positions are the codes.
    `names`: entity names, in the order of `entities`.
    `train`, `dev`: windows of the training and development data.
    `counts`: counts of used and skipped mentions, by description.
    """

    entities: Sequence[str] = field(repr=False)
    names: Sequence[str] = field(repr=False)
    train: Snippets
    dev: Snippets | None
    counts: Mapping[str, int]


def prepare_training_data(
    train: Corpus,
    dev: Corpus | None,
    candidate_runs: Sequence[Run],
    pieces: WordPieces,
    max_length: int,
    vocabulary: Sequence[str] = (),
) -> TrainingData:
    """Number the entities and split training and development data into windows of at most `max_length` tokens.

    `candidate_runs`: predictions whose candidates the mentions on the same spans get.
    `vocabulary`: entities; by default those of the training data and the candidates. Names come from the gold labels or
    from the ids.
    Training data without links, or without links to the vocabulary, raise `UsageError`.
    """
    candidates = _collect_candidates(candidate_runs)
    names = _collect_names(train, dev)
    train_entities = dict.fromkeys(str(label.entity) for document in train for label in _select_linked_labels(document))
    entities = vocabulary or [
        *train_entities,
        *(entity for candidate_ids in candidates.values() for entity in candidate_ids),
    ]
    codes = {entity: code for code, entity in enumerate(dict.fromkeys(entities))}
    if not train_entities:
        raise UsageError(f"{train.name} has no linked mentions. Pass a gold standard with links.")
    if not any(entity in codes for entity in train_entities):
        raise UsageError(f"no entity of {train.name} is in the vocabulary. Use the same kind of ids in both.")
    counts: Counter[str] = Counter()
    parts = [
        None if part is None else _to_snippets(part, codes, candidates, pieces, max_length, counts)
        for part in (train, dev)
    ]
    assert parts[0] is not None
    return TrainingData(
        list(codes), [names.get(entity) or _default_name(entity) for entity in codes], parts[0], parts[1], dict(counts)
    )


def _collect_candidates(runs: Sequence[Run]) -> dict[tuple[str, int, int], list[str]]:
    """Return the entity ids of the candidates in some runs, by document id, start and end of the mention.

    Ids are sorted, because their order is a decision of another system. The last run with a mention counts.
    """
    return {
        (response.id, prediction.start, prediction.end): sorted(
            {candidate.entity for candidate in prediction.candidates}
        )
        for run in runs
        for response in run
        for prediction in response.predictions
        if prediction.candidates
    }


def _select_linked_labels(document: Document) -> list[Label]:
    """Return one label per mention with an entity: the first of its alternatives; parts of mentions are excluded."""
    mention_ids: set[str] = set()
    labels = []
    for label in document.labels:
        if label.parent is not None or not isinstance(label.entity, str) or label.mention_id in mention_ids:
            continue
        mention_ids |= set() if label.mention_id is None else {label.mention_id}
        labels.append(label)
    return labels


def _collect_names(*parts: Corpus | None) -> dict[str, str]:
    """Return the names that gold labels state, by entity id."""
    return {
        str(label.entity): label.name
        for part in parts
        if part is not None
        for document in part
        for label in document.labels
        if label.name
    }


def _default_name(entity: str) -> str:
    """Return the id as a name: the last part of a URL, with spaces for underscores."""
    return entity.rpartition("/")[2].replace("_", " ") if "://" in entity else entity.replace("_", " ")


def _to_snippets(
    corpus: Corpus,
    codes: Mapping[str, int],
    candidates_by_span: CandidatesBySpan,
    pieces: WordPieces,
    max_length: int,
    counts: Counter[str],
) -> Snippets:
    """Split a corpus into windows of at most `max_length` tokens, with its linked mentions.

    `codes`: code of each entity in the vocabulary; other entities and candidates are unknown.
    `counts`: numbers of mentions by description, to which those of the corpus are added.
    """
    texts, n_labels = [], 0
    for document in corpus:
        labels = _select_linked_labels(document)
        n_labels += len(labels)
        gold = [codes.get(str(label.entity), UNKNOWN_ENTITY) for label in labels]
        candidate_ids = [candidates_by_span.get((document.id, label.start, label.end), ()) for label in labels]
        candidates = [[codes[entity] for entity in entities if entity in codes] for entities in candidate_ids]
        counts["linked mentions for training and development"] += len(labels)
        counts["mentions whose entity is not in the vocabulary"] += gold.count(UNKNOWN_ENTITY)
        counts["mentions without candidates"] += (
            sum(1 for entity in candidates if not entity) if candidates_by_span else 0
        )
        texts.append(MarkedText(document.text, [(label.start, label.end) for label in labels], gold, candidates))
    snippets = pieces.to_snippets(texts, max_length)
    counts["mentions in texts without words"] += n_labels - snippets.n_mentions
    return snippets
