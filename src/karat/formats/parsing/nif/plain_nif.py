"""The contents of a plain NIF file: contexts, annotations, topics, relations, and facts about entities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from karat.formats.parsing.nif import terms as nif
from karat.formats.parsing.nif.terms import (
    ANCHOR,
    BEGIN,
    CLASS,
    CONFIDENCE,
    CONTEXT,
    END,
    LINK,
    NIF,
    PREFIXES,
    TEXT,
    TYPE,
)
from karat.formats.parsing.offset_units import RawSpan, SurfaceCheck, find_best_spans, place_surfaces
from karat.formats.parsing.turtle.triples import BlankNodeId, Values
from karat.formats.parsing.turtle.turtle import get_local_name
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import is_skipping
from karat.model.document import UNLINKED, EntityId, Tag, Triple
from karat.model.errors import InputError
from karat.model.results.result import WARNING
from karat.model.spec.format import ByteSource

NIL = PREFIXES["rdf"] + "nil"
RANK = "http://schema.org/position"

_SAME_AS = PREFIXES["owl"] + "sameAs"
_TOPIC = NIF + "topic"
_TOPIC_CONFIDENCE = NIF + "confidence"  # as GERBIL writes it
_NO_CONTEXT_WARNING = f"{WARNING}relations without nif:referenceContext are not read"
_TRIPLE_PARTS = tuple(PREFIXES["rdf"] + part for part in ("subject", "predicate", "object"))
_TEXT_PARTS = frozenset(NIF + kind for kind in ("Word", "Sentence", "Paragraph", "Title"))
_CONTEXT_PREDICATES = frozenset({TYPE, TEXT, BEGIN, END, CONTEXT, ANCHOR, LINK, CLASS, _TOPIC})
_ANNOTATION_PREDICATES = frozenset({TYPE, CONTEXT, BEGIN, END, ANCHOR, LINK, CLASS, CONFIDENCE})
_TOPIC_PREDICATES = frozenset({TYPE, LINK, CONFIDENCE, _TOPIC_CONFIDENCE, RANK})
_RELATION_PREDICATES = frozenset({TYPE, CONTEXT, CONFIDENCE, *_TRIPLE_PARTS})
_ENTITY_PREDICATES = frozenset({TYPE, _SAME_AS})


class NifAnnotation(msgspec.Struct, gc=False):
    """An annotation of a text, to which later statements about the same resource may add values."""

    context: str
    """IRI of the context."""
    start: int | None
    """Start offset, if stated."""
    end: int | None
    """End offset, if stated."""
    anchor: str | None
    """Text of the annotation, if stated."""
    score: float | None
    """Confidence, if stated."""
    links: tuple[str, ...]
    """Linked entities."""
    classes: tuple[str, ...]
    """Classes."""
    is_text_part: bool
    """Whether it is a word, sentence, paragraph or title."""

    def merge(self, other: NifAnnotation) -> bool:
        """Add the values of another statement about the same resource; existing single values do not change.

        Return False, and add nothing, if context, start or end contradict each other.
        """
        for first, second in ((self.context, other.context), (self.start, other.start), (self.end, other.end)):
            if first is not None and second is not None and first != second:
                return False
        self.start = other.start if self.start is None else self.start
        self.end = other.end if self.end is None else self.end
        self.anchor = other.anchor if self.anchor is None else self.anchor
        self.score = other.score if self.score is None else self.score
        self.links += tuple(link for link in other.links if link not in self.links)
        self.classes += tuple(name for name in other.classes if name not in self.classes)
        self.is_text_part |= other.is_text_part
        return True


class PlainNif:
    """The contents of a plain NIF file, read on creation; references between resources are resolved at the end."""

    def __init__(self, source: ByteSource) -> None:
        self.source = source
        self.skipped = SkipCounter(
            {"prefixes that were not declared": nif.count_undeclared_prefixes(source.first_bytes)}
        )
        self.contexts: dict[str, Values] = {}
        self._annotations_by_iri: dict[str, NifAnnotation] = {}
        self._others: dict[str, Values] = {}
        self.annotations: defaultdict[str, list[NifAnnotation]] = defaultdict(list)
        self._relation_values: dict[str, Values] = {}
        self.relations: defaultdict[str, list[tuple[str, Values]]] = defaultdict(list)
        self._problems: dict[str, InputError] = {}
        for subject, values in nif.read_nif_resources(source):
            try:
                self._add_resource(subject, values)
            except InputError as problem:
                self._record_problem(values.get(CONTEXT), problem)
        self._classify_others()
        self._classify_relations()
        self._same_as = _group_same_as(self._others)

    def _record_problem(self, context: tuple[str, ...] | None, problem: InputError) -> None:
        """Record the first error of a context, to be raised when the context is read.

        Raise the error at once if `context` (the values of its predicate) is None or errors are not skipped.
        """
        if context is None or not is_skipping():
            raise problem
        self._problems.setdefault(context[0], problem)

    def check_context(self, context: str) -> None:
        """Raise the recorded error of an invalid annotation of this context, if any."""
        if context in self._problems:
            raise self._problems[context]

    def _add_resource(self, subject: str, values: Values) -> None:
        """Add a resource as a relation, as a context, as an annotation or both, or to the others, by its predicates."""
        if not values.keys().isdisjoint(_TRIPLE_PARTS):
            self._relation_values[subject] = _merge_values(self._relation_values.get(subject), values)
            return
        is_context = TEXT in values or (CONTEXT not in values and f"{NIF}Context" in values.get(TYPE, ()))
        if is_context:
            self.contexts[subject] = _merge_values(self.contexts.get(subject), values)
        if CONTEXT in values and (not is_context or LINK in values or CLASS in values):
            self._add_annotation(subject, values, values[CONTEXT][0])
        elif not is_context:
            self._others[subject] = _merge_values(self._others.get(subject), values)

    def _add_annotation(self, subject: str, values: Values, context: str) -> None:
        """Add the statements about an annotation, or merge them into an earlier annotation with the same IRI."""
        annotation = NifAnnotation(
            context,
            nif.get_offset(values, BEGIN, subject, self.source) if BEGIN in values else None,
            nif.get_offset(values, END, subject, self.source) if END in values else None,
            values[ANCHOR][0] if ANCHOR in values else None,
            nif.get_number(values, CONFIDENCE, subject, self.source),
            values.get(LINK, ()),
            values.get(CLASS, ()),
            not _TEXT_PARTS.isdisjoint(values.get(TYPE, ())),
        )
        if TEXT not in values:
            nif.count_unknown(values, _ANNOTATION_PREDICATES, "annotations", self.skipped)
        existing = self._annotations_by_iri.setdefault(subject, annotation)
        if existing is annotation:
            self.annotations[context].append(annotation)
        elif not existing.merge(annotation):
            self.skipped["annotations that share their address"] += 1
            self.annotations[context].append(annotation)

    def _classify_others(self) -> None:
        """Assign the resources without text and context to contexts and annotations, and count unknown statements.

        Statements about a known context or annotation are merged into it; the others are topics, entities or errors.
        """
        for subject in self.contexts.keys() & self._others.keys():
            self.contexts[subject] = _merge_values(self.contexts[subject], self._others.pop(subject))
        topics = {topic for values in self.contexts.values() for topic in values.get(_TOPIC, ())}
        for subject, values in self._others.items():
            if subject in self._annotations_by_iri:
                context = self._annotations_by_iri[subject].context
                try:
                    self._add_annotation(subject, values, context)
                except InputError as problem:
                    self._record_problem((context,), problem)
            elif subject in topics:
                nif.count_unknown(values, _TOPIC_PREDICATES, "topics", self.skipped)
            elif LINK in values or BEGIN in values:
                self.skipped["annotations without context"] += 1
            else:
                nif.count_unknown(values, _ENTITY_PREDICATES, "entities and other things", self.skipped)

    def _classify_relations(self) -> None:
        """Assign the relations to their contexts; count those without context, and unknown statements about them."""
        for subject, values in self._relation_values.items():
            nif.count_unknown(values, _RELATION_PREDICATES, "relations", self.skipped)
            if CONTEXT in values:
                self.relations[values[CONTEXT][0]].append((subject, values))
            else:
                self.skipped[_NO_CONTEXT_WARNING] += 1

    def get_text(self, context: str) -> str | None:
        """Return the text of a context, or None if it has none or is unknown."""
        values = self.contexts.get(context, {})
        return values[TEXT][0] if TEXT in values else None

    def get_meta(self, context: str) -> dict[str, str]:
        """Return the properties of a context that Karat does not interpret, by local name; spaces join values."""
        values = self.contexts[context]
        return {get_local_name(name): " ".join(values[name]) for name in values if name not in _CONTEXT_PREDICATES}

    def iterate_annotations(self, context: str) -> Iterator[tuple[int, int, NifAnnotation]]:
        """Yield start, end and annotation for each annotation of a context.

        Words, sentences and annotations without a span are skipped and counted.
        """
        for annotation in self.annotations[context]:
            if annotation.is_text_part and not annotation.links and not annotation.classes:
                self.skipped["words, sentences and paragraphs"] += 1
            elif annotation.start is None or annotation.end is None:
                self.skipped["annotations without a span"] += 1
            else:
                yield annotation.start, annotation.end, annotation

    def place_annotations(
        self, context: str, text: str | None, surfaces: SurfaceCheck | None = None
    ) -> Iterator[tuple[int, int, NifAnnotation]]:
        """Yield start, end and annotation for each annotation of a context, with its anchor compared with `text`.

        Anchors, or else the end of the context, decide whether offsets count bytes or UTF-16 units; such texts are
        counted. Differing anchors are counted, also in `surfaces`, or their spans are moved if the policy realigns
        spans.
        """
        annotations = list(self.iterate_annotations(context))
        offsets = [(start, end) for start, end, _ in annotations]
        if text is not None:
            spans = [
                RawSpan(start, end, annotation.anchor, f"{self.source.label}: <{context}>")
                for start, end, annotation in annotations
            ]
            text_end = next(iter(self.contexts.get(context, {}).get(END, ())), None)
            offsets = find_best_spans(text, offsets, spans, self.skipped, text_end)
            offsets = place_surfaces(text, offsets, spans, self.skipped, surfaces, note=nif.WRONG_ANCHOR)
        for span, (_, _, annotation) in zip(offsets, annotations, strict=True):
            yield *span, annotation

    def get_entity(self, links: Sequence[str]) -> tuple[EntityId, tuple[str, ...]]:
        """Return the entity that links lead to, and its other ids, including ids by owl:sameAs.

        The first link is the entity; the entity is None for `rdf:nil` or a blank node, and `UNLINKED` if there is no
        link.
        """
        if not links:
            return UNLINKED, ()
        names = [None if type(link) is BlankNodeId or link == NIL else link for link in links]
        for link in links if self._same_as else ():
            names += (name for name in self._same_as.get(link, ()) if name not in names)
        return names[0], tuple(name for name in names[1:] if name is not None) if len(names) > 1 else ()

    def get_types(self, annotation: NifAnnotation) -> tuple[str, ...]:
        """Return the classes of an annotation, then the types that the file states for its entities."""
        classes = annotation.classes
        for link in annotation.links:
            if link in self._others:
                classes += tuple(kind for kind in self._others[link].get(TYPE, ()) if kind not in classes)
        return classes

    def get_tags(self, context: str) -> Iterator[Tag]:
        """Yield the topics of a context as tags; a topic about which only entity facts are stated is the entity itself.

        Topics without an entity are skipped and counted.
        """
        for topic in self.contexts.get(context, {}).get(_TOPIC, ()):
            values = self._others.get(topic, {})
            is_entity = type(topic) is not BlankNodeId and _ENTITY_PREDICATES.issuperset(values)
            entity, same_as = self.get_entity((topic,) if is_entity else values.get(LINK, ()))
            if not isinstance(entity, str):
                self.skipped["topics without link"] += 1
                continue
            rank = nif.get_offset(values, RANK, topic, self.source) if RANK in values else None
            grade = CONFIDENCE if CONFIDENCE in values else _TOPIC_CONFIDENCE
            yield Tag(entity, same_as, rank, nif.get_number(values, grade, topic, self.source))

    def get_relations(self, context: str) -> Iterator[Triple]:
        """Yield the relations of a context; those without subject, predicate or object are skipped and counted."""
        for subject, values in self.relations.get(context, ()):
            parts = [self.get_entity(values.get(part, ())) for part in _TRIPLE_PARTS]
            (first, first_same), (predicate, predicate_same), (last, last_same) = parts
            if isinstance(first, str) and isinstance(predicate, str) and isinstance(last, str):
                score = nif.get_number(values, CONFIDENCE, subject, self.source)
                yield Triple(first, predicate, last, first_same, predicate_same, last_same, score)
            else:
                self.skipped["relations without subject, predicate or object"] += 1


def _merge_values(first: Values | None, second: Values) -> Values:
    """Concatenate the values of each predicate."""
    if first is None:
        return second
    return {name: first.get(name, ()) + second.get(name, ()) for name in {**first, **second}}


def _group_same_as(resources: dict[str, Values]) -> dict[str, dict[str, None]]:
    """Return, for each IRI in an owl:sameAs statement, the ordered set of IRIs equivalent to it, including itself."""
    first: dict[str, str] = {}  # towards the first IRI of the group
    following: dict[str, str] = {}
    last: dict[str, str] = {}

    def find_first(iri: str) -> str:
        while first.setdefault(iri, iri) != iri:
            first[iri] = first[first[iri]]  # shortens the path for later searches
            iri = first[iri]
        return iri

    for subject, values in resources.items():
        for other in values.get(_SAME_AS, ()):
            subject_start, other_start = find_first(subject), find_first(other)
            if subject_start != other_start:
                following[last.get(subject_start, subject_start)] = other_start
                last[subject_start] = last.get(other_start, other_start)
                first[other_start] = subject_start
    groups: dict[str, dict[str, None]] = {}
    for iri in first:
        start: str | None = find_first(iri)
        if start not in groups:
            group: dict[str, None] = {}
            while start is not None:
                group[start] = None
                groups[start] = group
                start = following.get(start)
    return groups
