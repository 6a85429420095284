"""Training data of a model: the vocabulary of entities, windows of tokens, weak labels and names to pre-train on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.errors import UsageError
from karat.model.run import Run
from karat.systems.linking.model_system import collect_candidates
from karat.systems.linking.neural.bart import BartPieces
from karat.systems.linking.neural.entity_texts import find_aliases, find_descriptions, find_names
from karat.systems.linking.neural.metadata import DESCRIPTION_KINDS, Kind
from karat.systems.linking.neural.models import UNKNOWN_ENTITY
from karat.systems.linking.neural.ranking import get_title
from karat.systems.linking.neural.snippets import Snippets
from karat.systems.linking.neural.tokens import MarkedText, WordPieces
from karat.systems.linking.neural.trained_linker import tokenise_texts
from karat.systems.training.curve import OUTSIDE_VOCABULARY
from karat.systems.training.options import TrainingOptions

CandidatesBySpan = Mapping[tuple[str, int, int], Sequence[str]]
"""The entity ids of candidates, by document id, start and end of a mention."""

_QUALIFIED: Final = re.compile(r"(?P<base>.+?)(?: \((?P<bracket>[^()]+)\)|, (?P<comma>.+))")
"""A title with a qualifier."""


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The data for a training.

    `entities`: entity ids; their positions are the codes.
    `names`: entity names, in the order of `entities`.
    `train`, `dev`: windows of the training and development data.
    `counts`: counts of used and skipped mentions, by description.
    `descriptions`: descriptions of the entities, in their order; empty without a knowledge base.
    `pretrain`: windows with names and descriptions of entities; None without pre-training.
    """

    entities: Sequence[str] = field(repr=False)
    names: Sequence[str] = field(repr=False)
    train: Snippets
    dev: Snippets | None
    counts: Mapping[str, int]
    descriptions: Sequence[str] = field(default=(), repr=False)
    pretrain: Snippets | None = None


def prepare_training_data(
    train: Corpus,
    dev: Corpus | None,
    candidate_runs: Sequence[Run],
    pieces: WordPieces | BartPieces,
    options: TrainingOptions,
    vocabulary: Sequence[str] = (),
    *,
    kind: Kind = "fevry",
    kb: str = "",
) -> TrainingData:
    """Number the entities and split training and development data into the windows that a kind of model reads.

    `candidate_runs`: predictions whose candidates the mentions on the same spans get.
    `vocabulary`: entities; by default those of the training data and the candidates. Names come from the gold labels or
    from the ids.
    `kb`: snapshots with names of Wikidata ids, and with descriptions and aliases; may be empty.
    Training data without links, without links to the vocabulary, or without any of the candidates raise `UsageError`.
    """
    candidates = collect_candidates(candidate_runs)
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
    if kind == "cross-encoder" and len(codes) < 2:
        raise UsageError("a cross-encoder needs two entities at least. Pass candidates or a vocabulary.")
    label_names = _collect_names(train, dev)
    names = [label_names.get(entity) or name for entity, name in zip(codes, find_names(list(codes), kb), strict=True)]
    descriptions = find_descriptions(list(codes), kb) if kb and kind in DESCRIPTION_KINDS else []
    counts: Counter[str] = Counter()
    counts["entities with a description"] = sum(map(bool, descriptions))

    def tokenise(texts: Sequence[MarkedText]) -> Snippets:
        return tokenise_texts(kind, pieces, texts, options.context, options.max_length)

    weak_names = dict(zip(codes, names, strict=True)) if options.weak_labels else {}
    counts_candidates = bool(candidate_runs) or kind == "cross-encoder"

    def to_snippets(part: Corpus, usage: str, part_names: Mapping[str, str]) -> Snippets:
        part_counts: Counter[str] = Counter()
        snippets = _to_snippets(part, codes, candidates, tokenise, options, part_counts, part_names)
        if not counts_candidates:
            del part_counts["mentions without candidates"]
        counts.update({f"{description} ({usage})": count for description, count in part_counts.items()})
        return snippets

    train_part = to_snippets(train, "training", weak_names)
    dev_part = None if dev is None else to_snippets(dev, "development", {})
    if dev is not None:
        texts = set(train.texts)
        counts["development documents with a text of the training data, so the accuracy on dev is too high"] = sum(
            text in texts for text in dev.texts
        )
    needed = [train_part] if options.softmax == "listed" or dev_part is None else [train_part, dev_part]
    if candidate_runs and not any(len(part.candidates) for part in needed):
        raise UsageError(
            f"no mention of {train.name} has candidates. Pass predictions for the same documents, spans and entities: "
            "--candidates FILE"
        )
    if kind == "cross-encoder" and dev is not None and dev_part is not None and not len(dev_part.candidates):
        raise UsageError(
            f"no mention of {dev.name} has candidates, so a cross-encoder would link none of them. Pass predictions "
            "with candidates: --candidates FILE, or omit --dev."
        )
    if options.single_mention:
        n_mentions = train_part.n_mentions
        train_part = train_part.select_mentions(_draw_mentions(train_part, options.seed))
        counts["mentions not learned from, as each window has one"] = n_mentions - train_part.n_mentions
    pretrain = None
    if options.pretrain_epochs:
        pretrain = tokenise(_make_name_texts(list(codes), names, descriptions, kb, options))
        counts["names for pre-training"] = pretrain.n_mentions
    return TrainingData(list(codes), names, train_part, dev_part, dict(counts), descriptions, pretrain)


