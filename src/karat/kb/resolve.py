"""Ids replaced by those of a knowledge base, on both sides alike, with a report of what became of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, overload

import msgspec

from karat.kb.protocol import KB, Standing
from karat.model.corpus import Corpus
from karat.model.document import Answer, Candidate, Document, Label, Reply, Tag
from karat.model.run import Run

_VALUES = ("quantity", "datetime")
_Mention = TypeVar("_Mention", Label, Answer, Tag)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of the ids of a corpus or a run: how many mentions, and which ids, have each standing.

    `moved` has the new id of each that was replaced.
    """

    name: str
    kb: str
    mentions: Mapping[Standing, int]
    ids: Mapping[Standing, tuple[str, ...]] = field(repr=False)
    moved: Mapping[str, str] = field(repr=False)

    def __str__(self) -> str:
        counts = ", ".join(
            f"{standing} {self.mentions[standing]:,}" for standing in Standing if self.mentions[standing]
        )
        return f"{self.name} by {self.kb}: {counts or 'no ids'}"


@overload
def resolve(data: Corpus, kb: KB) -> tuple[Corpus, Resolution]: ...
@overload
def resolve(data: Run, kb: KB) -> tuple[Run, Resolution]: ...
@overload
def resolve(data: Corpus | Run, kb: KB) -> tuple[Corpus | Run, Resolution]: ...
def resolve(data: Corpus | Run, kb: KB) -> tuple[Corpus | Run, Resolution]:
    """A corpus or run with the ids of a knowledge base, and the report. What is resolved twice does not change again.

    An id that is replaced is kept as written among `same_as`, so that nothing is lost. What quantities and dates are
    linked to may be their values, and stays.
    """
    written: Counter[str] = Counter()
    documents: Iterable[Document] | Iterable[Reply] = data
    for document in documents:
        written.update(_ids(document))
    listed = list(written)
    standings = dict(zip(listed, kb.standings(listed), strict=True))
    moved = {id: new for id, new in zip(listed, kb.canonical(listed), strict=True) if new != id}
    mentions, ids = Counter[Standing](), dict[Standing, list[str]]()
    for id, count in written.items():
        mentions[standings[id]] += count
        ids.setdefault(standings[id], []).append(id)
    report = Resolution(
        data.name,
        f"{kb.name}@{kb.digest}",
        {standing: mentions[standing] for standing in Standing},
        {standing: tuple(sorted(found)) for standing, found in ids.items()},
        moved,
    )
    about = {**data.about, "resolved": report.kb}
    if isinstance(data, Corpus):
        made = Corpus.built(
            (_document(each, moved) for each in data), name=data.name, about=about, skipped=data.skipped
        )
        return made, report
    run = Run.built((_reply(each, moved) for each in data), name=data.name, about=about, skipped=data.skipped)
    return run, report


def _linked(document: Document | Reply) -> Iterable[Label | Answer | Tag]:
    if isinstance(document, Document):
        return [*(label for label in document.labels if label.kind not in _VALUES), *document.tags]
    return [*document.answers, *document.tags]


def _ids(document: Document | Reply) -> Iterable[str]:
    for mention in _linked(document):
        if isinstance(mention.entity, str):
            yield mention.entity
        yield from mention.same_as
        if isinstance(mention, Answer):
            yield from (each.entity for each in mention.candidates)


def _renamed(mention: _Mention, moved: Mapping[str, str]) -> _Mention:
    """The mention with its new id first and the others, as written, behind it."""
    if not isinstance(mention.entity, str):
        return mention
    new = moved.get(mention.entity, mention.entity)
    others = (mention.entity, *(moved.get(id, id) for id in mention.same_as), *mention.same_as)
    same = tuple(dict.fromkeys(id for id in others if id != new))
    return msgspec.structs.replace(mention, entity=new, same_as=same)


def _document(document: Document, moved: Mapping[str, str]) -> Document:
    labels = tuple(label if label.kind in _VALUES else _renamed(label, moved) for label in document.labels)
    tags = tuple(_renamed(tag, moved) for tag in document.tags)
    return msgspec.structs.replace(document, labels=labels, tags=tags)


def _reply(reply: Reply, moved: Mapping[str, str]) -> Reply:
    answers = tuple(
        msgspec.structs.replace(
            _renamed(answer, moved),
            candidates=tuple(_candidate(candidate, moved) for candidate in answer.candidates),
        )
        for answer in reply.answers
    )
    return msgspec.structs.replace(reply, answers=answers, tags=tuple(_renamed(tag, moved) for tag in reply.tags))


def _candidate(candidate: Candidate, moved: Mapping[str, str]) -> Candidate:
    return msgspec.structs.replace(candidate, entity=moved.get(candidate.entity, candidate.entity))
