"""What a file in `karat.categories` holds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from karat.model.cases import Cases
from karat.model.document import Answer, Candidate, Document, Label, Reply
from karat.model.tables.columns import Bools
from karat.model.truth import Truth

Condition: TypeAlias = Callable[[Cases], Truth | Bools]

_MARK = re.compile(r"\[([^\]]+?) → ([^\]]+)\]")


class Mark(NamedTuple):
    """A mention that is marked in a text: where it stands, its link (None for NIL) and what else was considered."""

    start: int
    end: int
    entity: str | None
    others: tuple[str, ...]


def marked(text: str) -> tuple[str, tuple[Mark, ...]]:
    """The text without its marks, and the marks, such as `[Rome → Italy]` and `[Rome → Rome, not Italy, Lazio]`."""
    plain, marks, end = "", [], 0
    for found in _MARK.finditer(text):
        plain += text[end : found.start()]
        link, _, others = found[2].partition(", not ")
        marks.append(Mark(len(plain), len(plain) + len(found[1]), None if link == "NIL" else link, _split(others)))
        plain += found[1]
        end = found.end()
    return plain + text[end:], tuple(marks)


def _split(names: str) -> tuple[str, ...]:
    return tuple(names.split(", ")) if names else ()


class Example(msgspec.Struct, frozen=True):
    """A text in which the category occurs, with what it counts there under the default profile, or the one named.

    The mentions are marked in the text, once as the gold standard has them and once as a system does (see `marked`),
    and entities are called by their names. The rest are facts: the type of entities, what a text is popular for,
    demonyms, and which texts are links in the source.
    """

    gold: str
    answers: str
    errors: int
    total: int | None
    types: Mapping[str, str] = msgspec.field(default_factory=dict)
    popular: Mapping[str, str] = msgspec.field(default_factory=dict)
    demonyms: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    like: str = "karat"

    @property
    def document(self) -> Document:
        """The text with its gold labels."""
        text, marks = marked(self.gold)
        links = [[[text.index(link), text.index(link) + len(link)], link] for link in self.links]
        labels = tuple(Label(mark.start, mark.end, mark.entity) for mark in marks)
        return Document("example", text, labels, meta={"hyperlinks": json.dumps(links)} if links else {})

    @property
    def reply(self) -> Reply:
        """What the system answers."""
        return Reply("example", tuple(map(_answer, marked(self.answers)[1])))

    @property
    def facts(self) -> dict[str, Any]:
        """What a knowledge base says about it, as `karat.kb.tables.Tables.of` takes it."""
        marks = [mark for text in (self.gold, self.answers) for mark in marked(text)[1]]
        return {
            "names": {mark.entity: mark.entity for mark in marks if mark.entity is not None},
            "types": _one_each(self.types.items()),
            "popular": _one_each(self.popular.items()),
            "demonyms": self.demonyms,
        }


def _answer(mark: Mark) -> Answer:
    candidates = (mark.entity, *mark.others) if mark.others else ()
    return Answer(mark.start, mark.end, mark.entity, candidates=tuple(Candidate(id) for id in candidates if id))


def _one_each(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    return {key: (value,) for key, value in pairs}


class Category(msgspec.Struct, frozen=True):
    """A kind of error: which cases are such errors, and among how many that could have been.

    `error` says which cases of a view are errors of this kind, `avoided` which could have been and are not. Instead of
    `avoided` there may be `words`, where the words of the text are what could have been taken for a mention; without
    either only errors are counted. `among` says the same in words. Of the categories of one `group` that have a `rank`,
    a case is in the first that holds: among errors, and where `exclusive` is "both" also among those avoided. `tempted`
    narrows the errors where the answer is taken into account (the choice `categories`). `needs_candidates`: undefined
    for systems that never have several candidates. `needs` names the facts without which cases are undecided: those of
    a knowledge base, or what labels say themselves. `elsewhere`: it is about answers that stand on no mention, and
    makes no sense where mentions are given. `whole`: mentions that are scored by their parts are among those that could
    have been.
    """

    title: str
    says: str
    group: str
    error: Condition
    avoided: Condition | None = None
    words: Literal["all", "lowercased", "other"] | None = None
    among: str = ""
    rank: int | None = None
    exclusive: Literal["errors", "both"] = "errors"
    tempted: Condition | None = None
    needs_candidates: bool = False
    needs: tuple[str, ...] = ()
    elsewhere: bool = False
    whole: bool = False
    example: Example | None = None
