"""Gold standards as what models are trained on: a vocabulary of entities, and windows of tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from karat.errors import UsageError
from karat.linking.neural.models import MASKED
from karat.linking.neural.snippets import Snippets
from karat.linking.neural.tokens import MarkedText, WordPieces
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.run import Run

_Lists = Mapping[tuple[str, int, int], Sequence[str]]


@dataclass(frozen=True, eq=False)
class TrainingBed:
    """The vocabulary, and both parts as windows; `counts` says what of the texts is not in them."""

    entities: Sequence[str] = field(repr=False)
    names: Sequence[str] = field(repr=False)
    train: Snippets
    dev: Snippets | None
    counts: Mapping[str, int]


def training_bed(
    train: Corpus,
    dev: Corpus | None,
    lists: Sequence[Run],
    pieces: WordPieces,
    length: int,
    vocabulary: Sequence[str] = (),
) -> TrainingBed:
    """Texts as windows. The vocabulary is the one given, or all entities of the training part and of the lists.

    An entity is called as the gold says, or else by its id.
    """
    listed = _listed(lists)
    names = _names(train, dev)
    met = dict.fromkeys(str(label.entity) for document in train for label in _linked(document))
    known = vocabulary or [*met, *(entity for each in listed.values() for entity in each)]
    codes = {entity: code for code, entity in enumerate(dict.fromkeys(known))}
    if not met:
        raise UsageError(f"{train.name} has no linked mention to learn from. Give a gold standard with links.")
    if not any(entity in codes for entity in met):
        raise UsageError(f"no entity of {train.name} is in the vocabulary. Are its ids of another kind?")
    counts: Counter[str] = Counter()
    parts = [None if part is None else _snippets(part, codes, listed, pieces, length, counts) for part in (train, dev)]
    assert parts[0] is not None
    return TrainingBed(
        list(codes), [names.get(entity) or _said(entity) for entity in codes], parts[0], parts[1], dict(counts)
    )


def _listed(lists: Sequence[Run]) -> dict[tuple[str, int, int], list[str]]:
    """The candidates of each mention, sorted: their order is what another system thinks of them."""
    return {
        (reply.id, answer.start, answer.end): sorted({each.entity for each in answer.candidates})
        for run in lists
        for reply in run
        for answer in reply.answers
        if answer.candidates
    }


def _linked(document: Document) -> list[Label]:
    """One label for each linked mention: of alternatives the first."""
    units: set[str] = set()
    found = []
    for label in document.labels:
        if label.parent is not None or not isinstance(label.entity, str) or label.unit in units:
            continue
        units |= set() if label.unit is None else {label.unit}
        found.append(label)
    return found


def _names(*parts: Corpus | None) -> dict[str, str]:
    return {
        str(label.entity): label.name
        for part in parts
        if part is not None
        for document in part
        for label in document.labels
        if label.name
    }


def _said(entity: str) -> str:
    return entity.rpartition("/")[2].replace("_", " ") if "://" in entity else entity.replace("_", " ")


def _snippets(
    part: Corpus, codes: Mapping[str, int], listed: _Lists, pieces: WordPieces, length: int, counts: Counter[str]
) -> Snippets:
    marked, asked = [], 0
    for document in part:
        labels = _linked(document)
        asked += len(labels)
        gold = [codes.get(str(label.entity), MASKED) for label in labels]
        given = [listed.get((document.id, label.start, label.end), ()) for label in labels]
        candidates = [[codes[each] for each in entities if each in codes] for entities in given]
        counts["linked mentions to train and to try on"] += len(labels)
        counts["mentions whose entity is not in the vocabulary"] += gold.count(MASKED)
        counts["mentions without candidates"] += sum(1 for each in candidates if not each) if listed else 0
        marked.append(MarkedText(document.text, [(label.start, label.end) for label in labels], gold, candidates))
    found = pieces.snippets(marked, length)
    counts["mentions in texts without words"] += asked - found.mentions
    return found
