"""Replies as files have them, with answers placed in the texts of their documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from karat.errors import InputError, UsageError
from karat.model.corpus import WITHOUT_TEXT, Corpus
from karat.model.defects import by_itself, current, sound
from karat.model.document import Answer, Reply, WrittenAnswer, WrittenReply
from karat.model.run import Run
from karat.model.span import Span
from karat.parsing.json.records import shaped
from karat.parsing.surfaces.placing import MOVED, NOT_FOUND, TOO_OFTEN, Surface, alike, placed

NO_DOCUMENT = "without a text to stand in, for the gold standard does not have the document (left out)"

_TOLD = (NOT_FOUND, TOO_OFTEN, MOVED, NO_DOCUMENT)  # what is not as the file says, in every command
_OWN = frozenset({"start", "end", "text", "before", "after"})


class NoGoldError(UsageError):
    """Words cannot be placed, for nobody gave the gold standard."""


class WrittenAt(NamedTuple):
    """A reply, and where it is written."""

    reply: WrittenReply
    where: str


class GoldTexts(msgspec.Struct, frozen=True, dict=True):
    """The texts of a gold standard by document, which is asked for when the first text is."""

    gold: Callable[[], Corpus] | None
    label: str

    def text(self, id: str) -> str | None:
        """The text of a document, None where the gold standard does not have it."""
        return self._texts.get(id)

    @cached_property
    def _texts(self) -> dict[str, str]:
        if self.gold is None:
            raise NoGoldError(
                f"{self.label} says by their text where answers stand, and that is decided beside the gold standard. "
                "Give it too (--gold FILE; in Python corpus=…), or the text of each document beside its answers."
            )
        corpus = self.gold()
        if corpus.skipped.get(WITHOUT_TEXT) or not corpus.has_text:
            raise UsageError(
                f"{self.label} says by their text where answers stand, and {corpus.name} has no texts. Give a gold "
                "standard with texts, or answers with spans."
            )
        return dict(zip(corpus.table.column("id").to_pylist(), corpus.table.column("text").to_pylist(), strict=True))


def run_of(
    replies: Iterable[WrittenAt],
    texts: GoldTexts,
    *,
    name: str,
    about: dict[str, str] | None = None,
    skipped: Counter[str] | None = None,
) -> Run:
    """A run of replies that may give words in place of spans. A defect takes its reply with it."""
    counts: Counter[str] = Counter() if skipped is None else skipped
    made: list[Reply] = []
    places: list[str] = []
    own: list[str | None] = []
    for reply, where in replies:
        with by_itself():
            made.append(reply_of(reply, texts, where, counts))
            places.append(where)
            own.append(reply.text)
    return Run.built(made, name=name, about=about, skipped=counts, where=places.__getitem__, texts=own)


def run_of_objects(replies: Iterable[Mapping[str, Any]], gold: Callable[[], Corpus] | None, *, name: str) -> Run:
    """A run of dictionaries with the fields of Karat's own answers, words in place of spans too."""
    given = ((fields, f"reply {number}") for number, fields in enumerate(replies, 1))
    read = sound(given, lambda one: shaped(one[0], WrittenReply, one[1]))
    made = [WrittenAt(reply, where) for (_, where), reply in read]
    return run_of(made, GoldTexts(gold, name), name=name)


def reply_of(reply: WrittenReply, texts: GoldTexts, where: str, counts: Counter[str]) -> Reply:
    """A reply with a span for each answer that has a place in the text; the others are left out and counted."""
    answers = answers_of(reply, texts, where, counts)
    fields = {name: getattr(reply, name) for name in Reply.__struct_fields__ if name != "answers"}
    return Reply(**fields, answers=answers)


def answers_of(reply: WrittenReply, texts: GoldTexts, where: str, counts: Counter[str]) -> tuple[Answer, ...]:
    """The answers of a reply that have a place in the text."""
    own: Counter[str] = Counter()
    spans = _spans(reply, texts, where, own)
    counts.update(own)
    current().noted.update({what: own[what] for what in _TOLD})
    found = zip(reply.answers, spans, strict=True)
    return tuple(_answer(answer, span) for answer, span in found if span is not None)


def _spans(reply: WrittenReply, texts: GoldTexts, where: str, counts: Counter[str]) -> list[Span | None]:
    given = [_given(answer, f"{where}: answer {number}") for number, answer in enumerate(reply.answers, 1)]
    if all(answer.text is None for answer in reply.answers):
        return [*given]
    text = reply.text if reply.text is not None else texts.text(reply.id)
    if text is None:  # that the gold standard lacks the document is said where the two are paired
        counts[NO_DOCUMENT] += sum(answer.text is not None for answer in reply.answers)
        return [None if answer.text is not None else span for answer, span in zip(reply.answers, given, strict=True)]
    spans: list[Span | None] = []
    for number, (answer, span) in enumerate(zip(reply.answers, given, strict=True), 1):
        right = span is not None and (answer.text is None or alike(text[span.start : span.end], answer.text))
        if span is not None and not right and not current().how.repair:
            raise _wrong(answer, span, text, f"{where}: answer {number}")
        spans.append(span if right else None)
    lost = [place for place, span in enumerate(spans) if span is None]
    wanted = [_surface(reply.answers[place], given[place]) for place in lost]
    standing = [span for span in spans if span is not None]
    for place, span in zip(lost, placed(text, wanted, counts, standing), strict=True):
        spans[place] = span
    return spans


def _given(answer: WrittenAnswer, where: str) -> Span | None:
    """The span that an answer gives; one with a beginning and words is as long as these."""
    if answer.text is not None and not answer.text.strip():
        raise InputError(
            where,
            found=f"the text {answer.text!r}",
            expected="the words that the answer marks",
            remedy="Leave the answer out",
        )
    if answer.start is not None and answer.end is not None:
        return Span(answer.start, answer.end)
    if answer.text is None:
        raise InputError(
            where,
            found=f"neither text nor {'start' if answer.start is None else 'end'}",
            expected="`start` and `end`, or `text`",
            remedy="Say where the answer stands, or which words it marks",
        )
    return None if answer.start is None else Span(answer.start, answer.start + len(answer.text))


def _surface(answer: WrittenAnswer, wrong: Span | None) -> Surface:
    return Surface(answer.text or "", answer.before or "", answer.after or "", None if wrong is None else wrong.start)


def _wrong(answer: WrittenAnswer, span: Span, text: str, where: str) -> InputError:
    return InputError(
        where,
        found=f"the text {answer.text!r} at [{span.start}, {span.end}), where the document has "
        f"{text[span.start : span.end][:40]!r}",
        expected="spans on which their text stands",
        remedy="Correct the spans or leave them out, or have them moved to where their text stands with --wrong-span "
        "repair",
    )


def _answer(answer: WrittenAnswer, span: Span) -> Answer:
    fields = {name: getattr(answer, name) for name in WrittenAnswer.__struct_fields__ if name not in _OWN}
    return Answer(*span, **fields)
