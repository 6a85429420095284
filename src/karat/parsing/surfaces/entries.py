"""Answers as people and language models name their fields, read as Karat's own."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from karat.model.document import UNLINKED, Candidate, EntityId, WrittenAnswer
from karat.parsing.surfaces.prose import Value

WORDS: Final = ("text", "mention", "surface", "surface_form", "mention_text", "span_text", "phrase", "word", "span")
IDS: Final = ("qid", "wikidata_id", "wikidata_qid", "wikidata", "entity_id", "kb_id")
LINKS: Final = ("wikipedia_url", "wikipedia_title", "wikipedia", "dbpedia", "url", "uri", "iri", "link", "id", "title")
STARTS: Final = ("start", "begin", "start_char", "start_offset", "start_index", "offset")
ENDS: Final = ("end", "stop", "end_char", "end_offset", "end_index")
TYPES: Final = ("types", "type", "entity_type", "label", "category", "ner")
SCORES: Final = ("score", "confidence", "probability")
BEFORE: Final = ("before", "left_context", "context_left")
AFTER: Final = ("after", "right_context", "context_right")
LISTS: Final = ("answers", "mentions", "entities", "annotations", "predictions", "links", "results", "spans")
"""Under which names, without case and punctuation, entries have their words, ids, … The first that is given counts."""

UNUSABLE: Final = "entries that mark nothing (left out)"
CUT_OFF: Final = "lists that break off or are no JSON in the middle (what is whole was read)"
EARLIER: Final = "earlier lists in one answer (the last was read)"
SAID_NIL: Final = "links that say in words that there is none (read as NIL)"

_NIL = frozenset({"", "nil", "null", "none", "n/a", "na", "unknown", "not found", "no match", "-"})
_LINK = re.compile(r"(?:wd:)?[Qq][0-9]+|https?://\S+|NIL")
_MOST = 2**31 - 1


def entries_of(values: Sequence[Value], counts: Counter[str]) -> list[object] | None:
    """The entries that an answer lists, None where it lists nothing: those of its last list, or all single ones."""
    lists: list[tuple[list[object], bool]] = []
    single: list[object] = []
    for value, whole in values:
        if isinstance(value, dict) and is_entry(value):
            single.append(value)
        elif (found := _listed(value)) is not None:
            lists.append((found, whole))
    full = [found for found in lists if found[0]] or lists[-1:]
    if not full:
        return single or None
    counts[EARLIER] += len(full) - 1 + bool(single)
    counts[CUT_OFF] += not full[-1][1]
    return full[-1][0]


def _listed(value: object) -> list[object] | None:
    """The list of entries that a value of JSON is or has."""
    if isinstance(value, list):
        return value if all(is_entry(member) for member in value) else None
    if not isinstance(value, dict):
        return None
    fields = _named(value)
    for name in LISTS:
        if (found := _listed(fields.get(name))) is not None:
            return found
    links = all(link is None or (isinstance(link, str) and _LINK.fullmatch(link)) for link in value.values())
    return [list(pair) for pair in value.items()] if links and value else None


def is_entry(value: object) -> bool:
    """Whether a value of JSON can be read as an answer."""
    if isinstance(value, list):
        return len(value) == 2 and isinstance(value[0], str) and (value[1] is None or isinstance(value[1], str))
    if not isinstance(value, dict):
        return False
    fields = _named(value)
    return any(name in fields for name in (*WORDS, "entity", "name", *STARTS)) and not any(
        isinstance(fields.get(name), list) for name in LISTS
    )


def answer_of(entry: object, counts: Counter[str]) -> WrittenAnswer | None:
    """An entry as an answer, None where it marks nothing; fields that nobody asked for are counted."""
    if isinstance(entry, list) and is_entry(entry):
        entry = {"text": entry[0], "entity": entry[1]}
    if not isinstance(entry, Mapping):
        counts[UNUSABLE] += 1
        return None
    fields = _Fields(_named(entry), counts)
    start, end = fields.span()
    words = fields.words()
    link = fields.link(words is None)
    if words is None and (word := fields.first(("entity", "name"))) is not None:
        words = storable(word)
    types, candidates = fields.types(), fields.candidates()
    score, before, after = fields.number(SCORES), fields.first(BEFORE), fields.first(AFTER)
    fields.count_others()
    if not (words or "").strip() and (start is None or end is None):
        counts[UNUSABLE] += 1
        return None
    return WrittenAnswer(
        start,
        end,
        words or None,
        storable(before),
        storable(after),
        link,
        types=types,
        score=score,
        candidates=candidates,
    )


class _Fields:
    """The fields of an entry by their plain names; those that were asked for are known."""

    def __init__(self, fields: Mapping[str, object], counts: Counter[str]) -> None:
        self._fields = fields
        self._asked: set[str] = set()
        self._counts = counts

    def first(self, names: Sequence[str]) -> object:
        """The first of some fields that is given."""
        for name in names:
            if self._fields.get(name) is not None:
                self._asked.add(name)
                return self._fields[name]
        return None

    def span(self) -> tuple[int | None, int | None]:
        """The span, also where it is one field of two numbers."""
        for name in ("span", "offsets", "position"):
            pair = self._fields.get(name)
            if isinstance(pair, list) and len(pair) == 2 and all(offset_in(edge) is not None for edge in pair):
                self._asked.add(name)
                return offset_in(pair[0]), offset_in(pair[1])
        return offset_in(self.first(STARTS)), offset_in(self.first(ENDS))

    def words(self) -> str | None:
        """What the entry marks."""
        for name in WORDS:
            if isinstance(value := self._fields.get(name), str):
                self._asked.add(name)
                return storable(value)
        return None

    def link(self, alone: bool) -> EntityId:
        """What the entry is linked to; where `entity` or `name` is all that is marked, it is no link."""
        named = [name for name in IDS if name in self._fields]
        named += ["entity"] * (not alone and "entity" in self._fields)
        named += [name for name in LINKS if name in self._fields and not isinstance(self._fields[name], int)]
        for name in named:
            self._asked.add(name)
            value = self._fields[name]
            if isinstance(value, Mapping):
                value = next((v for k, v in _named(value).items() if k in (*IDS, *LINKS) and isinstance(v, str)), None)
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value)
            if value is None or (isinstance(value, str) and value.strip().casefold() in _NIL):
                self._counts[SAID_NIL] += value is not None and value.strip() != "NIL"
                return None
            return storable(value) if isinstance(value, str) else UNLINKED
        return UNLINKED

    def types(self) -> tuple[str, ...]:
        """The types, one or several."""
        found = self.first(TYPES)
        given = found if isinstance(found, list) else [found]
        return tuple(dict.fromkeys(text for value in given if isinstance(value, str) and (text := storable(value))))

    def candidates(self) -> tuple[Candidate, ...]:
        """The entities that were considered."""
        found = self.first(("candidates",))
        made: list[Candidate] = []
        for value in found if isinstance(found, list) else ():
            fields = _Fields(_named(value) if isinstance(value, Mapping) else {"entity": value}, Counter())
            link = fields.link(alone=False)
            if isinstance(link, str) and link:
                made.append(Candidate(link, fields.number(SCORES)))
        return tuple(made)

    def number(self, names: Sequence[str]) -> float | None:
        """A finite number, also where it is written as text; words such as `high` are counted."""
        value = self.first(names)
        if value is None:
            return None
        try:
            found = float(value) if isinstance(value, int | float | str) else math.nan
        except (ValueError, OverflowError):
            found = math.nan
        if math.isfinite(found):
            return found
        self._counts["scores that are no numbers (left out)"] += 1
        return None

    def count_others(self) -> None:
        """Count the fields that nobody asked for."""
        self._counts.update(f"fields `{name[:40]}` (not read)" for name in self._fields if name not in self._asked)


def _named(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields under plain names: `Wikidata ID` and `wikidataId` are `wikidata_id`."""
    apart = {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(name)): value for name, value in fields.items()}
    return {re.sub(r"\W+", "_", name.strip()).lower(): value for name, value in apart.items()}


def offset_in(value: object) -> int | None:
    """A place in a text, also where it is written as text or as 12.0."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,10}(\.0)?\s*", value):
        value = int(value.strip().removesuffix(".0"))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and isinstance(value, int) and 0 <= value <= _MOST else None


def storable(value: object) -> str | None:
    """A text that can be stored: halves of surrogate pairs are replaced."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None