def _draw_mentions(snippets: Snippets, seed: int) -> NDArray[np.intp]:
    """Return the index of one random mention of each window, in order."""
    order = np.random.default_rng(seed).permutation(snippets.n_mentions)
    _, first = np.unique(snippets.window[order], return_index=True)
    return np.sort(order[first])


def _make_name_texts(
    entities: Sequence[str], names: Sequence[str], descriptions: Sequence[str], kb: str, options: TrainingOptions
) -> list[MarkedText]:
    """Return short texts from which a model learns to write titles: a name of the entity and a hint.

    The name is a random alias, or the title without its qualifier, which is a part in brackets or after a comma. The
    hint is the description, or else the qualifier.
    """
    rng = np.random.default_rng(options.seed)
    chosen = rng.permutation(len(entities))[: options.pretrain_examples or len(entities)].tolist()
    texts = []
    for code, aliases in zip(chosen, find_aliases([entities[code] for code in chosen], kb), strict=True):
        match = _QUALIFIED.fullmatch(names[code])
        base, qualifier = (match["base"], match["bracket"] or match["comma"]) if match else (names[code], "")
        name = [base, *aliases][int(rng.integers(1 + len(aliases)))]
        hint = (descriptions[code] if descriptions else "") or qualifier
        texts.append(MarkedText(f"{name}, {hint}" if hint else name, [(0, len(name))], [code]))
    return texts


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


def _to_snippets(
    corpus: Corpus,
    codes: Mapping[str, int],
    candidates_by_span: CandidatesBySpan,
    tokenise: Callable[[Sequence[MarkedText]], Snippets],
    options: TrainingOptions,
    counts: Counter[str],
    weak_names: Mapping[str, str],
) -> Snippets:
    """Split a corpus into windows with its linked mentions.

    `codes`: code of each entity in the vocabulary; other entities and candidates are unknown.
    `counts`: numbers of mentions by description, to which those of the corpus are added.
    `weak_names`: name of each entity that further mentions may get; empty for no weak labels.
    """
    texts, n_labels = [], 0
    for document in corpus:
        labels = _select_linked_labels(document)
        mentions = [(label.start, label.end, str(label.entity)) for label in labels]
        counts["linked mentions"] += len(mentions)
        counts["links that are further alternatives or parts of mentions, not used"] += sum(
            isinstance(label.entity, str) for label in document.labels
        ) - len(labels)
        weak = _find_weak_mentions(document.text, mentions, weak_names)
        counts["weak labels"] += len(weak)
        mentions += weak
        n_labels += len(mentions)
        gold = [codes.get(entity, UNKNOWN_ENTITY) for _, _, entity in mentions]
        candidate_ids = [candidates_by_span.get((document.id, start, end), ()) for start, end, _ in mentions]
        candidates = [[codes[entity] for entity in entities if entity in codes] for entities in candidate_ids]
        counts[OUTSIDE_VOCABULARY] += gold.count(UNKNOWN_ENTITY)
        counts["mentions without candidates"] += sum(1 for codes_of_mention in candidates if not codes_of_mention)
        title = get_title(document) if options.title_context else ""
        counts["documents without `title` in `meta`, so their id was read as the title"] += bool(
            title and not document.meta.get("title")
        )
        spans = [(start, end) for start, end, _ in mentions]
        texts.append(MarkedText(document.text, spans, gold, candidates, title))
    snippets = tokenise(texts)
    counts["mentions in texts without words"] += n_labels - snippets.n_mentions
    return snippets


def _find_weak_mentions(
    text: str, mentions: Sequence[tuple[int, int, str]], weak_names: Mapping[str, str]
) -> list[tuple[int, int, str]]:
    """Return further mentions of the document's entities: their titles, as whole words outside other mentions.

    Qualifiers in brackets are not part of a title here. Names of several entities of the document are skipped, and
    longer names come first. Without `weak_names`, there are none.
    """
    entities: dict[str, set[str]] = {}
    for _, _, entity in mentions:
        if entity in weak_names:
            match = _QUALIFIED.fullmatch(weak_names[entity])
            name = match["base"] if match and match["bracket"] else weak_names[entity]
            entities.setdefault(name, set()).add(entity)
    spans = [(start, end) for start, end, _ in mentions]
    weak = []
    for name in sorted(entities, key=lambda name: (-len(name), name)):
        if len(entities[name]) > 1 or not name:
            continue
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            start, end = match.span()
            if not any(start < other_end and other_start < end for other_start, other_end in spans):
                spans.append((start, end))
                weak.append((start, end, next(iter(entities[name]))))
    return weak
