"""What a file of plain NIF says, put together: contexts, places in them, topics, and facts about entities."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from karat.errors import InputError
from karat.model.defects import skipping
from karat.model.document import UNLINKED, EntityId, Tag
from karat.parsing.nif import terms as nif
from karat.parsing.nif.terms import ANCHOR, BEGIN, CLASS, CONFIDENCE, CONTEXT, END, LINK, NIF, PREFIXES, TEXT, TYPE
from karat.parsing.turtle.triples import Blank, Values
from karat.parsing.turtle.turtle import local
from karat.spec.format import Bytes

NIL = PREFIXES["rdf"] + "nil"
RANK = "http://schema.org/position"

_SAME = PREFIXES["owl"] + "sameAs"
_TOPIC = NIF + "topic"
_GRADE = NIF + "confidence"  # of a topic, as GERBIL writes it
_PARTS = frozenset(NIF + kind for kind in ("Word", "Sentence", "Paragraph", "Title"))
_OF_CONTEXT = frozenset({TYPE, TEXT, BEGIN, END, CONTEXT, ANCHOR, LINK, CLASS, _TOPIC})
_OF_PLACE = frozenset({TYPE, CONTEXT, BEGIN, END, ANCHOR, LINK, CLASS, CONFIDENCE})
_OF_TOPIC = frozenset({TYPE, LINK, CONFIDENCE, _GRADE, RANK})
_OF_ENTITY = frozenset({TYPE, _SAME})


class NifPlace(msgspec.Struct, gc=False):
    """What is said about a part of a text; the statements may be apart."""

    context: str
    start: int | None
    end: int | None
    anchor: str | None
    score: float | None
    links: tuple[str, ...]
    classes: tuple[str, ...]
    part: bool

    def joined(self, more: NifPlace) -> bool:
        """Add what another statement says, unless it is about another place."""
        for mine, other in ((self.context, more.context), (self.start, more.start), (self.end, more.end)):
            if mine is not None and other is not None and mine != other:
                return False
        self.start = more.start if self.start is None else self.start
        self.end = more.end if self.end is None else self.end
        self.anchor = more.anchor if self.anchor is None else self.anchor
        self.score = more.score if self.score is None else self.score
        self.links += tuple(link for link in more.links if link not in self.links)
        self.classes += tuple(name for name in more.classes if name not in self.classes)
        self.part |= more.part
        return True


class PlainNif:
    """What a file says, in its order; what belongs together is known only at its end."""

    def __init__(self, source: Bytes) -> None:
        self.source = source
        self.skipped: Counter[str] = Counter({"prefixes that were not declared": nif.undeclared(source.opening)})
        self.contexts: dict[str, Values] = {}
        self._places: dict[str, NifPlace] = {}
        self._others: dict[str, Values] = {}
        self.places: defaultdict[str, list[NifPlace]] = defaultdict(list)
        self._wrong: dict[str, InputError] = {}
        for subject, values in nif.said(source):
            try:
                self._take(subject, values)
            except InputError as problem:
                self._hold(values.get(CONTEXT), problem)
        self._settle()
        self._same = _groups(self._others)

    def _hold(self, context: tuple[str, ...] | None, problem: InputError) -> None:
        """A defect of an annotation is one of its context, which is refused when it is asked for."""
        if context is None or not skipping():
            raise problem
        self._wrong.setdefault(context[0], problem)

    def check(self, context: str) -> None:
        """Raise what was wrong with an annotation of a context."""
        if context in self._wrong:
            raise self._wrong[context]

    def _take(self, subject: str, values: Values) -> None:
        whole = TEXT in values or (CONTEXT not in values and f"{NIF}Context" in values.get(TYPE, ()))
        if whole:
            self.contexts[subject] = _merged(self.contexts.get(subject), values)
        if CONTEXT in values and (not whole or LINK in values or CLASS in values):
            self._annotate(subject, values, values[CONTEXT][0])
        elif not whole:
            self._others[subject] = _merged(self._others.get(subject), values)

    def _annotate(self, subject: str, values: Values, context: str) -> None:
        found = NifPlace(
            context,
            nif.offset(values, BEGIN, subject, self.source) if BEGIN in values else None,
            nif.offset(values, END, subject, self.source) if END in values else None,
            values[ANCHOR][0] if ANCHOR in values else None,
            nif.number(values, CONFIDENCE, subject, self.source),
            values.get(LINK, ()),
            values.get(CLASS, ()),
            not _PARTS.isdisjoint(values.get(TYPE, ())),
        )
        if TEXT not in values:
            self._count(values, _OF_PLACE, "annotations")
        known = self._places.setdefault(subject, found)
        if known is found:
            self.places[context].append(found)
        elif not known.joined(found):
            self.skipped["annotations that share their address"] += 1
            self.places[context].append(found)

    def _settle(self) -> None:
        """Find out what the statements that seem to be neither about a context nor an annotation are about."""
        for subject in self.contexts.keys() & self._others.keys():
            self.contexts[subject] = _merged(self.contexts[subject], self._others.pop(subject))
        topics = {topic for values in self.contexts.values() for topic in values.get(_TOPIC, ())}
        for subject, values in self._others.items():
            if subject in self._places:
                context = self._places[subject].context
                try:
                    self._annotate(subject, values, context)
                except InputError as problem:
                    self._hold((context,), problem)
            elif subject in topics:
                self._count(values, _OF_TOPIC, "topics")
            elif LINK in values or BEGIN in values:
                self.skipped["annotations without context"] += 1
            else:
                self._count(values, _OF_ENTITY, "entities and other things")

    def _count(self, values: Values, known: frozenset[str], what: str) -> None:
        if not known.issuperset(values):
            for predicate in (name for name in values if name not in known):
                self.skipped[f"statements with {local(predicate)} about {what}"] += len(values[predicate])

    def text(self, context: str) -> str | None:
        """The text of a context, if it is given."""
        values = self.contexts.get(context, {})
        return values[TEXT][0] if TEXT in values else None

    def meta(self, context: str) -> dict[str, str]:
        """What else is said about a context."""
        values = self.contexts[context]
        return {local(name): " ".join(values[name]) for name in values if name not in _OF_CONTEXT}

    def marked(self, context: str) -> Iterator[tuple[int, int, NifPlace]]:
        """The annotations of a context, each with its span."""
        text = self.text(context)
        for place in self.places[context]:
            if place.part and not place.links and not place.classes:
                self.skipped["words, sentences and paragraphs"] += 1
            elif place.start is None or place.end is None:
                self.skipped["annotations without a span"] += 1
            else:
                if text is not None and place.anchor not in (None, text[place.start : place.end]):
                    self.skipped["anchors that differ from the text"] += 1
                yield place.start, place.end, place

    def linked(self, links: Sequence[str]) -> tuple[EntityId, tuple[str, ...]]:
        """The entity, and what else it is called."""
        if not links:
            return UNLINKED, ()
        names = [None if type(link) is Blank or link == NIL else link for link in links]
        for link in links if self._same else ():
            names += (name for name in self._same.get(link, ()) if name not in names)
        return names[0], tuple(name for name in names[1:] if name is not None) if len(names) > 1 else ()

    def types(self, place: NifPlace) -> tuple[str, ...]:
        """The classes of an annotation, and the types of what it is linked to."""
        found = place.classes
        for link in place.links:
            if link in self._others:
                found += tuple(kind for kind in self._others[link].get(TYPE, ()) if kind not in found)
        return found

    def tags(self, context: str) -> Iterator[Tag]:
        """The topics of a context; one that nothing but facts is said about is an entity itself."""
        for topic in self.contexts.get(context, {}).get(_TOPIC, ()):
            values = self._others.get(topic, {})
            itself = type(topic) is not Blank and _OF_ENTITY.issuperset(values)
            entity, same_as = self.linked((topic,) if itself else values.get(LINK, ()))
            if not isinstance(entity, str):
                self.skipped["topics without link"] += 1
                continue
            rank = nif.offset(values, RANK, topic, self.source) if RANK in values else None
            grade = CONFIDENCE if CONFIDENCE in values else _GRADE
            yield Tag(entity, same_as, rank, nif.number(values, grade, topic, self.source))


def _merged(before: Values | None, values: Values) -> Values:
    if before is None:
        return values
    return {name: before.get(name, ()) + values.get(name, ()) for name in {**before, **values}}


def _groups(others: dict[str, Values]) -> dict[str, dict[str, None]]:
    """For each address those that the file says to be the same, in order."""
    groups: dict[str, dict[str, None]] = {}
    for subject, values in others.items():
        for other in values.get(_SAME, ()):
            united = {**groups.get(subject, {subject: None}), **groups.get(other, {other: None})}
            groups |= dict.fromkeys(united, united)
    return groups
