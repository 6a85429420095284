"""A system that is asked about each document by itself, and whose answers are checked before they count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeVar

import msgspec

from karat.adapters.patience import patiently
from karat.adapters.telling import tell, without_secrets
from karat.errors import FailedError
from karat.model.document import UNLINKED, Answer, Candidate, Document, EntityId, Reply
from karat.parsing.offsets import from_utf16

UTF16: Final = "answers with offsets in UTF-16 units (converted)"

_T = TypeVar("_T")


class AskingEach:
    """The function that links: it asks about one document after the other, and fails on each by itself."""

    def __init__(self, ask: Callable[[Document], Reply], close: Callable[[], None] = lambda: None) -> None:
        self._ask = ask
        self.close = close

    def __call__(self, documents: Iterable[Document]) -> Iterator[Reply]:
        """Replies to documents, one after the other."""
        for document in documents:
            yield self._reply(document)

    def _reply(self, document: Document) -> Reply:
        try:
            return patiently(lambda: sound_reply(document, self._ask(document)))
        except FailedError as problem:
            return Reply(document.id, error=without_secrets(str(problem)))


def sound_reply(document: Document, reply: Reply) -> Reply:
    """The reply to a document, whose answers have to stand in its text; `FailedError` if one does not."""
    for number, answer in enumerate(reply.answers, 1):
        if not answer.start < answer.end <= len(document.text):
            place = f"[{answer.start}, {answer.end})"
            raise FailedError(f"answer {number} stands at {place}, in a text of {len(document.text)} characters")
    return reply if reply.id == document.id else msgspec.structs.replace(reply, id=document.id)


class ServiceMark(NamedTuple):
    """What a service marked: where, by its own count, which words it says are there, and what it linked them to."""

    start: int
    end: int
    entity: EntityId = UNLINKED
    score: float | None = None
    words: str | None = None
    types: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()


def marked_reply(
    document: Document, marks: Iterable[ServiceMark], *, utf16: bool = False, seconds: float | None = None
) -> Reply:
    """The reply that a service's marks are, with spans in code points.

    Services written in Java count UTF-16 units, which differ behind characters outside the basic plane; few say so. The
    words that a mark gives tell which it is; where it gives none, `utf16` says it.
    """
    given, text = list(marks), document.text
    wide = any(ord(sign) > 0xFFFF for sign in text) if given else False
    if wide and (utf16 if given[0].words is None else any(text[m.start : m.end] != m.words for m in given)):
        points = from_utf16(text)
        last = len(points) - 1
        given = [m._replace(start=int(points[min(m.start, last)]), end=int(points[min(m.end, last)])) for m in given]
        tell(UTF16, len(given))
    for mark in given:
        if mark.words is not None and text[mark.start : mark.end] != mark.words:
            raise FailedError(f"{mark.words!r} does not stand at [{mark.start}, {mark.end}) of the text")
    if any(mark.start < 0 for mark in given):
        raise FailedError("an answer begins before the text")
    answers = tuple(
        Answer(m.start, m.end, m.entity, score=m.score, types=m.types, candidates=m.candidates) for m in given
    )
    return Reply(document.id, answers, seconds=seconds)


def read_json(body: bytes, kind: type[_T], what: str) -> _T:
    """A reply in JSON, or `FailedError` that says what is not as documented; numbers may be written as strings."""
    try:
        return msgspec.json.decode(body, type=kind, strict=False)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise FailedError(f"{what} sent something else than its documented JSON ({problem})") from None


def utf16_place(text: str, place: int) -> int:
    """A place in a text, in the units that services written in Java count in."""
    return len(text[:place].encode("utf-16-le")) // 2
